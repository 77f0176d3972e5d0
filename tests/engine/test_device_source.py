"""The source of the kernels is CUDA C: NVIDIA's own compiler takes it, which needs no GPU."""

import numpy as np
import pytest

from host_device import HostDevice
from labelsure._random import DRAW_UNIT
from labelsure.engine._device import ON_THE_CARD, source
from labelsure.engine._device_table import DeviceTable
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Discounts, Energy, SquareRoot

N_LABELS = 14
UNARY = np.ones((2, N_LABELS), dtype=np.int64)
PARTS = {
    "labels": {},
    "discounts": {"discounts": Discounts(np.eye(2, N_LABELS, dtype=np.int8), np.array([1, 2]))},
    "roots of own pairs": {"pairwise": np.ones((2, N_LABELS, N_LABELS), dtype=np.int64), "link": SquareRoot(3)},
}
WEIGHTS = np.tile(np.arange(8), (3, 1))
WEIGHINGS = {
    "labels": Weighing.plain(21, 2),
    "discounts": Weighing.smoothed(21, np.array([1, DRAW_UNIT])),
    "roots of own pairs": Weighing.ruled(WEIGHTS, np.ones(2, dtype=np.int64), 7),
}


class SizedDevice(HostDevice):
    """As large as a GPU; it is only asked what it would compile."""

    low_labels, piece_labels = 10, 16


@pytest.fixture(scope="module")
def nvrtc():
    pytest.importorskip("cuda.bindings", reason="no compiler of CUDA C: pip install cuda-bindings nvidia-cuda-nvrtc")
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        pytest.skip(f"no compiler of CUDA C: {error}")
    return nvrtc


@pytest.mark.parametrize("architecture", ["compute_75", "compute_90"])
@pytest.mark.parametrize("name", PARTS)
def test_source_is_compiled_for_gpus(nvrtc, name, architecture):
    energy = Energy(np.zeros(2, dtype=np.int64), UNARY, **PARTS[name])
    arrays = FoldArrays([Fold(np.arange(7), energy)] * 3)
    device = SizedDevice(shared_bytes=227 * 2**10)
    table = DeviceTable(2, N_LABELS, 0, arrays.total_scores, arrays, WEIGHINGS[name], device=device)
    text = (ON_THE_CARD + source()).encode()
    _, program = nvrtc.nvrtcCreateProgram(text, b"table.cu", 0, None, None)
    options = [f"-D{macro}={value}".encode() for macro, value in table._macros]
    options += [b"-std=c++17", f"--gpu-architecture={architecture}".encode()]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = bytearray(size)
    nvrtc.nvrtcGetPTX(program, ptx)
    for kernel in (b"count_rows", b"count_members", b"label_maxima", b"best_codes"):
        assert b".entry " + kernel in ptx

"""Devices that tables are made on: where their arrays live, and how the kernels of ``table.cu`` run there."""

from functools import cache
from importlib.resources import files
from typing import Any

from labelsure._checks import check_choice
from labelsure._errors import import_optional

ON_THE_CARD = """
#define SHARED_ROOM(name) extern __shared__ __align__(16) unsigned char name[]
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define BOUNDED __launch_bounds__(SLOTS << LOW, 1)
"""
"""What the source takes for granted, in the words of CUDA C."""


def source() -> str:
    """Return the source of the kernels."""
    return files("labelsure.engine").joinpath("table.cu").read_text(encoding="utf-8")


class CudaDevice:
    """The GPU that CuPy uses, and the tests' stand-ins have the same members.

    Attributes
    ----------
    arrays : module
        What stands in for numpy there.
    n_processors, shared_bytes, free_bytes : int
        How many work side by side, the fast memory of each, and what is free of the large one.
    low_labels, piece_labels : int
        Threads of a block, and codes that a block reduces, are two to the power of this.
    """

    low_labels = 10
    piece_labels = 16

    def __init__(self) -> None:
        self.arrays = import_optional("cupy", extra="cuda13 or cuda12", purpose='device="cuda"')
        try:
            properties = self.arrays.cuda.runtime.getDeviceProperties(self.arrays.cuda.Device().id)
        except self.arrays.cuda.runtime.CUDARuntimeError as error:
            raise ValueError(
                'device="cuda" needs an NVIDIA GPU with a driver that CuPy can use, found none:'
                f' {error}. Use device="cpu", which gives the same answers.'
            ) from error
        self._modules: dict[tuple[tuple[str, str], ...], Any] = {}
        self.n_processors = int(properties["multiProcessorCount"])
        self.shared_bytes = int(properties["sharedMemPerBlockOptin"])

    @property
    def free_bytes(self) -> int:
        """The memory that is free on the card, that which CuPy keeps for later included."""
        free, _ = self.arrays.cuda.runtime.memGetInfo()
        return int(free + self.arrays.get_default_memory_pool().free_bytes())

    def to_host(self, array: Any) -> Any:
        """Return an array of the card as one of numpy."""
        return self.arrays.asnumpy(array)

    def launch(self, name: str, macros: tuple[tuple[str, str], ...], shape: tuple[int, int, int], *given: Any) -> None:
        """Run a kernel of a source compiled with ``macros``; ``shape``: blocks, threads and fast bytes of each."""
        n_blocks, n_threads, n_bytes = shape
        kernel = self._module(macros).get_function(name)
        kernel.max_dynamic_shared_size_bytes = n_bytes
        kernel((n_blocks,), (n_threads,), given, shared_mem=n_bytes)

    def _module(self, macros: tuple[tuple[str, str], ...]) -> Any:
        if macros not in self._modules:
            defined = tuple(f"-D{name}={value}" for name, value in macros)
            self._modules[macros] = self.arrays.RawModule(code=ON_THE_CARD + source(), options=("-std=c++17", *defined))
        return self._modules[macros]


@cache
def find_device(device: str) -> CudaDevice:
    """Return a device other than the processor, or say what is missing."""
    check_choice(device, ("cuda",), name="device")
    return CudaDevice()

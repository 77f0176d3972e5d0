"""A device for tests where there is no GPU: ``table.cu`` compiled for the processor, run thread by thread."""

import ctypes
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from far_arrays import FarArrays, near
from labelsure.engine._device import CudaDevice, source

HEADER = Path(__file__).parent / "cuda_on_host.h"


class HostDevice:
    """Few threads and little memory, so that blocks, parts of codes and rounds of threads all occur."""

    arrays = FarArrays()
    n_processors = 2
    low_labels = 2
    piece_labels = 4

    def __init__(self, shared_bytes=2**16, free_bytes=2**10):
        self.shared_bytes, self.free_bytes = shared_bytes, free_bytes

    def to_host(self, array):
        return array.values.copy()  # as from a card

    def launch(self, name, macros, shape, *given):
        n_blocks, n_threads, n_bytes = shape
        assert n_bytes <= self.shared_bytes
        library, room = compiled(macros), ctypes.create_string_buffer(n_bytes + 16)
        given = near(given)
        arguments = [
            one.ctypes.data_as(ctypes.c_void_p) if isinstance(one, np.ndarray) else ctypes.c_longlong(one)
            for one in given
        ]
        assert all(one.flags.c_contiguous for one in given if isinstance(one, np.ndarray))

        def run(thread):
            for block in range(n_blocks):
                library.take_place(block, thread, n_blocks, n_threads)
                getattr(library, name)(*arguments)
                library.end_block()

        library.begin(room, n_threads)
        for done in [threads(n_threads).submit(run, thread) for thread in range(n_threads)]:
            done.result()


@cache
def threads(n_threads):
    return ThreadPoolExecutor(n_threads)


@cache
def folder():
    return Path(tempfile.mkdtemp(prefix="labelsure-host-device-"))


@cache
def compiled(macros):
    """Return the kernels compiled with some macros."""
    compiler = shutil.which("g++") or pytest.skip("no C++ compiler to run the kernels of the GPU with")
    library = folder() / f"{len(list(folder().iterdir()))}.so"
    options = [
        "-x",
        "c++",
        "-std=c++17",
        "-O0",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wno-unknown-pragmas",
        "-Wno-parentheses",
    ]
    defined = [f"-D{name}={value}" for name, value in macros]
    text = HEADER.read_text() + source()
    subprocess.run([compiler, *options, *defined, "-o", library, "-"], input=text.encode(), check=True)
    return ctypes.CDLL(library)


@cache
def make_device(name):
    """Return a device by name: two that stand in for a GPU, and a GPU, where there is one."""
    if name != "cuda":
        return HostDevice(shared_bytes=2**16 if name == "host" else 2**11)
    try:
        return CudaDevice()
    except (ImportError, ValueError) as error:
        pytest.skip(str(error))

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

from labelsure.labelsets.table._device import source

HEADER = Path(__file__).parent / "cuda_on_host.h"


class HostDevice:
    """Few threads and little memory, so that blocks, parts of codes and rounds of threads all occur."""

    arrays = np
    n_processors = 2
    low_labels = 2
    piece_labels = 4

    def __init__(self, shared_bytes=2**16, free_bytes=2**10):
        self.shared_bytes, self.free_bytes = shared_bytes, free_bytes

    def to_host(self, array):
        return array

    def launch(self, name, macros, shape, *given):
        n_blocks, n_threads, n_bytes = shape
        assert n_bytes <= self.shared_bytes
        library, room = compiled(macros), ctypes.create_string_buffer(n_bytes + 16)
        arguments = [
            one.ctypes.data_as(ctypes.c_void_p) if isinstance(one, np.ndarray) else ctypes.c_longlong(one)
            for one in given
        ]

        def run(block, thread):
            library.take_place(block, thread, n_blocks, n_threads)
            getattr(library, name)(*arguments)

        with ThreadPoolExecutor(n_threads) as threads:
            for block in range(n_blocks):
                library.begin_block(room, n_threads)
                for done in [threads.submit(run, block, thread) for thread in range(n_threads)]:
                    done.result()


@cache
def folder():
    return Path(tempfile.mkdtemp(prefix="labelsure-host-device-"))


@cache
def compiled(macros):
    """Return the kernels compiled with some macros."""
    compiler = shutil.which("g++") or pytest.skip("no C++ compiler to run the kernels of the GPU with")
    library = folder() / f"{len(list(folder().iterdir()))}.so"
    defined = [f"-D{name}={value}" for name, value in macros]
    command = [
        compiler,
        "-x",
        "c++",
        "-std=c++17",
        "-O1",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wno-unknown-pragmas",
        *defined,
    ]
    text = HEADER.read_text() + source()
    subprocess.run([*command, "-o", library, "-"], input=text.encode(), check=True)
    return ctypes.CDLL(library)

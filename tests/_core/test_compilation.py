"""Compiled code that is kept on disk is that of today's sources."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

CALLED = """
from labelsure._core.compilation import kernel

@kernel
def called(number):
    return number + {added}
"""
CALLING = """
from labelsure._core.compilation import kernel
from toy._called_kernels import called

@kernel
def calling(number):
    return 10 * called(number)
"""
ASK = """
from toy._calling_kernels import calling
print(calling(1), sum(calling.stats.cache_hits.values()))
"""


@pytest.fixture
def ask(tmp_path):
    """Return a function that runs the toy package in a process of its own: (result, kernels taken from the cache)."""
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_calling_kernels.py").write_text(CALLING)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(added):
        (package / "_called_kernels.py").write_text(CALLED.format(added=added))
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        return tuple(map(int, done.stdout.split()))

    return run


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(ask):
    assert ask(added=1) == (20, 0)
    assert ask(added=1) == (20, 1)  # unchanged: from the cache
    assert ask(added=2) == (30, 0)
    assert ask(added=2) == (30, 1)

"""Compiled code that is kept on disk is that of today's sources."""

import gc
import os
import subprocess
import sys

import pytest

from labelsure._compile import KERNELS, kernel, kernel_part

numba = pytest.importorskip("numba")
event = pytest.importorskip("numba.core.event")

CALLED = """
from labelsure._compile import kernel

@kernel
def called(number):
    return number + {added}
"""
CALLING = """
from labelsure._compile import kernel
from toy._called_kernels import called

@kernel
def calling(number):
    return 10 * called(number)
"""
TYPES = """
from typing import NamedTuple

class {name}(NamedTuple):
    {first}: int
    {second}: int

Two = {name}
"""
TAKING = """
from labelsure._compile import kernel
from toy._called_kernels import called

@kernel
def taking(two):
    return 10 * two.a + two.b + 0 * called(1)
"""
ASK = """
from toy._calling_kernels import calling
from toy._taking_kernels import taking
from toy._types import Two
print(calling(1), sum(calling.stats.cache_hits.values()), taking(Two(1, 2)), sum(taking.stats.cache_hits.values()))
"""


@pytest.fixture
def ask(tmp_path):
    """Return a function that runs the toy package in a process of its own: (result, kernels taken from the cache)."""
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_calling_kernels.py").write_text(CALLING)
    (package / "_taking_kernels.py").write_text(TAKING)
    places = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": places, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    # files of one size that change within a second would not be noticed
    environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def run(added, name="Pair", first="a", second="b"):
        (package / "_called_kernels.py").write_text(CALLED.format(added=added))
        (package / "_types.py").write_text(TYPES.format(name=name, first=first, second=second))
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return tuple(map(int, done.stdout.split()))

    return run


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(ask):
    assert ask(added=1) == (20, 0, 12, 0)
    assert ask(added=1) == (20, 1, 12, 1)  # unchanged: from the cache
    assert ask(added=2) == (30, 0, 12, 0)
    assert ask(added=2) == (30, 1, 12, 1)


def test_a_kernel_is_compiled_again_when_the_fields_of_its_tuples_have_changed(ask):
    """Also where what was kept is of a type that is gone, which cannot be read any more."""
    assert ask(added=1) == (20, 0, 12, 0)
    assert ask(added=1, first="b", second="a") == (20, 0, 21, 0)
    assert ask(added=1, first="b", second="a") == (20, 1, 21, 1)
    assert ask(added=1, name="Couple") == (20, 0, 12, 0)
    assert ask(added=1, name="Couple") == (20, 1, 12, 1)


def compiled_anew(function):
    """Compile a kernel without the cache, which would spare what these tests are about."""
    KERNELS.add(function)
    return numba.njit(function)


class Watch(event.Listener):
    """Notes whether garbage was collected at each step of the compiler."""

    def __init__(self):
        self.was_enabled = []

    def on_start(self, _):
        self.was_enabled.append(gc.isenabled())

    def on_end(self, _):
        pass


def test_garbage_is_not_collected_while_a_kernel_is_compiled_but_afterwards():
    @compiled_anew
    def inner(number):
        return number + 1

    @compiled_anew
    def outer(number):
        return 2 * inner(number)

    watch = Watch()
    with event.install_listener("numba:run_pass", watch):
        assert outer(1) == 4
    assert watch.was_enabled
    assert not any(watch.was_enabled)
    assert gc.isenabled()


def test_garbage_is_collected_while_somebody_elses_function_is_compiled():
    watch = Watch()
    with event.install_listener("numba:run_pass", watch):
        assert numba.njit(lambda number: number + 1)(1) == 2
    assert watch.was_enabled
    assert all(watch.was_enabled)


def test_all_functions_made_into_kernels_count_as_such():
    def plain(number):
        return number + 1

    def part(number):
        return number + 2

    assert kernel(plain).py_func in KERNELS
    assert kernel_part(part).py_func in KERNELS


def test_garbage_stays_where_it_is_if_it_was_not_to_be_collected():
    gc.disable()
    try:
        assert compiled_anew(lambda number: number + 1)(1) == 2
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_garbage_is_collected_again_after_an_error_of_the_compiler():
    with pytest.raises(numba.TypingError, match="no_such_thing"):
        compiled_anew(lambda number: number.no_such_thing)(1)
    assert gc.isenabled()

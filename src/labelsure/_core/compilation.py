"""How kernels are compiled: numba, without the interpreter lock, kept on disk where that is safe."""

import contextlib
import gc
import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from labelsure._core.kept_code import KeptCode, Numba

KERNELS: set[Callable[..., Any]] = set()
"""The functions that are kernels, before they are compiled."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with numba at its first call; it runs without the interpreter lock.

    The machine code is kept in the folder that ``NUMBA_CACHE_DIR`` names, beside the module or in the user's cache,
    see :class:`KeptCode`. It contains that of the kernels it calls, and where the fields of their named tuples lie. So
    what is kept is marked with all kernels and named tuples of the package: if one of them changes, all are compiled
    again.
    """
    return _compile(function, inline="never")


def lean_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` like a kernel, but without numba's counting of references, so that it cannot make arrays.

    For the steps of searches: counting would take longer than they do, wherever arrays travel together in tuples.
    """
    return _compile(function, inline="never", counted=False)


def kernel_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as if it were written out where kernels call it.

    For what is called in one place or two: by itself it would be compiled once more.
    """
    return _compile(function, inline="always")


def _compile(
    function: Callable[..., Any], *, inline: Literal["never", "always"], counted: bool = True
) -> Callable[..., Any]:
    import numba

    put_off_garbage_collection()
    hold_back_forks()
    KERNELS.add(function)
    # nobody calls kernels from C
    options: dict[str, Any] = {"nogil": True, "inline": inline, "no_cfunc_wrapper": True}
    if not counted:
        options["_nrt"] = False
    compiled: Any = numba.njit(**options)(function)
    if compiled is not function and function.__closure__ is None:  # the same: NUMBA_DISABLE_JIT is set
        # no source file, or another numba, whose code we cannot keep: nothing is kept rather than something stale
        with contextlib.suppress(OSError, AttributeError):
            compiled._cache = KeptCode(function, _mark_of(function.__module__.partition(".")[0]), _numba())
    return cast(Callable[..., Any], compiled)


@cache
def _numba() -> Numba:
    import numba
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    return Numba(
        numba.__version__, cast(Any, numba.config).CACHE_DIR, dumps, CompileResult._reduce, CompileResult._rebuild
    )


@cache
def hold_back_forks() -> None:
    """Have forks wait until no thread compiles: the child would wait for that thread, which it does not have."""
    from numba.core.compiler_lock import global_compiler_lock as lock

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


@cache
def put_off_garbage_collection() -> None:
    """Have numba compile kernels, and nothing else, without looking for garbage meanwhile.

    Compiling makes millions of objects that are needed until it ends, and they would be looked through again and again.
    """
    from numba.core import event

    class PutOff(event.Listener):
        compiling = 0  # one kernel is compiled while another is that calls it; numba does this in one thread at a time
        was_enabled = False

        def on_start(self, started: event.Event) -> None:
            if started.data["dispatcher"].py_func not in KERNELS:
                return
            if self.compiling == 0:
                self.was_enabled = gc.isenabled()
                gc.disable()
            self.compiling += 1

        def on_end(self, ended: event.Event) -> None:
            if ended.data["dispatcher"].py_func not in KERNELS:
                return
            self.compiling -= 1
            if self.compiling == 0 and self.was_enabled:
                gc.enable()

    cast(Any, event).register("numba:compile", PutOff())


@cache
def _mark_of(package: str) -> str:
    """Return a digest of all files of a package that have kernels or named tuples, which kernels may take."""
    digest = hashlib.sha256()
    if not hasattr(sys.modules[package], "__path__"):  # a single file, which is looked at anyway
        return digest.hexdigest()[:16]
    folder = Path(cast(str, sys.modules[package].__file__)).parent
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        if path.name.endswith("kernels.py") or b"(NamedTuple)" in content:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]

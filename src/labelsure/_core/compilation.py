"""How kernels are compiled: numba, without the interpreter lock, cached on disk where that is safe."""

import gc
import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

KERNELS: set[Callable[..., Any]] = set()
"""The functions that are kernels, before they are compiled."""

FOLDERS: set[str] = set()
"""Where their machine code is kept, as far as it is."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with numba at its first call; it runs without the interpreter lock.

    The machine code is kept beside the module or, where that folder is read-only, in the user's cache; numba writes
    it by renaming a finished file, so processes may share it. Where neither place can be written nothing is kept.

    Machine code contains that of the kernels it calls, and where the fields of their named tuples lie, but numba only
    notices changes in the kernel's own file. So what is kept is marked with all kernels and named tuples of the
    package: if one of them changes, all are compiled again.
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
    KERNELS.add(function)
    # nobody calls kernels from C
    options: dict[str, Any] = {"nogil": True, "inline": inline, "no_cfunc_wrapper": True}
    if not counted:
        options["_nrt"] = False
    try:
        compiled: Any = numba.njit(**options, cache=True)(function)
        _mark(compiled._cache._cache_file, _mark_of(function.__module__.partition(".")[0]))
        FOLDERS.add(compiled._cache.cache_path)
    # "cannot cache function: no locator available"; or another numba, whose cache cannot be marked: nothing is kept
    # rather than something stale; or none, where NUMBA_DISABLE_JIT is set
    except (RuntimeError, AttributeError):
        compiled = numba.njit(**options)(function)
    return cast(Callable[..., Any], compiled)


def _mark(index: Any, mark: str) -> None:
    """Have machine code kept under names of its own: an index with types that are gone could not even be read."""
    base = index._index_name.removesuffix(".nbi")
    index._data_name_pattern = f"{base}.{mark}.{{number:d}}.nbc"
    index._index_name = f"{base}.{mark}.nbi"
    index._index_path = str(Path(index._cache_path) / index._index_name)


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
    folder = Path(cast(str, sys.modules[package].__file__)).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        if path.name.endswith("kernels.py") or b"(NamedTuple)" in content:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]

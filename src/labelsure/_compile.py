"""How kernels are compiled: by numba, without the interpreter lock, cached on disk."""

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from platformdirs import user_cache_path

from labelsure._files import open_ours, seal, unseal, whole_place

FOLDERS: set[str] = set()
"""Where machine code was written or read."""

KERNELS: set[Callable[..., Any]] = set()
"""The functions that are kernels, before they are compiled."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with numba at its first call; it runs without the interpreter lock.

    The machine code is cached on disk, see :class:`KernelCache`.
    """
    return _jit(function, inline="never")


def lean_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` like a kernel, but without reference counts: it cannot allocate arrays.

    For the steps of searches: counting would take longer than they do, wherever arrays travel
    together in tuples.
    """
    return _jit(function, inline="never", counted=False)


def kernel_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as if it were written out where kernels call it.

    For what is called in one place or two: by itself it would be compiled once more.
    """
    return _jit(function, inline="always")


def _jit(
    function: Callable[..., Any], *, inline: Literal["never", "always"], counted: bool = True
) -> Callable[..., Any]:
    KERNELS.add(function)
    # kernels are not called from C
    options: dict[str, Any] = {"nogil": True, "inline": inline, "no_cfunc_wrapper": True}
    if not counted:
        options["_nrt"] = False
    compiled: Any = numba.njit(**options)(function)
    # the same: NUMBA_DISABLE_JIT is set
    if compiled is not function and function.__closure__ is None:
        with contextlib.suppress(OSError):  # without a source file, changes could not be detected
            compiled._cache = KernelCache(function)
    return cast(Callable[..., Any], compiled)


class KernelCache(FunctionCache):
    """numba's cache, safe to share: one file per signature, checked before it is unpickled.

    Machine code contains that of the kernels it calls, and where the fields of their named tuples
    lie. numba stamps a file with the one source that defines the kernel; here the stamp is the
    digest of all kernel sources of the package. A file that is damaged, has another stamp, is a
    link, or could have been written by anyone but this user, root and the owner of the
    source is not used: the kernel is compiled again, and the file replaced. Folders may be
    read-only; where none can be written, each process compiles for itself, after a warning.

    Parameters
    ----------
    function : callable
        The kernel, before it is compiled; OSError if it has no source file.
    """

    def __init__(
        self, function: Callable[..., Any]
    ) -> None:  # not numba's, which passes over read-only folders
        source = Path(function.__code__.co_filename).absolute()
        self._open = partial(open_ours, or_of={0, source.stat().st_uid})
        self._name = f"{source.stem}.{function.__name__.strip('<>')}"
        self._place = (str(source), function.__qualname__, function.__code__.co_firstlineno)
        package = function.__module__.partition(".")[0]
        self._stamp = (_digest_of_kernels(package), hashlib.sha256(source.read_bytes()).hexdigest())
        self._folders = list(_folders(source))
        self._cache_path = str(self._folders[0])

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        name = self._file_name(sig, target_context.codegen())
        for folder in self._folders:
            try:
                with open(folder / name, "rb", opener=self._open) as file:
                    content = unseal(file.read())
                stamp, compiled_for, parts = (
                    (None, None, ()) if content is None else pickle.loads(content)
                )
            except Exception:  # not only OSError: a class that the file names may be gone
                continue
            if (stamp, compiled_for) == (self._stamp, sig):
                FOLDERS.add(str(folder))
                return CompileResult._rebuild(target_context, *parts)
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if data.lifted or data.library.has_dynamic_globals:  # it would not do for another process
            return
        content = dumps((self._stamp, sig, data._reduce()))
        problems = []
        for folder in self._folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with whole_place(
                    folder / self._file_name(sig, data.codegen), mode=0o644
                ) as unfinished:
                    unfinished.write_bytes(seal(content) + content)
            except OSError as error:
                problems.append(error.strerror)
                continue
            FOLDERS.add(str(folder))
            return
        _warn_that_nothing_is_cached(problems[0])

    def _file_name(self, sig: Any, codegen: Any) -> str:
        processor = codegen.magic_tuple()
        key = repr((numba.__version__, sys.implementation.cache_tag, self._place, sig, processor))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"


def _folders(source: Path) -> Iterator[Path]:
    """Yield cache folders: NUMBA_CACHE_DIR, beside the module, the user's cache."""
    if named := cast(Any, numba.config).CACHE_DIR:
        yield Path(named, "labelsure").absolute()
    yield source.parent / "__pycache__"
    users = user_cache_path("labelsure") / "compiled"
    if users.is_absolute():  # else the user has no home: "~" would be a folder in the current one
        yield users


@cache
def _digest_of_kernels(package: str) -> str:
    """Return a digest of all files of a package that have kernels or named tuples."""
    digest = hashlib.sha256()
    for folder in getattr(sys.modules[package], "__path__", ()):  # a single file has none
        for path in sorted(Path(folder).rglob("*.py")):
            content = path.read_bytes()
            if path.name.endswith("kernels.py") or b"(NamedTuple)" in content:
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()


@cache  # once for each problem
def _warn_that_nothing_is_cached(problem: str) -> None:
    warnings.warn(
        f"Compiled code cannot be cached ({problem}): each process compiles it again, which takes"
        " up to a minute. Set the environment variable NUMBA_CACHE_DIR to a folder that can be"
        " written.",
        RuntimeWarning,
        stacklevel=2,
    )


class NoGarbageCollection(event.Listener):
    """Has numba compile kernels, and nothing else, without looking for garbage meanwhile.

    Compiling makes millions of objects that are needed until it ends, and they would be looked
    through again and again.
    """

    compiling = (
        0  # kernels being compiled, nested, because one calls another; numba uses one thread
    )
    was_enabled = False

    def on_start(self, started: Any) -> None:
        """Stop collecting with the first kernel."""
        if started.data["dispatcher"].py_func not in KERNELS:
            return
        if self.compiling == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.compiling += 1

    def on_end(self, ended: Any) -> None:
        """Go on collecting after the last one."""
        if ended.data["dispatcher"].py_func not in KERNELS:
            return
        self.compiling -= 1
        if self.compiling == 0 and self.was_enabled:
            gc.enable()


event.register("numba:compile", NoGarbageCollection())

if hasattr(os, "register_at_fork"):
    # forks wait until no thread compiles: the child would wait for that thread, which it does not
    # have
    lock = global_compiler_lock
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )

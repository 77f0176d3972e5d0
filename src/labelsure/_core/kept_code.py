"""Machine code of kernels on disk: what cannot be read, or is not what was written, counts as not there."""

import hashlib
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from labelsure._core.files import is_ours, open_no_link, seal, unseal, whole_place

FOLDERS: set[str] = set()
"""Where machine code was kept or found."""


class Numba(NamedTuple):
    """What is asked of numba, which is only imported with the first kernel."""

    version: str
    named_folder: str
    dumps: Callable[[Any], bytes]
    reduce: Callable[[Any], Any]
    rebuild: Callable[..., Any]


class KeptCode:
    """The machine code of one kernel, as numba asks for it and hands it over: one file for each signature.

    numba's own cache trusts what it finds. A file that was cut off ends the program with an error of pickle, a flipped
    bit runs, a full disk is an error of the question that was asked, two processes that compile one kernel for
    different types at once can leave the code for one under the name of the other, and a folder that cannot be written
    is not read. Here a file holds its digest and what it was compiled for; where either is not as it should be, the
    kernel is compiled again. Files are renamed when they are finished, so processes may share them. Machine code is
    trusted, so it is only run if nobody can have written it but this user, root, and whoever owns the kernel's source.

    Parameters
    ----------
    function : callable
        The kernel, before it is compiled.
    mark : str
        What changes when any kernel does.
    numba : Numba
        What is asked of numba.

    Raises
    ------
    OSError
        If the kernel has no source file, so that nobody could tell when it changes.
    """

    def __init__(self, function: Callable[..., Any], mark: str, numba: Numba) -> None:
        source = Path(function.__code__.co_filename).absolute()
        self._numba = numba
        self._made_of = (numba.version, mark, _digest_of(source))
        self._name = f"{source.stem}.{function.__qualname__}-{function.__code__.co_firstlineno}".translate(NO_BRACKETS)
        self._folders = list(_folders(source, numba.named_folder))
        self._trusted = {0, source.stat().st_uid}
        self.cache_path = str(self._folders[0])

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the kernel compiled for a signature, or None if it is not there."""
        target_context.refresh()
        compiled_for = self._compiled_for(signature, target_context.codegen())
        for folder in self._folders:
            parts = _read(folder / self._file_name(compiled_for), compiled_for, self._trusted)
            if parts is not None:
                FOLDERS.add(str(folder))
                return self._numba.rebuild(target_context, *parts)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled in the first folder that takes it; warn, once in a process, where none does."""
        if compiled.lifted or compiled.library.has_dynamic_globals:  # it would not do for another process
            return
        compiled_for = self._compiled_for(signature, compiled.codegen)
        content = self._numba.dumps((compiled_for, self._numba.reduce(compiled)))
        problem = None
        for folder in self._folders:
            try:
                _write(folder / self._file_name(compiled_for), content)
            except OSError as error:
                problem = problem or error
                continue
            FOLDERS.add(str(folder))
            return
        _warn_that_nothing_is_kept(problem)

    def _compiled_for(self, signature: Any, codegen: Any) -> tuple[Hashable, ...]:
        return (*self._made_of, signature, codegen.magic_tuple())  # the last: processor and system

    def _file_name(self, compiled_for: tuple[Hashable, ...]) -> str:
        return f"{self._name}.{hashlib.sha256(repr(compiled_for).encode()).hexdigest()[:32]}.nbc"


NO_BRACKETS = str.maketrans("", "", "<>")
"""Not allowed in names of files on Windows, but part of the names of functions in functions."""


@cache
def _digest_of(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _folders(source: Path, named: str) -> Iterator[Path]:
    """Yield where machine code may be: in the folder that the user named, beside the module, in the user's cache."""
    own = f"{source.parent.name}_{hashlib.sha256(str(source.parent).encode()).hexdigest()[:16]}"
    if named:
        yield Path(named, own).absolute()
    yield source.parent / "__pycache__"
    users = user_cache_path("labelsure") / "compiled" / own
    if users.is_absolute():  # else the user has no home: "~" would be a folder in the current one
        yield users


def _read(path: Path, compiled_for: tuple[Hashable, ...], trusted: set[int]) -> Any:
    """Return what was kept, or None: not there, others can write it, damaged, or compiled for something else."""
    try:
        with open(path, "rb", opener=open_no_link) as file:
            content = unseal(file.read()) if is_ours(os.fstat(file.fileno()), or_of=trusted) else None
        if content is None:
            return None
        kept_for, parts = pickle.loads(content)
    except Exception:  # not only OSError: the digest may be right and a class that the file names be gone
        return None
    return parts if kept_for == compiled_for else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_place(path, mode=0o644) as unfinished:
        unfinished.write_bytes(seal(content) + content)


_warned = threading.Event()


def _warn_that_nothing_is_kept(problem: OSError | None) -> None:
    if _warned.is_set():
        return
    _warned.set()
    warnings.warn(
        f"Compiled code cannot be kept ({problem}): each process compiles it again, which takes up to a minute. Set the"
        " environment variable NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )

"""Atomic writes, digests, and checks of who could have written a file."""

import glob
import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import BinaryIO
from uuid import uuid4

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: what a killed process left behind stays
    fcntl = None

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

HEAD = b"labelsure kept answer 1\n"
SEAL_BYTES = len(HEAD) + hashlib.sha256().digest_size


def full_path(path: str | os.PathLike[str]) -> Path:
    """Return a path without links; one that cannot be followed, to itself say, stays as it is.

    Examples
    --------
    >>> full_path("/no/such/../file")
    PosixPath('/no/file')
    """
    # a user without a home folder is not an error here
    return Path(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111


@contextmanager
def whole_place(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """Yield an empty temporary file beside ``path``, which replaces ``path`` at the end.

    Where anything fails it is removed. A process that is killed cannot do that: the next one that
    writes to ``path`` does. It sees by a lock, which ends with its process, which files somebody is
    still writing.

    Parameters
    ----------
    path : Path
        The file.
    mode : int or None, default=None
        Its permissions, whatever the umask. It never has others, so nobody can have opened it when
        it had more.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "words.txt"
    ...     with whole_place(path) as unfinished:
    ...         _ = unfinished.write_text("all of it")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('words.txt', 'all of it')]
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError), left.open("r+b") as file:
            if _lock(file):
                left.unlink()
    unfinished = path.with_name(f".{path.name}.{uuid4().hex[:12]}.part")
    with ExitStack() as end:
        end.callback(unfinished.unlink, missing_ok=True)
        while not unfinished.exists():  # another process may have removed it before it was locked
            made = partial(os.open, mode=0o666 if mode is None else mode)
            held = end.enter_context(open(unfinished, "xb", opener=made))
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(held.fileno(), mode)
            _lock(held, wait=True)
        yield unfinished
        if fcntl is None:
            held.close()  # Windows cannot rename open files; elsewhere it is locked until renamed
        unfinished.replace(path)


@contextmanager
def whole_file(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open what :func:`whole_place` makes; when it is renamed, it is on the disk."""
    with whole_place(path, mode=mode) as unfinished, unfinished.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def seal(content: bytes) -> bytes:
    """Return what is written before a content, so that :func:`unseal` can tell whether it is whole.

    Examples
    --------
    >>> kept = seal(b"all of it") + b"all of it"
    >>> unseal(kept), unseal(kept[:-1])
    (b'all of it', None)
    """
    return HEAD + hashlib.sha256(content).digest()


def unseal(data: bytes) -> bytes | None:
    """Return a content that was written after its :func:`seal`, None where it is damaged."""
    content = data[SEAL_BYTES:]
    return content if data.startswith(seal(content)) else None


def open_ours(path: str, flags: int, *, or_of: Collection[int] = ()) -> int:
    """Open a file, as ``opener`` of :func:`open`: no link, and no file that others can write.

    A new one is for this user alone. See :func:`is_ours`; of another file it raises
    PermissionError.
    """
    number = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if not is_ours(os.fstat(number), or_of=or_of):
        os.close(number)
        raise PermissionError(f"{path} could have been written by another user")
    return number


def is_ours(about: os.stat_result, *, or_of: Collection[int] = ()) -> bool:
    """Whether a file or folder is no link, belongs to this user and only this user can write to it.

    Parameters
    ----------
    about : os.stat_result
        What the system says of it.
    or_of : collection of int
        The ids of other users whom it may belong to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     is_ours(os.lstat(folder))
    True
    """
    if not hasattr(os, "geteuid"):
        return True
    owned = about.st_uid in (os.geteuid(), *or_of)
    return owned and not about.st_mode & OTHERS_WRITE and not stat.S_ISLNK(about.st_mode)


def make_private(folder: Path) -> None:
    """Make a folder for this user alone; ValueError if others can write to an existing one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_ours(folder.lstat()):
        raise ValueError(
            f"{folder} must be a folder that is yours, and that nobody else can write to: what is"
            " kept there is trusted, and could run any code. Delete it, `chmod go-w` it, or name"
            " another one."
        )


def _lock(file: BinaryIO, *, wait: bool = False) -> bool:
    """Lock a file for this process and say whether that went; some network drives have no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True

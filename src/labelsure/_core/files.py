"""Files on disk that are whole at all times: written beside their place and renamed."""

import glob
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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


@contextmanager
def whole_place(path: Path) -> Iterator[Path]:
    """Make an empty file beside ``path`` to be written, and rename it in the end: ``path`` is the old file or the new.

    Where anything fails it is removed. A process that is killed cannot do that: the next one that writes to ``path``
    does. It sees by a lock, which ends with its process, which files somebody is still writing.

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
            held = end.enter_context(unfinished.open("xb"))
            _lock(held, wait=True)
        yield unfinished
        if fcntl is None:
            held.close()  # Windows renames no file that is open; elsewhere it is locked until it has its name
        unfinished.replace(path)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open what :func:`whole_place` makes; when it is renamed, it is on the disk."""
    with whole_place(path) as unfinished, unfinished.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def is_ours(about: os.stat_result) -> bool:
    """Whether a file or folder, and no link, is this user's, and nobody else can write to it; Windows does not say.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     is_ours(os.lstat(folder))
    True
    """
    if not hasattr(os, "geteuid"):
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & OTHERS_WRITE and not stat.S_ISLNK(about.st_mode)


def _lock(file: BinaryIO, *, wait: bool = False) -> bool:
    """Lock a file for this process and say whether that went; some network drives have no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True

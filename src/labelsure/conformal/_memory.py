"""A cache of the results of long jobs, by joblib.Memory: killed work goes on where it stopped.

A result is found again by everything that it depends on: the function, the content of its
arguments, the code of the learner, versions. It is written by the process that collects results,
because workers may have other disks. joblib reads pickles, which can run any code: only from files
that nobody else can have written.
"""

import hashlib
import os
import pickle
import platform
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Memory, register_store_backend
from joblib import hash as hash_content
from joblib._store_backends import FileSystemStoreBackend

from labelsure._files import make_private, open_ours, seal, unseal
from labelsure._parallel import run_jobs
from labelsure._version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")


class PrivateStore(FileSystemStoreBackend):
    """joblib's files, private to this user; files that others could have written are not read."""

    _open_item = staticmethod(partial(open, opener=open_ours))


register_store_backend("labelsure", PrivateStore)


def _identity(key: str, sealed: bytes) -> bytes:  # noqa: ARG001 - joblib finds what it returned by the key
    return sealed


class KeptResults:
    """A folder of results, made for this user alone; ValueError where others could write to it.

    ``tell`` is called with how many results were there already, and how many there are in all,
    where some were.
    """

    def __init__(self, folder: Path, tell: Callable[[int, int], None] | None = None) -> None:
        make_private(folder)
        self.folder, self.tell = folder, tell
        with self._errors():
            self._memoized = Memory(folder, backend="labelsure", verbose=0).cache(
                _identity, ignore=["sealed"]
            )

    def read(self, key: str) -> Any:
        """Return a result; None where it is missing, damaged, or writable by others."""
        try:
            there = self._memoized.check_call_in_cache(key, b"")
            pickled = unseal(self._memoized.call_and_shelve(key, b"").get()) if there else None
            return None if pickled is None else pickle.loads(pickled)
        except Exception:  # a class that is gone, for one
            return None

    def write(self, key: str, result: Any) -> None:
        """Keep a result, or raise OSError with the folder's name."""
        pickled = _picklable(pickle.dumps, result)
        with self._errors():
            # joblib would not notice a flipped bit
            self._memoized.call(key, seal(pickled) + pickled)

    def count(self) -> int:
        """Return how many results there are, whatever they are of."""
        return sum(1 for _ in self.folder.rglob("output.pkl"))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Have joblib raise OSError where it would only warn that something cannot be written."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                yield
        except Warning as warning:
            error = warning.__context__
            reason = getattr(error, "strerror", None) or str(warning)
            raise OSError(getattr(error, "errno", None), reason, str(self.folder)) from warning


def run_kept(
    jobs: Sequence[Any], memory: Any, *, n_jobs: int | None, description: str
) -> list[Any]:
    """Return what :func:`run_jobs` would, running only jobs whose results are not in ``memory``.

    ``memory`` is the name of a folder, a path, a joblib.Memory, KeptResults or None.
    """
    kept = _open(memory)
    if kept is None:
        return run_jobs(jobs, n_jobs=n_jobs, description=description, total=len(jobs))
    digests: dict[int, str] = {}  # many jobs share large arguments
    keys = [_key(job, digests) for job in jobs]
    results = {
        number: result for number, key in enumerate(keys) if (result := kept.read(key)) is not None
    }
    if results and kept.tell is not None:
        kept.tell(len(results), len(keys))
    missing = [number for number in range(len(keys)) if number not in results]
    done = run_jobs(
        (jobs[number] for number in missing),
        n_jobs=n_jobs,
        description=description,
        total=len(missing),
        taken=lambda place, result: kept.write(keys[missing[place]], result),
    )
    results |= dict(zip(missing, done, strict=True))
    return [results[number] for number in range(len(keys))]


def _open(memory: Any) -> KeptResults | None:
    if memory is None or isinstance(memory, KeptResults):
        return memory
    # a joblib.Memory: ours is inside, where its clear() and reduce_size() find it
    if hasattr(memory, "cache"):
        return (
            None
            if memory.location is None
            else KeptResults(Path(memory.store_backend.location) / "labelsure")
        )
    if not isinstance(memory, str | os.PathLike) or not os.fspath(memory):
        raise ValueError(
            f"memory must be the name of a folder, a path, a joblib.Memory or None, got {memory!r}."
        )
    return KeptResults(Path(os.fsdecode(memory)).expanduser())


def _key(job: Any, digests: dict[int, str]) -> str:
    """Return what tells a job from others, and from the same one under other versions."""
    function, args, kwargs = job
    called = getattr(function, "__wrapped__", function)
    words = [
        __version__,
        platform.python_version(),
        *map(version, PACKAGES),
        called.__module__,
        called.__qualname__,
    ]
    for name, value in [*enumerate(args), *sorted(kwargs.items())]:
        if id(value) not in digests:
            params = (
                value.get_params()
                if hasattr(value, "get_params") and not isinstance(value, type)
                else {}
            )
            code = {_code_of(part) for part in (value, *params.values())}
            digests[id(value)] = " ".join([str(_picklable(hash_content, value)), *sorted(code)])
        words += [str(name), digests[id(value)]]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _code_of(value: Any) -> str:
    """Return the version of an object's package and the digest of its source file."""
    name = getattr(value, "__module__", None) or type(value).__module__
    package = name.partition(".")[0]
    if name not in sys.modules or package in sys.stdlib_module_names:
        return ""
    file = getattr(sys.modules[name], "__file__", None)
    code = getattr(sys.modules.get(package), "__version__", None)
    if file is None and code is None:
        raise ValueError(
            f"memory=... cannot tell whether the code of {value!r} has changed, because it is in no"
            " file. Put it into a module, or leave memory at None."
        )
    return f"{name} {code} {hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ''}"


def _picklable(use: Callable[[Any], Any], value: Any) -> Any:
    """Return what ``use`` makes of a value by pickling it, or raise ValueError."""
    try:
        return use(value)
    except Exception as error:  # pickling may raise anything
        raise ValueError(
            f"memory=... keeps what is fitted, and {type(value).__name__} holds something that"
            f" cannot be pickled ({type(error).__name__}: {error}). Put functions into a module, or"
            " leave memory at None."
        ) from error

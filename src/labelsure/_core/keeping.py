"""Answers of long jobs kept in a folder, so that work that was killed goes on where it stopped.

An answer is found again by everything that it depends on: the function, all its arguments by their content, versions.
It is written by the process that collects answers, as soon as one arrives. Answers are pickles, because learners may be
anything. A pickle can run any code, so it is read only where nobody else can have put it: the folder and the file are
this user's, and writable by nobody else. One that is damaged is computed again.
"""

import hashlib
import os
import pickle
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from labelsure._core.files import is_ours, open_no_link, seal, unseal, whole_file
from labelsure._core.running import run_jobs
from labelsure._version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")


@dataclass(frozen=True)
class KeptAnswers:
    """A folder of answers.

    Parameters
    ----------
    folder : Path
        Made where it is not there yet, for this user alone.
    tell : callable or None
        Called with how many answers were there already, and how many there are in all, where some were.
    """

    folder: Path
    tell: Callable[[int, int], None] | None = None

    def read(self, key: str) -> tuple[Any] | None:
        """Return an answer, in a tuple because it may be anything, or None where there is none to be trusted."""
        try:
            with open(self.folder / key, "rb", opener=open_no_link) as file:
                pickled = unseal(file.read()) if is_ours(os.fstat(file.fileno())) else None
            return None if pickled is None else (pickle.loads(pickled),)
        except Exception:  # none, or one that cannot be read here, for whatever reason
            return None

    def write(self, key: str, answer: Any) -> None:
        """Keep an answer, or raise OSError with the folder's name, or ValueError where it cannot be pickled."""
        try:
            pickled = pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # pickling may raise anything
            raise ValueError(
                "memory=... keeps what is fitted, and that cannot be pickled here"
                f" ({type(error).__name__}: {error}). Leave memory at None."
            ) from error
        try:
            with whole_file(self.folder / key, mode=0o600) as file:
                file.writelines((seal(pickled), pickled))
        except OSError as error:
            error.filename = error.filename or str(self.folder)
            raise

    def count(self) -> int:
        """Return how many answers there are, whatever they are of."""
        return sum(1 for _ in self.folder.glob("[0-9a-f]" * 64)) if self.folder.is_dir() else 0

    def make(self) -> None:
        """Make the folder, or raise ValueError where others could write what would be read from it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_ours(self.folder.lstat()):
            raise ValueError(
                f"memory must be a folder that is yours, and that nobody else can write to, got {str(self.folder)!r}:"
                " what is kept there is pickled, and could run any code. Name another one, or `chmod go-w` it."
            )


def check_memory(memory: Any) -> KeptAnswers | None:
    """Return where answers are kept, None where they are not.

    Parameters
    ----------
    memory : str, path, joblib.Memory, KeptAnswers or None
        What the user passed.

    Examples
    --------
    >>> check_memory("kept").folder.name
    'kept'
    """
    if memory is None or isinstance(memory, KeptAnswers):
        return memory
    if hasattr(memory, "cache"):  # a joblib.Memory: its folder is all we use of it
        return None if memory.location is None else KeptAnswers(Path(memory.location) / "labelsure")
    if not isinstance(memory, str | os.PathLike) or not os.fspath(memory):
        raise ValueError(f"memory must be the name of a folder, a path, a joblib.Memory or None, got {memory!r}.")
    return KeptAnswers(Path(os.fsdecode(memory)).expanduser())


def run_kept(jobs: Sequence[Any], memory: Any, *, n_jobs: int | None, description: str) -> list[Any]:
    """Return what :func:`run_jobs` would, asking only for answers that are not kept, and keeping them.

    Parameters
    ----------
    jobs : sequence
        Calls made by ``sklearn.utils.parallel.delayed``.
    memory : str, path, joblib.Memory, KeptAnswers or None
        Where answers are kept.
    n_jobs, description
        As in :func:`run_jobs`.
    """
    kept = check_memory(memory)
    if kept is None:
        return run_jobs(jobs, n_jobs=n_jobs, description=description, total=len(jobs))
    kept.make()
    keys = keys_of(jobs)
    answers = {number: answer for number, key in enumerate(keys) for answer in kept.read(key) or ()}
    if answers and kept.tell is not None:
        kept.tell(len(answers), len(keys))
    missing = [number for number in range(len(keys)) if number not in answers]

    def keep(place: int, answer: Any) -> None:
        kept.write(keys[missing[place]], answer)

    found = run_jobs(
        (jobs[number] for number in missing), n_jobs=n_jobs, description=description, total=len(missing), taken=keep
    )
    answers |= dict(zip(missing, found, strict=True))
    return [answers[number] for number in range(len(keys))]


def keys_of(jobs: Iterable[Any]) -> list[str]:
    """Return a text for each job that says what its answer depends on: equal ones have equal answers.

    Raises
    ------
    ValueError
        Where an argument cannot be pickled, or is of a class whose code is in no file.
    """
    digests: dict[int, str] = {}  # many jobs share large arguments

    def digest(value: Any) -> str:
        if id(value) not in digests:
            digests[id(value)] = _digest(value)
        return digests[id(value)]

    versions = [__version__, platform.python_version(), *map(version, PACKAGES)]
    keys = []
    for function, args, kwargs in jobs:
        called = getattr(function, "__wrapped__", function)
        words = [*versions, called.__module__, called.__qualname__, *map(digest, args)]
        words += [word for name in sorted(kwargs) for word in (name, digest(kwargs[name]))]
        keys.append(hashlib.sha256("\n".join(words).encode()).hexdigest())
    return keys


def _digest(value: Any) -> str:
    from joblib import hash as hash_content

    try:
        content = str(hash_content(value, hash_name="sha1"))
    except Exception as error:  # pickling may raise anything
        raise ValueError(
            f"memory=... keeps folds by what they depend on, and {type(value).__name__} holds something that cannot be"
            f" pickled ({type(error).__name__}: {error}). Put functions into a module, or leave memory at None."
        ) from error
    return " ".join([content, *sorted({_code_of(part) for part in _parts(value)})])


def _parts(value: Any) -> Iterator[Any]:
    """Yield an estimator and what it is made of: objects, classes and functions whose code may change."""
    yield value
    if hasattr(value, "get_params") and not isinstance(value, type):
        yield from value.get_params(deep=True).values()


def _code_of(value: Any) -> str:
    """Return what tells the code of an object from that of another day: its package's version, and its file."""
    name = getattr(value, "__module__", None) or type(value).__module__
    module, package = sys.modules.get(name), sys.modules.get(name.partition(".")[0])
    if package is None or module is None or name.partition(".")[0] in sys.stdlib_module_names:
        return ""
    code = getattr(package, "__version__", None)
    try:
        return f"{name} {code} {hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()}"
    except (AttributeError, OSError):
        if code is not None:
            return f"{name} {code}"
        raise ValueError(
            f"memory=... cannot tell whether the code of {value!r} has changed, because it is in no file. Put it into a"
            " module, or leave memory at None."
        ) from None

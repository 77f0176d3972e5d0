"""Work that goes on after an interruption: what is finished is kept beside the output until that is whole."""

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli._models import counted, note
from labelsure.cli._writing import say

KILLED = "a process that fitted models was killed, by somebody or because memory ran out; --jobs 1 takes the least."


@contextmanager
def kept_beside(
    output: Path, finished: str, count: Callable[[], int] | None = None
) -> Iterator[Any]:
    """Yield KeptResults in a folder beside ``output`` that goes when all is done inside; else say how to go on.

    ``finished`` is what is kept, "finished fit", and ``count`` how many there are, where that is
    not as many as there are results. CommandError, in one line, where the folder cannot be used;
    those raised inside say how to go on.
    """
    from labelsure.conformal._memory import KeptResults

    folder = output.with_name(f".{output.name}.parts")

    def how_to_go_on() -> str:
        if not (n_kept := kept.count() if count is None else count()):
            shutil.rmtree(folder, ignore_errors=True)
            return ""
        are = "is" if n_kept == 1 else "are"
        return f" {counted(n_kept, finished)} {are} kept in {folder}: give the same command again to go on."

    try:
        kept = KeptResults(folder, tell=_tell)
    except ValueError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        if not any(folder.rglob("output.pkl")):
            shutil.rmtree(folder, ignore_errors=True)
        raise CommandError(f"{folder} could not be written: {error.strerror or error}.") from error
    try:
        yield kept
    except KeyboardInterrupt:
        if go_on := how_to_go_on():
            say(f"\nlabelsure: interrupted.{go_on}", file=sys.stderr)
        raise
    except CommandError as error:
        raise CommandError(f"{error}{how_to_go_on()}") from error
    except BaseException as error:  # nobody's fault that we know of
        go_on = how_to_go_on()
        if isinstance(error, OSError) and error.filename == str(folder):
            raise CommandError(
                f"{folder} could not be written: {error.strerror}.{go_on}"
            ) from error
        raise
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def keep_fits(output: Path, learner: str) -> Iterator[Any]:
    """Yield what a model's ``memory`` is to be until it is saved; what goes wrong is a CommandError of one line."""
    with kept_beside(output, "finished fit") as kept:
        try:
            yield kept
        except (
            ValueError
        ) as error:  # it would come again; our own errors say what to do, a learner's what is wrong
            shutil.rmtree(kept.folder, ignore_errors=True)
            raise CommandError(
                f"{learner} could not be fitted: {' '.join(str(error).split())}"
            ) from error
        except BrokenExecutor as error:
            raise CommandError(KILLED) from error
        except OSError as error:
            raise CommandError(
                f"{error.filename or output} could not be written: {error.strerror or error}."
            ) from error


def _tell(n_kept: int, n_fits: int) -> None:
    note(f"{n_kept} of {n_fits} fits were finished already, by a run that was interrupted.")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.expanduser().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

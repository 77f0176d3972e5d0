"""Fits that go on after an interruption: finished ones are kept beside the model until it is saved."""

import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelsure.cli._errors import CommandError
from labelsure.cli._models import counted, note
from labelsure.cli._parts import folder_of_parts
from labelsure.cli._writing import say

KILLED = "a process that fitted models was killed, by somebody or because memory ran out; --jobs 1 takes the least."


@contextmanager
def keep_fits(output: Path, learner: str) -> Iterator[Any]:
    """Keep fits in a folder beside ``output`` until all is done inside; where it is not, say why and how to go on.

    Yields
    ------
    KeptAnswers
        For the model's ``memory``.

    Raises
    ------
    CommandError
        In one line, where the learner refuses the data, a worker was killed, or something could not be written.
    """
    from labelsure._core.keeping import KeptAnswers

    kept = KeptAnswers(folder_of_parts(output), tell=_tell)
    try:
        kept.make()
    except ValueError as error:
        raise CommandError(
            f"{kept.folder} is not yours alone: others may have put there what would be read. Delete it, or name"
            " another model."
        ) from error
    except OSError as error:
        raise CommandError(f"{kept.folder} could not be written: {error.strerror or error}.") from error
    try:
        yield kept
    except ValueError as error:  # it would come again; our own errors say what to do, a learner's what is wrong
        shutil.rmtree(kept.folder, ignore_errors=True)
        raise CommandError(f"{learner} could not be fitted: {' '.join(str(error).split())}") from error
    except KeyboardInterrupt:
        if go_on := _how_to_go_on(kept):
            say(f"\nlabelsure: interrupted.{go_on}", file=sys.stderr)
        raise
    except BrokenExecutor as error:
        raise CommandError(f"{KILLED}{_how_to_go_on(kept)}") from error
    except OSError as error:
        raise CommandError(
            f"{error.filename or output} could not be written: {error.strerror or error}.{_how_to_go_on(kept)}"
        ) from error
    except CommandError as error:
        raise CommandError(f"{error}{_how_to_go_on(kept)}") from error
    except BaseException:  # nobody's fault that we know of
        _how_to_go_on(kept)
        raise
    shutil.rmtree(kept.folder, ignore_errors=True)


def _how_to_go_on(kept: Any) -> str:
    """Return what to tell, and leave no folder behind where nothing is kept."""
    n_kept = kept.count()
    if not n_kept:
        shutil.rmtree(kept.folder, ignore_errors=True)
        return ""
    are = "is" if n_kept == 1 else "are"
    return f" {counted(n_kept, 'finished fit')} {are} kept in {kept.folder}: give the same command again to go on."


def _tell(n_kept: int, n_fits: int) -> None:
    note(f"{n_kept} of {n_fits} fits were finished already, by a run that was interrupted.")

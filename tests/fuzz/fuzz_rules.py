"""What every call must do: answer without NaN, or raise an error that is ours and clear.

An error is clear where a ``raise`` of ours made it, as a ValueError or TypeError whose message says
what is wrong in words; or where the learner inside refused X at its own door, because X is handed
to it as it is.
"""

import ast
import linecache
import math
import re
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import labelsure
from labelsure.datasets import DatasetError
from labelsure.model_file import ModelFileError

SOURCES = str(Path(labelsure.__file__).parent)
CLEAR_TYPES = (ValueError, TypeError, IndexError, DatasetError, ModelFileError)
LEARNERS_DOORS = (
    "sklearn/utils/", "sklearn/base.py", "sklearn/feature_extraction",
    "sklearn/model_selection/_split.py", "scipy/sparse/", "narwhals/", "torch/", "pandas/core",
    "copy.py",
)  # fmt: skip
PYTHONS_OWN = re.compile(r"unexpected keyword argument|missing \d+ required|positional argument")


class Refusal(NamedTuple):
    """A call that ended with a clear error."""

    kind: str
    message: str


class Broken(AssertionError):  # noqa: N818 - a promise is, not the code
    """A call that breaks the claim."""


@cache
def lines_of_raises(filename):
    """The lines of a file that belong to a raise statement."""
    tree = ast.parse("".join(linecache.getlines(filename)))
    spans = [
        (node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.Raise)
    ]
    return frozenset(line for first, last in spans for line in range(first, last + 1))


def innermost(error):
    """The file and line that an error was raised at."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    return place.tb_frame.f_code.co_filename, place.tb_lineno


def of_seeds(error):
    """Whether scikit-learn or numpy refused a random_state."""
    place, names = error.__traceback__, []
    while place is not None:
        names.append(place.tb_frame.f_code.co_name)
        place = place.tb_next
    return "check_random_state" in names and isinstance(error, ValueError | TypeError)


def users_own(where):
    """Whether an error comes from a function that a test passed as a user's own."""
    return Path(where).name in ("fuzz_calls.py", "fuzz_junk.py")


def of_pathlib(where):
    """Whether an error comes from pathlib: one file up to Python 3.12, a folder from 3.13 on."""
    return Path(where).name == "pathlib.py" or Path(where).parent.name == "pathlib"


def complaint_about(error, *, learner=False, indexing=False):  # noqa: PLR0911 - one return per rule
    """What is wrong with an error, or None where it is clear.

    Parameters
    ----------
    error : Exception
        That a call raised.
    learner : bool
        Whether the call hands X to a learner, whose own refusal counts.
    indexing : bool
        Whether the call is ``[...]``, which refuses as Python's lists and numpy's arrays do.
    """
    where, line = innermost(error)
    if (
        users_own(where)
        or of_pathlib(where)
        or of_seeds(error)
        or (indexing and isinstance(error, IndexError | TypeError))
    ):
        return None
    if not isinstance(error, CLEAR_TYPES) and not (learner and "torch/" in where):
        return f"{type(error).__name__} at {where}:{line}"
    message = str(error)
    if PYTHONS_OWN.search(message):
        return None
    if where.startswith(SOURCES):
        if line not in lines_of_raises(where):
            return f"no raise of ours at {where}:{line}"
        return None if len(message.split()) >= 5 else "not in words"
    if learner and any(door in where for door in LEARNERS_DOORS):
        return None
    return f"from inside, at {where}:{line}"


def outcome_of(call, **allowed):
    """Return a call's result, or a Refusal; raise Broken if its error or warning is unclear."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call()
        except Exception as error:
            complaint = complaint_about(error, **allowed)
            if complaint:
                raise Broken(f"{type(error).__name__}: {str(error)[:300]} ({complaint})") from error
            answer = Refusal(type(error).__name__, str(error))
    leaks = [
        one
        for one in caught
        if issubclass(one.category, RuntimeWarning) and one.filename.startswith(SOURCES)
    ]
    if leaks:
        raise Broken(f"RuntimeWarning: {leaks[0].message} at {leaks[0].filename}:{leaks[0].lineno}")
    if not isinstance(answer, Refusal):
        check_numbers(answer)
    return answer


def check_numbers(answer):
    """Raise Broken where an answer holds NaN."""
    if isinstance(answer, tuple):
        for part in answer:
            check_numbers(part)
    elif (isinstance(answer, float) and math.isnan(answer)) or (
        isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and np.isnan(answer).any()
    ):
        raise Broken("NaN in an answer")


def same(one, other):
    """Whether two answers are equal bit for bit."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and bool(np.array_equal(one, other))
        )
    return type(one) is type(other) and one == other


def describe(value):
    """A short text for a value, for messages."""
    return f"{type(value).__name__} {repr(value)[:150] if sys.getsizeof(value) < 10_000 else '...'}"

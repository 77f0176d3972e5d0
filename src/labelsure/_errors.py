"""Errors of our own, and the one for packages that only some users need."""

import importlib
from types import ModuleType


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module`` or say which extra of labelsure brings it.

    Parameters
    ----------
    module : str
        The module's full name.
    extra : str
        The extra of labelsure that installs it.
    purpose : str
        What needs it, to start the error message with.

    Examples
    --------
    >>> import_optional("json", extra="none", purpose="This example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs the package {package!r}, which is not installed."
            f' Install it with: pip install "labelsure[{extra}]"'
        ) from error


class DatasetError(ValueError):
    """A data set cannot be found, fetched or read.

    The message names the file, where there is one its line, what was expected, what was there and
    what to do.

    Examples
    --------
    >>> from labelsure.datasets import load_dataset
    >>> load_dataset("scenes", download=False)
    Traceback (most recent call last):
    ...
    labelsure._errors.DatasetError: 'scenes' is not a data set labelsure knows. Did you mean ...
    """


class LineError(Exception):
    """A problem in part of a file, raised where only that part is known; the reader adds where."""


class BatchError(RuntimeError):
    """Some rows cannot be predicted; the message says which, and why.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import predict_batches
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]])
    >>> list(predict_batches(predictor, [[[0.8, 0.3]], [[0.1]]]))
    Traceback (most recent call last):
    ...
    labelsure._errors.BatchError: batch 1 (row 1, both counted from 0) cannot be predicted: ...
    """


class CommandError(Exception):
    """A problem that the user can fix: the command prints the message and ends with exit code 1."""

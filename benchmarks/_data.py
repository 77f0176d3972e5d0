"""Data sets that are at hand."""

from benchmarks._answers import NotMeasuredError
from labelsure import load_dataset
from labelsure.datasets import Dataset, DatasetError


def load_if_there(name: str) -> Dataset:
    """Return a data set from LABELSURE_DATA or the cache: a benchmark downloads nothing."""
    try:
        return load_dataset(name, download=False)
    except DatasetError as error:
        raise NotMeasuredError(
            f"the data set {name} is not at hand; LABELSURE_DATA names the folder with its files"
        ) from error

"""Data sets: a reader for Mulan's ARFF and XML files, and the standard benchmark sets by name."""

from labelsure.datasets._dataset import Dataset
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._load import READERS, available_datasets, load_dataset, read_file
from labelsure.datasets._mulan import read_hierarchy, read_mulan

__all__ = [
    "READERS",
    "Dataset",
    "DatasetError",
    "available_datasets",
    "load_dataset",
    "read_file",
    "read_hierarchy",
    "read_mulan",
]

"""Data: tables in CSV, Parquet, ARFF and libsvm, Mulan's data sets, and the standard benchmark sets by name."""

from labelsure.datasets._dataset import Dataset
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._infer import ENDINGS, infer_schema
from labelsure.datasets._load import READERS, available_datasets, load_dataset, read_file
from labelsure.datasets._mulan import read_hierarchy, read_mulan
from labelsure.datasets._schema import Column, TableSchema
from labelsure.datasets._table import Table, TableBatch, open_table

__all__ = [
    "ENDINGS",
    "READERS",
    "Column",
    "Dataset",
    "DatasetError",
    "Table",
    "TableBatch",
    "TableSchema",
    "available_datasets",
    "infer_schema",
    "load_dataset",
    "open_table",
    "read_file",
    "read_hierarchy",
    "read_mulan",
]

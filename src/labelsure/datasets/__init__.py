"""Data: CSV, Parquet, ARFF and libsvm tables, Mulan's format, and benchmark sets by name."""

from labelsure._errors import DatasetError
from labelsure.datasets._dataset import Dataset
from labelsure.datasets._load import available_datasets, load_dataset
from labelsure.datasets._mulan import read_hierarchy, read_mulan
from labelsure.datasets._schema import Column, TableSchema, infer_schema
from labelsure.datasets._table import Table, TableBatch, open_table

__all__ = [
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
    "read_hierarchy",
    "read_mulan",
]

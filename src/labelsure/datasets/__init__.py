"""Data: tables in CSV, Parquet, ARFF and libsvm, Mulan's data sets, and the standard benchmark sets by name."""

from labelsure.datasets._dataset import Dataset
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._load import available_datasets, load_dataset
from labelsure.datasets._mulan import read_hierarchy, read_mulan
from labelsure.datasets._schema import Column, TableSchema, infer_schema
from labelsure.datasets._table import Table, TableBatch, open_table
from labelsure.datasets._table_files import ENDINGS, as_arrow, names_of_columns, table_library

__all__ = [
    "ENDINGS",
    "Column",
    "Dataset",
    "DatasetError",
    "Table",
    "TableBatch",
    "TableSchema",
    "as_arrow",
    "available_datasets",
    "infer_schema",
    "load_dataset",
    "names_of_columns",
    "open_table",
    "read_hierarchy",
    "read_mulan",
    "table_library",
]

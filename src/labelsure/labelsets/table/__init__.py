"""Answers from all 2^q labelsets of each object; ``TableBackend`` is the seam for other devices."""

from labelsure.labelsets.table._backends import NumbaTable, NumpyTable, RowTable, TableBackend
from labelsure.labelsets.table._device import CudaDevice, find_device
from labelsure.labelsets.table._listed import ListAnswers
from labelsure.labelsets.table._numpy_rows import SCORE_SECONDS
from labelsure.labelsets.table._table import TableAnswers

__all__ = [
    "SCORE_SECONDS",
    "CudaDevice",
    "ListAnswers",
    "NumbaTable",
    "NumpyTable",
    "RowTable",
    "TableAnswers",
    "TableBackend",
    "find_device",
]

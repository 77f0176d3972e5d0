"""Answers from all 2^q labelsets of each object; ``TableBackend`` is the seam for other devices."""

from labelsure.labelsets.table._backends import NumbaTable, RowTable, TableBackend
from labelsure.labelsets.table._device import CudaDevice, find_device
from labelsure.labelsets.table._listed import ListAnswers
from labelsure.labelsets.table._table import TableAnswers

__all__ = ["CudaDevice", "ListAnswers", "NumbaTable", "RowTable", "TableAnswers", "TableBackend", "find_device"]

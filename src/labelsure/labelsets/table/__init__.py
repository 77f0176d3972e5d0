"""Answers from all 2^q labelsets, for few labels; the seam for other back ends is ``TableBackend``."""

from labelsure.labelsets.table._answers import TableAnswers
from labelsure.labelsets.table._backend import RowTable, TableBackend
from labelsure.labelsets.table._numba_table import NumbaTable

__all__ = ["NumbaTable", "RowTable", "TableAnswers", "TableBackend"]

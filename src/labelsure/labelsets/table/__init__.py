"""Answers from all 2^q labelsets, for few labels; the seam for other back ends is ``TableBackend``."""

from labelsure.labelsets.table._table import NumbaTable, RowTable, TableAnswers, TableBackend

__all__ = ["NumbaTable", "RowTable", "TableAnswers", "TableBackend"]

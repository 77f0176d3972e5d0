"""Answers without listing the labelsets, for any number of labels; importing it imports numba."""

from labelsure.labelsets.search._answers import SearchAnswers
from labelsure.labelsets.search._max_answers import MaxAnswers, max_rows

__all__ = ["MaxAnswers", "SearchAnswers", "max_rows"]

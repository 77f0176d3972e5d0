"""Answers without listing the labelsets, for any number of labels; importing it imports numba."""

from labelsure.labelsets.search._answers import PairAnswers, SearchAnswers, WalkAnswers
from labelsure.labelsets.search._max_answers import MaxAnswers, max_rows

__all__ = ["MaxAnswers", "PairAnswers", "SearchAnswers", "WalkAnswers", "max_rows"]

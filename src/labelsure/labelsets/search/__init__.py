"""Answers without listing the labelsets, for any number of labels; importing it imports numba."""

from labelsure.labelsets.search._answers import PairAnswers, WalkAnswers

__all__ = ["PairAnswers", "WalkAnswers"]

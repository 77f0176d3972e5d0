"""The 2014 paper: its learners, the ranking measures of their authors, and its tables.

``coverage_error`` counts from 0, as these papers do: it is one less than the function of that name
in scikit-learn.
"""

from labelsure.paper._bpmll import BPMLLClassifier
from labelsure.paper._mlknn import MLkNNClassifier
from labelsure.paper._mlnb import MLNBClassifier
from labelsure.paper._mlrbf import MLRBFClassifier
from labelsure.paper._ranking import average_precision, coverage_error, one_error, ranking_loss

__all__ = [
    "BPMLLClassifier",
    "MLNBClassifier",
    "MLRBFClassifier",
    "MLkNNClassifier",
    "average_precision",
    "coverage_error",
    "one_error",
    "ranking_loss",
]

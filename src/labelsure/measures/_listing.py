"""Measures that are no sum over labels: every labelset of every object is scored and stored."""

from abc import abstractmethod
from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Overrides
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.listing import check_list_memory, check_listed_labels, list_labelsets
from labelsure._core.types import FloatArray, IntArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix
from labelsure.measures._base import Measure


class ListingMeasure(Measure):
    """A measure that scores all 2^q labelsets of an object one by one, so q must be small."""

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Check the number of labels, there is nothing to learn; see :meth:`Measure.fit`."""
        n_labels = check_label_matrix(Y).shape[1]
        check_listed_labels(repr(self), n_labels)
        self.n_labels_ = n_labels
        self.bound_ = self._largest_score()
        self.exponent_ = choose_exponent(self.bound_)
        return self

    @abstractmethod
    def _largest_score(self) -> float:
        """Return a number that no score exceeds in magnitude."""

    @abstractmethod
    def _scores(self, outputs: FloatArray, labelset: IntArray) -> FloatArray:
        """Return the scores (n,) of one labelset (q,) for the objects with these outputs (n, q)."""

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:  # noqa: ARG002
        n_objects, n_labels = outputs.shape
        check_list_memory(n_objects, n_labels)
        labelsets = list_labelsets(n_labels)
        scores = np.empty((n_objects, len(labelsets)), dtype=np.int64)
        for number, labelset in enumerate(labelsets):
            scores[:, number] = to_fixed_point(self._scores(outputs, labelset.astype(np.int64)), exponent)
        begin = np.arange(n_objects + 1) * len(labelsets)
        return Energy(
            constant=np.zeros(n_objects, dtype=np.int64),
            unary=np.zeros((n_objects, n_labels), dtype=np.int64),
            overrides=Overrides(begin, np.tile(labelsets, (n_objects, 1)), scores.ravel()),
        )

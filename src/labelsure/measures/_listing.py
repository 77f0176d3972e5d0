"""Measures that are no sum over labels: every labelset of every object is scored and stored."""

from abc import abstractmethod
from itertools import product
from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.exceptions import Exceptions
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix
from labelsure.measures._base import Measure

MAX_LISTED_LABELS = 12
"""With 12 labels an object's list takes 80 KiB in every fold; each label more doubles it."""

MAX_LIST_BYTES = 2**29
"""The lists of the objects scored at a time may take so much memory in a fold; sorting them takes a few times more."""


class ListingMeasure(Measure):
    """A measure that scores all 2^q labelsets of an object one by one, so q must be small."""

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Check the number of labels, there is nothing to learn; see :meth:`Measure.fit`."""
        n_labels = check_label_matrix(Y).shape[1]
        if n_labels > MAX_LISTED_LABELS:
            raise ValueError(
                f"{self!r} scores every labelset one by one, which is possible for up to {MAX_LISTED_LABELS} labels"
                f" ({_list_bytes(MAX_LISTED_LABELS) / 2**10:.0f} KiB per object and fold), got {n_labels} labels"
                f" (2^{n_labels} labelsets). Choose a measure that adds up over labels, such as PowerMeasure()."
            )
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
        _check_memory(n_objects, n_labels)
        labelsets: LabelMatrix = np.array(list(product((0, 1), repeat=n_labels)), dtype=np.int8)
        scores = np.empty((n_objects, len(labelsets)), dtype=np.int64)
        for number, labelset in enumerate(labelsets):
            scores[:, number] = to_fixed_point(self._scores(outputs, labelset.astype(np.int64)), exponent)
        begin = np.arange(n_objects + 1) * len(labelsets)
        return Energy(
            constant=np.zeros(n_objects, dtype=np.int64),
            unary=np.zeros((n_objects, n_labels), dtype=np.int64),
            exceptions=Exceptions(begin, np.tile(labelsets, (n_objects, 1)), scores.ravel()),
        )


def _list_bytes(n_labels: int) -> int:
    """Return what one object's labelsets with their scores take."""
    return int(2**n_labels) * (n_labels + 8)


def _check_memory(n_objects: int, n_labels: int) -> None:
    at_a_time = MAX_LIST_BYTES // _list_bytes(n_labels)
    if n_objects > at_a_time:
        raise ValueError(
            f"Scoring all 2^{n_labels} labelsets of {n_objects} objects one by one would take"
            f" {n_objects * _list_bytes(n_labels) / 2**20:.0f} MiB in every fold, more than the"
            f" {MAX_LIST_BYTES // 2**20} MiB allowed. Pass at most {at_a_time} objects at a time, or choose a measure"
            " that adds up over labels, such as PowerMeasure()."
        )

"""Sums of measures."""

from copy import copy
from typing import Self

from labelsure._core.energy import Energy
from labelsure._core.fixed_point import choose_exponent
from labelsure._core.types import FloatArray, IntArray, LabelMatrixLike, MatrixLike
from labelsure.measures._base import Measure


class MeasureSum(Measure):
    """The sum of two measures, written ``a + b``.

    Parameters
    ----------
    first, second : Measure
        At most one of them may have a square root (as the Mahalanobis measures do), and then the other has to be a
        penalty on labelsets alone.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> both = PowerMeasure(d=2) + PowerMeasure(d=4)
    >>> energy = both.fit([[1, 0]]).energy([[0.5, 0.0]])
    >>> float(energy.scores([[1, 0]])[0] * 2.0**-both.exponent_)
    0.3125
    """

    def __init__(self, first: Measure, second: Measure) -> None:
        self.first = first
        self.second = second

    @property
    def needs_training_labels(self) -> bool:
        """Whether either does."""
        return self.first.needs_training_labels or self.second.needs_training_labels

    @property
    def needs_training_outputs(self) -> bool:
        """Whether either does."""
        return self.first.needs_training_outputs or self.second.needs_training_outputs

    @property
    def needs_out_of_fold_outputs(self) -> bool:
        """Whether either does."""
        return self.first.needs_out_of_fold_outputs or self.second.needs_out_of_fold_outputs

    @property
    def needs_features(self) -> bool:
        """Whether either does."""
        return self.first.needs_features or self.second.needs_features

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:
        """Fit both measures; see :meth:`Measure.fit`."""
        for measure in (self.first, self.second):
            measure.fit(Y, outputs=outputs, X=X)
        return self.join()

    def join(self) -> Self:
        """Learn from two measures that are fitted already, on the same examples."""
        self.n_labels_ = self.first.n_labels_
        self.bound_ = self.first.bound_ + self.second.bound_
        self.exponent_ = min(choose_exponent(self.bound_), self.first.exponent_, self.second.exponent_)
        return self

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        return self.first._energy(outputs, X, exponent) + self.second._energy(outputs, X, exponent)

    def restrict(self, labels: IntArray) -> Self:
        """Return the sum of both measures for some of the labels alone; see :meth:`Measure.restrict`."""
        part = copy(self)
        part.first, part.second = self.first.restrict(labels), self.second.restrict(labels)
        part.n_labels_ = len(labels)
        return part

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.first!r} + {self.second!r}"

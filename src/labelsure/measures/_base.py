"""What a nonconformity measure is."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelsure._core.energy import Energy
from labelsure._core.types import FloatArray, IntArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_outputs

if TYPE_CHECKING:
    from labelsure.measures._sum import MeasureSum


class Measure(BaseEstimator, ABC):
    """A nonconformity measure: how strange is a labelset, given a learner's outputs for the object?

    A measure is fitted on a fold's training part, never on its calibration part, and turns outputs into an
    :class:`~labelsure._core.energy.Energy`. Measures add up: ``LogLossMeasure() + UnseenPenalty(3.0)``. A measure is a
    scikit-learn estimator as far as parameters go, so a grid search can reach them as ``measure__...``.

    A measure says what it needs of the training part by four attributes (``needs_features = True``); each is False
    unless said otherwise. Its ``fit`` sets ``n_labels_``, ``bound_`` (no labelset's score, nor a partial sum of it, is
    larger in magnitude) and ``exponent_`` (scores are whole numbers of 2^-exponent_).
    """

    n_labels_: int
    bound_: float
    exponent_: int

    @property
    def needs_training_labels(self) -> bool:
        """Whether the scores depend on the labelsets seen in training."""
        return False

    @property
    def needs_training_outputs(self) -> bool:
        """Whether the scores depend on the learner's outputs for its training examples."""
        return False

    @property
    def needs_out_of_fold_outputs(self) -> bool:
        """Whether those have to come from models that were not trained on the example."""
        return False

    @property
    def needs_features(self) -> bool:
        """Whether the measure looks at the objects themselves, not only at a learner's outputs for them."""
        return False

    @abstractmethod
    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:
        """Learn from a fold's training part.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Its labelsets, zeros and ones; no rows where the measure needs no training labels.
        outputs : array of shape (n, q) or None
            The learner's outputs for its objects, where the measure needs them.
        X : array-like of n rows or None
            The objects, where the measure needs them.
        """

    def energy(self, outputs: FloatArray, *, X: MatrixLike = None) -> Energy:
        """Return the scores of all labelsets of the objects with these outputs.

        Parameters
        ----------
        outputs : array-like of shape (n, q)
            Between 0 and 1.
        X : array-like of n rows or None
            The objects, where the measure needs them.
        """
        check_is_fitted(self, "exponent_")
        return self._energy(check_outputs(outputs, n_labels=self.n_labels_), X, self.exponent_)

    @abstractmethod
    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        """Return the energy in units of 2^-exponent, which is at most ``exponent_``."""

    def restrict(self, labels: IntArray) -> Self:  # noqa: ARG002
        """Return the fitted measure for some of the labels alone, the others being off and their costs left out.

        Parameters
        ----------
        labels : int64 array of shape (u,)
            Their numbers, ascending.
        """
        raise ValueError(
            f"{self!r} looks at all labels together, so it needs dense outputs, got a sparse matrix."
            " Pass outputs.toarray(), or choose a measure that adds up label by label such as PowerMeasure()."
        )

    def __add__(self, other: "Measure") -> "MeasureSum":
        """Return the measure whose scores are the sums of both measures' scores."""
        from labelsure.measures._sum import MeasureSum

        return MeasureSum(self, other) if isinstance(other, Measure) else NotImplemented

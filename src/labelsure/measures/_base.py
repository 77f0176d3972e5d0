"""What a nonconformity measure is."""

from abc import ABC, abstractmethod
from typing import Self

from sklearn.base import BaseEstimator

from labelsure._core.energy import Energy
from labelsure._core.types import FloatArray, IntArray, LabelMatrix


class Measure(BaseEstimator, ABC):
    """A nonconformity measure: how strange is a labelset, given a learner's outputs for the object?

    A measure is fitted on a fold's training labels, never on its calibration part, and turns outputs into an
    :class:`~labelsure._core.energy.Energy`. It is a scikit-learn estimator as far as parameters go, so a grid search
    can reach them as ``measure__...``.
    """

    @property
    @abstractmethod
    def needs_training_labels(self) -> bool:
        """Whether the scores depend on the labelsets seen in training."""

    @abstractmethod
    def fit(self, Y: LabelMatrix) -> Self:
        """Learn from the labelsets of a fold's training part.

        Parameters
        ----------
        Y : array of shape (n, q)
            Zeros and ones; no rows where the measure needs no training labels.
        """

    @abstractmethod
    def restrict(self, labels: IntArray) -> Self:
        """Return the fitted measure for some of the labels alone, the others' costs left out.

        Parameters
        ----------
        labels : int64 array of shape (u,)
            Their numbers.
        """

    @abstractmethod
    def energy(self, outputs: FloatArray) -> Energy:
        """Return the scores of all labelsets of the objects with these outputs.

        Parameters
        ----------
        outputs : array of shape (n, q)
            Between 0 and 1.
        """

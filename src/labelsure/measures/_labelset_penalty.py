"""What penalties on labelsets have in common."""

from abc import abstractmethod
from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Discounts, Penalty
from labelsure._core.fixed_point import choose_exponent
from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_number
from labelsure.measures._base import Measure


class LabelsetPenalty(Measure):
    """A measure that looks at the labelset alone and at those seen in training, not at a learner's outputs.

    Its energy has neither constant nor unary costs, so it can be added to any measure, one with a square root too.
    """

    weight: float
    needs_training_labels = True

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Learn from the labelsets seen in training; see :meth:`Measure.fit`."""
        weight = check_number(self.weight, name="weight", at_least=0)
        labels = check_label_matrix(Y)
        if len(labels) == 0:
            raise ValueError(
                f"{self!r} compares labelsets with those seen in training, so Y needs at least one row, got none."
                " Pass the labels of the examples that the learner was trained on."
            )
        self.n_labels_ = labels.shape[1]
        self.bound_ = weight * self._learn(labels)
        self.exponent_ = choose_exponent(self.bound_)
        return self

    @abstractmethod
    def _learn(self, labels: LabelMatrix) -> float:
        """Learn from the training labels and return the largest penalty of any labelset with a weight of 1."""

    @abstractmethod
    def _costs(self, exponent: int) -> tuple[Penalty, Discounts | None]:
        """Return the penalty and what is spared of it, in units of 2^-exponent."""

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:  # noqa: ARG002
        penalty, discounts = self._costs(exponent)
        return Energy(
            constant=np.zeros(len(outputs), dtype=np.int64),
            unary=np.zeros(outputs.shape, dtype=np.int64),
            penalty=penalty,
            discounts=discounts,
        )

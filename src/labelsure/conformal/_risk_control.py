"""Sets of labels {j : o_j >= threshold} whose recall or precision is under control."""

from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from labelsure._core.types import IntArray
from labelsure._core.validation import check_outputs, check_significance


@dataclass(frozen=True)
class ThresholdPredictor:
    """Predicts the labels with an output of at least a threshold; made by ``control_recall`` and ``control_precision``.

    Attributes
    ----------
    threshold : float
        0 keeps all labels, infinity none.
    target : float
        The recall or the precision asked for.
    reached : bool
        Whether the calibration examples show that the target is reached. Where they do not, the threshold is the one
        that cannot fail: 0 for recall, infinity for precision.
    n_labels : int
        The number of labels.
    n_calibration : int
        The number of calibration examples.
    guarantee : str
        What is proved about new objects, under which conditions, and by whom.

    Examples
    --------
    >>> from labelsure import control_recall
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.7, 0.4]]
    >>> predictor = control_recall(outputs, [[1, 0], [1, 0], [0, 1], [1, 1]], target=0.6)
    >>> predictor.threshold
    0.6
    >>> predictor.predict([[0.65, 0.5], [0.9, 0.8]]).tolist()
    [[1, 0], [1, 1]]
    >>> print(predictor.guarantee)
    The expected recall of a new object is at least 0.6, for exchangeable examples (conformal risk control:
    Angelopoulos, Bates, Fisch, Lei, Schuster 2024).
    """

    threshold: float
    target: float
    reached: bool
    n_labels: int
    n_calibration: int
    guarantee: str

    def predict(self, outputs: Any) -> IntArray:
        """Return the labels of new objects.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels)
            Between 0 and 1, of the model whose outputs calibrated.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return (check_outputs(outputs, n_labels=self.n_labels) >= self.threshold).astype(np.int64)


def check_probability(value: Any, *, name: str, example: str) -> Fraction:
    """Return a number strictly between 0 and 1 as an exact fraction, as it is printed."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number strictly between 0 and 1, got {value!r}. {example}")
    return check_significance(value)


def sum_of_shares(parts: IntArray, wholes: IntArray) -> Fraction:
    """Return the exact sum of parts[i] / wholes[i]; where a whole is 0 the share is 0.

    Examples
    --------
    >>> sum_of_shares(np.array([1, 1, 1, 0]), np.array([3, 3, 3, 0]))
    Fraction(1, 1)
    """
    by_whole = np.bincount(wholes, weights=parts)  # floats, but of whole numbers
    return sum((Fraction(int(part), whole) for whole, part in enumerate(by_whole) if part), Fraction(0))

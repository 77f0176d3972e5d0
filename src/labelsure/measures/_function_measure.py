"""A nonconformity measure of the user's own."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelsure._core.types import FloatArray, IntArray
from labelsure._core.validation import check_number
from labelsure.measures._listing import ListingMeasure


class FunctionMeasure(ListingMeasure):
    """Scores from a function of your own, for up to 12 labels.

    All 2^q labelsets of an object are scored one by one and kept, so this is for few labels, and for trying out a
    measure before it is written as an energy.

    Parameters
    ----------
    function : callable
        ``function(outputs, labelset)`` gets the outputs of n objects, a read-only array of shape (n, q), and one
        labelset, zeros and ones of shape (q,). It returns n numbers, larger ones for stranger labelsets; object i's
        may depend on row i alone. Nothing in the function may have been learned from the calibration examples, or
        the guarantee is lost.
    largest : float, default=1000.0
        No score may be larger in magnitude. Scores are rounded to some 15 digits of it, at the finest to 2^-40.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import FunctionMeasure
    >>> def euclidean(outputs, labelset):
    ...     return np.sqrt(((labelset - outputs) ** 2).sum(axis=1))
    >>> measure = FunctionMeasure(euclidean).fit([[1, 0]])
    >>> float(measure.energy([[0.7, 0.4]]).scores([[1, 0]])[0] * 2.0**-measure.exponent_)
    0.5
    """

    def __init__(self, function: Callable[[FloatArray, IntArray], Any], *, largest: float = 1000.0) -> None:
        self.function = function
        self.largest = largest

    def _largest_score(self) -> float:
        if not callable(self.function):
            raise ValueError(
                "function must be a callable that takes the outputs (n_objects, n_labels) and one labelset"
                f" (n_labels,) and returns n_objects scores, got {self.function!r}."
            )
        return check_number(self.largest, name="largest", above=0)

    def _scores(self, outputs: FloatArray, labelset: IntArray) -> FloatArray:
        guarded = outputs.view()
        guarded.flags.writeable = False  # the next labelset is scored with the same outputs
        return self._check_scores(self.function(guarded, labelset), outputs, labelset)

    def _check_scores(self, returned: Any, outputs: FloatArray, labelset: IntArray) -> FloatArray:
        """Return what the function returned as numbers, or say what is wrong with them."""
        for_labelset = f"for the labelset {labelset.tolist()}"
        try:
            scores = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"function must return numbers, got {returned!r} {for_labelset}.") from error
        if scores.shape != (len(outputs),):
            raise ValueError(
                f"function must return one score per object, shape ({len(outputs)},), got shape {scores.shape}"
                f" {for_labelset}. It is called with the outputs of all objects, shape {outputs.shape}; reduce over"
                " the labels with axis=1."
            )
        wrong = ~(np.abs(scores) <= float(self.largest))
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"function must return finite scores of magnitude up to largest={self.largest:g}, got {scores[i]:g}"
                f" for the outputs {outputs[i].tolist()} and the labelset {labelset.tolist()}."
                " Correct the function, or pass a larger value of largest."
            )
        return scores

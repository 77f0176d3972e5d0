"""A nonconformity measure of the user's own."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix, MatrixLike, check_number
from labelsure.measures._base import Measure
from labelsure.measures._costs import Costs, OwnScores
from labelsure.measures._labelset_bits import decode

MAX_LABELS = 12
"""With 12 labels an object's list takes 80 KiB in every fold; each label more doubles it."""

MAX_LIST_BYTES = 2**29
"""Memory for the lists of the objects scored at a time, per fold; sorting takes more."""


@dataclass(eq=False, repr=False)
class FunctionMeasure(Measure):
    """Scores from a function of your own, for up to 12 labels.

    All 2^q labelsets of an object are scored one by one and kept, so this is for few labels, and
    for trying out a measure before it is written as a class of its own (see :class:`Measure`),
    which has no such limit.

    Parameters
    ----------
    function : callable
        ``function(outputs, labelset)`` gets the outputs of n objects, a read-only array of shape
        (n, q), and one labelset, zeros and ones of shape (q,). It returns n numbers, larger ones
        for stranger labelsets; object i's may depend on row i alone. Nothing in the function may
        have been learned from the calibration examples, or the guarantee is lost.
    largest : float, default=1000.0
        No score may be larger in magnitude. Scores are rounded to some 15 digits of it, at the
        finest to 2^-40.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import FunctionMeasure
    >>> def euclidean(outputs, labelset):
    ...     return np.sqrt(((labelset - outputs) ** 2).sum(axis=1))
    >>> measure = FunctionMeasure(euclidean).fit([[1, 0]])
    >>> measure.scores([[0.7, 0.4]], [[1, 0]])
    array([0.5])
    """

    function: Callable[[FloatArray, IntArray], Any]
    _: KW_ONLY
    largest: float = 1000.0

    form = "none"

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where the function cannot be called, or there are too many labels."""
        if not callable(self.function):
            raise ValueError(
                "function must be a callable that takes the outputs (n_objects, n_labels) and one"
                f" labelset (n_labels,) and returns n_objects scores, got {self.function!r}."
            )
        check_number(self.largest, name="largest", above=0)
        if n_labels is not None and n_labels > MAX_LABELS:
            raise ValueError(
                f"{self!r} scores every labelset one by one, which is possible for up to"
                f" {MAX_LABELS} labels ({_list_bytes(MAX_LABELS) / 2**10:.0f} KiB per object and"
                f" fold), got {n_labels} labels (2^{n_labels} labelsets). Choose a measure that"
                " adds up over labels, such as PowerMeasure()."
            )

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        return float(self.largest)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        n_objects, n_labels = outputs.shape
        per_object = _list_bytes(n_labels)
        at_a_time = MAX_LIST_BYTES // per_object
        if n_objects > at_a_time:
            raise ValueError(
                f"Scoring all 2^{n_labels} labelsets of {n_objects} objects one by one would take"
                f" {n_objects * per_object / 2**20:.0f} MiB in every fold, more than the"
                f" {MAX_LIST_BYTES // 2**20} MiB allowed. Pass at most {at_a_time} objects at a"
                " time, or choose a measure that adds up over labels, such as PowerMeasure()."
            )
        labelsets = decode(np.arange(2**n_labels), n_labels)
        guarded = outputs.view()
        guarded.flags.writeable = False  # the next labelset is scored with the same outputs
        scores = np.empty((n_objects, len(labelsets)))
        for number, labelset in enumerate(labelsets.astype(np.int64)):
            scores[:, number] = self._check_scores(
                self.function(guarded, labelset), outputs, labelset
            )
        sizes = np.full(n_objects, len(labelsets))
        return Costs(overrides=OwnScores(np.tile(labelsets, (n_objects, 1)), scores.ravel(), sizes))

    def _check_scores(self, returned: Any, outputs: FloatArray, labelset: IntArray) -> FloatArray:
        """Return what the function returned as numbers, or say what is wrong with them."""
        for_labelset = f"for the labelset {labelset.tolist()}"
        try:
            scores = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"function must return numbers, got {returned!r} {for_labelset}."
            ) from error
        if scores.shape != (len(outputs),):
            raise ValueError(
                f"function must return one score per object, shape ({len(outputs)},), got shape"
                f" {scores.shape} {for_labelset}. It is called with the outputs of all objects,"
                f" shape {outputs.shape}; reduce over the labels with axis=1."
            )
        wrong = ~(np.abs(scores) <= float(self.largest))
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                "function must return finite scores of magnitude up to"
                f" largest={float(self.largest):g}, got {scores[i]:g} for the outputs"
                f" {outputs[i].tolist()} and the labelset {labelset.tolist()}. Correct the"
                " function, or pass a larger value of largest."
            )
        return scores


def _list_bytes(n_labels: int) -> int:
    """Return the memory for one object's labelsets with their scores."""
    return int(2**n_labels) * (n_labels + 8)

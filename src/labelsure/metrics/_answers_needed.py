"""What a reviewer has to answer until objects are settled, or their labels certain."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, check_flag
from labelsure.predictions import LabelsetRegion
from labelsure.predictions._batch import check_labelsets
from labelsure.predictions._questions import check_labelset_cost


@dataclass(frozen=True, eq=False)
class AnswersNeeded:
    """How many answers each object took; made by :func:`answers_needed`.

    Attributes
    ----------
    labels, labelsets : int arrays of shape (n,)
        Answers about labels, and whether a labelset is exactly the object's own.
    settled : bool array of shape (n,)
        Whether one labelset of the region was left in the end.
    wrong : bool array of shape (n,)
        Whether that was not the true one.
    labelset_cost : float
        What judging a labelset costs, judging a label being 1.
    """

    labels: IntArray
    labelsets: IntArray
    settled: BoolArray
    wrong: BoolArray
    labelset_cost: float

    @property
    def costs(self) -> FloatArray:
        """What each object cost, shape (n,)."""
        costs = self.labels.astype(np.float64)
        if isfinite(self.labelset_cost):  # else none was judged
            costs = costs + self.labelset_cost * self.labelsets
        return costs

    def __str__(self) -> str:
        return (
            f"{self.labels.mean():.1f} labels and {self.labelsets.mean():.1f} labelsets per object;"
            f" {self.settled.mean():.3f} of the objects settled, {self.wrong.mean():.3f} settled"
            " and wrong"
        )


def answers_needed(
    region: LabelsetRegion, Y: Any, *, certain: bool = True, labelset_cost: float = 1.0
) -> AnswersNeeded:
    """Return how many answers a truthful reviewer gives until objects are certain, or settled.

    Parameters
    ----------
    region : LabelsetRegion
        Of n objects.
    Y : label matrix of shape (n, q)
        The true labelsets.
    certain : bool, default=True
        Whether to go on until labels are certain; False: until at most one labelset of the region
        is left.
    labelset_cost : float, default=1.0
        As in :meth:`ObjectRegion.questions`.

    Returns
    -------
    AnswersNeeded
        ``print`` it for the means.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
    >>> region = predictor.predict_labelsets([[0.8, 0.3]] * 2).region(0.3)
    >>> print(answers_needed(region, [[1, 0], [1, 1]]))
    0.5 labels and 1.0 labelsets per object; 0.500 of the objects settled, 0.000 settled and wrong
    """
    to_the_end, cost = check_flag(certain, name="certain"), check_labelset_cost(labelset_cost)
    truths = check_labelsets(Y, n_objects=len(region), label_names=region.label_names)
    labels, labelsets = np.zeros((2, len(region)), dtype=np.int64)
    settled, wrong = np.zeros((2, len(region)), dtype=bool)
    for i, (one, truth) in enumerate(zip(region, truths, strict=True)):
        asking = one.questions(labelset_cost=cost)
        while asking.question is not None and (to_the_end or asking.undecided):
            asking.answer(asking.question.answer_for(truth))
        labels[i], labelsets[i] = asking.n_labels, asking.n_labelsets
        settled[i] = asking.settled
        wrong[i] = asking.settled and not np.array_equal(np.asarray(asking.labelset), truth)
    return AnswersNeeded(labels, labelsets, settled, wrong, cost)

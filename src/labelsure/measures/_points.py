"""Which single answer is better: the most probable labelset, or the learner's labels one by one?

The most probable labelset is right as a whole most often, but leaves rare labels out: it may have
fewer of them than the truth has, and a lower F-measure, than a label wherever the learner finds it
more likely than not. Examples that models had not seen tell which of the two does better for a
learner and its data.
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.measures._log_partition import CountedPrior

TOLERABLE = 0.15
"""Share by which the mean number of labels may be off."""


class PointFigures(NamedTuple):
    """How good single answers are.

    Attributes
    ----------
    macro_f : float
        The mean over the labels of the F-measure, 0 for a label that is neither true nor predicted.
    excess : float
        By which share the answers have more labels than the examples, or fewer, in the mean.
    """

    macro_f: float
    excess: float


def point_figures(
    labels: LabelMatrix | BoolArray, predicted: LabelMatrix | BoolArray
) -> PointFigures:
    """Return how good predicted labels are, both of shape (n, q).

    Examples
    --------
    >>> point_figures(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]))
    PointFigures(macro_f=0.5, excess=-0.333...)
    """
    true, said = labels.astype(np.bool_), predicted.astype(np.bool_)
    n_true, n_said = true.sum(axis=0), said.sum(axis=0)
    f = 2 * (true & said).sum(axis=0) / np.maximum(n_true + n_said, 1)
    excess = n_said.sum() / max(n_true.sum(), 1) - 1
    return PointFigures(float(f.mean()), float(excess))


def labels_are_better(of_labels: PointFigures, of_labelsets: PointFigures) -> bool:
    """Return whether labels one by one are the better answers: by F-measure, or by their number.

    Not by how often all labels are right: there the most probable labelset is best by definition.

    Examples
    --------
    >>> labels_are_better(PointFigures(0.5, 0.0), PointFigures(0.4, 0.0))
    True
    >>> labels_are_better(PointFigures(0.5, -0.2), PointFigures(0.6, 0.3))
    False
    """
    off = abs(of_labelsets.excess) > TOLERABLE >= abs(of_labels.excess)
    return off or of_labels.macro_f > of_labelsets.macro_f


def most_probable(
    counted: CountedPrior, values: FloatArray, beta: float, own: IntArray
) -> BoolArray:
    """Return each object's labelset with the largest exp(v.t) prior(t)^beta, a leave-one-out prior.

    A labelset that was seen, or the best of the product over labels: where that one was seen too it
    is counted as not seen, which makes it less probable, and the same labelset is found among those
    seen.

    Parameters
    ----------
    counted : CountedPrior
        The prior.
    values : array of shape (n, q)
        v.
    beta : float
        The prior's exponent.
    own : int64 array of shape (n,)
        The number of the labelset that each object has itself.
    """
    log_odds = np.log(counted.marginals) - np.log1p(-counted.marginals)
    unseen = beta * (counted.log_share + np.log1p(-counted.marginals).sum())
    result: BoolArray = values + beta * log_odds > 0
    for rows in counted.blocks(len(values)):
        every = np.arange(rows.stop - rows.start)
        seen = (counted.on @ values[rows].T).T + beta * counted.log_seen
        seen[every, own[rows]] += (
            beta * (counted.log_seen_without_one - counted.log_seen)[own[rows]]
        )
        best = seen.argmax(axis=1)
        of_product = unseen + np.maximum(values[rows] + beta * log_odds, 0).sum(axis=1)
        is_seen = seen[every, best] >= of_product
        result[rows] = np.where(is_seen[:, None], counted.labelsets[best], result[rows])
    return result

r"""Labels that are not known, NaN in Y: what risk control and selection make of them.

**The assumption.** Given an object and its labelset, which of its labels are known is a matter of
chance that treats them all alike: it depends neither on their values nor on which labels they are.
Objects may differ in how many of their labels are known.

*Recall.* With T the true labels of an object, M the known ones and S the set predicted, the loss of
an example is

.. math:: L' = \frac{|T \cap M \setminus S|}{|T \cap M|}, \quad
   \text{and } 1\{\text{some unknown label is not in } S\} \text{ where no label is known to be
   true.}

Given the object, T and that :math:`T \cap M` is not empty, each true label is equally likely to be the i-th known one,
so the mean of L' is the true loss :math:`|T \setminus S| / |T|`. Where no label is known to be true, L' is at least the
true loss: it is 0 only where all labels that might be true are in S. So :math:`E L' \ge E L` for every threshold, L' is
monotone and at most 1, and what is proven about L' holds for L.

The price is high where many examples have no label that is known to be true: these lose everything
in all but the largest sets. In a simulation with 30 % of the labels unknown, where 0.20 of the true
labels may be missed, 0.07 are with three labels, 0.11 with six and 0.18 with twelve: 2.7, 1.8 and
1.1 times fewer than asked for.

*Precision.* The same with the predicted labels in the place of the true ones: L' is the share of
false ones among the known labels in S, and 1 where S holds labels of which none is known.
"""

from typing import Any

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    check_examples,
    check_label_matrix,
    split_unknown,
)

ASSUMPTION = (
    "{n} of the {m} examples have unknown labels: this holds where chance decides which labels of"
    " an object are known,"
    " treating them all alike, whatever their values."
)


def check_known_examples(
    outputs: Any, Y: LabelMatrixLike
) -> tuple[FloatArray, LabelMatrix, BoolArray | None, tuple[str, ...] | None]:
    """Return outputs, labels (0 where unknown), where they are unknown or None, and label names; or say what is wrong.

    Examples
    --------
    >>> outputs, labels, unknown, names = check_known_examples([[0.2, 0.7]], [[1, float("nan")]])
    >>> labels.tolist(), unknown.tolist(), names
    ([[1, 0]], [[False, True]], None)
    """
    filled, missing = split_unknown(Y)
    checked, labels, names = check_examples(outputs, filled)
    if missing is None:
        return checked, labels, None, names
    unknown: BoolArray = check_label_matrix(missing).astype(bool)
    check_some_known(unknown)
    return checked, labels, unknown, names


def check_some_known(unknown: BoolArray, *, name: str = "Y") -> None:
    """Raise ValueError where nothing is known about an example."""
    nothing = np.flatnonzero(unknown.all(axis=1))
    if len(nothing):
        raise ValueError(
            f"{name} must have at least one known label in every row, got only NaN in row"
            f" {nothing[0]}. If chance"
            " decided that nothing is known of such examples, leave them out:"
            f" {name}[{name}.notna().any(axis=1)] keeps the others of a DataFrame."
        )


def expect_the_worst(outputs: FloatArray, Y: LabelMatrix, unknown: BoolArray | None) -> LabelMatrix:
    """Return labels whose share of missed ones is the loss L' of this module, at every threshold.

    Where no label is known to be true, the unknown one with the lowest output is taken to be: it is
    missed exactly where some unknown label is.

    Examples
    --------
    >>> outputs, Y = np.array([[0.9, 0.3, 0.2], [0.9, 0.3, 0.2]]), np.array([[1, 0, 0], [0, 0, 0]], dtype=np.int8)
    >>> expect_the_worst(outputs, Y, np.array([[False, True, False], [True, True, False]])).tolist()
    [[1, 0, 0], [0, 1, 0]]
    """
    if unknown is None:
        return Y
    blank = np.flatnonzero(~Y.any(axis=1) & unknown.any(axis=1))
    worst = Y.copy()
    worst[blank, np.where(unknown, outputs, np.inf)[blank].argmin(axis=1)] = 1
    return worst


def count_known(
    n_false: IntArray, n_known: IntArray, n_predicted: IntArray
) -> tuple[IntArray, IntArray]:
    """Return false and known labels among those predicted; 1 of 1 where labels are predicted and none is known.

    Examples
    --------
    >>> count_known(np.array([1, 0, 0]), np.array([2, 0, 0]), np.array([4, 3, 0]))
    (array([1, 1, 0]), array([2, 1, 0]))
    """
    blank = ((n_known == 0) & (n_predicted > 0)).astype(np.int64)
    return n_false + blank, n_known + blank


def add_assumption(statement: str, unknown: BoolArray | None) -> str:
    """Return a statement with what unknown labels need to be like, where there are any."""
    if unknown is None:
        return statement
    return f"{statement} {ASSUMPTION.format(n=int(unknown.any(axis=1).sum()), m=len(unknown))}"

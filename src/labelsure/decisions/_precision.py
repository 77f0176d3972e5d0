"""Precision under control: the lowest threshold that is tested to let in few enough false labels."""

from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    check_choice,
    check_count,
    shown,
)
from labelsure.decisions._risk_control import (
    BOUNDS,
    ThresholdPredictor,
    betting_rejects,
    check_probability,
    hoeffding_bentkus_p_value,
    sum_of_shares,
)
from labelsure.decisions._unknown import add_assumption, check_known_examples, count_known

MOST_THRESHOLDS = 10**6

CLAIM = (
    "With probability at least {sure:g} over calibration sets the mean precision of new objects"
    " is at least {target:g},"
    " an empty set counting as precise, for independent examples (learn then test: Angelopoulos,"
    " Bates, Candes, Jordan,"
    " Lei 2025)."
)


def control_precision(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    target: float = 0.9,
    delta: float = 0.1,
    thresholds: Any = 101,
    correction: str = "fixed-sequence",
    bound: str = "betting",
) -> ThresholdPredictor:
    r"""Find the threshold whose label sets have a precision of at least ``target``, by learn-then-test.

    The loss of a threshold :math:`\lambda` for an example is the share of false labels among those
    with an output of at least :math:`\lambda` (the false discovery proportion), 0 where there are
    none: **an empty set counts as precise**. It is not monotone in the threshold, so each threshold
    of a grid that is chosen beforehand is tested: "the mean loss is above :math:`\alpha = 1 -`
    ``target``" is rejected where its p-value is at most ``delta`` (fixed sequence, from the highest
    threshold down to the first that is not rejected) or ``delta`` over the number of thresholds
    (Bonferroni). The lowest rejected threshold is chosen. For independent examples the mean
    precision of new objects is then at least the target with probability 1 - ``delta`` over
    calibration sets [1]_.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones, or NaN where a label is not known: chance
        must decide which labels of an object are known, treating them all alike, whatever their
        values. A set loses the share of false ones among its known labels, and everything where it
        has labels and none is known.
    target : float, default=0.9
        The precision to be reached, strictly between 0 and 1.
    delta : float, default=0.1
        The probability of failing that you accept.
    thresholds : int or array-like, default=101
        The thresholds to test: this many, evenly spaced from 0 to 1, or these. They must not be
        chosen with the calibration examples.
    correction : {"fixed-sequence", "bonferroni"}, default="fixed-sequence"
        How many tests are kept from failing together. Bonferroni finds low thresholds beyond one
        that fails, but pays for every threshold of the grid.
    bound : {"betting", "hoeffding-bentkus"}, default="betting"
        What the tests are made of. "betting" depends on the order of the examples, which must not
        have been sorted by anything to do with their outputs or labels; the other does not, and
        fails 2 to 4 times less often than ``delta`` allows.

    Returns
    -------
    ThresholdPredictor
        Where no threshold passes, the threshold is infinity: empty sets.

    References
    ----------
    .. [1] Angelopoulos, A., Bates, S., Candes, E., Jordan, M., Lei, L. (2025). Learn then test:
       calibrating predictive algorithms to achieve risk control. Annals of Applied Statistics
       19(2), 1641-1662.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import control_precision
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.random((500, 4))
    >>> Y = rng.random((500, 4)) < outputs
    >>> [control_precision(outputs, Y, target=target).threshold for target in (0.6, 0.8, 0.9)]
    [0.24, 0.6, 0.76]
    """
    checked, labels, unknown, names = check_known_examples(outputs, Y)
    level = 1 - check_probability(
        target, name="target", example="For a precision of 90 % pass target=0.9."
    )
    failing = check_probability(delta, name="delta", example="To be 90 % sure pass delta=0.1.")
    grid = _check_grid(thresholds)
    in_sequence = (
        check_choice(correction, ("fixed-sequence", "bonferroni"), name="correction")
        == "fixed-sequence"
    )
    n_false, n_predicted = _count_in_sets(checked, labels, grid, unknown)
    rejected = _test(
        n_false, n_predicted, level, failing if in_sequence else failing / len(grid), bound
    )
    if in_sequence:
        rejected = np.logical_and.accumulate(rejected[::-1])[::-1]
    reached = bool(rejected.any())
    threshold = float(grid[rejected.argmax()]) if reached else float("inf")
    claim = add_assumption(CLAIM.format(target=float(target), sure=float(1 - failing)), unknown)
    statement = (
        claim if reached else f"{claim} No threshold passed its test, so no label is predicted."
    )
    return ThresholdPredictor(
        threshold, float(target), reached, labels.shape[1], len(labels), statement, names
    )


def _check_grid(thresholds: Any) -> FloatArray:
    """Return the thresholds in ascending order, none twice."""
    if isinstance(thresholds, Integral):
        n = check_count(thresholds, name="thresholds", at_least=2)
        if n > MOST_THRESHOLDS:
            raise ValueError(
                f"thresholds must be at most {MOST_THRESHOLDS}, got {shown(thresholds)}."
            )
        return np.arange(n) / (n - 1)  # 0.7 as it is written; linspace has 0.7000000000000001
    try:
        grid = np.unique(np.asarray(thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if len(grid) == 0 or not np.all((grid >= 0) & (grid <= 1)):
        raise ValueError(
            f"thresholds must be a whole number or numbers between 0 and 1, got {thresholds!r}."
        )
    return grid


def _count_in_sets(
    outputs: FloatArray, Y: LabelMatrix, grid: FloatArray, unknown: BoolArray | None
) -> tuple[IntArray, IntArray]:
    """Return how many false labels, and how many labels, each set holds at each threshold, (m, n) each."""
    n_passed = np.searchsorted(grid, outputs, side="right")  # thresholds that an output reaches
    cells = np.arange(len(outputs))[:, None] * (len(grid) + 1) + n_passed

    def count(chosen: IntArray) -> IntArray:
        reaching = np.bincount(chosen, minlength=len(outputs) * (len(grid) + 1)).reshape(
            len(outputs), -1
        )
        at_least = np.cumsum(reaching[:, :0:-1], axis=1)[
            :, ::-1
        ]  # of all that reach threshold k or a higher one
        return np.ascontiguousarray(at_least.T)

    if unknown is None:
        return count(cells[Y == 0]), count(cells.ravel())
    return count_known(
        count(cells[(Y == 0) & ~unknown]), count(cells[~unknown]), count(cells.ravel())
    )


def _test(
    n_false: IntArray, n_predicted: IntArray, level: Fraction, delta: Fraction, bound: str
) -> BoolArray:
    """Tell for each threshold whether "the mean loss is above the level" is rejected."""
    if check_choice(bound, BOUNDS, name="bound") == "betting":
        return betting_rejects(n_false / np.maximum(n_predicted, 1), level, float(delta))
    n = n_false.shape[1]
    totals = [
        sum_of_shares(parts, wholes) for parts, wholes in zip(n_false, n_predicted, strict=True)
    ]
    return np.array([hoeffding_bentkus_p_value(total, n, level) <= delta for total in totals])

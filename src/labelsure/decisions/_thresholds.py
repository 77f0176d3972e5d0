r"""Thresholds of outputs with a recall or a precision under control, and the tests behind them.

**Unknown labels**, NaN in Y, need an assumption. Given an object and its labelset, which of its
labels are known is a matter of chance that treats them all alike: it depends neither on their
values nor on which labels they are. Objects may differ in how many of their labels are known.

*Recall.* With T the true labels of an object, M the known ones and S the set predicted, the loss of
an example is

.. math:: L' = \frac{|T \cap M \setminus S|}{|T \cap M|}, \quad
   \text{and } 1\{\text{some unknown label is not in } S\} \text{ where no label is known to be
   true.}

Given the object, T and that :math:`T \cap M` is not empty, each true label is equally likely to be
the i-th known one, so the mean of L' is the true loss :math:`|T \setminus S| / |T|`. Where no label
is known to be true, L' is at least the true loss: it is 0 only where all labels that might be true
are in S. So :math:`E L' \ge E L` for every threshold, L' is monotone and at most 1, and what is
proven about L' holds for L.

The price is high where many examples have no label that is known to be true: these lose everything
in all but the largest sets. In a simulation with 30 % of the labels unknown, where 0.20 of the true
labels may be missed, 0.07 are with three labels, 0.11 with six and 0.18 with twelve: 2.7, 1.8 and
1.1 times fewer than the target allows.

*Precision.* The same with the predicted labels in the place of the true ones: L' is the share of
false ones among the known labels in S, and 1 where S holds labels of which none is known.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import bdtr, rel_entr

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    check_choice,
    check_count,
    check_examples,
    check_label_matrix,
    check_outputs,
    check_significance,
    shown,
    split_unknown,
)

BOUNDS = ("betting", "hoeffding-bentkus")
"""What the mean of losses between 0 and 1 is bounded with, the default first."""

DEFAULT_DELTA = 0.1

TARGET_EXAMPLE = "For 90 % pass target=0.9."
DELTA_EXAMPLE = "To be 90 % sure pass delta=0.1."

BLOCK_ENTRIES = 2**15
"""Losses that are bet on at a time: few, because most steps never come to it."""

MOST_THRESHOLDS = 10**6

CRC_CLAIM = (
    "The expected recall of a new object is at least {target:g}, an object without labels counting"
    " as recall 1, for exchangeable examples (conformal risk control: Angelopoulos, Bates, Fisch,"
    " Lei, Schuster 2024)."
)

RCPS_CLAIM = (
    "With probability at least {sure:g} over calibration sets the mean recall of new objects is at"
    " least {target:g}, an object without labels counting as recall 1, for independent examples"
    " (risk-controlling prediction sets: Bates, Angelopoulos, Lei, Malik, Jordan 2021)."
)

PRECISION_CLAIM = (
    "With probability at least {sure:g} over calibration sets the mean precision of new objects is"
    " at least {target:g}, an empty set counting as precise, for independent examples (learn then"
    " test: Angelopoulos, Bates, Candes, Jordan, Lei 2025)."
)

ASSUMPTION = (
    "{n} of the {m} examples have unknown labels: this holds where chance decides which labels of"
    " an object are known, treating them all alike, whatever their values."
)


@dataclass(frozen=True)
class ThresholdPredictor:
    """Predicts the labels whose output reaches a threshold, with recall or precision controlled.

    Attributes
    ----------
    threshold : float
        0 keeps all labels, infinity none.
    target : float
        The requested recall or precision.
    reached : bool
        Whether the calibration examples show that the target is reached. Where they do not, the
        threshold is the one that cannot fail: 0 for recall, infinity for precision.
    n_labels : int
        The number of labels.
    n_calibration : int
        The number of calibration examples.
    statement : str
        What is proven about new objects, under which conditions, and by whom.
    label_names : tuple of str or None
        The labels, where they have names: then the columns of new outputs with names are taken by
        these.

    Examples
    --------
    >>> from labelsure import control_recall
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.7, 0.4]]
    >>> predictor = control_recall(outputs, [[1, 0], [1, 0], [0, 1], [1, 1]], target=0.6)
    >>> predictor.threshold
    0.6
    >>> predictor.predict([[0.65, 0.5], [0.9, 0.8]]).tolist()
    [[1, 0], [1, 1]]
    >>> print(predictor.statement)
    The expected recall of a new object is at least 0.6, an object without labels counting as recall
    1, for exchangeable
    examples (conformal risk control: Angelopoulos, Bates, Fisch, Lei, Schuster 2024).
    """

    threshold: float
    target: float
    reached: bool
    n_labels: int
    n_calibration: int
    statement: str
    label_names: tuple[str, ...] | None = None

    def predict(self, outputs: Any) -> IntArray:
        """Return the labels of new objects.

        Parameters
        ----------
        outputs : array-like or DataFrame of shape (n_objects, n_labels)
            Between 0 and 1, of the model whose outputs calibrated.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        checked = check_outputs(outputs, n_labels=self.n_labels, label_names=self.label_names)
        return (checked >= self.threshold).astype(np.int64)


def control_recall(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    target: float = 0.9,
    method: str = "crc",
    delta: float | None = None,
    bound: str | None = None,
) -> ThresholdPredictor:
    r"""Find the threshold whose label sets have a recall of at least ``target``.

    The loss of a threshold :math:`\lambda` for an example is the share of its labels with an output
    below it (the false negative rate), 0 for an example without labels: **an object without labels
    counts as recall 1**, and where there are many of them the recall of the others may be well
    below the target. With :math:`\hat R(\lambda)` its mean over n calibration examples and
    :math:`\alpha = 1 -` ``target``:

    - "crc", conformal risk control [1]_: the highest threshold with :math:`\frac{n}{n+1} \hat
      R(\lambda) + \frac{1}{n+1} \le \alpha`. For exchangeable examples the *expected* recall of a
      new object is at least the target, on average over calibration sets too.
    - "rcps", risk-controlling prediction sets [2]_: the highest threshold such that, there and at
      all lower ones, an upper confidence bound of the mean loss is at most :math:`\alpha`. For
      independent examples the mean recall of new objects is at least the target with probability 1
      - ``delta`` over calibration sets.

    All thresholds at which anything changes are tested exactly; there is no grid.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones, or NaN where a label is not known: chance
        must decide which labels of an object are known, treating them all alike, whatever their
        values. An example with unknown labels loses the share missed of those known to be true, and
        everything if none is known to be true, unless all its unknown labels are in the set.
    target : float, default=0.9
        The recall to be reached, strictly between 0 and 1.
    method : {"crc", "rcps"}, default="crc"
        On average, or with high probability.
    delta : float or None, default=None
        For "rcps": the probability of failing that you accept; None is 0.1.
    bound : {"betting", "hoeffding-bentkus"} or None, default=None
        For "rcps": the confidence bound; None is the first. "betting" (Waudby-Smith & Ramdas)
        depends on the order of the examples, which must not have been sorted by anything to do with
        their outputs or labels; the other does not, and fails 2 to 4 times less often than
        ``delta`` allows.

    Returns
    -------
    ThresholdPredictor
        Where there are too few examples for the target (with "crc", n + 1 < 1 / (1 - target)), the
        threshold is 0: all labels, whose recall is 1.

    References
    ----------
    .. [1] Angelopoulos, A., Bates, S., Fisch, A., Lei, L., Schuster, T. (2024). Conformal risk
       control. ICLR 2024.
    .. [2] Bates, S., Angelopoulos, A., Lei, L., Malik, J., Jordan, M. (2021). Distribution-free,
       risk-controlling prediction sets. Journal of the ACM 68(6), article 43.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import control_recall
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.random((500, 4))
    >>> Y = rng.random((500, 4)) < outputs
    >>> [round(control_recall(outputs, Y, target=t).threshold, 2) for t in (0.8, 0.9, 0.95)]
    [0.46, 0.33, 0.22]
    >>> round(control_recall(outputs, Y, target=0.9, method="rcps", delta=0.05).threshold, 2)
    0.32
    """
    checked, labels, unknown, names = check_known_examples(outputs, Y)
    level = 1 - check_significance(target, name="target", example=TARGET_EXAMPLE)
    steps = RecallSteps.of(checked, expect_the_worst(checked, labels, unknown))
    if check_choice(method, ("crc", "rcps"), name="method") == "crc":
        if delta is not None or bound is not None:
            raise ValueError(
                f"{'bound' if delta is None else 'delta'} requires method='rcps', got method='crc'."
            )
        n_passed = _passed_by_mean(steps, lambda total: total + 1 <= level * (len(labels) + 1))
        claim = CRC_CLAIM.format(target=float(target))
    else:
        delta = DEFAULT_DELTA if delta is None else delta
        failing = check_significance(delta, name="delta", example=DELTA_EXAMPLE)
        n_passed = _passed_by_bound(steps, level, failing, BOUNDS[0] if bound is None else bound)
        claim = RCPS_CLAIM.format(target=float(target), sure=float(1 - failing))
    statement = add_assumption(claim, unknown)
    if n_passed == 0:
        statement += " Too few examples show that, so all labels are predicted."
    threshold = float(steps.thresholds[n_passed - 1]) if n_passed else 0.0
    return ThresholdPredictor(
        threshold, float(target), n_passed > 0, labels.shape[1], len(labels), statement, names
    )


@dataclass(frozen=True, eq=False)
class RecallSteps:
    """The share of true labels that is missed, as a step function of the threshold.

    It changes only where the threshold passes the output of a true label, so these outputs are all
    thresholds there are: at step d the threshold is the d-th of them, and the true labels with
    lower outputs are missed.

    Attributes
    ----------
    thresholds : float array of shape (D + 1,)
        The distinct outputs of true labels, ascending, and infinity.
    step : int array of shape (N,)
        For each true label, ascending, the first step at which it is missed.
    rows : int array of shape (N,)
        The example that each true label belongs to.
    n_true : int array of shape (n,)
        The number of true labels of each example.
    """

    thresholds: FloatArray
    step: IntArray
    rows: IntArray
    n_true: IntArray

    @classmethod
    def of(cls, outputs: FloatArray, Y: LabelMatrix) -> "RecallSteps":
        """Return the steps of these calibration examples."""
        rows, labels = np.nonzero(Y)
        distinct, position = np.unique(outputs[rows, labels], return_inverse=True)
        order = np.argsort(position, kind="stable")
        n_true = Y.sum(axis=1, dtype=np.int64)
        return cls(np.append(distinct, np.inf), position[order] + 1, rows[order], n_true)

    def total_loss(self, d: int) -> Fraction:
        """Return the sum over the examples of the share of their labels missed at step d."""
        n_missed = int(np.searchsorted(self.step, d, side="right"))
        missed = self.rows[:n_missed]
        return sum_of_shares(np.ones(n_missed, dtype=np.int64), self.n_true[missed])

    def losses(
        self, first: int, n_steps: int, missed_before: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Return the losses at some steps, (n_steps, n), and the labels missed at the last one."""
        start, stop = np.searchsorted(self.step, [first, first + n_steps])
        missed = np.zeros((n_steps, len(self.n_true)), dtype=np.int64)
        np.add.at(missed, (self.step[start:stop] - first, self.rows[start:stop]), 1)
        missed = missed_before + np.cumsum(missed, axis=0)
        return missed / np.maximum(self.n_true, 1), missed[-1]


def _passed_by_mean(steps: RecallSteps, passes: Callable[[Fraction], bool]) -> int:
    """Return how many steps pass a test of the total loss, which rises from step to step."""
    return bisect_left(
        range(len(steps.thresholds)), True, key=lambda d: not passes(steps.total_loss(d))
    )


def _passed_by_bound(steps: RecallSteps, level: Fraction, delta: Fraction, bound: str) -> int:
    """Return how many steps, from the first on, have an upper confidence bound below the level."""
    n = len(steps.n_true)
    if check_choice(bound, BOUNDS, name="bound") == "hoeffding-bentkus":
        return _passed_by_mean(
            steps, lambda total: hoeffding_bentkus_p_value(total, n, level) <= delta
        )
    n_block = max(1, BLOCK_ENTRIES // n)
    missed: IntArray = np.zeros(n, dtype=np.int64)
    for first in range(0, len(steps.thresholds), n_block):
        n_steps = min(n_block, len(steps.thresholds) - first)
        losses, missed = steps.losses(first, n_steps, missed)
        passed = betting_rejects(losses, level, float(delta))
        # a later step may pass again, but the proof needs all steps up to the chosen one
        if not passed.all():
            return first + int(passed.argmin())
    return len(steps.thresholds)


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
    r"""Find the threshold with a precision of at least ``target``, by learn-then-test.

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
        The test of each threshold. "betting" depends on the order of the examples, which must not
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
    level = 1 - check_significance(target, name="target", example=TARGET_EXAMPLE)
    failing = check_significance(delta, name="delta", example=DELTA_EXAMPLE)
    grid = _check_grid(thresholds)
    check_choice(correction, ("fixed-sequence", "bonferroni"), name="correction")
    per_test = failing / len(grid) if correction == "bonferroni" else failing
    n_false, n_predicted = _count_in_sets(checked, labels, grid, unknown)
    rejected = _test(n_false, n_predicted, level, per_test, bound)
    if correction == "fixed-sequence":
        rejected = np.logical_and.accumulate(rejected[::-1])[::-1]
    reached = bool(rejected.any())
    threshold = float(grid[rejected.argmax()]) if reached else float("inf")
    claim = PRECISION_CLAIM.format(target=float(target), sure=float(1 - failing))
    statement = add_assumption(claim, unknown)
    if not reached:
        statement += " No threshold passed its test, so no label is predicted."
    return ThresholdPredictor(
        threshold, float(target), reached, labels.shape[1], len(labels), statement, names
    )


def _check_grid(thresholds: Any) -> FloatArray:
    """Return the thresholds in ascending order, none twice."""
    if isinstance(thresholds, Integral):
        n = check_count(thresholds, name="thresholds", at_least=2)
        if n > MOST_THRESHOLDS:
            got = shown(thresholds)
            raise ValueError(f"thresholds must be at most {MOST_THRESHOLDS}, got {got}.")
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
    """Return how many false labels, and labels, each set has at each threshold, (m, n) each."""
    n_passed = np.searchsorted(grid, outputs, side="right")  # thresholds that an output reaches
    cells = np.arange(len(outputs))[:, None] * (len(grid) + 1) + n_passed

    shape = (len(outputs), len(grid) + 1)

    def count(chosen: IntArray) -> IntArray:
        reaching = np.bincount(chosen, minlength=shape[0] * shape[1]).reshape(shape)
        # of all that reach threshold k or a higher one
        at_least = np.cumsum(reaching[:, :0:-1], axis=1)[:, ::-1]
        return np.ascontiguousarray(at_least.T)

    n_predicted = count(cells.ravel())
    if unknown is None:
        return count(cells[Y == 0]), n_predicted
    n_false, n_known = count(cells[(Y == 0) & ~unknown]), count(cells[~unknown])
    # 1 false of 1 where labels are predicted of which none is known
    blank = ((n_known == 0) & (n_predicted > 0)).astype(np.int64)
    return n_false + blank, n_known + blank


def _test(
    n_false: IntArray, n_predicted: IntArray, level: Fraction, delta: Fraction, bound: str
) -> BoolArray:
    """Tell for each threshold whether "the mean loss is above the level" is rejected."""
    if check_choice(bound, BOUNDS, name="bound") == "betting":
        return betting_rejects(n_false / np.maximum(n_predicted, 1), level, float(delta))
    n = n_false.shape[1]
    totals = map(sum_of_shares, n_false, n_predicted)
    return np.array([hoeffding_bentkus_p_value(total, n, level) <= delta for total in totals])


def check_known_examples(
    outputs: Any, Y: LabelMatrixLike
) -> tuple[FloatArray, LabelMatrix, BoolArray | None, tuple[str, ...] | None]:
    """Return outputs, labels (0 if unknown), which are unknown or None, and label names.

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
            f" {nothing[0]}. If chance decided that nothing is known of such examples, leave them"
            f" out: {name}[{name}.notna().any(axis=1)] keeps the others of a DataFrame."
        )


def expect_the_worst(outputs: FloatArray, Y: LabelMatrix, unknown: BoolArray | None) -> LabelMatrix:
    """Return labels whose share of missed ones is the loss L' of this module, at every threshold.

    Where no label is known to be true, the unknown one with the lowest output is taken to be: it is
    missed exactly where some unknown label is.

    Examples
    --------
    >>> outputs = np.array([[0.9, 0.3, 0.2], [0.9, 0.3, 0.2]])
    >>> Y = np.array([[1, 0, 0], [0, 0, 0]], dtype=np.int8)
    >>> expect_the_worst(outputs, Y, np.array([[False, True, False], [True, True, False]])).tolist()
    [[1, 0, 0], [0, 1, 0]]
    """
    if unknown is None:
        return Y
    blank = np.flatnonzero(~Y.any(axis=1) & unknown.any(axis=1))
    worst = Y.copy()
    worst[blank, np.where(unknown, outputs, np.inf)[blank].argmin(axis=1)] = 1
    return worst


def add_assumption(statement: str, unknown: BoolArray | None) -> str:
    """Return a statement with the assumption about unknown labels, if there are any."""
    if unknown is None:
        return statement
    return f"{statement} {ASSUMPTION.format(n=int(unknown.any(axis=1).sum()), m=len(unknown))}"


def sum_of_shares(parts: IntArray, wholes: IntArray) -> Fraction:
    """Return the exact sum of parts[i] / wholes[i]; where a whole is 0 the share is 0.

    Examples
    --------
    >>> sum_of_shares(np.array([1, 1, 1, 0]), np.array([3, 3, 3, 0]))
    Fraction(1, 1)
    """
    by_whole = np.bincount(wholes, weights=parts)  # floats, but of whole numbers
    return sum(
        (Fraction(int(part), whole) for whole, part in enumerate(by_whole) if part), Fraction(0)
    )


def hoeffding_bentkus_p_value(total: Fraction, n: int, level: Fraction) -> float:
    r"""Return a p-value of "the mean loss is above the level", from n independent losses in [0, 1].

    With :math:`\hat R` the mean of the losses and :math:`\alpha` the level [1]_,

    .. math:: p = \min\left(e^{-n h(\min(\hat R, \alpha), \alpha)},\; e \, P(\mathrm{Bin}(n, \alpha)
    \le \lceil n
       \hat R \rceil)\right), \quad h(a, b) = a \log\frac{a}{b} + (1 - a) \log\frac{1 - a}{1 - b}

    It never falls when a loss rises.

    Parameters
    ----------
    total : Fraction
        The sum of the losses.
    n : int
        Their number.
    level : Fraction
        Strictly between 0 and 1.

    References
    ----------
    .. [1] Bates, S., Angelopoulos, A., Lei, L., Malik, J., Jordan, M. (2021). Distribution-free,
       risk-controlling prediction sets. Journal of the ACM 68(6), article 43.

    Examples
    --------
    >>> round(hoeffding_bentkus_p_value(Fraction(0), 20, Fraction(1, 10)), 6) == round(0.9**20, 6)
    True
    """
    mean, most = float(min(total / n, level)), float(level)
    hoeffding = math.exp(-n * (rel_entr(mean, most) + rel_entr(1 - mean, 1 - most)))
    bentkus = math.e * float(bdtr(math.ceil(total), n, most))
    return min(hoeffding, bentkus)


def betting_rejects(losses: FloatArray, level: Fraction, delta: float) -> BoolArray:
    """Tell for each row of losses whether betting refutes that their mean is above the level.

    If it is, the capital ever reaches 1 / delta with probability at most delta (Ville's
    inequality).

    Parameters
    ----------
    losses, level, delta
        As in :func:`highest_log_capital`.

    Examples
    --------
    >>> betting_rejects(np.array([[0.0] * 50, [0.2] * 50]), Fraction(1, 10), 0.1).tolist()
    [True, False]
    """
    rejects: BoolArray = highest_log_capital(losses, level, delta) >= math.log(1 / delta)
    return rejects


def highest_log_capital(losses: FloatArray, level: Fraction, delta: float) -> FloatArray:
    r"""Return the log of the highest capital from betting that each loss is below the level.

    A capital of 1 is bet on one loss after the other, in the order of the examples [1]_:

    .. math:: K_i = \prod_{j \le i} (1 - \nu_j (L_j - \alpha)), \quad \nu_j = \min\left(1,
       \sqrt{\frac{2 \log(1/\delta)}{n \hat\sigma_{j-1}^2}}\right)

    with :math:`\hat\sigma_j^2 = (1/4 + \sum_{k \le j} (L_k - \hat\mu_k)^2) / (j + 1)` and
    :math:`\hat\mu_j = (1/2 + \sum_{k \le j} L_k) / (j + 1)`.

    Parameters
    ----------
    losses : array of shape (m, n)
        Between 0 and 1; each row in the order in which the examples arrived.
    level : Fraction
        Strictly between 0 and 1.
    delta : float
        Strictly between 0 and 1.

    References
    ----------
    .. [1] Waudby-Smith, I., Ramdas, A. (2024). Estimating means of bounded random variables by
       betting. JRSS B 86(1), 1-27; in this form Bates et al. (2021).

    Examples
    --------
    >>> np.exp(highest_log_capital(np.array([[0.0, 0.0]]), Fraction(1, 2), 0.1)).round(6).tolist()
    [2.25]
    """
    # running sums down the columns take all thresholds at once
    by_example = np.ascontiguousarray(losses.T)
    n, n_tests = by_example.shape
    seen = np.arange(2, n + 2)[:, None]
    means = (0.5 + np.cumsum(by_example, axis=0)) / seen
    variances = (0.25 + np.cumsum((by_example - means) ** 2, axis=0)) / seen
    before = np.vstack([np.full((1, n_tests), 0.25), variances[:-1]])
    bets = np.minimum(1.0, np.sqrt(2 * math.log(1 / delta) / (n * before)))
    log_capital = np.cumsum(np.log1p(-bets * (by_example - float(level))), axis=0)
    highest: FloatArray = log_capital.max(axis=0)
    return highest

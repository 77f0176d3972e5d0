"""Recall under control: the highest threshold that misses few enough true labels."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, check_choice
from labelsure.decisions._risk_control import (
    BOUNDS,
    ThresholdPredictor,
    betting_rejects,
    check_probability,
    hoeffding_bentkus_p_value,
    sum_of_shares,
)
from labelsure.decisions._unknown import add_assumption, check_known_examples, expect_the_worst

DEFAULT_DELTA = 0.1
CRC_CLAIM = (
    "The expected recall of a new object is at least {target:g}, an object without labels"
    " counting as recall 1, for"
    " exchangeable examples (conformal risk control: Angelopoulos, Bates, Fisch, Lei, Schuster"
    " 2024)."
)
RCPS_CLAIM = (
    "With probability at least {sure:g} over calibration sets the mean recall of new objects is"
    " at least {target:g}, an"
    " object without labels counting as recall 1, for independent examples (risk-controlling"
    " prediction sets: Bates,"
    " Angelopoulos, Lei, Malik, Jordan 2021)."
)
BLOCK_ENTRIES = 2**15
"""Losses that are bet on at a time: few, because most steps never come to it."""


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
        return cls(
            np.append(distinct, np.inf),
            position[order] + 1,
            rows[order],
            Y.sum(axis=1, dtype=np.int64),
        )

    def total_loss(self, d: int) -> Fraction:
        """Return the sum over the examples of the share of their labels missed at step d."""
        n_missed = int(np.searchsorted(self.step, d, side="right"))
        missed = self.rows[:n_missed]
        return sum_of_shares(np.ones(n_missed, dtype=np.int64), self.n_true[missed])

    def losses(
        self, first: int, n_steps: int, missed_before: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Return each example's loss at some steps, (n_steps, n), and how many labels it misses at the last one."""
        start, stop = np.searchsorted(self.step, [first, first + n_steps])
        missed = np.zeros((n_steps, len(self.n_true)), dtype=np.int64)
        np.add.at(missed, (self.step[start:stop] - first, self.rows[start:stop]), 1)
        missed = missed_before + np.cumsum(missed, axis=0)
        return missed / np.maximum(self.n_true, 1), missed[-1]


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

    All thresholds at which anything changes are looked at, exactly; there is no grid.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones, or NaN where a label is not known: chance
        must decide which labels of an object are known, treating them all alike, whatever their
        values. An example with unknown labels loses the share missed of those known to be true, and
        everything where there is none, unless all its unknown labels are in the set.
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
    >>> [round(control_recall(outputs, Y, target=target).threshold, 2) for target in (0.8, 0.9, 0.95)]
    [0.46, 0.33, 0.22]
    >>> round(control_recall(outputs, Y, target=0.9, method="rcps", delta=0.05).threshold, 2)
    0.32
    """
    checked, labels, unknown, names = check_known_examples(outputs, Y)
    level = 1 - check_probability(
        target, name="target", example="For a recall of 90 % pass target=0.9."
    )
    steps = RecallSteps.of(checked, expect_the_worst(checked, labels, unknown))
    if check_choice(method, ("crc", "rcps"), name="method") == "crc":
        if delta is not None or bound is not None:
            raise ValueError(
                f"{'bound' if delta is None else 'delta'} goes with method='rcps'; 'crc' has none."
            )
        n_passed = _passed_by_mean(steps, lambda total: total + 1 <= level * (len(labels) + 1))
        claim = CRC_CLAIM.format(target=float(target))
    else:
        delta = DEFAULT_DELTA if delta is None else delta
        failing = check_probability(delta, name="delta", example="To be 90 % sure pass delta=0.1.")
        n_passed = _passed_by_bound(steps, level, failing, BOUNDS[0] if bound is None else bound)
        claim = RCPS_CLAIM.format(target=float(target), sure=float(1 - failing))
    claim = add_assumption(claim, unknown)
    threshold = float(steps.thresholds[n_passed - 1]) if n_passed else 0.0
    statement = (
        claim if n_passed else f"{claim} Too few examples show that, so all labels are predicted."
    )
    return ThresholdPredictor(
        threshold, float(target), n_passed > 0, labels.shape[1], len(labels), statement, names
    )


def _passed_by_mean(steps: RecallSteps, passes: Callable[[Fraction], bool]) -> int:
    """Return how many steps pass, the test being one of the total loss, which rises from step to step."""
    return bisect_left(
        range(len(steps.thresholds)), True, key=lambda d: not passes(steps.total_loss(d))
    )


def _passed_by_bound(steps: RecallSteps, level: Fraction, delta: Fraction, bound: str) -> int:
    """Return how many steps, from the first on, have a mean loss below the level by an upper confidence bound."""
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
        if (
            not passed.all()
        ):  # a later step may pass again, but the proof needs all steps up to the chosen one
            return first + int(passed.argmin())
    return len(steps.thresholds)

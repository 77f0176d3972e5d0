"""What control of recall and of precision share: the predictor that they return, and tests of a mean loss.

Is a mean loss below a level? The tests are wrong with a probability that is bounded for any
distribution of losses between 0 and 1.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import bdtr, rel_entr

from labelsure._checks import BoolArray, FloatArray, IntArray, check_outputs, check_significance

BOUNDS = ("betting", "hoeffding-bentkus")
"""What the mean of losses between 0 and 1 is bounded with, the default first."""


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
    The expected recall of a new object is at least 0.6, an object without labels counting as recall 1, for exchangeable
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


def check_probability(value: Any, *, name: str, example: str) -> Fraction:
    """Return a number strictly between 0 and 1 as an exact fraction, as it is printed."""
    return check_significance(value, name=name, example=example)


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
    r"""Return a p-value of "the mean loss is above the level", from n independent losses between 0 and 1.

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
    """Tell for each row of losses whether a gambler's capital refutes that their mean is above the level.

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
    r"""Return the logarithm of the most that a gambler ever has who bets on each loss being below the level.

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
    by_example = np.ascontiguousarray(
        losses.T
    )  # running sums down the columns take all thresholds at once
    n, n_tests = by_example.shape
    seen = np.arange(2, n + 2)[:, None]
    means = (0.5 + np.cumsum(by_example, axis=0)) / seen
    variances = (0.25 + np.cumsum((by_example - means) ** 2, axis=0)) / seen
    before = np.vstack([np.full((1, n_tests), 0.25), variances[:-1]])
    bets = np.minimum(1.0, np.sqrt(2 * math.log(1 / delta) / (n * before)))
    log_capital = np.cumsum(np.log1p(-bets * (by_example - float(level))), axis=0)
    highest: FloatArray = log_capital.max(axis=0)
    return highest

"""Training-conditional levels: coverage that holds for nearly every calibration set."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import bdtr

from labelsure._checks import check_count, check_significance, shown
from labelsure.decisions._thresholds import DELTA_EXAMPLE
from labelsure.predictions import Guarantee, LabelsetPredictions, LabelsetRegion

PROVED_BY = "Vovk 2012"

MOST_EXAMPLES = 10**8
"""More calibration examples would not fit into memory here."""


def pac_significance(n_calibration: int, epsilon: float, *, delta: float = 0.1) -> float:
    r"""Return the significance of an error of at most ``epsilon`` for all but ``delta`` of sets.

    An inductive predictor at significance :math:`\varepsilon` misses the truth with probability at
    most :math:`\varepsilon` *on average over calibration sets*. Given its n calibration examples,
    its coverage is a random number: for significances from :math:`l / (n + 1)` up to the next
    multiple it has the distribution Beta(n + 1 - l, l), for independent examples with scores that
    do not tie [1]_. Here l is the largest number with

    .. math:: P(\mathrm{Beta}(n + 1 - l, l) < 1 - \varepsilon) = P(\mathrm{Bin}(n, \varepsilon) \le
    l - 1) \le \delta,

    and the answer is :math:`l / (n + 1)`. Ties make coverage only higher.

    Parameters
    ----------
    n_calibration : int
        The number n of calibration examples.
    epsilon : float
        The error probability that a fitted predictor may have, strictly between 0 and 1.
    delta : float, default=0.1
        The probability, over calibration sets, of a predictor with a higher one, strictly between 0
        and 1.

    Returns
    -------
    float
        Below ``epsilon``: for ``region(significance)`` of a predictor with these calibration
        examples.

    Raises
    ------
    ValueError
        Where n is too small: no region but that of all labelsets is known to err so little. The
        message gives the least n, :math:`\log \delta / \log(1 - \varepsilon)` rounded up.

    Notes
    -----
    For label-wise regions too, where they are inductive, not conditional and not smoothed:
    ``predictions.region(pac_significance(n, 0.1), at_most_wrong=h)``.

    Why: at significance l / (n + 1) a labelset is ruled out exactly if it is stranger than the l-th
    strangest calibration example. With U the distribution function of the scores at that example,
    the error probability is 1 - U. For scores without ties U is the (n + 1 - l)-th smallest of n
    independent uniform numbers, so it is Beta(n + 1 - l, l). With ties, break them by a draw: that
    rules out more labelsets, not fewer, and has this distribution.

    References
    ----------
    .. [1] Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25,
       475-490.

    Examples
    --------
    >>> from labelsure import pac_significance
    >>> [round(pac_significance(n, 0.1, delta=0.05), 4) for n in (50, 200, 1000, 10_000)]
    [0.0392, 0.0647, 0.0849, 0.0951]
    >>> pac_significance(20, 0.1, delta=0.05)
    Traceback (most recent call last):
    ...
    ValueError: An error of at most 0.1 for all but 0.05 of calibration sets takes at least 29
    calibration examples, ...
    """
    n = check_count(n_calibration, name="n_calibration")
    if n > MOST_EXAMPLES:
        got = shown(n_calibration)
        raise ValueError(f"n_calibration must be at most {MOST_EXAMPLES}, got {got}.")
    level, failing = _check_probabilities(epsilon, delta)
    return float(_largest_level(n, level, failing))


def _check_probabilities(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    level = check_significance(
        epsilon, name="epsilon", example="For 90 % coverage pass epsilon=0.1."
    )
    return level, check_significance(delta, name="delta", example=DELTA_EXAMPLE)


def _largest_level(n: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return l / (n + 1), see :func:`pac_significance`."""
    # rising, for l - 1 = 0, 1, ...
    within = bdtr(np.arange(n, dtype=np.float64), n, float(epsilon)) <= float(delta)
    largest = n if within.all() else int(within.argmin())
    if largest == 0:
        raise ValueError(
            f"An error of at most {float(epsilon):g} for all but {float(delta):g} of calibration"
            f" sets takes {_least_examples(epsilon, delta)} calibration examples, got {n}."
            " Calibrate with more, or accept a larger epsilon or delta."
        )
    return Fraction(largest, n + 1)


def _least_examples(epsilon: Fraction, delta: Fraction) -> str:
    """Return in words how many examples it takes; either probability may be below every float."""
    rate = -math.log1p(-epsilon)
    surprise = math.log(delta.denominator) - math.log(delta.numerator)
    least = surprise / rate - 1e-9 if rate > 0 else math.inf
    return f"at least {math.ceil(least)}" if least < 1e15 else "more than 10^15"


@dataclass(frozen=True, eq=False)
class PacRegion:
    """Regions whose coverage holds for nearly every calibration set; made by :func:`pac_region`.

    Attributes
    ----------
    region : LabelsetRegion
        The regions, at ``significance``; they are the usual ones, and what they state themselves
        holds as well.
    significance : float
        Of the regions: lower than ``epsilon``.
    epsilon : float
        The error probability that the fitted predictor may have.
    delta : float
        The probability, over calibration sets, that it has a higher one.
    statement : str
        What is proven, under which conditions, and by whom.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import calibrate_outputs, pac_region
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.random((300, 3))
    >>> predictor = calibrate_outputs(outputs, rng.random((300, 3)) < outputs)
    >>> answer = pac_region(predictor.predict_labelsets([[0.9, 0.2, 0.1]]), 0.2, delta=0.05)
    >>> answer.region.sizes.tolist(), round(answer.significance, 3)
    ([2], 0.163)
    >>> print(answer.statement)
    With probability at least 0.95 over the 300 calibration examples, regions of new objects miss
    the true labelset with
    probability at most 0.2 given these examples, for independent examples, at significance 0.1628
    (Vovk 2012). Ties
    make that only safer.
    """

    region: LabelsetRegion
    significance: float
    epsilon: float
    delta: float
    statement: str


def pac_region(
    predictions: LabelsetPredictions, epsilon: float, *, delta: float = 0.1
) -> PacRegion:
    """Return regions that err at most ``epsilon``, for nearly every calibration set.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of an inductive predictor: one model, calibration examples that it has not seen, no
        categories, no weights, no smoothing.
    epsilon : float
        The error probability that this fitted predictor may have, strictly between 0 and 1.
    delta : float, default=0.1
        The probability, over calibration sets, that it has a higher one.

    Returns
    -------
    PacRegion
        The regions at the level of :func:`pac_significance`, and what is proven about them.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier, pac_region
    >>> X, y = make_multilabel_classification(n_samples=620, n_classes=3, random_state=0)
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
    >>> model = model.fit(X[:600], y[:600])
    >>> answer = pac_region(model.predict_labelsets(X[600:]), 0.1, delta=0.05)
    >>> len(answer.region), round(answer.significance, 3)
    (20, 0.066)
    """
    level, failing = _check_probabilities(epsilon, delta)
    guarantee = _check_inductive(predictions)
    n = guarantee.n_calibration or 0
    significance = float(_largest_level(n, level, failing))
    conditions = guarantee.conditions_at(significance).replace("exchangeable", "independent")
    statement = (
        f"With probability at least {float(1 - failing):g} over the {n} calibration examples,"
        f" regions of new objects miss the true labelset{guarantee.although} with probability at"
        f" most {float(level):g} given these examples, for {conditions}, at significance"
        f" {significance:.4g} ({PROVED_BY}). Ties make that only safer. {guarantee.remark}"
    )
    region = predictions.region(significance)
    return PacRegion(region, significance, float(level), float(failing), statement.rstrip())


def _check_inductive(predictions: Any) -> Guarantee:
    """Return the guarantee of plain inductive predictions, or raise ValueError for others."""
    if not isinstance(predictions, LabelsetPredictions):
        raise ValueError(
            "predictions must be what predict_labelsets returns, got a"
            f" {type(predictions).__name__}. For label-wise regions pass pac_significance(n,"
            " epsilon, delta=delta) to region."
        )
    guarantee = predictions.guarantee
    smoothed = guarantee.vacuous_below is None
    if not isinstance(guarantee, Guarantee) or guarantee.name != "inductive" or smoothed:
        got = "no known guarantee"
        if isinstance(guarantee, Guarantee):
            got = "smoothed p-values" if smoothed else f"guarantee {guarantee.name!r}"
        raise ValueError(
            "A level that holds for nearly every calibration set is known for plain inductive"
            f" predictors only, got predictions with {got}. Use InductiveConformalClassifier, or"
            " calibrate_outputs without folds, and no categories, weights or smoothing."
        )
    return guarantee

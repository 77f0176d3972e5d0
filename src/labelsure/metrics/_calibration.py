"""Are the levels kept? Error rates against significance, and tests of uniform p-values."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsure._checks import FloatArray, LabelMatrixLike, check_significance
from labelsure._errors import import_optional
from labelsure.metrics._coverage import check_coverage_level, clopper_pearson
from labelsure.metrics._drift import check_p_values
from labelsure.metrics._regions import check_levels, check_true_labels, error_rate
from labelsure.predictions import LabelsetPredictions


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Error rates of regions at several levels, made by :func:`calibration_curve`.

    Attributes
    ----------
    significance : array of shape (m,)
        The levels, in the order given.
    error_rate : array of shape (m,)
        The share of objects whose region misses the true labelset.
    low, high : arrays of shape (m,)
        The interval for the error probability at each level.
    coverage_level : float
        The probability with which each interval, taken alone, holds it.
    n_objects : int
        The number of objects.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3]])
    >>> curve = calibration_curve([[1, 0]], predictions, significance=[0.2, 0.8])
    >>> curve.error_rate.tolist(), curve.n_objects
    ([0.0, 1.0], 1)
    """

    significance: FloatArray
    error_rate: FloatArray
    low: FloatArray
    high: FloatArray
    coverage_level: float
    n_objects: int

    @property
    def simultaneous_band(self) -> tuple[FloatArray, FloatArray]:
        """The ends, (m,) each, of intervals for the error probabilities of all levels at once.

        They are exact intervals of level 1 - (1 - ``coverage_level``) / m, so that by Bonferroni's
        inequality the whole curve lies between them with probability ``coverage_level``, whether or
        not regions of different levels are nested.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y)
        >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])
        >>> curve = calibration_curve([[1, 0], [1, 1]], predictions, significance=[0.2, 0.5])
        >>> low, high = curve.simultaneous_band
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.006], [0.888, 0.994])
        """
        n_errors = np.round(self.error_rate * self.n_objects).astype(np.int64)
        each = 1 - (1 - self.coverage_level) / len(self.significance)
        return clopper_pearson(n_errors, np.full_like(n_errors, self.n_objects), each)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per level.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y)
        >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])
        >>> curve = calibration_curve([[1, 0], [1, 1]], predictions, significance=[0.2, 0.5])
        >>> print(curve.to_frame().round(3))
           significance  error_rate    low   high
        0           0.2         0.0  0.000  0.842
        1           0.5         0.5  0.013  0.987
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        columns = ("significance", "error_rate", "low", "high")
        return pandas.DataFrame({name: getattr(self, name) for name in columns})


def calibration_curve(
    Y_true: LabelMatrixLike,
    predictions: LabelsetPredictions,
    significance: float | Iterable[float] | None = None,
    *,
    coverage_level: float = 0.95,
) -> CalibrationCurve:
    r"""Return the error rate of regions against their significance, with a band around it.

    A valid predictor errs with probability at most :math:`\varepsilon`, so its curve stays near or
    below the diagonal.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects.
    significance : float, iterable of float or None, default=None
        The levels; None: 0.01, 0.02, ..., 0.99.
    coverage_level : float, default=0.95
        The probability with which each interval is to hold the error probability, strictly between
        0 and 1.

    Returns
    -------
    CalibrationCurve
        Arrays to plot or print; ``to_frame()`` makes a table.

    Notes
    -----
    The band is pointwise: at each level the exact (Clopper-Pearson) binomial interval [1]_ for the
    probability that *this fitted predictor* errs on a new object. It holds if, given the predictor,
    the objects are drawn independently from one distribution. The guarantee of an inductive
    predictor speaks of the average over calibration sets: with l calibration examples the error
    probability of a single predictor varies with a standard deviation of about
    :math:`\sqrt{\varepsilon (1 - \varepsilon) / l}` [2]_, so a band somewhat above the diagonal
    does not refute it. The p-values of :func:`online_p_values` allow a test without that slack,
    :func:`p_value_uniformity`.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.
    .. [2] Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25,
       475-490.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])
    >>> curve = calibration_curve([[1, 0], [1, 1]], predictions, significance=[0.2, 0.5])
    >>> curve.error_rate.tolist(), curve.low.round(3).tolist(), curve.high.round(3).tolist()
    ([0.0, 0.5], [0.0, 0.013], [0.842, 0.987])
    """
    labels = check_true_labels(Y_true, predictions)
    levels = check_levels(np.arange(1, 100) / 100 if significance is None else significance)
    level = check_coverage_level(coverage_level)
    n_objects = len(labels)
    with warnings.catch_warnings():  # a curve is drawn over levels of all sizes
        warnings.filterwarnings("ignore", "region.* accepts errors", UserWarning)
        held = [predictions.region(level).contains(labels) for level in levels]
    rates = np.array([error_rate(contains) for contains in held])
    n_errors = np.round(rates * n_objects).astype(np.int64)
    low, high = clopper_pearson(n_errors, np.full_like(n_errors, n_objects), level)
    exact = np.array([float(check_significance(level)) for level in levels])
    return CalibrationCurve(exact, rates, low, high, level, n_objects)


@dataclass(frozen=True)
class UniformityTest:
    """How far p-values of true labelsets are from valid and uniform: :func:`p_value_uniformity`.

    Attributes
    ----------
    n_p_values : int
        How many there are.
    excess : float
        The largest amount by which the share of p-values up to some t exceeds t: too many small
        ones.
    p_value_valid : float
        Of the hypothesis that they are valid, P(p <= t) <= t for all t. Small: they are too small.
    distance : float
        The largest amount by which the share of p-values up to some t differs from t.
    p_value_uniform : float
        Of the hypothesis that they are exactly uniform. Small: they are too small, too large or too
        alike.

    Examples
    --------
    >>> test = p_value_uniformity([0.2, 0.6, 0.7])
    >>> round(test.excess, 2), round(test.distance, 2)
    (0.3, 0.3)
    """

    n_p_values: int
    excess: float
    p_value_valid: float
    distance: float
    p_value_uniform: float


def p_value_uniformity(p_values: ArrayLike) -> UniformityTest:
    r"""Test whether p-values of true labelsets are valid (one-sided) and uniform (two-sided).

    With :math:`F_n` the empirical distribution function of the p-values, the Kolmogorov-Smirnov
    statistics are

    .. math:: D_n^+ = \sup_t \, (F_n(t) - t), \qquad D_n = \sup_t |F_n(t) - t|.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        The p-values of the true labelsets of n objects, each between 0 and 1, independent of each
        other.

    Returns
    -------
    UniformityTest
        Two statistics with their p-values.

    Notes
    -----
    - *Smoothed* p-values of full and inductive predictors are exactly uniform for exchangeable data
      [1]_: both tests [2]_ apply.
    - *Unsmoothed* ones are valid, P(p <= t) <= t, but not uniform: they are multiples of 1 / (l +
      1), and larger where scores tie. Only the one-sided test applies; it remains correct, and
      grows cautious.
    - *Cross-conformal* ones promise less (about P(p <= t) <= 2t): a small ``p_value_valid`` does
      not contradict it.

    Both tests ask for independent p-values. Those of one test set, all read off the same l
    calibration scores, are not: with as many test objects as calibration examples, or more, true
    hypotheses are refused far too often. Independent ones are the last n of :func:`online_p_values`
    of the l calibration scores followed by the n new ones.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.
    .. [2] Massey, F. J. (1951). The Kolmogorov-Smirnov test for goodness of fit. JASA 46, 68-78.

    Examples
    --------
    >>> import numpy as np
    >>> even = (np.arange(200) + 0.5) / 200
    >>> for p_values in (even, even**2, np.sqrt(even)):  # as they should be, too small, too large
    ...     test = p_value_uniformity(p_values)
    ...     print(f"valid: {test.p_value_valid:.2f}  uniform: {test.p_value_uniform:.2f}")
    valid: 1.00  uniform: 1.00
    valid: 0.00  uniform: 0.00
    valid: 1.00  uniform: 0.00
    """
    from scipy.stats import kstest

    checked = check_p_values(p_values, allow_zero=True)
    if len(checked) == 0:
        raise ValueError("p_values must hold at least one p-value to test, got none.")
    # scipy's "greater" is about the distribution function: above the diagonal, p-values are too
    # small
    one_sided, two_sided = (
        kstest(checked, "uniform", alternative=which) for which in ("greater", "two-sided")
    )
    figures = [one_sided.statistic, one_sided.pvalue, two_sided.statistic, two_sided.pvalue]
    return UniformityTest(len(checked), *map(float, figures))

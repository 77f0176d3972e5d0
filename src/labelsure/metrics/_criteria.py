r"""The six prior criteria of efficiency: how little a predictor leaves open, whatever the truth.

All are means over objects, smaller is better. Those that add up p-values list all labelsets; the others answer for any
number of labels.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from labelsure._core.types import FloatArray
from labelsure.metrics._inputs import check_labelset_predictions
from labelsure.metrics._regions import mean_region_size
from labelsure.predictions import LabelsetPredictions, LabelsetRegion

BLOCK_BYTES = 2**26
"""P-values held at a time while they are added up."""


def sum_criterion(predictions: LabelsetPredictions) -> float:
    r"""Return criterion S: the mean sum of the p-values of all labelsets.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \sum_{\psi} p_i(\psi)

    One of the four *probabilistic* criteria: in the idealised setting of [1]_ nothing beats scores that are the true
    probabilities of labelsets.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects; up to 24 labels, as all labelsets are listed, some objects at a time.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> sum_criterion(predictor.predict_labelsets([[0.8, 0.3]]))
    1.25
    """
    return float(np.mean(sums_of_p_values(predictions)))


def number_criterion(predictions: LabelsetPredictions, significance: float) -> float:
    r"""Return criterion N: the mean number of labelsets in a region.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} |\Gamma_i|

    One of the four *probabilistic* criteria: in the idealised setting of [1]_ nothing beats scores that are the true
    probabilities of labelsets.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects. Regions too large to be counted go in with their estimated size.
    significance : float
        The level of the regions, strictly between 0 and 1.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> number_criterion(predictor.predict_labelsets([[0.8, 0.3], [0.9, 0.5]]), significance=0.2)
    3.0
    """
    return mean_region_size(sizes_of(check_labelset_predictions(predictions).region(significance)))


def unconfidence_criterion(predictions: LabelsetPredictions) -> float:
    r"""Return criterion U, the unconfidence: the mean second largest p-value, one minus the mean confidence.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \min_{\psi} \max_{\psi' \neq \psi} p_i(\psi')

    which is the largest p-value itself where two labelsets have it, and 0 where there is only one candidate [1]_.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> unconfidence_criterion(predictor.predict_labelsets([[0.8, 0.3]]))
    0.25
    """
    return float(np.mean(check_labelset_predictions(predictions).top(2).p_values[:, 1]))


def fuzziness_criterion(predictions: LabelsetPredictions) -> float:
    r"""Return criterion F, the fuzziness: the mean sum of all p-values but the largest.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \Bigl( \sum_{\psi} p_i(\psi) - \max_{\psi} p_i(\psi) \Bigr)

    Defined in [1]_.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects; up to 24 labels, as all labelsets are listed, some objects at a time.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> fuzziness_criterion(predictor.predict_labelsets([[0.8, 0.3]]))
    0.5
    """
    return float(np.mean(sums_of_p_values(predictions) - predictions.credibility))


def multiple_criterion(predictions: LabelsetPredictions, significance: float) -> float:
    r"""Return criterion M: the share of regions with more than one labelset.

    .. math:: \frac{1}{n} \, |\{i : |\Gamma_i| > 1\}|

    Between 0 and 1; [1]_ states it in percent.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects.
    significance : float
        The level of the regions, strictly between 0 and 1.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> multiple_criterion(predictor.predict_labelsets([[0.8, 0.3]]), significance=0.3)
    0.0
    """
    return share_above(sizes_of(check_labelset_predictions(predictions).region(significance)), 1)


def excess_criterion(predictions: LabelsetPredictions, significance: float) -> float:
    r"""Return criterion E: the mean number of labelsets in a region beyond the first.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \max(|\Gamma_i| - 1, 0)

    Defined in [1]_.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects. Regions too large to be counted go in with their estimated size.
    significance : float
        The level of the regions, strictly between 0 and 1.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> excess_criterion(predictor.predict_labelsets([[0.8, 0.3]]), significance=0.2)
    2.0
    """
    sizes = sizes_of(check_labelset_predictions(predictions).region(significance))
    return mean_region_size(less(sizes, np.ones(len(sizes))))


def sums_of_p_values(predictions: LabelsetPredictions) -> FloatArray:
    """Return the sum of the p-values of all labelsets for each object, a limited number of objects at a time."""
    n_labels = len(check_labelset_predictions(predictions).label_names)
    try:
        predictions[:0].p_values()
    except ValueError as error:
        raise ValueError(
            "The criteria S, F and OF add up the p-values of all labelsets; N, U, M, E, OU, OM and OE work for any"
            f" number of labels. {error}"
        ) from error
    n_at_once = max(1, BLOCK_BYTES // (8 * 2**n_labels))
    starts = range(0, len(predictions), n_at_once)
    return np.concatenate([predictions[start : start + n_at_once].p_values().sum(axis=1) for start in starts])


def sizes_of(region: LabelsetRegion) -> list[int]:
    """Return the sizes of regions as whole numbers of any length, estimates by their value."""
    return [size.value for size in region.size_estimates]


def share_above(sizes: Sequence[int], limit: int) -> float:
    """Return the share of sizes above ``limit``."""
    return float(np.mean([size > limit for size in sizes]))


def less(sizes: Sequence[int], fewer: ArrayLike) -> Sequence[int]:
    """Return sizes made smaller, but not below 0: an estimate may have missed the few members of a region."""
    return [max(size - int(by), 0) for size, by in zip(sizes, np.asarray(fewer), strict=True)]

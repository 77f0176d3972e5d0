r"""The criteria of efficiency: six prior ones, how little a predictor leaves open, and four that look at the truth.

All are means over objects, smaller is better. Those that add up p-values list all labelsets; the others answer for any
number of labels. *False* labelsets are the candidates other than the true one; where the true one is empty and the
empty labelset is no candidate, all candidates are false.
"""

import numpy as np

from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike
from labelsure.metrics._inputs import check_labelset_predictions, check_true_labels
from labelsure.metrics._regions import mean_region_size, share_above, sizes_of
from labelsure.predictions import LabelsetPredictions, RankedLabelsets

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
    return mean_region_size(sizes_of(check_labelset_predictions(predictions).region(significance), less=1))


def observed_unconfidence_criterion(Y_true: LabelMatrixLike, predictions: LabelsetPredictions) -> float:
    r"""Return criterion OU, the observed unconfidence: the mean of the largest p-value of a false labelset.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \max_{\psi \neq \psi_i} p_i(\psi)

    where :math:`\psi_i` is the true labelset of object i [1]_.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> observed_unconfidence_criterion([[1, 0], [1, 1]], predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]]))
    0.5
    """
    labels = check_true_labels(Y_true, predictions)
    return float(np.mean(largest_false_p_values(predictions.top(2), labels)))


def observed_fuzziness_criterion(Y_true: LabelMatrixLike, predictions: LabelsetPredictions) -> float:
    r"""Return criterion OF, the observed fuzziness: the mean sum of the p-values of the false labelsets.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \sum_{\psi \neq \psi_i} p_i(\psi)

    where :math:`\psi_i` is the true labelset of object i. One of the four *probabilistic* criteria: in the idealised
    setting of [1]_ nothing beats scores that are the true probabilities of labelsets.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects; up to 24 labels, as all labelsets are listed, some objects at a time.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> observed_fuzziness_criterion([[1, 0], [1, 1]], predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]]))
    0.75
    """
    labels = check_true_labels(Y_true, predictions)
    return float(np.mean(sums_of_p_values(predictions) - predictions.p_value(labels)))


def observed_multiple_criterion(
    Y_true: LabelMatrixLike, predictions: LabelsetPredictions, significance: float
) -> float:
    r"""Return criterion OM: the share of regions with a false labelset.

    .. math:: \frac{1}{n} \, |\{i : \Gamma_i \setminus \{\psi_i\} \neq \emptyset\}|

    where :math:`\psi_i` is the true labelset of object i. Between 0 and 1; [1]_ states it in percent.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects.
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
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]])
    >>> observed_multiple_criterion([[1, 0], [1, 1]], predictions, significance=0.3)
    0.5
    """
    labels = check_true_labels(Y_true, predictions)
    region = predictions.region(significance)
    return share_above(sizes_of(region, less=region.contains(labels)), 0)


def observed_excess_criterion(Y_true: LabelMatrixLike, predictions: LabelsetPredictions, significance: float) -> float:
    r"""Return criterion OE: the mean number of false labelsets in a region.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} |\Gamma_i \setminus \{\psi_i\}|

    where :math:`\psi_i` is the true labelset of object i. One of the four *probabilistic* criteria: in the idealised
    setting of [1]_ nothing beats scores that are the true probabilities of labelsets.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects. Regions too large to be counted go in with their estimated size.
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
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]])
    >>> observed_excess_criterion([[1, 0], [1, 1]], predictions, significance=0.3)
    0.5
    """
    labels = check_true_labels(Y_true, predictions)
    region = predictions.region(significance)
    return mean_region_size(sizes_of(region, less=region.contains(labels)))


def largest_false_p_values(top: RankedLabelsets, labels: LabelMatrix) -> FloatArray:
    """Return the largest p-value of a false labelset for each object, from its two most plausible labelsets."""
    best_is_true = (top.labelsets[:, 0] == labels).all(axis=1)
    return np.where(best_is_true, top.p_values[:, 1], top.p_values[:, 0])


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

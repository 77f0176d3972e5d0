r"""The four observed criteria of efficiency: how plausible a predictor finds what turned out to be false.

All are means over objects, smaller is better. *False* labelsets are the candidates other than the true one; where the
true one is empty and the empty labelset is no candidate, all candidates are false.
"""

import numpy as np

from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike
from labelsure.metrics._criteria import less, share_above, sizes_of, sums_of_p_values
from labelsure.metrics._inputs import check_true_labels
from labelsure.metrics._regions import mean_region_size
from labelsure.predictions import LabelsetPredictions, RankedLabelsets


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
    return share_above(less(sizes_of(region), region.contains(labels)), 0)


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
    return mean_region_size(less(sizes_of(region), region.contains(labels)))


def largest_false_p_values(top: RankedLabelsets, labels: LabelMatrix) -> FloatArray:
    """Return the largest p-value of a false labelset for each object, from its two most plausible labelsets."""
    best_is_true = (top.labelsets[:, 0] == labels).all(axis=1)
    return np.where(best_is_true, top.p_values[:, 1], top.p_values[:, 0])

"""Single predictions: one labelset per object against the true one."""

import numpy as np

from labelsure._core.types import IntArray, LabelMatrixLike
from labelsure.metrics._inputs import check_known_predictions, check_predictions


def hamming_loss(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> float:
    r"""Return the share of wrong entries: labels predicted that are not there, or there and not predicted.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \frac{|\psi_i \,\triangle\, \hat\psi_i|}{q}

    where :math:`\psi_i` is the true labelset of object i and :math:`\hat\psi_i` the predicted one [1]_ [2]_.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true and predicted labels. NaN in Y_true is an unknown label, which is left out.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    References
    ----------
    .. [1] Schapire, R. E., Singer, Y. (2000). BoosTexter: a boosting-based system for text categorization. Machine
       Learning 39, 135-168.
    .. [2] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.16666666666666666
    """
    true, predicted, known = check_known_predictions(Y_true, Y_pred)
    return float(np.mean((true != predicted)[known]))


def subset_accuracy(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> float:
    r"""Return the share of objects whose labels are all right; the paper's *classification accuracy*.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [\psi_i = \hat\psi_i]

    Defined as in [1]_.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true and predicted labels.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> subset_accuracy([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    true, predicted = check_predictions(Y_true, Y_pred)
    return float(np.mean(np.all(true == predicted, axis=1)))


def f1_macro(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> float:
    r"""Return the mean over labels of each label's F measure: rare labels weigh as much as common ones.

    .. math:: \frac{1}{q} \sum_{j=1}^{q} \frac{2\,TP_j}{2\,TP_j + FP_j + FN_j}

    with the true positives, false positives and false negatives of label j, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true and predicted labels. NaN in Y_true is an unknown label, which is left out.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Notes
    -----
    A label that no object has and none was given counts 0, so on such data even a perfect prediction stays below 1.
    This is ``sklearn.metrics.f1_score(average="macro", zero_division=0)``.

    References
    ----------
    .. [1] Tsoumakas, G., Katakis, I., Vlahavas, I. (2010). Mining multi-label data. Data Mining and Knowledge
       Discovery Handbook, 667-685. Springer.
    .. [2] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> f1_macro([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.6666666666666666
    >>> f1_macro([[1, 0]], [[1, 0]])
    0.5
    """
    hits, marks = _count(Y_true, Y_pred)
    return float(np.mean(2 * hits / np.maximum(marks, 1)))


def f1_micro(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> float:
    r"""Return the F measure of all entries taken together: every entry weighs the same.

    .. math:: \frac{2 \sum_j TP_j}{2 \sum_j TP_j + \sum_j FP_j + \sum_j FN_j}

    with the true positives, false positives and false negatives of label j, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true and predicted labels. NaN in Y_true is an unknown label, which is left out.

    Returns
    -------
    float
        Between 0 and 1, larger is better; 0 where neither matrix holds a single one.

    References
    ----------
    .. [1] Tsoumakas, G., Katakis, I., Vlahavas, I. (2010). Mining multi-label data. Data Mining and Knowledge
       Discovery Handbook, 667-685. Springer.
    .. [2] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> f1_micro([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.8
    """
    hits, marks = _count(Y_true, Y_pred)
    return float(2 * hits.sum() / max(marks.sum(), 1))


def _count(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> tuple[IntArray, IntArray]:
    """Return each label's TP and the ones in both its columns, which are 2 TP + FP + FN."""
    true, predicted, known = check_known_predictions(Y_true, Y_pred)
    predicted = predicted & known
    hits, own, given = (part.sum(axis=0, dtype=np.int64) for part in (true & predicted, true, predicted))
    return hits, own + given

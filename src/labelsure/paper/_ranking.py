"""Rankings of labels: whether a learner scores the labels an object has above those it has not.

All four measures rest on one reading of ties: the rank of a label is the number of labels that
score at least as much, itself included. Tied labels share the worst of their places, so a learner
that gives every label the same score never looks good, and the order of the columns never matters.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import (
    BoolArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    as_numbers,
    check_label_matrix,
    check_same_length,
    find_entry,
    label_names_of,
    split_unknown,
    take_by_name,
)

# A block of objects takes about 50 bytes per entry, so 13 MB at a time, whatever the number of
# objects.
ENTRIES_PER_BLOCK = 2**18

NEED = "{} needs an object with at least one label"


def ranking_loss(Y_true: LabelMatrixLike, scores: MatrixLike) -> float:
    r"""Return the mean share of pairs (a label the object has, one it has not) in the wrong order.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \frac{|\{(j, r) :
       f_j(x_i) \le f_r(x_i),\ j \in \psi_i,\ r \notin \psi_i\}|}
       {|\psi_i| \, (q - |\psi_i|)}

    where :math:`f_j(x_i)` is the score of label j; equal scores are wrong, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    scores : array-like of shape (n, q)
        Any numbers but NaN, larger where a label is more plausible.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Notes
    -----
    Objects with no label or with all of them have no such pair: they are left out of the mean.
    ``sklearn.metrics.label_ranking_loss`` counts them as 0 instead; otherwise it is the same.

    References
    ----------
    .. [1] Schapire, R. E., Singer, Y. (2000). BoosTexter: a boosting-based system for text
       categorization. Machine Learning 39, 135-168.
    .. [2] Zhang, M.-L., Zhou, Z.-H. (2007). ML-KNN: a lazy learning approach to multi-label
       learning. Pattern Recognition 40, 2038-2048.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [1, 0, 1]], [[0.9, 0.2, 0.1], [0.3, 0.3, 0.7]])
    0.25
    """
    need = "ranking_loss needs an object with some labels, not all"
    losses = []
    for block in _rankings(Y_true, scores, need, pairs=True):
        n_wrong = np.sum(block.ranks - block.hits, axis=1, where=block.relevant)
        n_relevant = block.relevant.sum(axis=1)
        losses.append(n_wrong / (n_relevant * (block.relevant.shape[1] - n_relevant)))
    return float(np.mean(np.concatenate(losses)))


def one_error(Y_true: LabelMatrixLike, scores: MatrixLike) -> float:
    r"""Return the share of objects whose top-ranked label is wrong.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [\operatorname{arg\,max}_j f_j(x_i) \notin \psi_i]

    where :math:`f_j(x_i)` is the score of label j, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    scores : array-like of shape (n, q)
        Any numbers but NaN, larger where a label is more plausible.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Notes
    -----
    Where several labels share the highest score the object counts as right only if it has all of
    them: any of them might be put first. Objects without labels, for which every answer is wrong,
    are left out of the mean.

    References
    ----------
    .. [1] Schapire, R. E., Singer, Y. (2000). BoosTexter: a boosting-based system for text
       categorization. Machine Learning 39, 135-168.
    .. [2] Zhang, M.-L., Zhou, Z.-H. (2007). ML-KNN: a lazy learning approach to multi-label
       learning. Pattern Recognition 40, 2038-2048.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.3, 0.7]])
    0.5
    """
    wrong = [
        block.hits[:, 0] < block.ranks[:, 0]
        for block in _rankings(Y_true, scores, NEED.format("one_error"))
    ]
    return float(np.mean(np.concatenate(wrong)))


def coverage_error(Y_true: LabelMatrixLike, scores: MatrixLike) -> float:
    r"""Return the mean number of steps down the ranking to meet every label of an object.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \max_{j \in \psi_i} \operatorname{rank}_j(x_i) - 1

    where the highest score has rank 1, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    scores : array-like of shape (n, q)
        Any numbers but NaN, larger where a label is more plausible.

    Returns
    -------
    float
        Between 0 and q - 1, smaller is better; a perfect ranking gives the mean number of labels
        minus one.

    Notes
    -----
    The papers call it coverage and count from 0, ``sklearn.metrics.coverage_error`` counts from 1:
    it is larger by one. Objects without labels have no last label to meet and are left out of the
    mean; scikit-learn counts them as 0. Tied labels all have the worst rank among them, in both.

    References
    ----------
    .. [1] Schapire, R. E., Singer, Y. (2000). BoosTexter: a boosting-based system for text
       categorization. Machine Learning 39, 135-168.
    .. [2] Zhang, M.-L., Zhou, Z.-H. (2007). ML-KNN: a lazy learning approach to multi-label
       learning. Pattern Recognition 40, 2038-2048.

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [1, 1, 0]], [[0.9, 0.2, 0.1], [0.1, 0.8, 0.7]])
    1.0
    """
    deepest = [
        np.max(block.ranks, axis=1, where=block.relevant, initial=1)
        for block in _rankings(Y_true, scores, NEED.format("coverage_error"))
    ]
    return float(np.mean(np.concatenate(deepest) - 1))


def average_precision(Y_true: LabelMatrixLike, scores: MatrixLike) -> float:
    r"""Return the mean share of right labels among those ranked down to a label the object has.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \frac{1}{|\psi_i|} \sum_{j \in \psi_i}
       \frac{|\{r \in \psi_i : \operatorname{rank}_r(x_i) \le
       \operatorname{rank}_j(x_i)\}|}{\operatorname{rank}_j(x_i)}

    where the highest score has rank 1, as in [1]_ and [2]_.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    scores : array-like of shape (n, q)
        Any numbers but NaN, larger where a label is more plausible.

    Returns
    -------
    float
        Above 0 and at most 1, larger is better.

    Notes
    -----
    Objects without labels are left out of the mean;
    ``sklearn.metrics.label_ranking_average_precision_score`` counts them as 1 instead. Tied labels
    all have the worst rank among them, in both. ``sklearn.metrics .average_precision_score`` is
    something else: it ranks the objects for each label.

    References
    ----------
    .. [1] Schapire, R. E., Singer, Y. (2000). BoosTexter: a boosting-based system for text
       categorization. Machine Learning 39, 135-168.
    .. [2] Zhang, M.-L., Zhou, Z.-H. (2007). ML-KNN: a lazy learning approach to multi-label
       learning. Pattern Recognition 40, 2038-2048.

    Examples
    --------
    >>> average_precision([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.1], [0.8, 0.3, 0.1]])
    0.75
    """
    precisions = [
        np.sum(block.hits / block.ranks, axis=1, where=block.relevant)
        / np.sum(block.relevant, axis=1)
        for block in _rankings(Y_true, scores, NEED.format("average_precision"))
    ]
    return float(np.mean(np.concatenate(precisions)))


class _Ranking(NamedTuple):
    """Some objects, the labels of each from the highest score to the lowest."""

    relevant: BoolArray
    """Whether the object has the label."""
    ranks: IntArray
    """How many labels score at least as much, itself included."""
    hits: IntArray
    """How many of those the object has."""


def _rankings(
    Y_true: LabelMatrixLike, scores: MatrixLike, need: str, *, pairs: bool = False
) -> Iterator[_Ranking]:
    """Rank the labels of objects that have labels, or pairs, in blocks of bounded size."""
    true, array = _check_scores(Y_true, scores)
    n_relevant = true.sum(axis=1, dtype=np.int64)
    defined = (n_relevant > 0) & (n_relevant < true.shape[1]) if pairs else n_relevant > 0
    rows = np.flatnonzero(defined)
    if len(rows) == 0:
        raise ValueError(
            f"{need}, got none in the {len(true)} rows of Y_true, so the measure is undefined."
        )
    step = max(1, ENTRIES_PER_BLOCK // true.shape[1])
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        yield _rank(true[block], array[block])


def _rank(true: LabelMatrix, scores: np.ndarray[Any, Any]) -> _Ranking:
    order = np.argsort(scores, axis=1)[:, ::-1]
    descending = np.take_along_axis(scores, order, axis=1)
    relevant = np.take_along_axis(true, order, axis=1).astype(np.bool_)
    n_labels = true.shape[1]
    # a run of equal scores ends where the next one differs; all of the run get that position
    last = np.broadcast_to(np.arange(n_labels), true.shape).copy()
    last[:, :-1][descending[:, :-1] == descending[:, 1:]] = n_labels - 1
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    hits = np.take_along_axis(np.cumsum(relevant, axis=1, dtype=np.int64), last, axis=1)
    return _Ranking(relevant, last + 1, hits)


def _check_scores(
    Y_true: LabelMatrixLike, scores: MatrixLike
) -> tuple[LabelMatrix, np.ndarray[Any, Any]]:
    """Return true labels and the scores that rank them, arrays of one shape, or say what is wrong.

    Numbers keep their type, as rounding large integers to floats could make ties. Infinite scores
    rank like any other; NaN does not. Columns of two tables are matched by name.

    Examples
    --------
    >>> _check_scores([[1, 0]], [[0.5, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: scores must be numbers, got nan in row 0, column 1. A label without a score ...
    """
    if split_unknown(Y_true)[1] is not None:
        raise ValueError(
            "Y_true must hold only 0 and 1, got nan: how the labels of an object should rank is"
            " not known where some of them are not. Leave out the rows with NaN."
        )
    true = check_label_matrix(Y_true, name="Y_true")
    if len(true) == 0:
        raise ValueError(f"Y_true must have at least one row to evaluate, got shape {true.shape}.")
    names = label_names_of(Y_true)
    table = scores if names is None else take_by_name(scores, names, name="scores")
    array = as_numbers(table, name="scores", shape=f"(n_objects, {true.shape[1]})")
    if array.ndim != 2 or array.shape[1] != true.shape[1]:
        raise ValueError(
            f"scores must have shape (n_objects, {true.shape[1]}), one column per label of Y_true,"
            f" got {array.shape}. Where predict_proba returns a list with one array per label,"
            " stack the second column of each."
        )
    check_same_length(true, array, names=("Y_true", "scores"))
    missing = find_entry(np.isnan(array), array)
    if missing:
        raise ValueError(
            f"scores must be numbers, got {missing}. A label without a score cannot be ranked."
        )
    return true, array

r"""The labels that cover the truth: few labels that hold all true ones with a chosen probability.

One number per label says when it joins the set: labels join in the order of their outputs, and a
set is cut off at a limit, the same for all objects. An example is covered where its last true label
has joined. So the number of the last true label is a nonconformity score, and the limit is its
conformal quantile.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrixLike,
    check_choice,
    check_examples,
    check_outputs,
    check_significance,
    split_unknown,
)
from labelsure.decisions._thresholds import TARGET_EXAMPLE

FORMS = ("count", "chance", "threshold")
"""How labels are cut off, the default first."""

CLAIM = (
    "All true labels of a new object are among the labels predicted with probability at least"
    " {target:g}, for exchangeable examples (Vovk, Gammerman, Shafer 2005, with the score of the"
    " last true label)."
)
UNKNOWN_REFUSED = (
    "must hold only 0 and 1, got nan: whether all true labels are covered is unknown where some"
    " labels are. Leave out examples with NaN, or control the recall (RecallController,"
    " control_recall), which can use them."
)
TOO_FEW = " Too few examples show that, so all labels are predicted."


@dataclass(frozen=True)
class LabelCover:
    """Predicts labels that include all true ones with a chosen probability: :func:`control_cover`.

    Attributes
    ----------
    limit : float
        Labels with a number of at most this are predicted; what the number is depends on ``form``.
        For "count" it is k, how many labels are predicted for each object. Infinity keeps all
        labels.
    form : str
        How labels are cut off.
    target : float
        The requested probability.
    reached : bool
        Whether the calibration examples show that the target is reached; where they do not, all
        labels are predicted.
    n_labels, n_calibration : int
        The number of labels, and of calibration examples.
    statement : str
        What is proven about new objects, under which conditions, and by whom.
    label_names : tuple of str or None
        The labels, where they have names: then the columns of new outputs with names are taken by
        these.

    Examples
    --------
    >>> from labelsure import control_cover
    >>> outputs = [[0.9, 0.2, 0.1], [0.6, 0.1, 0.3], [0.3, 0.8, 0.7], [0.7, 0.4, 0.2]]
    >>> cover = control_cover(outputs, [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 0, 0]], target=0.8)
    >>> cover.limit
    2.0
    >>> cover.predict([[0.65, 0.5, 0.1]]).tolist()
    [[1, 1, 0]]
    """

    limit: float
    form: str
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
        return (joining_numbers(checked, self.form) <= self.limit).astype(np.int64)


def control_cover(
    outputs: Any, Y: LabelMatrixLike, *, target: float = 0.9, form: str = "count"
) -> LabelCover:
    r"""Find how many of the most probable labels include all true ones with probability ``target``.

    Each label has a number at which it joins the set, :math:`r_j`, from the outputs alone; the
    score of an example is the largest :math:`r_j` of its true labels, minus infinity where it has
    none. The limit is the :math:`\lceil \text{target} \cdot (n + 1) \rceil`-th smallest score of n
    calibration examples, and the labels with :math:`r_j` of at most the limit are predicted.

    - "count": :math:`r_j` is the rank of the label's output, ties by position. The same number k of
      labels for every object.
    - "chance": with :math:`o_{(1)} \ge o_{(2)} \ge \dots` the outputs in order, :math:`r_j =
      \sum_{l \ge \text{rank of } j} \log(1 - o_{(l)})`, the logarithm of the probability, labels
      taken as independent, that no true label is ranked there or below. As many labels as the
      object needs.
    - "threshold": :math:`r_j = 1 - o_j`. The labels with an output of at least a threshold.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones, all known.
    target : float, default=0.9
        The probability that no true label is left out, strictly between 0 and 1.
    form : {"count", "chance", "threshold"}, default="count"
        How labels are cut off.

    Returns
    -------
    LabelCover
        Where there are too few examples (n + 1 < 1 / (1 - target)), all labels are predicted.

    Notes
    -----
    For exchangeable examples, calibration and new, and any model, all true labels of a new object
    are among those predicted with probability at least ``target``; where scores do not tie, with at
    most 1 / (n + 1) more [1]_. Why: numbers are computed object by object, so the scores of n + 1
    examples are exchangeable, and the new one is among the :math:`\lceil \text{target} \cdot (n +
    1) \rceil` smallest with at least that probability. It is an average over objects: those with
    many labels are covered less often than those with few, with "count" above all.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer. For several labels: Cauchois, M., Gupta, S., Duchi, J. (2021). Knowing what you
       know: valid and validated confidence sets in multiclass and multilabel prediction. JMLR
       22(81), 1-42.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import control_cover
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.beta(0.3, 2.0, (500, 20))
    >>> Y = rng.random((500, 20)) < outputs
    >>> [int(control_cover(outputs, Y, target=target).limit) for target in (0.5, 0.8, 0.9)]
    [5, 9, 11]
    >>> adaptive = control_cover(outputs, Y, target=0.9, form="chance")
    >>> print(f"{adaptive.predict(outputs).sum(axis=1).mean():.1f} labels on average")
    10.1 labels on average
    """
    if split_unknown(Y)[1] is not None:
        raise ValueError(f"Y {UNKNOWN_REFUSED}")
    checked, labels, names = check_examples(outputs, Y)
    wanted = check_significance(target, name="target", example=TARGET_EXAMPLE)
    check_choice(form, FORMS, name="form")
    joined = joining_numbers(checked, form)
    scores = np.where(labels == 1, joined, -np.inf).max(axis=1)  # of each example's last true label
    limit = quantile_of_scores(scores, 1 - wanted)
    reached = limit < np.inf
    claim = CLAIM.format(target=float(wanted))
    return LabelCover(
        limit=max(limit, 0.0) if form == "count" else limit,
        form=form,
        target=float(wanted),
        reached=reached,
        n_labels=labels.shape[1],
        n_calibration=len(labels),
        statement=claim if reached else claim + TOO_FEW,
        label_names=names,
    )


def joining_numbers(outputs: FloatArray, form: str) -> FloatArray:
    """Return the number at which each label joins the set of its object, shape (n, q).

    Examples
    --------
    >>> outputs = np.array([[0.5, 0.0, 0.9]])
    >>> joining_numbers(outputs, "count").tolist()
    [[2.0, 3.0, 1.0]]
    >>> np.exp(joining_numbers(outputs, "chance")).round(3).tolist()
    [[0.5, 1.0, 0.05]]
    """
    if form == "threshold":
        return 1 - outputs
    order = np.argsort(-outputs, axis=1, kind="stable")
    numbers = np.empty(outputs.shape)
    if form == "count":
        in_order = np.broadcast_to(np.arange(1.0, outputs.shape[1] + 1), outputs.shape)
    else:
        falling = np.take_along_axis(outputs, order, axis=1)
        with np.errstate(divide="ignore"):  # an output of 1 joins first
            in_order = np.cumsum(np.log1p(-falling[:, ::-1]), axis=1)[:, ::-1]
    np.put_along_axis(numbers, order, in_order, axis=1)
    return numbers


def quantile_of_scores(scores: FloatArray, alpha: Fraction) -> float:
    """Return the conformal quantile: the lowest limit that at most a share ``alpha`` exceeds.

    Infinity where no limit does.

    Examples
    --------
    >>> scores = np.array([1.0, 2.0, 3.0, 4.0])
    >>> quantile_of_scores(scores, Fraction(2, 5)), quantile_of_scores(scores, Fraction(1, 10))
    (3.0, inf)
    """
    n_above = alpha * (len(scores) + 1) // 1 - 1
    return float(np.sort(scores)[len(scores) - 1 - n_above]) if n_above >= 0 else float("inf")

"""Conformal selection: accept objects without review so that few accepted ones are wrong."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    as_numbers,
    check_flag,
    check_same_length,
    check_significance,
    find_entry,
    made_up_names,
)
from labelsure.engine._p_values import smallest_numerators
from labelsure.predictions._frames import make_frame, name_columns

PROVED_BY = "conformal selection: Jin, Candes 2023"


ALPHA_EXAMPLE = "To accept 5 % wrong ones pass alpha=0.05."


@dataclass(frozen=True, eq=False)
class Selection:
    """Which of m new objects may be accepted without review; made by :func:`select_objects`.

    Attributes
    ----------
    accepted : bool array of shape (m,)
        The objects that may be accepted.
    p_values : array of shape (m,)
        Of "the prediction is wrong", one per object.
    sureness : array of shape (m,)
        How sure the model is of each prediction.
    threshold : float
        The lowest sureness accepted; infinity where nothing is. Where ties are broken at random,
        some objects with just this sureness are not accepted.
    alpha : float
        The requested level.
    n_held_out, n_wrong : int
        The held-out examples, and how many of their predictions are wrong.
    statement : str
        How many are accepted, what is proven about them, under which conditions, and by whom; where
        nothing can be accepted, why, and what it would take.
    labelsets : array of shape (m, q) or None
        The predicted labelsets, where a model made them.
    label_names : tuple of str or None
        The labels, where they have names.
    index : pandas index or None
        That of the objects, where they came as a DataFrame.

    Examples
    --------
    >>> from labelsure import select_objects
    >>> sureness, right = [0.9, 0.8, 0.7, 0.2], [True, True, True, False]
    >>> selection = select_objects(sureness, right, [0.95, 0.6, 0.1], alpha=0.3)
    >>> selection.accepted.tolist(), selection.p_values.tolist(), selection.threshold
    ([True, True, False], [0.2, 0.2, 0.4], 0.6)
    """

    accepted: BoolArray
    p_values: FloatArray
    sureness: FloatArray
    threshold: float
    alpha: float
    n_held_out: int
    n_wrong: int
    statement: str
    labelsets: LabelMatrix | None = None
    label_names: tuple[str, ...] | None = None
    index: Any = None

    def __len__(self) -> int:
        return len(self.accepted)

    def __repr__(self) -> str:
        accepted = f"{int(self.accepted.sum())} of {len(self)} objects accepted"
        return f"Selection(alpha={self.alpha:g}, {accepted})"

    def to_frame(self, *, prefix: str = "", library: str | None = None) -> Any:
        """Return a DataFrame with one row per object: its labels, if known, and the decision.

        Parameters
        ----------
        prefix : str, default=""
            Put before the names of the labels.
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.

        Examples
        --------
        >>> from labelsure import select_objects
        >>> sureness, right = [0.9, 0.8, 0.2], [True, True, False]
        >>> selection = select_objects(sureness, right, [0.95, 0.9, 0.1], alpha=0.4)
        >>> print(selection.to_frame())
           accepted  p_value  sureness
        0      True     0.25      0.95
        1      True     0.25      0.90
        2     False     0.50      0.10
        """
        figures = {"accepted": self.accepted, "p_value": self.p_values, "sureness": self.sureness}
        labels: dict[str, Any] = {}
        if self.labelsets is not None:
            names = self.label_names or made_up_names(self.labelsets.shape[1])
            labels = dict(zip(name_columns(names, figures, prefix), self.labelsets.T, strict=True))
        return make_frame({**labels, **figures}, index=self.index, library=library)


def select_objects(
    sureness: Any,
    right: Any,
    new_sureness: Any,
    *,
    alpha: float = 0.05,
    batch: bool = True,
    random_ties: bool = False,
    random_state: Any = None,
) -> Selection:
    r"""Accept as many new objects as possible with an expected share of errors up to ``alpha``.

    With :math:`s_i` the sureness of n held-out examples and :math:`s` that of a new object, the
    p-value of "its prediction is wrong" is [1]_

    .. math:: p = \frac{|\{i : \text{example } i \text{ is wrong}, \; s_i \ge s\}| + 1}{n + 1}.

    Of a batch of m new objects those with :math:`p \le \alpha R / m` are accepted, R being the
    largest number of objects for which that is so (Benjamini & Hochberg).

    Parameters
    ----------
    sureness : array-like of shape (n,)
        How sure a model is of its prediction for each held-out example: any number, the higher the
        surer. Neither the model nor how sureness is computed may have been learned from these
        examples.
    right : array-like of bool of shape (n,)
        Whether those predictions are right.
    new_sureness : array-like of shape (m,)
        How sure the model is of its predictions for the new objects.
    alpha : float, default=0.05
        The share of wrong ones among the accepted that you accept, strictly between 0 and 1. Choose
        it before you look.
    batch : bool, default=True
        Whether the new objects are a batch, to be decided about at once. False decides about each
        by itself, p <= ``alpha``, for objects that arrive one after the other; the promise is then
        another one, see below.
    random_ties : bool, default=False
        Whether equal sureness is ordered at random. By default a new object counts every wrong
        example that is equally sure against it, which is valid too and accepts fewer where there
        are many ties.
    random_state : int, RandomState or None, default=None
        For ``random_ties``.

    Returns
    -------
    Selection
        The accepted objects, their p-values, and what is promised.

    Notes
    -----
    *A batch.* For exchangeable examples, held-out and new, the expected share of wrong ones among
    the accepted (0 where none is accepted) is at most ``alpha``, whatever the model, the number of
    examples, and the ties [1]_. Why: give right examples the score :math:`V = \infty` and wrong
    ones :math:`V = -s`. Say object j is wrong and accepted; its p-value is then the rank of its V
    among :math:`V_1, \dots, V_n, V_j`, from 1 / (n + 1) to 1. Put :math:`V_j` among the held-out
    scores that the others are compared with: the p-values of the objects less sure than j stay as
    they are, those of the surer ones, accepted with j anyway, fall. So R stays the same, and is now
    a function of the *set* :math:`\{V_1, \dots, V_n, V_j\}` and of the other objects. Given these
    every rank is equally likely, ties only raise it, so j is wrong and accepted with probability at
    most :math:`\alpha R / m`, and contributes at most :math:`\alpha / m` to the expected share.
    Ties broken at random are a score with an independent draw as its last digits, for examples and
    objects alike; the same proof holds.

    *One by one.* An object is wrong and accepted with probability at most ``alpha``: a share of all
    objects, not of the accepted ones. A batch of a single object is the same.

    Both are averages over held-out examples and new objects together. Given the held-out examples,
    or in one batch, the share may be larger.

    References
    ----------
    .. [1] Jin, Y., Candes, E. J. (2023). Selection by prediction with conformal p-values. JMLR
       24(244), 1-41.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import select_objects
    >>> rng = np.random.default_rng(0)
    >>> sureness, new_sureness = rng.random(400), rng.random(200)
    >>> right = rng.random(400) < sureness ** 0.2  # the surer, the more often right
    >>> selection = select_objects(sureness, right, new_sureness, alpha=0.1)
    >>> selection
    Selection(alpha=0.1, 181 of 200 objects accepted)
    """
    held_out = check_sureness(sureness, "sureness")
    new = check_sureness(new_sureness, "new_sureness")
    correct = _check_right(right, len(held_out))
    level = check_significance(alpha, name="alpha", example=ALPHA_EXAMPLE)
    orders = None
    if check_flag(random_ties, name="random_ties"):
        draws = check_random_state(random_state).random_sample(len(held_out) + len(new))
        order = np.lexsort((draws, np.concatenate([held_out, new])))
        places = np.argsort(order)  # in one order, by sureness and then by draws
        orders = places[: len(held_out)], places[len(held_out) :]
    return select(held_out, correct, new, level, batch, orders=orders)


def select(
    held_out: FloatArray,
    right: BoolArray,
    new: FloatArray,
    alpha: Fraction,
    batch: bool,
    *,
    orders: tuple[Any, Any] | None = None,
    fault: str = "a wrong prediction",
) -> Selection:
    """Return the selection; see :func:`select_objects`.

    Parameters
    ----------
    held_out, right, new, alpha, batch
        As there, checked.
    orders : pair of arrays of shape (n,) and (m,), or None
        What to compare instead of sureness, where ties have been broken.
    fault : str
        What a prediction has that is not right.
    """
    of_held_out, of_new = (held_out, new) if orders is None else orders
    n, m = len(held_out), len(new)
    wrong = np.sort(of_held_out[~right])
    # ties count against the object
    numerators = len(wrong) - np.searchsorted(wrong, of_new, side="left") + 1
    ranks = np.arange(1, m + 1) if check_flag(batch, name="batch") else np.full(m, m)
    ordered = np.sort(numerators)
    # p-value k may be alpha times rank k over m, for the k surest objects to be accepted
    passing = np.flatnonzero(ordered < smallest_numerators(alpha * (n + 1) / m, ranks))
    n_accepted = int(passing[-1]) + 1 if len(passing) else 0
    least = ordered[n_accepted - 1] if n_accepted else 0
    accepted: BoolArray = numerators <= least
    if n_accepted:
        statement = _state_promise(n_accepted, n, len(wrong), m, alpha, fault, batch=batch)
    else:
        statement = _explain_none(ordered, ranks, n, len(wrong), alpha, fault)
    return Selection(
        accepted,
        numerators / (n + 1),
        new,
        threshold=float(new[accepted].min()) if n_accepted else math.inf,
        alpha=float(alpha),
        n_held_out=n,
        n_wrong=len(wrong),
        statement=statement,
    )


def _state_promise(
    n_accepted: int, n: int, n_wrong: int, m: int, alpha: Fraction, fault: str, *, batch: bool
) -> str:
    """Return how many of m objects are accepted, and what is proven about them."""
    conditions = (
        f"at most {float(alpha):g}, for exchangeable examples, {n} of them held out, {n_wrong} of"
        f" these with {fault} ({PROVED_BY})."
    )
    if batch and m > 1:
        return (
            f"{n_accepted} of {m} objects accepted. The expected share of objects with {fault}"
            f" among the accepted ones is {conditions} It is an average over held-out examples and"
            " batches: one batch may have more."
        )
    return (
        f"{n_accepted} of {m} objects accepted. The probability that an object has {fault} and is"
        f" accepted is {conditions} That is a share of all objects: among the accepted ones it may"
        " be larger. To bound it there, select from a batch of objects at once."
    )


def _explain_none(
    numerators: IntArray, ranks: IntArray, n: int, n_wrong: int, alpha: Fraction, fault: str
) -> str:
    """Return why nothing is accepted and what it would take, from sorted numerators of p-values."""
    level, m = float(alpha), len(ranks)
    none = f"None of {m} objects can be accepted at alpha = {level:g}."
    least = math.ceil(1 / alpha) - 1
    if n < least:
        return (
            f"{none} With {n} held-out examples no p-value is below 1/{n + 1}: at least {least} are"
            " needed, and more where some of the surest are wrong."
        )
    allowed, share = level * ranks / m, (numerators - 1) / n
    enough = allowed > share
    advice = (
        "More held-out examples would not change that; a better model or measure of sureness may."
    )
    if enough.any():
        needed = (1 - allowed[enough]) / (allowed[enough] - share[enough])
        advice = (
            f"With about {math.ceil(needed.min())} held-out examples, and the same share of wrong"
            " ones among the surest, some could be."
        )
    reached = float(np.min(numerators * m / ranks)) / (n + 1)
    return (
        f"{none} {n_wrong} of {n} held-out examples have {fault}, too many of them where the model"
        " is as sure as it is of the new objects: the lowest level at which any is accepted is"
        f" {reached:.3g}. {advice}"
    )


def check_sureness(values: Any, name: str) -> FloatArray:
    """Return one number per object, possibly infinite, or raise ValueError."""
    numbers = as_numbers(values, name=name, shape="(n_objects,)")
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(
            f"{name} must have shape (n_objects,) with at least one object, got shape"
            f" {numbers.shape}. Pass one number per object, the higher the surer."
        )
    array: FloatArray = numbers.astype(np.float64)
    missing = find_entry(np.isnan(array), array)
    if missing:
        raise ValueError(
            f"{name} must be numbers, got {missing}. Give objects without a sureness minus"
            " infinity."
        )
    return array


def _check_right(right: Any, n_held_out: int) -> BoolArray:
    array = as_numbers(right, name="right", shape="(n,)")
    check_same_length(range(n_held_out), array, names=("sureness", "right"))
    wrong = find_entry((array != 0) & (array != 1), array)
    if array.ndim != 1 or wrong:
        raise ValueError(
            "right must hold True or False for each held-out example, got"
            f" {wrong or f'shape {array.shape}'}. Pass whether each prediction is right, for"
            " instance (Y_pred == Y).all(axis=1)."
        )
    correct: BoolArray = array == 1
    return correct

r"""Groups: examples that belong together, such as the pages of one document or the visits of one patient.

Whole groups train or calibrate. What is exchangeable then are the groups, not the examples, and a
new object is one drawn at random from a new group. For M calibration groups of any sizes let f_k be
the share of group k with alpha_i >= alpha. An inductive predictor's p-value is::

    p_H = (sum_k f_k + 1) / (M + 1)

where every example counts 1 / (size of its group). A true labelset has :math:`p_H \le \varepsilon`
with probability at most :math:`\varepsilon` [1]_ [2]_. Proof: draw one of the M + 1 groups, then
one of its examples; given the bag of groups, the new example is such a draw, so the share of this
distribution that is at least as strange as it is a valid p-value, and p_H, for which the new
group's own share is 1, is no smaller. Groups are those of the calibration examples: where some are
left out because of unknown labels, the new object is one of a new group's that would not be.

Where all groups have s examples, those that train as well, examples count alike, which is nearly
the same::

    p = (s sum_k f_k + 1) / (M s + 1)

From :math:`p \le \varepsilon` follows :math:`\sum_k f_k \le F = (\varepsilon (M s + 1) - 1) / s`,
that is :math:`p_H \le \varepsilon + (1 - \varepsilon) (1 - 1/s) / (M + 1)`, which bounds the error.
In K folds, which must not have been chosen by labels, fold k has the valid p-value :math:`p_{H,k}`
of its :math:`M_k` groups under its own model. The mean of these, weighted by :math:`M_k + 1`, is
:math:`(\sum_k f_k + K) / (M + K)`, and twice a weighted mean of p-values is a p-value [3]_: the
error is at most :math:`2 (F + K) / (M + K)`.

Folds of groups of different sizes, smoothing, categories and ``weight=`` have no bound: examples
count alike there, or by their own weights, and a few large groups may outvote the others.

.. [1] Dunn, R., Wasserman, L., Ramdas, A. (2023). Distribution-free prediction sets for two-layer
   hierarchical models. Journal of the American Statistical Association 118, 2491-2502.
.. [2] Lee, Y., Barber, R. F., Willett, R. (2023). Distribution-free inference with hierarchical
   data. arXiv 2306.06342.
.. [3] Vovk, V., Wang, R. (2020). Combining p-values via averaging. Biometrika 107(4), 791-808.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import IntArray, as_array, n_rows
from labelsure.conformal._guarantees import ANY, NOT_BY_LABELS
from labelsure.engine._p_values import GroupWeights, count_groups
from labelsure.predictions import Guarantee
from labelsure.predictions._guarantee import as_promised

PROVED_BY = "Dunn, Wasserman, Ramdas 2023; Lee, Barber, Willett 2023"
UNEQUAL = (
    "exchangeable groups of examples: no smaller bound is proven for groups of different sizes in"
    " folds, nor for groups"
    ' with smoothing, categories, weight= or guarantee="exact", and one example per group, drawn'
    " at random, would have"
    " one"
)


def check_groups(groups: Any, n_examples: int) -> IntArray:
    """Return the number of each example's group, 0, 1, ... in the order of their names, or say what is wrong.

    Examples
    --------
    >>> check_groups(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    names = as_array(groups, name="groups", shape="(n_examples,)")
    if names.ndim != 1 or n_rows(names) != n_examples:
        raise ValueError(
            f"groups must name the group of each of the {n_examples} examples, got an array of"
            f" shape {names.shape}."
        )
    missing = names != names if names.dtype.kind in "fO" else np.zeros(0, dtype=bool)  # noqa: PLR0124 - NaN in any type
    if np.any(missing) or any(name is None for name in names if names.dtype.kind == "O"):
        raise ValueError(
            "groups must name the group of every example, got NaN or None. Give such examples own"
            " groups."
        )
    try:
        numbers: IntArray = np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        raise ValueError("groups must be all numbers or all texts, got a mixture.") from None
    if numbers.max(initial=0) == 0:
        raise ValueError(
            "groups must be at least two: some train, others calibrate. All examples are in one"
            " group."
        )
    return numbers


def check_apart(splits: Sequence[Any], groups: IntArray | None) -> None:
    """Raise ValueError where a group has examples on both sides of a split."""
    if groups is None:
        return
    for k, (train, calibration) in enumerate(splits):
        both = np.flatnonzero(np.isin(groups[calibration], groups[train]))
        if len(both):
            example = int(np.asarray(calibration)[both[0]])
            raise ValueError(
                f"cv must keep every group on one side of a split, but others of example"
                f" {example}'s group train the"
                f" model that it calibrates (fold {k}). Use GroupKFold, or a whole number of folds."
            )


class GroupSizes(NamedTuple):
    """How many examples groups have.

    Attributes
    ----------
    all_groups : int64 array
        All that there are, those that only train too: new ones may be as large.
    calibrating : tuple of int64 arrays
        For each calibration example of each fold, how many of its group calibrate.
    """

    all_groups: IntArray
    calibrating: tuple[IntArray, ...]

    @property
    def all_alike(self) -> bool:
        """Whether all groups have the same size."""
        found = np.concatenate([self.all_groups, *self.calibrating])
        return bool((found == found[0]).all())


def sizes_of_groups(groups: IntArray, folds: Sequence[IntArray]) -> GroupSizes:
    """Return the sizes of groups, given the group of each example and the rows that calibrate in each fold.

    Examples
    --------
    >>> sizes_of_groups(np.array([0, 1, 0, 2]), [np.array([0, 1, 2])])
    GroupSizes(all_groups=array([2, 1, 1]), calibrating=(array([2, 1, 2]),))
    """
    of_folds = []
    for rows in folds:
        _, place, sizes = np.unique(groups[rows], return_inverse=True, return_counts=True)
        of_folds.append(sizes[place.reshape(-1)].astype(np.int64))
    return GroupSizes(np.unique(groups, return_counts=True)[1].astype(np.int64), tuple(of_folds))


def are_weighed(sizes: GroupSizes | None, *, plain: bool, n_incomplete: int = 0) -> bool:
    """Tell whether calibration examples count by the sizes of their groups, instead of alike.

    Parameters
    ----------
    sizes, plain, n_incomplete
        As in :func:`state_groups`; None where examples do not come in groups.
    """
    if sizes is None or not plain or len(sizes.calibrating) > 1:
        return False
    return n_incomplete > 0 or not sizes.all_alike


def state_groups(
    sizes: GroupSizes, *, plain: bool, with_labels: bool = False, n_incomplete: int = 0
) -> Guarantee | None:
    """Return what is proven where examples come in groups; None where every group has one.

    Parameters
    ----------
    sizes : GroupSizes
        How many examples the groups have.
    plain : bool
        Whether p-values are shares of all calibration examples: neither smoothed nor within
        categories nor weighed otherwise, and no draw decides about regions.
    with_labels : bool
        Whether the empty labelset is no candidate.
    n_incomplete : int
        How many examples do not calibrate because some of their labels are unknown.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    >>> print(state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True).sentence(0.2))
    A region at significance 0.2 misses the true labelset with probability at most 0.28, for exchangeable groups of 2
    examples each, 4 of which calibrate, and an object drawn at random from a new group (Dunn, Wasserman, Ramdas 2023;
    Lee, Barber, Willett 2023).
    >>> groups = np.array([0, 1, 1, 2, 2, 2, 3, 3, 4, 4])
    >>> print(state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True).sentence(0.2))
    A region at significance 0.2 misses the true labelset with probability at most 0.2, for exchangeable groups of any
    sizes, 4 of which calibrate, and an object drawn at random from a new group (Dunn, Wasserman, Ramdas 2023; Lee,
    Barber, Willett 2023).
    """
    if (sizes.all_groups == 1).all():
        return None
    folds = [of_fold for of_fold in sizes.calibrating if len(of_fold)]
    n_examples, n_groups = sum(map(len, folds)), sum(map(count_groups, folds))
    each = ", all with at least one label" if with_labels else ""
    least = Fraction(1, n_examples + 1) if plain else None
    if are_weighed(sizes, plain=plain, n_incomplete=n_incomplete):
        weights = GroupWeights.of(folds[0])
        drawn = "an object drawn at random from a new group"
        if n_incomplete:
            drawn = "an object drawn at random from the completely labelled ones of a new group"
        conditions = (
            f"exchangeable groups of any sizes{each}, {n_groups} of which calibrate, and {drawn}"
        )
        least = Fraction(weights.new, weights.denominator)
        return Guarantee(
            "groups", as_promised, conditions, PROVED_BY, "", least, n_groups, "calibration groups"
        )
    if not plain or n_incomplete or not sizes.all_alike:
        return Guarantee("groups", _nothing, UNEQUAL, PROVED_BY, "", least, n_examples)
    size = int(sizes.all_groups[0])
    conditions = f"exchangeable groups of {size} examples each{each}, {n_groups} of which calibrate"
    drawn = ", and an object drawn at random from a new group"
    if len(folds) == 1:
        bound = partial(bound_by_groups, size=size, n_groups=n_groups)
        return Guarantee("groups", bound, conditions + drawn, PROVED_BY, "", least, n_examples)
    bound = partial(bound_in_folds, size=size, n_groups=n_groups, n_folds=len(folds))
    conditions += f" in {len(folds)} folds {NOT_BY_LABELS}, {ANY}{drawn}"
    return Guarantee(
        "groups", bound, conditions, f"Vovk, Wang 2020; {PROVED_BY}", "", least, n_examples
    )


def bound_by_groups(significance: float, *, size: int, n_groups: int) -> float:
    """Return the bound of this module for groups of one size.

    Examples
    --------
    >>> round(bound_by_groups(0.1, size=5, n_groups=99), 4)
    0.1072
    """
    return significance + (1 - significance) * (1 - 1 / size) / (n_groups + 1)


def bound_in_folds(significance: float, *, size: int, n_groups: int, n_folds: int) -> float:
    """Return the bound of this module for groups of one size in folds.

    Examples
    --------
    >>> round(bound_in_folds(0.1, size=5, n_groups=100, n_folds=10), 4)
    0.3604
    """
    most = (significance * (n_groups * size + 1) - 1) / size
    return min(2 * (most + n_folds) / (n_groups + n_folds), 1.0)


def _nothing(significance: float) -> float:  # noqa: ARG001
    return 1.0

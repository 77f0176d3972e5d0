r"""Groups: examples that belong together, such as the pages of one document or the visits of one patient.

Whole groups train or calibrate. What is exchangeable then are the groups, not the examples, and a new object is one of
a new group. For M calibration groups of s examples each, their examples counted alike::

    p = (#{i : alpha_i >= alpha} + 1) / (M s + 1)

misses with probability at most :math:`\varepsilon + (1 - \varepsilon)(1 - 1/s) / (M + 1)`. Proof: draw one of the M + 1
groups, then one of its examples; given the bag of groups, the new example is such a draw, so the share of this
distribution that is at least as strange as it is a valid p-value, and with f_k the share of group k that is, so is the
larger :math:`p_H = (\sum_k f_k + 1) / (M + 1)` [1]_ [2]_. From :math:`p \le \varepsilon` follows
:math:`\sum_k f_k \le (\varepsilon (M s + 1) - 1) / s`, that is :math:`p_H \le \varepsilon + (1 - \varepsilon)
(1 - 1/s) / (M + 1)`. That takes new groups of s examples too, so it is claimed only where all groups have as many,
those that train as well. Groups of different sizes, folds, smoothing and categories have no such bound: a few large
groups may outvote the others. One example per group, drawn at random, is exchangeable with the new one again.

.. [1] Dunn, R., Wasserman, L., Ramdas, A. (2023). Distribution-free prediction sets for two-layer hierarchical models.
   Journal of the American Statistical Association 118, 2491-2502.
.. [2] Lee, Y., Barber, R. F., Willett, R. (2023). Distribution-free inference with hierarchical data. arXiv 2306.06342.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.entries import as_array
from labelsure._core.types import IntArray
from labelsure._core.validation import n_rows
from labelsure.predictions import Guarantee

PROVED_BY = "Dunn, Wasserman, Ramdas 2023; Lee, Barber, Willett 2023"
UNEQUAL = (
    "exchangeable groups of examples: no smaller bound is proven for groups of different sizes, in folds, smoothed or"
    " within categories, and one example per group, drawn at random, would have one"
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
            f"groups must name the group of each of the {n_examples} examples, got an array of shape {names.shape}."
        )
    missing = names != names if names.dtype.kind in "fO" else np.zeros(0, dtype=bool)  # noqa: PLR0124 - NaN in any type
    if np.any(missing) or any(name is None for name in names if names.dtype.kind == "O"):
        raise ValueError("groups must name the group of every example, got NaN or None. Give such examples own groups.")
    try:
        numbers: IntArray = np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        raise ValueError("groups must be all numbers or all texts, got a mixture.") from None
    if numbers.max(initial=0) == 0:
        raise ValueError("groups must be at least two: some train, others calibrate. All examples are in one group.")
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
                f"cv must keep every group on one side of a split, but others of example {example}'s group train the"
                f" model that it calibrates (fold {k}). Use GroupKFold, or a whole number of folds."
            )


class GroupSizes(NamedTuple):
    """How many examples groups have.

    Attributes
    ----------
    all_groups : int64 array
        All that there are, those that only train too: new ones may be as large.
    calibrating : tuple of int64 arrays
        Those of each fold, examples that calibrate counted.
    """

    all_groups: IntArray
    calibrating: tuple[IntArray, ...]


def sizes_of_groups(groups: IntArray, folds: Sequence[IntArray]) -> GroupSizes:
    """Return the sizes of groups, given the group of each example and the rows that calibrate in each fold.

    Examples
    --------
    >>> sizes_of_groups(np.array([0, 1, 0, 2]), [np.array([0, 1, 2])])
    GroupSizes(all_groups=array([2, 1, 1]), calibrating=(array([2, 1]),))
    """
    parts = [groups, *(groups[rows] for rows in folds)]
    everyone, *of_folds = (np.unique(part, return_counts=True)[1].astype(np.int64) for part in parts)
    return GroupSizes(everyone, tuple(of_folds))


def state_groups(sizes: GroupSizes, *, plain: bool, with_labels: bool = False) -> Guarantee | None:
    """Return what is proven where examples come in groups; None where every group has one.

    Parameters
    ----------
    sizes : GroupSizes
        How many examples the groups have.
    plain : bool
        Whether p-values are the shares of all calibration examples: neither smoothed nor within categories, and no
        draw decides about regions.
    with_labels : bool
        Whether the empty labelset is no candidate.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    >>> print(state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True).sentence(0.2))
    A region at significance 0.2 misses the true labelset with probability at most 0.28, for exchangeable groups of 2
    examples each, 4 of which calibrate, and an object drawn at random from a new group (Dunn, Wasserman, Ramdas 2023;
    Lee, Barber, Willett 2023).
    """
    if (sizes.all_groups == 1).all():
        return None
    n_examples = int(np.concatenate(sizes.calibrating).sum())
    least = Fraction(1, n_examples + 1) if plain else None
    found = np.unique(np.concatenate([sizes.all_groups, *sizes.calibrating]))
    if not plain or len(sizes.calibrating) > 1 or len(found) > 1:
        return Guarantee("groups", _nothing, UNEQUAL, PROVED_BY, "", least, n_examples)
    size, n_groups = int(found[0]), len(sizes.calibrating[0])
    each = ", all with at least one label" if with_labels else ""
    conditions = (
        f"exchangeable groups of {size} examples each{each}, {n_groups} of which calibrate, and an object drawn at"
        " random from a new group"
    )
    bound = partial(bound_by_groups, size=size, n_groups=n_groups)
    return Guarantee("groups", bound, conditions, PROVED_BY, "", least, n_examples)


def bound_by_groups(significance: float, *, size: int, n_groups: int) -> float:
    """Return the bound of this module for groups of one size.

    Examples
    --------
    >>> round(bound_by_groups(0.1, size=5, n_groups=99), 4)
    0.1072
    """
    return significance + (1 - significance) * (1 - 1 / size) / (n_groups + 1)


def _nothing(significance: float) -> float:  # noqa: ARG001
    return 1.0

"""How calibration examples count: merged folds, e-values for one level, weights, groups.

Every rule weighs a fold's count c = #{calibration scores at least the labelset's own}, that is the
fold's p-value p_k = (c + 1) / (|S_k| + 1), and adds the weights up.

A p-value of a fold of m calibration examples is one of k / (m + 1), k = 1 .. m + 1, and at least as
large as a uniform draw from these. So a falling function that averages to at most 1 over them is an
e-value: its expectation at the true labelset is at most 1. It says how much the p-value speaks
against a labelset at the given level.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure._random import DRAW_UNIT
from labelsure.engine._p_values import LARGEST, GroupWeights, sum_largest
from labelsure.engine._weighing import Weighing

WEIGHT_UNITS = 2**30
"""Weights are whole numbers of 2^-30 of the largest calibration weight."""

E_VALUE_SCALE = 2**36
"""E-values times eps are rounded down to multiples of 2^-36: regions only get larger."""

ROUNDING = 1 - 1e-9
"""Far more than the floating-point error; e-values are made that much smaller."""


@dataclass(frozen=True, eq=False)
class Merging:
    """How the folds' counts are merged for a batch of objects.

    Attributes
    ----------
    exact : bool
        Whether e-values decide about regions, instead of p-values.
    draws : int64 array of shape (n,)
        One number from 1 to DRAW_UNIT per object, for e-values.
    smoothing : int64 array of shape (n,) or None
        The draws of smoothed p-values.
    """

    exact: bool
    draws: IntArray
    smoothing: IntArray | None = None

    def take(self, objects: IntArray) -> "Merging":
        """Return the same for some of the objects."""
        smoothing = None if self.smoothing is None else self.smoothing[objects]
        return Merging(self.exact, self.draws[objects], smoothing)

    def weighing(self, sizes: Sequence[int]) -> Weighing:
        """Return the weighing of p-values from folds with this many calibration examples each."""
        if self.smoothing is not None:
            return Weighing.smoothed(sum(sizes), self.smoothing)
        return Weighing.plain(sum(sizes), len(self.draws))

    def weighing_at(self, sizes: Sequence[int]) -> Callable[[Fraction], Weighing] | None:
        """Return the weighing that decides about regions at a level; None where p-values do."""
        return partial(weigh_e_values, sizes=tuple(sizes), draws=self.draws) if self.exact else None


def weigh_e_values(significance: Fraction, *, sizes: tuple[int, ...], draws: IntArray) -> Weighing:
    """Return the weighing whose positive numerators are those of a region's members.

    A labelset is a member while the mean over the folds of eps E(p_k) is below the object's draw U:
    the numerator is the sum of 1 - eps E(p_k), less K (1 - U). Folds without calibration examples
    have no say; where no fold has any, everything is a member.
    """
    n_folds = len(sizes) - sizes.count(0)
    start = n_folds * (draws * (E_VALUE_SCALE // DRAW_UNIT) - E_VALUE_SCALE)
    return Weighing.ruled(complements(sizes, significance), start if n_folds else start + 1, 1)


def steep_e_values(size: int, significance: Fraction) -> FloatArray:
    """Return eps F((c + 1) / (size + 1)) for each count c = 0 .. size, F steep at eps (P2E).

    F(p) = (1 + e^{C (eps - s)}) / (eps (1 + e^{C (p - s)})) with s half-way between eps and the
    next value that p can take, and C such that F averages to 1 over the grid. Where eps is on the
    grid, F(p) = 1{p <= eps} / eps.

    Parameters
    ----------
    size : int
        Calibration examples in the fold.
    significance : Fraction
        Between 0 and 1.

    References
    ----------
    Alami, N., Zakharia, J., Ben Taieb, S. (2026). arXiv 2606.03600.

    Examples
    --------
    >>> from fractions import Fraction
    >>> steep_e_values(3, Fraction(1, 2)).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> float(steep_e_values(10, Fraction(1, 8)).mean().round(6))
    0.125
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    level = float(significance)
    n_values = size + 1
    below = math.floor(significance * n_values)
    if significance * n_values == below:
        return (np.arange(1, n_values + 1) <= below).astype(np.float64)
    grid = np.arange(1, n_values + 1) / n_values
    middle = (level + (below + 1) / n_values) / 2

    def values(steepness: float) -> FloatArray:
        scaled: FloatArray = expit(-steepness * (grid - middle)) / expit(
            -steepness * (level - middle)
        )
        return scaled

    steepest = 1.0
    while values(steepest).mean() > level:
        steepest *= 2
    return (
        values(float(brentq(lambda steepness: values(steepness).mean() - level, 0.0, steepest)))
        * ROUNDING
    )


def complements(sizes: tuple[int, ...], significance: Fraction) -> IntArray:
    """Return 1 - eps E in units of 1 / E_VALUE_SCALE for each fold and count, (K, largest + 1).

    Nothing is added for a fold without calibration examples.
    """
    table = np.zeros((len(sizes), max(sizes) + 1), dtype=np.int64)
    for size in set(sizes) - {0}:
        scaled = np.floor(steep_e_values(size, significance) * E_VALUE_SCALE).astype(np.int64)
        table[np.array(sizes) == size] = np.pad(
            E_VALUE_SCALE - scaled, (0, max(sizes) - size), mode="edge"
        )
    return table


def weigh_densities(scores: IntArray, weights: FloatArray, new_weights: FloatArray) -> Weighing:
    """Return the weighing of p = (sum of w_i over {i: alpha_i >= alpha} + w) / (sum of w_i + w).

    Parameters
    ----------
    scores, weights : arrays of shape (m,)
        Of the calibration examples.
    new_weights : array of shape (n,)
        Of the new objects.
    """
    unit = weights.max() / WEIGHT_UNITS
    own = np.rint(weights / unit).astype(np.int64)
    # beyond, p-values are 1 either way
    new = np.minimum(np.rint(new_weights / unit), LARGEST).astype(np.int64)
    of_largest = sum_largest(scores, own)
    return Weighing.ruled(of_largest[None], new, np.maximum(of_largest[-1] + new, 1))


def weigh_groups(scores: IntArray, sizes: IntArray, n_objects: int) -> Weighing:
    """Return the weighing of p = (sum_k f_k + 1) / (M + 1), f_k a share of group k.

    Parameters
    ----------
    scores, sizes : int64 arrays of shape (m,)
        Of the calibration examples, and of their groups.
    n_objects : int
        The number of new objects.
    """
    weights = GroupWeights.of(sizes)
    start = np.full(n_objects, weights.new, dtype=np.int64)
    return Weighing.ruled(sum_largest(scores, weights.examples)[None], start, weights.denominator)


class GroupSizes(NamedTuple):
    """How many examples groups have.

    Attributes
    ----------
    all_groups : int64 array
        The sizes of all groups, also those that only train: a new group may be as large.
    calibrating : tuple of int64 arrays
        For each calibration example of each fold, how many of its group calibrate.
    """

    all_groups: IntArray
    calibrating: tuple[IntArray, ...]

    @property
    def all_alike(self) -> bool:
        """Whether all groups have the same size."""
        sizes = np.concatenate([self.all_groups, *self.calibrating])
        return bool((sizes == sizes[0]).all())

    def count_by_size(self, *, plain: bool, n_incomplete: int = 0) -> bool:
        """Tell whether calibration examples count by the sizes of their groups, instead of alike.

        Parameters
        ----------
        plain, n_incomplete
            As in :func:`state_groups`.
        """
        unlike = n_incomplete > 0 or not self.all_alike
        return plain and unlike and len(self.calibrating) == 1


def sizes_of_groups(groups: IntArray | None, folds: Sequence[IntArray]) -> GroupSizes | None:
    """Return the sizes of groups, given each example's group and the rows that calibrate.

    Examples
    --------
    >>> sizes_of_groups(np.array([0, 1, 0, 2]), [np.array([0, 1, 2])])
    GroupSizes(all_groups=array([2, 1, 1]), calibrating=(array([2, 1, 2]),))
    """
    if groups is None:
        return None
    calibrating = []
    for rows in folds:
        _, numbers, sizes = np.unique(groups[rows], return_inverse=True, return_counts=True)
        calibrating.append(sizes[numbers.reshape(-1)].astype(np.int64))
    all_groups = np.unique(groups, return_counts=True)[1].astype(np.int64)
    return GroupSizes(all_groups, tuple(calibrating))

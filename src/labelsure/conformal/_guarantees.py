"""Guarantees as a choice: how the folds' p-values are merged. What is proven about each is in ``_statements``.

Every rule weighs a fold's count c = #{calibration scores at least the labelset's own}, that is its p-value
p_k = (c + 1) / (|S_k| + 1), and adds the weights up, or takes the least of the running sums.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray
from labelsure._core.validation import check_choice
from labelsure.conformal._e_values import (
    E_VALUE_SCALE,
    ECalibrator,
    complements,
    linear_e_values,
    steep_e_values,
)
from labelsure.labelsets import Weighing

COMMON_BITS = 28
"""Two numbers below 2^28 and a sum over folds of their products stay within int64."""


@dataclass(frozen=True)
class Kind:
    """One of the guarantees there are.

    Attributes
    ----------
    proved_by : str
        Where it was proven.
    p_values : callable or None
        From the folds' sizes and one draw per object to the weighing of p-values; None is the paper's sum of counts.
    e_values : callable or None
        The e-values by which regions at a level are decided; None: regions are those of the p-values.
    prefixes : bool
        Whether running means over the folds are followed, which needs folds of equal size in random order.
    randomised : bool
        Whether it looks at the draws.
    """

    proved_by: str
    p_values: Callable[[Sequence[int], IntArray], Weighing] | None = None
    e_values: ECalibrator | None = None
    prefixes: bool = False
    randomised: bool = False


def twice_mean(sizes: Sequence[int], draws: IntArray) -> Weighing:
    """Return the weighing of twice the mean of the p_k, a p-value whatever their dependence."""
    weights, unit = _fold_p_values(sizes)
    nothing = np.zeros(len(draws), dtype=np.int64)
    return Weighing.ruled(2 * weights, nothing, len(sizes) * unit)


def running_mean(sizes: Sequence[int], draws: IntArray) -> Weighing:
    """Return the weighing of twice the smallest running mean of the p_k, a p-value where they are exchangeable."""
    return _least_prefix(sizes, draws, lambda common, _: common)


def randomised_running_mean(sizes: Sequence[int], draws: IntArray) -> Weighing:
    """Return the same with p_1 / (2 - U) instead of p_1 as the first running mean, U the object's draw."""
    return _least_prefix(sizes, draws, lambda common, draw: -(-common * DRAW_UNIT // (2 * DRAW_UNIT - draw)))


P2E = "Alami, Zakharia, Ben Taieb 2026; Ramdas, Manole 2023"

GUARANTEES: dict[str, Kind] = {
    "cross": Kind("Vovk, Wang 2020; Barber, Candes, Ramdas, Tibshirani 2021"),
    "exact": Kind(P2E, e_values=steep_e_values, randomised=True),
    "exact-deterministic": Kind(P2E, e_values=steep_e_values),
    "exact-prefix": Kind(P2E, e_values=steep_e_values, prefixes=True),
    "twice-mean": Kind("Rueschendorf 1982; Vovk, Wang 2020, 2021", twice_mean, linear_e_values),
    "e-mod": Kind("Gasparin, Ramdas 2025", running_mean, linear_e_values, prefixes=True),
    "eu-mod": Kind("Gasparin, Ramdas 2025", randomised_running_mean, prefixes=True, randomised=True),
}
"""What can be asked for, see the notes of CrossConformalClassifier."""


def check_guarantee(guarantee: str, *, smoothed: bool, one_fold: bool = False, within_categories: bool = False) -> Kind:
    """Return the kind of guarantee with this name, or raise ValueError where it does not go with the other choices."""
    kind = GUARANTEES[check_choice(guarantee, tuple(GUARANTEES), name="guarantee")]
    if guarantee == "cross":
        return kind
    if smoothed:
        raise ValueError(
            f"smoothed=True goes with guarantee='cross' only, got guarantee={guarantee!r}:"
            " the other rules are proven for whole counts."
        )
    if one_fold:
        raise ValueError(
            f"guarantee={guarantee!r} merges the p-values of at least two folds, got one fold."
            " An inductive predictor is exact already: leave guarantee out."
        )
    if within_categories and kind.prefixes:
        raise ValueError(
            f"guarantee={guarantee!r} needs folds of equal size, and a category has another number of examples in every"
            " fold. Within categories choose 'cross', 'exact', 'exact-deterministic' or 'twice-mean'."
        )
    return kind


def check_fold_sizes(guarantee: str, sizes: Sequence[int]) -> None:
    """Raise ValueError where the proof needs several folds, or folds of equal size, and these are not."""
    kind = check_guarantee(guarantee, smoothed=False, one_fold=len(sizes) == 1)
    if kind.prefixes and len(set(sizes)) > 1:
        raise ValueError(
            f"guarantee={guarantee!r} is proven for folds of equal size, got sizes from {min(sizes)} to {max(sizes)}."
            " Pass cv as a whole number, which makes equal folds, or choose guarantee='exact', 'exact-deterministic' or"
            " 'twice-mean'."
        )


@dataclass(frozen=True, eq=False)
class Merging:
    """How counts are merged for a batch of objects.

    Attributes
    ----------
    kind : Kind
        By which guarantee.
    draws : int64 array of shape (n,)
        One number from 1 to DRAW_UNIT per object, where the guarantee looks at them.
    smoothing : int64 array of shape (n,) or None
        The draws of smoothed p-values.
    """

    kind: Kind
    draws: IntArray
    smoothing: IntArray | None = None

    def take(self, objects: IntArray) -> "Merging":
        """Return the same for some of the objects."""
        smoothing = None if self.smoothing is None else self.smoothing[objects]
        return Merging(self.kind, self.draws[objects], smoothing)

    def weighing(self, sizes: Sequence[int]) -> Weighing:
        """Return the weighing of p-values from folds with this many calibration examples each."""
        if self.kind.p_values is not None:
            return self.kind.p_values(sizes, self.draws)
        return self.counting(sizes)

    def counting(self, sizes: Sequence[int]) -> Weighing:
        """Return the weighing of the paper's p-values, which add the folds' counts up."""
        if self.smoothing is not None:
            return Weighing.smoothed(sum(sizes), self.smoothing)
        return Weighing.plain(sum(sizes), len(self.draws))

    def weighing_at(self, sizes: Sequence[int]) -> Callable[[Fraction], Weighing] | None:
        """Return the weighing that decides about regions at a level; None where p-values do."""
        if self.kind.e_values is None:
            return None
        return partial(weigh_e_values, kind=self.kind, sizes=tuple(sizes), draws=self.draws)


def weigh_e_values(significance: Fraction, *, kind: Kind, sizes: tuple[int, ...], draws: IntArray) -> Weighing:
    """Return the weighing whose positive numerators are those of a region's members.

    A labelset is a member while the mean over the folds of eps E(p_k) is below 1, or below the object's draw U: the
    numerator is the sum of 1 - eps E(p_k), less K (1 - U). Folds without calibration examples have no say; where none
    has any, everything is a member.
    """
    assert kind.e_values is not None
    nothing = np.zeros(len(draws), dtype=np.int64)
    n_folds = len(sizes) - sizes.count(0)
    start = n_folds * (draws * (E_VALUE_SCALE // DRAW_UNIT) - E_VALUE_SCALE) if kind.randomised else nothing
    return Weighing.ruled(
        complements(kind.e_values, sizes, significance),
        start if n_folds else nothing + 1,
        1,
        multipliers=np.ones(len(sizes), dtype=np.int64) if kind.prefixes else None,
    )


def _least_prefix(sizes: Sequence[int], draws: IntArray, first: Callable[[int, int], int]) -> Weighing:
    weights, unit = _fold_p_values(sizes)
    common = _scaled_up(math.lcm(*range(1, len(sizes) + 1)))
    return Weighing.ruled(
        2 * weights,
        np.zeros(len(draws), dtype=np.int64),
        unit * common,
        multipliers=np.array([-(-common // t) for t in range(1, len(sizes) + 1)], dtype=np.int64),
        first=np.array([first(common, int(draw)) for draw in draws], dtype=np.int64),
    )


def _fold_p_values(sizes: Sequence[int]) -> tuple[IntArray, int]:
    """Return p_k for each fold and count in units of 1 over a whole number, and that number; rounded up if need be."""
    unit = _scaled_up(math.lcm(*(size + 1 for size in sizes)))
    table = [[-(-min(count + 1, size + 1) * unit // (size + 1)) for count in range(max(sizes) + 1)] for size in sizes]
    return np.array(table, dtype=np.int64), unit


def _scaled_up(whole: int) -> int:
    """Return a multiple of a whole number a little below 2^COMMON_BITS, or that power where the number is larger."""
    largest: int = 2**COMMON_BITS
    return largest // whole * whole if whole <= largest else largest

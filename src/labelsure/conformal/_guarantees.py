"""Guarantees as a choice: what the folds' p-values are merged into, and what is proven about it.

With m_k calibration examples in fold k, and c_k of their scores at least as large as a labelset's own, the fold's
p-value is p_k = (c_k + 1) / (m_k + 1). Each p_k alone is valid; the folds share training data, so they depend on each
other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from labelsure._core.types import IntArray
from labelsure._core.validation import check_choice
from labelsure.conformal._p_to_e import scaled_e_values
from labelsure.labelsets import DRAW_UNIT, Weighing
from labelsure.predictions import Guarantee, NoGuarantee, as_promised

COMMON_BITS = 28
"""Two numbers below 2^28 and a sum over folds of their products stay within int64."""

E_VALUE_SCALE = 2**36
"""E-values times eps are rounded down to whole numbers of 2^-36, which only makes regions larger."""

EXCHANGEABLE = "exchangeable examples and a learner that does not depend on their order"


@dataclass(frozen=True, eq=False)
class Merging:
    """How an engine merges folds.

    Attributes
    ----------
    weighing : Weighing or None
        For p-values; None is the paper's sum of counts.
    rule_at : callable or None
        From a significance to the rule for regions, where that is another one.
    """

    weighing: Weighing | None = None
    weighing_at: Callable[[Fraction], Weighing] | None = None


@dataclass(frozen=True)
class Kind:
    """One of the guarantees there are.

    Attributes
    ----------
    merge : callable
        From the folds' sizes and one draw per object (whole numbers of 1 / DRAW_UNIT) to the merging.
    equal_folds : bool
        Whether the proof needs folds of equal size in random order.
    randomised : bool
        Whether it looks at the draws.
    proved_by : str
        Where it was proven.
    """

    merge: Callable[[Sequence[int], IntArray], Merging]
    proved_by: str
    equal_folds: bool = False
    randomised: bool = False


def merge_none(sizes: Sequence[int], draws: IntArray) -> Merging:  # noqa: ARG001
    """Leave the counts to be added up, as the paper does."""
    return Merging()


def merge_twice_mean(sizes: Sequence[int], draws: IntArray) -> Merging:
    """Merge into twice the mean of the p_k, a p-value whatever their dependence."""
    weights, unit = _fold_p_values(sizes)
    nothing = np.zeros(len(draws), dtype=np.int64)
    denominators = np.full(len(draws), len(sizes) * unit, dtype=np.int64)
    return Merging(Weighing.ruled(2 * weights, nothing, denominators))


def merge_running_mean(sizes: Sequence[int], draws: IntArray) -> Merging:
    """Merge into twice the smallest running mean of the p_k, a p-value where they are exchangeable."""
    return _merge_prefixes(sizes, len(draws), lambda common: np.full(len(draws), common))


def merge_randomised_running_mean(sizes: Sequence[int], draws: IntArray) -> Merging:
    """Do the same with p_1 / (2 - U) instead of p_1 as the first running mean, U the object's draw."""

    def first_multipliers(common: int) -> IntArray:
        return np.array([-(-common * DRAW_UNIT // (2 * DRAW_UNIT - int(draw))) for draw in draws], dtype=np.int64)

    return _merge_prefixes(sizes, len(draws), first_multipliers)


def merge_e_values(sizes: Sequence[int], draws: IntArray) -> Merging:
    """Keep the labelsets whose mean e-value stays below U / eps, U the object's draw."""
    return Merging(weighing_at=partial(_e_value_rule, sizes=tuple(sizes), draws=draws))


def merge_e_value_prefixes(sizes: Sequence[int], draws: IntArray) -> Merging:
    """Keep the labelsets whose e-values' running mean never reaches 1 / eps."""
    return Merging(weighing_at=partial(_e_value_prefix_rule, sizes=tuple(sizes), n_objects=len(draws)))


GUARANTEES: dict[str, Kind] = {
    "cross": Kind(merge_none, "Barber, Candes, Ramdas, Tibshirani 2021"),
    "exact": Kind(merge_e_values, "Alami, Zakharia, Ben Taieb 2026; Ramdas, Manole 2023", randomised=True),
    "exact-deterministic": Kind(
        merge_e_value_prefixes, "Alami, Zakharia, Ben Taieb 2026; Ramdas, Manole 2023", equal_folds=True
    ),
    "twice-mean": Kind(merge_twice_mean, "Rueschendorf 1982; Vovk, Wang 2020"),
    "e-mod": Kind(merge_running_mean, "Gasparin, Ramdas 2025", equal_folds=True),
    "eu-mod": Kind(merge_randomised_running_mean, "Gasparin, Ramdas 2025", equal_folds=True, randomised=True),
}


INDUCTIVE = Guarantee(
    "inductive",
    as_promised,
    "exchangeable examples",
    "Papadopoulos, Proedrou, Vovk, Gammerman 2002; Vovk, Gammerman, Shafer 2005",
)
WITHIN_CATEGORIES = Guarantee(
    "mondrian",
    as_promised,
    "exchangeable examples, within each category",
    "Vovk, Gammerman, Shafer 2005",
)
FULL = Guarantee(
    "full",
    as_promised,
    EXCHANGEABLE,
    "Vovk, Gammerman, Shafer 2005",
)


def check_guarantee(guarantee: str) -> Kind:
    """Return the kind of guarantee with this name."""
    return GUARANTEES[check_choice(guarantee, tuple(GUARANTEES), name="guarantee")]


def merge_folds(guarantee: str, sizes: Sequence[int], draws: IntArray, *, smoothed: bool) -> Merging:
    """Return how an engine merges folds of these sizes, or raise ValueError where the proof does not hold.

    Parameters
    ----------
    guarantee : str
        One of ``GUARANTEES``.
    sizes : sequence of int
        Calibration examples in each fold.
    draws : int64 array of shape (n_objects,)
        From 1 to DRAW_UNIT, one per object.
    smoothed : bool
        Whether the user asked for smoothed p-values, which only go with "cross".
    """
    kind = check_guarantee(guarantee)
    if guarantee != "cross":
        if smoothed:
            raise ValueError(f"smoothed=True goes with guarantee='cross' only, got guarantee={guarantee!r}.")
        if len(sizes) < 2:
            raise ValueError(
                f"guarantee={guarantee!r} merges the p-values of at least two folds, got one fold."
                " An inductive predictor is exact already: use InductiveConformalClassifier."
            )
    if kind.equal_folds and len(set(sizes)) > 1:
        raise ValueError(
            f"guarantee={guarantee!r} is proven for folds of equal size, got sizes from {min(sizes)} to {max(sizes)}."
            " Pass cv as a whole number, which makes equal folds, or choose guarantee='exact' or 'twice-mean'."
        )
    return kind.merge(sizes, draws)


def state_guarantee(guarantee: str, sizes: Sequence[int]) -> Guarantee:
    """Return what is proven for folds of these sizes; one fold is an inductive predictor."""
    kind = check_guarantee(guarantee)
    if len(sizes) == 1:
        return INDUCTIVE
    if guarantee == "cross":
        return Guarantee(
            guarantee,
            partial(cross_error_bound, n_examples=sum(sizes), n_folds=len(sizes)),
            f"{sum(sizes)} {EXCHANGEABLE.replace('examples', 'examples in ' + str(len(sizes)) + ' folds')}",
            kind.proved_by,
            "For stable learners the error is close to the significance in practice (Papadopoulos 2014).",
        )
    conditions = EXCHANGEABLE + (", folds of equal size in random order" if kind.equal_folds else "")
    return Guarantee(guarantee, as_promised, conditions, kind.proved_by)


def state_guarantee_of_labelsets(guarantee: str, sizes: Sequence[int], *, smoothed: bool) -> Guarantee | NoGuarantee:
    """Return the same for p-values that may be smoothed, which is proven to keep them valid for one fold only."""
    if smoothed and len(sizes) > 1:
        return NoGuarantee("smoothed cross-conformal p-values")
    return state_guarantee(guarantee, sizes)


def cross_error_bound(significance: float, n_examples: int, n_folds: int) -> float:
    """Return the proven bound of the error of the paper's cross-conformal regions.

    The smaller of 2 eps + 2 (1 - eps)(1 - 1/K) / (n/K + 1) and 2 eps + (1 - K/n) / (K + 1), proven for n/K a whole
    number (Barber, Candes, Ramdas, Tibshirani 2021, theorem 4).

    Examples
    --------
    >>> [round(1 - cross_error_bound(eps, 1211, 12), 3) for eps in (0.05, 0.1, 0.2)]
    [0.883, 0.784, 0.586]
    """
    by_size = 2 * (1 - significance) * (1 - 1 / n_folds) / (n_examples / n_folds + 1)
    by_number = (1 - n_folds / n_examples) / (n_folds + 1)
    return 2 * significance + min(by_size, by_number)


def _e_value_rule(significance: Fraction, *, sizes: Sequence[int], draws: IntArray) -> Weighing:
    start = len(sizes) * (draws * (E_VALUE_SCALE // DRAW_UNIT) - E_VALUE_SCALE)
    return Weighing.ruled(_complements(sizes, significance), start, 1)


def _e_value_prefix_rule(significance: Fraction, *, sizes: Sequence[int], n_objects: int) -> Weighing:
    nothing = np.zeros(n_objects, dtype=np.int64)
    multipliers = np.ones(len(sizes), dtype=np.int64)
    return Weighing.ruled(_complements(sizes, significance), nothing, 1, multipliers=multipliers)


def _merge_prefixes(sizes: Sequence[int], n_objects: int, first: Callable[[int], IntArray]) -> Merging:
    weights, unit = _fold_p_values(sizes)
    common = _scaled_up(math.lcm(*range(1, len(sizes) + 1)))
    multipliers = np.array([-(-common // t) for t in range(1, len(sizes) + 1)], dtype=np.int64)
    start = np.zeros(n_objects, dtype=np.int64)
    return Merging(Weighing.ruled(2 * weights, start, unit * common, multipliers=multipliers, first=first(common)))


def _fold_p_values(sizes: Sequence[int]) -> tuple[IntArray, int]:
    """Return p_k for each fold and count in units of 1 over a whole number, and that number; rounded up if need be."""
    unit = _scaled_up(math.lcm(*(size + 1 for size in sizes)))
    table = [[-(-min(count + 1, size + 1) * unit // (size + 1)) for count in range(max(sizes) + 1)] for size in sizes]
    return np.array(table, dtype=np.int64), unit


def _scaled_up(whole: int) -> int:
    """Return a multiple of a whole number a little below 2^COMMON_BITS, or that power where the number is larger."""
    largest: int = 2**COMMON_BITS
    return largest // whole * whole if whole <= largest else largest


def _complements(sizes: Sequence[int], significance: Fraction) -> IntArray:
    """Return 1 - eps F(p_k) for each fold and count in units of 1 / E_VALUE_SCALE, (K, largest size + 1)."""
    scaled = {size: np.floor(scaled_e_values(size, significance) * E_VALUE_SCALE) for size in set(sizes)}
    rows = [np.pad(scaled[size], (0, max(sizes) - size), mode="edge") for size in sizes]
    return E_VALUE_SCALE - np.stack(rows).astype(np.int64)

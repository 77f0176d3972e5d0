"""Guarantees as a choice: which rule merges the folds' p-values, what goes with it, and what is proven of regions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray
from labelsure._core.validation import check_choice
from labelsure.conformal._rules import (
    E_VALUE_SCALE,
    ECalibrator,
    complements,
    linear_e_values,
    running_mean,
    steep_e_values,
    twice_mean,
)
from labelsure.labelsets import Weighing
from labelsure.predictions import Guarantee, as_promised

SHIFTED = (
    "independent examples{}, labels that depend on the object as they did in calibration, and weights that are the true"
    " ratios of the objects' densities, up to rounding to 2^-30"
)
AVERAGED = ", on average over the draws, one per object and the same for equal objects"
STABLE = "For stable learners the error is close to the significance in practice (Papadopoulos 2014)."

ANY, SYMMETRIC = "any learner", "a learner that does not depend on their order"
P2E = "Alami, Zakharia, Ben Taieb 2026; Ramdas, Manole 2023"
BOOK = "Vovk, Gammerman, Shafer 2005"


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


GUARANTEES: dict[str, Kind] = {
    "cross": Kind("Vovk, Wang 2020; Barber, Candes, Ramdas, Tibshirani 2021"),
    "exact": Kind(P2E, e_values=steep_e_values, randomised=True),
    "exact-deterministic": Kind(P2E, e_values=steep_e_values),
    "exact-prefix": Kind(P2E, e_values=steep_e_values, prefixes=True),
    "twice-mean": Kind("Rueschendorf 1982; Vovk, Wang 2020, 2021", twice_mean, linear_e_values),
    "e-mod": Kind("Gasparin, Ramdas 2025", running_mean, linear_e_values, prefixes=True),
    "eu-mod": Kind("Gasparin, Ramdas 2025", partial(running_mean, randomised=True), prefixes=True, randomised=True),
}
"""What can be asked for, see the notes of CrossConformalClassifier."""

UNMERGED = {
    "full": Kind(BOOK),
    "inductive": Kind(f"Papadopoulos, Proedrou, Vovk, Gammerman 2002; {BOOK}"),
    "mondrian": Kind(BOOK),
    "weighted": Kind("Tibshirani, Barber, Candes, Ramdas 2019"),
}
"""What is proven where there is one model, or one fold in each category."""


def check_guarantee(
    guarantee: str,
    *,
    smoothed: bool = False,
    one_fold: bool = False,
    within_categories: bool = False,
    sizes: Sequence[int] = (),
) -> None:
    """Raise ValueError where a guarantee does not go with the other choices, or with the folds' sizes once known."""
    kind = GUARANTEES[check_choice(guarantee, tuple(GUARANTEES), name="guarantee")]
    if guarantee == "cross":
        return
    if smoothed:
        raise ValueError(
            f"smoothed=True goes with guarantee='cross' only, got guarantee={guarantee!r}:"
            " the other rules are proven for whole counts."
        )
    if one_fold or len(sizes) == 1:
        raise ValueError(
            f"guarantee={guarantee!r} merges the p-values of at least two folds, got one fold."
            " An inductive predictor is exact already: leave guarantee out."
        )
    if within_categories and kind.prefixes:
        raise ValueError(
            f"guarantee={guarantee!r} needs folds of equal size, and a category has another number of examples in every"
            " fold. Within categories choose 'cross', 'exact', 'exact-deterministic' or 'twice-mean'."
        )
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

    def weighing(self, sizes: Sequence[int], *, within_category: bool = False) -> Weighing:
        """Return the weighing of p-values from folds with this many calibration examples each.

        Within a category these are always the paper's, which add the folds' counts up.
        """
        if self.kind.p_values is not None and not within_category:
            return self.kind.p_values(sizes, self.draws)
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


def state_guarantee(
    name: str,
    sizes: Sequence[Sequence[int]],
    *,
    within_categories: bool = False,
    complementary: bool = False,
    smoothed: bool = False,
    with_labels: bool = False,
) -> Guarantee:
    """Return what is proven about regions.

    Given the categories of all examples, those of one category in a fold and a new one of it are exchangeable. So
    whatever is proven from the folds' p-values holds for the category's; categories without examples are never missed.

    Parameters
    ----------
    name : str
        One of ``GUARANTEES``, or "full", "inductive" or "weighted" where nothing is merged.
    sizes : sequence of sequences of int
        Of each category, each fold's calibration examples; one where there are no categories.
    within_categories : bool
        Whether p-values are counted within categories.
    complementary : bool
        Whether every fold's model was trained on all other examples.
    smoothed : bool
        Whether p-values are smoothed: over their draws they are uniform, and may be as small as you like.
    with_labels : bool
        Whether the empty labelset is no candidate.
    """
    counts = [[size for size in of_category if size] for of_category in sizes if any(of_category)]
    if within_categories and name == "cross" and all(len(of_category) == 1 for of_category in counts):
        name = "mondrian"
    kind, n_examples = (GUARANTEES | UNMERGED)[name], sum(map(sum, counts))
    each = " with at least one label each" if with_labels else ""
    bound: Callable[[float], float] = as_promised
    conditions, at_level = f"exchangeable examples{each}", None
    if name == "weighted":
        conditions = SHIFTED.format(each)
    elif name == "full":
        conditions += ", on average over the examples' random order"
    elif within_categories:
        conditions += ", within each category"
        if name == "cross":
            bound = partial(_worst_bound, counts)
            conditions += f", of which the smallest has {min(map(sum, counts))} examples"
    elif name == "cross":
        bound = partial(bound_by_size, sizes=counts[0])
        conditions = f"{n_examples} {conditions} in {len(counts[0])} folds and {ANY}"
    elif kind.prefixes:
        conditions += " in folds of equal size and random order"
    if smoothed or kind.randomised:
        conditions += AVERAGED
    elif name == "cross" and complementary and not within_categories:
        bound = partial(_smaller_bound, sizes=counts[0])
        at_level = partial(_name_learner, conditions=conditions, sizes=counts[0])
    added_up = kind.p_values is None and kind.e_values is None  # else each fold has a p-value of its own
    least = min(Fraction(1, (sum(of_category) if added_up else max(of_category)) + 1) for of_category in counts)
    vacuous_below = None if smoothed or name in ("exact", "weighted") else least
    remark = STABLE if name == "cross" and not within_categories else ""
    return Guarantee(name, bound, at_level or conditions, kind.proved_by, remark, vacuous_below, n_examples)


def bound_by_size(significance: float, sizes: Sequence[int]) -> float:
    """Return a bound of the error of the paper's cross-conformal regions, for any folds and any learner.

    The mean of the p_k, weighted by |S_k| + 1, is ((n + 1) p + K - 1) / (n + K), and twice a weighted mean of p-values
    is a p-value (Vovk, Wang 2020). Smoothing leaves the bound as it is.

    Examples
    --------
    >>> round(bound_by_size(0.05, [150] * 10), 4)
    0.1113
    """
    n_examples, n_folds = sum(sizes), len(sizes)
    return 2 * significance + 2 * (1 - significance) * (n_folds - 1) / (n_examples + n_folds)


def bound_by_tournament(significance: float, sizes: Sequence[int]) -> float:
    """Return another, for models trained on all other examples by a learner that does not depend on their order.

    Put the new example and m - 1 imagined ones into one more fold, for a size m that K_m folds have. An example that is
    missed beats all but eps (n + 1) - 1 of its opponents. Two examples of different folds cannot both beat each other,
    so at most 2 eps (n + 1) + m - 2 of the (K_m + 1) m examples in folds of this size are missed, and the new one is as
    likely as any of these to be among them (Barber, Candes, Ramdas, Tibshirani 2021, theorem 4).

    Examples
    --------
    >>> round(bound_by_tournament(0.05, [2] * 100), 4)
    0.0995
    """
    n_examples = sum(sizes)
    return min(
        (2 * significance * (n_examples + 1) + size - 2) / ((list(sizes).count(size) + 1) * size) for size in set(sizes)
    )


def _smaller_bound(significance: float, *, sizes: Sequence[int]) -> float:
    return min(bound_by_size(significance, sizes), bound_by_tournament(significance, sizes))


def _name_learner(significance: float, *, conditions: str, sizes: Sequence[int]) -> str:
    """Return the conditions of the smaller bound at a level."""
    symmetric = bound_by_tournament(significance, sizes) < bound_by_size(significance, sizes)
    return conditions.replace(ANY, SYMMETRIC) if symmetric else conditions


def _worst_bound(counts: Sequence[Sequence[int]], significance: float) -> float:
    return max(bound_by_size(significance, of_category) for of_category in counts)

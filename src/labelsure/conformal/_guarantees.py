"""Guarantees as a choice: which rule merges the folds' p-values, what goes with it, and what is proven of regions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from labelsure._checks import IntArray, check_choice
from labelsure._random import DRAW_UNIT
from labelsure.conformal._rules import E_VALUE_SCALE, complements
from labelsure.engine._weighing import Weighing
from labelsure.predictions import Guarantee
from labelsure.predictions._guarantee import as_promised

SHIFTED = (
    "independent examples{}, labels that depend on the object as they did in calibration, and"
    " weights that are the true"
    " ratios of the objects' densities, up to rounding to 2^-30"
)
AVERAGED = ", on average over the draws, one per object and the same for equal objects"
STABLE = (
    "For stable learners the error is close to the significance in practice (Papadopoulos 2014)."
)

ANY, SYMMETRIC = "any learner", "a learner that does not depend on the order of examples"
NOT_BY_LABELS = "that were not chosen by their labels"
"""What is proven needs of folds: a new example is not exchangeable with those of a stratified fold."""

BOOK = "Vovk, Gammerman, Shafer 2005"
GUARANTEES = ("cross", "exact")
"""What can be asked for, see the notes of CrossConformalClassifier."""

PROVED_BY = {
    "cross": "Vovk, Wang 2020; Barber, Candes, Ramdas, Tibshirani 2021",
    "exact": "Alami, Zakharia, Ben Taieb 2026; Ramdas, Manole 2023",
    "full": BOOK,
    "inductive": f"Papadopoulos, Proedrou, Vovk, Gammerman 2002; {BOOK}",
    "mondrian": BOOK,
    "weighted": "Tibshirani, Barber, Candes, Ramdas 2019",
}
"""Who proved what holds: of merged folds, and where there is one model, or one fold in each category."""


def check_guarantee(guarantee: str, *, smoothed: bool, one_fold: bool) -> None:
    """Raise ValueError where a guarantee cannot be combined with the other choices."""
    if check_choice(guarantee, GUARANTEES, name="guarantee") == "cross":
        return
    if smoothed:
        raise ValueError(
            "smoothed=True can be combined with guarantee='cross' only, got guarantee='exact',"
            " which is proven for"
            " whole counts."
        )
    if one_fold:
        raise ValueError(
            "guarantee='exact' merges the p-values of at least two folds, got one fold."
            " An inductive predictor is exact already: leave guarantee out."
        )


@dataclass(frozen=True, eq=False)
class Merging:
    """How counts are merged for a batch of objects.

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
    have no say; where none has any, everything is a member.
    """
    n_folds = len(sizes) - sizes.count(0)
    start = n_folds * (draws * (E_VALUE_SCALE // DRAW_UNIT) - E_VALUE_SCALE)
    return Weighing.ruled(complements(sizes, significance), start if n_folds else start + 1, 1)


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

    Given the categories of all examples, those of one category in a fold and a new one of it are
    exchangeable. So whatever is proven from the folds' p-values holds for the category's;
    categories without examples are never missed.

    Parameters
    ----------
    name : str
        One of ``PROVED_BY``, but for "mondrian", which "cross" becomes where every category has one
        fold.
    sizes : sequence of sequences of int
        Of each category, each fold's calibration examples; one where there are no categories.
    within_categories : bool
        Whether p-values are counted within categories.
    complementary : bool
        Whether every fold's model was trained on all other examples.
    smoothed : bool
        Whether p-values are smoothed: over their draws they are uniform, and may be as small as you
        like.
    with_labels : bool
        Whether the empty labelset is no candidate.
    """
    counts = [[size for size in of_category if size] for of_category in sizes if any(of_category)]
    if (
        within_categories
        and name == "cross"
        and all(len(of_category) == 1 for of_category in counts)
    ):
        name = "mondrian"
    n_examples = sum(map(sum, counts))
    each = " with at least one label each" if with_labels else ""
    bound: Callable[[float], float] = as_promised
    conditions, at_level = f"exchangeable examples{each}", None
    if name == "weighted":
        conditions = SHIFTED.format(each)
    elif name == "full":
        conditions += ", on average over the examples' random order"
    elif name == "cross" and not within_categories:
        bound = partial(bound_by_size, sizes=counts[0])
        conditions = (
            f"{n_examples} {conditions} in {len(counts[0])} folds {NOT_BY_LABELS}, and {ANY}"
        )
    elif len(sizes[0]) > 1:
        conditions += f" in folds {NOT_BY_LABELS}"
    if within_categories:
        conditions += ", within each category"
        if name == "cross":
            bound = partial(_worst_bound, counts)
            conditions += f", of which the smallest has {min(map(sum, counts))} examples"
    if smoothed or name == "exact":
        conditions += AVERAGED
    elif name == "cross" and complementary and not within_categories:
        bound = partial(_smaller_bound, sizes=counts[0])
        at_level = partial(_name_learner, conditions=conditions, sizes=counts[0])
    least = min(Fraction(1, sum(of_category) + 1) for of_category in counts)
    vacuous_below = None if smoothed or name in ("exact", "weighted") else least
    remark = STABLE if name == "cross" and not within_categories else ""
    return Guarantee(
        name, bound, at_level or conditions, PROVED_BY[name], remark, vacuous_below, n_examples
    )


def bound_by_size(significance: float, sizes: Sequence[int]) -> float:
    """Return a bound of the error of the paper's cross-conformal regions, for any learner.

    For folds that were not chosen by their labels. The mean of the p_k, weighted by |S_k| + 1, is
    ((n + 1) p + K - 1) / (n + K), and twice a weighted mean of p-values is a p-value (Vovk, Wang 2020). Smoothing
    leaves the bound as it is.

    Examples
    --------
    >>> round(bound_by_size(0.05, [150] * 10), 4)
    0.1113
    """
    n_examples, n_folds = sum(sizes), len(sizes)
    return 2 * significance + 2 * (1 - significance) * (n_folds - 1) / (n_examples + n_folds)


def bound_by_tournament(significance: float, sizes: Sequence[int]) -> float:
    """Return another, for models trained on all other examples by a learner that does not depend on their order.

    Put the new example and m - 1 imagined ones into one more fold, for a size m that K_m folds
    have. An example that is missed beats all but eps (n + 1) - 1 of its opponents. Two examples of
    different folds cannot both beat each other, so at most 2 eps (n + 1) + m - 2 of the (K_m + 1) m
    examples in folds of this size are missed, and the new one is as likely as any of these to be
    among them (Barber, Candes, Ramdas, Tibshirani 2021, theorem 4).

    Examples
    --------
    >>> round(bound_by_tournament(0.05, [2] * 100), 4)
    0.0995
    """
    n_examples = sum(sizes)
    return min(
        (2 * significance * (n_examples + 1) + size - 2) / ((list(sizes).count(size) + 1) * size)
        for size in set(sizes)
    )


def _smaller_bound(significance: float, *, sizes: Sequence[int]) -> float:
    return min(bound_by_size(significance, sizes), bound_by_tournament(significance, sizes))


def _name_learner(significance: float, *, conditions: str, sizes: Sequence[int]) -> str:
    """Return the conditions of the smaller bound at a level."""
    symmetric = bound_by_tournament(significance, sizes) < bound_by_size(significance, sizes)
    return conditions.replace(ANY, SYMMETRIC) if symmetric else conditions


def _worst_bound(counts: Sequence[Sequence[int]], significance: float) -> float:
    return max(bound_by_size(significance, of_category) for of_category in counts)

r"""What is proven about regions: one model, merged folds, categories, weights and groups.

Groups are examples that belong together, such as the pages of one document or the visits of one
patient. Whole groups train or calibrate. What is exchangeable then are the groups, not the
examples, and a new object is one drawn at random from a new group. For M calibration groups of any
sizes let f_k be the share of group k with alpha_i >= alpha. An inductive predictor's p-value is::

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

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from labelsure.conformal._merging import GroupSizes
from labelsure.engine._p_values import GroupWeights, count_groups
from labelsure.predictions import Guarantee
from labelsure.predictions._guarantee import as_promised

SHIFTED = (
    "independent examples{}, labels that depend on the object as they did in calibration, and"
    " weights that are the true ratios of the objects' densities, up to rounding to 2^-30"
)
AVERAGED = ", on average over the draws, one per object and the same for equal objects"
STABLE = (
    "For stable learners the error is close to the significance in practice (Papadopoulos 2014)."
)

ANY, SYMMETRIC = "any learner", "a learner that does not depend on the order of examples"
NOT_BY_LABELS = "that were not chosen by their labels"
"""A condition on folds: new examples are not exchangeable with those of a stratified fold."""

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
"""Who proved it: for merged folds, for one model, and for one fold in each category."""

GROUPS_PROVED_BY = "Dunn, Wasserman, Ramdas 2023; Lee, Barber, Willett 2023"
UNEQUAL = (
    "exchangeable groups of examples: no smaller bound is proven for groups of different sizes in"
    " folds, nor for groups"
    ' with smoothing, categories, weight= or guarantee="exact", and one example per group, drawn'
    " at random, would have one"
)

OBEYED = " although it obeys the constraints"
MISSED = (
    "A true labelset that breaks a constraint is in no region; among those that obey, the bound is"
    " this one divided by their share."
)

INCOMPLETE = (
    "{n} more examples have unknown labels and do not calibrate: this holds where whether an"
    " example is complete depends neither on its object nor on its labels."
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
    ((n + 1) p + K - 1) / (n + K), and twice a weighted mean of p-values is a p-value (Vovk, Wang
    2020). Smoothing leaves the bound as it is.

    Examples
    --------
    >>> round(bound_by_size(0.05, [150] * 10), 4)
    0.1113
    """
    n_examples, n_folds = sum(sizes), len(sizes)
    return 2 * significance + 2 * (1 - significance) * (n_folds - 1) / (n_examples + n_folds)


def bound_by_tournament(significance: float, sizes: Sequence[int]) -> float:
    """Return another bound, for models trained on all other examples in any order.

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
    >>> import numpy as np
    >>> from labelsure.conformal._merging import sizes_of_groups
    >>> groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    >>> print(state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True).sentence(0.2))
    A region at significance 0.2 misses the true labelset with probability at most 0.28, for
    exchangeable groups of 2 examples each, 4 of which calibrate, and an object drawn at random from
    a new group (Dunn, Wasserman, Ramdas 2023; Lee, Barber, Willett 2023).
    >>> groups = np.array([0, 1, 1, 2, 2, 2, 3, 3, 4, 4])
    >>> print(state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True).sentence(0.2))
    A region at significance 0.2 misses the true labelset with probability at most 0.2, for
    exchangeable groups of any sizes, 4 of which calibrate, and an object drawn at random from a new
    group (Dunn, Wasserman, Ramdas 2023; Lee, Barber, Willett 2023).
    """
    if (sizes.all_groups == 1).all():
        return None
    folds = [of_fold for of_fold in sizes.calibrating if len(of_fold)]
    n_examples, n_groups = sum(map(len, folds)), sum(map(count_groups, folds))
    each = ", all with at least one label" if with_labels else ""
    least = Fraction(1, n_examples + 1) if plain else None
    if sizes.count_by_size(plain=plain, n_incomplete=n_incomplete):
        weights = GroupWeights.of(folds[0])
        drawn = "an object drawn at random from a new group"
        if n_incomplete:
            drawn = "an object drawn at random from the completely labelled ones of a new group"
        conditions = (
            f"exchangeable groups of any sizes{each}, {n_groups} of which calibrate, and {drawn}"
        )
        least = Fraction(weights.new, weights.denominator)
        return Guarantee(
            "groups",
            as_promised,
            conditions,
            GROUPS_PROVED_BY,
            "",
            least,
            n_groups,
            "calibration groups",
        )
    if not plain or n_incomplete or not sizes.all_alike:
        return Guarantee("groups", _no_bound, UNEQUAL, GROUPS_PROVED_BY, "", least, n_examples)
    size = int(sizes.all_groups[0])
    conditions = f"exchangeable groups of {size} examples each{each}, {n_groups} of which calibrate"
    drawn = ", and an object drawn at random from a new group"
    if len(folds) == 1:
        bound = partial(bound_by_groups, size=size, n_groups=n_groups)
        return Guarantee(
            "groups", bound, conditions + drawn, GROUPS_PROVED_BY, "", least, n_examples
        )
    bound = partial(bound_in_folds, size=size, n_groups=n_groups, n_folds=len(folds))
    conditions += f" in {len(folds)} folds {NOT_BY_LABELS}, {ANY}{drawn}"
    return Guarantee(
        "groups", bound, conditions, f"Vovk, Wang 2020; {GROUPS_PROVED_BY}", "", least, n_examples
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


def _no_bound(significance: float) -> float:  # noqa: ARG001
    return 1.0


def add_conditions(guarantee: Guarantee, *, constrained: bool, n_incomplete: int = 0) -> Guarantee:
    """Return what is proven under constraints, and where incomplete examples do not calibrate.

    A true labelset that obeys the constraints is missed if and only if it would be missed without
    them, so the probability that it obeys and is missed is at most what that of missing it was.

    Examples
    --------
    >>> plain = Guarantee("inductive", as_promised, "exchangeable examples", "Vovk et al. 2005")
    >>> print(add_conditions(plain, constrained=True).sentence(0.1))
    A region at significance 0.1 misses the true labelset although it obeys the constraints with
    probability at most 0.1, for exchangeable examples (Vovk et al. 2005). A true labelset that
    breaks a constraint is in no region; among those that obey, the bound is this one divided by
    their share.
    """
    remarks = [
        guarantee.remark,
        MISSED if constrained else "",
        INCOMPLETE.format(n=n_incomplete) if n_incomplete else "",
    ]
    although = OBEYED if constrained else guarantee.although
    return replace(guarantee, although=although, remark=" ".join(filter(None, remarks)))

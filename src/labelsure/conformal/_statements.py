"""What is proven about regions: bounds of their errors, under which conditions, by whom."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from labelsure.conformal._guarantees import GUARANTEES
from labelsure.predictions import Guarantee, as_promised

EXCHANGEABLE = "exchangeable examples"
AVERAGED = "on average over the draws, one per object and the same for equal objects"


def state_full(n_examples: int) -> Guarantee:
    """Return what is proven about full conformal prediction."""
    return Guarantee(
        "full",
        as_promised,
        f"{EXCHANGEABLE}, on average over the examples' random order",
        "Vovk, Gammerman, Shafer 2005",
        vacuous_below=Fraction(1, n_examples + 1),
        n_calibration=n_examples,
    )


def state_inductive(n_examples: int) -> Guarantee:
    """Return what is proven about inductive conformal prediction."""
    return Guarantee(
        "inductive",
        as_promised,
        EXCHANGEABLE,
        "Papadopoulos, Proedrou, Vovk, Gammerman 2002; Vovk, Gammerman, Shafer 2005",
        vacuous_below=Fraction(1, n_examples + 1),
        n_calibration=n_examples,
    )


def state_weighted() -> Guarantee:
    """Return what is proven about inductive conformal prediction under covariate shift."""
    return Guarantee(
        "weighted",
        as_promised,
        "independent examples, labels that depend on the object as they did in calibration, and weights that are the"
        " true ratios of the objects' densities, up to rounding to 2^-30",
        "Tibshirani, Barber, Candes, Ramdas 2019",
    )


def state_merged(guarantee: str, sizes: Sequence[int], *, complementary: bool) -> Guarantee:
    """Return what is proven where several folds are merged.

    Parameters
    ----------
    guarantee : str
        One of ``GUARANTEES``.
    sizes : sequence of int
        The folds' calibration examples.
    complementary : bool
        Whether every fold's model was trained on all other examples.
    """
    kind = GUARANTEES[guarantee]
    if guarantee == "cross":
        return _state_cross(sizes, complementary=complementary)
    conditions = EXCHANGEABLE
    conditions += " in folds of equal size and random order" if kind.prefixes else ""
    conditions += f", {AVERAGED}" if kind.randomised else ""
    return Guarantee(
        guarantee,
        as_promised,
        conditions,
        kind.proved_by,
        vacuous_below=_vacuous_below(guarantee, sizes),
        n_calibration=sum(sizes),
    )


def state_within_categories(guarantee: str, sizes: Sequence[Sequence[int]]) -> Guarantee:
    """Return what is proven within every category, given each category's examples in each fold.

    Given the categories of all examples, those of one category in a fold and a new one of it are exchangeable. So
    whatever is proven from the folds' p-values holds for the category's; categories without examples are never missed.
    """
    counts = [[size for size in of_category if size] for of_category in sizes]
    counts = [of_category for of_category in counts if of_category]
    conditions = f"{EXCHANGEABLE}, within each category"
    bound, proved_by = as_promised, GUARANTEES[guarantee].proved_by
    if guarantee == "cross" and any(len(of_category) > 1 for of_category in counts):
        bound = partial(_worst_bound, counts)
        conditions += f", of which the smallest has {min(map(sum, counts))} examples"
    elif guarantee == "cross":
        guarantee, proved_by = "mondrian", "Vovk, Gammerman, Shafer 2005"
    elif GUARANTEES[guarantee].randomised:
        conditions += f", {AVERAGED}"
    vacuous = [_vacuous_below(guarantee, of_category) for of_category in counts]
    return Guarantee(
        guarantee,
        bound,
        conditions,
        proved_by,
        vacuous_below=min((one for one in vacuous if one is not None), default=None),
        n_calibration=sum(map(sum, counts)),
    )


def on_average(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee of smoothed p-values: over their draws they are uniform, and may be as small as you like."""
    return replace(guarantee, conditions=f"{guarantee.conditions}, {AVERAGED}", vacuous_below=None)


def without_empty(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee where the empty labelset is no candidate."""
    return replace(guarantee, conditions=f"{guarantee.conditions}, all of which have at least one label")


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


def _state_cross(sizes: Sequence[int], *, complementary: bool) -> Guarantee:
    conditions, learner = f"{sum(sizes)} {EXCHANGEABLE} in {len(sizes)} folds", "any learner"
    bound = partial(bound_by_size, sizes=tuple(sizes))
    if complementary and bound_by_tournament(0.0, sizes) < bound(0.0):
        bound = partial(_smaller_bound, sizes=tuple(sizes))
        learner = "a learner that does not depend on their order"
    return Guarantee(
        "cross",
        bound,
        f"{conditions} and {learner}",
        GUARANTEES["cross"].proved_by,
        "For stable learners the error is close to the significance in practice (Papadopoulos 2014).",
        vacuous_below=_vacuous_below("cross", sizes),
        n_calibration=sum(sizes),
    )


def _vacuous_below(guarantee: str, sizes: Sequence[int]) -> Fraction | None:
    """Return the level below which no labelset can be ruled out; None where a small draw may rule out any."""
    if guarantee == "exact":
        return None
    together = guarantee in ("cross", "mondrian")  # counts are added up; else each fold has a p-value of its own
    return Fraction(1, (sum(sizes) if together else max(sizes)) + 1)


def _smaller_bound(significance: float, *, sizes: Sequence[int]) -> float:
    return min(bound_by_size(significance, sizes), bound_by_tournament(significance, sizes))


def _worst_bound(counts: Sequence[Sequence[int]], significance: float) -> float:
    return max(bound_by_size(significance, of_category) for of_category in counts)

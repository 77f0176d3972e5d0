"""How large is a region of 2^41 labelsets? An estimate with a confidence interval, and certified bounds.

Drawing from simpler regions that together hold the region, and checking each labelset exactly, gives an unbiased
estimate (Karp, Luby, Madras 1989) whose error is bounded by the empirical Bernstein inequality (Audibert, Munos,
Szepesvari 2009).

Where scores are far from additive, as with dense pairwise costs, almost nothing drawn from the union is a member. Then
the interval comes from importance sampling instead, and is approximate.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np

from labelsure._core.labelset_bits import Words, pack
from labelsure._core.types import BoolArray, FloatArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup
from labelsure.labelsets.arrays._results import RegionSize
from labelsure.labelsets.arrays._weighing import Weighing
from labelsure.labelsets.search._best_first import best_of
from labelsure.labelsets.search._importance_kernels import weigh_flips
from labelsure.labelsets.search._knapsack import cover_region
from labelsure.labelsets.search._problems import ObjectSearch
from labelsure.labelsets.search._states import FAR, Buffer, PairProblem

N_DRAWS = 20_000
CONFIDENCE = 0.99
GRID_CELLS = 2**14
ROUGH_DRAWS, ROUGH_CELLS = 400, 2**10  # for a rough answer
WIDE = 0.5  # a proven interval this much wider than its middle to each side gives way to an approximate one

PILOT_DRAWS, PILOT_ROUNDS = 1000, 2
TRIAL_DRAWS = 200
MEMBER_RATE = 0.1
"""First probabilities are raised until fewer draws are members: too wide costs draws, too narrow misses members."""

STRAY_CHANGES = 0.2
"""How many labels the first probabilities change at least in the mean, whatever that costs."""

FIRST_SHARE = 0.25
"""How much of the first probabilities the fitted ones keep, and about their share of the last draws."""

SMALLEST_PROBABILITY = 1e-9
DRAWN_NUMBERS = 2**22
DEVIATIONS = 3.0
"""Half the width of intervals in standard errors: 99 % for a normal distribution are 2.58."""


@dataclass(frozen=True, eq=False)
class RegionDraws:
    """Draws from one problem.

    Attributes
    ----------
    problem : PairProblem
        With or without pairs.
    lookup : Lookup
        How scores become numerators.
    smallest : int
        The smallest numerator of a member.
    known : set of bytes
        The words of labelsets that do not count.
    best_words : uint64 array of shape (W,)
        The words of a labelset of the region, as likely as any.
    rng : Generator
        Where draws come from.
    """

    problem: PairProblem
    lookup: Lookup
    smallest: int
    known: set[bytes]
    best_words: Words
    rng: np.random.Generator

    @cached_property
    def best(self) -> BoolArray:
        """The flips that lead to the best labelset."""
        labels = self.problem.labels
        differs = (self.best_words ^ self.problem.mode)[labels >> 6] >> (labels & 63).astype(np.uint64)
        best: BoolArray = (differs & np.uint64(1)).astype(bool)
        return best

    def costs(self) -> FloatArray:
        """Return by how much changing each label of the best labelset changes the total of the additive scores."""
        problem, labels = self.problem, self.problem.labels
        costs: FloatArray = problem.changes.sum(axis=0)
        if problem.costs.pairs.shape[1] and self.best.any():
            flipped = labels[self.best]
            met = problem.costs.pairs[:, labels[:, None], flipped].sum(axis=0) * problem.costs.sign[flipped]
            costs = costs + problem.costs.sign[labels] * met.sum(axis=1)
        return np.abs(costs)

    def draw(self, probabilities: FloatArray, n_draws: int, *, fit: bool = False) -> BoolArray:
        """Draw flips and keep those that lead to members; to fit probabilities, also to those that do not count."""
        problem, most = self.problem, max(DRAWN_NUMBERS // max(len(probabilities), 1), 1)
        kept = [np.empty((0, len(probabilities)), dtype=bool)]
        for start in range(0, n_draws, most):
            flips = self.rng.random((min(most, n_draws - start), len(probabilities))) < probabilities
            found = Buffer.of(len(flips), len(problem.mode))
            weigh_flips(flips, problem, self.lookup, -FAR, found)
            members: BoolArray = found.numerators >= self.smallest
            if self.known and not fit:
                members &= np.array([row.tobytes() not in self.known for row in found.words], dtype=bool)
            kept.append(flips[members])
        return np.concatenate(kept)


def estimate_by_importance(draws: RegionDraws, n_draws: int) -> tuple[float, float] | None:
    """Estimate the size of a region; None where too few members were drawn.

    Flips of the labels are drawn independently of each other, each with a probability of its own; a labelset that turns
    out to be a member counts 1 / (the probability to draw it). That is unbiased whatever the probabilities, and precise
    if members are drawn about alike: probabilities are fitted to the region by the cross-entropy method (Rubinstein
    1999) with draws of their own. The interval comes from the central limit theorem, so it is approximate.

    Parameters
    ----------
    draws : RegionDraws
        Of the region.
    n_draws : int
        For the estimate itself; fitting takes a few thousand more.

    Returns
    -------
    log2_size, relative_error : float
        The estimate as a logarithm, and the standard error of the size as a share of it.
    """
    first = _first_probabilities(draws)
    fitted = first
    for _ in range(PILOT_ROUNDS):
        members = draws.draw(fitted, min(PILOT_DRAWS, n_draws), fit=True)
        if len(members):
            rarity = -log_probabilities(members, fitted)
            weights = np.exp(rarity - rarity.max())
            fitted = _inside((1 - FIRST_SHARE) * (weights / weights.sum() @ members) + FIRST_SHARE * first)
    n_first = int(FIRST_SHARE * n_draws)
    members = np.concatenate([draws.draw(fitted, n_draws - n_first), draws.draw(first, n_first)])
    if len(members) < 2:
        return None
    chances = np.logaddexp(
        log_probabilities(members, fitted) + log((n_draws - n_first) / n_draws),
        log_probabilities(members, first) + log(n_first / n_draws),
    )
    largest = float(-chances.min())
    weights = np.exp(-chances - largest)
    mean = float(weights.sum()) / n_draws
    variance = float((weights**2).sum()) / n_draws - mean**2
    return (log(mean) + largest) / log(2), sqrt(max(variance, 0.0) / n_draws) / mean


def log_probabilities(flips: BoolArray, probabilities: FloatArray) -> FloatArray:
    """Return the logarithm of the probability to draw each row.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_probabilities(np.array([[True, False]]), np.array([0.5, 0.2]))).round(2).tolist()
    [0.4]
    """
    without = np.log1p(-probabilities)
    logarithms: FloatArray = without.sum() + flips @ (np.log(probabilities) - without)
    return logarithms


def _first_probabilities(draws: RegionDraws) -> FloatArray:
    """Return those of the best labelset with changes that are less likely the more they matter."""
    costs = draws.costs()
    if not len(costs):
        return costs
    warmth, hottest = float(costs.min()) / 8 + 1, 4 * float(costs.max()) + 1
    while True:
        changed = np.maximum(1 / (1 + np.exp(np.minimum(costs / warmth, 500))), STRAY_CHANGES / len(costs))
        probabilities = _inside(np.where(draws.best, 1 - changed, changed))
        if warmth > hottest or len(draws.draw(probabilities, TRIAL_DRAWS, fit=True)) < MEMBER_RATE * TRIAL_DRAWS:
            return probabilities
        warmth *= 1.25


def _inside(probabilities: BoolArray | FloatArray) -> FloatArray:
    inside: FloatArray = np.clip(probabilities.astype(np.float64), SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return inside


def estimate_size(
    one: ObjectSearch, arrays: FoldArrays, weighing: Weighing, smallest: int, *, at_least: int, rough: bool = False
) -> RegionSize:
    """Estimate how many labelsets of one object have a numerator of at least ``smallest``.

    Parameters
    ----------
    one : ObjectSearch
        The object, posed alone.
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    smallest : int
        More than the numerator of a labelset that is stranger than all calibration examples.
    at_least : int
        The members found so far, a certified lower bound.
    rough : bool
        Whether few draws from coarse grids are enough: milliseconds instead of a tenth of a second.
    """
    n_draws, n_cells = (ROUGH_DRAWS, ROUGH_CELLS) if rough else (N_DRAWS, GRID_CELLS)
    rng = np.random.default_rng(0)
    problem, overrides = one.pair_problem, one.overrides
    union = cover_region(arrays, weighing, one.problems, one.i, smallest, n_cells)
    own = int((overrides.numerators >= smallest).sum())
    at_most = min(union.size + own, 2**arrays.n_labels - (not one.lookup.allow_empty))
    parts, wide = [0, 0, union.size], True
    if problem.costs.charged.all():
        listed = {labelset.tobytes() for labelset in overrides.labelsets}
        weights = []
        for drawn in union.draw(n_draws, rng):
            objects = np.full(len(drawn), one.i)
            members = weighing.of_scores(arrays.calibrations, arrays.scores(drawn, objects), objects) >= smallest
            members &= (drawn.any(axis=1) | one.lookup.allow_empty) & one.lookup.rules.allow(drawn)
            if listed:
                members &= np.array([labelset.tobytes() not in listed for labelset in drawn])
            weights.append(members / np.sum([knapsack.holds(drawn) for knapsack in union.knapsacks], axis=0))
        mean, half_width = _mean_and_error(np.concatenate(weights))
        shares = (mean - half_width, mean, mean + half_width)
        parts = [union.size * int(max(share, 0.0) * 2**60) >> 60 for share in shares]  # sizes may be beyond floats
        wide = half_width > WIDE * mean
    approximate = None
    if wide:
        known = {row.tobytes() for row in pack(overrides.labelsets)}
        good = best_of(one, 1, budget=one.options.start_budget if one.has_pairs else None).words
        draws = RegionDraws(problem, one.lookup, smallest, known, good[0] if len(good) else problem.mode, rng)
        approximate = estimate_by_importance(draws, n_draws)
    if approximate is not None:
        log2_size, relative_error = approximate
        error = DEVIATIONS * relative_error / log(2)
        parts = [_power_of_two(log2_size + part) for part in (-error, 0.0, error)]
    low, value, high = (min(max(part + own, at_least), at_most) for part in parts)
    certified = {"at_least": at_least, "at_most": at_most}
    return RegionSize(value, low, high, coverage_level=CONFIDENCE, approximate=approximate is not None, **certified)


def _mean_and_error(weights: FloatArray) -> tuple[float, float]:
    """Return the mean of draws between 0 and 1, and how far from its expectation it is at most, with confidence."""
    spread = log(3 / (1 - CONFIDENCE))
    half_width = sqrt(2 * float(weights.var(ddof=1)) * spread / len(weights)) + 3 * spread / len(weights)
    return float(weights.mean()), half_width


def _power_of_two(exponent: float) -> int:
    """Return a power of two that may be beyond floats, rounded."""
    whole = max(int(exponent) - 52, 0)
    rounded: int = round(2.0 ** (exponent - whole))
    return rounded << whole

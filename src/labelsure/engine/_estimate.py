"""How large is a region of 2^41 labelsets? An estimate, an interval and certified bounds.

Drawing from simpler regions that together hold the region, and checking each labelset exactly,
gives an unbiased estimate (Karp, Luby, Madras 1989) with a proven interval.

Where scores are far from additive, as with dense pairwise costs, almost nothing drawn from the
union is a member. Then the interval comes from importance sampling instead, and is approximate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._knapsack import Union, cover_region
from labelsure.engine._pair_problem import ObjectProblem
from labelsure.engine._results import RegionSize
from labelsure.engine._rules import LabelsetRules
from labelsure.engine._weighing import Weighing
from labelsure.measures._labelset_bits import Words, pack, unpack, word_keys

STAKES = np.array([0.99 * 2.0**-power for power in range(12)])
"""Shares of the capital that may be lost; half is bet on numbers above m, half on those below."""

ROUNDS, PARTS = 4, 16  # ends are found to 16^-4 of their distance from the mean


def mean_interval(weights: FloatArray, doubt: float) -> tuple[float, float]:
    """Return the ends of an interval that holds the mean with probability 1 - ``doubt``.

    Parameters
    ----------
    weights : float array
        Independent draws between 0 and 1, at least one.
    doubt : float
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = mean_interval(np.tile([0.0, 0.25], 500), doubt=0.01)
    >>> round(low, 3), round(high, 3)
    (0.11, 0.14)
    """
    values, counts = np.unique(weights, return_counts=True)
    mean = float(values @ counts / len(weights))

    def end(refused: float) -> float:
        accepted = mean  # the capital is a convex function of m that is not above 1 there
        for _ in range(ROUNDS if refused != mean else 0):
            between = np.linspace(refused, accepted, PARTS + 1)
            n_refused = np.count_nonzero(log_capital(values, counts, between[1:-1]) > -log(doubt))
            refused, accepted = between[n_refused], between[n_refused + 1]
        return float(refused)

    return end(0.0), end(1.0)


def log_capital(values: FloatArray, counts: IntArray, means: FloatArray) -> FloatArray:
    """Return the logarithm of what 1 has become by bets against each mean.

    Means are between 0 and 1, and not at these ends.
    """
    # shape: two, means, values
    odds = (values - means[:, None]) / np.stack([means, means - 1])[:, :, None]
    logarithms = np.log1p(STAKES[:, None, None, None] * odds) @ counts
    capital: FloatArray = np.logaddexp.reduce(logarithms.reshape(-1, len(means)), axis=0) - log(
        2 * len(STAKES)
    )
    return capital


N_DRAWS = (500, 2_000, 20_000)
"""More are drawn until the interval is as narrow as was asked for."""

CONFIDENCE = 0.99
GRID_CELLS, ROUGH_CELLS = 2**14, 2**10  # the latter for one bit
WIDE = 3.0  # how much wider than requested, or than one bit, a proven interval may be
DOUBT = 2.0**-30
"""How likely a size is below what is called sure."""

PILOT_DRAWS, PILOT_ROUNDS = 1000, 2
TRIAL_DRAWS = 200
MEMBER_RATE = 0.1
"""First probabilities are raised until fewer draws are members."""

STRAY_CHANGES = 0.2
"""How many labels the first probabilities change at least in the mean, whatever that costs."""

FIRST_SHARE = 0.25
"""How much of the first probabilities the fitted ones keep, and their share of the last draws."""

SMALLEST_PROBABILITY = 1e-9
DRAWN_NUMBERS = 2**22
DEVIATIONS = 3.0
"""Half the width of intervals in standard errors: 99 % for a normal distribution are 2.58."""


@dataclass(frozen=True, eq=False)
class RegionDraws:
    """Draws from one region, in the energies' general form.

    Attributes
    ----------
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    one : ObjectProblem
        Its object.
    constraints : LabelsetRules or None
        What candidates obey.
    smallest : int
        The smallest numerator of a member.
    known : uint64 array of shape (m, W)
        Labelsets that do not count.
    find_start : callable
        Returns a labelset of the region, as likely as any.
    rng : Generator
        Where draws come from.
    """

    arrays: FoldArrays
    weighing: Weighing
    one: ObjectProblem
    constraints: LabelsetRules | None
    smallest: int
    known: Words
    find_start: Callable[[], Words]
    rng: np.random.Generator

    @cached_property
    def best(self) -> BoolArray:
        """The flips that lead to a labelset of the region, as likely as any."""
        differs = unpack((self.find_start() ^ self.one.problem.mode)[None], self.arrays.n_labels)[0]
        best: BoolArray = differs[self.one.problem.labels] == 1
        return best

    def costs(self) -> FloatArray:
        """Return how much each label of the best labelset changes the total of additive scores."""
        problem, labels = self.one.problem, self.one.problem.labels
        costs: FloatArray = problem.changes.sum(axis=0)
        if problem.costs.pairs.shape[1] and self.best.any():
            flipped = labels[self.best]
            met = (
                problem.costs.pairs[:, labels[:, None], flipped].sum(axis=0)
                * problem.costs.sign[flipped]
            )
            costs = costs + problem.costs.sign[labels] * met.sum(axis=1)
        return np.abs(costs)

    def members(self, flips: BoolArray, *, fit: bool = False) -> BoolArray:
        """Tell which rows of flips lead to members that count; with ``fit`` to any member."""
        labelsets = np.empty((len(flips), self.arrays.n_labels), dtype=bool)
        labelsets[:, self.one.problem.labels] = flips
        labelsets ^= unpack(self.one.problem.mode[None], self.arrays.n_labels) == 1
        members: BoolArray = self.numerators(flips, labelsets) >= self.smallest
        if not self.one.lookup.allow_empty:
            members &= labelsets.any(axis=1)
        if self.constraints is not None:
            members &= self.constraints.allow(labelsets)
        if len(self.known) and not fit:
            rows = np.flatnonzero(members)
            words = pack(labelsets[rows])
            marks = _marks(words)
            alike = np.isin(marks, self.known_marks)
            rows = rows[alike]
            words = words[alike]
            known = self.known[np.isin(self.known_marks, marks)]
            members[rows] = ~np.isin(word_keys(words), word_keys(known))
        return members

    def numerators(self, flips: BoolArray, labelsets: BoolArray) -> IntArray:
        """Return the numerators of labelsets, and of flips that lead to them."""
        arrays = self.arrays
        problem = self.one.problem
        objects = np.full(len(flips), self.one.i)
        if arrays.penalties.present:
            return arrays.general_numerators(labelsets.astype(np.int8), self.weighing, objects)
        # whole numbers below 2^53: their sums are exact in floats
        changes, sign = flips.astype(np.float64), problem.costs.sign[problem.labels]
        scores = problem.changes @ changes.T
        if arrays.has_pairs:
            signed = changes * sign
            for k, pairs in enumerate(problem.costs.pairs):
                own = pairs[np.ix_(problem.labels, problem.labels)].astype(np.float64)
                scores[k] += ((signed @ own) * signed).sum(axis=1) / 2
        additive = scores.astype(np.int64) + problem.base[:, None]
        for energy, row in zip(arrays.general, additive, strict=True):
            if energy.link is not None:
                row[:] = energy.link(row)
        return self.weighing.of_scores(arrays.calibrations, additive, objects)

    @cached_property
    def known_marks(self) -> Words:
        """Numbers that nearly always differ where labelsets do: keys of many words sort slowly."""
        return _marks(self.known)

    def draw(self, probabilities: FloatArray, n_draws: int, *, fit: bool = False) -> BoolArray:
        """Draw flips and keep those that lead to members."""
        most = max(DRAWN_NUMBERS // max(len(probabilities), 1), 1)
        kept = [np.empty((0, len(probabilities)), dtype=bool)]
        for start in range(0, n_draws, most):
            flips = (
                self.rng.random((min(most, n_draws - start), len(probabilities))) < probabilities
            )
            kept.append(flips[self.members(flips, fit=fit)])
        return np.concatenate(kept)


def estimate_by_importance(draws: RegionDraws, n_draws: int) -> tuple[float, float] | None:
    """Estimate the size of a region; None where too few members were drawn.

    Flips of the labels are drawn independently of each other, each with a probability of its own; a
    labelset that turns out to be a member counts 1 / (the probability to draw it). That is unbiased
    whatever the probabilities, and precise if members are drawn about alike: probabilities are
    fitted to the region by the cross-entropy method (Rubinstein 1999) with draws of their own. The
    interval comes from the central limit theorem, so it is approximate.

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
            fitted = _inside(
                (1 - FIRST_SHARE) * (weights / weights.sum() @ members) + FIRST_SHARE * first
            )
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
        changed = np.maximum(
            1 / (1 + np.exp(np.minimum(costs / warmth, 500))), STRAY_CHANGES / len(costs)
        )
        probabilities = _inside(np.where(draws.best, 1 - changed, changed))
        if (
            warmth > hottest
            or len(draws.draw(probabilities, TRIAL_DRAWS, fit=True)) < MEMBER_RATE * TRIAL_DRAWS
        ):
            return probabilities
        warmth *= 1.25


def _marks(words: Words) -> Words:
    """Return one number per row, equal where rows are and hardly ever else."""
    factors = np.random.default_rng(0).integers(
        2**64, size=words.shape[1], dtype=np.uint64
    ) | np.uint64(1)
    marks: Words = (words * factors).sum(axis=1)
    return marks


def _inside(probabilities: BoolArray | FloatArray) -> FloatArray:
    inside: FloatArray = np.clip(
        probabilities.astype(np.float64), SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY
    )
    return inside


class Estimate(NamedTuple):
    """The size of a region, and what it is at least, but for a probability of about DOUBT."""

    size: RegionSize
    sure: int


def estimate_size(
    one: ObjectProblem,
    arrays: FoldArrays,
    weighing: Weighing,
    smallest: int,
    *,
    known: Words,
    n_own: int,
    constraints: LabelsetRules | None,
    find_start: Callable[[], Words],
    count_budget: int,
    at_least: int,
    bits: float = 1.0,
) -> Estimate:
    """Estimate how many labelsets of one object have a numerator of at least ``smallest``.

    Parameters
    ----------
    one : ObjectProblem
        The object.
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    smallest : int
        More than the numerator of a labelset that is stranger than all calibration examples.
    known, n_own : uint64 array of shape (m, W), int
        Members in the general form that have scores of their own, and how many are members by
        these.
    constraints : LabelsetRules or None
        What candidates obey.
    find_start : callable
        Returns a labelset that is as likely as any as far as is known soon.
    count_budget : int
        A region that may have no more members is drawn from until that is sure or not.
    at_least : int
        The members found so far, a certified lower bound.
    bits : float
        How far the ends of the interval may be from the estimate, as logarithms to base 2. More is
        drawn until they are not farther, but no more than the last of ``N_DRAWS``.
    """
    rng = np.random.default_rng(0)
    union = cover_region(arrays, weighing, one, smallest, ROUGH_CELLS if bits >= 1 else GRID_CELLS)
    at_most = min(union.size + n_own, 2**arrays.n_labels - (not one.lookup.allow_empty))
    at_least = max(at_least, union.inside - len(known) + n_own)
    draws = RegionDraws(arrays, weighing, one, constraints, smallest, known, find_start, rng)
    shares = (0.0, 0.0, 0.0, 1.0)
    if one.problem.costs.charged.all():
        shares = estimate_share(union, draws, 1 - 2.0**-bits, min(count_budget / union.size, 1.0))
    wide = shares[1] < 2.0 ** -min(WIDE * bits, 1.0) * shares[2] or not shares[2]
    approximate = _approximate(draws, bits) if wide else None
    # sizes may be beyond floats
    parts = approximate or [union.size * int(share * 2**60) >> 60 for share in shares]
    sure, low, value, high = (min(max(part + n_own, at_least), at_most) for part in parts)
    certified = {"at_least": at_least, "at_most": at_most, "approximate": approximate is not None}
    return Estimate(RegionSize(value, low, high, coverage_level=CONFIDENCE, **certified), sure)


def estimate_share(
    union: Union, draws: RegionDraws, precision: float, countable: float
) -> tuple[float, float, float, float]:
    """Return the share of members in a union: a sure one, the low end, the estimate, the high end.

    More is drawn until the ends are as near, relative to the estimate, as ``precision``, and it is
    sure that the share is above ``countable`` if it seems to be; or until members seem too rare.
    """
    weights = np.empty(0)
    for n_draws in N_DRAWS:
        flips = union.draw(n_draws - len(weights), draws.rng)
        weights = np.append(weights, draws.members(flips) / union.holders(flips))
        mean, (low, high) = float(weights.mean()), mean_interval(weights, 1 - CONFIDENCE)
        near = low >= (1 - precision) * mean and high * (1 - precision) <= mean
        sure = mean_interval(weights, DOUBT)[0]
        if (near and mean and not sure <= countable < low) or (not mean and n_draws > N_DRAWS[0]):
            break
    return sure, low, mean, high


def _approximate(draws: RegionDraws, bits: float) -> list[int] | None:
    """Return sizes by importance sampling; None where too few members were drawn."""
    for n_draws in N_DRAWS[1:]:
        approximate = estimate_by_importance(draws, n_draws)
        if approximate is None:
            continue
        log2_size, relative_error = approximate
        error = DEVIATIONS * relative_error / log(2)
        if error <= bits or n_draws == N_DRAWS[-1]:
            return [
                _power_of_two(log2_size + part)
                for part in (log(DOUBT) / log(2), -error, 0.0, error)
            ]
    return None


def _power_of_two(exponent: float) -> int:
    """Return a power of two that may be beyond floats, rounded."""
    whole = max(int(exponent) - 52, 0)
    rounded: int = round(2.0 ** (exponent - whole))
    return rounded << whole

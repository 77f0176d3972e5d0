"""How large is a region that no simple region covers tightly? Labels drawn one by one, and weighed.

Flips of the labels are drawn independently of each other, each with a probability of its own; a labelset that turns out
to be a member counts 1 / (the probability to draw it). That is unbiased whatever the probabilities, and precise if
members are drawn about alike: probabilities are fitted to the region by the cross-entropy method (Rubinstein 1999) with
draws of their own. The interval comes from the central limit theorem, so it is approximate.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray, FloatArray
from labelsure.labelsets.arrays import Lookup
from labelsure.labelsets.search._importance_kernels import weigh_flips
from labelsure.labelsets.search._states import FAR, Buffer, PairProblem

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


class ImportanceEstimate(NamedTuple):
    """What draws say about the size of a region.

    Attributes
    ----------
    log2_size : float
        The estimate, as a logarithm.
    relative_error : float
        The standard error of the size, as a share of it.
    """

    log2_size: float
    relative_error: float


class RegionDraws:
    """Draws from one problem.

    Parameters
    ----------
    problem : PairProblem
        With or without pairs.
    lookup : Lookup
        How scores become numerators.
    smallest : int
        The smallest numerator of a member.
    known : set of bytes
        The words of labelsets that do not count.
    best : uint64 array of shape (W,)
        The words of a labelset of the region, as likely as any.
    rng : Generator
        Where draws come from.
    """

    def __init__(
        self,
        problem: PairProblem,
        lookup: Lookup,
        smallest: int,
        known: set[bytes],
        best: Words,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.lookup, self.smallest, self.known, self.rng = problem, lookup, smallest, known, rng
        differs = (best ^ problem.mode)[problem.labels >> 6] >> (problem.labels & 63).astype(np.uint64)
        self.best: BoolArray = (differs & np.uint64(1)).astype(bool)

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
        most = max(DRAWN_NUMBERS // max(len(probabilities), 1), 1)
        kept = [np.empty((0, len(probabilities)), dtype=bool)]
        for start in range(0, n_draws, most):
            flips = self.rng.random((min(most, n_draws - start), len(probabilities))) < probabilities
            kept.append(flips[self._are_members(flips, known_too=fit)])
        return np.concatenate(kept)

    def _are_members(self, flips: BoolArray, *, known_too: bool) -> BoolArray:
        problem = self.problem
        words: Words = np.empty((len(flips), len(problem.mode)), dtype=np.uint64)
        numerators = np.empty(len(flips), dtype=np.int64)
        weigh_flips(flips, problem, self.lookup, -FAR, Buffer(words, numerators))
        members: BoolArray = numerators >= self.smallest
        if self.known and not known_too:
            members &= np.array([row.tobytes() not in self.known for row in words], dtype=bool)
        return members


def estimate_by_importance(draws: RegionDraws, n_draws: int) -> ImportanceEstimate | None:
    """Estimate the size of a region; None where too few members were drawn.

    Parameters
    ----------
    draws : RegionDraws
        Of the region.
    n_draws : int
        For the estimate itself; fitting takes a few thousand more.
    """
    first = _first_probabilities(draws)
    fitted = first
    for _ in range(PILOT_ROUNDS):
        members = draws.draw(fitted, min(PILOT_DRAWS, n_draws), fit=True)
        if len(members):
            weights = _normalised(-log_probabilities(members, fitted))
            fitted = _inside((1 - FIRST_SHARE) * (weights @ members) + FIRST_SHARE * first)
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
    return ImportanceEstimate((log(mean) + largest) / log(2), sqrt(max(variance, 0.0) / n_draws) / mean)


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


def _normalised(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max())
    normalised: FloatArray = weights / weights.sum()
    return normalised

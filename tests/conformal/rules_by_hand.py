"""Scores, p-values and regions written out from their formulas, for all labelsets one by one; nothing of the package.

Scores are whole numbers of 2^-44, every term rounded by itself, so that sums of the same terms tie in any order.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

UNIT = 2.0**44
STRANGEST = np.int64(2**62)
CLOSE = 1e-7  # regions by e-values are not compared where the mean is this close to its threshold


def all_labelsets(n_labels):
    """All 2^q labelsets, label 0 changing fastest."""
    return (np.arange(2**n_labels)[:, None] >> np.arange(n_labels)) & 1


def rounded(values):
    """Whole numbers of 1 / UNIT."""
    return np.round(np.asarray(values, dtype=np.float64) * UNIT).astype(np.int64)


# Measures: outputs (m, q) and labelsets (c, q) to scores (m, c), with what the training part holds.


def add_up(off, on, labelsets):
    """Return the sums over labels of what each costs off and on."""
    return off @ (1 - labelsets.T) + on @ labelsets.T


def power(outputs, labelsets, training, *, d, pair_penalty=0.0):
    """sum_j |t_j - o_j|^d + lambda #{pairs in psi never seen together in training}."""
    scores = add_up(rounded(outputs**d), rounded((1 - outputs) ** d), labelsets)
    if pair_penalty:
        q = labelsets.shape[1]
        unseen = [
            (j, r) for r in range(q) for j in range(r) if not np.any(training.labels[:, j] & training.labels[:, r])
        ]
        n_unseen = sum((labelsets[:, j] & labelsets[:, r] for j, r in unseen), np.zeros(len(labelsets), dtype=np.int64))
        scores = scores + n_unseen * rounded(pair_penalty)
    return scores


def log_loss(outputs, labelsets, training, *, floor=1e-6):
    """-sum_j log of the probability given to t_j."""
    off, on = (rounded(-np.log(np.clip(part, floor, 1 - floor))) for part in (1 - outputs, outputs))
    return add_up(off, on, labelsets)


def max_norm(outputs, labelsets, training):
    """max_j |t_j - o_j|."""
    return np.where(labelsets[None] == 1, rounded(1 - outputs)[:, None], rounded(outputs)[:, None]).max(axis=2)


def unseen(outputs, labelsets, training, *, weight):
    """A penalty for labelsets that no training example has."""
    known = {row.tobytes() for row in training.labels.astype(np.int8)}
    costs = [0 if row.tobytes() in known else int(rounded(weight)) for row in labelsets.astype(np.int8)]
    return np.tile(np.array(costs, dtype=np.int64), (len(outputs), 1))


def cardinality(outputs, labelsets, training, *, weight):
    """1 - the share of training examples with as many labels."""
    sizes = training.labels.sum(axis=1)
    costs = [weight * (1 - np.mean(sizes == size)) for size in range(labelsets.shape[1] + 1)]
    return np.tile(rounded(costs)[labelsets.sum(axis=1)], (len(outputs), 1))


def hamming(outputs, labelsets, training, *, weight):
    """The distance to the nearest training labelset, as a share of the labels."""
    distances = (labelsets[:, None] != training.labels[None]).sum(axis=2).min(axis=1)
    return np.tile(distances * rounded(weight / labelsets.shape[1]), (len(outputs), 1))


def prior(outputs, labelsets, training, *, weight=1.0, smoothing=1.0):
    """-log((n(psi) + smoothing B(psi)) / (n + smoothing)), B the product of the labels' frequencies."""
    n = len(training.labels)
    on = (training.labels.sum(axis=0) + 0.5) / (n + 1)
    base = add_up(rounded(-weight * np.log1p(-on))[None], rounded(-weight * np.log(on))[None], labelsets)[0]
    costs = base + rounded(weight * (math.log(n + smoothing) - math.log(smoothing)))
    for c, labelset in enumerate(labelsets):
        n_own = int((training.labels == labelset).all(axis=1).sum())
        if n_own:
            share = math.exp(math.fsum(np.log(np.where(labelset == 1, on, 1 - on))))
            costs[c] = rounded(-weight * math.log((n_own + smoothing * share) / (n + smoothing)))
    return np.tile(costs, (len(outputs), 1))


class Training(NamedTuple):
    """What a fold's measure may learn from."""

    labels: np.ndarray
    outputs: np.ndarray


class HandFold(NamedTuple):
    """A fold: scores (m,) and labels of its calibration examples, and scores (n, 2^q) of the new objects' labelsets."""

    calibration: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    weights: np.ndarray
    new: np.ndarray

    def strangest_empty(self):
        """Return the fold with the empty labelset stranger than all others, in examples and candidates alike."""
        calibration = np.where(self.labels.any(axis=1), self.calibration, STRANGEST)
        new = self.new.copy()
        new[:, 0] = STRANGEST
        return self._replace(calibration=calibration, new=new)

    def counts(self, *, above=False):
        """#{calibration scores >= score}, or > it, for each object and labelset."""
        order = np.sort(self.calibration)
        return len(order) - np.searchsorted(order, self.new, side="right" if above else "left")


def cross_p_values(folds):
    """(sum_k #{i in S_k : alpha_i >= alpha^k} + 1) / (l + 1), as numerators and the denominator."""
    return sum(fold.counts() for fold in folds) + 1, 1 + sum(len(fold.calibration) for fold in folds)


def smoothed_parts(folds):
    """#{>} and #{=} + 1, of which p = (#{>} + u (#{=} + 1)) / (l + 1)."""
    above = sum(fold.counts(above=True) for fold in folds)
    return above, sum(fold.counts() for fold in folds) - above + 1


def weighted_p_values(fold, new_weights):
    """(sum of w_i over {i : alpha_i >= alpha} + w) / (sum of w_i + w)."""
    at_least = (fold.calibration[:, None, None] >= fold.new[None]).transpose(1, 2, 0) @ fold.weights
    return (at_least + new_weights[:, None]) / (fold.weights.sum() + new_weights[:, None])


def within_categories(folds, category_of_labelset, labelsets, groups, compute, *, without):
    """Apply ``compute`` to the examples in the category of each object and labelset; ``without`` where there are none.

    ``category_of_labelset`` None: categories are the objects' groups. Folds without examples of it have no say.
    """
    answer = np.full(folds[0].new.shape, without)
    if category_of_labelset is None:
        own = [fold.groups for fold in folds]
        wanted = np.repeat(np.asarray(groups)[:, None], len(labelsets), axis=1)
    else:
        own = [np.array([category_of_labelset(row) for row in fold.labels]) for fold in folds]
        wanted = np.tile([category_of_labelset(row) for row in labelsets], (len(groups), 1))
    for category in np.unique(wanted):
        parts = [
            fold._replace(calibration=fold.calibration[of_fold == category])
            for fold, of_fold in zip(folds, own, strict=True)
            if (of_fold == category).any()
        ]
        if parts:
            answer = np.where(wanted == category, compute(parts), answer)
    return answer


# Guarantees: fold p-values (c + 1) / (m + 1) to a statistic per prefix or whole, at a level.


def p_to_e(size, level):
    """eps F(j / (size + 1)), j = 1 .. size + 1, F of Alami et al. 2026, by bisection in floats."""
    n_values, eps = size + 1, float(level)
    below = math.floor(level * n_values)
    grid = np.arange(1, n_values + 1) / n_values
    if level * n_values == below:
        return (np.arange(1, n_values + 1) <= below).astype(np.float64)
    middle = (eps + (below + 1) / n_values) / 2

    def values(steepness):
        return np.array([_ratio(steepness * (eps - middle), steepness * (p - middle)) for p in grid])

    low, high = 0.0, 1.0
    while values(high).mean() > eps:
        high *= 2
    for _ in range(200):
        low, high = (low, (low + high) / 2) if values((low + high) / 2).mean() <= eps else ((low + high) / 2, high)
    return values(high)


def _ratio(a, b):
    """(1 + e^a) / (1 + e^b) without overflow."""
    return math.exp(min(np.logaddexp(0, a) - np.logaddexp(0, b), 700))


def grid_calibrator(size, level):
    """eps L(j / (size + 1)), L proportional to (J + 1 - j)_+, J = floor(eps (size + 1)), averaging 1; 1 if J = 0."""
    n_values = size + 1
    last = math.floor(level * n_values)
    heights = np.maximum(last + 1 - np.arange(1, n_values + 1), 0)
    return heights * (float(level) * n_values / heights.sum()) if last else np.full(n_values, float(level))


def scaled_e_values(folds, level, calibrator):
    """eps times the e-value of each fold, object and labelset, (K, n, 2^q)."""
    return np.array([calibrator(len(fold.calibration), level)[fold.counts()] for fold in folds])


def running_means(values):
    """The means over the first t folds, t = 1 .. K."""
    return np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None, None]


def e_value_statistic(name, folds, level):
    """Return (what must stay below 1, what must stay below U or None) of the rules by e-values."""
    if name == "eu-mod":
        return running_statistic(folds, level)
    calibrator = p_to_e if name.startswith("exact") else grid_calibrator
    values = scaled_e_values(folds, level, calibrator)
    means = running_means(values)
    if name == "exact":
        return np.zeros(means[-1].shape), means[-1]
    if name in ("exact-deterministic", "twice-mean"):
        return means[-1], None
    return means.max(axis=0), None


def merged_p_values(name, folds):
    """2 mean_k p_k, or 2 min_t mean_{k <= t} p_k, at most 1."""
    means = running_means(np.array([(fold.counts() + 1) / (len(fold.calibration) + 1) for fold in folds]))
    return np.minimum(2 * (means[-1] if name == "twice-mean" else means.min(axis=0)), 1)


def running_statistic(folds, level):
    """The same for "eu-mod", whose regions are those of its p-values: p > eps iff eps / (2 least mean of p_k) < 1."""
    p_values = np.array([(fold.counts() + 1) / (len(fold.calibration) + 1) for fold in folds])
    means = running_means(p_values)
    # 2 p_1 / (2 - U) > eps iff 2 - 2 p_1 / eps < U
    return float(level) / (2 * means.min(axis=0)), 2 - 2 * p_values[0] / float(level)


def as_level(significance):
    """The level as the decimal fraction that the user wrote."""
    return Fraction(repr(significance))

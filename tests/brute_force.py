"""Every labelset looked at, one by one: what the answers of searches are compared with.

Written apart from the package's own code, in numpy, because ``labelset_reference`` takes seconds
for ten labels; that both agree is a test of its own.
"""

import math
from typing import NamedTuple

import numpy as np

from labelsure._random import DRAW_UNIT
from labelsure.engine import Allowed, AtLeast, AtMost, Exactly, Exclude, Hierarchy, Implies


class Ranked(NamedTuple):
    """All candidates of one object, most plausible first: numerators, total scores and codes."""

    numerators: np.ndarray
    totals: np.ndarray
    codes: np.ndarray

    def members(self, smallest):
        """Return those with a numerator of at least ``smallest``."""
        n_members = int(np.count_nonzero(self.numerators >= smallest))
        return Ranked(*(part[:n_members] for part in self))


def labelsets_of(codes, n_labels):
    """Return the labelsets with these codes as rows of zeros and ones."""
    return (np.asarray(codes, dtype=np.int64)[:, None] >> np.arange(n_labels)) & 1


def codes_of(labelsets):
    """Return the codes of rows of zeros and ones as a list of integers, for up to 62 labels."""
    rows = np.asarray(labelsets, dtype=np.int64)
    return (rows @ (1 << np.arange(rows.shape[1]))).tolist()


def scores_of_all(fold, i):
    """Return the score of every labelset of object ``i``, by code."""
    energy = fold.energy
    labelsets = labelsets_of(np.arange(2**energy.n_labels), energy.n_labels)
    scores = energy.constant[i] + labelsets @ energy.unary[i]
    if energy.pairwise is not None:
        pairwise = energy.pairwise if energy.pairwise.ndim == 2 else energy.pairwise[i]
        for r in range(energy.n_labels):
            for j in range(r):
                scores += pairwise[j, r] * labelsets[:, j] * labelsets[:, r]
    if energy.link is not None:
        scores = np.array(
            [math.isqrt(max(score, 0) << energy.link.shift) for score in scores.tolist()]
        )
    for maximum in energy.maxima:
        scores = scores + np.where(labelsets, maximum.on[i], maximum.off[i]).max(axis=1)
    penalty = energy.penalty
    if penalty is not None and penalty.by_cardinality is not None:
        scores = scores + penalty.by_cardinality[labelsets.sum(axis=1)]
    if penalty is not None and penalty.per_distance > 0:
        distances = [np.count_nonzero(labelsets != anchor, axis=1) for anchor in penalty.anchors]
        scores = scores + penalty.per_distance * np.min(distances, axis=0)
    if energy.discounts is not None:
        for labelset, amount in zip(
            energy.discounts.labelsets, energy.discounts.amounts, strict=True
        ):
            scores[codes_of([labelset])[0]] -= amount
    if energy.overrides is not None:
        own = slice(energy.overrides.begin[i], energy.overrides.begin[i + 1])
        scores[codes_of(energy.overrides.labelsets[own])] = energy.overrides.scores[own]
    return scores


def rank_all(folds, i, *, allow_empty, draw=None, rule=None, strangest=False):
    """Return all candidates of object ``i``; ``draw`` is its u, in units of 1 / DRAW_UNIT, or None.

    ``strangest``: the empty labelset is stranger than all calibration examples and than all other
    labelsets.
    """
    totals = at_least = above = 0
    counts = []
    for fold in folds:
        scores = scores_of_all(fold, i)
        others = fold.calibration[None, :]
        totals = totals + scores
        at_least = at_least + (others >= scores[:, None]).sum(axis=1)
        above = above + (others > scores[:, None]).sum(axis=1)
        counts.append((others >= scores[:, None]).sum(axis=1))
    numerators = at_least + 1 if draw is None else above * DRAW_UNIT + draw * (at_least - above + 1)
    if rule is not None:
        numerators = np.array([apply_rule(rule, i, of_one) for of_one in zip(*counts, strict=True)])
    if strangest:
        numerators[0] = 1 if draw is None else draw
        if rule is not None:
            numerators[0] = apply_rule(rule, i, [0] * len(folds))
        totals[0] = 2**62
    codes = np.arange(0 if allow_empty or strangest else 1, len(totals))
    order = np.lexsort((codes, totals[codes], -numerators[codes]))
    return Ranked(numerators[codes][order], totals[codes][order], codes[order])


def apply_rule(rule, i, counts):
    """Return what a rule makes of one labelset's counts in the folds."""
    return int(rule.start[i]) + sum(int(rule.weights[k, count]) for k, count in enumerate(counts))


def highest_by_label(ranked, n_labels):
    """Return the highest numerator with each label off and on, 0 without such a candidate."""
    labelsets = labelsets_of(ranked.codes, n_labels)
    return [
        [int(ranked.numerators[labelsets[:, j] == value].max(initial=0)) for value in (0, 1)]
        for j in range(n_labels)
    ]


def obeys(constraint, labelset):  # noqa: PLR0911
    """Tell what a constraint on labels by number means for one labelset, zeros and ones."""
    on = {j for j, value in enumerate(labelset) if value}
    match constraint:
        case Implies(label, then):
            return label not in on or set(then) <= on
        case Exclude(labels):
            return len(on & set(labels)) <= 1
        case Hierarchy(parents):
            return all(parent in on for child, parent in parents.items() if child in on)
        case Allowed(labelsets):
            return any(list(labelset) == list(row) for row in labelsets)
        case Exactly(k, labels):
            return len(on & set(labels)) == k
        case AtLeast(k, labels):
            return len(on & set(labels)) >= k
        case AtMost(k, labels):
            return len(on & set(labels)) <= k
    raise AssertionError(constraint)


def allowed_codes(constraints, n_labels):
    """Return the codes of all labelsets that obey all constraints, one by one."""
    labelsets = labelsets_of(np.arange(2**n_labels), n_labels).tolist()
    return [
        code for code, row in enumerate(labelsets) if all(obeys(one, row) for one in constraints)
    ]

"""The slow, readable truth that every kernel of labelsets is compared with."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from labelsure._checks import IntArray
from labelsure.engine._fold_arrays import Fold
from labelsure.measures._energy import Discounts, Penalty


def subset_sums(start: int, costs: Sequence[int]) -> list[int]:
    """Return start + the sum of each subset of ``costs``; bit j of subset c is for cost j."""
    return [
        start + sum(cost for j, cost in enumerate(costs) if code >> j & 1)
        for code in range(2 ** len(costs))
    ]


def pair_sums(pairwise: IntArray) -> list[int]:
    """Return the summed costs of the pairs j < r inside each subset of labels, by code."""
    n_labels = len(pairwise)
    pairs = [(j, r) for r in range(n_labels) for j in range(r)]
    return [
        sum(int(pairwise[j, r]) for j, r in pairs if code >> j & 1 and code >> r & 1)
        for code in range(2**n_labels)
    ]


def score(fold: Fold, i: int, labelset: Sequence[int]) -> int:
    """Return the score of one labelset for object ``i`` under one fold."""
    energy = fold.energy
    if energy.overrides is not None:
        for e in range(energy.overrides.begin[i], energy.overrides.begin[i + 1]):
            if list(energy.overrides.labelsets[e]) == list(labelset):
                return int(energy.overrides.scores[e])
    total = int(energy.constant[i])
    pairwise = energy.pairwise
    if pairwise is not None and pairwise.ndim == 3:
        pairwise = pairwise[i]
    for j, on in enumerate(labelset):
        if on:
            total += int(energy.unary[i, j])
            for r in range(j + 1, len(labelset)):
                if pairwise is not None and labelset[r]:
                    total += int(pairwise[j, r])
    if energy.link is not None:
        total = math.isqrt(max(total, 0) << energy.link.shift)
    for maximum in energy.maxima:
        costs = zip(labelset, maximum.off[i], maximum.on[i], strict=True)
        total += max(int(when_on if on else when_off) for on, when_off, when_on in costs)
    if energy.penalty is not None:
        total += penalty_cost(energy.penalty, labelset)
    return total if energy.discounts is None else total - discount(energy.discounts, labelset)


def discount(discounts: Discounts, labelset: Sequence[int]) -> int:
    """Return what a labelset is spared."""
    listed = zip(discounts.labelsets, discounts.amounts, strict=True)
    return sum(int(amount) for spared, amount in listed if list(spared) == list(labelset))


def penalty_cost(penalty: Penalty, labelset: Sequence[int]) -> int:
    """Return a labelset's penalty for its number of labels and its distance to the anchors."""
    cost = 0
    if penalty.by_cardinality is not None:
        cost += int(penalty.by_cardinality[sum(labelset)])
    if penalty.per_distance and penalty.anchors is not None:
        distances = [
            sum(a != b for a, b in zip(anchor, labelset, strict=True)) for anchor in penalty.anchors
        ]
        cost += penalty.per_distance * min(distances)
    return cost


def numerator(
    folds: Sequence[Fold], i: int, labelset: Sequence[int], *, at_least: int = 1, above: int = 0
) -> int:
    """Return the numerator of a labelset's p-value: sums for scores >= and > its own, plus one."""
    total = at_least
    for fold in folds:
        own = score(fold, i, labelset)
        total += at_least * sum(int(other) >= own for other in fold.calibration)
        total += above * sum(int(other) > own for other in fold.calibration)
    return total


def ranked(
    folds: Sequence[Fold], i: int, *, allow_empty: bool, at_least: int = 1, above: int = 0
) -> list[tuple[int, int, int]]:
    """Return (numerator, score, code) of every candidate of object ``i``, most plausible first."""
    n_labels = folds[0].energy.n_labels
    found = []
    for code in range(0 if allow_empty else 1, 2**n_labels):
        labelset = [code >> j & 1 for j in range(n_labels)]
        total = sum(score(fold, i, labelset) for fold in folds)
        found.append((numerator(folds, i, labelset, at_least=at_least, above=above), total, code))
    return sorted(found, key=lambda one: (-one[0], one[1], one[2]))


def label_numerators(candidates: Sequence[tuple[int, int, int]], n_labels: int) -> list[list[int]]:
    """Return the highest numerator of ``ranked`` candidates with each label off and on, or 0."""
    return [
        [
            max((number for number, _, code in candidates if code >> j & 1 == on), default=0)
            for on in (0, 1)
        ]
        for j in range(n_labels)
    ]


def count_table(folds: Sequence[Fold], *, strict: bool = False) -> IntArray:
    """Return, for each object and labelset code, #{scores of all folds >= the labelset's}.

    With ``strict`` only larger scores are counted.
    """
    energy = folds[0].energy
    table = np.zeros((energy.n_objects, 2**energy.n_labels), dtype=np.int64)
    for i in range(energy.n_objects):
        for bits in product((0, 1), repeat=energy.n_labels):
            labelset = bits[::-1]  # product counts in binary with its last place first
            code = sum(on << j for j, on in enumerate(labelset))
            for fold in folds:
                threshold = score(fold, i, labelset)
                others = [int(other) for other in fold.calibration]
                table[i, code] += sum(
                    other > threshold if strict else other >= threshold for other in others
                )
    return table

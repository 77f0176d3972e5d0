"""Searches over 2^63 to 2^1000 labelsets whose answers are known.

A dozen labels are undecided; all others are certain: flipping one costs more than any calibration
score. So the answers are those about the dozen, found by brute force, and the labels' places,
across the borders of 64-bit words, must not matter.
"""

import numpy as np
import pytest

from brute_force import apply_rule, codes_of, highest_by_label, labelsets_of
from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Discounts, Energy, Overrides, Penalty
from labelsure.predictions import LabelsetPredictions
from search_cases import random_case, values_of

CERTAIN = 2**39
"""What flipping a certain label costs: a thousand stay below 2^50, and its root times 2^6 is above
2^22.
"""


class Embedding:
    """A small case among many labels: the undecided labels keep their order, the others are on or
    off for sure.
    """

    def __init__(self, case, n_labels, rng):
        n_small = case.folds[0].energy.n_labels
        self.case = case
        self.n_labels = n_labels
        self.places = np.sort(rng.choice(n_labels, size=n_small, replace=False))
        self.certain = np.delete(np.arange(n_labels), self.places)
        self.on = np.zeros(n_labels, dtype=np.int8)
        # otherwise no label is certainly on, so that the empty labelset could be a member
        if case.allow_empty:
            self.on[self.certain] = rng.integers(0, 2, size=len(self.certain))

    def labelsets(self, codes):
        """Return the large labelsets that stand for small codes."""
        labelsets = np.tile(self.on, (len(codes), 1))
        labelsets[:, self.places] = labelsets_of(codes, len(self.places))
        return labelsets

    def fold(self, fold):
        small = fold.energy
        unary = np.empty((small.n_objects, self.n_labels), dtype=np.int64)
        unary[:, self.certain] = np.where(self.on[self.certain], -CERTAIN, CERTAIN)
        unary[:, self.places] = small.unary
        pairwise = penalty = overrides = discounts = None
        if small.pairwise is not None:
            pairwise = np.zeros(
                (*small.pairwise.shape[:-2], self.n_labels, self.n_labels), dtype=np.int64
            )
            pairwise[..., self.places[:, None], self.places] = np.triu(small.pairwise, 1)
        if small.penalty is not None:
            penalty = self.penalty(small.penalty)
        if small.overrides is not None:
            codes = codes_of(small.overrides.labelsets)
            overrides = Overrides(
                small.overrides.begin, self.labelsets(codes), small.overrides.scores
            )
        if small.discounts is not None:
            discounts = Discounts(
                self.labelsets(codes_of(small.discounts.labelsets)), small.discounts.amounts
            )
        constant = small.constant + CERTAIN * int(self.on.sum())
        return Fold(
            fold.calibration,
            Energy(constant, unary, pairwise, small.link, penalty, overrides, discounts),
        )

    def penalty(self, small):
        by_cardinality = anchors = None
        if small.by_cardinality is not None:
            n_on = int(self.on.sum())
            by_cardinality = np.zeros(self.n_labels + 1, dtype=np.int64)
            by_cardinality[n_on : n_on + len(small.by_cardinality)] = small.by_cardinality
        if small.anchors is not None:
            anchors = self.labelsets(codes_of(small.anchors))
        return Penalty(by_cardinality, anchors, small.per_distance)

    def engine(self):
        folds = [self.fold(fold) for fold in self.case.folds]
        return FoldEngine(folds, allow_empty=self.case.allow_empty, weighing=self.case.weighing)


@pytest.mark.parametrize("n_labels", [25, 63, 64, 65, 128, 129, 159, 200, 1000])
def test_answers_are_those_about_the_undecided_labels(n_labels):
    n_members = 0
    for seed in range(12 if n_labels < 500 else 3):
        rng = np.random.default_rng([seed, n_labels])
        case = random_case(
            seed, labels=(8, 10), folds=(1, 6), objects=(1, 2), spreads=(0, 1, 3, 9, 1000)
        )
        embedding = Embedding(case, n_labels, rng)
        engine = embedding.engine()
        everyone = case.ranked()
        n_best = 30
        best = engine.top(n_best)
        highest = engine.label_numerators()
        for i, ranked in enumerate(everyone):
            assert np.array_equal(best.labelsets[i], embedding.labelsets(ranked.codes[:n_best]))
            assert best.numerators[i].tolist() == ranked.numerators[:n_best].tolist()
            stranger = stranger_numerator(case, i)
            assert_labels(embedding, highest[i], ranked, stranger)
            smallest = max(int(rng.choice(ranked.numerators)), stranger + 1)
            members = ranked.members(smallest)
            labelsets, numerators = engine.region_members(i, smallest, None)
            assert np.array_equal(labelsets, embedding.labelsets(members.codes))
            assert numerators.tolist() == members.numerators.tolist()
            assert values_of(engine.region_sizes(smallest))[i] == len(members.codes)
            n_members += len(members.codes)
    assert n_members > 500


def stranger_numerator(case, i):
    """Return the numerator of a labelset that is stranger than every calibration example."""
    if case.rule is not None:
        return apply_rule(case.rule, i, [0] * len(case.folds))
    return 1 if case.draws is None else int(case.draws[i])


def assert_labels(embedding, highest, ranked, stranger):
    assert highest[embedding.places].tolist() == highest_by_label(ranked, len(embedding.places))
    best = int(ranked.numerators[0])
    right = highest[embedding.certain, embedding.on[embedding.certain]]
    wrong = highest[embedding.certain, 1 - embedding.on[embedding.certain]]
    assert right.tolist() == [best] * len(embedding.certain)
    assert wrong.tolist() == [stranger] * len(embedding.certain)


@pytest.mark.parametrize("n_labels", [100, 5000])
@pytest.mark.parametrize("allow_empty", [True, False])
def test_a_region_of_everything_is_counted_exactly(n_labels, allow_empty):
    energy = Energy(np.zeros(2, dtype=np.int64), np.full((2, n_labels), 9))
    engine = FoldEngine([Fold(np.sort(np.arange(9)), energy)], allow_empty=allow_empty)
    region = LabelsetPredictions(engine).region(0.09)  # below 1 / (l + 1)
    assert region.sizes.dtype == np.float64
    assert [size.value for size in region.size_estimates] == [2**n_labels - (not allow_empty)] * 2
    assert region[0].size == 2**n_labels - (not allow_empty)
    assert region.outer.all()
    assert not region.inner.any()


def test_a_region_of_everything_depends_on_the_draw_of_each_object():
    """Of two objects in one block, one draw is above the level and one below."""
    energy = Energy(np.zeros(3, dtype=np.int64), np.full((3, 40), 9))
    draws = np.array([DRAW_UNIT, DRAW_UNIT // 2, DRAW_UNIT // 2 + 1])
    engine = FoldEngine(
        [Fold(np.sort(np.arange(9)), energy)],
        allow_empty=True,
        weighing=Weighing.smoothed(9, draws),
    )
    smallest = DRAW_UNIT // 2 + 1
    assert values_of(engine.region_sizes(smallest)) == [2**40, 1, 2**40]


def certain_but_for(n_labels, seed):
    """Return an engine with one fold whose score is the number of labels that differ from a random
    labelset.
    """
    best = np.random.default_rng(seed).integers(0, 2, size=(1, n_labels))
    energy = Energy(best.sum(axis=1), np.where(best, -1, 1))
    return FoldEngine([Fold(np.sort(np.arange(n_labels)), energy)], allow_empty=True), best


@pytest.mark.parametrize("n_labels", [64, 130])
def test_members_come_by_p_value_then_code(n_labels):
    engine, best = certain_but_for(n_labels, seed=n_labels)
    labelsets, numerators = engine.region_members(0, n_labels - 1, None)  # two labels may differ
    assert len(labelsets) == 1 + n_labels + n_labels * (n_labels - 1) // 2
    differing = (labelsets != best).sum(axis=1)
    assert numerators.tolist() == (n_labels + 1 - differing).tolist()
    codes = [sum(int(on) << j for j, on in enumerate(labelset)) for labelset in labelsets]
    keys = list(zip(differing.tolist(), codes, strict=True))
    assert keys == sorted(keys)
    for limit in (1, 2, 70, 200):
        assert np.array_equal(engine.region_members(0, n_labels - 1, limit)[0], labelsets[:limit])

"""Random search problems full of ties, and what all answers about them must be."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from brute_force import codes_of, highest_by_label, labelsets_of, rank_all
from fold_strategies import weighing_of
from labelsure._random import DRAW_UNIT
from labelsure.engine._estimate import estimate_size
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Discounts, Energy, Overrides, Penalty, SquareRoot
from labelsure.predictions import LabelsetPredictions

SPREADS = (0, 1, 3, 9, 1000, 2**42)
"""Of costs: nothing but ties up to none. Twelve labels have 79 costs, so scores stay below 2^50."""

BY_SEARCH, BY_TABLE = EngineOptions(table_labels=0), EngineOptions(table_labels=24)


@dataclass
class Case:
    """Folds for some objects, with the options of their engine."""

    folds: list[Fold]
    allow_empty: bool
    draws: np.ndarray | None
    rule: Weighing | None = None
    strangest: bool = False

    @property
    def weighing(self):
        """How counts become numerators."""
        return weighing_of(self.folds, self.draws) if self.rule is None else self.rule

    def engine(self, **options):
        empty = {"allow_empty": self.allow_empty or self.strangest, "strangest": self.strangest}
        return FoldEngine(self.folds, weighing=self.weighing, **empty, **options)

    def search(self, options=BY_SEARCH):
        """Return the answers of searches, whatever the number of labels."""
        return self.engine(options=options)._search

    def ranked(self):
        """Return all candidates of each object, by brute force."""
        draws = (
            [None] * self.folds[0].energy.n_objects if self.draws is None else self.draws.tolist()
        )
        options = {"allow_empty": self.allow_empty, "rule": self.rule, "strangest": self.strangest}
        return [rank_all(self.folds, i, draw=draw, **options) for i, draw in enumerate(draws)]


def random_case(
    seed, *, labels=(1, 12), folds=(1, 15), objects=(1, 2), smoothed=None, spreads=SPREADS
):
    """Return a case with these numbers of labels, folds and objects; few labels and few folds most
    of the time.

    Calibration scores are far away from all others only where the spread of costs is.
    """
    rng = np.random.default_rng(seed)
    n_labels = _few(rng, *labels)
    n_folds = _few(rng, *folds)
    n_objects = int(rng.integers(*objects, endpoint=True))
    style = {
        "pairs": rng.choice(
            ["none", "none", "none", "positive", "any", "some folds", "own", "form", "own form"]
        ),
        "link": rng.choice([-1, -1, 0, 2, 12]),
        "penalty": rng.choice(["none", "none", "cardinality", "distance", "both", "zero"]),
        "overrides": bool(rng.integers(3) == 0),
        "discounts": bool(rng.integers(3) == 0),
        "same in all folds": bool(rng.integers(6) == 0),
        "spreads": spreads,
    }
    energies = [random_energy(rng, n_objects, n_labels, style) for _ in range(n_folds)]
    if style["same in all folds"]:
        energies = energies[:1] * n_folds
    smoothed = rng.integers(3) == 0 if smoothed is None else smoothed
    draws = rng.choice(
        [1, 2, DRAW_UNIT - 1, DRAW_UNIT, *rng.integers(1, DRAW_UNIT, size=4)], size=n_objects
    )
    cut = [
        Fold(random_calibration(rng, energy, far=32 * max(spreads)), energy) for energy in energies
    ]
    ruled = not smoothed and rng.integers(3) == 0
    return Case(
        cut,
        allow_empty=bool(rng.integers(2)),
        draws=draws if smoothed else None,
        rule=random_rule(rng, cut, n_objects) if ruled else None,
    )


def walk_case(seed, *, labels=(1, 6)):
    """Return a case of one object whose scores are sums over labels, with links and penalties."""
    case = random_case(seed, labels=labels, folds=(1, 4), objects=(1, 1))
    rng, folds = np.random.default_rng([seed, 7]), []
    for fold in case.folds:
        energy = replace(fold.energy, pairwise=None, overrides=None, discounts=None)
        folds.append(Fold(random_calibration(rng, energy, far=2**47), energy))
    rule = None if case.rule is None else random_rule(rng, folds, 1)
    return replace(case, folds=folds, rule=rule)


def seen_case(seed, *, labels=(1, 9)):
    """Return a case as the default measure makes it: costs of labels, and labelsets spared
    something in some folds.
    """
    rng = np.random.default_rng(seed)
    n_labels, n_folds, spread = (
        _few(rng, *labels),
        int(rng.integers(1, 5)),
        int(rng.choice([0, 1, 3, 50])),
    )
    seen = rng.choice(
        2**n_labels, size=min(int(rng.choice([1, 5, 40])), 2**n_labels), replace=False
    )
    folds = []
    for _ in range(n_folds):
        known = seen[rng.random(len(seen)) < 0.8]
        spared = Discounts(
            labelsets_of(known, n_labels).astype(np.int8),
            rng.integers(0, 3 * spread + 1, len(known)),
        )
        style = {
            "pairs": "none",
            "link": -1,
            "penalty": "none",
            "overrides": False,
            "discounts": False,
        }
        energy = random_energy(rng, 2, n_labels, style | {"spreads": [spread]})
        energy = replace(energy, discounts=None if rng.integers(6) == 0 else spared)
        folds.append(Fold(random_calibration(rng, energy, far=32 * spread), energy))
    case = Case(folds, allow_empty=bool(rng.integers(2)), draws=None)
    if rng.integers(3) == 0:
        case.rule = random_rule(rng, folds, 2)
    elif rng.integers(3) == 0:
        case.draws = rng.integers(1, DRAW_UNIT, size=2, endpoint=True)
    return case


def disagreeing_folds(n_labels, n_folds, *, seed=0, pairs=False):
    """Return folds for one object whose costs of labels have nothing to do with each other."""
    rng = np.random.default_rng([seed, n_labels, n_folds])
    folds = []
    for _ in range(n_folds):
        unary = rng.normal(0, 2**30, size=(1, n_labels)).astype(np.int64)
        constant = -np.minimum(unary, 0).sum(axis=1)
        pairwise = rng.integers(-(2**28), 2**28, size=(n_labels, n_labels)) if pairs else None
        scores = rng.integers(0, int(np.abs(unary).sum()), size=40)
        folds.append(Fold(np.sort(scores), Energy(constant, unary, pairwise)))
    return folds


def _few(rng, lowest, highest):
    return int(min(rng.integers(lowest, highest, endpoint=True, size=1 + rng.integers(3))))


def random_energy(rng, n_objects, n_labels, style):
    spread = int(rng.choice(style["spreads"]))
    constant = rng.integers(-spread, 3 * spread, endpoint=True, size=n_objects)
    unary = rng.integers(-spread, 2 * spread, endpoint=True, size=(n_objects, n_labels))
    pairwise = None
    if style["pairs"] in ("positive", "any") or (
        style["pairs"] == "some folds" and rng.integers(2)
    ):
        pairwise = rng.integers(
            0 if style["pairs"] == "positive" else -spread,
            spread,
            endpoint=True,
            size=(n_labels,) * 2,
        )
        pairwise[rng.random((n_labels, n_labels)) < 0.5] = 0
    if style["pairs"] == "own" and rng.integers(4):
        pairwise = rng.integers(
            -spread, spread, endpoint=True, size=(n_objects, n_labels, n_labels)
        )
    if style["pairs"] in ("form", "own form"):
        constant, unary, pairwise = random_form(
            rng, n_objects, n_labels, spread, own=style["pairs"] == "own form"
        )
    penalty = None
    if style["penalty"] != "none" and rng.integers(5):
        by_cardinality = rng.integers(0, spread, endpoint=True, size=n_labels + 1)
        anchors = rng.integers(0, 2, size=(rng.integers(1, 5), n_labels)).astype(np.int8)
        penalty = Penalty(
            by_cardinality if style["penalty"] in ("cardinality", "both") else None,
            anchors if style["penalty"] in ("distance", "both") else None,
            int(rng.integers(0, spread, endpoint=True))
            if style["penalty"] in ("distance", "both")
            else 0,
        )
    overrides = random_exceptions(rng, n_objects, n_labels, spread) if style["overrides"] else None
    link = None if style["link"] < 0 or rng.integers(8) == 0 else SquareRoot(int(style["link"]))
    discounts = None
    if style["discounts"] and rng.integers(4):
        codes = rng.choice(2**n_labels, size=min(rng.integers(1, 8), 2**n_labels), replace=False)
        amounts = rng.integers(0, 2 * spread, endpoint=True, size=len(codes))
        discounts = Discounts(labelsets_of(codes, n_labels).astype(np.int8), amounts)
    return Energy(constant, unary, pairwise, link, penalty, overrides, discounts)


def random_form(rng, n_objects, n_labels, spread, *, own):
    """Return the parts of ``(8 w t - o)' P (8 w t - o)``, w +-1: as dense as that of a Mahalanobis
    distance.
    """
    largest = math.isqrt(max(spread // 2**10, 1))
    factor = rng.integers(
        -largest, largest, endpoint=True, size=(n_labels, rng.integers(1, n_labels, endpoint=True))
    )
    form = factor @ factor.T // factor.shape[1] + np.diag(rng.integers(0, 2, size=n_labels))
    outputs = rng.integers(0, 8, endpoint=True, size=(n_objects, n_labels))
    weights = (
        rng.choice([-1, 1], size=(n_objects, n_labels))
        if own
        else np.ones((n_objects, n_labels), dtype=np.int64)
    )
    constant = np.einsum("ij,jr,ir->i", outputs, form, outputs)
    unary = 64 * np.diag(form) - 16 * weights * (outputs @ form)
    if not own:
        return constant, unary, 128 * form
    return constant, unary, 128 * form * weights[:, :, None] * weights[:, None, :]


def random_rule(rng, folds, n_objects):
    """Return weights that rise with the counts."""
    largest = max(len(fold.calibration) for fold in folds)
    weights = rng.integers(0, rng.choice([2, 5, 1000]), size=(len(folds), largest + 1)).cumsum(
        axis=1
    )
    return Weighing.ruled(
        weights,
        start=rng.integers(1, 20, size=n_objects),
        denominators=rng.integers(int(weights[:, -1].sum()) + 20, 10**7, size=n_objects) * 100,
    )


def random_exceptions(rng, n_objects, n_labels, spread):
    codes = [
        rng.choice(2**n_labels, size=min(rng.integers(6), 2**n_labels), replace=False)
        for _ in range(n_objects)
    ]
    begin = np.cumsum([0, *map(len, codes)])
    labelsets = labelsets_of(np.concatenate(codes), n_labels).astype(np.int8)
    return Overrides(
        begin, labelsets, rng.integers(-2 * spread, 3 * spread, endpoint=True, size=begin[-1])
    )


def random_calibration(rng, energy, *, far):
    """Return scores that tie with scores of labelsets, lie beside them, are all equal, or far
    away.
    """
    n_scores = int(rng.choice([1, 2, 5, 20, 60]))
    labelsets = rng.integers(0, 2, size=(n_scores, energy.n_labels))
    scores = energy.scores(labelsets, objects=rng.integers(energy.n_objects, size=n_scores))
    scores = scores + rng.integers(-1, 1, endpoint=True, size=n_scores)
    kind = rng.integers(8)
    if kind == 0:
        scores[:] = scores[0]
    elif kind == 1:
        scores[0] = rng.choice([-far, far])
    elif kind == 2:
        scores += rng.choice([-far, far])
    return np.sort(scores)


def random_level(rng, case):
    """Return a significance on a p-value of the case without smoothing, or half-way to the next."""
    if case.rule is not None:
        ranked = case.ranked()[0]
        return min(
            Fraction(int(rng.choice(ranked.numerators)), int(case.rule.denominators[0])),
            Fraction(99, 100),
        )
    n_calibration = sum(len(fold.calibration) for fold in case.folds)
    halves = rng.integers(1, 2 * n_calibration + 1, endpoint=True)
    return Fraction(int(halves), 2 * (n_calibration + 1))


def assert_answers_equal_brute_force(case, seed, **limits):
    """Compare every answer about a case, by search and by table, with brute force; ``limits`` are
    further options.
    """
    rng = np.random.default_rng([seed, 1])
    n_labels = case.folds[0].energy.n_labels
    everyone = case.ranked()
    level = random_level(rng, case)
    n_best = int(rng.choice([1, 2, 3, 9, 2**n_labels + 1]))
    thresholds = [int(rng.choice(ranked.numerators)) + int(rng.integers(2)) for ranked in everyone]
    limit = int(rng.integers(6))
    for options in (BY_SEARCH, BY_TABLE):
        engine = case.engine(options=replace(options, **limits))
        assert_best(engine, everyone, n_best)
        assert engine.label_numerators().tolist() == [
            highest_by_label(one, n_labels) for one in everyone
        ]
        for i, (ranked, smallest) in enumerate(zip(everyone, thresholds, strict=True)):
            assert_members(engine, i, ranked.members(smallest), smallest, limit)
        smallest = engine.smallest_member(level)
        members = [ranked.members(least) for ranked, least in zip(everyone, smallest, strict=True)]
        sizes = [len(part.codes) for part in members]
        assert values_of(engine.region_sizes(smallest)) == sizes
        if options is BY_SEARCH:
            assert_region(LabelsetPredictions(engine), level, members)
    listed = engine.constraints is not None and engine.constraints.listed is not None
    if not (case.strangest or engine.arrays.has_maxima or listed):
        counted = engine._search.count(np.arange(engine.n_objects), smallest, 2**40)
        assert counted == [(size, True) for size in sizes]
    numerators = [ranked.numerators[np.argsort(ranked.codes)] for ranked in everyone]
    p_values = np.minimum(np.array(numerators) / engine.denominators[:, None], 1)
    assert np.array_equal(engine.p_value_table(), p_values)


def estimate_of(engine, i, smallest, **options):
    """Return the estimate of one region, as searches ask for it, whatever its size."""
    search = engine._search
    listed = search.listed_of(i, smallest)
    known = listed.words[listed.general >= smallest]
    common = {
        "known": known,
        "n_own": int((listed.numerators >= smallest).sum()),
        "constraints": engine.constraints,
    }
    common |= {
        "find_start": partial(search.find_start, i),
        "count_budget": engine.options.count_budget // 2,
    }
    one = search.pose_one(i)
    return estimate_size(
        one, engine.arrays, engine.weighing, smallest, **{"bits": 0.1} | common | options
    )


def by_rows(engine):
    """Return the same engine, answering from rows of all labelsets."""
    same = {name: getattr(engine, name) for name in ("allow_empty", "weighing", "constraints")}
    return FoldEngine(engine.folds, options=BY_TABLE, **same)


def values_of(sizes):
    """Return sizes that must have been counted as whole numbers."""
    assert all(size.exact and size.coverage_level == 1 for size in sizes)
    return [size.value for size in sizes]


def assert_best(engine, everyone, n_best):
    best = engine.top(n_best)
    assert best.labelsets.shape == (engine.n_objects, n_best, engine.n_labels)
    for i, ranked in enumerate(everyone):
        n_there = min(n_best, len(ranked.codes))
        assert codes_of(best.labelsets[i, :n_there]) == ranked.codes[:n_there].tolist()
        assert best.numerators[i].tolist() == ranked.numerators[:n_there].tolist() + [0] * (
            n_best - n_there
        )
    assert np.array_equal(best.upper, best.numerators)
    assert best.certain.all()


def assert_members(engine, i, members, smallest, limit):
    codes, numerators = members.codes.tolist(), members.numerators.tolist()
    labelsets, found = engine.region_members(i, smallest, None)
    assert (codes_of(labelsets), found.tolist()) == (codes, numerators)
    labelsets, found = engine.region_members(i, smallest, limit)
    assert (codes_of(labelsets), found.tolist()) == (codes[:limit], numerators[:limit])
    iterated = [
        pair
        for labelsets, found in engine.iterate_members(i, smallest)
        for pair in zip(codes_of(labelsets), found.tolist(), strict=True)
    ]
    assert sorted(iterated) == sorted(zip(codes, numerators, strict=True))


def assert_region(pred, level, everyone):
    """Compare what a user reads off a region with its members."""
    region = pred.region(level)
    n_labels = len(pred.label_names)
    for i, members in enumerate(everyone):
        labelsets = labelsets_of(members.codes, n_labels)
        assert region.inner[i].tolist() == (labelsets.all(axis=0) & (len(labelsets) > 0)).tolist()
        assert region.outer[i].tolist() == labelsets.any(axis=0).tolist()
        assert region[i].members().labelsets.tolist() == labelsets.tolist()
        iterated = np.array(list(region[i])).reshape(-1, n_labels)
        assert sorted(codes_of(iterated)) == sorted(members.codes.tolist())

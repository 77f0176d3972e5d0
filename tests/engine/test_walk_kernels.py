"""The search of additive scores equals brute force: for the best, lists and counts, whatever its
budget and its room.

Ties, zeros, extremes, equal costs, links, penalties, weights, draws, forced positions and rules;
regions of so many labels that flips are counted by groups of eight; and a thousand labels that tie.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import Ranked, codes_of
from constraint_cases import constrain
from fold_strategies import COSTS, fold_lists, smoothing
from labelsure.engine._block import pose_block
from labelsure.engine._fold_arrays import FAR, Fold, FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._walk_kernels import (
    FOUND,
    UPPER,
    WORK,
    Asked,
    Found,
    Known,
    Room,
    walk,
)
from labelsure.measures._energy import Energy, SquareRoot
from search_cases import (
    BY_SEARCH,
    BY_TABLE,
    Case,
    by_rows,
    disagreeing_folds,
    random_rule,
    values_of,
    walk_case,
)

COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")
SEEDS = range(120 if COMPILED else 30)
ENOUGH = 10**9


def some_case(seed, *, rules=False, labels=(1, 6)):
    """Return a case that a walk knows all about, under rules or not."""
    case = walk_case(seed, labels=labels)
    return constrain_by_inequalities(case, np.random.default_rng([seed, 8])) if rules else case


def constrain_by_inequalities(case, rng):
    """Return a case under rules that searches know: not a list of labelsets."""
    constrained = constrain(case, rng)
    while constrained.rules.listed is not None or constrained.strangest:
        constrained = constrain(case, rng)
    return constrained


class Search:
    """One search of a case: its block, its room and what it found, so that it can go on."""

    def __init__(self, case, *, n_room, counted=False):
        self.case, self.arrays = case, FoldArrays(case.folds)
        self.block = pose_block(self.arrays, np.arange(1), counted=counted)
        self.room, self.found = Room.of(self.block), Found.of(1, n_room, 1)

    def go_on(
        self, *, forced=-1, flipped=0, smallest=-FAR, ranked=True, by_total=True, budget=ENOUGH
    ):
        """Search, or go on with a list; return what is found now."""
        case, arrays = self.case, self.arrays
        rules, penalties = (
            getattr(case, "rules", None),
            arrays.penalties if arrays.penalties.present else None,
        )
        asked = Asked(
            np.array([[0, forced, flipped, smallest]]),
            Known.of([], 1),
            ranked,
            by_total,
            not arrays.has_link,
            case.allow_empty,
            budget,
        )
        placed = None if rules is None else rules.rules.placed(self.block.label[0])
        weighings = case.weighing.of_objects(np.arange(1))
        walk(self.block, arrays.tables, penalties, weighings, placed, asked, self.room, self.found)
        return self.found

    def pairs(self):
        """Return the codes and numerators of what was found, as they come."""
        n_found = self.found.numbers[0, FOUND]
        codes = self.found.words[0, :n_found, 0].tolist()
        return list(zip(codes, self.found.numerators[0, :n_found].tolist(), strict=True))


def with_label(ranked, j, on):
    """Return the candidates with one label so."""
    rows = (ranked.codes >> j & 1) == on
    return Ranked(*(part[rows] for part in ranked))


def pairs_of(ranked):
    return list(zip(ranked.codes.tolist(), ranked.numerators.tolist(), strict=True))


@pytest.mark.parametrize("rules", [False, True], ids=["free", "rules"])
def test_the_best_are_those_of_brute_force_with_each_position_forced(rules):
    for seed in SEEDS:
        case, n_best = some_case(seed, rules=rules), 1 + seed % 7
        search, ranked = Search(case, n_room=n_best), case.ranked()[0]
        mode = int(search.block.mode[0, 0])
        assert search.go_on().finished.all()
        assert search.pairs() == pairs_of(ranked)[:n_best], seed
        totals = search.found.keys[0, : search.found.numbers[0, FOUND], 1].tolist()
        assert totals == ranked.totals[:n_best].tolist()
        for t, j in enumerate(search.block.label[0].tolist()):
            for flipped in (0, 1):
                one = Search(case, n_room=n_best)
                one.go_on(forced=t, flipped=flipped)
                expected = with_label(ranked, j, (mode >> j & 1) ^ flipped)
                assert one.pairs() == pairs_of(expected)[:n_best], (seed, t, flipped)


@pytest.mark.parametrize("rules", [False, True], ids=["free", "rules"])
def test_lists_that_are_full_or_cut_short_go_on_where_they_stopped(rules):
    """Room for one or three, calls of a few evaluations: every member once, in the order of one
    call.
    """
    sizes = []
    for seed in SEEDS:
        case = some_case(seed, rules=rules)
        ranked = case.ranked()[0]
        smallest = int(np.quantile(ranked.numerators, 0.4))
        expected = pairs_of(ranked.members(smallest))
        whole = Search(case, n_room=2**6 + 1)
        assert whole.go_on(ranked=False, smallest=smallest).finished.all()
        assert sorted(whole.pairs()) == sorted(expected), seed
        for n_room, budget in ((1, ENOUGH), (3, 2), (2**6, 1)):
            search, pairs = Search(case, n_room=n_room), []
            while not search.found.finished[0]:
                search.found.numbers[:] = 0
                search.go_on(ranked=False, smallest=smallest, budget=budget)
                pairs += search.pairs()
            assert pairs == whole.pairs(), (seed, n_room)
        sizes.append(len(expected))
    assert max(sizes) > 10  # more than the room of three


def counted(case, smallest, budget=ENOUGH):
    """Return how many members a search counts, its work, and whether it is finished."""
    search = Search(case, n_room=0, counted=True)
    numbers = search.go_on(ranked=False, smallest=smallest, budget=budget).numbers[0]
    return int(numbers[FOUND]), int(numbers[WORK]), bool(search.found.finished[0])


@pytest.mark.parametrize("rules", [False, True], ids=["free", "rules"])
def test_counts_are_those_of_brute_force_and_never_above_them(rules):
    for seed in SEEDS:
        case = replace(walk_case(seed), allow_empty=True)
        if rules:
            case = constrain_by_inequalities(case, np.random.default_rng(seed))
        numerators = case.ranked()[0].numerators
        for smallest in (int(np.median(numerators)), int(numerators[0]), int(numerators[0]) + 1):
            truth = int((numerators >= smallest).sum())
            assert counted(case, smallest)[::2] == (truth, True), seed
            for budget in (1, 2, 5, 17):
                size, _, finished = counted(case, smallest, budget)
                assert size == truth if finished else size <= truth, (seed, budget)


@pytest.mark.parametrize("kind", ["free", "rules", "disagreeing"])
def test_unfinished_searches_bound_what_they_miss_at_every_budget(kind):
    n_open = 0
    for seed in range(12 if kind == "disagreeing" else 30):
        case = some_case(seed, rules=kind == "rules", labels=(4, 6))
        if kind == "disagreeing":
            case = Case(disagreeing_folds(7, 3, seed=seed), allow_empty=True, draws=None)
        expected = pairs_of(case.ranked()[0])
        for budget in range(1, 400):
            search = Search(case, n_room=2)
            search.go_on(budget=budget)
            pairs, upper = search.pairs(), search.found.numbers[0, UPPER]
            assert search.found.numbers[0, WORK] <= budget
            assert set(pairs) <= set(expected)
            if search.found.finished[0]:
                assert pairs == expected[:2]
                break
            n_open += 1
            missed = max(
                (numerator for code, numerator in expected if (code, numerator) not in pairs),
                default=-FAR,
            )
            assert max([upper, *(numerator for _, numerator in pairs[1:])]) >= missed, (
                seed,
                budget,
            )
            assert search.found.highest[0] >= expected[0][1]
        assert search.found.finished[0]
    assert n_open > 100


@pytest.mark.parametrize("link", [None, 0, 3])
def test_ties_go_to_the_lowest_total_and_code(link):
    """Numerators are all the same, costs of either sign few, and roots make more totals equal."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        unary = rng.integers(-2, 3, size=(rng.integers(1, 4), rng.integers(2, 6)))
        root = None if link is None else SquareRoot(link)
        folds = [
            Fold(np.array([10**6]), Energy(rng.integers(-3, 9, size=1), own[None], link=root))
            for own in unary
        ]
        case, n_best = Case(folds, allow_empty=bool(seed % 2), draws=None), 1 + seed % 5
        search = Search(case, n_room=n_best)
        search.go_on()
        assert search.pairs() == pairs_of(case.ranked()[0])[:n_best], seed


@st.composite
def additive_energies(draw, n_objects, n_labels):
    """An energy that is a sum over labels, linked or not: costs of any kind, or all the same."""
    constant, kind = draw(arrays(np.int64, n_objects, elements=draw(COSTS))), draw(COSTS)
    unary = draw(arrays(np.int64, (n_objects, n_labels), elements=kind))
    if draw(st.integers(0, 3)) == 0:
        unary[:] = draw(kind)
    return Energy(constant, unary, link=draw(st.none() | st.integers(0, 12).map(SquareRoot)))


@settings(max_examples=60 if COMPILED else 20)
@given(
    st.data(),
    fold_lists(labels=(1, 6), folds=(1, 4), objects=(1, 2), kind=additive_energies),
    st.booleans(),
)
def test_walks_and_rows_of_all_codes_answer_the_same(data, folds, allow_empty):
    case = Case(folds, allow_empty, data.draw(smoothing(folds[0].energy.n_objects)))
    n_best = data.draw(st.sampled_from([1, 2, 70]))
    by_walk, by_rows = (case.engine(options=options) for options in (BY_SEARCH, BY_TABLE))
    found, expected = by_walk.top(n_best), by_rows.top(n_best)
    assert found.labelsets.tolist() == expected.labelsets.tolist()
    assert found.numerators.tolist() == expected.numerators.tolist()
    assert found.certain.all()
    assert by_walk.label_numerators().tolist() == by_rows.label_numerators().tolist()
    there = [row[row > 0] for row in expected.numerators]
    smallest = np.array(
        [data.draw(st.sampled_from([0, *row])) + data.draw(st.integers(0, 1)) for row in there]
    )
    assert values_of(by_walk.region_sizes(smallest)) == values_of(by_rows.region_sizes(smallest))
    for i, least in enumerate(smallest.tolist()):
        members = [
            sorted(codes_of(np.concatenate([part for part, _ in one.iterate_members(i, least)])))
            for one in (by_walk, by_rows)
        ]
        assert members[0] == members[1]


@st.composite
def wide_engines(draw):
    """Return engines of one object with so many labels that positions are counted by groups;
    models agree or not.
    """
    n_labels, n_folds = draw(st.integers(9, 20 if COMPILED else 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alike = rng.integers(draw(st.sampled_from([-3, 0, 20])), 60, size=n_labels)
    noise = draw(st.sampled_from([0, 2, 30]))
    folds = []
    for _ in range(n_folds):
        unary = alike + rng.integers(-noise, noise + 1, size=n_labels)
        unary = np.where(rng.random(n_labels) < draw(st.sampled_from([0.0, 0.3])), -unary, unary)
        folds.append(
            Fold(
                np.sort(100 + rng.integers(-60, 400, size=12)), Energy(np.array([100]), unary[None])
            )
        )
    rule = random_rule(rng, folds, 1) if draw(st.booleans()) else None
    return FoldEngine(folds, allow_empty=draw(st.booleans()), weighing=rule)


@given(wide_engines(), st.floats(0.01, 0.99))
@settings(max_examples=30 if COMPILED else 8)
def test_members_counted_by_groups_are_those_of_the_table(engine, quantile):
    lowest, highest = (
        int(engine.weighing.lowest[0]) + 1,
        int(by_rows(engine).top(1).numerators[0, 0]),
    )
    smallest = lowest + int(quantile * max(highest - lowest, 0))
    (truth,) = values_of(by_rows(engine).region_sizes(smallest))
    assert engine._search.count(np.arange(1), np.array([smallest]), ENOUGH) == [(truth, True)]
    for budget in (10, 100):
        ((found, _),) = engine._search.count(np.arange(1), np.array([smallest]), budget)
        assert found <= truth


def free_labels(threshold, unary, *, allow_empty=True):
    """Return the searches for an object of one fold with one calibration score."""
    fold = Fold(np.array([threshold]), Energy(np.array([0]), unary[None]))
    return FoldEngine([fold], allow_empty=allow_empty)._search


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize(("n_labels", "budget"), [(16, 10), (20, 900)])
def test_regions_of_free_labels_are_counted_at_once(n_labels, budget, allow_empty):
    """Labels that cost nothing: few evaluations for all labelsets."""
    search = free_labels(9, np.zeros(n_labels, dtype=np.int64), allow_empty=allow_empty)
    assert search.count(np.arange(1), np.array([2]), budget) == [
        (2**n_labels - (not allow_empty), True)
    ]


@pytest.mark.parametrize(
    ("threshold", "n_members"), [(59, 2), (69, 12), (70, 22), (100, 35), (104, 35), (105, 48)]
)
def test_single_flips_are_counted_by_whole_and_by_broken_groups(threshold, n_members):
    """A cheap flip and at most one other fit; of the others groups of eight fit as a whole, in
    part, or not at all.
    """
    search = free_labels(threshold, np.repeat([10, 60, 95], [1, 10, 13]))
    assert search.count(np.arange(1), np.array([2]), 10**4) == [(n_members, True)]


@pytest.mark.parametrize("n_labels", [159, 1000])
@pytest.mark.parametrize("n_folds", [1, 10])
def test_best_is_the_lowest_code_where_everything_ties(n_labels, n_folds):
    """All outputs 0.5: every labelset has the same scores."""
    energy = Energy(np.array([7]), np.zeros((1, n_labels), dtype=np.int64))
    folds = [Fold(np.sort(np.arange(5, 10)), energy)] * n_folds
    for allow_empty in (True, False):
        engine = FoldEngine(folds, allow_empty=allow_empty)
        best = engine.top(5)
        first = 0 if allow_empty else 1
        assert codes_of(best.labelsets[0, :, :60]) == list(range(first, first + 5))
        assert not best.labelsets[0, :, 60:].any()
        assert best.numerators.tolist() == [[3 * n_folds + 1] * 5]
    assert (engine.label_numerators() == 3 * n_folds + 1).all()


@pytest.mark.parametrize("n_labels", [159, 1000])
def test_best_has_the_lowest_total_where_all_p_values_tie(n_labels):
    """Calibration scores above everything: p-values are all 1, total scores decide, and then
    codes.
    """
    rng = np.random.default_rng(n_labels)
    energies = [Energy(np.array([0]), rng.integers(-3, 4, size=(1, n_labels))) for _ in range(4)]
    engine = FoldEngine(
        [Fold(np.sort(np.array([10**9])), one) for one in energies], allow_empty=True
    )
    total = sum(energy.unary[0] for energy in energies)
    best = engine.top(4)
    assert best.numerators.tolist() == [[5] * 4]
    assert np.array_equal(best.labelsets[0, 0], total < 0)
    free = np.flatnonzero(total == 0)[:2]  # flips that cost nothing: the lowest codes come first
    expected = [[], [free[0]], [free[1]], free.tolist()]
    flipped = [np.flatnonzero(row != best.labelsets[0, 0]).tolist() for row in best.labelsets[0]]
    assert flipped == expected


@pytest.mark.parametrize("kind", ["additive", "link", "pairs"])
def test_best_is_found_where_most_labels_tie_and_others_are_certain(kind):
    """A hundred labels of output 0.5 below labels that are on: codes decide, and they must not be
    listed.
    """
    n_labels = 159
    unary = np.zeros((1, n_labels), dtype=np.int64)
    unary[0, 100:] = np.where(np.arange(59) % 3, 900, -1000)
    pairwise = np.zeros((n_labels, n_labels), dtype=np.int64)
    pairwise[:100, 100:] = 5 * (np.arange(59) % 3 > 0)  # with labels that are off
    energy = Energy(
        np.array([50_000]),
        unary,
        pairwise if kind == "pairs" else None,
        SquareRoot(12) if kind == "link" else None,
    )
    engine = FoldEngine([Fold(np.sort(np.array([10**9])), energy)] * 3, allow_empty=False)
    best = engine.top(3)
    certain = np.flatnonzero(unary[0] < 0).tolist()
    assert len(certain) == 20
    assert [np.flatnonzero(row).tolist() for row in best.labelsets[0]] == [
        certain,
        [0, *certain],
        [1, *certain],
    ]
    assert best.numerators.tolist() == [[4] * 3]

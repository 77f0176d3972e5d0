"""Searches where pairs of labels have costs: problems, growing lists, many best ones, and how much work they take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import codes_of
from fold_strategies import fold_lists
from labelsure.engine import _pair_search
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._labelset_kernels import NUMERATOR
from labelsure.engine._pair_kernels import ANCHORS_PER_EVALUATION
from labelsure.engine._pair_problem import FINISHED, FOUND, Goal, force_label, pose_problem
from labelsure.engine._pair_search import PairSearch, best_pair_members
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.measures._energy import Energy, Penalty
from labelsure.measures._labelset_bits import unpack
from quadratic_forms import form_engine


def everything_from(smallest):
    """Return the goal of all labelsets with at least this numerator."""
    return Goal(ranked=False, by_total=False, limit=np.array([smallest, 0, 0]))


FOLDS = fold_lists(labels=(1, 5), folds=(1, 3), objects=(1, 3))


@settings(max_examples=60)
@given(FOLDS, st.data())
def test_forced_labels_leave_a_problem_about_the_others(folds, data):
    i = data.draw(st.integers(0, folds[0].energy.n_objects - 1))
    whole = pose_problem(FoldArrays(folds), i)
    t, flipped = data.draw(st.integers(0, len(whole.labels) - 1)), data.draw(st.booleans())
    part = force_label(whole, t, flipped=flipped)
    n_labels = len(whole.labels)
    assert part.labels.tolist() == np.delete(whole.labels, t).tolist()
    before, mode = unpack(np.stack([whole.mode, part.mode]), n_labels)
    assert (before ^ mode).tolist() == [flipped and j == whole.labels[t] for j in range(n_labels)]
    beside = np.vstack([mode, mode ^ np.eye(n_labels, dtype=np.int8)])
    for k, fold in enumerate(folds):
        scores = fold.energy.scores(beside, objects=np.full(len(beside), i))
        assert part.base[k] == scores[0]
        assert part.changes[k].tolist() == (scores[1:] - scores[0])[part.labels].tolist()


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("n_folds", [1, 4])
def test_dense_forms_are_searched_as_they_are_listed(own, n_folds):
    """Fourteen labels under Mahalanobis distances, signed and absolute: search and table agree on everything."""
    for seed in range(3):
        engine = form_engine(seed, n_labels=14, n_folds=n_folds, n_objects=3, own=own)
        assert (engine.folds[0].energy.pairwise.ndim == 3) == own
        by_search, by_table = engine.top(40), engine.table.top(40)
        assert np.array_equal(by_search.labelsets, by_table.labelsets)
        assert np.array_equal(by_search.numerators, by_table.numerators)
        assert np.array_equal(engine.label_numerators(), engine.table.label_numerators())
        for level in (0.05, 0.2, 0.6):
            smallest = int(level * int(engine.denominators[0])) + 1
            least = np.full(3, smallest)
            sizes = [size for size, _ in engine._search.count(np.arange(3), least, 10**9)]
            assert sizes == [size.value for size in engine.table.region_sizes(least)]
            listed, _ = engine.region_members(1, smallest, None)
            assert len(set(codes_of(listed))) == sizes[1]


@pytest.mark.parametrize("kind", ["additive part only", "penalty"])
def test_work_follows_the_members_and_not_the_labels(kind):
    """Forty labels of a Mahalanobis distance: bounds leave few evaluations per member, and per best labelset."""
    parts = {"penalty": Penalty(np.arange(41) * 2**14)} if kind == "penalty" else {}
    for n_folds in (1, 5):
        engine = form_engine(
            0,
            n_labels=40,
            n_folds=n_folds,
            n_objects=4,
            n_calibration=500,
            strength=0.3,
            shape=(0.1, 0.9),
            **parts,
        )
        smallest = engine.top(300).numerators[:, -1]
        n_found = work = 0
        for one in map(engine._search.pose, range(4)):
            assert not one.problem.costs.charged.any()
            search = PairSearch(one.problem, one.lookup, 0)
            assert search.go_on(everything_from(smallest[one.i]), 1_000_000) == FINISHED
            n_found, work = n_found + search.stack.numbers[FOUND], work + search.work
            best = PairSearch(one.problem, one.lookup, 2)
            goal = Goal(ranked=True, by_total=True, limit=np.array([-(2**60), 2**60, 0]))
            assert best.go_on(goal, 3000) == FINISHED
        assert n_found > 1000
        assert work < 60 * n_found


def test_lists_grow_where_searches_go_deep(monkeypatch):
    """All labels undecided, so that lists are long at every level: room for them is made while the search goes on."""
    widths, search = set(), _pair_search.search_pairs

    def counted(costs, lookup, goal, budget, stack, *others):
        widths.add(stack.entries.shape[1])
        return search(costs, lookup, goal, budget, stack, *others)

    monkeypatch.setattr(_pair_search, "search_pairs", counted)
    pairwise = np.ones((12, 12), dtype=np.int64)
    fold = Fold(
        np.sort(np.array([10**6])),
        Energy(np.array([0]), np.ones((1, 12), dtype=np.int64), pairwise),
    )
    engine = FoldEngine([fold], allow_empty=True)
    labelsets, _ = engine.region_members(0, 2, None)
    assert sorted(codes_of(labelsets)) == list(range(2**12))
    assert len(widths) > 2


@pytest.mark.parametrize("n_best", [45, 400, 4000])
def test_many_best_labelsets_are_found_in_order(n_best):
    """More than one flip can give: in the order of a list of the whole region."""
    engine = form_engine(1, n_labels=40, n_folds=2, strength=0.3)
    best = engine.top(n_best)
    smallest = int(best.numerators[0, -1])
    parts = zip(*engine._search.iterate_members(0, smallest), strict=True)
    members, numerators = (np.concatenate(part) for part in parts)
    assert len(members) >= n_best
    totals = engine.total_scores(members, np.zeros(len(members), dtype=np.int64))
    order = np.lexsort((codes_of(members), totals, -numerators))[:n_best]
    assert np.array_equal(best.labelsets[0], members[order])
    assert np.array_equal(best.numerators[0], numerators[order])


def test_searches_for_the_best_can_be_interrupted(monkeypatch):
    """After every evaluation: the kernel comes back, and goes on to the same answers."""
    engine = form_engine(2, n_labels=20, n_folds=3, n_objects=2)
    best, labels = engine.top(5), engine.label_numerators()
    monkeypatch.setattr(_pair_search, "CALL", 1)
    engine = form_engine(2, n_labels=20, n_folds=3, n_objects=2)
    again = engine.top(5)
    assert np.array_equal(best.labelsets, again.labelsets)
    assert np.array_equal(best.numerators, again.numerators)
    assert np.array_equal(labels, engine.label_numerators())


def test_a_budget_ends_a_search_with_the_best_met_so_far():
    engine = form_engine(0, n_labels=12, n_folds=3)
    one, found = engine._search.pose(0), {}
    for budget in (1, 10**9):
        words, rank, missed, _ = best_pair_members(one.problem, one.lookup, 2, budget=budget)
        assert (missed is None) == (budget > 1)
        labelsets = unpack(words, 12)
        assert (
            rank[:, NUMERATOR].tolist()
            == engine.numerators_of(labelsets, np.zeros(len(words), dtype=int)).tolist()
        )
        found[budget] = len(words)
    assert found == {1: 1, 10**9: 2}
    assert np.array_equal(labelsets, engine.table.top(2).labelsets[0])


@pytest.mark.parametrize("kind", ["rule", "penalty"])
def test_lists_without_candidates_or_with_high_penalties_are_not_searched(kind):
    """Of 2^10 labelsets that are members but for the one rule, or the penalty, those of one label are."""
    parts = {"penalty": Penalty(np.where(np.arange(11) < 2, 0, 10**6))} if kind == "penalty" else {}
    energy = Energy(
        np.array([0]), np.ones((1, 10), dtype=np.int64), np.ones((10, 10), dtype=np.int64), **parts
    )
    rules = (
        LabelsetRules(10, (Inequality(frozenset(range(10)), frozenset(), 1),))
        if kind == "rule"
        else None
    )
    engine = FoldEngine([Fold(np.array([1000]), energy)], allow_empty=True, constraints=rules)
    one = engine._search.pose(0)
    search = PairSearch(one.problem, one.lookup, 0)
    assert search.go_on(everything_from(2), 10**4) == FINISHED
    assert search.stack.numbers[FOUND] == 11
    assert search.work < 300


def test_comparing_with_anchors_counts_as_work():
    """Every anchor three times more: the same search, and so much more work for each labelset that was compared."""
    rng = np.random.default_rng(0)
    anchors = (rng.random((200, 12)) < 0.3).astype(np.int8)
    spent, n_found, sizes = [], [], []
    for n_copies in (1, 3, 9):
        penalty = Penalty(None, np.tile(anchors, (n_copies, 1)), 2**10)
        one = form_engine(3, n_labels=12, n_folds=2, penalty=penalty)._search.pose(0)
        search = PairSearch(one.problem, one.lookup, 0)
        assert search.go_on(everything_from(5), 10**9) == FINISHED
        spent.append(search.work)
        n_found.append(int(search.stack.numbers[FOUND]))
        sizes.append(one.lookup.penalties.anchors.size // ANCHORS_PER_EVALUATION)
        # a list is not left unfinished: one penalty and five questions for each of its labels, at
        # most
        overrun = 13 * (sizes[-1] + 5) + 12 * 2
        for budget in (1, 100, 1000):
            search = PairSearch(one.problem, one.lookup, 0)
            search.go_on(everything_from(5), budget)
            assert min(budget, spent[-1]) <= search.work <= budget + overrun
    assert sizes == [1, 4, 14]
    assert n_found[0] == n_found[1] == n_found[2] > 50
    n_compared, left = divmod(spent[1] - spent[0], sizes[1] - sizes[0])
    assert left == 0
    assert n_compared >= n_found[0]
    assert spent[2] - spent[0] == n_compared * (sizes[2] - sizes[0])

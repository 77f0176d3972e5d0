"""The search where pairs of labels have costs: its problems, its answers and how much work they
take.
"""

from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import codes_of
from fold_strategies import fold_lists
from labelsure.engine import _pair_search
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._pair_problem import force_label, pose_problem
from labelsure.engine._results import EngineOptions
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._walk_kernels import FOUND, WORK, Found
from labelsure.measures._energy import Energy, Penalty
from labelsure.measures._labelset_bits import unpack
from quadratic_forms import form_engine
from search_cases import by_rows, random_case

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
    """Fourteen labels under Mahalanobis distances, signed and absolute: search and table agree on
    everything.
    """
    for seed in range(3):
        engine = form_engine(seed, n_labels=14, n_folds=n_folds, n_objects=3, own=own)
        assert (engine.folds[0].energy.pairwise.ndim == 3) == own
        table = by_rows(engine)
        by_search, by_table = engine.top(40), table.top(40)
        assert np.array_equal(by_search.labelsets, by_table.labelsets)
        assert np.array_equal(by_search.numerators, by_table.numerators)
        assert np.array_equal(engine.label_numerators(), table.label_numerators())
        for level in (0.05, 0.2, 0.6):
            smallest = int(level * int(engine.denominators[0])) + 1
            least = np.full(3, smallest)
            sizes = [size for size, _ in engine._search.count(np.arange(3), least, 10**9)]
            assert sizes == [size.value for size in table.region_sizes(least)]
            listed, _ = engine.region_members(1, smallest, None)
            assert len(set(codes_of(listed))) == sizes[1]


@pytest.mark.parametrize("kind", ["additive part only", "penalty"])
def test_work_follows_the_members_and_not_the_labels(kind):
    """Forty labels of a Mahalanobis distance: bounds leave few evaluations per member."""
    parts = {"penalty": Penalty(np.arange(41) * 2**14)} if kind == "penalty" else {}
    for n_folds in (1, 5):
        sizes = {"n_labels": 40, "n_folds": n_folds, "n_objects": 4, "n_calibration": 500}
        engine = form_engine(0, **sizes, strength=0.3, shape=(0.1, 0.9), **parts)
        smallest = engine.top(300).numerators[:, -1]
        search = engine._search
        assert not any(search.pose_one(i).problem.costs.charged.any() for i in range(4))
        block, found = search._pose(np.arange(4)), Found.of(4, 0, 0)
        asked = (np.arange(4), -1, 0, smallest)
        search._search(block, np.arange(4), asked, found, 1_000_000, ranked=False)
        assert found.finished.all()
        assert found.numbers[:, FOUND].sum() > 1000
        assert found.numbers[:, WORK].sum() < 60 * found.numbers[:, FOUND].sum()


@pytest.mark.parametrize("kind", ["rule", "penalty"])
def test_lists_without_candidates_or_with_high_penalties_are_not_searched(kind):
    """Of 2^10 labelsets, all members without the rule or penalty, those of one label remain."""
    parts = {"penalty": Penalty(np.where(np.arange(11) < 2, 0, 10**6))} if kind == "penalty" else {}
    ones = np.ones((10, 10), dtype=np.int64)
    energy = Energy(np.array([0]), ones[:1], ones, **parts)
    one_label = LabelsetRules(10, (Inequality(frozenset(range(10)), frozenset(), 1),))
    rules = one_label if kind == "rule" else None
    engine = FoldEngine([Fold(np.array([1000]), energy)], allow_empty=True, constraints=rules)
    assert engine._search.count(np.arange(1), np.array([2]), 300) == [(11, True)]


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


def pair_cases(n_cases):
    """Return cases of one object with pairs, and the smallest numerators of regions."""
    cases = (random_case(seed, labels=(3, 6), folds=(1, 4), objects=(1, 1)) for seed in count())
    some = list(islice((case for case in cases if case.search().arrays.has_pairs), n_cases))
    return [(case, int(np.quantile(case.ranked()[0].numerators, 0.6))) for case in some]


@pytest.mark.parametrize(("chunk", "call"), [(1, 10**6), (2, 3), (4096, 1)])
def test_searches_with_pairs_go_on_where_they_were_interrupted(chunk, call, monkeypatch):
    """Full buffers and budgets spent after every node: every member once, in the same order."""
    cases = pair_cases(15)

    def iterated(options):
        parts = [
            part
            for case, smallest in cases
            for part, _ in case.search(options).iterate_members(0, smallest)
        ]
        return [code for part in parts for code in codes_of(part)]

    whole = iterated(EngineOptions())
    monkeypatch.setattr(_pair_search, "CALL", call)
    assert iterated(EngineOptions(chunk=chunk)) == whole
    assert len(whole) > 100

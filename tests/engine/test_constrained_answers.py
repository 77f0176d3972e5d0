"""Under constraints, searches and tables answer every question as if brute force's table had been
filtered.

Best, top k, members in order and up to a limit, sizes, iteration, p-values of labels, inner and
outer labels, tables; for implications, exclusions, numbers of a group, lists and hierarchies, and
mixtures of them, over all kinds of scores. ``make validity`` runs 5 000 cases.
"""

from dataclasses import replace

import numpy as np
import pytest

from brute_force import codes_of
from constraint_cases import constrain
from labelsure.engine import Allowed, AtMost, Exactly, Hierarchy, compile_constraints
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine, make_engine
from labelsure.measures._energy import Energy
from labelsure.predictions import LabelsetPredictions
from max_cases import max_energy, random_max_case
from search_cases import BY_SEARCH, assert_answers_equal_brute_force, random_case

N_CASES = 150
N_VALIDITY_BLOCKS, N_VALIDITY_CASES = 20, 250


def constrained_case(seed):
    return constrain(
        random_case(seed, labels=(1, 9), folds=(1, 8)), np.random.default_rng([seed, 2])
    )


@pytest.mark.parametrize("block", range(3))
def test_constrained_answers_equal_filtered_brute_force(block):
    for seed in range(block, N_CASES // 2, 3):
        assert_answers_equal_brute_force(constrained_case(seed), seed)


@pytest.mark.validity
@pytest.mark.parametrize("block", range(N_VALIDITY_BLOCKS))
def test_constrained_answers_equal_filtered_brute_force_in_many_cases(block):
    for seed in range(
        10**6 + block, 10**6 + N_VALIDITY_BLOCKS * N_VALIDITY_CASES, N_VALIDITY_BLOCKS
    ):
        assert_answers_equal_brute_force(constrained_case(seed), seed)


def test_maxima_under_constraints_equal_filtered_brute_force():
    for seed in range(40):
        case = constrain(
            random_max_case(seed, labels=(1, 7), folds=(1, 4)), np.random.default_rng([seed, 3])
        )
        assert_answers_equal_brute_force(case, seed)


def test_cases_cover_what_they_are_meant_to():
    """No vacuous comparisons: searches under rules, without and with pairs, lists, one and many
    candidates.
    """
    cases = [constrained_case(seed) for seed in range(N_CASES)]
    searched = [case for case in cases if case.rules.listed is None]
    assert 20 < len(cases) - len(searched) < 80
    assert sum(case.folds[0].energy.pairwise is None for case in searched) > 40
    assert sum(case.folds[0].energy.pairwise is not None for case in searched) > 10
    assert sum(case.strangest for case in cases) > 5
    shares = np.array([len(case.codes) / 2 ** case.folds[0].energy.n_labels for case in cases])
    assert np.mean(shares < 0.3) > 0.2
    assert np.mean((shares > 0.3) & (shares < 1)) > 0.2


def hierarchy_engine(n_labels, *, rules=None, options=None, n_calibration=200):
    """Return an engine of three objects with labels in a hierarchy, and noisy outputs that need
    not be.
    """
    rng = np.random.default_rng(5)
    labels = (rng.random((n_calibration + 3, n_labels)) < 0.5).astype(np.int8)
    for j in range(3, n_labels):
        labels[:, j] &= labels[:, (j - 3) // 3]
    unary = np.rint(30 - 60 * labels + rng.normal(0, 30, size=labels.shape)).astype(np.int64)
    energy = Energy(np.maximum(-unary, 0).sum(axis=1), unary)
    known = np.arange(n_calibration)
    calibration = np.sort(energy.scores(labels[known], objects=known))
    fold = Fold(calibration, energy.take(np.arange(n_calibration, n_calibration + 3)))
    return FoldEngine([fold, fold], allow_empty=True, constraints=rules, options=options, n_jobs=1)


def tree_of(n_labels):
    return Hierarchy({j: (j - 3) // 3 for j in range(3, n_labels)})


def test_hierarchy_of_forty_labels_equals_filtering_the_region():
    rules, free = compile_constraints(tree_of(40), 40), hierarchy_engine(40)
    engine = hierarchy_engine(40, rules=rules)
    smallest = np.full(3, 80)
    for i in range(3):
        without = np.concatenate([labelsets for labelsets, _ in free.iterate_members(i, 80)])
        expected = set(codes_of(without[rules.allow(without)]))
        members, numerators = engine.region_members(i, 80, None)
        assert set(codes_of(members)) == expected
        assert len(without) > len(expected) > 0
        assert engine.region_sizes(smallest)[i].value == len(expected)
        best = engine.top(5, np.array([i]))
        n_best = min(5, len(expected))
        assert codes_of(best.labelsets[0, :n_best]) == codes_of(members[:n_best])
        assert (
            engine.numerators_of(members, np.full(len(members), i)).tolist() == numerators.tolist()
        )
    assert rules.allow(engine.top(1).labelsets[:, 0]).all()


def test_budgets_leave_bounds_that_hold():
    rules = compile_constraints(tree_of(12), 12)
    exact = hierarchy_engine(12, rules=rules, options=BY_SEARCH)
    few = replace(
        BY_SEARCH,
        first_budget=10,
        best_budget=20,
        count_budget=50,
        max_table_labels=8,
    )
    poor = hierarchy_engine(12, rules=rules, options=few)
    assert (poor.top(2).upper >= exact.top(2).numerators).all()
    assert (poor.label_numerators() >= exact.label_numerators()).all()
    sizes = exact.region_sizes(20)
    for estimate, size in zip(poor.region_sizes(20), sizes, strict=True):
        assert estimate.at_least <= size.value <= estimate.at_most
        assert estimate.low <= size.value <= estimate.high
    assert any(not one.exact for one in poor.region_sizes(20))


def test_region_of_everything_has_all_that_is_allowed():
    rules = compile_constraints([tree_of(40), AtMost(2, [0, 1, 2])], 40)
    sizes = hierarchy_engine(40, rules=rules).region_sizes(1)
    assert [size.value for size in sizes] == [rules.n_allowed] * 3
    assert all(size.exact for size in sizes)


@pytest.mark.parametrize("empty", ["ordinary", "strangest", "excluded"])
def test_empty_labelset_obeys_the_constraints_too(empty):
    energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    folds = [Fold(np.array([0, 1, 5]), energy)]
    engine = make_engine(folds, empty=empty, constraints=compile_constraints(Exactly(1, [0, 1]), 2))
    assert engine.p_value_table().tolist() == [[1.0, 0.25]]
    assert engine.candidates().tolist() == [[1, 0], [0, 1]]
    assert engine.numerators_of(np.array([[0, 0]])).tolist() == [0]
    assert not engine.allow_empty
    only_empty = make_engine(
        folds, empty=empty, constraints=compile_constraints(AtMost(0, [0, 1]), 2)
    )
    assert only_empty.candidates().tolist() == ([] if empty == "excluded" else [[0, 0]])
    assert only_empty.top(2).numerators.tolist() == {
        "ordinary": [[2, 0]],
        "strangest": [[1, 0]],
    }.get(empty, [[0, 0]])


def test_listed_labelsets_are_answered_for_any_number_of_labels():
    rng = np.random.default_rng(0)
    listed = np.unique((rng.random((50, 70)) < 0.1).astype(np.int8), axis=0)
    rules = compile_constraints(Allowed(listed), 70)
    energies = [
        Energy(np.zeros(2, dtype=np.int64), rng.integers(-9, 30, size=(2, 70))),
        max_energy(*rng.integers(0, 99, size=(2, 2, 70))),
    ]
    for energy in energies:
        folds = [
            Fold(np.sort(energy.scores(listed[:30], objects=np.zeros(30, dtype=np.int64))), energy)
        ]
        pred = LabelsetPredictions(FoldEngine(folds, allow_empty=True, constraints=rules))
        each = np.stack([pred.p_value(labelset) for labelset in pred.candidates()], axis=1)
        assert np.array_equal(pred.p_values(), each)
        assert np.array_equal(pred.credibility, each.max(axis=1))
        assert np.array_equal(pred.region(0.3).sizes, (each > 0.3).sum(axis=1))
        assert np.allclose(
            pred.rank_labels(method="mass"), each @ pred.candidates() / each.sum(axis=1)[:, None]
        )


def test_tables_of_many_labels_are_refused():
    engine = hierarchy_engine(
        40, rules=compile_constraints([tree_of(40), AtMost(3, list(range(40)))], 40)
    )
    for ask in (engine.candidates, engine.p_value_table, engine.label_masses):
        with pytest.raises(ValueError, match="one by one"):
            ask()
    energy = max_energy(*np.zeros((2, 1, 25), dtype=np.int64))
    rules = compile_constraints(tree_of(25), 25)
    with pytest.raises(ValueError, match="one by one"):
        FoldEngine([Fold(np.array([0]), energy)], allow_empty=True, constraints=rules)

"""An empty labelset that is stranger than every other one: every answer against brute force."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from brute_force import rank_all
from labelsure.engine._composite import GroupedEngine
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import make_engine
from labelsure.engine._results import EngineOptions
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Energy
from max_cases import random_max_case
from search_cases import assert_answers_equal_brute_force, random_case, values_of


@pytest.mark.parametrize("make", [random_case, random_max_case])
@pytest.mark.parametrize("block", range(2))
def test_answers_equal_brute_force(make, block):
    """By search and by table; smoothed, by rules, with pairs, penalties, overrides; by sums and by
    maxima.
    """
    for seed in range(block, 40, 2):
        case = replace(make(seed, labels=(1, 8)), strangest=True)
        assert_answers_equal_brute_force(case, seed)


def simple_folds(n_objects=3, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    folds = []
    for size in (5, 8):
        energy = Energy(
            rng.integers(0, 9, size=n_objects), rng.integers(-5, 5, size=(n_objects, n_labels))
        )
        folds.append(Fold(np.sort(rng.integers(-9, 20, size=size)), energy))
    return folds


def test_the_three_modes_differ_in_the_empty_labelset_alone():
    folds = simple_folds()
    ordinary, strangest, excluded = (
        make_engine(folds, empty=empty) for empty in ("ordinary", "strangest", "excluded")
    )
    table = ordinary.p_value_table()
    assert np.array_equal(strangest.p_value_table()[:, 1:], table[:, 1:])
    assert np.array_equal(excluded.p_value_table(), table[:, 1:])
    assert strangest.p_value_table()[:, 0].tolist() == [1 / 14] * 3
    nothing = np.zeros((3, 4), dtype=np.int8)
    assert [engine.numerators_of(nothing).tolist() for engine in (strangest, excluded)] == [
        [1] * 3,
        [0] * 3,
    ]
    assert [engine.n_candidates for engine in (ordinary, strangest, excluded)] == [16, 16, 15]
    masses = strangest.label_masses()
    p_values = strangest.p_value_table()
    on = (np.arange(16)[:, None] >> np.arange(4)) & 1
    assert masses == pytest.approx(p_values @ on / p_values.sum(axis=1)[:, None])


def test_it_comes_after_labelsets_with_the_same_p_value():
    """All labelsets are stranger than the calibration examples: scores decide, and its own is
    above all.
    """
    fold = Fold(np.sort(np.array([0, 1])), Energy(np.array([9]), np.array([[1, 2]])))
    best = make_engine([fold], empty="strangest").top(5)
    assert best.labelsets[0].tolist() == [[1, 0], [0, 1], [1, 1], [0, 0], [0, 0]]
    assert best.numerators.tolist() == [[1, 1, 1, 1, 0]]
    assert best.certain.all()


def test_engines_taken_and_pickled_agree():
    engine = make_engine(simple_folds(), empty="strangest")
    again = pickle.loads(pickle.dumps(engine))
    some = engine.take(np.array([2, 0]))
    for other, rows in ((again, [0, 1, 2]), (some, [2, 0])):
        assert isinstance(other, LabelsetEngine)
        assert np.array_equal(other.p_value_table(), engine.p_value_table()[rows])
        assert np.array_equal(other.label_numerators(), engine.label_numerators()[rows])


def weights_at(significance):
    """Return a weighing that depends on the level: members have at least so large a share of the
    counts.
    """
    weights = np.tile(np.arange(9), (2, 1))
    return Weighing.ruled(weights, np.full(3, -int(13 * significance)), 1)


def test_levels_decide_about_it_too():
    """With a weighing of its own at each level, the empty labelset is a member if zero counts make
    one.
    """
    engine = make_engine(simple_folds(), empty="strangest", weighing_at=weights_at)
    for level, member in ((Fraction(1, 100), False), (Fraction(1, 2), False)):
        at_level, smallest = engine.at_level(level)
        assert smallest.tolist() == [1] * 3
        assert at_level.strangest
        ranked = [
            rank_all(engine.folds, i, allow_empty=True, rule=weights_at(level), strangest=True)
            for i in range(3)
        ]
        sizes = [len(one.members(1).codes) for one in ranked]
        assert values_of(at_level.region_sizes(smallest)) == sizes
        assert (at_level.numerators_of(np.zeros((3, 4), dtype=np.int8)) >= 1).tolist() == [
            member
        ] * 3
    everything = make_engine(
        simple_folds(), empty="strangest", weighing_at=lambda _: weights_at(Fraction(-1, 2))
    )
    at_level, smallest = everything.at_level(Fraction(1, 2))
    assert values_of(at_level.region_sizes(smallest)) == [16] * 3


def test_groups_know_it_too():
    folds, places = simple_folds(), [np.array([1]), np.array([0, 2])]
    whole = make_engine(folds, empty="strangest")
    groups = [[fold.take(rows) for fold in folds] for rows in places]
    grouped = GroupedEngine([make_engine(one, empty="strangest") for one in groups], places)
    assert np.array_equal(grouped.p_value_table(), whole.p_value_table())
    assert np.array_equal(grouped.label_masses(), whole.label_masses())
    assert np.array_equal(grouped.top(16).labelsets, whole.top(16).labelsets)
    for smallest in (1, 2, 9):
        assert values_of(grouped.region_sizes(smallest)) == values_of(whole.region_sizes(smallest))


def test_estimated_sizes_count_it():
    """Sixty labels: one labelset more, with certified bounds one higher."""
    folds = simple_folds(n_objects=1, n_labels=60)
    rule = Weighing.ruled(np.tile(np.arange(9), (2, 1)), np.array([5]), 100)
    options = EngineOptions(count_budget=100)
    with_it, without = (
        make_engine(folds, empty=empty, weighing=rule, options=options).region_sizes(5)[0]
        for empty in ("strangest", "excluded")
    )
    assert with_it.value == without.value + 1 == 2**60


def test_a_search_that_was_stopped_bounds_what_it_missed_beside_the_empty_labelset():
    """The empty labelset took the place of one that was not found, and its bound: confidence was
    too high.
    """
    options = EngineOptions(table_labels=0, first_budget=3, best_budget=6, chunk=2)
    n_stopped = 0
    for seed in range(40):
        case = replace(random_case(seed, labels=(2, 6), folds=(1, 3)), strangest=True)
        best = case.engine(options=options).top(3)
        n_stopped += int((~best.certain).sum())
        for i, ranked in enumerate(case.ranked()):
            assert (best.upper[i, : len(ranked.numerators)] >= ranked.numerators[:3]).all()
    assert n_stopped > 10

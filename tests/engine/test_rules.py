"""Inequalities in numpy and counted by cases equal looking at every labelset."""

import numpy as np
import pytest
from hypothesis import given

from labelsure.engine import _rules
from labelsure.engine._rules import (
    Inequality,
    LabelsetRules,
    Rules,
    TooEntangledError,
    count_solutions,
)
from labelsure.measures._labelset_bits import decode
from rule_strategies import problems, solutions


@given(problems())
def test_rules_allow_what_obeys_all_inequalities(problem):
    n_labels, given_ones = problem
    rules = LabelsetRules(n_labels, tuple(given_ones))
    expected = solutions(n_labels, given_ones)
    everyone = decode(np.arange(2**n_labels), n_labels)
    assert everyone[rules.allow(everyone)].tolist() == expected
    assert rules.labelsets().tolist() == expected
    assert rules.n_allowed == len(expected) == count_solutions(given_ones, n_labels)
    assert rules.allows_empty == ([0] * n_labels in expected)
    with_labels = [labelset for labelset in expected if any(labelset)]
    assert rules.n_candidates(allow_empty=False) == len(with_labels)


def test_listed_labelsets_obey_the_inequalities_too():
    listed = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.int8)
    rules = LabelsetRules(3, (Inequality(frozenset([0, 1]), frozenset(), 1),), listed)
    assert rules.labelsets().tolist() == [[1, 0, 0], [0, 0, 1]]  # by code
    assert rules.allow(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])).tolist() == [False, True, False]


def test_rules_of_an_object_have_places_for_the_labels_that_are_flipped_only():
    rules = Rules.of([Inequality(frozenset([0, 1, 3]), frozenset(), 1)], 4)
    assert rules.placed(np.array([3, 1])).place.tolist() == [-1, 1, -1, 0]


def test_trees_and_groups_of_many_labels_are_counted():
    chain = [Inequality(frozenset([j + 1]), frozenset([j]), 0) for j in range(120)]
    assert count_solutions(chain, 121) == 122
    group, nothing = frozenset(range(500)), frozenset()
    assert (
        count_solutions([Inequality(group, nothing, 1), Inequality(nothing, group, -1)], 501)
        == 1000
    )
    assert count_solutions([], 300) == 2**300


def test_entangled_constraints_are_given_up(monkeypatch):
    rng = np.random.default_rng(0)
    groups = [
        Inequality(frozenset(rng.permutation(60)[:9].tolist()), frozenset(), 4) for _ in range(60)
    ]
    monkeypatch.setattr(_rules, "MAX_CASES", 100)
    with pytest.raises(TooEntangledError, match="not counted in 100 cases"):
        count_solutions(groups, 60)

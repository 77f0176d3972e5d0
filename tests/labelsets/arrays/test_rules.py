"""Inequalities in numpy, in kernels and counted by cases equal looking at every labelset."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsure._core.labelset_bits import decode, pack, unpack
from labelsure.labelsets.arrays import _counting
from labelsure.labelsets.arrays._counting import Inequality, TooEntangledError, count_solutions
from labelsure.labelsets.arrays._rule_kernels import BROKEN, FORCED, Course, obeys, settle
from labelsure.labelsets.arrays._rules import LabelsetRules, Rules


@st.composite
def inequalities(draw, n_labels):
    labels = draw(st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True))
    n_plus = draw(st.integers(0, len(labels)))
    return Inequality(frozenset(labels[:n_plus]), frozenset(labels[n_plus:]), draw(st.integers(-3, 3)))


@st.composite
def problems(draw):
    n_labels = draw(st.integers(1, 7))
    return n_labels, draw(st.lists(inequalities(n_labels), max_size=6))


def holds(one, labelset):
    """The definition of an inequality."""
    return sum(labelset[j] for j in one.plus) - sum(labelset[j] for j in one.minus) <= one.most


def solutions(n_labels, given_ones):
    everyone = decode(np.arange(2**n_labels), n_labels).tolist()
    return [labelset for labelset in everyone if all(holds(one, labelset) for one in given_ones)]


@settings(max_examples=300)
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


@settings(max_examples=300)
@given(problems(), st.data())
def test_settling_a_label_keeps_all_that_obeys_the_rules(problem, data):
    """Whatever is forced is common to all labelsets that obey the rules, and where nothing is left there are none."""
    n_labels, given_ones = problem
    label = np.array(data.draw(st.permutations(range(n_labels))))
    t = data.draw(st.integers(0, n_labels - 1))
    mode = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)), dtype=np.int8)
    decided = mode.copy()
    for position in range(t + 1):
        decided[label[position]] ^= data.draw(st.integers(0, 1))
    rules = Rules.of(given_ones, n_labels).placed(label)
    cost = np.arange(1, n_labels + 1)[:, None] * np.array([1, 100])
    words, scores = pack(decided[None])[0], np.zeros(2, dtype=np.int64)
    course = Course(pack(mode[None])[0], cost, np.empty(n_labels, dtype=np.int64))
    first = label[: t + 1]
    below = [one for one in solutions(n_labels, given_ones) if all(one[j] == decided[j] for j in first)]
    if below:
        assert obeys(words, course.mode, t + 1, rules)
    outcome = settle(label[t], t + 1, words, scores, course, rules)
    settled = unpack(words[None], n_labels)[0]
    flipped = np.flatnonzero(settled != decided)
    assert set(flipped.tolist()).isdisjoint(first.tolist())
    assert not below or outcome != BROKEN
    assert (outcome == FORCED) == bool(len(flipped)) or outcome == BROKEN
    assert all(one[j] == settled[j] for one in below for j in flipped)
    assert scores.tolist() == cost[rules.place[flipped]].sum(axis=0).tolist()


def test_listed_labelsets_obey_the_inequalities_too():
    listed = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.int8)
    rules = LabelsetRules(3, (Inequality(frozenset([0, 1]), frozenset(), 1),), listed)
    assert rules.labelsets().tolist() == [[1, 0, 0], [0, 0, 1]]  # by code
    assert rules.allow(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])).tolist() == [False, True, False]


def test_trees_and_groups_of_many_labels_are_counted():
    chain = [Inequality(frozenset([j + 1]), frozenset([j]), 0) for j in range(120)]
    assert count_solutions(chain, 121) == 122
    group, nothing = frozenset(range(500)), frozenset()
    assert count_solutions([Inequality(group, nothing, 1), Inequality(nothing, group, -1)], 501) == 1000
    assert count_solutions([], 300) == 2**300


def test_entangled_constraints_are_given_up(monkeypatch):
    rng = np.random.default_rng(0)
    groups = [Inequality(frozenset(rng.permutation(60)[:9].tolist()), frozenset(), 4) for _ in range(60)]
    monkeypatch.setattr(_counting, "MAX_CASES", 100)
    with pytest.raises(TooEntangledError, match="not counted in 100 cases"):
        count_solutions(groups, 60)

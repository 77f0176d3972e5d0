"""Compiled inequalities equal looking at every labelset."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labelsure.engine._rule_kernels import BROKEN, FORCED, Course, obeys, settle
from labelsure.engine._rules import Rules
from labelsure.measures._labelset_bits import pack, unpack
from rule_strategies import problems, solutions


@given(problems(), st.data())
def test_settling_a_label_keeps_all_that_obeys_the_rules(problem, data):
    """Whatever is forced is common to all labelsets that obey the rules, and where nothing is left
    there are none.
    """
    n_labels, given_ones = problem
    label = np.array(data.draw(st.permutations(range(n_labels))))
    t = data.draw(st.integers(0, n_labels - 1))
    mode = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)), dtype=np.int8
    )
    decided = mode.copy()
    for position in range(t + 1):
        decided[label[position]] ^= data.draw(st.integers(0, 1))
    rules = Rules.of(given_ones, n_labels).placed(label)
    cost = np.arange(1, n_labels + 1)[:, None] * np.array([1, 100])
    words, scores = pack(decided[None])[0], np.zeros(2, dtype=np.int64)
    course = Course(pack(mode[None])[0], cost, np.empty(n_labels, dtype=np.int64))
    first = label[: t + 1]
    below = [
        one for one in solutions(n_labels, given_ones) if all(one[j] == decided[j] for j in first)
    ]
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

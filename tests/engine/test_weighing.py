"""Counts become numerators in one way: plain, smoothed and by rules, against definitions in exact
arithmetic.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import apply_rule
from labelsure._random import DRAW_UNIT
from labelsure.engine._weighing import Weighing

COUNTS = st.integers(1, 4).flatmap(
    lambda k: st.tuples(
        arrays(np.int64, (k, 3), elements=st.integers(0, 9)),
        arrays(np.int64, (k, 3), elements=st.integers(0, 9)),
    ).map(lambda two: (np.maximum(*two), np.minimum(*two)))
)
"""How many scores of each fold are >= and > those of three labelsets."""


@st.composite
def rules(draw, n_folds):
    weights = np.cumsum(
        draw(arrays(np.int64, (n_folds, 10), elements=st.integers(0, 5))), axis=1
    ) - draw(st.integers(0, 20))
    start = draw(arrays(np.int64, 3, elements=st.integers(1, 9)))
    return Weighing.ruled(weights, start, np.array([7, 8, 9]))


@given(COUNTS)
def test_plain_numerators_are_one_plus_the_counts(counts):
    at_least, _ = counts
    weighing = Weighing.plain(40, 3)
    for kind in (np.int64, np.int32):
        numerators = weighing.numerators(at_least.astype(kind), at_least, np.arange(3))
        assert numerators.tolist() == (1 + at_least.sum(axis=0)).tolist()
        one_fold = at_least.sum(axis=0, dtype=kind)[None]
        assert weighing.numerators(one_fold, one_fold, np.arange(3)).dtype == kind
    assert weighing.denominators.tolist() == [41] * 3
    assert weighing.lowest.tolist() == [1] * 3
    assert (weighing.additive, weighing.looks_above, weighing.is_plain) == (True, False, True)


@given(COUNTS, arrays(np.int64, 3, elements=st.sampled_from([1, 2, DRAW_UNIT // 3, DRAW_UNIT])))
def test_smoothed_p_values_are_those_of_the_definition(counts, draws):
    at_least, above = counts
    weighing = Weighing.smoothed(40, draws)
    numerators = weighing.numerators(at_least, above, np.arange(3))
    for r, draw in enumerate(draws.tolist()):
        larger, equal = int(above[:, r].sum()), int((at_least - above)[:, r].sum())
        expected = (larger + Fraction(draw, DRAW_UNIT) * (equal + 1)) / 41
        assert Fraction(int(numerators[r]), int(weighing.denominators[r])) == expected
    assert weighing.lowest.tolist() == draws.tolist()
    assert weighing.additive


@given(COUNTS.flatmap(lambda counts: st.tuples(st.just(counts), rules(len(counts[0])))))
def test_rules_equal_the_definition(counts_and_rule):
    (at_least, _), rule = counts_and_rule
    numerators = rule.numerators(at_least, at_least, np.arange(3))
    assert numerators.tolist() == [apply_rule(rule, i, at_least[:, i]) for i in range(3)]
    assert rule.lowest.tolist() == [apply_rule(rule, i, [0] * len(at_least)) for i in range(3)]
    assert (numerators >= rule.lowest).all()
    assert not rule.additive


@given(
    COUNTS.flatmap(lambda counts: st.tuples(st.just(counts), rules(len(counts[0])))), st.booleans()
)
def test_taken_and_repeated_objects_keep_their_numerators(counts_and_rule, ruled):
    (at_least, above), rule = counts_and_rule
    weighing = rule if ruled else Weighing.smoothed(40, np.array([1, 2**30, 2**31]))
    chosen = np.array([2, 0, 2])
    expected = weighing.numerators(at_least, above, np.arange(3))[chosen]
    assert (
        weighing.numerators(at_least[:, chosen], above[:, chosen], chosen).tolist()
        == expected.tolist()
    )
    some = weighing.take(chosen)
    assert (
        some.numerators(at_least[:, chosen], above[:, chosen], np.arange(3)).tolist()
        == expected.tolist()
    )
    assert some.denominators.tolist() == weighing.denominators[chosen].tolist()


@pytest.mark.parametrize("draws", [None, np.array([5, DRAW_UNIT])])
def test_numerators_of_scores_count_calibration_scores(draws):
    calibrations = [np.sort(np.array([1, 2, 2, 5])), np.sort(np.array([0, 7]))]
    scores = np.array([[2, 6], [7, 0]])
    weighing = Weighing.plain(6, 2) if draws is None else Weighing.smoothed(6, draws)
    at_least, above = np.array([3 + 1, 0 + 2]), np.array([1 + 0, 0 + 1])
    expected = at_least + 1
    if draws is not None:
        expected = above * DRAW_UNIT + draws * (at_least - above + 1)
    assert weighing.of_scores(calibrations, scores, np.arange(2)).tolist() == expected.tolist()

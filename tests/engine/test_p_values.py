"""Whole-number p-values: levels and smoothing against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure._random import DRAW_UNIT
from labelsure.engine._p_values import smallest_numerators, weigh_scores

DENOMINATORS = arrays(np.int64, (2, 3), elements=st.integers(1, 30) | st.integers(2**50, 2**60))


@given(DENOMINATORS, st.fractions(0, 1, max_denominator=10**9))
def test_smallest_numerator_is_the_first_above_the_level(denominators, level):
    smallest = smallest_numerators(level, denominators)
    assert smallest.shape == denominators.shape
    for numerator, denominator in zip(smallest.flat, denominators.flat, strict=True):
        assert (
            Fraction(int(numerator), int(denominator))
            > level
            >= Fraction(int(numerator) - 1, int(denominator))
        )


@given(
    arrays(np.int64, st.integers(0, 6), elements=st.integers(0, 4)),
    arrays(np.int64, (2, 3), elements=st.integers(0, 4)),
    arrays(np.int64, 2, elements=st.integers(1, DRAW_UNIT)),
)
def test_equal_scores_count_by_the_object_s_draw(examples, scores, draws):
    calibration = np.sort(examples)
    plain = weigh_scores(calibration, scores, None)
    smoothed = weigh_scores(calibration, scores, draws)
    for (i, j), score in np.ndenumerate(scores):
        above, equal = int(np.sum(examples > score)), int(np.sum(examples == score))
        assert plain[i, j] == above + equal
        assert Fraction(int(smoothed[i, j]), DRAW_UNIT) == above + equal * Fraction(
            int(draws[i]), DRAW_UNIT
        )

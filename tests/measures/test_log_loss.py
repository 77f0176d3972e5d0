"""The log loss, against a transcription of its formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.measures import LogLossMeasure
from labelsure.measures._labelset_bits import decode

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1e-6, 1 - 1e-6, 1 - 2**-53]) | st.floats(
    0, 1
)
FLOORS = st.sampled_from([1e-6, 1e-300, 0.49, 0.01]) | st.floats(1e-12, 0.499)


def transcription(t, o, floor):
    """-sum_j log of the probability given to t_j, outputs clipped to [floor, 1 - floor]."""
    total = 0.0
    for tj, oj in zip(t, o, strict=True):
        clipped = min(max(Fraction(float(oj)), Fraction(floor)), 1 - Fraction(floor))
        total -= math.log(clipped if tj else 1 - clipped)
    return total


@st.composite
def fitted_measures(draw):
    n_labels = draw(st.integers(1, 5))
    outputs = draw(arrays(np.float64, (draw(st.integers(1, 3)), n_labels), elements=OUTPUTS))
    return LogLossMeasure(floor=draw(FLOORS)).fit(np.zeros((0, n_labels))), outputs


@given(fitted_measures())
def test_log_loss_equals_formula(parts):
    measure, outputs = parts
    energy = measure.energy(outputs)
    n_labels = outputs.shape[1]
    # 1 - o is rounded at 2^-53, which next to a tiny probability is much
    tolerance = n_labels * (2.0**-measure.exponent_ + 2.0**-52 / max(measure.floor, 2.0**-52))
    for labelset in decode(np.arange(2**n_labels), n_labels):
        scores = energy.scores(np.tile(labelset, (len(outputs), 1)))
        assert (scores >= 0).all()
        assert (scores < 2**50).all()
        for score, output in zip(scores * 2.0**-measure.exponent_, outputs, strict=True):
            assert abs(score - transcription(labelset, output, measure.floor)) <= tolerance
            assert score <= measure.bound_ + tolerance


@pytest.mark.parametrize("floor", [0, -0.1, np.nan, np.inf, "0.1", None, True])
def test_floors_that_are_no_numbers_above_zero_are_refused(floor):
    with pytest.raises(ValueError, match="floor must be a finite number above 0, got "):
        LogLossMeasure(floor=floor).fit([[1, 0]])


@pytest.mark.parametrize("floor", [0.5, 0.9, 1])
def test_floors_of_one_half_or_more_are_refused(floor):
    with pytest.raises(
        ValueError, match=rf"floor must lie below one half, got {floor}: outputs are clipped"
    ):
        LogLossMeasure(floor=floor).fit([[1, 0]])

"""The log loss, against a transcription of its formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import NotFittedError

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


def test_a_certain_output_that_is_wrong_costs_the_log_of_the_floor():
    measure = LogLossMeasure(floor=0.25).fit([[1, 0]])
    energy = measure.energy([[0.0, 1.0]])
    unit = 2.0**-measure.exponent_
    assert energy.scores([[1, 0]])[0] * unit == pytest.approx(-2 * math.log(0.25), abs=2 * unit)
    assert energy.scores([[0, 1]])[0] * unit == pytest.approx(-2 * math.log(0.75), abs=2 * unit)
    assert measure.bound_ == pytest.approx(-2 * math.log(0.25))


def test_equal_likelihoods_on_paper_are_equal_integers():
    """The same costs in another order; a sum of floats would depend on it."""
    rng = np.random.default_rng(0)
    outputs = rng.choice([0.1, 0.3, 0.7], size=12)
    orders = rng.permuted(np.tile(np.arange(12), (50, 1)), axis=1)
    assert len({float(np.cumsum(np.log(outputs[order]))[-1]) for order in orders}) > 1
    energy = LogLossMeasure().fit(np.ones((1, 12))).energy(outputs[orders])
    assert len(set(energy.constant.tolist())) == 1
    assert len(set(energy.scores(outputs[orders] > 0.5).tolist())) == 1


@pytest.mark.parametrize("exponent", [20, 33, 40])
def test_log_loss_can_be_had_in_coarser_units(exponent):
    measure = LogLossMeasure().fit(np.zeros((1, 3)))
    outputs = np.array([[0.1, 0.6, 0.9]])
    coarse = measure.energy(outputs, exponent=exponent)
    scores = coarse.scores(np.array([[1, 0, 1]]))
    assert scores[0] * 2.0**-exponent == pytest.approx(
        transcription([1, 0, 1], outputs[0], 1e-6), abs=3 * 2.0**-exponent
    )


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


def test_bad_input_of_log_loss_is_refused():
    with pytest.raises(NotFittedError):
        LogLossMeasure().energy([[0.5]])
    with pytest.raises(ValueError, match="Y must hold only 0 and 1, got 2"):
        LogLossMeasure().fit([[1, 2]])
    with pytest.raises(ValueError, match=r"outputs must lie between 0 and 1, got 1\.5"):
        LogLossMeasure().fit([[1, 0]]).energy([[0.5, 1.5]])
    with pytest.raises(TypeError):
        LogLossMeasure(0.1)

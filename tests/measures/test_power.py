"""The paper's measure, against a transcription of its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.measures import PowerMeasure
from labelsure.measures._labelset_bits import decode

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1 - 2**-53]) | st.floats(0, 1)
POWERS = st.sampled_from([0.5, 1, 2, 4, 8]) | st.floats(0.01, 50)
PENALTIES = st.sampled_from([0, 1e-15, 0.1, 1, 1000]) | st.floats(0, 100)


def transcription(t, o, d, pair_penalty, training):
    """sum_j |t_j - o_j|^d + lambda * #{pairs in the labelset that no training example has}."""
    errors = sum(abs(float(tj) - float(oj)) ** d for tj, oj in zip(t, o, strict=True))
    on = [j for j, tj in enumerate(t) if tj]
    unseen = sum(not any(row[j] and row[r] for row in training) for j in on for r in on if j < r)
    return errors + pair_penalty * unseen


@st.composite
def fitted_measures(draw):
    n_labels = draw(st.integers(1, 5))
    training = draw(
        arrays(np.int8, (draw(st.integers(1, 6)), n_labels), elements=st.integers(0, 1))
    )
    outputs = draw(arrays(np.float64, (draw(st.integers(1, 3)), n_labels), elements=OUTPUTS))
    return PowerMeasure(draw(POWERS), pair_penalty=draw(PENALTIES)).fit(training), training, outputs


@given(fitted_measures())
def test_scores_equal_formula(parts):
    measure, training, outputs = parts
    energy = measure.energy(outputs)
    n_labels = outputs.shape[1]
    tolerance = (n_labels + n_labels * (n_labels - 1) / 2) * 2.0**-measure.exponent_
    for labelset in decode(np.arange(2**n_labels), n_labels):
        scores = energy.scores(np.tile(labelset, (len(outputs), 1))) * 2.0**-measure.exponent_
        for score, output in zip(scores, outputs, strict=True):
            expected = transcription(labelset, output, measure.d, measure.pair_penalty, training)
            assert abs(score - expected) <= tolerance


def test_equal_scores_on_paper_are_equal_integers():
    """The same errors in another order; a sum of floats would depend on it."""
    rng = np.random.default_rng(0)
    outputs = rng.choice([0.1, 0.3, 0.7], size=12)
    orders = rng.permuted(np.tile(np.arange(12), (50, 1)), axis=1)
    assert len({float(np.cumsum(outputs[order] ** 3)[-1]) for order in orders}) > 1
    energy = PowerMeasure(d=3).fit(np.ones((1, 12))).energy(outputs[orders])
    assert len(set(energy.constant.tolist())) == 1
    assert len(set(energy.scores(outputs[orders] > 0.5).tolist())) == 1


def test_unseen_pairs_are_those_of_no_training_example():
    measure = PowerMeasure(pair_penalty=1).fit([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    pairs = {(int(j), int(r)) for j, r in np.argwhere(measure.unseen_pairs_)}
    assert pairs == {(0, 2), (0, 3), (1, 3), (2, 3)}
    pairwise = measure.energy(np.full((1, 4), 0.5)).pairwise
    assert np.array_equal(pairwise, measure.unseen_pairs_ * 2**measure.exponent_)


@pytest.mark.parametrize("d", [0, -1, np.nan, np.inf, "4", None, True])
def test_bad_powers_are_refused(d):
    with pytest.raises(ValueError, match="d must be a finite number above 0, got "):
        PowerMeasure(d=d).fit([[1, 0]])


@pytest.mark.parametrize("penalty", [-1e-9, np.nan, np.inf, "1", None, False])
def test_bad_penalties_are_refused(penalty):
    with pytest.raises(
        ValueError, match="pair_penalty must be a finite number of at least 0, got "
    ):
        PowerMeasure(pair_penalty=penalty).fit([[1, 0]])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([[0.5, 1.5]], "outputs must lie between 0 and 1, got 1.5 in row 0, column 1.*expit"),
        ([[0.5, 0.5], [-0.1, 0.5]], "got -0.1 in row 1, column 0"),
        ([[np.nan, 0.5]], "got nan in row 0, column 0"),
        ([[0.5]], r"outputs must have shape \(n_objects, 2\), got \(1, 1\)"),
        ([0.5, 0.5], r"outputs must have shape \(n_objects, 2\), got \(2,\)"),
        (
            [["a", "b"]],
            r"outputs must be a dense array of numbers of shape \(n_objects, 2\), got a list",
        ),
    ],
)
def test_bad_outputs_are_refused(outputs, message):
    with pytest.raises(ValueError, match=message):
        PowerMeasure().fit([[1, 0]]).energy(outputs)


def test_bad_training_labels_are_refused():
    with pytest.raises(ValueError, match="Y must hold only 0 and 1, got 2"):
        PowerMeasure().fit([[1, 2]])

"""The combination of label-wise p-values, against a transcription of its formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.tree import DecisionTreeClassifier

from labelsure import InductiveConformalClassifier
from labelsure.measures import LabelWiseCombination, Need
from labelsure.measures._labelset_bits import decode

TENTHS = st.integers(0, 10).map(lambda tenths: tenths / 10)
OUTPUTS = TENTHS | st.sampled_from([1e-300, 1 - 2**-53]) | st.floats(0, 1)


def transcription(t, o, Y, outputs):
    """-sum_j log p_j(t_j), errors as exact fractions rounded to 2^-40."""
    total = 0.0
    for j, tj in enumerate(t):
        error = rounded_error(tj, o[j])
        at_least = sum(
            rounded_error(y[j], trained[j]) >= error for y, trained in zip(Y, outputs, strict=True)
        )
        total -= math.log((at_least + 1) / (len(Y) + 1))
    return total


def rounded_error(c, o):
    return abs(int(c) - Fraction(round(Fraction(float(o)) * 2**40), 2**40))


@st.composite
def training_parts(draw, elements=OUTPUTS):
    n_labels, n_training = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    Y = draw(arrays(np.int8, (n_training, n_labels), elements=st.integers(0, 1)))
    training = draw(arrays(np.float64, (n_training, n_labels), elements=elements))
    return (
        Y,
        training,
        draw(arrays(np.float64, (draw(st.integers(1, 3)), n_labels), elements=elements)),
    )


@given(training_parts())
def test_combined_scores_equal_formula(parts):
    Y, training, outputs = parts
    measure = LabelWiseCombination().fit(Y, outputs=training)
    energy = measure.energy(outputs)
    n_labels = outputs.shape[1]
    for t in decode(np.arange(2**n_labels), n_labels):
        scores = energy.scores(np.tile(t, (len(outputs), 1)))
        assert (scores >= 0).all()
        assert (scores * 2.0**-measure.exponent_ <= measure.bound_ + 1e-9).all()
        for score, o in zip(scores * 2.0**-measure.exponent_, outputs, strict=True):
            assert score == pytest.approx(
                transcription(t, o, Y, training), abs=(n_labels + 1) * 2.0**-measure.exponent_
            )


@given(training_parts(elements=TENTHS))
def test_errors_that_are_equal_on_paper_are_tied(parts):
    Y, training, outputs = parts
    measure = LabelWiseCombination().fit(Y, outputs=training)
    tenths = np.rint(10 * training).astype(int)
    errors = np.where(Y == 1, 10 - tenths, tenths)
    energy = measure.energy(outputs)
    for i, o in enumerate(np.rint(10 * outputs).astype(int)):
        for c, new in ((0, o), (1, 10 - o)):
            p = ((errors >= new).sum(axis=0) + 1) / (len(Y) + 1)
            score = (
                energy.scores(np.full((1, len(o)), c), objects=np.array([i]))[0]
                * 2.0**-measure.exponent_
            )
            assert score == pytest.approx(-np.log(p).sum(), abs=1e-9)


def test_out_of_fold_errors_are_those_of_models_that_had_not_seen_the_example():
    rng = np.random.default_rng(0)
    # nothing to learn, much to remember
    X, Y = rng.normal(size=(120, 3)), rng.integers(0, 2, size=(120, 2))
    errors = {}
    for out_of_fold in (False, True):
        measure = LabelWiseCombination(out_of_fold=out_of_fold)
        assert Need.TRAINING_OUTPUTS in measure.needs
        assert Need.TRAINING_LABELS in measure.needs
        assert Need.FEATURES not in measure.needs
        assert (Need.OUT_OF_FOLD_OUTPUTS in measure.needs) is out_of_fold
        model = InductiveConformalClassifier(
            DecisionTreeClassifier(), measure=measure, random_state=0
        ).fit(X, Y)
        errors[out_of_fold] = model.calibrator_.folds[0].measure.errors_ / 2**40
    assert errors[False].max() == 0
    assert 0.3 < errors[True].mean() < 0.7


@pytest.mark.parametrize(
    ("Y", "outputs", "message"),
    [
        ([[1, 0]], None, r"LabelWiseCombination\(\) learns from errors: pass outputs"),
        ([[1, 0]], [[0.5, 1.5]], "outputs must lie between 0 and 1, got 1.5"),
        ([[1, 0]], [[0.5]], r"outputs must have shape \(n_objects, 2\), got \(1, 1\)"),
        (
            [[1, 0]],
            [[0.5, 0.5], [0.5, 0.5]],
            "outputs and Y must have the same number of rows, got 2 and 1",
        ),
        ([[1, 2]], [[0.5, 0.5]], "Y must hold only 0 and 1, got 2"),
        (np.empty((0, 2)), np.empty((0, 2)), "so Y needs at least one row, got none"),
    ],
)
def test_bad_training_parts_of_combinations_are_refused(Y, outputs, message):
    with pytest.raises(ValueError, match=message):
        LabelWiseCombination().fit(Y, outputs=outputs)

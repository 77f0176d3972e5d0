"""How sure a model is: probabilities against all labelsets listed, and which kind goes with which model."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure import LabelWiseConformalClassifier, calibrate_labels, calibrate_outputs
from labelsure.decisions._sureness import (
    Question,
    check_kind,
    log_probability,
    predict_with_sureness,
)

OUTPUTS = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]]
LABELS = [[1, 0], [1, 0], [0, 1]]


def probability_by_hand(predicted, outputs, at_most):
    """The mass of all labelsets that differ from the predicted one in at most this many labels."""
    return sum(
        np.prod(np.where(np.array(labelset) == 1, outputs, 1 - outputs))
        for labelset in product((0, 1), repeat=len(outputs))
        if np.sum(predicted != np.array(labelset)) <= at_most
    )


@given(
    arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0])),
    arrays(np.int8, (3, 4), elements=st.integers(0, 1)),
    st.integers(0, 3),
)
def test_probability_of_few_wrong_labels_is_that_of_all_such_labelsets(outputs, predicted, at_most):
    by_hand = [probability_by_hand(t, o, at_most) for t, o in zip(predicted, outputs, strict=True)]
    np.testing.assert_allclose(
        np.exp(log_probability(predicted, outputs, Question(4, at_most))), by_hand, atol=1e-12
    )


def test_probability_of_very_many_labels_stays_apart():
    """Below the smallest float, where a plain product is 0 for both."""
    outputs = np.array([[0.4] * 3000, [0.41] * 3000])
    first, second = log_probability(
        np.zeros((2, 3000), dtype=np.int8), outputs, Question(3000, at_most=1)
    )
    assert -2000 < second < first < -1000


def test_gap_is_the_difference_of_the_two_lowest_scores():
    predictor = calibrate_outputs(OUTPUTS, LABELS)
    predicted, gap = predict_with_sureness(predictor, [[0.8, 0.3]], Question(2), "gap")
    scores = sorted(predictor.nonconformity([[0.8, 0.3]] * 4, [[0, 0], [1, 0], [0, 1], [1, 1]]))
    assert predicted.tolist() == [[1, 0]]
    assert gap == pytest.approx(scores[1] - scores[0])


@pytest.mark.parametrize(
    ("model", "question", "kind"),
    [
        (calibrate_outputs(OUTPUTS, LABELS), Question(2), "gap"),
        (calibrate_outputs(OUTPUTS, LABELS), Question(2, at_most=1), "outputs"),
        (calibrate_outputs(OUTPUTS, LABELS), Question(2, label=1), "outputs"),
        (calibrate_labels(OUTPUTS, LABELS), Question(2), "outputs"),
        (LabelWiseConformalClassifier(), Question(2, label=0), "outputs"),
    ],
)
def test_default_kind_is_the_first_that_there_is(model, question, kind):
    assert check_kind(None, model, question) == kind


@pytest.mark.parametrize(
    ("model", "question", "kind"),
    [
        (calibrate_outputs(OUTPUTS, LABELS), Question(2, at_most=1), "gap"),
        (calibrate_outputs(OUTPUTS, LABELS), Question(2, at_most=1), "p-values"),
        (calibrate_labels(OUTPUTS, LABELS), Question(2), "p-values"),
        (calibrate_labels(OUTPUTS, LABELS), Question(2), "gap"),
        (calibrate_outputs(OUTPUTS, LABELS), Question(2), "confidence"),
        (calibrate_outputs(OUTPUTS, LABELS), Question(2), 3),
    ],
)
def test_kind_that_does_not_go_with_model_or_question_is_refused(model, question, kind):
    with pytest.raises(
        ValueError, match=r"sureness must be .*None or a function from X to one number per object"
    ):
        check_kind(kind, model, question)


def test_p_values_of_the_next_best_answer_are_one_kind():
    predictor, labels = calibrate_outputs(OUTPUTS, LABELS), calibrate_labels(OUTPUTS, LABELS)
    whole = predict_with_sureness(predictor, [[0.8, 0.3]], Question(2), "p-values")[1]
    assert whole.tolist() == predictor.predict_labelsets([[0.8, 0.3]]).confidence.tolist()
    for model in (predictor, labels):
        _, one = predict_with_sureness(model, [[0.8, 0.3]], Question(2, label=0), "p-values")
        assert one.tolist() == [0.5]


def test_search_that_was_stopped_is_refused_where_it_must_not_depend_on_calibration():
    stopped = SimpleNamespace(
        certain=np.array([True, False]), labelsets=np.zeros((2, 2), dtype=np.int8)
    )
    model = SimpleNamespace(predict_labelsets=lambda _: stopped)
    with pytest.raises(ValueError, match="was not found for certain"):
        predict_with_sureness(model, [[0.0]] * 2, Question(2), lambda _: [1.0, 2.0], exact=True)
    assert predict_with_sureness(model, [[0.0]] * 2, Question(2), lambda _: [1.0, 2.0])[
        1
    ].tolist() == [1.0, 2.0]


NAMES = ("sea", "city")


@pytest.mark.parametrize("label", ["sky", 2, -1, 0.5, True, ["sea"]])
def test_unknown_label_is_named(label):
    with pytest.raises(
        ValueError, match=r"label must be the name of a label or a number from 0 to 1, got .*'sea'"
    ):
        Question.of(0, label, NAMES)


@pytest.mark.parametrize(
    ("at_most", "label", "message"),
    [
        (2, None, "at_most must be below the number of labels, 2, got 2"),
        (-1, None, "at_most must be a whole number of at least 0"),
        (0.5, None, "at_most must be a whole number of at least 0"),
        (1, "sea", "at_most=1 and label='sea' are two questions"),
    ],
)
def test_impossible_question_is_named(at_most, label, message):
    with pytest.raises(ValueError, match=message):
        Question.of(at_most, label, NAMES)


def test_function_of_the_user_must_give_one_number_per_object():
    predictor = calibrate_outputs(OUTPUTS, LABELS)
    _, own = predict_with_sureness(
        predictor, [[0.8, 0.3]], Question(2), lambda X: np.max(X, axis=1)
    )
    assert own.tolist() == [0.8]
    with pytest.raises(
        ValueError, match="sureness and X must have the same number of rows, got 2 and 1"
    ):
        predict_with_sureness(predictor, [[0.8, 0.3]], Question(2), lambda _: [1.0, 2.0])
    with pytest.raises(ValueError, match="sureness must be numbers, got nan"):
        predict_with_sureness(predictor, [[0.8, 0.3]], Question(2), lambda _: [np.nan])

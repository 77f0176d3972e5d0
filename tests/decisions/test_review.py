"""Selection with fitted models: every kind of model, the model's examples, and invalid input."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    ReviewSelector,
    calibrate_labels,
    calibrate_outputs,
    select_objects,
)
from labelsure.decisions._review import Question, log_probability, predict_with_sureness

X, Y = make_multilabel_classification(
    n_samples=400, n_features=6, n_classes=3, length=80, random_state=0
)
TRAIN, HELD_OUT, NEW = slice(0, 150), slice(150, 300), slice(300, 400)
KNN = MLkNNClassifier().fit(X[TRAIN], Y[TRAIN])

MODELS = {
    "inductive": InductiveConformalClassifier(MLkNNClassifier(), random_state=0),
    "cross": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0),
    "label-wise": LabelWiseConformalClassifier(MLkNNClassifier(), random_state=0),
    "label-wise, folds": LabelWiseConformalClassifier(
        MLkNNClassifier(), cv=3, conditional=True, random_state=0
    ),
    "neighbours": KNeighborsClassifier(),
    "logistic regression": OneVsRestClassifier(LogisticRegression()),
    "support vectors": OneVsRestClassifier(LinearSVC()),
}
QUESTIONS = [{}, {"at_most": 1}, {"label": 1}]


def best_labels(model, X):
    """Return the labelsets that certainty refers to: with p-values, the most plausible ones."""
    return (
        model.predict_labelsets(X).labelsets
        if hasattr(model, "predict_labelsets")
        else model.predict(X)
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("question", QUESTIONS, ids=["whole", "at most 1", "one label"])
def test_selection_around_a_model_is_that_of_its_arrays(name, question):
    model = MODELS[name].fit(X[TRAIN], Y[TRAIN])
    selector = ReviewSelector(model, **question).calibrate(X[HELD_OUT], Y[HELD_OUT])
    selection = selector.select(X[NEW], alpha=0.3)
    assert selection.labelsets.tolist() == best_labels(model, X[NEW]).tolist()
    wrong = best_labels(model, X[HELD_OUT]) != Y[HELD_OUT]
    right = ~wrong[:, 1] if "label" in question else wrong.sum(axis=1) <= question.get("at_most", 0)
    assert selector.right_.tolist() == right.tolist()
    of_arrays = select_objects(selector.sureness_, right, selection.sureness, alpha=0.3)
    assert selection.accepted.tolist() == of_arrays.accepted.tolist()
    assert selection.p_values.tolist() == of_arrays.p_values.tolist()


def outputs_of(part, n_folds=None):
    outputs = KNN.predict_proba(X[part])
    return outputs if n_folds is None else np.stack([outputs, outputs**2])


@pytest.mark.parametrize("calibrate", [calibrate_outputs, calibrate_labels])
@pytest.mark.parametrize("n_folds", [None, 2])
def test_ready_made_outputs_are_selected_from(calibrate, n_folds):
    folds = None if n_folds is None else np.arange(50) % 2
    predictor = calibrate(
        KNN.predict_proba(X[150:200]), Y[150:200], folds=folds, label_names=["a", "b", "c"]
    )
    for question in (*QUESTIONS, {"label": "b"}):
        selector = ReviewSelector(predictor, **question)
        selection = selector.calibrate(outputs_of(slice(200, 300), n_folds), Y[200:300]).select(
            outputs_of(NEW, n_folds)
        )
        assert len(selection) == 100
        assert selection.label_names == ("a", "b", "c")


def test_frames_keep_their_names():
    names = ["sea", "city", "wood"]
    frame = pd.DataFrame(X, index=[f"photo {i}" for i in range(400)])
    labels = pd.DataFrame(Y, columns=names)
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(
        frame[TRAIN], labels[TRAIN]
    )
    selector = ReviewSelector(model, label="wood").calibrate(
        frame[HELD_OUT], labels[HELD_OUT][names[::-1]]
    )
    by_position = ReviewSelector(model, label=2).calibrate(frame[HELD_OUT], Y[HELD_OUT])
    assert selector.right_.tolist() == by_position.right_.tolist()
    table = selector.select(frame[NEW], alpha=0.2).to_frame(prefix="is_")
    assert table.columns.tolist() == [
        "is_sea",
        "is_city",
        "is_wood",
        "accepted",
        "p_value",
        "sureness",
    ]
    assert table.index[0] == "photo 300"
    assert "a wrong value of 'wood'" in selector.select(frame[NEW], alpha=0.2).statement


def own_examples(model, **options):
    return ReviewSelector(model, **options).calibrate(X[:300], Y[:300], from_fit=True)


@pytest.mark.parametrize("kind", ["gap", "outputs"])
def test_own_calibration_examples_change_neither_prediction_nor_sureness(kind):
    """Unseen labelsets for the calibration examples do not change anything."""
    learner = OneVsRestClassifier(LogisticRegression()).fit(X[TRAIN], Y[TRAIN])
    answers = []
    for labels in (Y[HELD_OUT], 1 - Y[HELD_OUT]):
        model = InductiveConformalClassifier(learner, prefit=True).fit(
            X[HELD_OUT],
            labels,
            training_labels=Y[TRAIN],
            training_outputs=learner.predict_proba(X[TRAIN]),
        )
        selector = ReviewSelector(model, sureness=kind).calibrate(
            X[HELD_OUT], labels, from_fit=True
        )
        selection = selector.select(X[NEW], alpha=0.3)
        answers.append(
            (selection.labelsets.tolist(), selection.sureness.tolist(), selector.sureness_.tolist())
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (CrossConformalClassifier(MLkNNClassifier(), cv=3), {}, "from_fit requires an"),
        (LabelWiseConformalClassifier(MLkNNClassifier()), {}, "from_fit requires an"),
        (
            InductiveConformalClassifier(MLkNNClassifier()),
            {"sureness": "p-values"},
            "p-values depend on the examples",
        ),
        (InductiveConformalClassifier(MLkNNClassifier()), {"sureness": len}, "functions of your"),
        (
            InductiveConformalClassifier(MLkNNClassifier(), mondrian="cardinality"),
            {},
            "from_fit cannot be used with mondrian or weight",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier(), weight=lambda X: np.ones(len(X))),
            {},
            "from_fit cannot be used with mondrian or weight",
        ),
    ],
)
def test_own_calibration_examples_are_refused_where_they_are_known(model, options, message):
    with pytest.raises(ValueError, match=message):
        own_examples(model.fit(X[:300], Y[:300]), **options)


def test_own_calibration_examples_are_rows_of_x_with_unknown_labels():
    """With a joint learner, and with a prefit one; the statement counts incomplete examples."""
    gaps = np.where(np.random.RandomState(0).rand(300, Y.shape[1]) < 0.1, np.nan, Y[:300])
    learner = RandomForestClassifier(10, random_state=0)
    models = [
        InductiveConformalClassifier(learner, random_state=0),
        InductiveConformalClassifier(clone(learner).fit(X[300:400], Y[300:400]), prefit=True),
    ]
    for model in models:
        (rows,) = model.fit(X[:300], gaps).fold_indices_
        own = ReviewSelector(model).calibrate(X[:300], gaps, from_fit=True)
        fresh = ReviewSelector(model).calibrate(X[rows], Y[rows])
        assert (own.sureness_.tolist(), own.right_.tolist()) == (
            fresh.sureness_.tolist(),
            fresh.right_.tolist(),
        )
        selection = own.select(X[NEW], alpha=0.5)
        assert selection.accepted.any()
        assert (
            f"{model.n_incomplete_} more examples have unknown labels and do not calibrate"
            in selection.statement
        )


def test_own_calibration_examples_that_belong_together_are_refused():
    """Pages of one document are no exchangeable examples; groups of one example each are."""
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
    own_examples(model.fit(X[:300], Y[:300], groups=np.arange(300)))
    with pytest.raises(ValueError, match="from_fit cannot be used with groups"):
        own_examples(model.fit(X[:300], Y[:300], groups=np.arange(300) // 3))


def test_other_examples_than_those_of_fit_are_noticed():
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="from_fit takes the 300 examples that fit was given"):
        ReviewSelector(model).calibrate(X[HELD_OUT], Y[HELD_OUT], from_fit=True)
    with pytest.raises(ValueError, match="in the same order, but the scores"):
        ReviewSelector(model).calibrate(X[299::-1], Y[299::-1], from_fit=True)


def test_classifier_without_outputs_needs_a_function():
    class Silent:
        def predict(self, X):
            return KNN.predict(X)

    with pytest.raises(ValueError, match="sureness must be None or a function from X"):
        ReviewSelector(Silent()).calibrate(X[HELD_OUT], Y[HELD_OUT])
    selector = ReviewSelector(Silent(), sureness=lambda X: X[:, 0])
    assert len(selector.calibrate(X[HELD_OUT], Y[HELD_OUT]).select(X[NEW])) == 100


@pytest.mark.parametrize(
    ("model", "held_out", "labels", "message"),
    [
        (InductiveConformalClassifier, X, Y, "got the class InductiveConformalClassifier. Pass a"),
        ("a model", X, Y, "model must be a fitted predictor"),
        (KNeighborsClassifier(), X, Y, "not fitted yet"),
        (KNN, X[:0], Y[:0], "at least one held-out example, got none"),
        (KNN, X[:3], Y[:2], "X and y must have the same number of rows, got 3 and 2"),
        (KNN, X[:3], Y[:3, :2], "3 columns, one per label, got 2|3 labels"),
        (KNN, X[:3], np.full((3, 3), np.nan), "y must hold only 0 and 1, got nan"),
        (KNN, np.full((3, 6), np.nan), Y[:3], "NaN"),
    ],
)
def test_bad_models_and_examples_are_named(model, held_out, labels, message):
    with pytest.raises(ValueError, match=message):
        ReviewSelector(model).calibrate(held_out, labels)
    with pytest.raises(NotFittedError, match=r"call calibrate\(X, y\) first"):
        ReviewSelector(model).select(X[NEW])


OUTPUTS = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]]


CALIBRATION = [[1, 0], [1, 0], [0, 1]]


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


NAN = float("nan")


OBJECTS = np.random.default_rng(0).random((200, 3))


LABELS = (OBJECTS[:, :2] + 0.2 * np.random.default_rng(1).normal(size=(200, 2)) > 0.5).astype(float)


MODEL = MLkNNClassifier().fit(OBJECTS[:80], LABELS[:80])


def test_selection_uses_the_examples_whose_label_is_known():
    hidden = LABELS[80:150].copy()
    hidden[::3, 1] = NAN
    hidden[:, 0] = NAN
    told = ~np.isnan(hidden[:, 1])
    selector = ReviewSelector(MODEL, label=1).calibrate(OBJECTS[80:150], hidden)
    expected = ReviewSelector(MODEL, label=1).calibrate(OBJECTS[80:150][told], LABELS[80:150][told])
    assert selector.sureness_.tolist() == expected.sureness_.tolist()
    assert selector.right_.tolist() == expected.right_.tolist()
    again, other = (
        selector.select(OBJECTS[150:], alpha=0.2),
        expected.select(OBJECTS[150:], alpha=0.2),
    )
    assert again.accepted.tolist() == other.accepted.tolist()
    frame = pd.DataFrame(hidden[:, ::-1], columns=["b", "a"])
    named = ReviewSelector(MODEL, label="b").calibrate(OBJECTS[80:150], frame)
    assert len(named.right_) == told.sum()


def test_selection_refuses_unknown_labels_it_cannot_use():
    hidden = LABELS[80:150].copy()
    hidden[0, 0] = NAN
    for question in ({}, {"at_most": 1}):
        with pytest.raises(ValueError, match=r"got nan\. Unknown labels require a question about"):
            ReviewSelector(MODEL, **question).calibrate(OBJECTS[80:150], hidden)
    hidden[:, 0] = NAN
    with pytest.raises(ValueError, match="at least one example with 'label_0' known"):
        ReviewSelector(MODEL, label=0).calibrate(OBJECTS[80:150], hidden)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_most": 3}, "at_most must be below the number of labels, 3, got 3"),
        ({"at_most": 0.5}, "at_most must be a whole number of at least 0"),
        ({"at_most": 1, "label": "b"}, "at_most=1 and label='b' are two questions"),
        ({"label": "sky"}, r"label must be the name of a label or a number from 0 to 2.*'a'"),
        ({"label": 3}, "label must be the name of a label or a number"),
        ({"label": ["b"]}, "label must be the name of a label or a number"),
        ({"at_most": 1, "sureness": "gap"}, "sureness must be 'outputs', None or a function"),
        ({"at_most": 1, "sureness": "p-values"}, "sureness must be 'outputs', None or a function"),
        ({"sureness": 3}, "sureness must be 'gap', 'outputs', 'p-values', None or a function"),
        ({"sureness": lambda _: [1.0, 2.0]}, "sureness and X must have the same number of rows"),
        ({"sureness": lambda X: X[:, 0] * np.nan}, "sureness must be numbers, got nan"),
    ],
)
def test_impossible_questions_and_ways_to_be_sure_are_named(options, message):
    model = calibrate_outputs(outputs_of(HELD_OUT), Y[HELD_OUT], label_names=["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        ReviewSelector(model, **options).calibrate(outputs_of(NEW), Y[NEW])


def test_search_that_was_stopped_is_refused_where_it_must_not_depend_on_calibration():
    stopped = SimpleNamespace(
        certain=np.array([True, False]), labelsets=np.zeros((2, 2), dtype=np.int8)
    )
    model = SimpleNamespace(predict_labelsets=lambda _: stopped)
    with pytest.raises(ValueError, match="was not found for certain"):
        predict_with_sureness(model, [[0.0]] * 2, Question(2), lambda _: [1.0, 2.0], exact=True)

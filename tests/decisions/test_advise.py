"""Advice: figures match the answers themselves, bounded work, every kind of model, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    RecallController,
    ReviewSelector,
    advise,
    calibrate_labels,
    calibrate_outputs,
    control_cover,
    control_precision,
    control_recall,
)

QUESTIONS = ["labelsets", "few wrong", "each label", "cover", "recall", "precision", "review"]
X, Y = make_multilabel_classification(
    n_samples=500, n_features=6, n_classes=4, length=80, random_state=0
)
TRAIN, HELD_OUT = slice(0, 200), slice(200, 500)
KNN = MLkNNClassifier().fit(X[TRAIN], Y[TRAIN])
EASY = OneVsRestClassifier(LogisticRegression())

MODELS = {
    "inductive": InductiveConformalClassifier(MLkNNClassifier(), random_state=0),
    "cross": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0),
    "label-wise": LabelWiseConformalClassifier(MLkNNClassifier(), random_state=0),
    "conditional": LabelWiseConformalClassifier(
        MLkNNClassifier(), cv=3, conditional=True, random_state=0
    ),
    "neighbours": KNeighborsClassifier(),
    "support vectors": OneVsRestClassifier(LinearSVC()),
}


def by_question(advice):
    return {(answer.question, answer.level): answer for answer in advice.answers}


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_is_asked_every_question_at_every_level(name):
    advice = advise(MODELS[name].fit(X[:40], Y[:40]), X[HELD_OUT], Y[HELD_OUT])
    assert set(by_question(advice)) == {
        (question, level) for question in QUESTIONS for level in (0.05, 0.1, 0.2)
    }
    assert all(answer.code.count("(") == answer.code.count(")") for answer in advice.answers)


def halves(n, seed=0):
    rows = np.random.RandomState(seed).permutation(n)
    return rows[: n // 2], rows[n // 2 :]


def test_figures_are_those_of_the_answers_themselves():
    calibration, asked = (np.arange(200, 500)[rows] for rows in halves(300))
    answers = by_question(advise(KNN, X[HELD_OUT], Y[HELD_OUT], levels=[0.2]))
    outputs, new, labels = (
        KNN.predict_proba(X[calibration]),
        KNN.predict_proba(X[asked]),
        Y[calibration],
    )
    region = calibrate_outputs(outputs, labels).predict_labelsets(new[:100]).region(0.2)
    assert answers["labelsets", 0.2].figures["median_size"] == np.median(region.sizes)
    assert answers["labelsets", 0.2].figures["undecided"] == region.undecided.mean()
    predictions = calibrate_labels(outputs, labels).predict_labels(new)
    h = int(answers["few wrong", 0.2].figures["h"])
    few = predictions.region(0.2, at_most_wrong=h)
    assert (
        answers["few wrong", 0.2].figures["labels"]
        == (few.undecided | few.empty).sum(axis=1).mean()
    )
    each = predictions.region(0.2, per_label=True)
    assert answers["each label", 0.2].figures["labels"] == each.outer.sum(axis=1).mean()
    assert answers["each label", 0.2].figures["found"] == each.outer[Y[asked] == 1].mean()
    cover = control_cover(outputs, labels, target=0.8).predict(new)
    assert answers["cover", 0.2].figures["covered"] == (cover >= Y[asked]).all(axis=1).mean()
    recall = control_recall(outputs, labels, target=0.8).predict(new)
    assert answers["recall", 0.2].figures["labels"] == recall.sum(axis=1).mean()
    precision = control_precision(outputs, labels, target=0.8).predict(new)
    assert answers["precision", 0.2].figures["some"] == precision.any(axis=1).mean()
    of_predicted = (precision * Y[asked]).sum(axis=1) / precision.sum(axis=1).clip(min=1)
    expected = np.where(precision.any(axis=1), of_predicted, 1).mean()
    np.testing.assert_allclose(answers["precision", 0.2].figures["precision"], expected)
    h = int(answers["review", 0.2].figures["h"])
    selector = ReviewSelector(KNN, at_most=h).calibrate(X[calibration], Y[calibration])
    assert (
        answers["review", 0.2].figures["accepted"]
        == selector.select(X[asked], alpha=0.2).accepted.mean()
    )


def many_labels(n, rng, q=60):
    """Outputs and labels of objects with 3 of 60 labels, the true ones near the top."""
    outputs = 1 / (1 + np.exp(4 - 6 * (rng.random((n, q)) < 0.05) - rng.normal(size=(n, q))))
    return outputs, (rng.random((n, q)) < outputs).astype(int)


def test_many_labels_are_told_to_ask_something_else_and_looked_at_in_bounded_time():
    rng = np.random.default_rng(0)
    predictor = calibrate_outputs(*many_labels(400, rng))
    advice = advise(predictor, *many_labels(1500, rng), max_objects=600)
    answers = by_question(advice)
    assert not any(
        answer.informative for (question, _), answer in answers.items() if question == "labelsets"
    )
    assert advice.first.question in ("few wrong", "each label", "cover", "recall")
    assert "Measured on 300 objects (labelsets on at most 100), with 300 others" in " ".join(
        str(advice).split()
    )
    assert answers["labelsets", 0.05].figures["median_size"] <= 1001
    assert len(np.unique(advice.looked_at)) == 600
    assert advice.looked_at.max() < 1500


def test_nothing_is_recommended_where_nothing_is_known():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=(300, 12))
    predictor = calibrate_outputs(rng.random((100, 12)), rng.integers(2, size=(100, 12)))
    advice = advise(predictor, rng.random((300, 12)), labels)
    assert advice.first is None
    assert "Ask nothing yet" in str(advice)


def test_code_runs_as_it_is_written():
    """Every line that is recommended, with the names that it uses."""
    model = MODELS["inductive"].fit(X[TRAIN], Y[TRAIN])
    names = {
        "model": model,
        "classifier": MLkNNClassifier(),
        "X": X[HELD_OUT],
        "y": Y[HELD_OUT],
        "X_new": X[:5],
    }
    exec("from labelsure import *", names)
    for answer in advise(model, X[HELD_OUT], Y[HELD_OUT]).answers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert len(eval(answer.code, names)) == 5


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((MLkNNClassifier, X, Y), {}, "got the class MLkNNClassifier"),
        ((RecallController(), X, Y), {}, "not fitted yet"),
        ((KNN, X, Y[:10]), {}, "X and y must have the same number of rows"),
        ((KNN, X[:10], Y[:10]), {}, "at least 20 examples, half of which calibrate, got 10"),
        ((KNN, X, Y.astype(float) * np.nan), {}, "y must hold only 0 and 1, got nan"),
        ((KNN, X, Y), {"levels": []}, "levels must hold at least one number"),
        ((KNN, X, Y), {"levels": [0.0]}, "significance must be a number strictly between"),
        ((KNN, X, Y), {"max_objects": 5}, "max_objects must be a whole number of at least 20"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        advise(*arguments, **options)

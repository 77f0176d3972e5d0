"""Precomputed outputs give exactly the classifiers' p-values; labels affect their scores only."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelsure import (
    CrossConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PowerMeasure,
    calibrate_outputs,
)
from labelsure.learners import outputs_of
from labelsure.measures import Need, PosteriorMeasure
from labelsure.measures._auto import default_measure

BASES = {
    "ML-kNN": MLkNNClassifier(3),
    "ML-RBF": MLRBFClassifier(),
    "neighbours": KNeighborsClassifier(3),
    "logistic": OneVsRestClassifier(LogisticRegression()),
}
MEASURES = [default_measure(Need.TRAINING_LABELS), PowerMeasure(2, pair_penalty=0.5)]


class InOtherMemory:
    """An array of another library: in memory, or on a GPU, where numpy cannot read it."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, **options):
        if self.device != 1:
            raise BufferError("not in memory")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class LikeTorch(InOtherMemory):
    def detach(self):
        return self

    def cpu(self):
        return InOtherMemory(self.values)


class LikeJax(InOtherMemory):
    def __array__(self, *_, **__):
        return self.values


class LikeCuPy(InOtherMemory):
    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def get(self):
        return self.values


@pytest.fixture
def data():
    """Three labels, two of which meet in one example only, so its fold has never seen the pair."""
    X, Y = make_multilabel_classification(70, n_features=6, n_classes=3, n_labels=1, random_state=0)
    Y[Y[:, 2] == 1, 0] = 0
    Y[4, [0, 2]] = 1
    return X, Y


def give_draws_of(model, predictor):
    """Return the predictor with the seed of the model's draws, as an int would give another."""
    predictor.calibrator = replace(predictor.calibrator, seed=model.calibrator_.seed)
    return predictor


def assert_same_predictions(pred, expected):
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    np.testing.assert_array_equal(pred.labelsets, expected.labelsets)
    np.testing.assert_array_equal(pred.confidence, expected.confidence)
    np.testing.assert_array_equal(pred.region(0.1).sizes, expected.region(0.1).sizes)
    assert pred.label_names == expected.label_names


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("measure", MEASURES, ids=["default", "penalised"])
@pytest.mark.parametrize("base", BASES)
def test_outputs_of_folds_give_the_cross_conformal_classifier(base, measure, smoothed, data):
    X, Y = data
    common = {"measure": measure, "smoothed": smoothed, "random_state": 9}
    model = CrossConformalClassifier(BASES[base], cv=4, **common).fit(
        X[:60], pd.DataFrame(Y[:60], columns=list("abc"))
    )
    outputs, folds = np.empty((60, 3)), np.empty(60, dtype=int)
    for k, (rows, fitted) in enumerate(zip(model.fold_indices_, model.models_, strict=True)):
        outputs[rows] = outputs_of(fitted, X[rows], 3)
        folds[rows] = 10 * k - 7  # any whole numbers
    predictor = calibrate_outputs(
        outputs, Y[:60], folds=folds, label_names=["a", "b", "c"], **common
    )
    give_draws_of(model, predictor)
    assert predictor.fold_numbers.tolist() == [-7, 3, 13, 23]
    new_outputs = [outputs_of(fitted, X[60:], 3) for fitted in model.models_]
    expected = model.predict_labelsets(X[60:])
    assert_same_predictions(predictor.predict_labelsets(new_outputs, X[60:]), expected)
    assert_same_predictions(predictor.predict_labelsets(np.stack(new_outputs), X[60:]), expected)
    shuffled = np.random.default_rng(0).permutation(60)
    again = calibrate_outputs(
        outputs[shuffled],
        Y[:60][shuffled],
        folds=folds[shuffled],
        label_names=["a", "b", "c"],
        **common,
    )
    give_draws_of(model, again)
    assert_same_predictions(
        again.predict_labelsets(new_outputs), predictor.predict_labelsets(new_outputs)
    )


def test_outputs_in_any_form_are_read_alike(data):
    _, Y = data
    outputs = np.round(np.random.default_rng(0).random(Y.shape), 1).astype(np.float32)
    expected = calibrate_outputs(outputs, Y).predict_labelsets(outputs[:5])
    frame, labels = pd.DataFrame(outputs), pd.DataFrame(Y, columns=["x", "y", "z"])
    for form in (outputs.tolist(), np.asfortranarray(outputs), frame, outputs.astype(float)):
        pred = calibrate_outputs(form, sparse.csr_array(Y)).predict_labelsets(form[:5])
        assert_same_predictions(pred, expected)
    assert calibrate_outputs(frame, labels).predict_labelsets(frame[:5]).label_names == (
        "x",
        "y",
        "z",
    )
    named = calibrate_outputs(frame, labels, label_names=np.array(["u", "v", "w"]))
    assert named.predict_labelsets(frame[:5]).label_names == ("u", "v", "w")
    assert calibrate_outputs(
        outputs, Y, folds=pd.Series(np.arange(70) % 3)
    ).fold_numbers.tolist() == [0, 1, 2]


OUTPUTS, LABELS = np.full((4, 2), 0.5), np.array([[0, 1], [1, 0], [1, 1], [0, 1]])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            {"outputs": OUTPUTS + 0.6},
            ("outputs must lie between 0 and 1, got 1.1 in row 0, column 0", "expit"),
        ),
        ({"outputs": OUTPUTS - 0.6}, ("outputs must lie between 0 and 1, got -0.",)),
        ({"outputs": OUTPUTS * np.nan}, ("outputs must lie between 0 and 1, got nan",)),
        ({"outputs": OUTPUTS * np.inf}, ("outputs must lie between 0 and 1, got inf",)),
        ({"outputs": OUTPUTS[:, :1]}, ("outputs must have shape (n_objects, 2), got (4, 1)",)),
        ({"outputs": OUTPUTS[:, 0]}, ("outputs must have shape (n_objects, 2), got (4,)",)),
        (
            {"outputs": OUTPUTS[:3]},
            ("outputs and Y must have the same number of rows, got 3 and 4",),
        ),
        (
            {"outputs": OUTPUTS[:0], "Y": LABELS[:0]},
            ("at least one calibration example, got none",),
        ),
        ({"Y": LABELS + 1}, ("Y must hold only 0 and 1, got 2",)),
        ({"Y": LABELS[:, 0]}, ("Y must be a label matrix",)),
        (
            {"folds": [0, 1]},
            ("folds must hold one fold number per calibration example, 4 in all", "(2,)"),
        ),
        ({"folds": 3}, ("folds must hold one fold number per calibration example", "()")),
        ({"folds": [1, 1, 1, 1]}, ("folds must name at least two folds",)),
        ({"folds": [0, 1, 0.5, 1]}, ("folds must hold whole numbers, got float64",)),
        ({"folds": ["a", "b", "a", "b"]}, ("folds must hold whole numbers",)),
        ({"folds": [0, 1, None, 1]}, ("folds must hold whole numbers, got object",)),
        (
            {"folds": [0, 1, 0, 1], "training_labels": LABELS},
            ("training_labels cannot be used with folds",),
        ),
        (
            {"training_labels": LABELS[:, :1]},
            ("training_labels must have 2 columns, one per label, got 1",),
        ),
        ({"training_labels": LABELS * 3}, ("training_labels must hold only 0 and 1, got 3",)),
        (
            {"measure": PowerMeasure(pair_penalty=1)},
            ("needs the labelsets", "pass them as training_labels"),
        ),
        ({"measure": "power"}, ("measure must be a nonconformity measure", "'power'")),
        (
            {"empty_labelset": "maybe"},
            ("empty_labelset must be one of 'auto', 'allow', 'exclude', got 'maybe'",),
        ),
        ({"label_names": ["a"]}, ("label_names must name the 2 labels, got 1 names",)),
    ],
)
def test_calibrate_outputs_refuses_bad_input(arguments, parts):
    with pytest.raises(ValueError, match="(?s)" + ".*".join(re.escape(part) for part in parts)):
        calibrate_outputs(**({"outputs": OUTPUTS, "Y": LABELS} | arguments))


@pytest.mark.parametrize(
    ("outputs", "parts"),
    [
        (OUTPUTS, ("outputs must hold one (n_objects, 2) array per fold, 2 in all, got 4",)),
        (None, ("outputs must hold one (n_objects, 2) array per fold, 2 in all, got None",)),
        ([OUTPUTS], ("2 in all, got 1",)),
        ([OUTPUTS, OUTPUTS[:2]], ("of the same objects in every fold",)),
        ([OUTPUTS, OUTPUTS + 1], ("outputs must lie between 0 and 1, got 1.5",)),
        ([OUTPUTS[:, :1], OUTPUTS[:, :1]], ("outputs must have shape (n_objects, 2), got (4, 1)",)),
    ],
)
def test_outputs_predictor_refuses_bad_input(outputs, parts):
    predictor = calibrate_outputs(OUTPUTS, LABELS, folds=[0, 1, 0, 1])
    with pytest.raises(ValueError, match="(?s)" + ".*".join(re.escape(part) for part in parts)):
        predictor.predict_labelsets(outputs)


@pytest.mark.parametrize(
    ("other", "device"),
    [(InOtherMemory, 1), (LikeTorch, 1), (LikeTorch, 2), (LikeJax, 2), (LikeCuPy, 2)],
    ids=["memory", "torch", "torch on a GPU", "jax", "CuPy"],
)
def test_outputs_of_other_libraries_are_read_be_they_on_a_gpu(other, device):
    rng = np.random.default_rng(0)
    outputs, Y, new = rng.random((40, 3)), rng.integers(2, size=(40, 3)), rng.random((5, 3))
    expected = calibrate_outputs(outputs, Y).predict_labelsets(new).p_values()
    predictor = calibrate_outputs(other(outputs, device), other(Y, device))
    np.testing.assert_array_equal(
        predictor.predict_labelsets(other(new, device)).p_values(), expected
    )


def test_default_measure_is_the_papers_where_nothing_is_known_of_the_training_part(data):
    _, Y = data
    outputs = np.round(np.random.default_rng(0).random(Y.shape), 1)
    known = {"folds": np.arange(len(Y)) % 3}
    for given, options, expected in (
        (outputs, {}, PowerMeasure()),
        (outputs, {"training_labels": Y[:9]}, default_measure(Need.TRAINING_LABELS)),
        (outputs, {"training_labels": Y[:9], "training_outputs": outputs[:9]}, PosteriorMeasure()),
        (outputs, known, default_measure(Need.TRAINING_LABELS)),
        (sparse.csr_array(outputs), known, default_measure(Need.TRAINING_LABELS)),
    ):
        assert repr(calibrate_outputs(given, Y, **options).calibrator.folds[0].measure) == repr(
            expected
        )

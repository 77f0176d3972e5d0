"""Learners, tables and tensors of other libraries; skipped where they are not installed."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    calibrate_labels,
    calibrate_outputs,
)
from labelsure.measures import PowerMeasure

FEATURES = list("abcdef")
X, Y = make_multilabel_classification(n_samples=130, n_features=6, n_classes=3, random_state=0)
X = X.astype(np.float32)


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=5, n_jobs=1)


def cross(learner):
    return CrossConformalClassifier(learner, measure=PowerMeasure(), cv=3, random_state=0)


LEARNERS = {
    "lightgbm, one against the rest": lambda: OneVsRestClassifier(lightgbm()),
    "lightgbm, one per label": lambda: MultiOutputClassifier(lightgbm()),
    "xgboost, all labels": xgboost,
    "xgboost, one against the rest": lambda: OneVsRestClassifier(xgboost()),
}
PREDICTORS = {
    "cross": cross,
    "inductive": lambda learner: InductiveConformalClassifier(learner, random_state=0),
    "label-wise": lambda learner: LabelWiseConformalClassifier(learner, cv=3, random_state=0),
}


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_of_other_libraries_are_calibrated(learner, predictor):
    model = PREDICTORS[predictor](LEARNERS[learner]())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X[:100], Y[:100])
        labels = model.predict(X[100:])
    assert labels.shape == (30, 3)
    ask = model.predict_labels if predictor == "label-wise" else model.predict_labelsets
    assert ask(X[100:]).region(0.2).contains(Y[100:]).mean() > 0.5


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_of_other_libraries_take_tables(learner, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(X, **{"columns" if library == "pandas" else "schema": FEATURES})
    model = cross(LEARNERS[learner]())
    expected = model.fit(X[:100], Y[:100]).predict_labelsets(X[100:]).p_values()
    with warnings.catch_warnings():
        # names of features that were there in fit must be in predict
        warnings.simplefilter("error")
        pred = model.fit(frame[:100], Y[:100]).predict_labelsets(frame[100:])
    np.testing.assert_array_equal(pred.p_values(), expected)


@pytest.mark.parametrize("learner", ["xgboost, all labels", "lightgbm, one against the rest"])
def test_models_fitted_elsewhere_are_calibrated_and_pickled(learner):
    fitted = LEARNERS[learner]().fit(X[:60], Y[:60])
    model = InductiveConformalClassifier(fitted, prefit=True, measure=PowerMeasure())
    p_values = model.fit(X[60:100], Y[60:100]).predict_labelsets(X[100:]).p_values()
    outputs, options = (
        fitted.predict_proba(X),
        {"measure": PowerMeasure(), "empty_labelset": "auto"},
    )
    ready = calibrate_outputs(outputs[60:100], Y[60:100], **options)
    copied = pickle.loads(pickle.dumps(model))
    for pred in (ready.predict_labelsets(outputs[100:]), copied.predict_labelsets(X[100:])):
        np.testing.assert_array_equal(pred.p_values(), p_values)


def test_tensors_are_outputs_and_labels():
    torch = pytest.importorskip("torch")
    outputs = np.random.default_rng(0).random((60, 3))
    tensors, labels = torch.tensor(outputs, requires_grad=True), torch.tensor(Y[:60])
    pred = calibrate_outputs(tensors[:40], labels[:40]).predict_labelsets(tensors[40:])
    expected = calibrate_outputs(outputs[:40], Y[:40]).predict_labelsets(outputs[40:])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    np.testing.assert_array_equal(pred.p_value(labels[40:]), expected.p_value(Y[40:60]))
    found = calibrate_labels(tensors[:40], labels[:40].bool()).predict_labels(tensors[40:])
    usual = calibrate_labels(outputs[:40], Y[:40]).predict_labels(outputs[40:])
    np.testing.assert_array_equal(found.p_values, usual.p_values)
    logits, none = torch.linspace(-1, 2, 12).reshape(4, 3), torch.zeros(4, 3)
    with pytest.raises(ValueError, match=r"outputs must lie between 0 and 1, got -1.0 in row 0"):
        calibrate_outputs(logits, none)
    with pytest.raises(ValueError, match=r"A Tensor of type torch.bfloat16 cannot be read"):
        calibrate_outputs(torch.sigmoid(logits).to(torch.bfloat16), none)

"""Learners and arrays of other libraries: boosting, neural networks, tensors. Skipped where they are not installed."""

import importlib
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


def catboost(**options):
    given = {
        "iterations": 5,
        "verbose": 0,
        "thread_count": 1,
        "allow_writing_files": False,
        **options,
    }
    return pytest.importorskip("catboost").CatBoostClassifier(**given)


def skorch():
    """A linear network for several labels; what users write, but for the number of epochs."""
    torch, library = pytest.importorskip("torch"), pytest.importorskip("skorch")

    torch.manual_seed(0)
    return library.NeuralNet(
        torch.nn.Linear,
        module__in_features=6,
        module__out_features=3,
        criterion=_loss(),
        predict_nonlinearity=torch.sigmoid,
        max_epochs=20,
        train_split=None,
        verbose=0,
    )


def _loss():
    torch = importlib.import_module("torch")

    class OfWholeNumbers(torch.nn.BCEWithLogitsLoss):
        def forward(self, outputs, labels):
            return super().forward(outputs, labels.float())

    return OfWholeNumbers


LEARNERS = {
    "lightgbm, one against the rest": lambda: OneVsRestClassifier(lightgbm()),
    "lightgbm, one per label": lambda: MultiOutputClassifier(lightgbm()),
    "xgboost, all labels": xgboost,
    "xgboost, one against the rest": lambda: OneVsRestClassifier(xgboost()),
    "catboost, all labels": lambda: catboost(loss_function="MultiLogloss"),
    "catboost, one against the rest": lambda: OneVsRestClassifier(catboost()),
    "skorch": skorch,
}
PREDICTORS = {
    "cross": lambda learner: CrossConformalClassifier(
        learner, measure=PowerMeasure(), cv=3, random_state=0
    ),
    "inductive": lambda learner: InductiveConformalClassifier(
        learner, random_state=0
    ),  # with the default measure
    "label-wise": lambda learner: LabelWiseConformalClassifier(learner, cv=3, random_state=0),
}


def tables(library):
    frames = pytest.importorskip(library)
    names = {"columns" if library == "pandas" else "schema": FEATURES}
    return frames.DataFrame(X, **names)


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_of_other_libraries_are_calibrated(learner, predictor):
    model = PREDICTORS[predictor](LEARNERS[learner]())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X[:100], Y[:100])
        labels = model.predict(X[100:])
    assert labels.shape == (30, 3)
    assert {*np.unique(labels)} <= {0, 1}
    pred = (
        model.predict_labels(X[100:])
        if predictor == "label-wise"
        else model.predict_labelsets(X[100:])
    )
    assert pred.region(0.2).contains(Y[100:]).mean() > 0.5


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "skorch"])
def test_learners_of_other_libraries_take_tables(learner, library):
    frame = tables(library)
    model = PREDICTORS["cross"](LEARNERS[learner]())
    expected = model.fit(X[:100], Y[:100]).predict_labelsets(X[100:]).p_values()
    with warnings.catch_warnings():
        # of names of features that were there in fit and are not in predict
        warnings.simplefilter("error")
        pred = model.fit(frame[:100], Y[:100]).predict_labelsets(frame[100:])
    np.testing.assert_array_equal(pred.p_values(), expected)


@pytest.mark.parametrize(
    "learner", ["xgboost, all labels", "lightgbm, one against the rest", "catboost, all labels"]
)
def test_models_fitted_elsewhere_are_calibrated_and_pickled(learner):
    fitted = LEARNERS[learner]().fit(X[:60], Y[:60])
    model = InductiveConformalClassifier(fitted, prefit=True, measure=PowerMeasure()).fit(
        X[60:100], Y[60:100]
    )
    p_values = model.predict_labelsets(X[100:]).p_values()
    outputs = fitted.predict_proba(X)
    from_outputs = calibrate_outputs(
        outputs[60:100], Y[60:100], measure=PowerMeasure(), empty="auto"
    )
    np.testing.assert_array_equal(
        from_outputs.predict_labelsets(outputs[100:]).p_values(), p_values
    )
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_labelsets(X[100:]).p_values(), p_values
    )


def test_tensors_are_outputs_and_labels():
    torch = pytest.importorskip("torch")
    outputs = np.random.default_rng(0).random((60, 3))
    tensors, labels = torch.tensor(outputs, requires_grad=True), torch.tensor(Y[:60])
    predictor = calibrate_outputs(tensors[:40], labels[:40])
    expected = calibrate_outputs(outputs[:40], Y[:40]).predict_labelsets(outputs[40:])
    pred = predictor.predict_labelsets(tensors[40:])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    np.testing.assert_array_equal(pred.p_value(labels[40:]), expected.p_value(Y[40:60]))
    assert (
        pred.region(0.2).contains(labels[40:]).tolist()
        == expected.region(0.2).contains(Y[40:60]).tolist()
    )
    of_labels = calibrate_labels(tensors[:40], labels[:40].bool()).predict_labels(tensors[40:])
    np.testing.assert_array_equal(
        of_labels.p_values,
        calibrate_labels(outputs[:40], Y[:40]).predict_labels(outputs[40:]).p_values,
    )
    in_folds = calibrate_outputs(tensors[:40], labels[:40], folds=torch.arange(40) % 2)
    assert in_folds.predict_labelsets(torch.stack([tensors[40:]] * 2)).labelsets.shape == (20, 3)


def test_tensors_that_are_no_probabilities_are_refused():
    torch = pytest.importorskip("torch")
    logits, labels = torch.linspace(-1, 2, 12).reshape(4, 3), torch.zeros(4, 3)
    with pytest.raises(
        ValueError, match=r"outputs must lie between 0 and 1, got -1.0 in row 0, column 0"
    ):
        calibrate_outputs(logits, labels)
    with pytest.raises(
        ValueError, match=r"A Tensor of type torch.bfloat16 cannot be read: .*BFloat16"
    ):
        calibrate_outputs(torch.sigmoid(logits).to(torch.bfloat16), labels)

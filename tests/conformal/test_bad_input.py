"""Bad input gets a ValueError that names the argument, what was expected and what arrived."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PowerMeasure,
)
from labelsure.measures import ForestMeasure, LogLossMeasure

KINDS = [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
BASE = MLkNNClassifier(3)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(24, 4)), rng.integers(0, 2, (24, 3))


def small(kind, estimator=BASE, **parameters):
    own = {CrossConformalClassifier: {"cv": 3}}.get(kind, {})
    return kind(estimator, **({"random_state": 0} | own | parameters))


def refuses(*parts):
    """The error says all this, in this order."""
    return pytest.raises(ValueError, match="(?s)" + ".*".join(re.escape(part) for part in parts))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("labels", "parts"),
    [
        (lambda Y: Y + 1, ("y must hold only 0 and 1", "got 2")),
        (lambda Y: 2 * Y - 1, ("y must hold only 0 and 1", "got -1")),
        (lambda Y: Y * 0.5, ("y must hold only 0 and 1", "got 0.5")),
        (lambda Y: np.where(Y, "yes", "no"), ("y must hold only 0 and 1", "'no'")),
        (lambda Y: Y[:, 0], ("y must be a label matrix of shape (n_objects, n_labels)", "(24,)")),
        (
            lambda Y: [["beach"], ["beach", "urban"]] * (len(Y) // 2),
            ("y must be a", "MultiLabelBinarizer"),
        ),
        (lambda _: None, ("y is required", "None")),
        (lambda Y: Y[:, :0], ("y must have at least one label", "(24, 0)")),
        (lambda Y: Y[:23], ("X and y must have the same number of rows", "24 and 23")),
        (lambda Y: np.vstack([Y, Y]), ("X and y must have the same number of rows", "24 and 48")),
    ],
)
def test_labels_that_are_no_label_matrix_are_refused(kind, labels, parts, data):
    X, Y = data
    with refuses(*parts):
        small(kind).fit(X, labels(Y))


@pytest.mark.parametrize("kind", KINDS)
def test_objects_without_rows_or_columns_are_refused(kind, data):
    X, Y = data
    for nothing in (X[:0], [], sparse.csr_array((0, 4)), pd.DataFrame(X[:0])):
        with refuses("X must have at least one row, got"):
            small(kind).fit(nothing, Y[:0])
    with refuses("0 feature(s) (shape=("):
        small(kind).fit(X[:, :0], Y)
    with refuses("Expected 2D array, got 1D array"):
        small(kind).fit(X[:, 0], Y)
    for nothing in (None, 3.0, np.array(3.0), "texts"):
        with refuses("X must have one row per object, got"):
            small(kind).fit(nothing, Y)
    model = small(kind).fit(X, Y)
    with refuses("X must have at least one row, got shape (0, 4)"):
        model.predict_labelsets(X[:0])
    with refuses(
        "X must have 4 columns, one per feature, got an array of shape (4,)", "X.reshape(1, -1)"
    ):
        model.predict(X[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("estimator", "parts"),
    [
        (
            MLkNNClassifier,
            ("got the class MLkNNClassifier. Pass an instance of it: MLkNNClassifier()",),
        ),
        (LinearRegression(), ("got LinearRegression()", "regressor")),
        (
            make_pipeline(StandardScaler(), RandomForestRegressor()),
            ("RandomForestRegressor()", "regressor"),
        ),
        (IsolationForest(), ("got IsolationForest()", "outlier_detector")),
        (KMeans(2), ("got KMeans(n_clusters=2)", "clusterer")),
        ("forest", ("got 'forest'",)),
        (3, ("got 3",)),
        (object(), ("got <object object",)),
    ],
)
def test_estimator_that_is_no_classifier_is_refused(kind, estimator, parts, data):
    X, Y = data
    for labels in (Y, Y[:, :1]):
        with refuses("estimator must be a classifier for several labels", *parts):
            small(kind, estimator).fit(X, labels)


@pytest.mark.parametrize("kind", KINDS)
def test_estimator_for_one_label_is_told_what_to_do(kind, data):
    X, Y = data
    for estimator in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        with refuses(
            "estimator could not be fitted on 3 labels",
            "y should be a 1d array",
            "OneVsRestClassifier(",
        ):
            small(kind, estimator).fit(X, Y)
    small(kind, LogisticRegression()).fit(X, Y[:, :1])
    with refuses("must have predict_proba or decision_function", "Pipeline has neither"):
        small(kind, make_pipeline(StandardScaler())).fit(X, Y)
    assert small(kind, Perceptron()).fit(X, Y[:, :1]).predict(X[:2]).shape == (2, 1)


@pytest.mark.parametrize(
    ("cv", "parts"),
    [
        (1, ("cv must be a whole number of at least 2", "got 1")),
        (0, ("cv must be a whole number of at least 2", "got 0")),
        (-5, ("cv must be a whole number of at least 2", "got -5")),
        (True, ("cv must be a whole number of at least 2", "got True")),
        (None, ("cv must be a whole number of at least 2", "got None")),
        ("5", ("cv must be a whole number of folds, a splitter", "got '5'")),
        (2.5, ("cv must be a whole number of folds, a splitter", "got 2.5")),
        (25, ("cv=25 folds need at least 25 examples, got n_samples=24", "Lower cv")),
        (
            ShuffleSplit(3, random_state=0),
            ("cv must let every example calibrate at most once", "ShuffleSplit"),
        ),
        (
            RepeatedKFold(n_splits=2),
            ("cv must let every example calibrate at most once", "is in 10 test parts"),
        ),
        ([([0, 1, 2], [2, 3])], ("cv must not let an example calibrate a model that it trained",)),
        (
            [([0, 1], [2, 3]), ([0, 1], [3, 4])],
            ("cv must let every example calibrate at most once", "example 3"),
        ),
        ([([0, 1], [2, 2])], ("cv must let every example calibrate at most once", "example 2")),
        ([], ("cv must give at least one fold",)),
        (
            [([0, 1], [])],
            ("cv must give every fold at least one training and one calibration example",),
        ),
        (
            [([], [0, 1])],
            ("cv must give every fold at least one training and one calibration example",),
        ),
        ([([0, 1], [24])], ("cv must give whole row numbers from 0 to 23", "24")),
        ([([0, 23], [-1])], ("cv must give whole row numbers from 0 to 23", "-1")),
        ([([0.0, 1.0], [2.0])], ("cv must give whole row numbers", "0.")),
        (
            [(np.arange(24) < 12, np.arange(24) >= 12)],
            ("cv must give whole row numbers", "numpy.flatnonzero"),
        ),
        ([3, 4], ("cv must give pairs of row numbers", "got 3")),
        ([(1, 2, 3)], ("cv must give pairs of row numbers", "got (1, 2, 3)")),
        (StratifiedKFold(2), ("multilabel-indicator",)),
        (GroupKFold(2), ("groups",)),
        (KFold(30), ("n_splits=30", "n_samples=24")),
    ],
)
def test_folds_that_would_spoil_the_p_values_are_refused(cv, parts, data):
    with refuses(*parts):
        CrossConformalClassifier(BASE, cv=cv).fit(*data)


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        (0, ("calibration_size must be a finite number above 0", "got 0")),
        (-3, ("calibration_size must be a finite number above 0", "got -3")),
        (0.0, ("calibration_size must be a finite number above 0", "got 0.0")),
        ("0.3", ("calibration_size must be a finite number above 0", "got '0.3'")),
        (None, ("calibration_size must be a finite number above 0", "got None")),
        (True, ("calibration_size must be a finite number above 0", "got True")),
        (np.nan, ("calibration_size must be a finite number above 0", "got nan")),
        (1.0, ("calibration_size must be a share below 1 or a whole number", "got 1.0")),
        (5.0, ("calibration_size must be a share below 1 or a whole number", "got 5.0")),
        (24, ("calibration_size=24 of n_samples=24 must leave at least one example",)),
        (100, ("calibration_size=100 of n_samples=24 must leave at least one example",)),
        (0.99, ("calibration_size=0.99 of n_samples=24 must leave at least one example",)),
    ],
)
def test_calibration_size_that_leaves_nothing_is_refused(size, parts, data):
    with refuses(*parts):
        InductiveConformalClassifier(BASE, calibration_size=size).fit(*data)


def test_prefit_that_cannot_be_used_is_refused(data):
    X, Y = data
    with refuses(
        "estimator must be a classifier", "fitted already because of prefit=True", "got None"
    ):
        InductiveConformalClassifier(prefit=True).fit(X, Y)
    with refuses("estimator must be a classifier", "got the class MLkNNClassifier"):
        InductiveConformalClassifier(MLkNNClassifier, prefit=True).fit(X, Y)
    with pytest.raises(NotFittedError, match="MLkNNClassifier"):
        InductiveConformalClassifier(MLkNNClassifier(), prefit=True).fit(X, Y)
    with pytest.raises(NotFittedError, match="MLkNNClassifier"):
        InductiveConformalClassifier(FrozenEstimator(MLkNNClassifier()), prefit=True).fit(X, Y)
    with refuses(
        "predict_proba of MLkNNClassifier must give one output per object and label",
        "(24, 3)",
        "(24, 2)",
    ):
        InductiveConformalClassifier(MLkNNClassifier().fit(X, Y[:, :2]), prefit=True).fit(X, Y)


def test_training_labels_go_with_prefit_and_with_measures_that_need_them(data):
    X, Y = data
    fitted = MLkNNClassifier(3).fit(X[:10], Y[:10])
    with refuses("training_labels goes with prefit=True"):
        InductiveConformalClassifier(BASE).fit(X, Y, training_labels=Y)
    penalised = InductiveConformalClassifier(
        fitted, measure=PowerMeasure(pair_penalty=1.0), prefit=True
    )
    with refuses(
        "PowerMeasure(pair_penalty=1.0) needs the labelsets that the model was trained on",
        "training_labels",
    ):
        penalised.fit(X[10:], Y[10:])
    with refuses("training_labels must have 3 columns, one per label, got 2"):
        penalised.fit(X[10:], Y[10:], training_labels=Y[:10, :2])
    with refuses("training_labels must hold only 0 and 1, got 2"):
        penalised.fit(X[10:], Y[10:], training_labels=Y[:10] + 1)
    penalised.fit(X[10:], Y[10:], training_labels=Y[:10])
    forest = InductiveConformalClassifier(
        fitted, measure=ForestMeasure(LogLossMeasure(), n_estimators=1), prefit=True
    )
    # the objects that the model was trained on are not known
    with refuses("ForestMeasure", "needs the objects themselves"):
        forest.fit(X[10:], Y[10:], training_labels=Y[:10])

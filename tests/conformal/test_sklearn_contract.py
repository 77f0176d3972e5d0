"""The conformal classifiers as scikit-learn users see them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PowerMeasure,
)

KINDS = [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
NAMES = ["beach", "sunset", "urban"]


class ShareClassifier(ClassifierMixin, BaseEstimator):
    """The label frequencies for every object: the cheapest classifier that validates input."""

    def fit(self, X, Y):
        X, Y = validate_data(self, X, Y, multi_output=True)
        self.shares_ = Y.mean(axis=0)
        return self

    def predict_proba(self, X):
        X = validate_data(self, X, reset=False)
        return np.tile(self.shares_, (len(X), 1))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@pytest.fixture
def data():
    return make_multilabel_classification(60, n_features=6, n_classes=3, random_state=0)


@pytest.fixture
def frames(data):
    X, Y = data
    return pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y, columns=NAMES)


def small(kind, estimator=None, **parameters):
    """A conformal classifier of this kind that is quick to fit."""
    own = {CrossConformalClassifier: {"cv": 3}}.get(kind, {})
    # a forest without trees counts as false
    estimator = MLkNNClassifier(3) if estimator is None else estimator
    return kind(estimator, **({"random_state": 0} | own | parameters))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        # one check wants labels that are more likely than not: the most plausible labelset may lack
        # some of them
        CrossConformalClassifier(MLkNNClassifier(2), cv=2, predict_for="hamming", random_state=0),
        InductiveConformalClassifier(MLkNNClassifier(2), predict_for="hamming", random_state=0),
        FullConformalClassifier(ShareClassifier(), max_fits=None),
        InductiveConformalClassifier(
            RandomForestClassifier(2), smoothed=True, predict_for="hamming", random_state=0
        ),
    ],
    ids=["cross", "inductive", "full", "inductive, smoothed"],
)
def test_check_estimator_fails_only_where_declared(model):
    expected = expected_failed_checks(model)
    assert_fails_only_where_declared(
        check_estimator(model, expected_failed_checks=expected, on_fail=None), expected
    )


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_and_estimators_of_the_user_stay_as_they_are(kind, data):
    forest, measure = RandomForestClassifier(3), PowerMeasure(2)
    model = small(kind, forest, measure=measure).fit(data[0][:30], data[1][:30])
    assert model.estimator is forest
    assert model.measure is measure
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")
    assert not hasattr(measure, "exponent_")


@pytest.mark.parametrize("kind", KINDS)
def test_tags_follow_the_classifier_inside(kind):
    tags = get_tags(kind(OneVsRestClassifier(LogisticRegression())))
    assert is_classifier(kind())
    assert tags.classifier_tags.multi_label
    assert not tags.input_tags.allow_nan
    assert get_tags(kind(RandomForestClassifier())).input_tags.allow_nan
    assert get_tags(kind(KNeighborsClassifier())).input_tags.sparse
    assert not get_tags(kind(make_pipeline(StandardScaler(), ShareClassifier()))).input_tags.sparse
    assert kind(
        RandomForestClassifier
    )._repr_html_()  # a class is refused when fitting, not when shown


@pytest.mark.parametrize("kind", KINDS)
def test_pipelines_hold_and_are_held(kind, data):
    X, Y = data
    X = X * [1, 10, 100, 1, 1, 1]
    outside = make_pipeline(MinMaxScaler(), small(kind)).fit(X[:50], Y[:50])
    assert outside.predict(X[50:]).shape == (10, 3)
    assert outside.predict(X[50:]).dtype == np.int64
    assert outside.score(X[50:], Y[50:]) == np.mean(
        np.all(outside.predict(X[50:]) == Y[50:], axis=1)
    )
    inside = small(kind, make_pipeline(MinMaxScaler(), MLkNNClassifier(3))).fit(X[:50], Y[:50])
    by_hand = small(kind).fit(MinMaxScaler().fit(X[:50]).transform(X[:50]), Y[:50])
    table = by_hand.predict_labelsets(MinMaxScaler().fit(X[:50]).transform(X[50:])).p_values()
    np.testing.assert_array_equal(
        outside[-1].predict_labelsets(outside[:-1].transform(X[50:])).p_values(), table
    )
    # inside, the scaler sees only the examples that train: the p-values may differ, the shape may
    # not
    assert inside.predict_labelsets(X[50:]).p_values().shape == table.shape


def test_grid_search_reaches_estimator_and_measure(data):
    X, Y = data
    model = CrossConformalClassifier(
        make_pipeline(MinMaxScaler(), MLkNNClassifier()),
        measure=PowerMeasure(),
        cv=3,
        random_state=0,
    )
    grid = {
        "estimator__mlknnclassifier__n_neighbors": [2, 8],
        "measure__d": [1, 4],
        "measure__pair_penalty": [0.0, 1],
    }
    search = GridSearchCV(model, grid, cv=KFold(2), error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert search.best_estimator_.measure.d == search.best_params_["measure__d"]
    assert search.best_estimator_.predict_labelsets(X).p_values().shape[0] == 60

    def mean_size(fitted, X, Y):
        return -fitted.predict_labelsets(X).region(0.2).sizes.mean()

    search = GridSearchCV(
        model, {"measure__d": [1, 4]}, scoring=mean_size, cv=2, error_score="raise"
    ).fit(X, Y)
    assert np.all(search.cv_results_["mean_test_score"] <= 0)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_keep_their_names(kind, frames):
    X, Y = frames
    model = small(kind).fit(X[:50], Y[:50])
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    assert model.label_names_ == tuple(NAMES)
    pred = model.predict_labelsets(X[50:])
    assert pred.label_names == tuple(NAMES)
    assert pred.to_frame().columns.tolist() == [*NAMES, "confidence", "credibility"]
    plain = small(kind).fit(X[:50].to_numpy(), Y[:50].to_numpy())
    assert plain.label_names_ is None
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(
        plain.predict_labelsets(X[50:].to_numpy()).p_values(), pred.p_values()
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[50:].rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[50:][list("fedcba")])


@pytest.mark.parametrize("container", [list, pd.Series, np.array])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_objects(kind, container):
    animals, plants = (
        ["cat dog", "dog cow cat", "cow horse"],
        ["rose tulip", "tulip oak rose", "oak fern"],
    )
    texts = [f"{a} {p}" for a in [*animals, ""] for p in [*plants, ""] if a or p] * 3
    Y = np.array(
        [
            [any(w in t for w in ("cat", "dog", "cow")), any(w in t for w in ("rose", "oak"))]
            for t in texts
        ]
    )
    base = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression(C=100)))
    model = small(kind, base).fit(container(texts), Y)
    assert not hasattr(model, "n_features_in_")
    predicted = model.predict(container(["the cat", "a rose", "oak and cow"]))
    np.testing.assert_array_equal(predicted, [[1, 0], [0, 1], [1, 1]])
    np.testing.assert_array_equal(model.predict(["the cat"]), [[1, 0]])
    with pytest.raises(ValueError, match="X must have one row per object, got 'a rose'"):
        model.predict("a rose")


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_models_and_predictions_pickle(kind, smoothed, data):
    X, Y = data
    model = small(kind, MLRBFClassifier(), smoothed=smoothed).fit(X[:30], Y[:30])
    pred = model.predict_labelsets(X[56:])
    table, sizes = pred.p_values(), pred.region(0.2).sizes
    again = pickle.loads(pickle.dumps(model)).predict_labelsets(X[56:])
    np.testing.assert_array_equal(again.p_values(), table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pred)).p_values(), table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pred.region(0.2))).sizes, sizes)


def test_a_frozen_estimator_is_calibrated_as_it_is(data):
    X, Y = data
    fitted = KNeighborsClassifier(3).fit(X[:20], Y[:20])
    prefit = InductiveConformalClassifier(fitted, prefit=True).fit(X[20:50], Y[20:50])
    frozen = InductiveConformalClassifier(FrozenEstimator(fitted), prefit=True).fit(
        X[20:50], Y[20:50]
    )
    folds = CrossConformalClassifier(
        FrozenEstimator(fitted), measure=PowerMeasure(), cv=5, empty_labelset="allow"
    )
    folds.fit(X[20:50], Y[20:50])
    expected = prefit.predict_labelsets(X[50:]).p_values()
    np.testing.assert_array_equal(frozen.predict_labelsets(X[50:]).p_values(), expected)
    # one model in all folds
    np.testing.assert_array_equal(folds.predict_labelsets(X[50:]).p_values(), expected)
    split = InductiveConformalClassifier(FrozenEstimator(fitted), random_state=0).fit(
        X[20:50], Y[20:50]
    )
    assert split.calibrator_.sizes == (9,)


def test_prefit_takes_anything_with_outputs(data):
    X, Y = data

    class Net:
        def predict_proba(self, X):
            return 1 / (1 + np.exp(-np.asarray(X)[:, :3]))

    model = InductiveConformalClassifier(Net(), prefit=True).fit(X[:40], Y[:40])
    assert model.predict(X[40:]).shape == (20, 3)
    assert model.models_[0] is model.estimator

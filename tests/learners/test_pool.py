"""Pools of classifiers: what is fitted on what, in one or two steps, and sklearn's contract."""

import pickle

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecalibratedClassifier,
)
from labelsure.measures import PowerMeasure

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MEMBERS = [("tree", TREE), ("linear", LogisticRegression())]


@pytest.fixture
def data():
    return make_multilabel_classification(90, n_features=6, n_classes=3, random_state=0)


@pytest.fixture
def pool():
    return PooledClassifier(MEMBERS, cv=3, random_state=0)


class Recorder(ClassifierMixin, BaseEstimator):
    """Answers with label frequencies, and keeps what it was fitted with."""

    calls: list = []  # noqa: RUF012

    def __init__(self, name="a"):
        self.name = name

    def fit(self, X, y, sample_weight=None, colour=None):
        Recorder.calls.append((self.name, len(X), sample_weight, colour))
        self.classes_, self.frequencies_ = [np.array([0, 1])] * y.shape[1], np.mean(y, axis=0)
        return self

    def predict_proba(self, X):
        return np.tile(self.frequencies_, (len(X), 1))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@pytest.fixture
def calls():
    Recorder.calls = []
    return Recorder.calls


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        PooledClassifier(MEMBERS, cv=2, random_state=0),
        RecalibratedClassifier(LogisticRegression(), cv=2),
    ],
)
def test_check_estimator_fails_only_where_declared(model):
    expected = expected_failed_checks(model)
    assert_fails_only_where_declared(
        check_estimator(model, expected_failed_checks=expected, on_fail=None), expected
    )


def test_fit_is_members_then_out_of_fold_logits_then_weights(data, pool):
    X, Y = data
    folds = list(KFold(3).split(X))
    whole = clone(pool).set_params(cv=folds).fit(X, Y)
    logits = np.empty((90, 3, 2))
    for train, test in folds:
        logits[test] = clone(pool).fit_members(X[train], Y[train]).member_outputs(X[test])
    halves = clone(pool).fit_members(X, Y).learn_weights(logits, Y)
    np.testing.assert_array_equal(halves.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(halves.out_of_fold_outputs_, whole.out_of_fold_outputs_)
    pooled = (logits * whole.weights_).sum(axis=2) + whole.intercepts_
    np.testing.assert_allclose(whole.out_of_fold_outputs_, expit(pooled))


def test_out_of_fold_outputs_are_honest(data):
    """A member that memorises its rows knows nothing out of fold: the labels are noise."""
    X, Y = (
        np.random.default_rng(0).normal(size=(200, 3)),
        np.random.default_rng(1).integers(0, 2, (200, 4)),
    )
    pool = PooledClassifier([("neighbour", KNeighborsClassifier(1))], random_state=0).fit(X, Y)
    assert ((pool.members_[0].estimator.predict(X) == Y).all()) and pool.shared_weights_[0] < 0.1
    assert abs(pool.out_of_fold_outputs_ - 0.5).max() < 0.2


def test_equal_weights_are_the_mean_logit_and_fit_no_folds(data, calls):
    X, Y = data
    pool = PooledClassifier([("a", Recorder("a")), ("b", Recorder("b"))], weights="equal").fit(X, Y)
    assert [(name, n) for name, n, *_ in calls] == [("a", 90), ("b", 90)]
    np.testing.assert_allclose(logit(pool.predict_proba(X)), pool.member_outputs(X).mean(axis=2))
    assert not hasattr(pool, "out_of_fold_outputs_")
    logits = pool.member_outputs(X)
    np.testing.assert_allclose(
        pool.learn_weights(logits, Y).out_of_fold_outputs_, pool.predict_proba(X)
    )
    np.testing.assert_array_equal(pool.weights_, np.full((3, 2), 0.5))


@pytest.mark.parametrize(
    "member",
    [
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=3),
        SVC(),
        make_pipeline(StandardScaler(), SVC()),
        OneVsRestClassifier(SVC()),
        MultiOutputClassifier(LogisticRegression()),
        ExtraTreesClassifier(5),
        MLkNNClassifier(),
        PooledClassifier(MEMBERS, weights="equal"),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    ],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("n_labels", [1, 3])
def test_members_of_all_kinds_take_several_labels(member, n_labels, data):
    X, Y = data
    pool = PooledClassifier([("member", member), ("tree", TREE)], cv=2, random_state=0).fit(
        X, Y[:, :n_labels]
    )
    assert pool.predict_proba(X).shape == (90, n_labels)
    assert pool.predict(X).dtype == np.int64


def test_margins_are_logits_as_they_are(data):
    X, Y = data
    model = PooledClassifier([("svc", SVC())], weights="equal").fit(X, Y)
    expected = np.column_stack([SVC().fit(X, label).decision_function(X) for label in Y.T])
    np.testing.assert_allclose(model.member_outputs(X)[:, :, 0], expected)
    Y = np.column_stack([Y, np.zeros(90, dtype=int)])
    constant = model.fit(X, Y).member_outputs(X)[:, 3, 0]
    np.testing.assert_allclose(constant, -np.log(181))


def test_infinite_margins_are_refused(data):
    class Endless(Recorder):
        predict_proba = None

        def __getattribute__(self, name):
            if name == "predict_proba":
                raise AttributeError
            return super().__getattribute__(name)

        def decision_function(self, X):
            return np.full((len(X), 3), np.inf)

    pool = PooledClassifier([("endless", Endless())], weights="equal").fit(*data)
    with pytest.raises(
        ValueError, match=r"decision_function of Endless must give finite numbers, got inf in row 0"
    ):
        pool.predict(data[0])


@pytest.mark.parametrize(
    "Y",
    [
        np.tile([0, 1, 0], (12, 1)),
        np.zeros((12, 2), dtype=int),
        np.array([[0, 1]] * 6 + [[1, 1]] * 6),
        np.eye(12, dtype=int),
        np.ones((12, 1), dtype=int),
    ],
)
@pytest.mark.filterwarnings("error")
def test_pool_takes_labels_with_one_value_and_rare_ones(Y):
    X = np.column_stack([np.arange(12.0), np.arange(12.0) % 3])
    members = [("tree", TREE), ("linear", LogisticRegression()), ("svc", SVC())]
    pool = PooledClassifier(members, cv=3, random_state=0).fit(X, Y)
    constant = np.ptp(Y, axis=0) == 0
    np.testing.assert_array_equal(pool.predict(X)[:, constant], Y[:, constant])
    assert np.isfinite(logit(pool.predict_proba(X))).all()
    assert np.isfinite(pool.out_of_fold_outputs_).all()


def test_pool_repeats_itself_clones_and_pickles(data):
    X, Y = data
    members = [("trees", ExtraTreesClassifier(5)), ("sgd", SGDClassifier())]
    pool = PooledClassifier(members, cv=3, random_state=0)
    expected = clone(pool).fit(X, Y)
    np.testing.assert_array_equal(
        clone(expected).fit(X, Y).predict_proba(X), expected.predict_proba(X)
    )
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(expected)).predict_proba(X), expected.predict_proba(X)
    )
    in_two = clone(pool).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(in_two.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(in_two.out_of_fold_outputs_, expected.out_of_fold_outputs_)
    other = clone(pool).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(other.predict_proba(X), expected.predict_proba(X))
    assert pool.estimators[0][1].random_state is None  # the user's own stay as they are


def test_tags_are_what_all_members_can(pool):
    assert pool.__sklearn_tags__().input_tags.sparse
    assert not pool.__sklearn_tags__().input_tags.allow_nan
    dense = PooledClassifier([("tree", TREE), ("boosting", HistGradientBoostingClassifier())])
    assert not dense.__sklearn_tags__().input_tags.sparse
    assert dense.__sklearn_tags__().input_tags.allow_nan
    assert PooledClassifier([]).__sklearn_tags__().classifier_tags.multi_label


def test_sample_weights_reach_members_and_weights(data, calls):
    X, Y = data
    w = np.arange(90.0)
    pool = PooledClassifier(
        [("a", Recorder()), ("pipe", make_pipeline(StandardScaler(), Recorder("b")))], cv=2
    )
    pool.fit(X, Y, sample_weight=w)
    assert [(name, n) for name, n, *_ in calls] == [
        ("a", 90),
        ("b", 90),
        *[("a", 45), ("b", 45)] * 2,
    ]
    assert all(len(weights) == n for _, n, weights, _ in calls)
    halves = [weights for name, n, weights, _ in calls if name == "a" and n == 45]
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), w)
    tree = PooledClassifier(
        [("tree", TREE)],
        cv=[(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))],
    )
    assert not np.allclose(tree.fit(X, Y, w).intercepts_, tree.fit(X, Y).intercepts_)


def test_routing_brings_metadata_to_those_who_ask(data, calls):
    X, Y = data
    groups = np.repeat(np.arange(9), 10)
    with config_context(enable_metadata_routing=True):
        first = Recorder("a").set_fit_request(sample_weight=True, colour=False)
        second = Recorder("b").set_fit_request(sample_weight=False, colour=True)
        pool = PooledClassifier([("a", first), ("b", second)], cv=GroupKFold(3), random_state=0)
        pool.fit(X, Y, sample_weight=np.ones(90), colour=np.arange(90), groups=groups)
        for name, n, weights, colour in calls:
            assert (weights is None, colour is None) == (name == "b", name == "a")
            assert n == 90 or (colour is None) or len(np.unique(groups[colour])) == 6
        with pytest.raises(TypeError, match="unexpected argument"):
            pool.fit(X, Y, size=np.ones(90), groups=groups)


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], r"at least one \(name, classifier\), such as .* got \[\]"),
        (None, r"at least one \(name, classifier\)"),
        ([TREE], r"at least one \(name, classifier\)"),
        ([("a", TREE), ("a", TREE)], "not unique"),
        ([("cv", TREE)], "conflict with constructor arguments"),
        ([("a__b", TREE)], "must not contain __"),
        (
            [("a", TREE), ("b", LinearRegression())],
            r"Member 'b' must be a classifier .* \(estimator_type: regressor",
        ),
        ([("b", LogisticRegression)], "Member 'b' must be .* got the class LogisticRegression"),
        ([("b", "tree")], "Member 'b' must be a classifier .* got 'tree'"),
        ([("b", MultiOutputClassifier(SVC()))], "neither.* OneVsRestClassifier shows both"),
    ],
)
def test_wrong_members_are_refused_before_any_fit(estimators, message, data, calls):
    if isinstance(estimators, list) and estimators and isinstance(estimators[-1], tuple):
        estimators = [("recorder", Recorder()), *estimators]
    with pytest.raises(ValueError, match=message):
        PooledClassifier(estimators).fit(*data)
    assert not calls


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": "some"}, "weights must be 'learned', 'equal' or 1 numbers, got 'some'"),
        ({"weights": [1.0, 2.0]}, "weights must be .* one per member"),
        ({"weights": [-1.0]}, "weights must be .* at least 0"),
        ({"weights": [0.0]}, "weights must be .* not all 0"),
        ({"weights": [np.nan]}, "weights must be"),
        ({"weights": None}, "weights must be"),
        ({"pseudo_examples": 0}, "pseudo_examples must be a finite number above 0, got 0"),
        ({"cv": 1}, "cv must be a whole number of at least 2, got 1"),
        ({"cv": 91}, "cv=91 folds need at least 91 examples, got n_samples=90"),
        ({"cv": "five"}, "cv must be a whole number of folds, a splitter or a list .* got 'five'"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "cv must test every one of the 90 examples once"),
        (
            {"cv": [(np.arange(90), np.arange(90))]},
            "cv must not test a model on examples that it was trained on",
        ),
        ({"cv": []}, "cv must test every one of the 90 examples once"),
    ],
)
def test_wrong_parameters_are_refused_before_any_fit(parameters, message, data, calls):
    with pytest.raises(ValueError, match=message):
        PooledClassifier([("a", Recorder())], **parameters).fit(*data)
    assert not calls


@pytest.mark.parametrize(
    ("fit_params", "message"),
    [
        ({"sample_weight": np.ones(89)}, "sample_weight.shape"),
        ({"sample_weight": -np.ones(90)}, "sample_weight must be at least 0"),
        ({"sample_weight": np.zeros(90)}, "not all 0|non-zero"),
        (
            {"colour": np.ones(90)},
            "fit got colour, which only scikit-learn's metadata routing can bring",
        ),
    ],
)
def test_wrong_metadata_are_refused_before_any_fit(fit_params, message, data, calls):
    with pytest.raises(ValueError, match=message):
        PooledClassifier([("a", Recorder())]).fit(*data, **fit_params)
    assert not calls


def test_member_without_sample_weight_is_named(data, calls):
    pool = PooledClassifier([("a", Recorder()), ("neighbours", KNeighborsClassifier())])
    with pytest.raises(ValueError, match=r"fit of neighbours, KNeighborsClassifier.*takes none"):
        pool.fit(*data, sample_weight=np.ones(90))
    assert not calls


def test_wrong_logits_are_refused(data, pool):
    X, Y = data
    with pytest.raises(NotFittedError):
        pool.learn_weights(np.zeros((90, 3, 2)), Y)
    pool.fit_members(X, Y)
    for logits in (np.zeros((90, 3)), np.zeros((90, 3, 3)), np.full((90, 3, 2), np.nan)):
        with pytest.raises(
            ValueError, match=r"logits must be finite numbers of shape \(90, 3, 2\)"
        ):
            pool.learn_weights(logits, Y)
    with pytest.raises(ValueError, match="y must have 3 columns"):
        pool.learn_weights(np.zeros((90, 3, 2)), Y[:, :2])


def test_objects_of_another_shape_are_refused(data, pool):
    X, Y = data
    with pytest.raises(NotFittedError):
        pool.predict(X)
    pool.fit(X, Y)
    with pytest.raises(ValueError, match="X has 5 features"):
        pool.predict(X[:, :5])
    with pytest.raises(ValueError, match="Reshape your data"):
        pool.predict(X[0])
    for wrong in (X[:0], "text", 3):
        with pytest.raises(ValueError, match="X must have"):
            pool.fit(wrong, Y)


@pytest.mark.filterwarnings("ignore")
def test_frozen_pool_is_not_refitted(data, pool):
    """A FrozenEstimator passes on the attributes of its pool; groups must not make it fit anew."""
    X, Y = data
    pool.fit(X[:40], Y[:40])
    expected = pool.predict_proba(X)
    frozen = FrozenEstimator(pool)
    model = InductiveConformalClassifier(frozen, measure=PowerMeasure(), random_state=0)
    model.fit(X[40:], Y[40:], groups=np.arange(50) // 2)
    np.testing.assert_array_equal(model.models_[0].estimator.predict_proba(X), expected)
    np.testing.assert_array_equal(pool.predict_proba(X), expected)


class OtherPool(ClassifierMixin, BaseEstimator):
    """No pool of this package, but an estimator with the two halves of ``fit`` that pools have."""

    learns_from_folds = True

    def __init__(self, pool):
        self.pool = pool

    def fit(self, X, y):  # noqa: ARG002
        raise AssertionError("the folds share models, and take the two halves")

    def fit_members(self, X, y):
        self.pool.fit_members(X, y)
        return self

    def member_outputs(self, X):
        return self.pool.member_outputs(X)

    def learn_weights(self, logits, y, sample_weight=None):
        self.pool.learn_weights(logits, y, sample_weight)
        self.out_of_fold_outputs_ = self.pool.out_of_fold_outputs_
        return self

    def predict_proba(self, X):
        return self.pool.predict_proba(X)


def test_any_estimator_with_both_halves_of_fit_shares_models(data, pool):
    X, Y = data
    proba = [
        CrossConformalClassifier(estimator, cv=5, random_state=0).fit(X, Y).predict_proba(X)
        for estimator in (pool, OtherPool(clone(pool)))
    ]
    np.testing.assert_array_equal(*proba)

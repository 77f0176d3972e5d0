"""Sample weights and metadata routing: each inner learner gets its rows, calibration none."""

import numpy as np
import pytest
import sklearn
from counting import Counting, make_data
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLRBFClassifier,
    PooledClassifier,
)
from labelsure.measures import PowerMeasure

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(90)
WEIGHTS = 1 + np.arange(90.0)


class Weighed(Counting):
    """Writes down which weights came with which rows; every row of X is unlike the others."""

    seen = []  # noqa: RUF012, shared by all copies on purpose

    def fit(self, X, Y, sample_weight=None, colour=None):
        Weighed.seen.append(
            (np.array(X), None if sample_weight is None else np.array(sample_weight), colour)
        )
        return super().fit(X, Y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        return tags


@pytest.fixture(autouse=True)
def nothing_seen():
    Weighed.seen.clear()


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def rows_of(part):
    return [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part]


def predictors(estimator):
    return [
        CrossConformalClassifier(estimator, cv=3, measure=PowerMeasure(), random_state=0),
        # the default learns from inner folds
        CrossConformalClassifier(estimator, cv=3, random_state=0),
        CrossConformalClassifier(estimator, cv=6, random_state=0),  # and here from shared models
        InductiveConformalClassifier(estimator, random_state=0),
        LabelWiseConformalClassifier(estimator, random_state=0),
        LabelWiseConformalClassifier(estimator, cv=4, random_state=0),
    ]


@pytest.mark.parametrize("which", range(6))
def test_every_fit_gets_its_own_rows_weights(which):
    assert len(np.unique(X, axis=0)) == len(X)
    model = predictors(Weighed())[which].fit(X, Y, sample_weight=WEIGHTS.tolist())
    n_fits = [3, 3 * 4, 6 + 5, 1 + 3, 1, 4][which]
    assert len(Weighed.seen) == n_fits
    for part, weights, _ in Weighed.seen:
        assert weights.tolist() == WEIGHTS[rows_of(part)].tolist()
    assert len(model.models_) in (1, 3, 4, 6)


def test_weights_train_and_calibration_examples_count_alike():
    """A learner that takes no notice of weights gives the same p-values with and without."""
    with_weights = predictors(Weighed())[2].fit(X, Y, sample_weight=WEIGHTS)
    without = predictors(Weighed())[2].fit(X, Y)
    np.testing.assert_array_equal(
        with_weights.predict_labelsets(X[:9]).p_values(),
        without.predict_labelsets(X[:9]).p_values(),
    )
    assert with_weights.calibrator_.guarantee.sentence(
        0.1
    ) == without.calibrator_.guarantee.sentence(0.1)


@pytest.mark.parametrize("cv", [3, 6])
def test_pools_weigh_members_and_their_weights(cv):
    """Members in unshared and shared folds; labels of an example of weight 0 have no effect."""
    pool = PooledClassifier(
        [("one", MultiOutputClassifier(LogisticRegression())), ("two", Weighed())], cv=3
    )
    weights = np.where(np.arange(90) < 60, 1.0, 0.0)
    other = Y.copy()
    other[60:] = 1 - other[60:]
    answers = []
    for labels in (Y, other):
        model = CrossConformalClassifier(pool, cv=cv, measure=PowerMeasure(), random_state=0)
        models = model.fit(X, labels, sample_weight=weights).models_
        answers.append([one.estimator.members_[0].estimator.estimators_[0].coef_ for one in models])
    for part, own, _ in Weighed.seen:
        assert own.tolist() == weights[rows_of(part)].tolist()
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        Counting(),
        MLRBFClassifier(),
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(KNeighborsClassifier()),
        make_pipeline(StandardScaler(), Counting()),
        PooledClassifier(
            [("one", RandomForestClassifier(2)), ("two", KNeighborsClassifier())], cv=2
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("which", [0, 3, 4])
def test_learners_without_weights_are_refused_before_any_fit(estimator, which):
    before = len(Counting.fits)
    with pytest.raises(ValueError, match=r"takes none. Leave the weights out"):
        predictors(estimator)[which].fit(X, Y, sample_weight=WEIGHTS)
    assert len(Counting.fits) == before


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS[:-1], "shape"),
        (-WEIGHTS, "at least 0"),
        (0 * WEIGHTS, "not all 0|at least one non-zero"),
        (np.where(WEIGHTS > 3, np.nan, 1.0), "NaN"),
    ],
)
@pytest.mark.parametrize("which", [0, 3, 4])
def test_impossible_weights_are_refused_before_any_fit(weights, message, which):
    with pytest.raises(ValueError, match=message):
        predictors(Weighed())[which].fit(X, Y, sample_weight=weights)
    assert Weighed.seen == []


def test_a_training_part_without_weight_is_refused_before_any_fit():
    folds = [(np.arange(30, 90), np.arange(30)), (np.arange(30), np.arange(30, 90))]
    model = CrossConformalClassifier(Weighed(), cv=folds, measure=PowerMeasure())
    with pytest.raises(ValueError, match="0 for all training examples of a fold, as of fold 1"):
        model.fit(X, Y, sample_weight=np.where(np.arange(90) < 30, 0.0, 1.0))
    assert Weighed.seen == []


def test_a_model_that_is_fitted_already_takes_no_weights():
    fitted = Weighed().fit(X, Y)
    for predictor in (InductiveConformalClassifier, LabelWiseConformalClassifier):
        with pytest.raises(ValueError, match="sample_weight cannot be used with prefit=True"):
            predictor(fitted, prefit=True).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("which", range(6))
def test_routing_brings_every_fit_what_it_asks_for(which):
    learner = Weighed().set_fit_request(sample_weight="importance", colour=True)
    predictors(learner)[which].fit(X, Y, importance=WEIGHTS, colour="red")
    for part, weights, colour in Weighed.seen:
        assert weights.tolist() == WEIGHTS[rows_of(part)].tolist()
        assert colour == "red"


@pytest.mark.usefixtures("routing")
def test_routing_refuses_what_nobody_asked_for():
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        predictors(Weighed())[0].fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="unexpected argument"):
        predictors(Weighed())[0].fit(X, Y, shape=WEIGHTS)
    assert Weighed.seen == []


@pytest.mark.usefixtures("routing")
def test_routing_through_an_outer_estimator_brings_weights_and_groups():
    groups = np.arange(90) // 3
    learner = Weighed().set_fit_request(sample_weight=True)
    model = CrossConformalClassifier(learner, cv=GroupKFold(3), measure=PowerMeasure())
    model.set_score_request(sample_weight=False)
    result = cross_validate(
        model,
        X,
        Y,
        cv=GroupKFold(2),
        params={"sample_weight": WEIGHTS, "groups": groups},
        return_estimator=True,
        error_score="raise",
    )
    assert all(one.groups_ is not None for one in result["estimator"])
    for part, weights, _ in Weighed.seen:
        assert weights.tolist() == WEIGHTS[rows_of(part)].tolist()


@pytest.mark.usefixtures("routing")
def test_routing_brings_groups_unless_told_otherwise():
    groups = np.arange(90) // 3
    given = {"params": {"groups": groups}, "return_estimator": True, "error_score": "raise"}
    for wanted in (True, False):
        model = CrossConformalClassifier(Weighed(), cv=3, measure=PowerMeasure())
        model = model if wanted else model.set_fit_request(groups=False)
        result = cross_validate(model, X, Y, cv=GroupKFold(2), **given)
        assert all((one.groups_ is not None) == wanted for one in result["estimator"])
    with pytest.raises(ValueError, match="keep every group on one side"):
        CrossConformalClassifier(Weighed(), cv=KFold(4)).fit(X, Y, groups=groups)

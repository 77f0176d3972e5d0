"""Platt scaling per label, out of fold and out of bag."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsure import PooledClassifier, RecalibratedClassifier


@pytest.fixture
def data():
    return make_multilabel_classification(300, n_features=8, n_classes=4, random_state=3)


def test_recalibrated_classifier_is_the_pool_with_one_member(data):
    X, Y = data
    forest = RandomForestClassifier(10)
    pool = PooledClassifier([("estimator", forest)], random_state=0).fit(X, Y)
    model = RecalibratedClassifier(forest, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), pool.predict_proba(X))
    np.testing.assert_array_equal(model.out_of_fold_outputs_, pool.out_of_fold_outputs_)


@pytest.mark.parametrize("cv", [5, "out-of-bag"])
def test_recalibration_undoes_what_is_too_sure(cv):
    """Labels are random, and trees overconfident: recalibrated, outputs are the frequencies."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(600, 4)), (rng.random((600, 3)) < [0.5, 0.3, 0.1]).astype(int)
    model = RecalibratedClassifier(
        RandomForestClassifier(40, random_state=0), cv=cv, random_state=0
    ).fit(X, Y)
    new = rng.normal(size=(500, 4))
    assert abs(model.predict_proba(new).mean(axis=0) - [0.5, 0.3, 0.1]).max() < 0.1
    assert (
        model.predict_proba(new).std(axis=0).max()
        < 0.1
        < model.members_[0].estimator.predict_proba(new)[0].std()
    )


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(60, random_state=0),
        ExtraTreesClassifier(60, bootstrap=True, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(60, random_state=0)),
    ],
    ids=["random", "extra", "pipeline"],
)
@pytest.mark.parametrize("labels", [[0], [0, 1, 2, 3]])
def test_out_of_bag_fits_one_forest_and_reads_its_records(forest, labels, data):
    X, Y = data[0], data[1][:, labels]
    model = RecalibratedClassifier(forest, cv="out-of-bag").fit(X, Y)
    fitted = model.members_[0].estimator
    fitted = fitted[-1] if hasattr(fitted, "steps") else fitted
    on = fitted.oob_decision_function_[:, 1].reshape(Y.shape)
    smoothed = (300 * on + 0.5) / 301
    expected = model.weights_[:, 0] * logit(smoothed) + model.intercepts_
    np.testing.assert_allclose(logit(model.out_of_fold_outputs_), expected)
    assert not getattr(forest, "oob_score", False)  # the user's own stays as it is
    per_fold = RecalibratedClassifier(forest, cv=5, random_state=0).fit(X, Y)
    assert abs(per_fold.out_of_fold_outputs_ - model.out_of_fold_outputs_).mean() < 0.2


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_out_of_bag_needs_objects_that_trees_have_not_seen(data):
    with pytest.raises(
        ValueError, match=r"objects that are in the sample of every tree. Use more trees"
    ):
        RecalibratedClassifier(RandomForestClassifier(2, random_state=0), cv="out-of-bag").fit(
            *data
        )


@pytest.mark.parametrize("constant", [[0], [1, 2], [0, 1, 2, 3]])
def test_out_of_bag_takes_labels_with_one_value(constant, data):
    X, Y = data
    Y[:, constant] = 1
    model = RecalibratedClassifier(RandomForestClassifier(60, random_state=0), cv="out-of-bag").fit(
        X, Y
    )
    assert (model.predict(X)[:, constant] == 1).all()
    assert (model.out_of_fold_outputs_[:, constant] > 0.9).all()


@pytest.mark.parametrize("estimator", [LogisticRegression(), ExtraTreesClassifier()])
def test_out_of_bag_is_refused_for_others_than_forests_with_samples(estimator, data):
    with pytest.raises(ValueError, match=r"cv='out-of-bag' needs a forest .* got .*\(\). Use cv=5"):
        RecalibratedClassifier(estimator, cv="out-of-bag").fit(*data)

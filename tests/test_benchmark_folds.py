"""The benchmarks of folds and pools compare like with like. Nothing here is timed."""

import numpy as np
from benchmarks import folds, pools
from sklearn.datasets import make_multilabel_classification
from sklearn.tree import DecisionTreeClassifier

from labelsure import PooledClassifier
from labelsure.conformal._reference import assign_folds


def test_folds_are_those_of_the_twin():
    Y = folds.made_up_labels(300)
    draws = np.zeros(300, dtype=np.int64)
    np.testing.assert_array_equal(folds.folds_of(Y, shuffle=False), assign_folds(Y, draws, folds.N_FOLDS))


def test_spread_is_the_mean_range_of_counts():
    Y = np.array([[1, 1], [1, 0], [1, 0], [0, 1]])
    assert folds.spread(Y, np.array([0, 0, 1, 1])) == 0.5


def test_members_one_by_one_are_those_of_the_pool():
    X, Y = make_multilabel_classification(60, n_classes=2, random_state=0)
    members = [("tree", DecisionTreeClassifier(random_state=0)), ("other", DecisionTreeClassifier(random_state=1))]
    pool = PooledClassifier(members, weights="equal").fit(X, Y)
    alone = pools.fit_one_by_one(pool, X, Y)
    for fitted, model in zip(pool.members_, alone, strict=True):
        np.testing.assert_array_equal(fitted.estimator.predict(X), model.estimator.predict(X))

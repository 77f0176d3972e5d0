"""The ready-made pool for tables: missing values, mixed scales, weights, few rows."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import roc_auc_score

from labelsure import table_pool

SMALL = {"cv": 2, "trees__n_estimators": 20, "boosting__labels__estimator__max_iter": 5}


@pytest.fixture
def data():
    return make_multilabel_classification(120, n_features=6, n_classes=2, random_state=0)


@pytest.mark.filterwarnings("error")
def test_table_pool_takes_missing_values_and_mixed_scales(data):
    X, Y = data
    X = X * 10.0 ** np.arange(-3, 9, 2)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[:, 5] = np.nan  # nothing is known of it
    pool = table_pool(random_state=0).set_params(**SMALL).fit(X[:90], Y[:90])
    logits = pool.member_outputs(X[90:])
    for m in range(4):
        assert roc_auc_score(Y[90:], logits[:, :, m]) > 0.6


@pytest.mark.parametrize("member", [2, 3], ids=["kernel", "neighbours"])
def test_members_of_distances_do_not_depend_on_units(data, member):
    X, Y = data
    pool = table_pool(random_state=0).set_params(**SMALL)
    outputs = [
        clone(pool).fit(X * unit, Y).member_outputs(X * unit)[:, :, member] for unit in (1.0, 1e6)
    ]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-4)


def test_table_pool_hands_sample_weights_to_all_members_with_and_without_routing(data):
    X, Y = data
    w = np.random.default_rng(0).integers(1, 4, 120).astype(float)
    # leaves of one example say the same whatever it weighs
    pool = table_pool(random_state=0).set_params(**SMALL, trees__min_samples_leaf=5)
    plain, weighted = clone(pool).fit(X, Y), clone(pool).fit(X, Y, sample_weight=w)
    with config_context(enable_metadata_routing=True):
        routed = clone(pool).fit(X, Y, sample_weight=w)
    np.testing.assert_array_equal(routed.predict_proba(X), weighted.predict_proba(X))
    near = X + 0.1  # an object of training has itself for a neighbour, whatever it weighs
    differences = abs(weighted.member_outputs(near) - plain.member_outputs(near)).max(axis=(0, 1))
    assert (differences > 1e-3).all()


def test_table_pool_needs_few_rows_only():
    X, Y = np.arange(12.0).reshape(6, 2), np.eye(6, 2, dtype=int)
    pool = table_pool(random_state=0).set_params(**SMALL).fit(X, Y)
    assert np.isfinite(pool.predict_proba(X)).all()

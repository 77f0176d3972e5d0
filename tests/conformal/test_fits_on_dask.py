"""Fits under ``joblib.parallel_config("dask")``: the same to the last bit, with data that travel once."""

import os
import threading
import warnings
from multiprocessing import parent_process

import numpy as np
import pytest
from dask_clusters import local_cluster
from joblib import Parallel, delayed, parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import (
    AutoMeasure,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecallController,
)
from labelsure.measures import PowerMeasure

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

RNG = np.random.default_rng(0)
X = RNG.random((90, 4))
Y = (RNG.random((90, 3)) < X[:, :3]).astype(int)
LINEAR = OneVsRestClassifier(LogisticRegression())
POOL = PooledClassifier([("linear", LINEAR), ("near", MLkNNClassifier(5))], cv=3)


def models():
    given = {"measure": PowerMeasure(), "random_state": 0}
    return {
        "cross": CrossConformalClassifier(LINEAR, cv=5, random_state=0),
        "randomised": CrossConformalClassifier(LINEAR, cv=5, guarantee="exact", **given),
        "auto": CrossConformalClassifier(LINEAR, cv=3, measure=AutoMeasure(), random_state=0),
        "pool": CrossConformalClassifier(POOL, cv=3, random_state=0),
        "inductive": InductiveConformalClassifier(LINEAR, **given),
        "pool, inductive": InductiveConformalClassifier(POOL, random_state=0),
        "full": FullConformalClassifier(MLkNNClassifier(3), **given),
        "label-wise": LabelWiseConformalClassifier(LINEAR, cv=4, random_state=0),
        "controller": RecallController(LINEAR, cv=4, random_state=0),
    }


def answers_of(model, X=X, labels=Y):
    """What a model that is fitted says of a few objects."""
    model.fit(X, labels)
    if hasattr(model, "predict_labels"):
        return [model.predict_labels(X[:4]).p_values]
    if not hasattr(model, "predict_labelsets"):
        return [model.predict(X[:4])]
    predictions = model.predict_labelsets(X[:4])
    return [predictions.region(0.2).contains(codes) for codes in labels[:20]] + [predictions.labelsets]


@pytest.mark.parametrize("name", models())
def test_fits_are_the_same_for_any_number_of_workers(name, client):
    alone = answers_of(models()[name])
    addresses = sorted(client.ncores())
    for n_workers in (1, 2, 3):
        with parallel_config("dask", client=client, workers=addresses[:n_workers]):
            together = answers_of(models()[name])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)

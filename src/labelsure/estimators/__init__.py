"""Pools, recalibration, and the adapter through which any classifier gives outputs."""

from labelsure.estimators._adapter import FittedBase, fit_base, outputs_of
from labelsure.estimators._base import MetaClassifier
from labelsure.estimators._label_by_label import fit_known, learner_of_one_label
from labelsure.estimators._logit_pooling import learn_pooling, smoothed_logits
from labelsure.estimators._members import check_sample_weight, weight_params
from labelsure.estimators._pool import PooledClassifier
from labelsure.estimators._pool_base import LogitPool
from labelsure.estimators._recalibrated import RecalibratedClassifier
from labelsure.estimators._table_pipeline import MIN_FREQUENCY, MOST_DENSE_WORDS, MOST_WORDS, table_pipeline
from labelsure.estimators._table_pool import table_pool

__all__ = [
    "MIN_FREQUENCY",
    "MOST_DENSE_WORDS",
    "MOST_WORDS",
    "FittedBase",
    "LogitPool",
    "MetaClassifier",
    "PooledClassifier",
    "RecalibratedClassifier",
    "check_sample_weight",
    "fit_base",
    "fit_known",
    "learn_pooling",
    "learner_of_one_label",
    "outputs_of",
    "smoothed_logits",
    "table_pipeline",
    "table_pool",
    "weight_params",
]

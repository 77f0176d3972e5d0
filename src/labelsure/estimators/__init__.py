"""Pools, recalibration, and the adapter through which any classifier gives outputs."""

from labelsure.estimators._adapter import FittedBase, fit_base, outputs_of
from labelsure.estimators._pool import PooledClassifier
from labelsure.estimators._recalibrated import RecalibratedClassifier
from labelsure.estimators._table_pipeline import table_pipeline
from labelsure.estimators._table_pool import table_pool

__all__ = [
    "FittedBase",
    "PooledClassifier",
    "RecalibratedClassifier",
    "fit_base",
    "outputs_of",
    "table_pipeline",
    "table_pool",
]

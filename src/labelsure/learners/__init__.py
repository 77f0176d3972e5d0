"""Pools, recalibration, and the adapter through which any classifier gives outputs."""

from labelsure.learners._adapter import FittedBase, fit_base, outputs_of
from labelsure.learners._pool import PooledClassifier
from labelsure.learners._recalibrated import RecalibratedClassifier
from labelsure.learners._tables import table_pipeline, table_pool

__all__ = [
    "FittedBase",
    "PooledClassifier",
    "RecalibratedClassifier",
    "fit_base",
    "outputs_of",
    "table_pipeline",
    "table_pool",
]

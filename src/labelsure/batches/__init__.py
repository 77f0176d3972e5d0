"""Predictions of more rows than fit into memory, here or on a cluster: tables in, tables of answers out.

In layers, each knowing only those below it::

    _predict       predict_batches: an iterator of tables in, one of answers out
    _predictor     TablePredictor: a table in, a table of answers out, for any engine
    _running       batches one after the other here, or on the workers of a Dask cluster
    _sources       the model, in memory or in a file, and what it learns from a table
    _tables        answers as a table of pandas, polars or pyarrow
    _columns       which columns there are, and what is in them
"""

from labelsure.batches._columns import AnswerColumns
from labelsure.batches._predict import predict_batches
from labelsure.batches._predictor import TablePredictor
from labelsure.batches._running import BatchError, map_batches
from labelsure.batches._sources import Trained, limit_cores, open_trained
from labelsure.batches._tables import arrow_schema, arrow_table

__all__ = [
    "AnswerColumns",
    "BatchError",
    "TablePredictor",
    "Trained",
    "arrow_schema",
    "arrow_table",
    "limit_cores",
    "map_batches",
    "open_trained",
    "predict_batches",
]

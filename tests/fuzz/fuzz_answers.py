"""What a call answers, as tuples of plain arrays, numbers and texts that can be compared bit for bit."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from labelsure.conformal import LabelWiseOutputsPredictor, OutputsPredictor
from labelsure.engine import RegionSize
from labelsure.engine._engine import LabelsetEngine
from labelsure.measures import Measure
from labelsure.predictions import (
    LabelsetPredictions,
    LabelsetRegion,
    LabelWisePredictions,
    LabelWiseRegion,
)

FEW_LABELS = 7
"""With more labels a table of all labelsets is not made."""


def plain_answer(answer):  # noqa: PLR0911, PLR0912 - one line per kind of answer
    """Return an answer as nested tuples of arrays, numbers and texts; names of labels and objects are left out."""
    match answer:
        case None | str() | bytes() | bool() | int() | float():
            return answer
        case np.generic():
            return np.array(answer) if answer.dtype.kind in "OUSV" else answer.item()
        case np.ndarray():
            return (
                plain_answer(answer.tolist())
                if answer.dtype == object
                else np.ascontiguousarray(answer)
            )
        case LabelsetPredictions():
            return answer_of_predictions(answer)
        case LabelsetRegion():
            return answer_of_region(answer)
        case LabelWisePredictions():
            return (
                answer.p_values,
                answer.labels,
                answer.rank_labels(),
                plain_answer(answer.region(0.2)),
            )
        case LabelWiseRegion():
            return (
                answer.possible_values,
                answer.inner,
                answer.outer,
                plain_answer(answer.sizes),
                answer.statement,
            )
        case RegionSize():
            return answer.value, answer.low, answer.high, answer.at_least, answer.at_most
        case (
            OutputsPredictor()
            | LabelWiseOutputsPredictor()
            | BaseEstimator()
            | Measure()
            | LabelsetEngine()
        ):
            return type(answer).__name__
        case Mapping():
            return tuple((plain_answer(key), plain_answer(value)) for key, value in answer.items())
        case Path():
            return answer.name
    if sparse.issparse(answer):
        return answer.toarray()
    if hasattr(answer, "columns") and not callable(answer.columns):
        return answer_of_frame(answer)
    if is_dataclass(answer) and not isinstance(answer, type):
        kept = [
            one.name
            for one in fields(answer)
            if not one.name.startswith("_") and one.name != "label_names"
        ]
        return tuple(
            (name, plain_answer(getattr(answer, name))) for name in kept if name != "index"
        )
    if isinstance(answer, Sequence | set | frozenset):
        return tuple(map(plain_answer, answer))
    return type(answer).__name__


def answer_of_predictions(predictions, level=0.2):
    """Everything there is to ask about few labels; what is cheap about many."""
    parts = [
        predictions.labelsets,
        predictions.confidence,
        predictions.credibility,
        predictions.label_p_values,
    ]
    if len(predictions.label_names) <= FEW_LABELS:
        parts += [predictions.p_values(), predictions.candidates(), predictions.rank_labels()]
        parts.append(answer_of_region(predictions.region(level)))
    return tuple(parts)


def answer_of_region(region):
    sizes = tuple(map(plain_answer, region.size_estimates))
    return region.inner, region.outer, region.log2_sizes, sizes, region.statement


def answer_of_frame(frame):
    """The cells of a table of pandas or polars; a gap is None."""
    if hasattr(frame, "iloc"):
        cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    else:
        cells = [list(row) for row in frame.rows()]
    return tuple(map(str, frame.columns)), plain_answer(cells)

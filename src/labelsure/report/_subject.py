"""What a report is about, checked at the door: predictions, the truth, the names of objects, groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    check_label_matrix,
    check_outputs,
    check_same_length,
    is_list,
)
from labelsure.predictions import LabelsetPredictions

MOST_GROUPS = 100
"""Of one grouping; more are not read by anybody, and are mostly numbers that were to be binned."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """A way to divide the objects: the name of each group, and each object's place among them."""

    by: str
    names: tuple[str, ...]
    places: IntArray


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Attributes
    ----------
    predictions : LabelsetPredictions
        Of n objects.
    labels : array of shape (n, q) or None
        The truth, where it is known.
    predicted : array of shape (n, q) or None
        What ``predict`` answers; None: nothing but the most plausible labelsets.
    alone : array of shape (n, q) or None
        What the learner says by itself, between 0 and 1.
    names : tuple of str
        What the objects are called.
    groups : tuple of Grouping
        How the user divides them.
    title : str
        The page's.
    """

    predictions: LabelsetPredictions
    labels: LabelMatrix | None
    predicted: LabelMatrix | None
    alone: FloatArray | None
    names: tuple[str, ...]
    groups: tuple[Grouping, ...]
    title: str

    def __len__(self) -> int:
        return len(self.names)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels."""
        return self.predictions.label_names

    @property
    def answers(self) -> LabelMatrix:
        """One labelset for each object: what ``predict`` answers, or else the most plausible labelset."""
        return self.predictions.labelsets if self.predicted is None else self.predicted


def check_subject(
    predictions: Any,
    Y: Any,
    objects: Any,
    groups: Any,
    title: Any,
    predicted: Any = None,
    alone: Any = None,
) -> Subject:
    """Return what a report is about, or say what is wrong with it."""
    if not isinstance(predictions, LabelsetPredictions):
        raise ValueError(
            f"predictions must be LabelsetPredictions, got {type(predictions).__name__}."
            " Pass what predict_labelsets of a fitted predictor returns."
        )
    n_objects = len(predictions)
    if n_objects == 0:
        raise ValueError("predictions must hold at least one object to report on, got none.")
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title must be a text or None, got {title!r}.")
    return Subject(
        predictions,
        _check_labels(Y, predictions, "Y"),
        _check_labels(predicted, predictions, "predicted"),
        _check_alone(alone, predictions),
        _check_names(objects, predictions),
        _check_groups(groups, n_objects),
        "Labelsure report" if title is None else title,
    )


def _check_labels(labels: Any, predictions: LabelsetPredictions, name: str) -> LabelMatrix | None:
    if labels is None:
        return None
    names = predictions.label_names
    checked = check_label_matrix(labels, name=name, n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), checked, names=("the predictions", name))
    return checked


def _check_alone(alone: Any, predictions: LabelsetPredictions) -> FloatArray | None:
    if alone is None:
        return None
    names, dense = predictions.label_names, alone.toarray() if sparse.issparse(alone) else alone
    checked = check_outputs(dense, name="alone", n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), checked, names=("the predictions", "alone"))
    return checked


def _check_names(objects: Any, predictions: LabelsetPredictions) -> tuple[str, ...]:
    if objects is None:
        objects = range(len(predictions)) if predictions.index is None else predictions.index
    if not is_list(objects):
        raise ValueError(f"objects must hold one name per object, got {objects!r}.")
    names = tuple(str(name) for name in objects)
    check_same_length(range(len(predictions)), names, names=("the predictions", "objects"))
    return names


def _check_groups(groups: Any, n_objects: int) -> tuple[Grouping, ...]:
    if groups is None:
        return ()
    columns = getattr(groups, "columns", None)
    if columns is None and not isinstance(groups, Mapping):
        raise ValueError(
            "groups must be a dict or a DataFrame with one entry per way to divide the objects, got"
            f' {type(groups).__name__}. Pass groups={{"site": sites}}.'
        )
    return tuple(
        _check_grouping(str(by), groups[by], n_objects)
        for by in (groups if columns is None else columns)
    )


def _check_grouping(by: str, members: Any, n_objects: int) -> Grouping:
    values = np.asarray(members)
    if values.ndim != 1:
        raise ValueError(
            f"groups[{by!r}] must have shape (n_objects,), one group per object, got"
            f" {values.shape}."
        )
    check_same_length(range(n_objects), values, names=("the predictions", f"groups[{by!r}]"))
    missing = [_is_missing(value) for value in values.tolist()]
    if any(missing):
        raise ValueError(
            f"groups[{by!r}] must name a group for each object, got {values[missing][0]} for object"
            f" {missing.index(True)}. Give objects without one a group of their own."
        )
    found, places = np.unique(
        values.astype(str) if values.dtype.kind in "OT" else values, return_inverse=True
    )
    if len(found) > MOST_GROUPS:
        raise ValueError(
            f"groups[{by!r}] must have at most {MOST_GROUPS} different values, got {len(found)}."
            " Put numbers into bins first, for instance with pandas.cut or numpy.digitize."
        )
    return Grouping(by, tuple(str(name) for name in found.tolist()), places.astype(np.int64))


def _is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, or pandas' NA, which cannot even be compared."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True

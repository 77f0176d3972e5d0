"""What a report describes, validated on input: predictions, the truth, object names, groups."""

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

# per grouping; more are usually numbers that should be binned first
MOST_GROUPS = 100


@dataclass(frozen=True, eq=False)
class Grouping:
    """A way to divide the objects: the names of groups, and the number of each object's group."""

    by: str
    names: tuple[str, ...]
    members: IntArray


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about; ``None`` is for what is not known.

    Attributes
    ----------
    predictions : LabelsetPredictions
        Of n objects.
    truth : array of shape (n, q) or None
        The true labels.
    predicted : array of shape (n, q) or None
        What ``predict`` answers.
    alone : array of shape (n, q) or None
        What the learner outputs without labelsure, between 0 and 1.
    names : tuple of str
        Of the objects.
    groups : tuple of Grouping
        How the user divides them and, if the truth is known, by the number of true labels.
    title : str
        The page's.
    """

    predictions: LabelsetPredictions
    truth: LabelMatrix | None
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
        """One labelset per object: that of ``predict`` if known, or the most plausible one."""
        return self.predictions.labelsets if self.predicted is None else self.predicted


def check_subject(
    predictions: Any, Y: Any, predicted: Any, alone: Any, objects: Any, groups: Any, title: Any
) -> Subject:
    """Return what a report is about, or raise ValueError."""
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
    truth = _check_matrix(check_label_matrix, Y, "Y", predictions)
    dense = alone.toarray() if sparse.issparse(alone) else alone
    groupings = _check_groups(groups, n_objects)
    if truth is not None:
        numbers, members = np.unique(truth.sum(axis=1, dtype=np.int64), return_inverse=True)
        by_number = Grouping("number of true labels", tuple(map(str, numbers.tolist())), members)
        groupings.append(by_number)
    return Subject(
        predictions,
        truth,
        _check_matrix(check_label_matrix, predicted, "predicted", predictions),
        _check_matrix(check_outputs, dense, "alone", predictions),
        _check_names(objects, predictions),
        tuple(groupings),
        "Labelsure report" if title is None else title,
    )


def _check_matrix(check: Any, values: Any, name: str, predictions: LabelsetPredictions) -> Any:
    if values is None:
        return None
    names = predictions.label_names
    checked = check(values, name=name, n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), checked, names=("the predictions", name))
    return checked


def _check_names(objects: Any, predictions: LabelsetPredictions) -> tuple[str, ...]:
    if objects is None:
        objects = range(len(predictions)) if predictions.index is None else predictions.index
    if not is_list(objects):
        raise ValueError(f"objects must hold one name per object, got {objects!r}.")
    names = tuple(str(name) for name in objects)
    check_same_length(range(len(predictions)), names, names=("the predictions", "objects"))
    return names


def _check_groups(groups: Any, n_objects: int) -> list[Grouping]:
    if groups is None:
        return []
    columns = getattr(groups, "columns", None)
    if columns is None and not isinstance(groups, Mapping):
        raise ValueError(
            "groups must be a dict or a DataFrame with one entry per way to divide the objects, got"
            f' {type(groups).__name__}. Pass groups={{"site": sites}}.'
        )
    names = groups if columns is None else columns
    return [_check_grouping(str(by), groups[by], n_objects) for by in names]


def _check_grouping(by: str, values: Any, n_objects: int) -> Grouping:
    values = np.asarray(values)
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
    values = values.astype(str) if values.dtype.kind in "OT" else values
    names, members = np.unique(values, return_inverse=True)
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"groups[{by!r}] must have at most {MOST_GROUPS} different values, got {len(names)}."
            " Put numbers into bins first, for instance with pandas.cut or numpy.digitize."
        )
    return Grouping(by, tuple(map(str, names.tolist())), members.astype(np.int64))


def _is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, or pandas' NA, which raises when it is compared."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True

"""Labels that are not known: NaN in a label matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._core.entries import CANNOT_BE_READ
from labelsure._core.types import BoolArray, LabelMatrix, LabelMatrixLike
from labelsure._core.validation import check_label_matrix, read_labels


def split_unknown(Y: LabelMatrixLike) -> tuple[Any, Any]:
    """Return a label matrix with 0 where it has NaN, and where that is; the same matrix and None where nowhere.

    DataFrames stay DataFrames, with the names of their columns.

    Examples
    --------
    >>> filled, unknown = split_unknown([[1.0, float("nan")], [0.0, 1.0]])
    >>> filled.tolist(), unknown.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[False, True], [False, False]])
    """
    if Y is None or hasattr(Y, "tocsr"):  # of a sparse matrix every entry is known
        return Y, None
    try:
        array = np.asarray(Y)
        missing = np.asarray(Y.isna()) if hasattr(Y, "isna") else array != array  # noqa: PLR0124 - NaN in any type
    except CANNOT_BE_READ:  # rows of different lengths: the checks of labels say so
        return Y, None
    if not isinstance(missing, np.ndarray) or not missing.any():
        return Y, None
    filled = np.where(missing, 0, array)
    if not hasattr(Y, "columns"):
        return filled, missing
    if hasattr(Y, "from_arrays"):  # of pyarrow
        return tuple(type(Y).from_arrays(list(part.T), names=Y.column_names) for part in (filled, missing))
    names = {"columns" if hasattr(Y, "iloc") else "schema": list(Y.columns)}  # of pandas, of polars
    return type(Y)(filled, **names), type(Y)(missing, **names)


def read_unknown(missing: Any, label_names: Sequence[str] | None, *, name: str = "y") -> BoolArray | None:
    """Return where labels are unknown, columns in the order in which :func:`read_labels` reads the labels.

    Raise ValueError where nothing is known about a label.

    Examples
    --------
    >>> read_unknown([[False, True], [False, True]], ["sea", "city"])
    Traceback (most recent call last):
    ...
    ValueError: y must have a known entry for every label, got only NaN for 'city'. Leave the label out.
    """
    if missing is None:
        return None
    marked, names = read_labels(missing, label_names, name=name)
    unknown: BoolArray = marked.astype(bool)
    nothing = np.flatnonzero(unknown.all(axis=0))
    if len(nothing):
        label = int(nothing[0])
        which = f"label {label}" if names is None else repr(names[label])
        raise ValueError(
            f"{name} must have a known entry for every label, got only NaN for {which}. Leave the label out."
        )
    return unknown


def check_gaps(
    Y: LabelMatrixLike, *, name: str = "Y", n_labels: int | None, label_names: Sequence[str] | None
) -> tuple[LabelMatrix, BoolArray | None]:
    """Return labels as :func:`check_label_matrix` does, 0 where they are unknown, and where that is or None.

    Examples
    --------
    >>> labels, unknown = check_gaps([[1.0, float("nan")]], n_labels=2, label_names=None)
    >>> labels.tolist(), unknown.tolist()
    ([[1, 0]], [[False, True]])
    """
    filled, missing = split_unknown(Y)
    labels = check_label_matrix(filled, name=name, n_labels=n_labels, label_names=label_names)
    if missing is None:
        return labels, None
    return labels, check_label_matrix(missing, name=name, n_labels=n_labels, label_names=label_names).astype(bool)

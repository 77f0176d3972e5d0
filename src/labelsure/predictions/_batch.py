"""What predictions and their regions share: ranked labelsets, posteriors, and checked labelsets."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    check_choice,
    check_label_matrix,
    check_same_length,
    is_number,
    library_of,
    list_labels,
)
from labelsure.measures._energy import Energy
from labelsure.predictions._frames import LAYOUTS, choose_library, make_frame, name_labels
from labelsure.predictions._show import show_ranked


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior probabilities of labelsets under the model of each fold.

    Attributes
    ----------
    energies : tuple of Energy
        One per fold; its scores are -log p(labelset | x), but for a constant.
    exponents : tuple of int
        Scores are whole numbers of 2^-exponent.
    """

    energies: tuple[Energy, ...]
    exponents: tuple[int, ...]

    def take(self, objects: IntArray) -> "Posterior":
        """Return those of some objects."""
        return Posterior(tuple(energy.take(objects) for energy in self.energies), self.exponents)

    def log_probabilities(self, Y: LabelMatrix, i: int) -> FloatArray:
        """Return the log probabilities of labelsets of object ``i``, in the mean over the folds."""
        objects = np.full(len(Y), i)
        logs = [
            -np.ldexp(energy.scores(Y, objects=objects).astype(np.float64), -exponent)
            for energy, exponent in zip(self.energies, self.exponents, strict=True)
        ]
        mean: FloatArray = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
        return mean


@dataclass(frozen=True, eq=False)
class RankedLabelsets:
    """Labelsets with their p-values, the most plausible first.

    Made by :meth:`LabelsetPredictions.top` for n objects, and by :meth:`ObjectRegion.members` for
    one.

    Attributes
    ----------
    labelsets : array of shape (n, k, q), or (k, q) for one object
        In order.
    p_values : array of shape (n, k) or (k,)
        Their p-values; 0 where an object has fewer than k labelsets to choose from.
    certain : bool array of shape (n,), or None for the members of a region
        Whether no others are more plausible; False only where, with very many labels, a search was
        stopped before it had ruled out all others: then these are the best ones found.
    label_names : tuple of str
        The labels.
    objects : sequence of length n
        What the objects are called: their index, or 0, 1, ...

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> top = predictor.predict_labelsets([[0.8, 0.3]]).top(2)
    >>> top.labelsets.tolist(), top.p_values.tolist()
    ([[[1, 0], [1, 1]]], [[0.75, 0.25]])
    """

    labelsets: LabelMatrix
    p_values: FloatArray
    certain: BoolArray | None = field(default=None, kw_only=True)
    label_names: tuple[str, ...]
    objects: Sequence[Any]

    def _repr_html_(self) -> str:
        return show_ranked(self)

    def to_frame(self, *, layout: str = "long", library: str | None = None) -> Any:
        """Return a DataFrame with one row per object and labelset, or one per object.

        Parameters
        ----------
        layout : {"long", "wide"}, default="long"
            "long": one row per object and labelset. "wide": one row per object, with the columns
            ``labels_1``, ``p_value_1``, ``labels_2``, ...; missing where an object has fewer
            labelsets.
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> top = predictor.predict_labelsets([[0.8, 0.3]]).top(2)
        >>> print(top.to_frame().round(3))
           object  rank     labels  p_value
        0       0     1        sea    0.667
        1       0     2  sea, city    0.333
        >>> print(top.to_frame(layout="wide").round(3))
          labels_1  p_value_1   labels_2  p_value_2
        0      sea      0.667  sea, city      0.333
        """
        shape = (len(self.objects), self.p_values.shape[-1])
        p_values, there = self.p_values.reshape(shape), self.p_values.reshape(shape) > 0
        on = self.labelsets.astype(bool).reshape(-1, len(self.label_names))
        texts = [", ".join(names) for names in name_labels(self.label_names, on)]
        labels = np.array(texts, dtype=object).reshape(shape)
        library = choose_library(library, self.objects)
        if check_choice(layout, LAYOUTS, name="layout") == "wide":
            labels[~there] = None
            columns: dict[str, Any] = {}
            for k in range(shape[1]):
                columns[f"labels_{k + 1}"] = labels[:, k]
                columns[f"p_value_{k + 1}"] = np.where(there[:, k], p_values[:, k], np.nan)
            index = None if isinstance(self.objects, range) else self.objects
            return make_frame(columns, index=index, library=library)
        row, rank = np.nonzero(there)
        names = list(self.objects)
        columns = {
            "object": [names[i] for i in row.tolist()],
            "rank": rank + 1,
            "labels": labels[row, rank],
            "p_value": p_values[row, rank],
        }
        return make_frame(columns, library=library)


def choose_objects(n_objects: int, objects: Any, index: Any) -> tuple[IntArray, Any]:
    """Return the positions and names chosen by a slice, indices, a boolean mask or one index."""
    try:
        chosen = np.atleast_1d(np.arange(n_objects)[objects])
    except OverflowError:
        raise IndexError(f"There are {n_objects} objects, got index {objects}.") from None
    if chosen.ndim != 1:
        raise IndexError(
            f"Objects are chosen along one axis, got an index of {chosen.ndim} dimensions."
        )
    return chosen, None if index is None else index[chosen]


def check_labelsets(
    Y: Any, *, n_objects: int, label_names: Sequence[str], name: str = "Y"
) -> LabelMatrix:
    """Return one labelset per object as a label matrix, from a matrix or from a single labelset.

    Parameters
    ----------
    Y : label matrix of shape (n, q), labelset of shape (q,), or set or list of label names
        Zeros and ones, one row per object; or one labelset for all of them, as zeros and ones or by
        its labels.
    n_objects : int
        The number of rows required.
    label_names : sequence of str
        The q labels; the columns of a DataFrame, or the index of a Series, are taken by name.
    name : str
        The argument's name, for the error message.

    Examples
    --------
    >>> check_labelsets({"sea"}, n_objects=2, label_names=["beach", "sea"]).tolist()
    [[0, 1], [0, 1]]
    """
    one = _one_labelset(Y, label_names, name)
    rows = Y if one is None else one
    labels = check_label_matrix(rows, name=name, n_labels=len(label_names), label_names=label_names)
    if one is not None:
        return np.repeat(labels, n_objects, axis=0)
    check_same_length(range(n_objects), labels, names=("the predictions", name))
    return labels


def _one_labelset(Y: Any, label_names: Sequence[str], name: str) -> Any:
    """Return a single labelset as a table of one row, or None where ``Y`` is a table."""
    if isinstance(Y, str):
        raise ValueError(
            f"{name} must be zeros and ones or a set of label names, got {Y!r}. Pass [{Y!r}]."
        )
    # a Series has no names
    Y = Y.to_list() if library_of(Y) == "polars" and not hasattr(Y, "columns") else Y
    listed = isinstance(Y, list | tuple)
    flat = getattr(Y, "ndim", None) == 1 and not sparse.issparse(Y)
    if isinstance(Y, Set) or (
        (listed or (flat and len(Y))) and all(isinstance(entry, str) for entry in Y)
    ):
        unknown = [label for label in Y if label not in label_names]
        if unknown:
            raise ValueError(
                f"{name} must name labels, got {unknown[0]!r}. {list_labels(label_names)}"
            )
        return [[int(label in Y) for label in label_names]]
    if flat and hasattr(Y, "to_frame"):  # a Series, its index being names of labels
        return Y.to_frame().T
    return [Y] if flat or (listed and all(map(is_number, Y))) else None

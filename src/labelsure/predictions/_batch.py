"""What predictions and their regions share: the engine that answers for some objects, names, and ranked labelsets."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.optional import import_optional
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure._core.validation import check_label_matrix, check_same_length, is_number, list_labels
from labelsure.labelsets import BestLabelsets, LabelsetEngine
from labelsure.predictions._guarantee import Guarantee, NoGuarantee


@dataclass(eq=False)
class Batch:
    """Some objects, what is known about them, and what they and their labels are called.

    Attributes
    ----------
    engine : LabelsetEngine
        Answers for them.
    guarantee : Guarantee or NoGuarantee
        What is proven about regions.
    label_names : tuple of str
        The labels.
    index : pandas Index, array or None
        What the objects are called.
    """

    engine: LabelsetEngine
    guarantee: Guarantee | NoGuarantee
    label_names: tuple[str, ...]
    index: Any

    @cached_property
    def best(self) -> BestLabelsets:
        """The two most plausible labelsets of each object."""
        return self.engine.top(2)

    @cached_property
    def label_numerators(self) -> IntArray:
        """The highest numerator among the labelsets with each label off and on."""
        return self.engine.label_numerators()

    def take(self, objects: Any) -> "Batch":
        """Return some of the objects: a slice, indices, a boolean mask or a single index."""
        chosen, index = choose_objects(self.engine.n_objects, objects, self.index)
        return Batch(self.engine.take(chosen), self.guarantee, self.label_names, index)

    def check(self, Y: Any, name: str = "Y", n_objects: int | None = None) -> LabelMatrix:
        """Return one labelset per object, or for ``n_objects`` of them; see :func:`check_labelsets`."""
        n_rows = self.engine.n_objects if n_objects is None else n_objects
        return check_labelsets(Y, n_objects=n_rows, label_names=self.label_names, name=name)

    def to_frame(self, labels: Any, figures: Mapping[str, Any], prefix: str) -> Any:
        """Return a pandas DataFrame with one row per object: a column per label, and further figures."""
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        columns = [prefix + name for name in self.label_names]
        clashes = [column for column in columns if column in figures]
        if clashes:
            raise ValueError(
                f"to_frame has a column {clashes[0]!r} of its own beside that of the label."
                ' Pass prefix="label_" to put this before the names of all labels.'
            )
        return pandas.DataFrame(labels, columns=columns, index=self.index).assign(**figures)


@dataclass(frozen=True, eq=False)
class RankedLabelsets:
    """Labelsets with their p-values, the most plausible first.

    Made by :meth:`LabelsetPredictions.top` for n objects, and by :meth:`ObjectRegion.members` for one.

    Attributes
    ----------
    labelsets : array of shape (n, k, q), or (k, q) for one object
        In order.
    p_values : array of shape (n, k) or (k,)
        Their p-values; 0 where an object has fewer than k labelsets to choose from.
    certain : bool array of shape (n,), or None for the members of a region
        Whether no others are more plausible; False only where, with very many labels, a search was stopped before it
        had ruled out all others: then these are the best ones found.
    label_names : tuple of str
        The labels.
    objects : sequence of length n
        What the objects are called: their index, or 0, 1, ...

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> top = predictor.predict_labelsets([[0.8, 0.3]]).top(2)
    >>> top.labelsets.tolist(), top.p_values.tolist()
    ([[[1, 0], [1, 1]]], [[0.75, 0.25]])
    """

    labelsets: LabelMatrix
    p_values: FloatArray
    certain: BoolArray | None = field(default=None, kw_only=True)
    label_names: tuple[str, ...]
    objects: Sequence[Any]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per object and labelset.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=["sea", "city"])
        >>> print(predictor.predict_labelsets([[0.8, 0.3]]).top(2).to_frame().round(3))
           object  rank     labels  p_value
        0       0     1        sea    0.667
        1       0     2  sea, city    0.333
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        shape = (len(self.objects), self.p_values.shape[-1])
        labelsets = self.labelsets.astype(bool).reshape(*shape, len(self.label_names))
        p_values = self.p_values.reshape(shape).tolist()
        rows = [
            (name, rank + 1, ", ".join(label for label, on in zip(self.label_names, labelset, strict=True) if on), p)
            for name, members, values in zip(self.objects, labelsets, p_values, strict=True)
            for rank, (labelset, p) in enumerate(zip(members, values, strict=True))
            if p > 0
        ]
        return pandas.DataFrame(rows, columns=["object", "rank", "labels", "p_value"])


def choose_objects(n_objects: int, objects: Any, index: Any) -> tuple[IntArray, Any]:
    """Return the positions and names that a slice, indices, a boolean mask or a single index choose."""
    chosen = np.atleast_1d(np.arange(n_objects)[objects])
    if chosen.ndim != 1:
        raise IndexError(f"Objects are chosen along one axis, got an index of {chosen.ndim} dimensions.")
    return chosen, None if index is None else index.take(chosen)


def check_labelsets(Y: Any, *, n_objects: int, label_names: Sequence[str], name: str = "Y") -> LabelMatrix:
    """Return one labelset per object as a label matrix, from a matrix or from one labelset for all objects.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, q), array-like of shape (q,), or set or list of label names
        Zeros and ones, one row per object; or one labelset for all of them, as zeros and ones or by its labels.
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
        raise ValueError(f"{name} must be zeros and ones or a set of label names, got {Y!r}. Pass [{Y!r}].")
    listed = isinstance(Y, list | tuple)
    flat = getattr(Y, "ndim", None) == 1 and not sparse.issparse(Y)
    if isinstance(Y, Set) or ((listed or (flat and len(Y))) and all(isinstance(entry, str) for entry in Y)):
        unknown = [label for label in Y if label not in label_names]
        if unknown:
            raise ValueError(f"{name} must name labels, got {unknown[0]!r}. {list_labels(label_names)}")
        return [[int(label in Y) for label in label_names]]
    if flat and hasattr(Y, "to_frame"):  # a Series, its index being names of labels
        return Y.to_frame().T
    return [Y] if flat or (listed and all(map(is_number, Y))) else None

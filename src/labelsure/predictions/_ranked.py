"""Labelsets in order of plausibility."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labelsure._core.optional import import_optional
from labelsure._core.types import FloatArray, LabelMatrix


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

"""Regions of labels taken one by one: what each label may be, so that few are wrong at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrixLike
from labelsure.engine import RegionSize
from labelsure.predictions._batch import check_labelsets, choose_objects
from labelsure.predictions._decided import describe_labels
from labelsure.predictions._frames import frame_of_labels
from labelsure.predictions._region import Region
from labelsure.predictions._show import show_region


@dataclass(frozen=True, eq=False, repr=False)
class LabelWiseRegion(Region):
    """For each label of each object the values that cannot be ruled out.

    Made by :meth:`LabelWisePredictions.region`, which says how.

    Attributes
    ----------
    possible_values : bool array of shape (n, q, 2)
        Whether each label may be off and whether it may be on.
    p_values : array of shape (n, q, 2)
        Those of each label by itself.
    significance : float
        What was asked for.
    at_most_wrong : int or None
        h, the number of labels that may be wrong; None where each label is decided by itself.
    level : fractions.Fraction
        The level that p-values are compared with: the significance, or its share for one label.
    statement : str
        What is proven about these regions, under which conditions, and by whom.
    label_names : tuple of str
        The labels.
    index : pandas index or None
        That of the objects, where they came as a DataFrame.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> region = predictor.predict_labels([[0.8, 0.15]]).region(significance=0.25)
    >>> region.possible_values.tolist()
    [[[False, True], [True, False]]]
    >>> region.contains([[1, 0]]).tolist(), region.n_wrong([[0, 1]]).tolist(), region.sizes.tolist()
    ([True], [2], [1])
    >>> print(region.statement)
    Some label is wrong with probability at most 0.25, for exchangeable examples (Papadopoulos, Proedrou, Vovk,
    Gammerman 2002; Vovk, Gammerman, Shafer 2005). Each label by itself is wrong with at most that probability too.
    """

    possible_values: BoolArray
    p_values: FloatArray
    significance: float
    at_most_wrong: int | None
    level: Fraction
    statement: str
    label_names: tuple[str, ...]
    index: Any = None

    def __len__(self) -> int:
        return len(self.possible_values)

    def __getitem__(self, objects: Any) -> "LabelWiseRegion":
        """Return the regions of some of the objects: a slice, indices, a boolean mask or a single index."""
        chosen, index = choose_objects(len(self), objects, self.index)
        return replace(
            self,
            possible_values=self.possible_values[chosen],
            p_values=self.p_values[chosen],
            index=index,
        )

    def __iter__(self) -> Iterator["LabelWiseRegion"]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        wrong = {None: ", per_label=True", 0: ""}.get(
            self.at_most_wrong, f", at_most_wrong={self.at_most_wrong}"
        )
        return f"LabelWiseRegion(significance={self.significance}{wrong}, {len(self)} objects)"

    def _repr_html_(self) -> str:
        return show_region(
            self, self.index, "A label that can be neither on nor off makes an object strange."
        )

    @property
    def empty(self) -> BoolArray:
        """The labels that can be neither off nor on, shape (n, q): the object is strange, and they count as wrong."""
        return ~(self.possible_values[:, :, 0] | self.possible_values[:, :, 1])

    def wrong(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell which labels of one labelset per object have a value that was ruled out, shape (n, q).

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        Y = check_labelsets(Y, n_objects=len(self), label_names=self.label_names)
        right = np.take_along_axis(self.possible_values, Y[:, :, None].astype(np.int64), axis=2)[
            :, :, 0
        ]
        return ~right

    def n_wrong(self, Y: LabelMatrixLike) -> IntArray:
        """Return how many labels of one labelset per object have a value that was ruled out, shape (n,).

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        n_wrong: IntArray = np.sum(self.wrong(Y), axis=1, dtype=np.int64)
        return n_wrong

    def contains(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell for one labelset per object whether at most ``at_most_wrong`` of its labels are ruled out.

        With the true labelsets, the share of False is the error rate, which ``significance``
        bounds. Where each label is decided by itself none may be ruled out, and what is bounded is
        the share of True of each column of :meth:`wrong`.

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        members: BoolArray = self.n_wrong(Y) <= (self.at_most_wrong or 0)
        return members

    @cached_property
    def size_estimates(self) -> tuple[RegionSize, ...]:
        """The number of labelsets that :meth:`contains` accepts for each object, all of them counted.

        With ``at_most_wrong=0`` that is 2 to the number of undecided labels, or 0 where a label can
        be neither off nor on. Else both values of an empty or undecided label count, and of the
        others up to h - n_empty flip.
        """
        sizes = []
        for n_empty, n_both in zip(
            self.empty.sum(axis=1).tolist(), self.undecided.sum(axis=1).tolist(), strict=True
        ):
            n_single, n_flips = (
                len(self.label_names) - n_empty - n_both,
                (self.at_most_wrong or 0) - n_empty,
            )
            size = (1 << n_empty + n_both) * sum(
                comb(n_single, flips) for flips in range(n_flips + 1)
            )
            sizes.append(RegionSize.counted(size))
        return tuple(sizes)

    def to_frame(
        self, *, layout: str = "long", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame with one row per object and label: its p-values and what is decided about it.

        With ``layout="wide"`` there is one row per object, with a decision for each label and the
        number of labelsets. ``decision`` is "sure" (the label can only be on), "possible" (it may
        be either), "ruled out" (it can only be off) or "neither" (both values are ruled out).

        Parameters
        ----------
        layout : {"wide", "long"}, default="long"
            "wide": one row per object. "long": one row per object and label.
        prefix : str, default=""
            Put before the names of the labels, for labels called "size".
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.
            The index of a pandas table is kept; in polars, which has none, it becomes a column.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labels([[0.8, 0.15]]).region(0.25).to_frame())
                      p_off  p_on   decision
        object label
        0      sea     0.25  0.75       sure
               city    0.75  0.25  ruled out
        """
        return frame_of_labels(
            describe_labels(self.possible_values, neither="neither"),
            layout,
            called="decision",
            figures=lambda: {"size": self.sizes},
            p_values=lambda: self.p_values,
            label_names=self.label_names,
            index=self.index,
            prefix=prefix,
            library=library,
        )

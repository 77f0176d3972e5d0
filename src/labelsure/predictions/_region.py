"""Regions: the labelsets that cannot be ruled out at a chosen significance."""

from collections.abc import Iterator
from functools import cached_property
from operator import index

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike
from labelsure._core.validation import check_count, check_label_matrix, check_same_length, check_significance
from labelsure.labelsets import BestLabelsets, LabelsetEngine


class LabelsetRegion:
    """The prediction regions of a batch of objects: ``{labelsets: p-value > significance}``.

    Made by :meth:`LabelsetPredictions.region`; nothing is computed before it is asked for.

    Attributes
    ----------
    significance : float
        The level asked for.
    force_nonempty : bool
        Whether the most plausible labelset is a member even where its p-value is not above the significance.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> region = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]]).region(significance=0.3)
    >>> region.sizes.tolist()
    [1, 0]
    >>> region[0].labelsets().tolist()
    [[1, 0]]
    >>> region.contains([[1, 0], [0, 1]]).tolist()
    [True, False]
    """

    def __init__(
        self, engine: LabelsetEngine, best: BestLabelsets | None, significance: float, *, force_nonempty: bool
    ) -> None:
        self.significance = significance
        self.force_nonempty = force_nonempty
        self._engine = engine
        self._best = best
        self._smallest = engine.smallest_member(check_significance(significance))

    def __len__(self) -> int:
        return self._engine.n_objects

    def __getitem__(self, i: int) -> "ObjectRegion":
        """Return the region of one object."""
        if not -len(self) <= index(i) < len(self):
            raise IndexError(f"There are {len(self)} objects, got index {i}.")
        return ObjectRegion(self, index(i) % len(self))

    def __iter__(self) -> Iterator["ObjectRegion"]:
        return (ObjectRegion(self, i) for i in range(len(self)))

    def __repr__(self) -> str:
        forced = ", force_nonempty=True" if self.force_nonempty else ""
        return f"LabelsetRegion(significance={self.significance}{forced}, {len(self)} objects)"

    @cached_property
    def sizes(self) -> IntArray:
        """The number of labelsets in each object's region, shape (n,)."""
        sizes = self._engine.region_sizes(self._smallest)
        return np.maximum(sizes, 1) if self.force_nonempty else sizes

    def contains(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell for one labelset per object whether it is a member.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones; with the true labelsets, the share of False is the error rate.
        """
        Y = check_label_matrix(Y, n_labels=self._engine.n_labels)
        check_same_length(range(len(self)), Y, names=("the predictions", "Y"))
        members: BoolArray = self._engine.numerators_of(Y) >= self._smallest
        if self._best is not None:
            members |= (self._best.labelsets == Y).all(axis=1)
        return members


class ObjectRegion:
    """The region of one object, made by indexing a :class:`LabelsetRegion`.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> region = predictor.predict_labelsets([[0.8, 0.3]]).region(significance=0.2)
    >>> for labelset, p_value in zip(region[0].labelsets(), region[0].p_values()):
    ...     print(labelset, p_value)
    [1 0] 0.75
    [1 1] 0.25
    [0 1] 0.25
    """

    def __init__(self, region: LabelsetRegion, i: int) -> None:
        self._region = region
        self._i = i

    def __len__(self) -> int:
        return len(self._members[1])

    def __contains__(self, labelset: object) -> bool:
        labelsets = self._members[0]
        wanted = check_label_matrix([labelset], name="labelset", n_labels=labelsets.shape[1])
        return bool((labelsets == wanted).all(axis=1).any())

    def __iter__(self) -> Iterator[LabelMatrix]:
        return iter(self._members[0])

    def __repr__(self) -> str:
        return f"ObjectRegion(object {self._i}, significance={self._region.significance})"

    def labelsets(self, *, limit: int | None = None) -> LabelMatrix:
        """Return the members, the most plausible first (by p-value, then by lowest total score).

        Parameters
        ----------
        limit : int or None
            At most so many.
        """
        return self._members[0][: _check_limit(limit)]

    def p_values(self, *, limit: int | None = None) -> FloatArray:
        """Return the members' p-values, in the order of :meth:`labelsets`."""
        return self._members[1][: _check_limit(limit)] / self._region._engine.denominator

    @cached_property
    def _members(self) -> tuple[LabelMatrix, IntArray]:
        region = self._region
        labelsets, numerators = region._engine.region_members(self._i, region._smallest)
        if region._best is not None and not len(numerators):
            return region._best.labelsets[[self._i]], region._best.numerators[[self._i]]
        return labelsets, numerators


def _check_limit(limit: int | None) -> int | None:
    return None if limit is None else check_count(limit, name="limit", at_least=0)

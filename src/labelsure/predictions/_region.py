"""Regions: the labelsets that cannot be ruled out at a chosen significance."""

from collections.abc import Iterator
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike
from labelsure._core.validation import check_count, check_label_matrix, check_same_length, check_significance
from labelsure.labelsets import RegionSize

if TYPE_CHECKING:
    from labelsure.predictions._labelset_predictions import LabelsetPredictions


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

    def __init__(self, predictions: "LabelsetPredictions", significance: float, *, force_nonempty: bool) -> None:
        self.significance = significance
        self.force_nonempty = force_nonempty
        self._predictions = predictions
        self._engine, self._smallest = predictions._engine.at_level(check_significance(significance))

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

    @property
    def guarantee(self) -> str:
        """What is guaranteed about these regions, under which conditions, and by whom it was proved."""
        return self._predictions.guarantee.sentence(self.significance)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of labelsets in each object's region, shape (n,).

        Whole numbers where they were counted. Regions too large for that are estimated: then the array holds Python
        objects, ints and :class:`RegionSize`, which print like ``2^41.3 (+-0.1)``.
        """
        least = 1 if self.force_nonempty else 0
        sizes = [
            max(size.value, least) if size.exact else size for size in self._engine.region_sizes(self._smallest)
        ]
        counted = all(isinstance(size, int) and size < 2**63 for size in sizes)
        return np.array(sizes, dtype=np.int64 if counted else object)

    def contains(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell for one labelset per object whether it is a member, for any number of labels.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones; with the true labelsets, the share of False is the error rate.
        """
        Y = check_label_matrix(Y, n_labels=self._engine.n_labels)
        check_same_length(range(len(self)), Y, names=("the predictions", "Y"))
        members: BoolArray = self._engine.numerators_of(Y) >= self._smallest
        if self.force_nonempty:
            members |= (self._predictions.labelsets == Y).all(axis=1)
        return members

    @property
    def inner(self) -> BoolArray:
        """The labels in every labelset of each object's region, shape (n, q); none where the region is empty.

        With the probability that the region holds the true labelset, all of these labels are true, and all true
        labels are among :attr:`outer`: one guarantee for all labels at once.
        """
        off, on = self._possible
        return self._forced_labels(on & ~off)

    @property
    def outer(self) -> BoolArray:
        """The labels in at least one labelset of each object's region, shape (n, q); see :attr:`inner`."""
        return self._forced_labels(self._possible[1])

    @property
    def _possible(self) -> tuple[BoolArray, BoolArray]:
        """Whether some member has each label off, and whether some member has it on."""
        own = self._engine is self._predictions._engine
        numerators = self._predictions._label_numerators if own else self._label_numerators
        possible = numerators >= self._smallest[:, None, None]
        return possible[:, :, 0], possible[:, :, 1]

    @cached_property
    def _label_numerators(self) -> IntArray:
        return self._engine.label_numerators()

    def _forced_labels(self, labels: BoolArray) -> BoolArray:
        if not self.force_nonempty:
            return labels
        off, on = self._possible
        nonempty = np.any(off | on, axis=1)
        return np.where(nonempty[:, None], labels, self._predictions.labelsets.astype(bool))


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

    def __contains__(self, labelset: object) -> bool:
        region = self._region
        wanted = check_label_matrix([labelset], name="labelset", n_labels=region._engine.n_labels)
        alone = region._predictions[[self._i]].region(region.significance, force_nonempty=region.force_nonempty)
        return bool(alone.contains(wanted)[0])

    def __iter__(self) -> Iterator[LabelMatrix]:
        """Yield the members one by one in the order in which a search finds them, in bounded memory.

        :meth:`labelsets` returns them with the most plausible first.
        """
        region = self._region
        chunks = region._engine.iterate_members(self._i, int(region._smallest[self._i]))
        n_members = 0
        for labelsets, _ in chunks:
            n_members += len(labelsets)
            yield from labelsets
        if n_members == 0 and region.force_nonempty:
            yield region._predictions.labelsets[self._i]

    def __repr__(self) -> str:
        return f"ObjectRegion(object {self._i}, significance={self._region.significance})"

    @property
    def size(self) -> int | RegionSize:
        """The number of members: an int where they were counted, else a :class:`RegionSize`."""
        region = self._region
        alone = region._predictions[[self._i]].region(region.significance, force_nonempty=region.force_nonempty)
        size: int | RegionSize = alone.sizes.tolist()[0]
        return size

    def labelsets(self, *, limit: int | None = None) -> LabelMatrix:
        """Return the members, the most plausible first (by p-value, then by lowest total score).

        Parameters
        ----------
        limit : int or None
            At most so many; needed for regions too large to be listed.
        """
        region = self._region
        limit = None if limit is None else check_count(limit, name="limit", at_least=0)
        labelsets, _ = region._engine.region_members(self._i, int(region._smallest[self._i]), limit)
        if region.force_nonempty and not len(labelsets) and limit != 0:
            return region._predictions.labelsets[[self._i]]
        return labelsets

    def p_values(self, *, limit: int | None = None) -> FloatArray:
        """Return the members' p-values, in the order of :meth:`labelsets`."""
        engine = self._region._predictions._engine
        labelsets = self.labelsets(limit=limit)
        objects = np.full(len(labelsets), self._i)
        return engine.to_p_values(engine.numerators_of(labelsets, objects), objects)

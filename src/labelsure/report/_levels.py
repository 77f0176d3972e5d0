"""Which confidence levels a report offers, and the regions at each of them."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure._parallel import progress_bar
from labelsure.predictions import (
    Guarantee,
    LabelsetPredictions,
    LabelsetRegion,
    NoGuarantee,
    RankedLabelsets,
)
from labelsure.report._subject import Subject

FINE = (*range(10, 900, 10), *range(900, 1000))
"""Confidence levels in tenths of a per cent where all labelsets can be looked at: 1, 2, ..., 90, 90.1, ..., 99.9 %."""
COARSE = (500, 600, 700, 750, 800, 850, 900, 950, 990)
"""Levels where the regions of each take a search of their own, or where there are very many objects."""

MOST_P_VALUES = 2**29
"""P-values that are looked at to count the labelsets in regions, which takes half a minute."""
MOST_LABELS_LISTED = 24
"""Labels whose labelsets are all looked at: above, those of one object would not fit into memory."""
SEARCH = 23
"""A search for the size of a region takes at most about as long as a look at so many labels' labelsets."""
MOST_OBJECTS = 20_000
"""Objects for which there are fine levels."""
CHUNK = 2**22
"""P-values in memory at once."""
LARGEST_POWER = 1000
"""Of two, among sizes: numbers that every reader of JSON can hold."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels on offer, in ascending order of confidence.

    Attributes
    ----------
    per_mille : tuple of int
        Confidence in tenths of a per cent.
    nested : bool
        Whether a region at a higher confidence holds those at lower ones.
    sizes : {"table", "search", "bound"}
        Where the number of labelsets in each region comes from: from all p-values, from a search
        that counts small regions and estimates large ones, or from the number of labels that are
        left open.
    """

    per_mille: tuple[int, ...]
    nested: bool
    sizes: str

    @classmethod
    def offered(cls, predictions: LabelsetPredictions) -> "Levels":
        """Return the levels at which everything about these predictions can be told in reasonable time."""
        n_objects = len(predictions)
        n_labels = len(predictions.label_names)
        nested = predictions.nested
        if nested and n_labels <= MOST_LABELS_LISTED and n_objects << n_labels <= MOST_P_VALUES:
            return cls(FINE if n_objects <= MOST_OBJECTS else COARSE, nested, "table")
        few = n_objects << min(n_labels, SEARCH) <= MOST_P_VALUES
        return cls(COARSE, nested, "search" if few else "bound")

    def __len__(self) -> int:
        return len(self.per_mille)

    @property
    def significances(self) -> FloatArray:
        """The levels as Python writes them."""
        return (1000 - np.array(self.per_mille)) / 1000

    def start(self, guarantee: Guarantee | NoGuarantee) -> int:
        """Return where a report starts: at 95 %, or at the highest usual level that there are enough examples for."""
        least = guarantee.vacuous_below or 0
        usual = [level for level in (950, 900, 800, 500) if 1000 - level >= 1000 * least]
        return self.per_mille.index(usual[0] if usual else 950)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The regions of all objects at one level.

    Attributes
    ----------
    possible : bool array of shape (n, q, 2)
        Whether each label may be off, and whether it may be on.
    sizes : array of shape (n,)
        The number of labelsets; whole numbers as floats where they need more than 64 bits.
    exact : bool
        Whether all of these were counted.
    covered : bool array of shape (n,) or None
        Whether the truth is a member.
    top : bool array of shape (n, k)
        Whether each of the most plausible labelsets is a member.
    """

    possible: BoolArray
    sizes: IntArray | FloatArray
    exact: bool
    covered: BoolArray | None
    top: BoolArray


def take_snapshots(subject: Subject, levels: Levels, top: RankedLabelsets) -> Iterator[Snapshot]:
    """Yield the regions at each level, with what of the truth and of the ``top`` labelsets is in them.

    Nested regions are told from p-values computed once, others are asked at each level. A p-value
    is a quotient of whole numbers rounded once, as is a level, so that equal ones are equal, and
    different ones are different while denominators are below 2^42; only smoothed p-values have
    larger ones, at multiples of 2^-31 drawn at random.
    """
    predictions, labels = subject.predictions, subject.labels
    truth = predictions.p_value(labels) if levels.nested and labels is not None else None
    sizes = count_labelsets(predictions, levels.significances) if levels.sizes == "table" else None
    for place, significance in enumerate(
        progress_bar(levels.significances.tolist(), description="regions, levels")
    ):
        with warnings.catch_warnings():  # levels that cannot be reached are named in the page
            warnings.simplefilter("ignore", UserWarning)
            region = predictions.region(significance)
        if levels.nested:
            covered, in_top = (
                None if truth is None else truth > significance,
                top.p_values > significance,
            )
        else:
            covered = None if labels is None else region.contains(labels)
            in_top = np.stack(
                [region.contains(rank) for rank in top.labelsets.transpose(1, 0, 2)], axis=1
            )
        known, exact = _sizes_of(region, levels) if sizes is None else (sizes[place], True)
        yield Snapshot(region.possible_values, known, exact, covered, in_top)


def count_labelsets(predictions: LabelsetPredictions, significances: FloatArray) -> IntArray:
    """Return the number of labelsets in each region at descending significances, (n_levels, n_objects)."""
    n_levels = len(significances)
    n_objects = len(predictions)
    ascending = significances[::-1]
    sizes = np.empty((n_levels, n_objects), dtype=np.int64)
    at_once = max(CHUNK >> len(predictions.label_names), 1)
    for first in progress_bar(range(0, n_objects, at_once), description="counting labelsets"):
        p_values = predictions[first : first + at_once].p_values()
        below = np.searchsorted(
            ascending, p_values, side="left"
        )  # so many levels does each p-value exceed
        below += np.arange(len(below))[:, None] * (n_levels + 1)
        counts = np.bincount(below.ravel(), minlength=len(below) * (n_levels + 1)).reshape(
            len(below), n_levels + 1
        )
        members = counts[:, :0:-1].cumsum(axis=1)  # those that exceed all levels, all but one, ...
        sizes[:, first : first + at_once] = members.T
    return sizes


def _sizes_of(region: LabelsetRegion, levels: Levels) -> tuple[IntArray | FloatArray, bool]:
    """Return sizes or bounds on them, and whether all are exact."""
    if levels.sizes == "search":
        return region.sizes, all(size.exact for size in region.size_estimates)
    undecided = region.undecided.sum(axis=1)
    nothing = ~region.possible_values.any(axis=(1, 2))
    return np.where(nothing, 0.0, np.exp2(np.minimum(undecided, LARGEST_POWER))), bool(
        (undecided == 0).all()
    )

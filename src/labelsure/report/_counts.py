"""The confidence levels that a report offers, and the counts at each, in total and per object."""

import warnings
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure._parallel import progress_bar
from labelsure.metrics import ConditionalCoverage, SizeHistogram
from labelsure.predictions import (
    Guarantee,
    LabelsetPredictions,
    LabelsetRegion,
    NoGuarantee,
)
from labelsure.report._subject import Subject

# confidence levels in tenths of a per cent: 1, 2, ..., 90, 90.1, ..., 99.9 %, and the few that are
# offered where each takes a search, or where there are very many objects
FINE = (*range(10, 900, 10), *range(900, 1000))
COARSE = (500, 600, 700, 750, 800, 850, 900, 950, 990)
MOST_OBJECTS_FINE = 20_000

# p-values that may be computed to count the labelsets in regions, which takes half a minute; how
# many fit into memory at once; and the labels beyond which those of one object do not
MOST_P_VALUES = 2**29
CHUNK = 2**22
MOST_LABELS_LISTED = 24
# searching for the size of a region takes at most about as long as listing that many labels
SEARCH = 23
# the largest size is two to this power: every JSON reader can hold it
LARGEST_POWER = 1000

COVERAGE_LEVEL = 0.95  # of every interval in a report
N_TOP = 3  # labelsets shown of each object

# objects times labels, and objects, in the page's browser; if there are more, every second is
# shown, every third, ...
MOST_CELLS_SHOWN = 100_000
MOST_OBJECTS_SHOWN = 10_000


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
        that counts small regions and estimates large ones, or from the number of open labels.
    """

    per_mille: tuple[int, ...]
    nested: bool
    sizes: str

    @classmethod
    def offered(cls, predictions: LabelsetPredictions) -> "Levels":
        """Return the levels at which everything about these predictions takes reasonable time."""
        n_objects = len(predictions)
        n_labels = len(predictions.label_names)
        nested = predictions.nested
        if nested and n_labels <= MOST_LABELS_LISTED and n_objects << n_labels <= MOST_P_VALUES:
            return cls(FINE if n_objects <= MOST_OBJECTS_FINE else COARSE, nested, "table")
        few = n_objects << min(n_labels, SEARCH) <= MOST_P_VALUES
        return cls(COARSE, nested, "search" if few else "bound")

    def __len__(self) -> int:
        return len(self.per_mille)

    @property
    def significances(self) -> FloatArray:
        """The levels as significances."""
        return (1000 - np.array(self.per_mille)) / 1000

    def start(self, guarantee: Guarantee | NoGuarantee) -> int:
        """Return the index of the first level shown: 95 %, or the highest usual reachable one."""
        least = guarantee.vacuous_below or 0
        usual = [level for level in (950, 900, 800, 500) if 1000 - level >= 1000 * least]
        return self.per_mille.index(usual[0] if usual else 950)


class GroupCounts:
    """The coverage of groups at each level.

    Attributes
    ----------
    by : str
        What divides the objects.
    names : tuple of str
        The groups.
    n_objects, n_covered : int arrays of shape (n_levels, n_groups)
        Their objects, and how many of their regions hold the truth.
    """

    def __init__(self, by: str, names: tuple[str, ...], n_levels: int) -> None:
        self.by = by
        self.names = names
        self.n_objects = np.zeros((n_levels, len(names)), dtype=np.int64)
        self.n_covered = np.zeros((n_levels, len(names)), dtype=np.int64)


class Counts:
    """What is counted at each level, and what the page's browser knows of each object.

    A code says at which levels something is a member of a region. If regions are nested it is the
    number of levels at which it is not, so that it is a member from level number ``code`` on;
    otherwise bit i is set if it is a member at level i.

    Attributes
    ----------
    levels : Levels
        The levels, n_levels of them.
    best : RankedLabelsets
        The most plausible labelsets of all objects.
    size_kind : {"counted", "estimated", "bounded"}
        Whether all sizes are counts, some of them estimates, or all of them upper bounds.
    bins : tuple of str
        Of sizes: "empty", "1", "2", "3-4", ...
    sizes : int array of shape (n_levels, n_bins)
        The objects with a region in each bin.
    median_size : array of shape (n_levels,)
        Of regions.
    covered : int array of shape (n_levels,)
        The objects whose region holds the truth; zeros if it is not known.
    single_right : int array of shape (n_levels,)
        Those among them with a region of one labelset.
    labels : int array of shape (n_levels, q, 5)
        For each label the objects for which it is sure, possible, ruled out, sure but wrong, ruled
        out but true.
    groups : list of GroupCounts
        The user's, then by number of labels, label and size of region; empty without the truth.
    shown : int array of shape (m,)
        The objects in the browser.
    label_codes, truth_codes, top_codes : arrays of shape (m, q, 2), (m,) and (m, k)
        Codes of each label being off and on, of the true labelset, of the most plausible ones.
    shown_sizes : array of shape (n_levels, m)
        The number of labelsets in the regions of the objects in the browser.
    """

    def __init__(self, subject: Subject) -> None:
        n_objects, n_labels = len(subject), len(subject.label_names)
        self.levels = levels = Levels.offered(subject.predictions)
        self.best = subject.predictions.top(N_TOP)
        self.size_kind = "bounded" if levels.sizes == "bound" else "counted"
        self.bins = ("empty", *SizeHistogram(0, (1,) * (n_labels + 1)).bins)
        self.sizes = np.zeros((len(levels), len(self.bins)), dtype=np.int64)
        self.median_size = np.zeros(len(levels))
        self.covered = np.zeros(len(levels), dtype=np.int64)
        self.single_right = np.zeros(len(levels), dtype=np.int64)
        self.labels = np.zeros((len(levels), n_labels, 5), dtype=np.int64)
        self.groups: list[GroupCounts] = []
        if subject.truth is not None:
            divided = [(group.by, group.names) for group in subject.groups]
            divided += [("label", subject.label_names), ("size of region", self.bins)]
            self.groups = [GroupCounts(by, names, len(levels)) for by, names in divided]
        n_cells = n_objects * n_labels
        step = max(ceil(n_cells / MOST_CELLS_SHOWN), ceil(n_objects / MOST_OBJECTS_SHOWN))
        self.shown = np.arange(0, n_objects, step)
        code = np.uint8 if levels.nested else np.uint16
        self.label_codes: Any = np.zeros((len(self.shown), n_labels, 2), dtype=code)
        self.truth_codes: Any = np.zeros(len(self.shown), dtype=code)
        self.top_codes: Any = np.zeros((len(self.shown), N_TOP), dtype=code)
        size = np.int64 if levels.sizes == "table" else np.float64
        self.shown_sizes = np.zeros((len(levels), len(self.shown)), dtype=size)
        self._count(subject)

    @property
    def single(self) -> IntArray:
        """The objects with a region of one labelset, at each level."""
        return self.sizes[:, 1]

    @property
    def shown_bins(self) -> list[int]:
        """The bins of the histogram: the empty regions, and from the first used to the last."""
        used = np.flatnonzero(self.sizes[:, 1:].any(axis=0)) + 1
        return [0, *range(int(used[0]), int(used[-1]) + 1)] if len(used) else [0]

    def _count(self, subject: Subject) -> None:
        """Count level by level.

        Members of nested regions follow from p-values computed once, others are computed for each
        level. A p-value is a quotient of integers rounded once, as is a level, so that equal ones
        are equal, and different ones are different while denominators are below 2^42; only smoothed
        p-values have larger ones, at multiples of 2^-31 drawn at random.
        """
        predictions = subject.predictions
        truth = subject.truth
        levels = self.levels
        p_of_truth = predictions.p_value(truth) if levels.nested and truth is not None else None
        table = None
        if levels.sizes == "table":
            table = count_labelsets(predictions, levels.significances)
        covered: BoolArray | None
        for i, significance in enumerate(
            progress_bar(levels.significances.tolist(), description="regions, levels")
        ):
            with warnings.catch_warnings():  # the page names levels that cannot be reached
                warnings.simplefilter("ignore", UserWarning)
                region = predictions.region(significance)
            if levels.nested:
                covered = None if p_of_truth is None else p_of_truth > significance
                in_top = self.best.p_values > significance
            else:
                covered = None if truth is None else region.contains(truth)
                ranks = self.best.labelsets.transpose(1, 0, 2)
                in_top = np.stack([region.contains(labelsets) for labelsets in ranks], axis=1)
            bins = self._count_sizes(
                i, *_sizes_of(region, levels, None if table is None else table[i])
            )
            possible = region.possible_values
            self._add_codes(self.label_codes, possible, i)
            self._add_codes(self.top_codes, in_top, i)
            off, on = possible[:, :, 0], possible[:, :, 1]
            said = [on & ~off, on & off, off & ~on]
            if truth is not None and covered is not None:
                said += [said[0] & (truth == 0), said[2] & (truth == 1)]
                self._add_codes(self.truth_codes, covered, i)
                self.covered[i] = covered.sum()
                self.single_right[i] = (covered & (bins == 1)).sum()
                self._count_groups(i, covered, bins, subject)
            self.labels[i, :, : len(said)] = np.stack([what.sum(axis=0) for what in said], axis=1)

    def _count_sizes(self, i: int, sizes: IntArray | FloatArray, exact: bool) -> IntArray:
        """Count the sizes of the regions at one level, and return their bins."""
        if self.size_kind == "counted" and not exact:
            self.size_kind = "estimated"
        bins = bins_of(sizes)
        self.sizes[i] = np.bincount(bins, minlength=len(self.bins))
        self.median_size[i] = np.median(sizes)
        self.shown_sizes[i] = sizes[self.shown]
        return bins

    def _count_groups(self, i: int, covered: BoolArray, bins: IntArray, subject: Subject) -> None:
        assert subject.truth is not None
        *divided, by_label, by_size = self.groups
        by_label.n_objects[i] = subject.truth.sum(axis=0, dtype=np.int64)
        by_label.n_covered[i] = subject.truth[covered].sum(axis=0, dtype=np.int64)
        members = [*(group.members for group in subject.groups), bins]
        for group, places in zip((*divided, by_size), members, strict=True):
            group.n_objects[i] = np.bincount(places, minlength=len(group.names))
            group.n_covered[i] = np.bincount(places[covered], minlength=len(group.names))

    def _add_codes(self, codes: Any, members: BoolArray, i: int) -> None:
        if self.levels.nested:
            codes += ~members[self.shown]
        else:
            codes |= members[self.shown].astype(np.uint16) << np.uint16(i)


def count_labelsets(predictions: LabelsetPredictions, significances: FloatArray) -> IntArray:
    """Return region sizes at descending significances, shape (n_levels, n_objects)."""
    n_levels, n_objects = len(significances), len(predictions)
    ascending = significances[::-1]
    sizes = np.empty((n_levels, n_objects), dtype=np.int64)
    at_once = max(CHUNK >> len(predictions.label_names), 1)
    for first in progress_bar(range(0, n_objects, at_once), description="counting labelsets"):
        p_values = predictions[first : first + at_once].p_values()
        exceeded = np.searchsorted(ascending, p_values, side="left")  # levels below each p-value
        rows = len(exceeded)
        exceeded += np.arange(rows)[:, None] * (n_levels + 1)
        counts = np.bincount(exceeded.ravel(), minlength=rows * (n_levels + 1))
        counts = counts.reshape(rows, n_levels + 1)
        # labelsets that exceed all levels, all but one, ...
        sizes[:, first : first + at_once] = counts[:, :0:-1].cumsum(axis=1).T
    return sizes


def _sizes_of(
    region: LabelsetRegion, levels: Levels, counted: IntArray | None
) -> tuple[IntArray | FloatArray, bool]:
    """Return sizes or bounds on them, and whether all are exact."""
    if counted is not None:
        return counted, True
    if levels.sizes == "search":
        return region.sizes, all(size.exact for size in region.size_estimates)
    undecided = region.undecided.sum(axis=1)
    bounds = np.exp2(np.minimum(undecided, LARGEST_POWER))
    is_empty = ~region.possible_values.any(axis=(1, 2))
    return np.where(is_empty, 0.0, bounds), bool((undecided == 0).all())


def bins_of(sizes: IntArray | FloatArray) -> IntArray:
    """Return the bin of each size: 0 for an empty region, 1 for 1 labelset, 2 for 2, 3 for 3-4, ...

    Examples
    --------
    >>> bins_of(np.array([0, 1, 2, 3, 4, 5, 8, 9])).tolist()
    [0, 1, 2, 3, 3, 4, 4, 5]
    """
    mantissas, exponents = np.frexp(np.asarray(sizes, dtype=np.float64))
    bins: IntArray = np.where(sizes == 0, 0, exponents + (mantissas > 0.5)).astype(np.int64)
    return bins


def limits_of(n_covered: IntArray, n_objects: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the exact intervals for the probabilities behind some shares.

    Examples
    --------
    >>> [limit.round(3).tolist() for limit in limits_of(np.array([95]), np.array([100]))]
    [[0.887], [0.984]]
    """
    table = ConditionalCoverage("", (), n_objects, n_covered, 0, 0, COVERAGE_LEVEL)
    return table.low, table.high

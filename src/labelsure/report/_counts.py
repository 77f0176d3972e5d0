"""What is counted at each level over all objects: coverage, sizes, labels, groups."""

from dataclasses import dataclass, field

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.metrics import ConditionalCoverage, SizeHistogram
from labelsure.report._levels import Levels, Snapshot
from labelsure.report._subject import Grouping, Subject

COVERAGE_LEVEL = 0.95
"""Of every interval in a report."""


@dataclass(eq=False)
class GroupCounts:
    """The coverage of groups at each level.

    Attributes
    ----------
    by : str
        What the groups are made by.
    names : tuple of str
        The groups.
    n_objects, n_covered : int arrays of shape (n_levels, n_groups)
        Their objects, and how many of their regions hold the truth.
    places : int array of shape (n,) or None
        The group of each object, where it is one and the same at every level.
    """

    by: str
    names: tuple[str, ...]
    n_objects: IntArray
    n_covered: IntArray
    places: IntArray | None = None

    @classmethod
    def of(
        cls, by: str, names: tuple[str, ...], n_levels: int, places: IntArray | None = None
    ) -> "GroupCounts":
        """Return counters for some groups, nothing counted yet."""
        n_objects, n_covered = np.zeros((2, n_levels, len(names)), dtype=np.int64)
        return cls(by, names, n_objects, n_covered, places)

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The exact interval of each group's coverage at each level, rounded to four digits."""
        low, high = limits_of(self.n_covered, self.n_objects)
        return low.round(4), high.round(4)


@dataclass(eq=False)
class Counts:
    """What is counted at each level; filled level by level.

    Attributes
    ----------
    size_kind : {"counted", "estimated", "bounded"}
        What sizes are: all of them counts, some of them estimates, or all of them upper bounds.
    bins : tuple of str
        Of sizes: "empty", "1", "2", "3-4", ...
    sizes : int array of shape (n_levels, n_bins)
        The objects with a region in each bin.
    median_size : array of shape (n_levels,)
        Of regions.
    covered : int array of shape (n_levels,)
        The objects whose region holds the truth; zeros where it is not known.
    single_right : int array of shape (n_levels,)
        Those among them with a region of one labelset.
    labels : int array of shape (n_levels, q, 5)
        For each label the objects for which it is sure, possible, ruled out, sure but wrong, ruled
        out but true.
    groups : list of GroupCounts
        The user's, and by number of labels, label and size of region; none where the truth is not
        known.
    """

    size_kind: str
    bins: tuple[str, ...]
    sizes: IntArray
    median_size: FloatArray
    covered: IntArray
    single_right: IntArray
    labels: IntArray
    groups: list[GroupCounts] = field(default_factory=list)

    @classmethod
    def of(cls, subject: Subject, levels: Levels) -> "Counts":
        """Return counters for a report, nothing counted yet."""
        n_labels, n_levels = len(subject.label_names), len(levels)
        bins = ("empty", *SizeHistogram(0, (1,) * (n_labels + 1)).bins)
        counts = cls(
            "bounded" if levels.sizes == "bound" else "counted",
            bins,
            np.zeros((n_levels, len(bins)), dtype=np.int64),
            np.zeros(n_levels),
            np.zeros(n_levels, dtype=np.int64),
            np.zeros(n_levels, dtype=np.int64),
            np.zeros((n_levels, n_labels, 5), dtype=np.int64),
        )
        if subject.labels is not None:
            divided = [*subject.groups, _by_cardinality(subject.labels)]
            counts.groups = [
                GroupCounts.of(one.by, one.names, n_levels, one.places) for one in divided
            ]
            counts.groups += [
                GroupCounts.of("label", subject.label_names, n_levels),
                GroupCounts.of("size of region", bins, n_levels),
            ]
        return counts

    @property
    def single(self) -> IntArray:
        """The objects with a region of one labelset, at each level."""
        return self.sizes[:, 1]

    @property
    def shown_bins(self) -> list[int]:
        """The bins that a histogram shows at every level: the empty regions, and from the first in use to the last."""
        used = np.flatnonzero(self.sizes[:, 1:].any(axis=0)) + 1
        return [0, *range(int(used[0]), int(used[-1]) + 1)] if len(used) else [0]

    def add(self, place: int, snapshot: Snapshot, subject: Subject) -> None:
        """Count what there is at one level."""
        if self.size_kind == "counted" and not snapshot.exact:
            self.size_kind = "estimated"
        bins = bins_of(snapshot.sizes)
        self.sizes[place] = np.bincount(bins, minlength=len(self.bins))
        self.median_size[place] = np.median(snapshot.sizes)
        may_be_off, may_be_on = snapshot.possible[:, :, 0], snapshot.possible[:, :, 1]
        sure, ruled_out = may_be_on & ~may_be_off, may_be_off & ~may_be_on
        said = [sure, may_be_on & may_be_off, ruled_out]
        if subject.labels is not None and snapshot.covered is not None:
            true = subject.labels == 1
            said += [sure & ~true, ruled_out & true]
            self.covered[place] = snapshot.covered.sum()
            self.single_right[place] = (snapshot.covered & (bins == 1)).sum()
            self._add_groups(place, snapshot.covered, bins, subject)
        self.labels[place, :, : len(said)] = np.stack([what.sum(axis=0) for what in said], axis=1)

    def _add_groups(self, place: int, covered: BoolArray, bins: IntArray, subject: Subject) -> None:
        assert subject.labels is not None
        *divided, by_label, by_size = self.groups
        by_label.n_objects[place] = subject.labels.sum(axis=0, dtype=np.int64)
        by_label.n_covered[place] = subject.labels[covered].sum(axis=0, dtype=np.int64)
        for group in (*divided, by_size):
            places = bins if group.places is None else group.places
            group.n_objects[place] = np.bincount(places, minlength=len(group.names))
            group.n_covered[place] = np.bincount(places[covered], minlength=len(group.names))


def _by_cardinality(labels: LabelMatrix) -> Grouping:
    """Return the groups of objects with no label, one, two, ..."""
    numbers, places = np.unique(labels.sum(axis=1, dtype=np.int64), return_inverse=True)
    return Grouping("number of true labels", tuple(map(str, numbers.tolist())), places)


def bins_of(sizes: IntArray | FloatArray) -> IntArray:
    """Return the bin of each size: 0 for an empty region, 1 for one labelset, 2 for two, 3 for 3-4, 4 for 5-8, ...

    Examples
    --------
    >>> bins_of(np.array([0, 1, 2, 3, 4, 5, 8, 9])).tolist()
    [0, 1, 2, 3, 3, 4, 4, 5]
    """
    mantissas, exponents = np.frexp(np.asarray(sizes, dtype=np.float64))
    bins: IntArray = np.where(sizes == 0, 0, exponents + (mantissas > 0.5)).astype(np.int64)
    return bins


def limits_of(n_covered: IntArray, n_objects: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval for the probabilities behind some shares, by those who made it for groups.

    Examples
    --------
    >>> [limit.round(3).tolist() for limit in limits_of(np.array([95]), np.array([100]))]
    [[0.887], [0.984]]
    """
    table = ConditionalCoverage("", (), n_objects, n_covered, 0, 0, COVERAGE_LEVEL)
    return table.low, table.high

"""For whom do regions hold the truth less often? Coverage by group, label, size, and worst slab."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrixLike,
    as_array,
    as_numbers,
    check_count,
    check_label_matrix,
    check_number,
    check_same_length,
    check_significance,
    find_entry,
    made_up_names,
    read_labels,
)
from labelsure._errors import import_optional
from labelsure._parallel import one_thread
from labelsure.metrics._regions import (
    EMPTY,
    Sizes,
    bin_of,
    check_contains,
    size_histogram,
    write_table,
)

ROWS_SHOWN = 30
"""Of a printed table; those with the lowest upper limits where there are more groups."""


class GroupCoverage(NamedTuple):
    """One group's coverage, see :attr:`ConditionalCoverage.worst`."""

    group: str
    n_objects: int
    coverage: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Slab:
    """The objects between two parallel planes: those with ``low <= X @ direction <= high``.

    Attributes
    ----------
    direction : array of shape (n_features,)
        What the planes are perpendicular to.
    low, high : float
        Where they are.

    Examples
    --------
    >>> Slab(np.array([1.0, -1.0]), low=0.0, high=2.0).holds([[3.0, 2.0], [1.0, 4.0]]).tolist()
    [True, False]
    """

    direction: FloatArray
    low: float
    high: float

    def holds(self, X: ArrayLike) -> BoolArray:
        """Tell which objects lie in the slab."""
        objects = as_numbers(X, name="X", shape=f"(n_objects, {len(self.direction)})")
        if objects.ndim != 2 or objects.shape[1] != len(self.direction):
            raise ValueError(
                f"X must have shape (n_objects, {len(self.direction)}), got {objects.shape}."
            )
        places = objects.astype(np.float64) @ self.direction
        inside: BoolArray = (places >= self.low) & (places <= self.high)
        return inside


@dataclass(frozen=True, eq=False)
class ConditionalCoverage:
    """How often regions hold the truth in each of several groups of objects; ``print`` it.

    Made by :func:`coverage_by_group` and its relatives.

    Attributes
    ----------
    by : str
        What the groups are made by.
    groups : tuple of str
        Their names. Groups may overlap.
    n_objects, n_covered : int arrays, one entry per group
        The objects of each group, and how many of their regions hold the truth.
    n_objects_in_all, n_covered_in_all : int
        The same for all objects.
    coverage_level : float
        The probability with which an interval holds the coverage.
    slab : Slab or None
        Where the groups are a slab and the rest, the slab.

    Examples
    --------
    >>> from labelsure.metrics import coverage_by_group
    >>> table = coverage_by_group([True, True, True, False, False], ["a", "a", "a", "a", "b"])
    >>> table.coverage.tolist()
    [0.75, 0.0]
    >>> table.worst.group, round(table.worst.high, 4)
    ('b', 0.9875)
    """

    by: str
    groups: tuple[str, ...]
    n_objects: IntArray
    n_covered: IntArray
    n_objects_in_all: int
    n_covered_in_all: int
    coverage_level: float
    slab: Slab | None = None

    @property
    def coverage(self) -> FloatArray:
        """The share of each group's regions that contain the truth; NaN for an empty group."""
        return np.where(self.n_objects > 0, self.n_covered / np.maximum(self.n_objects, 1), np.nan)

    @property
    def low(self) -> FloatArray:
        """The lower limits of the coverage of each group, taken alone."""
        return clopper_pearson(self.n_covered, self.n_objects, self.coverage_level)[0]

    @property
    def high(self) -> FloatArray:
        """The upper limits of the coverage of each group, taken alone."""
        return clopper_pearson(self.n_covered, self.n_objects, self.coverage_level)[1]

    @property
    def n_compared(self) -> int:
        """How many groups are compared; a slab, chosen with other objects, is not compared."""
        return int(np.sum(self.n_objects > 0)) if self.slab is None else 1

    @property
    def worst(self) -> GroupCoverage:
        """The group that is most surely covered less than others: that with the lowest upper limit.

        Its limits, and those it is chosen by, are those of all groups at once (Bonferroni): the
        worst of many groups looks bad by chance alone.
        """
        level = 1 - (1 - self.coverage_level) / max(self.n_compared, 1)
        low, high = clopper_pearson(self.n_covered, self.n_objects, level)
        candidates = range(len(self.groups)) if self.slab is None else range(1)
        i = min(candidates, key=lambda i: (high[i], self.coverage[i]))
        figures = map(float, (self.coverage[i], low[i], high[i]))
        return GroupCoverage(self.groups[i], int(self.n_objects[i]), *figures)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per group.

        Examples
        --------
        >>> from labelsure.metrics import coverage_by_group
        >>> table = coverage_by_group([True, True, False, True], ["a", "a", "b", "b"])
        >>> print(table.to_frame().round(3))
               n_objects  coverage    low   high
        group
        a              2       1.0  0.158  1.000
        b              2       0.5  0.013  0.987
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        columns = {name: getattr(self, name) for name in ("n_objects", "coverage", "low", "high")}
        return pandas.DataFrame(columns, index=pandas.Index(self.groups, name=self.by))

    def __str__(self) -> str:
        """Write the table under a line about all objects, and the worst group below it."""
        low, high = self.low, self.high
        n_shown = min(len(self.groups), ROWS_SHOWN)
        shown = np.sort(np.argsort(high, kind="stable")[:n_shown])
        figures = np.column_stack([self.coverage, low, high])
        lines = [(self.by, "objects", "coverage", "low", "high")]
        for i in shown:
            lines.append(
                (self.groups[i], str(self.n_objects[i]), *map("{:.4f}".format, figures[i]))
            )
        text = write_table(lines)
        if n_shown < len(self.groups):
            text += f"\n... and {len(self.groups) - n_shown} groups with higher upper limits"
        return f"{self._headline()}\n{text}\n{self._last_line()}"

    def _headline(self) -> str:
        covered, n = self.n_covered_in_all, self.n_objects_in_all
        ((low,), (high,)) = clopper_pearson(np.array([covered]), np.array([n]), self.coverage_level)
        return f"Coverage of {n} objects: {covered / n:.4f} ({low:.4f} to {high:.4f})"

    def _last_line(self) -> str:
        worst, percent = self.worst, f"{100 * self.coverage_level:g} %"
        if self.slab is not None:
            return f"Limits at {percent}; the slab was chosen with other objects."
        together = f" for all {self.n_compared} groups at once" if self.n_compared > 1 else ""
        return (
            f"Worst: {worst.group}, {worst.coverage:.4f} ({worst.low:.4f} to {worst.high:.4f}, at"
            f" {percent}{together}; limits in the table: {percent} each)."
        )


def coverage_by_group(
    contains: ArrayLike, groups: ArrayLike, *, name: str = "group", coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions hold the truth in each group of objects, with exact intervals.

    A predictor that is right about 90 % of all objects may be right about 99 % of some and 60 % of
    others: what is guaranteed is the average. Where groups are known beforehand,
    :class:`~labelsure.ByObject` keeps the level in each.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``. For a
        label j taken by itself pass ``~region.wrong(Y_true)[:, j]``, and ``Y_true[:, j]`` as the
        groups.
    groups : array-like of shape (n,)
        What group each object belongs to: numbers or texts.
    name : str, default="group"
        What the groups are made by, for the table.
    coverage_level : float, default=0.95
        The probability with which each interval is to hold the group's coverage, strictly between 0
        and 1.

    Returns
    -------
    ConditionalCoverage
        ``print`` it, or ``to_frame()``; ``worst`` is the group to inspect, with limits that allow
        for the choice.

    Notes
    -----
    Intervals are those of Clopper and Pearson [1]_, exact for the coverage of *this fitted
    predictor* where, given the predictor, objects are drawn independently from one distribution.
    The groups must not be made by looking at ``contains``.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> contains = [True] * 95 + [False] * 5 + [True] * 30 + [False] * 10
    >>> print(coverage_by_group(contains, ["day"] * 100 + ["night"] * 40, name="taken at"))
    Coverage of 140 objects: 0.8929 (0.8294 to 0.9388)
    taken at  objects  coverage     low    high
    day           100    0.9500  0.8872  0.9836
    night          40    0.7500  0.5880  0.8731
    Worst: night, 0.7500 (0.5656 to 0.8860, at 95 % for all 2 groups at once; limits in the table:
    95 % each).
    """
    covered = check_contains(contains)
    values = as_array(groups, name="groups", shape="(n_objects,)")
    check_same_length(covered, values, names=("contains", "groups"))
    if values.ndim != 1:
        raise ValueError(
            f"groups must have shape (n_objects,), one group per object, got shape {values.shape}."
        )
    missing = [value is None or value != value for value in values.tolist()]  # noqa: PLR0124
    if any(missing):
        raise ValueError(
            f"groups must name a group for each object, got {values[missing][0]} for object"
            f" {missing.index(True)}. Give objects without one a group of their own."
        )
    texts = values.astype(str) if values.dtype == object else values
    groups, which = np.unique(texts, return_inverse=True)
    members = [which == g for g in range(len(groups))]
    return count_covered(covered, members, [str(g) for g in groups.tolist()], name, coverage_level)


def coverage_by_cardinality(
    contains: ArrayLike, Y_true: LabelMatrixLike, *, coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions contain the truth for objects with no label, one label, two, ...

    :class:`~labelsure.ByCardinality` keeps the level for each number of labels.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    Examples
    --------
    >>> table = coverage_by_cardinality([True, True, False], [[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    >>> table.groups, table.coverage.tolist()
    (('1', '3'), [1.0, 0.0])
    """
    labels = check_label_matrix(Y_true, name="Y_true")
    check_same_length(check_contains(contains), labels, names=("contains", "Y_true"))
    counts = labels.sum(axis=1, dtype=np.int64)
    return coverage_by_group(
        contains, counts, name="number of labels", coverage_level=coverage_level
    )


def coverage_by_label(
    contains: ArrayLike,
    Y_true: LabelMatrixLike,
    *,
    label_names: Sequence[str] | None = None,
    coverage_level: float = 0.95,
) -> ConditionalCoverage:
    """Return how often regions hold the truth among the objects that have each label.

    An object with several labels counts for each of them. :class:`~labelsure.ByLabel` keeps the
    level for one label.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    label_names : sequence of str or None, default=None
        The labels' names; those of ``Y_true`` if it is a DataFrame.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    Examples
    --------
    >>> Y, names = [[1, 0], [1, 0], [1, 1]], ["sea", "city"]
    >>> table = coverage_by_label([True, True, False], Y, label_names=names)
    >>> dict(zip(table.groups, table.coverage.round(3).tolist()))
    {'sea': 0.667, 'city': 0.0}
    """
    labels, names = read_labels(Y_true, label_names, name="Y_true")
    covered = check_contains(contains)
    check_same_length(covered, labels, names=("contains", "Y_true"))
    names = names or made_up_names(labels.shape[1])
    return count_covered(covered, labels.T == 1, names, "label", coverage_level)


def coverage_by_size(
    contains: ArrayLike, sizes: Sizes, *, coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions contain the truth by region size, binned as in a size histogram.

    Small regions are what people act on, so they should not be wrong more often than large ones
    [1]_.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    sizes : array-like of shape (n,)
        The number of labelsets in each region: ``region.sizes`` or ``region.size_estimates``.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    References
    ----------
    .. [1] Angelopoulos, A., Bates, S., Malik, J., Jordan, M. (2021). Uncertainty sets for image
       classifiers using conformal prediction. ICLR 2021.

    Examples
    --------
    >>> table = coverage_by_size([True, False, True, True], [1, 0, 3, 4])
    >>> dict(zip(table.groups, table.coverage.tolist()))
    {'empty': 0.0, '1': 1.0, '3-4': 1.0}
    """
    covered = check_contains(contains)
    names = (EMPTY, *size_histogram(sizes).bins)
    whole = [int(size) for size in np.asarray(sizes, dtype=object)]
    places = np.array([size and bin_of(size) + 1 for size in whole])
    check_same_length(covered, places, names=("contains", "sizes"))
    used = np.unique(places)
    members, used_names = [places == place for place in used], [names[place] for place in used]
    return count_covered(covered, members, used_names, "labelsets", coverage_level)


def coverage_in_worst_slab(
    contains: ArrayLike,
    X: ArrayLike,
    *,
    min_share: float = 0.1,
    n_directions: int = 1000,
    coverage_level: float = 0.95,
    random_state: Any = None,
) -> ConditionalCoverage:
    r"""Look for the objects between two parallel planes whose regions hold the truth least often.

    Worst-slab coverage [1]_ is the least coverage in any slab :math:`\{x : a \le v^T x \le b\}`
    that holds a share of at least :math:`\delta` of the objects. Here the slab is found with one
    half of the objects, over many directions v, and its coverage is measured with the other half: a
    number that does not suffer from having been looked for.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    X : array-like of shape (n, n_features)
        Numbers that describe the objects, none missing: their features, or others.
    min_share : float, default=0.1
        The share :math:`\delta` of the first half that a slab has to hold, strictly between 0 and
        1.
    n_directions : int, default=1000
        How many directions are tried: independent ones, uniform on the sphere after each feature
        was divided by its standard deviation.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.
    random_state : int, RandomState or None, default=None
        For the halves and the directions.

    Returns
    -------
    ConditionalCoverage
        Of the slab and of the rest, in the second half of the objects; ``slab.holds(X)`` tells who
        is in it.

    Notes
    -----
    Given the first half the slab is fixed, so its interval is exact without any allowance for the
    search, for objects drawn independently. In each direction the worst window of the sorted
    objects is found exactly.

    References
    ----------
    .. [1] Cauchois, M., Gupta, S., Duchi, J. (2021). Knowing what you know: valid and validated
       confidence sets in multiclass and multilabel prediction. JMLR 22(81), 1-42.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> contains = rng.random(2000) < np.where(X[:, 0] > 1, 0.5, 0.95)
    >>> print(coverage_in_worst_slab(contains, X, random_state=0))
    Coverage of 1000 objects: 0.8750 (0.8529 to 0.8949)
    worst slab   objects  coverage     low    high
    in the slab       84    0.5119  0.4004  0.6226
    outside          916    0.9083  0.8877  0.9262
    Limits at 95 %; the slab was chosen with other objects.
    """
    covered = check_contains(contains)
    places = _check_features(X, len(covered))
    share = check_number(min_share, name="min_share", above=0)
    if share >= 1 or len(covered) < 2:
        got = f"{len(covered)} object" if len(covered) < 2 else f"min_share={min_share!r}"
        raise ValueError(
            "A slab takes at least two objects and a min_share strictly between 0 and 1, got"
            f" {got}."
        )
    check_count(n_directions, name="n_directions")
    random = check_random_state(random_state)
    order = random.permutation(len(covered))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    with one_thread():  # small products: threads would wait for each other
        slab = _find_slab(covered[first], places[first], share, n_directions, random)
    inside = slab.holds(places[second])
    names = ("in the slab", "outside")
    return count_covered(
        covered[second], [inside, ~inside], names, "worst slab", coverage_level, slab
    )


def _find_slab(
    covered: BoolArray, X: FloatArray, share: float, n_directions: int, random: Any
) -> Slab:
    """Return the slab with the lowest coverage among those with at least this share of objects."""
    least = max(1, math.ceil(share * len(X)))
    scales = X.std(axis=0)
    scales[scales == 0] = 1.0
    worst, found = Fraction(2), None
    for _ in range(n_directions):
        direction = random.standard_normal(X.shape[1])
        direction /= np.linalg.norm(direction) * scales
        along = X @ direction
        order = np.argsort(along, kind="stable")
        window = find_window(covered[order].astype(np.int64), least, below=worst)
        if window is not None:
            start, stop, worst = window
            found = Slab(direction, float(along[order[start]]), float(along[order[stop - 1]]))
    assert found is not None  # any coverage is below the first
    return found


def find_window(
    covered: IntArray, least: int, *, below: Fraction
) -> tuple[int, int, Fraction] | None:
    """Return the window of at least ``least`` entries with the lowest mean, and that mean.

    Dinkelbach's method: for a mean m / w, the sums of ``w * covered - m`` over windows are
    differences of running sums, and the lowest of these, if it is below 0, belongs to a window with
    a lower mean. That is repeated until there is none. All numbers are whole; each round takes
    linear time and there are few.

    Parameters
    ----------
    covered : int array of shape (n,)
        Zeros and ones.
    least : int
        From 1 to n.
    below : Fraction
        The mean to start from; None is returned where no window has a lower one.

    Examples
    --------
    >>> find_window(np.array([1, 1, 0, 1, 0, 1, 1]), 2, below=Fraction(1))
    (2, 5, Fraction(1, 3))
    >>> find_window(np.array([1, 1, 0, 1, 0, 1, 1]), 2, below=Fraction(1, 3)) is None
    True
    """
    sums = np.concatenate([[0], np.cumsum(covered)])
    places = np.arange(len(covered) + 1)
    found = None
    while True:
        running = below.denominator * sums - below.numerator * places
        lower = running[least:] - np.maximum.accumulate(running[: len(sums) - least])
        end = int(lower.argmin())
        if lower[end] >= 0:
            return found
        start, stop = int(running[: end + 1].argmax()), end + least
        below = Fraction(int(sums[stop] - sums[start]), stop - start)
        found = start, stop, below


def _check_features(X: ArrayLike, n_objects: int) -> FloatArray:
    array = as_numbers(X, name="X", shape="(n_objects, n_features)")
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"X must have shape (n_objects, n_features), got {array.shape}.")
    check_same_length(range(n_objects), array, names=("contains", "X"))
    features: FloatArray = array.astype(np.float64)
    odd = find_entry(~np.isfinite(features), features)
    if odd:
        raise ValueError(
            f"X must hold finite numbers, got {odd}. Fill in what is missing, or leave the feature"
            " out."
        )
    return features


def count_covered(
    covered: BoolArray,
    members: Any,
    names: Sequence[str],
    by: str,
    coverage_level: float,
    slab: Slab | None = None,
) -> ConditionalCoverage:
    """Return the coverage of groups, each a mask of objects."""
    counts = np.array([[mask.sum(), (mask & covered).sum()] for mask in members], dtype=np.int64)
    n_objects, n_covered = counts.reshape(-1, 2).T
    n_in_all, level = int(covered.sum()), check_coverage_level(coverage_level)
    return ConditionalCoverage(
        by, tuple(names), n_objects, n_covered, len(covered), n_in_all, level, slab
    )


def check_coverage_level(level: Any) -> float:
    """Return the probability with which an interval holds, or raise ValueError."""
    example = "For 95 % intervals pass coverage_level=0.95."
    check_significance(level, name="coverage_level", example=example)
    return float(level)


def clopper_pearson(
    successes: IntArray, trials: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return exact limits of probabilities from numbers of successes: those of [1]_.

    With k of n, the lower limit is the :math:`\alpha / 2` quantile of Beta(k, n - k + 1), the upper
    one the :math:`1 - \alpha / 2` quantile of Beta(k + 1, n - k), with :math:`\alpha = 1 -`
    ``level``; 0 and 1 where these are not defined.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([0, 5]), np.array([10, 10]), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    tail, failures = float(1 - level) / 2, trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)

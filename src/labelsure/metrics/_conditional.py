"""For whom do regions hold the truth less often? Coverage by group, number of labels, label and size of region."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsure._checks import (
    BoolArray,
    LabelMatrixLike,
    as_array,
    check_label_matrix,
    check_number,
    check_same_length,
    made_up_names,
    read_labels,
)
from labelsure.metrics._coverage_table import ConditionalCoverage, Slab
from labelsure.metrics._regions import EMPTY, Sizes, error_rate, size_histogram


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
        ``print`` it, or ``to_frame()``; ``worst`` is the group to look at, with limits that allow
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
    Worst: night, 0.7500 (0.5656 to 0.8860, at 95 % for all 2 groups at once; limits in the table: 95 % each).
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
            f" {missing.index(True)}."
            " Give objects without one a group of their own."
        )
    found, which = np.unique(
        values.astype(str) if values.dtype == object else values, return_inverse=True
    )
    return count_covered(
        covered,
        [which == g for g in range(len(found))],
        [str(g) for g in found.tolist()],
        name,
        coverage_level,
    )


def coverage_by_cardinality(
    contains: ArrayLike, Y_true: LabelMatrixLike, *, coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions hold the truth among objects with no label, one label, two labels, and so on.

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
    return coverage_by_group(
        contains,
        labels.sum(axis=1, dtype=np.int64),
        name="number of labels",
        coverage_level=coverage_level,
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
    >>> table = coverage_by_label([True, True, False], [[1, 0], [1, 0], [1, 1]], label_names=["sea", "city"])
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
    """Return how often regions hold the truth by how large they are, in the bins of :func:`size_histogram`.

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
    places = np.array(
        [int(size) and (int(size) - 1).bit_length() + 1 for size in np.asarray(sizes, dtype=object)]
    )
    check_same_length(covered, places, names=("contains", "sizes"))
    used = np.unique(places)
    members = [places == place for place in used]
    return count_covered(
        covered, members, [names[place] for place in used], "labelsets", coverage_level
    )


def count_covered(
    covered: BoolArray,
    members: Any,
    names: Sequence[str],
    by: str,
    coverage_level: float,
    slab: Slab | None = None,
) -> ConditionalCoverage:
    """Return the coverage of groups given by a mask of objects each."""
    if not 0 < check_number(coverage_level, name="coverage_level", above=0) < 1:
        raise ValueError(
            f"coverage_level must lie strictly between 0 and 1, got {coverage_level!r}."
        )
    return ConditionalCoverage(
        by,
        tuple(names),
        np.array([int(of_group.sum()) for of_group in members], dtype=np.int64),
        np.array([int((of_group & covered).sum()) for of_group in members], dtype=np.int64),
        len(covered),
        int(covered.sum()),
        float(coverage_level),
        slab,
    )


def check_contains(contains: ArrayLike) -> BoolArray:
    """Return whether each region holds the truth, or say what is wrong."""
    error_rate(contains)  # knows what may be wrong with it
    covered: BoolArray = np.asarray(contains, dtype=np.float64) == 1
    return covered

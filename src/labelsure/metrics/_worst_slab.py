"""The slab of objects whose regions hold the truth least often: found with one half, measured with the other."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    as_numbers,
    check_count,
    check_number,
    check_same_length,
    find_entry,
)
from labelsure._parallel import one_thread
from labelsure.metrics._conditional import check_contains, count_covered
from labelsure.metrics._coverage_table import ConditionalCoverage, Slab


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
            f"A slab takes at least two objects and a min_share strictly between 0 and 1, got"
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
    """Return the slab with the lowest coverage among those with at least this share of the objects."""
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
    """Return the window ``covered[start:stop]`` of at least ``least`` entries with the lowest mean, and that mean.

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
            f"X must hold finite numbers, got {odd}. Fill in what is missing, or leave the"
            f" feature out."
        )
    return features

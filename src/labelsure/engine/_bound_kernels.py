"""Compiled lower bounds of what flips add to a score where pairs of labels have costs of their own.

Given a list of labels that may be flipped, flips f in {0, 1}^n add ``sum_i change_i f_i + sum_{i<j}
pair_ij f_i f_j``. There are two bounds of the least they can add, for two kinds of pairs:

- *relaxed*, for dense pairs such as those of a Mahalanobis distance. With numbers d such that the
  matrix A with A_ij = pair_ij / 2 and A_ii = d_i has no negative eigenvalue, the flips add ``f' A f
  + (change - d)' f``, because f_i^2 = f_i. That is convex, so its tangent at any point x lies below
  it, and the least value of a linear function over {0, 1}^n is a sum over the labels (Hammer, Rubin
  1970; Billionnet, Elloumi 2007);
- *charged*, for few or weak negative pairs: each is charged to one of its two labels.
"""

import numpy as np

from labelsure._checks import FloatArray
from labelsure._compile import kernel, kernel_part, lean_kernel
from labelsure.engine._lookup_kernels import Integer
from labelsure.engine._pair_problem import Desk, PairCosts

MAX_STEPS = 100
"""More steps of a relaxation hardly sharpen it."""

GAP = 0.05
"""A relaxation ends when its bound is at most this share below its value at the point reached."""

POINT_UNITS = 2.0**20
"""Points are whole numbers of 2^-20, so that their coordinates and differences are exact."""

EXACT = 2.0**52
"""Sums of whole numbers up to this are exact in floats."""

DYNAMIC_LABELS = 64
"""Up to this many labels, charges leave out pairs with labels that are no longer in the list."""


@kernel_part
def relax(n: Integer, k: Integer, costs: PairCosts, desk: Desk) -> float:
    """Return a lower bound of what flips add, and write how much each flip raises it.

    The point of the tangent starts at no flips and moves along one label at a time, the one with
    the largest part in the gap between the form there and the bound. A flip of label i adds
    ``gain_i`` more: the least value of f' A f for f_i = 1, whatever the others.

    Twin : the minimum over all sets of flips
    Requires : the first n of the list, fold k of all others
    Cost : O(n) per step; returns whole numbers
    """
    labels = desk.labels
    change = desk.fresh[k]
    forced = desk.forced[k]
    sign = costs.sign
    pairs = costs.pairs[k]
    diagonal = costs.diagonals[k]
    gain = costs.gains[k]
    linear = desk.work[0]
    gradient = desk.work[1]
    point = desk.work[2]
    total = 0.0
    size = 0.0
    for i in range(n):
        j = labels[i]
        linear[i] = change[i] - diagonal[j]
        total += min(linear[i], 0.0)
        size += abs(linear[i]) + diagonal[j]
        forced[i] = max(linear[i], 0.0) + gain[j]
    slack = 0.0 if size < EXACT else size * (n + 8) * 2.0**-50
    if total == 0.0 and slack == 0.0:
        return 0.0
    for i in range(n):
        forced[i] = np.float64(np.int64(max(forced[i] - slack, 0.0)))
        gradient[i] = linear[i]
        point[i] = 0.0
    total = np.float64(np.int64(total - slack))  # not positive, so this rounds up
    n_steps = 0
    while True:
        twice_value = 0.0
        gaps = 0.0
        largest = 0.0
        at = -1
        for i in range(n):
            twice_value += point[i] * (gradient[i] + linear[i])
            gap = max(gradient[i] * point[i], gradient[i] * (point[i] - 1.0))
            gaps += gap
            if gap > largest:
                largest = gap
                at = i
        if at < 0 or n_steps == MAX_STEPS or 2 * gaps <= -GAP * twice_value:
            break
        j = labels[at]
        step = -point[at] if gradient[at] > 0.0 else 1.0 - point[at]
        if 2 * diagonal[j] * abs(step) > abs(gradient[at]):
            step = -gradient[at] / (2 * diagonal[j])
        step = np.int64((point[at] + step) * POINT_UNITS + 0.5) / POINT_UNITS - point[at]
        if step == 0.0:
            break
        point[at] += step
        for i in range(n):
            moved = step * sign[j] * sign[labels[i]] * pairs[j, labels[i]]
            gradient[i] += moved
            size += abs(moved)
        gradient[at] += 2 * diagonal[j] * step
        size += 2 * diagonal[j] * abs(step)
        n_steps += 1
    # Every number above is at most ``size``, and no more than n + n_steps + 6 roundings of it enter
    # a sum.
    slack = size * (n + n_steps + 8) * 2.0**-50
    bound = np.float64(np.int64(twice_value / 2 - gaps - slack))  # not positive either
    if bound <= total:
        return float(total)
    for i in range(n):
        left = 1.0 - point[i]
        gap = max(gradient[i] * point[i], -gradient[i] * left)
        more = gradient[i] * left + gap + gain[labels[i]] * left * left
        forced[i] = np.float64(np.int64(max(more - slack, 0.0)))
    return bound


@kernel_part
def charge(n: Integer, k: Integer, costs: PairCosts, desk: Desk) -> float:
    """Return a lower bound of what flips add, and write how much each flip raises it.

    Labels that add something whatever else is flipped are not *hard*. A negative pair of two hard
    ones is charged to the later one.

    Twin : the minimum over all sets of flips
    Requires : as relax
    Cost : O(n^2), O(n) where no pair is negative; returns whole numbers
    """
    labels = desk.labels
    change = desk.fresh[k]
    forced = desk.forced[k]
    hard = desk.places
    sign = costs.sign
    pairs = costs.pairs[k]
    slack = costs.slacks[k]
    total = 0.0
    n_hard = 0
    for i in range(n):
        j = labels[i]
        own_slack = slack[j]
        if own_slack < 0.0 and n <= DYNAMIC_LABELS:
            own_slack = 0.0
            for other in range(n):
                if other != i:
                    own_slack += min(sign[j] * sign[labels[other]] * pairs[j, labels[other]], 0.0)
        forced[i] = change[i] + own_slack
        if forced[i] < 0.0:
            forced[i] = change[i]
            for before in range(n_hard if own_slack < 0.0 else 0):
                other = labels[hard[before]]
                forced[i] += min(sign[j] * sign[other] * pairs[j, other], 0.0)
            hard[n_hard] = i
            n_hard += 1
        total += min(forced[i], 0.0)
        forced[i] = max(forced[i], 0.0)
    return total


@lean_kernel
def bound_flips(n: Integer, costs: PairCosts, desk: Desk) -> None:
    """Write each fold's lower bound of what flips add, and how much each flip raises it.

    Twin : the minimum over all sets of flips
    Requires : the first n of the list, and what flipping each adds
    Cost : see relax and charge
    """
    for k in range(desk.bounds.shape[0]):
        if costs.charged[k]:
            desk.bounds[k] = np.int64(charge(n, k, costs, desk))
        else:
            desk.bounds[k] = np.int64(relax(n, k, costs, desk))


@kernel
def balance(
    couplings: FloatArray,
    weights: FloatArray,
    n_sweeps: Integer,
    vectors: FloatArray,
    lengths: FloatArray,
) -> None:
    """Improve unit vectors towards ``min sum_ij w_i w_j couplings_ij v_i' v_j``, one by one.

    w are the roots of the weights.

    At the minimum, adding ``lengths`` to the diagonal leaves no negative eigenvalue, and no other
    diagonal with that property has a smaller sum weighted by ``weights`` (Wang, Chang, Kolter
    2018).

    Twin : the definition
    Requires : couplings (n, n) symmetric with zeros on the diagonal; weights (n,) positive;
        vectors (n, r); lengths (n,)
    Cost : n^2 r multiplications per sweep
    """
    n, n_coordinates = vectors.shape
    pull = np.empty(n_coordinates, np.float64)
    for sweep in range(n_sweeps + 1):
        for i in range(n):
            for c in range(n_coordinates):
                pull[c] = 0.0
            for j in range(n):
                factor = couplings[i, j] * np.sqrt(weights[j])
                for c in range(n_coordinates):
                    pull[c] += factor * vectors[j, c]
            squares = 0.0
            for c in range(n_coordinates):
                squares += pull[c] * pull[c]
            length = np.sqrt(squares)
            if sweep == n_sweeps:
                lengths[i] = length / np.sqrt(weights[i])
            elif length > 0.0:
                for c in range(n_coordinates):
                    vectors[i, c] = -pull[c] / length

"""Pairwise costs as convex forms: what to add to the diagonal, and what a form is at least if one label is flipped."""

import numpy as np

from labelsure._core.types import FloatArray, IntArray
from labelsure.labelsets._relaxation_kernels import balance

N_ROUNDS, N_SWEEPS = 4, 2
N_COORDINATES = 8

MARGIN = 0.06
"""Of a label's scale, kept free on the diagonal: the form then grows with every flip, and rounding errors in finding
its eigenvalues, at most about 1e-9 here, do not matter."""

ROUNDING = 1e-6
"""Far more than what inverting a matrix whose eigenvalues are at least MARGIN can lose."""

SMALLEST_SCALE = 0.01
"""A label's scale, as a share of half the sum of its pairs' sizes, is at least this."""


def relax_pairs(pairs: IntArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a diagonal that makes the form of some pairwise costs convex, and what flips of single labels keep of it.

    With A_ij = pairs_ij / 2 and A_ii = diagonal_i, the form f' A f is at least gain_i wherever f_i = 1, and never
    negative. That stays so for any subset of the labels and if signs change to s_i s_j pairs_ij with s_i = +-1.
    Diagonals as small as possible beside ``scale`` are found by the mixing method for semidefinite programs [1]_, with
    weights that keep any of them from being nearly as large as its scale.

    Parameters
    ----------
    pairs : int64 array of shape (q, q)
        Symmetric; the diagonal does not count.
    scale : float array of shape (q,)
        What flipping each label typically costs.

    Returns
    -------
    diagonal, gain : float arrays of shape (q,)
        Whole numbers; 0 <= gain <= diagonal.

    References
    ----------
    .. [1] Wang, P.-W., Chang, W.-C., Kolter, J. Z. (2018). The mixing method: low-rank coordinate descent for
       semidefinite programming with diagonal constraints. arXiv:1706.00476.

    Examples
    --------
    >>> import numpy as np
    >>> diagonal, gain = relax_pairs(np.array([[0, -1000], [-1000, 0]]), np.array([1000.0, 1000.0]))
    >>> diagonal.tolist(), gain.tolist()
    ([560.0, 560.0], [113.0, 113.0])
    """
    halves = pairs / 2
    np.fill_diagonal(halves, 0.0)
    sums = np.abs(halves).sum(axis=1)
    coupled = np.flatnonzero(sums)
    diagonal, gain = np.zeros((2, len(pairs)))
    if not len(coupled):
        return diagonal, gain
    units = np.maximum(scale[coupled], SMALLEST_SCALE * sums[coupled] + 1)
    couplings = halves[np.ix_(coupled, coupled)] / np.sqrt(units[:, None] * units)
    shares = _balanced(couplings)
    form = couplings + np.diag(shares)
    shares += MARGIN + max(-float(np.linalg.eigvalsh(form)[0]), 0.0)
    inverse = np.linalg.inv(couplings + np.diag(shares))
    diagonal[coupled] = np.ceil(shares * units)
    gain[coupled] = np.floor(units / np.diag(inverse) * (1 - ROUNDING))
    return diagonal, gain


def _balanced(couplings: FloatArray) -> FloatArray:
    """Return small diagonals that leave no or hardly negative eigenvalues, none much larger than the others."""
    n = len(couplings)
    vectors = np.random.default_rng(0).normal(size=(n, N_COORDINATES))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    weights, lengths = np.ones(n), np.empty(n)
    for _ in range(N_ROUNDS):
        balance(couplings, weights, N_SWEEPS, vectors, lengths)
        weights = (weights + 1 + 4 * np.minimum(lengths, 1.5) ** 4) / 2  # the gradient of sum d + 4/5 d^5, slowly
    return lengths

"""The pairwise costs of folds, shared by objects or not, and as convex forms."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure._parallel import one_thread
from labelsure.measures._energy import Energy

SCALE_OBJECTS = 256
"""This many objects tell what flipping a label typically costs."""

N_ROUNDS, N_SWEEPS = 4, 2
N_COORDINATES = 8

MARGIN = 0.06
"""Of a label's scale, kept free on the diagonal: the form then grows with every flip, and rounding
errors of its eigenvalues, at most about 1e-9 here, do not matter."""

ROUNDING = 1e-6
"""Far more than what inverting a matrix whose eigenvalues are at least MARGIN can lose."""

SMALLEST_SCALE = 0.01
"""A label's scale, as a share of half the sum of its pairs' sizes, is at least this."""


class FoldPairs:
    """The pairwise costs of K folds.

    Parameters
    ----------
    energies : sequence of Energy
        Without discounts and overrides; some have pairwise costs.
    """

    def __init__(self, energies: Sequence[Energy]) -> None:
        self.energies = energies
        matrices = [energy.pairwise for energy in energies if energy.pairwise is not None]
        self.own = any(pairwise.ndim == 3 for pairwise in matrices)

    def of(self, i: int) -> IntArray:
        """Return the symmetric matrices of one object, (K, q, q)."""
        return self._matrices(i) if self.own else self._shared

    def relaxation(self, pairs: IntArray, costs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what ``relax_pairs`` does for one object, the diagonals and gains, (K, q) each.

        Parameters
        ----------
        pairs : as returned by ``of``
        costs : (K, q)
            What flipping each label costs the object.
        """
        return _relax_all(pairs, np.abs(costs)) if self.own else self._shared_relaxation

    @cached_property
    def _shared(self) -> IntArray:
        return self._matrices(0)

    @cached_property
    def _shared_relaxation(self) -> tuple[FloatArray, FloatArray]:
        some = [np.abs(energy.unary[:SCALE_OBJECTS]) for energy in self.energies]
        return _relax_all(self._shared, np.stack([np.median(costs, axis=0) for costs in some]))

    def _matrices(self, i: int) -> IntArray:
        n_labels = self.energies[0].n_labels
        pairs = np.zeros((len(self.energies), n_labels, n_labels), dtype=np.int64)
        for matrix, energy in zip(pairs, self.energies, strict=True):
            if energy.pairwise is not None:
                costs = energy.pairwise[i] if energy.pairwise.ndim == 3 else energy.pairwise
                upper = np.triu(costs, 1)
                matrix[:] = upper + upper.T
        return pairs


def _relax_all(pairs: IntArray, units: IntArray | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the diagonals and gains of ``relax_pairs``, (K, q) each, of pairs (K, q, q)."""
    diagonals, gains = np.zeros((2, *pairs.shape[:2]))
    with one_thread():  # more of them only wait for each other on matrices this small
        for k, of_fold in enumerate(pairs):
            diagonals[k], gains[k] = relax_pairs(of_fold, units[k].astype(np.float64))
    return diagonals, gains


def relax_pairs(pairs: IntArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a diagonal that makes the form of pairwise costs convex, and what single flips keep.

    With A_ij = pairs_ij / 2 and A_ii = diagonal_i, the form f' A f is at least gain_i wherever f_i
    = 1, and never negative. That stays so for any subset of the labels and if signs change to s_i
    s_j pairs_ij with s_i = +-1. Diagonals as small as possible beside ``scale`` are found by the
    mixing method for semidefinite programs [1]_, with weights that keep any of them from being
    nearly as large as its scale.

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
    .. [1] Wang, P.-W., Chang, W.-C., Kolter, J. Z. (2018). The mixing method: low-rank coordinate
       descent for semidefinite programming with diagonal constraints. arXiv:1706.00476.

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
    """Return small diagonals of about equal size that leave hardly negative eigenvalues."""
    from labelsure.engine._bound_kernels import balance

    n = len(couplings)
    vectors = np.random.default_rng(0).normal(size=(n, N_COORDINATES))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    weights, lengths = np.ones(n), np.empty(n)
    for _ in range(N_ROUNDS):
        balance(couplings, weights, N_SWEEPS, vectors, lengths)
        weights = (
            weights + 1 + 4 * np.minimum(lengths, 1.5) ** 4
        ) / 2  # the gradient of sum d + 4/5 d^5, slowly
    return lengths

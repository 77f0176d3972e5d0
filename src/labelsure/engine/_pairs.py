"""The pairwise costs of folds, one matrix for all objects of a fold or one for each object, also as convex forms."""

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
"""Of a label's scale, kept free on the diagonal: the form then grows with every flip, and rounding errors in finding
its eigenvalues, at most about 1e-9 here, do not matter."""

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
        self.own = any(
            energy.pairwise is not None and energy.pairwise.ndim == 3 for energy in energies
        )

    def of(self, objects: IntArray, folds: slice = slice(None)) -> IntArray:
        """Return the symmetric matrices of some objects in some folds.

        Returns
        -------
        int64 array of shape (n, K, q, q) or (1, K, q, q)
            Those of each object, or those of all objects.
        """
        return self._stack(objects, folds) if self.own else self.shared[:, folds]

    @cached_property
    def shared(self) -> IntArray:
        """The matrices of all objects, (1, K, q, q)."""
        return self._stack(np.zeros(1, dtype=np.int64), slice(None))

    @cached_property
    def shared_relaxation(self) -> tuple[FloatArray, FloatArray]:
        """The diagonals and gains of ``relax_pairs`` for all objects, each (1, K, q)."""
        units = [
            np.median(np.abs(energy.unary[:SCALE_OBJECTS]), axis=0) for energy in self.energies
        ]
        return _relax_all(self.shared, np.stack(units)[None])

    def relaxation(self, pairs: IntArray, costs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return diagonals and gains for some objects.

        Parameters
        ----------
        pairs : as returned by ``of``
            For all folds.
        costs : (n, q, K)
            What flipping each label costs each of the objects.

        Returns
        -------
        diagonals, gains : float arrays of shape (n, K, q) or (1, K, q)
        """
        if not self.own:
            return self.shared_relaxation
        return _relax_all(pairs, np.abs(costs).transpose(0, 2, 1).astype(np.float64))

    def _stack(self, objects: IntArray, folds: slice) -> IntArray:
        energies = self.energies[folds]
        n_labels = energies[0].n_labels
        pairs = np.zeros((len(objects), len(energies), n_labels, n_labels), dtype=np.int64)
        for k, energy in enumerate(energies):
            if energy.pairwise is not None:
                upper = np.triu(
                    energy.pairwise[objects] if energy.pairwise.ndim == 3 else energy.pairwise, 1
                )
                pairs[:, k] = upper + np.swapaxes(upper, -1, -2)
        return pairs


def _relax_all(pairs: IntArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the diagonals and gains of ``relax_pairs``, (n, K, q) each, of pairs (n, K, q, q) and scales (n, K, q)."""
    diagonals, gains = np.zeros((2, *pairs.shape[:3]))
    with one_thread():  # more of them only wait for each other on matrices this small
        for place in np.ndindex(pairs.shape[:2]):
            diagonals[place], gains[place] = relax_pairs(pairs[place], units[place])
    return diagonals, gains


def relax_pairs(pairs: IntArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a diagonal that makes the form of some pairwise costs convex, and what flips of single labels keep of it.

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
    """Return small diagonals that leave no or hardly negative eigenvalues, none much larger than the others."""
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

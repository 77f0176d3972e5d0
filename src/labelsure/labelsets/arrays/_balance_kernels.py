"""Compiled coordinate descent towards small diagonals that make a matrix convex."""

import numpy as np

from labelsure._checks import FloatArray
from labelsure._compile import kernel
from labelsure.labelsets.arrays._lookup_kernels import Integer


@kernel
def balance(
    couplings: FloatArray, weights: FloatArray, n_sweeps: Integer, vectors: FloatArray, lengths: FloatArray
) -> None:
    """Improve unit vectors one by one towards ``min sum_ij w_i w_j couplings_ij v_i' v_j``, w the roots of the weights.

    At the minimum, adding ``lengths`` to the diagonal leaves no negative eigenvalue, and no other diagonal with that
    property has a smaller sum weighted by ``weights`` (Wang, Chang, Kolter 2018).

    Reference : the definition
    Requires : couplings (n, n) symmetric with zeros on the diagonal; weights (n,) positive; vectors (n, r); lengths
        (n,)
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

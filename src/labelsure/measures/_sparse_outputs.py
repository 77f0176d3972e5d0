"""Objects with very many labels: outputs of which few are stored, and their energies."""

from typing import Any

import numpy as np
from scipy import sparse

from labelsure._checks import FloatArray, check_outputs

DENSE_ROWS_BYTES = 2**24
"""Memory for the rows that are made dense at a time."""


class SparseOutputs:
    """The outputs of n objects for q labels, those not stored being ``default``.

    Parameters
    ----------
    matrix : sparse matrix of shape (n, q)
        Stored entries between 0 and 1; stored zeros count as stored.
    default : float
        The output of every entry that is not stored; below one half, so that those labels are off
        unless told.
    n_labels : int
        The number of columns required.
    name : str
        The argument's name, for the error message.

    Examples
    --------
    >>> from scipy import sparse
    >>> outputs = SparseOutputs(sparse.csr_array([[0.0, 0.75, 0.0]]), 0.125, n_labels=3)
    >>> outputs.dense(slice(None)).tolist()
    [[0.125, 0.75, 0.125]]
    """

    def __init__(
        self, matrix: Any, default: float, *, n_labels: int, name: str = "outputs"
    ) -> None:
        if matrix.ndim != 2:
            raise ValueError(f"{name} must have shape (n_objects, {n_labels}), got {matrix.shape}.")
        self.matrix = sparse.csr_array(matrix)
        if not self.matrix.has_canonical_format:
            self.matrix = self.matrix.copy()  # the user's matrix stays as it is
            self.matrix.sum_duplicates()
        if self.matrix.shape[1] != n_labels:
            raise ValueError(
                f"{name} must have shape (n_objects, {n_labels}), got {self.matrix.shape}."
            )
        if not 0 <= default < 0.5:
            raise ValueError(
                f"default_output must lie between 0 and 0.5, got {default!r}: labels without an"
                " output of their own are taken to be off."
            )
        check_outputs(self.matrix.data[None], name=name)
        self.default = float(default)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def dense(self, rows: slice) -> FloatArray:
        """Return some objects' outputs for all labels."""
        block = self.matrix[rows]
        outputs = np.full(block.shape, self.default)
        outputs[np.repeat(np.arange(len(outputs)), np.diff(block.indptr)), block.indices] = (
            block.data
        )
        return outputs

    def take(self, rows: Any) -> "SparseOutputs":
        """Return the outputs of some of the objects."""
        return SparseOutputs(self.matrix[rows], self.default, n_labels=self.matrix.shape[1])

    def blocks(self) -> list[slice]:
        """Return one or more slices that cover all objects, small enough to be made dense."""
        n_rows = max(1, DENSE_ROWS_BYTES // (8 * self.matrix.shape[1]))
        return [slice(start, start + n_rows) for start in range(0, max(len(self), 1), n_rows)]

"""Labelsets as whole numbers: bit j of a code tells whether label j is on."""

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix


def decode(codes: IntArray, n_labels: int) -> LabelMatrix:
    """Return the labelsets with these codes as rows of zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> decode(np.array([1, 6]), 3).tolist()
    [[1, 0, 0], [0, 1, 1]]
    """
    return ((np.asarray(codes)[:, None] >> np.arange(n_labels)) & 1).astype(np.int8)


def encode(Y: LabelMatrix) -> IntArray:
    """Return the codes of labelsets given as rows of zeros and ones (up to 62 labels).

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.array([[1, 0, 0], [0, 1, 1]])).tolist()
    [1, 6]
    """
    return Y.astype(np.int64) @ (np.int64(1) << np.arange(Y.shape[1], dtype=np.int64))

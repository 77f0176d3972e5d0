"""Labelsets as bits of 64-bit words, for any number of labels: bit j % 64 of word j // 64 is label j."""

import numpy as np

from labelsure._core.types import LabelMatrix

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


def pack(Y: LabelMatrix) -> Words:
    """Return rows of zeros and ones as words, shape (n, ceil(q / 64)).

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.array([[1, 0, 1]], dtype=np.int8)).tolist()
    [[5]]
    """
    n_rows, n_labels = Y.shape
    n_words = (n_labels + 63) // 64
    padded = np.zeros((n_rows, 64 * n_words), dtype=np.uint8)
    padded[:, :n_labels] = Y
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpack(words: Words, n_labels: int) -> LabelMatrix:
    """Return words as rows of zeros and ones, shape (n, q).

    Examples
    --------
    >>> import numpy as np
    >>> unpack(np.array([[5]], dtype=np.uint64), 3).tolist()
    [[1, 0, 1]]
    """
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_labels, bitorder="little").astype(np.int8)


def as_keys(words: Words) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return each row of words as one item that can be compared with others."""
    rows = np.ascontiguousarray(words)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]

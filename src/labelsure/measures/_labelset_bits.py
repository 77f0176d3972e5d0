"""Labelsets as codes, as words of bits, and as single items that can be sorted and looked up.

Bit j of a code tells whether label j is on. Beyond 62 labels a code is several words: bit j % 64 of
word j // 64.
"""

from typing import Any

import numpy as np

from labelsure._checks import IntArray, LabelMatrix

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
Keys = np.ndarray[tuple[int], np.dtype[Any]]


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


def pack(Y: LabelMatrix | IntArray) -> Words:
    """Return rows of zeros and ones as words, shape (n, ceil(q / 64)).

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.array([[1, 0, 1]], dtype=np.int8)).tolist()
    [[5]]
    """
    bits = np.packbits(np.asarray(Y, dtype=bool), axis=1, bitorder="little")
    padded = np.zeros((len(bits), 8 * max(1, -(-bits.shape[1] // 8))), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8").astype(np.uint64, copy=False)


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


def row_keys(rows: Words | IntArray) -> Keys:
    """Return each row of 64-bit numbers as one item, equal for equal rows only."""
    return np.ascontiguousarray(rows).view(f"S{8 * rows.shape[1]}")[:, 0]


def word_keys(words: Words) -> Keys:
    """Return the same for labelsets as words; where one word holds them, the word."""
    return words[:, 0] if words.shape[1] == 1 else row_keys(words)


def labelset_keys(Y: LabelMatrix | IntArray) -> Keys:
    """Return one item per row, equal for equal labelsets only.

    Examples
    --------
    >>> import numpy as np
    >>> first, second, third = labelset_keys(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    return word_keys(pack(Y))


def find_keys(wanted: Keys, known: Keys) -> IntArray:
    """Return where each wanted key is among the known ones, -1 where it is not.

    Parameters
    ----------
    wanted, known : as from labelset_keys
        Of labelsets of as many labels; none known twice.

    Examples
    --------
    >>> import numpy as np
    >>> find_keys(np.array([7, 5, 9]), np.array([9, 7])).tolist()
    [1, -1, 0]
    """
    if not len(known):
        return np.full(len(wanted), -1)
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
    return np.where(known[order][places] == wanted, order[places], -1)

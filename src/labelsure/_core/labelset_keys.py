"""Labelsets as single items that can be sorted and looked up."""

from typing import Any

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix

Keys = np.ndarray[tuple[int], np.dtype[Any]]


def labelset_keys(Y: LabelMatrix | IntArray) -> Keys:
    """Return one item per row, equal for equal labelsets only.

    Examples
    --------
    >>> import numpy as np
    >>> first, second, third = labelset_keys(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    words = labelset_words(Y)
    return words[:, 0] if words.shape[1] == 1 else words.view(f"S{8 * words.shape[1]}")[:, 0]


def labelset_words(Y: LabelMatrix | IntArray) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Return each row as words of 64 labels, in some order of their bits and with zeros behind the last label.

    Examples
    --------
    >>> import numpy as np
    >>> first, second = labelset_words(np.array([[1, 0, 1], [1, 1, 0]]))
    >>> np.bitwise_count(first ^ second).tolist()
    [2]
    """
    bits = np.packbits(np.asarray(Y, dtype=bool), axis=1)
    padded = np.zeros((len(bits), 8 * max(1, -(-bits.shape[1] // 8))), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


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

"""Compiled ranking: keys of labelsets, of which the lowest is the most plausible, and heaps of them.

A key is minus the numerator, the total score, and the words of the code, the most significant first, with their highest
bits turned over: then signed numbers come in the order of unsigned ones, and keys are compared number by number.
"""

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._lookup_kernels import Integer
from labelsure.labelsets.search._states import Ranked

# Columns of ranks; of keys, where the numerator has a minus sign
NUMERATOR, TOTAL, CODE = range(3)

HIGHEST_BIT = np.uint64(1 << 63)


@kernel_part
def write_key(value: Integer, total: Integer, words: Words, by_total: bool, row: Integer, keys: IntArray) -> None:
    """Write the key of a labelset into a row; without ``by_total`` its numerator counts alone.

    Reference : the tuples that labelset_reference.ranked sorts by
    Requires : words (W,), keys (n, 2 + W)
    Cost : O(W)
    """
    n_words = words.shape[0]
    keys[row, NUMERATOR] = -value
    keys[row, TOTAL] = total if by_total else 0
    for w in range(n_words):
        keys[row, CODE + n_words - 1 - w] = np.int64(words[w] ^ HIGHEST_BIT) if by_total else 0


@lean_kernel
def precedes(a: Integer, b: Integer, keys: IntArray, best_first: bool) -> bool:
    """Tell whether row a comes before row b, the best first or the worst.

    Reference : tuple comparison
    Requires : keys (n, 2 + W)
    Cost : O(W)
    """
    column, last = 0, keys.shape[1] - 1
    while column < last and keys[a, column] == keys[b, column]:
        column += 1
    one, other = keys[a, column], keys[b, column]
    return bool(one < other if best_first else one > other)


@lean_kernel
def sift(heap: IntArray, size: Integer, place: Integer, best_on_top: bool, keys: IntArray) -> None:
    """Restore a heap of ``size`` rows, the best or the worst on top, in which the entry at ``place`` is new.

    Reference : heapq
    Requires : a heap but for that entry; keys (n, 2 + W)
    Cost : O(log n) comparisons
    """
    entry = heap[place]
    while place > 0 and precedes(entry, heap[(place - 1) // 2], keys, best_on_top):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    child = 2 * place + 1
    while child < size:
        if child + 1 < size and precedes(heap[child + 1], heap[child], keys, best_on_top):
            child += 1
        if not precedes(heap[child], entry, keys, best_on_top):
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = entry


@kernel_part
def offer(value: Integer, total: Integer, words: Words, by_total: bool, n_found: Integer, best: Ranked) -> Integer:
    """Put a labelset among the best found if it belongs there; return how many these are.

    Reference : heapq.heappushpop
    Requires : n_found of the best there are found
    Cost : O(log n) comparisons
    """
    order, keys = best.order, best.keys
    n_best = keys.shape[0] - 1
    best_on_top = n_best < 0  # False, but no constant: numba would compile sift again for each
    row = order[n_found]
    write_key(value, total, words, by_total, row, keys)
    place = n_found
    if n_found == n_best:
        if not precedes(row, order[0], keys, not best_on_top):
            return n_found
        order[0], order[n_best] = row, order[0]
        place = 0
    n_found = min(n_found + 1, n_best)
    sift(order, n_found, place, best_on_top, keys)
    return n_found


def read_keys(keys: IntArray) -> tuple[Words, IntArray]:
    """Return the words of labelsets, and their numerators and total scores, (n, W) and (n, 2).

    Examples
    --------
    >>> key = np.empty((1, 3), dtype=np.int64)
    >>> write_key(7, 40, np.array([5], dtype=np.uint64), True, 0, key)
    >>> read_keys(key)
    (array([[5]], dtype=uint64), array([[ 7, 40]]))
    """
    words: Words = np.ascontiguousarray(keys[:, : CODE - 1 : -1]).view(np.uint64) ^ HIGHEST_BIT
    rank: IntArray = keys[:, :CODE] * np.array([-1, 1])
    return words, rank


def read_sorted(keys: IntArray) -> tuple[Words, IntArray]:
    """Return the same, the most plausible labelset first."""
    return read_keys(keys[np.lexsort(keys.T[::-1])] if len(keys) > 1 else keys)

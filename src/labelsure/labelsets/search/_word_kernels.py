"""Compiled steps on labelsets given as words of bits: flips, candidates, penalties."""

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays import Penalties
from labelsure.labelsets.arrays._lookup_kernels import Integer


@lean_kernel
def flip(words: Words, j: Integer) -> None:
    """Switch label j on or off.

    Reference : exclusive or with 2^j
    Requires : words (W,), j < 64 W
    Cost : one operation
    """
    words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)


@kernel_part
def switch_off(words: Words, j: Integer) -> None:
    """Switch label j off, if it is on.

    Reference : as flip
    Requires : as flip
    Cost : one operation
    """
    words[j >> 6] &= ~(np.uint64(1) << np.uint64(j & 63))


@kernel_part
def is_candidate(words: Words, allow_empty: bool) -> bool:
    """Tell whether a labelset is a candidate: whether some label is on, or none need be.

    Reference : words.any() or allow_empty
    Requires : words (W,)
    Cost : O(W)
    """
    some_on = allow_empty
    for w in range(words.shape[0]):
        some_on |= words[w] != 0
    return some_on


@kernel_part
def count_bits(word: Integer) -> Integer:
    """Return the number of bits set in a word of 64.

    Reference : int.bit_count
    Requires : word uint64
    Cost : a dozen operations
    """
    bits = np.uint64(word)
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean_kernel
def penalise(
    words: Words, label: IntArray, begin: Integer, penalties: Penalties, penalty: IntArray, known: Words
) -> None:
    """Write a lower bound of each fold's penalty of the labelsets that differ from ``words`` only in label[begin:].

    Where begin is the end of ``label`` that is the penalty itself.

    Reference : _core.energy_parts.Penalty.costs
    Requires : words (W,), label (p,), penalty (K,); known (W,), for notes
    Cost : O(p), and one word operation per anchor, fold and word
    """
    by_cardinality, anchors = penalties.by_cardinality, penalties.anchors
    n_on = np.int64(0)
    for w in range(words.shape[0]):
        known[w] = ~np.uint64(0)
    for t in range(begin, label.shape[0]):
        flip(known, label[t])
    for w in range(words.shape[0]):
        n_on += count_bits(words[w] & known[w])
    n_open = label.shape[0] - begin
    level = 0
    while (2 << level) <= n_open + 1:
        level += 1
    for k in range(penalty.shape[0]):
        # the undecided labels may be on or off: the least of a range, as that of two overlapping ones
        penalty[k] = min(by_cardinality[k, level, n_on], by_cardinality[k, level, n_on + n_open + 1 - (1 << level)])
        if penalties.per_distance[k] > 0:
            shortest = np.int64(64 * words.shape[0])
            for a in range(penalties.anchor_begin[k], penalties.anchor_begin[k + 1]):
                distance = np.int64(0)
                for w in range(words.shape[0]):
                    distance += count_bits((words[w] ^ anchors[a, w]) & known[w])
                shortest = min(shortest, distance)
            penalty[k] += penalties.per_distance[k] * shortest

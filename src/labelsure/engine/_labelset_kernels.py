"""Compiled steps on labelsets given as words of bits: flips, candidates, penalties, and ranks.

A key is minus the numerator, the total score, and the words of the code, the most significant
first, with their highest bits turned over: then signed numbers come in the order of unsigned ones,
and keys are compared number by number.
"""

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine._fold_arrays import Penalties
from labelsure.engine._lookup_kernels import Integer
from labelsure.engine._rule_kernels import DECIDED, obeys
from labelsure.engine._rules import Rules
from labelsure.measures._labelset_bits import Words

# Columns of ranks; of keys, where the numerator has a minus sign
NUMERATOR, TOTAL, CODE = range(3)

HIGHEST_BIT = np.uint64(1 << 63)


@lean_kernel
def flip(words: Words, j: Integer) -> None:
    """Switch label j on or off.

    Twin : exclusive or with 2^j
    Requires : words (W,), j < 64 W
    Cost : one operation
    """
    words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)


@kernel_part
def switch_off(words: Words, j: Integer) -> None:
    """Switch label j off, if it is on.

    Twin : as flip
    Requires : as flip
    Cost : one operation
    """
    words[j >> 6] &= ~(np.uint64(1) << np.uint64(j & 63))


@kernel_part
def is_some(words: Words) -> bool:
    """Tell whether some label is on.

    Twin : words.any()
    Requires : words (W,)
    Cost : O(W)
    """
    some_on = False
    for w in range(words.shape[0]):
        some_on |= words[w] != 0
    return bool(some_on)


@lean_kernel
def is_known(words: Words, i: Integer, begin: IntArray, known: Words) -> bool:
    """Tell whether a labelset is among those from ``begin[i]`` to ``begin[i + 1]``.

    Twin : numpy.isin
    Requires : words (W,); known (E, W), these in ascending order
    Cost : O(W log E)
    """
    low, high = begin[i], begin[i + 1]
    while low < high:
        middle = (low + high) // 2
        w = 0
        while w < words.shape[0] - 1 and known[middle, w] == words[w]:
            w += 1
        if known[middle, w] == words[w]:
            return True
        if known[middle, w] < words[w]:
            low = middle + 1
        else:
            high = middle
    return False


@kernel_part
def is_candidate(words: Words, allow_empty: bool, rules: Rules) -> bool:
    """Tell whether a labelset obeys all rules, and has a label on if it needs one.

    Twin : (words.any() or allow_empty) and Rules.allow
    Requires : words (W,)
    Cost : O(W + terms of the rules)
    """
    some_on = allow_empty or is_some(words)
    return some_on and (
        rules.most.shape[0] == 0 or bool(obeys(words, words, np.int64(DECIDED), rules))
    )


@kernel_part
def count_bits(word: Integer) -> Integer:
    """Return the number of bits set in a word of 64.

    Twin : int.bit_count
    Requires : word uint64
    Cost : a dozen operations
    """
    bits = np.uint64(word)
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean_kernel
def penalise(
    words: Words,
    label: IntArray,
    begin: Integer,
    penalties: Penalties,
    penalty: IntArray,
    known: Words,
) -> None:
    """Write a lower bound of each fold's penalty of some labelsets.

    Of those that differ from ``words`` only in ``label[begin:]``.

    Where begin is the end of ``label`` that is the penalty itself.

    Twin : measures._energy.Penalty.costs
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
        # the undecided labels may be on or off: the least of a range, as that of two overlapping
        # ones
        penalty[k] = min(
            by_cardinality[k, level, n_on],
            by_cardinality[k, level, n_on + n_open + 1 - (1 << level)],
        )
        if penalties.per_distance[k] > 0:
            shortest = np.int64(64 * words.shape[0])
            for a in range(penalties.anchor_begin[k], penalties.anchor_begin[k + 1]):
                distance = np.int64(0)
                for w in range(words.shape[0]):
                    distance += count_bits((words[w] ^ anchors[a, w]) & known[w])
                shortest = min(shortest, distance)
            penalty[k] += penalties.per_distance[k] * shortest


@kernel_part
def write_key(
    value: Integer, total: Integer, words: Words, by_total: bool, row: Integer, keys: IntArray
) -> None:
    """Write the key of a labelset into a row; without ``by_total`` its numerator counts alone.

    Twin : the tuples that labelset_reference.ranked sorts by
    Requires : words (W,), keys (n, 2 + W), or (n, 2) where nobody asks for labelsets
    Cost : O(W)
    """
    n_words = keys.shape[1] - CODE
    keys[row, NUMERATOR] = -value
    keys[row, TOTAL] = total if by_total else 0
    for w in range(n_words):
        keys[row, CODE + n_words - 1 - w] = np.int64(words[w] ^ HIGHEST_BIT) if by_total else 0


@lean_kernel
def precedes(a: Integer, b: Integer, keys: IntArray, best_first: bool) -> bool:
    """Tell whether row a comes before row b, the best first or the worst.

    Twin : tuple comparison
    Requires : keys (n, 2 + W)
    Cost : O(W)
    """
    column, last = 0, keys.shape[1] - 1
    while column < last and keys[a, column] == keys[b, column]:
        column += 1
    one, other = keys[a, column], keys[b, column]
    return bool(one < other if best_first else one > other)


@lean_kernel
def insert(n_found: Integer, keys: IntArray) -> Integer:
    """Put the last row among the best found, unless it is one of these; return their number.

    Twin : sorted
    Requires : keys (k + 1, 2 + W), the first n_found in order; where these are k, the last row
        comes before the k-th
    Cost : O(k W)
    """
    n_best, n_columns = keys.shape[0] - 1, keys.shape[1]
    for row in range(n_found):
        column = CODE
        while column < n_columns and keys[row, column] == keys[n_best, column]:
            column += 1
        if column == n_columns > CODE:  # without words nobody knows
            return n_found
    place = min(n_found, n_best - 1)
    while place > 0 and precedes(np.int64(n_best), place - 1, keys, True):
        for column in range(n_columns):
            keys[place, column] = keys[place - 1, column]
        place -= 1
    for column in range(n_columns):
        keys[place, column] = keys[n_best, column]
    return min(n_found + 1, n_best)

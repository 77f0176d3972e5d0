"""Compiled inequalities: what they rule out in a search, and what follows from them.

In a search, positions before ``begin`` are decided, and later ones are open as long as they are as
in the mode. A later one that differs from the mode was *forced*: no labelset that obeys the rules
has it otherwise, given those decided.
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine._lookup_kernels import Integer
from labelsure.engine._rules import Rules
from labelsure.measures._labelset_bits import Words

DECIDED = 1 << 62
"""A position behind all others: every label is as it is."""

# What deciding a label leads to
BROKEN, QUIET, FORCED = range(3)


class Course(NamedTuple):
    """What flips are counted from, and what they cost.

    Attributes
    ----------
    mode : uint64 (W,)
        The mode.
    cost : (p, K)
        What flipping each position adds to the additive scores.
    waiting : (q,)
        Room for labels that are decided and not looked at yet.
    """

    mode: Words
    cost: IntArray
    waiting: IntArray


@kernel_part
def is_on(words: Words, j: Integer) -> bool:
    """Tell whether label j is on.

    Twin : the definition
    Requires : words (W,), j < 64 W
    Cost : one operation
    """
    return bool((words[j >> 6] >> np.uint64(j & 63)) & np.uint64(1) != 0)


@kernel_part
def least_sum(c: Integer, words: Words, mode: Words, begin: Integer, rules: Rules) -> Integer:
    """Return the least sum of inequality c over labelsets that differ where positions are open.

    Twin : the minimum over all sets of flips
    Requires : words, mode (W,)
    Cost : O(terms)
    """
    least = np.int64(0)
    for e in range(rules.begin[c], rules.begin[c + 1]):
        j, sign = rules.label[e], rules.sign[e]
        on = is_on(words, j)
        if rules.place[j] >= begin and on == is_on(mode, j):
            least += min(sign, 0)
        elif on:
            least += sign
    return least


@lean_kernel
def obeys(words: Words, mode: Words, begin: Integer, rules: Rules) -> bool:
    """Tell whether no inequality rules out all labelsets that differ in open positions.

    Twin : Rules.allow of all sets of flips
    Requires : words, mode (W,)
    Cost : O(terms of all)
    """
    for c in range(rules.most.shape[0]):
        if least_sum(c, words, mode, begin, rules) > rules.most[c]:
            return False
    return True


@lean_kernel
def settle(
    j: Integer, begin: Integer, words: Words, scores: IntArray, course: Course, rules: Rules
) -> Integer:
    """Flip what has to be flipped now that label j is decided, and add what that costs.

    Return BROKEN where nothing is left that obeys the rules, FORCED where something was flipped,
    else QUIET.

    Twin : what all labelsets that obey the rules have in common, or less
    Requires : nothing was broken before j was decided; words (W,), scores (K,)
    Cost : O(terms of the inequalities with labels that are decided)
    """
    waiting, outcome = course.waiting, QUIET
    waiting[0] = j
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        decided = waiting[n_waiting]
        for at in range(rules.touch_begin[decided], rules.touch_begin[decided + 1]):
            c = rules.touching[at]
            slack = rules.most[c] - least_sum(c, words, course.mode, begin, rules)
            if slack < 0:
                return BROKEN
            if slack > 0:
                continue
            # no open label may be other than in the least sum
            for e in range(rules.begin[c], rules.begin[c + 1]):
                other = rules.label[e]
                on = is_on(words, other)
                if (
                    rules.place[other] >= begin
                    and on == is_on(course.mode, other)
                    and on == (rules.sign[e] > 0)
                ):
                    words[other >> 6] ^= np.uint64(1) << np.uint64(other & 63)
                    for k in range(scores.shape[0]):
                        scores[k] += course.cost[rules.place[other], k]
                    waiting[n_waiting] = other
                    n_waiting += 1
                    outcome = FORCED
    return outcome

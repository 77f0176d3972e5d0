"""Compiled inequalities: what rules out a labelset, and what rules out all labelsets of a part of a search."""

import numpy as np

from labelsure._core.compilation import kernel, kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray
from labelsure.labelsets.arrays._lookup_kernels import Integer
from labelsure.labelsets.arrays._rules import Rules

DECIDED = 1 << 62
"""A position behind all others: every label is as it is."""


@kernel_part
def exceeds(c: Integer, words: Words, begin: Integer, rules: Rules) -> bool:
    """Tell whether inequality c rules out every labelset that differs from ``words`` from position ``begin`` on only.

    Reference : the least sum over all sets of flips
    Requires : words (W,)
    Cost : O(terms)
    """
    least = np.int64(0)
    for e in range(rules.begin[c], rules.begin[c + 1]):
        j, sign = rules.label[e], rules.sign[e]
        if rules.place[j] >= begin:
            least += min(sign, 0)
        elif (words[j >> 6] >> np.uint64(j & 63)) & np.uint64(1) != 0:
            least += sign
    return bool(least > rules.most[c])


@lean_kernel
def obeys(words: Words, begin: Integer, rules: Rules) -> bool:
    """Tell whether no inequality rules out every labelset that differs from ``words`` from ``begin`` on only.

    Reference : Rules.allow, Rules.may_allow
    Requires : words (W,)
    Cost : O(terms of all)
    """
    for c in range(rules.most.shape[0]):  # noqa: SIM110
        if exceeds(c, words, begin, rules):
            return False
    return True


@lean_kernel
def may_obey(j: Integer, words: Words, begin: Integer, rules: Rules) -> bool:
    """Tell the same of the inequalities with label j: enough where j alone was decided since the last question.

    Reference : Rules.may_allow
    Requires : words (W,)
    Cost : O(terms of these)
    """
    for at in range(rules.touch_begin[j], rules.touch_begin[j + 1]):
        if exceeds(rules.touching[at], words, begin, rules):
            return False
    return True


@kernel
def mark_allowed(rules: Rules, allowed: BoolArray) -> None:
    """Write for every code whether its labelset obeys all inequalities.

    Reference : Rules.allow
    Requires : allowed (2^q,)
    Cost : the terms up to the first inequality that is broken, per code
    """
    words = np.zeros(1, np.uint64)
    for code in range(allowed.shape[0]):
        words[0] = np.uint64(code)
        allowed[code] = obeys(words, DECIDED, rules)

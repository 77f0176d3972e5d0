"""The labelsets that have discounts in some fold, as arrays: made once for all objects of a fit."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from labelsure._checks import BoolArray, IntArray, LabelMatrix
from labelsure.measures._energy import Discounts
from labelsure.measures._labelset_bits import Words, pack

Made = TypeVar("Made")


class Memory:
    """Keeps what was made of some objects as long as the first of them lives.

    Examples
    --------
    >>> import numpy as np
    >>> memory, part = Memory(), np.arange(3)
    >>> memory.recall([part], part.sum) is memory.recall([part], part.sum)
    True
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[Any, list[Any], Any]] = {}

    def recall(self, parts: Sequence[Any], make: Callable[[], Made], *more: Hashable) -> Made:
        """Return what ``make`` returns, called once for the same objects, and whatever more it depends on.

        Parameters
        ----------
        parts : sequence of objects or None
            None of which changes; what is made must not hold the first that is not None.
        """
        first = next((part for part in parts if part is not None), None)
        if first is None:
            return make()
        key = (*map(id, parts), *more)
        if key not in self._made:
            others = [
                part for part in parts if part is not first
            ]  # kept, so that no other object gets their number
            self._made[key] = ref(first, lambda _: self._made.pop(key, None)), others, make()
        made: Made = self._made[key][2]
        return made


class Discounted(NamedTuple):
    """E labelsets, each once, and what they are spared in each of K folds.

    Attributes
    ----------
    labelsets : int8 (E, q)
        Zeros and ones.
    words : uint64 (E, W)
        The same, bit j being label j, in ascending order: the first word decides, then the second.
    begin, label : (E + 1,), (m,)
        The same: labelset e has the labels ``label[begin[e] : begin[e + 1]]``.
    more : (E, K)
        Minus what is taken from the general score; 0 in folds that do not know the labelset.
    least, total : (E,)
        The least of that, and its sum.
    """

    labelsets: LabelMatrix
    words: Words
    begin: IntArray
    label: IntArray
    more: IntArray
    least: IntArray
    total: IntArray

    @classmethod
    def of(cls, folds: Sequence[Discounts | None], n_labels: int) -> "Discounted":
        """Return the labelsets of several folds' discounts; None where a fold has none."""
        there = [(k, discounts) for k, discounts in enumerate(folds) if discounts is not None]
        labelsets = np.concatenate(
            [
                np.empty((0, n_labels), dtype=np.int8),
                *(discounts.labelsets for _, discounts in there),
            ]
        )
        words = pack(labelsets)
        order = np.lexsort(words.T[::-1])
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(is_first) - 1
        once = order[is_first]
        more = np.zeros((len(once), len(folds)), dtype=np.int64)
        start = 0
        for k, discounts in there:
            more[number[start : start + len(discounts.amounts)], k] = -discounts.amounts
            start += len(discounts.amounts)
        return cls.from_costs(labelsets[once], more)

    @classmethod
    def from_costs(cls, labelsets: LabelMatrix, more: IntArray) -> "Discounted":
        """Return labelsets, in ascending order of their words, with what is added to their scores."""
        rows, label = np.nonzero(labelsets)
        begin = np.searchsorted(rows, np.arange(len(labelsets) + 1))
        return cls(
            labelsets, pack(labelsets), begin, label, more, more.min(axis=1), more.sum(axis=1)
        )

    def take(self, kept: BoolArray) -> "Discounted":
        """Return some of the labelsets."""
        return self if kept.all() else Discounted.from_costs(self.labelsets[kept], self.more[kept])

    def scores(self, constant: IntArray, unary: IntArray) -> IntArray:
        """Return the sums of one object's costs of labels, (K,) and (K, q), for each labelset, (K, E)."""
        sums = np.zeros((len(unary), len(self.label) + 1), dtype=np.int64)
        np.cumsum(unary[:, self.label], axis=1, out=sums[:, 1:])
        scores: IntArray = constant[:, None] + sums[:, self.begin[1:]] - sums[:, self.begin[:-1]]
        return scores


_pooled = Memory()


def pool_discounts(folds: Sequence[Discounts | None], n_labels: int) -> Discounted:
    """Return ``Discounted.of`` the same, made once for a fit.

    Examples
    --------
    >>> import numpy as np
    >>> folds = [Discounts(np.array([[1, 0]], dtype=np.int8), np.array([3])), None]
    >>> pool_discounts(folds, 2).more.tolist(), pool_discounts(folds, 2) is pool_discounts(folds, 2)
    ([[-3, 0]], True)
    """
    return _pooled.recall(folds, lambda: Discounted.of(folds, n_labels))

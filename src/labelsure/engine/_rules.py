"""Constraints on labelsets as whole-number inequalities, and as arrays for kernels."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, IntArray, LabelMatrix
from labelsure.measures._labelset_bits import decode, encode, labelset_keys, pack


class Inequality(NamedTuple):
    """``#{plus labels that are on} - #{minus labels that are on} <= most``; no label is in both."""

    plus: frozenset[int]
    minus: frozenset[int]
    most: int


Part = frozenset[Inequality]

MAX_CASES = 50_000
"""About a second; a hierarchy and disjoint groups take a few cases per label."""


class TooEntangledError(ValueError):
    """Constraints overlap so much that counting by cases takes too long."""


def count_solutions(inequalities: Sequence[Inequality], n_labels: int) -> int:
    """Return how many of the 2^q labelsets obey all inequalities.

    Examples
    --------
    >>> group, nothing = frozenset([0, 1, 2]), frozenset()
    >>> exactly_one = [Inequality(group, nothing, 1), Inequality(nothing, group, -1)]
    >>> count_solutions(exactly_one, 4)
    6
    """
    part = frozenset(inequalities)
    try:
        count = _settle(part, {}, {})
    except RecursionError:
        raise TooEntangledError(
            f"connected through more than some hundred labels, {n_labels} in all"
        ) from None
    return count << (n_labels - len(_labels(part)))


def _settle(part: Part, fixed: dict[int, bool], known: dict[Part, int]) -> int:
    """Return how many values of the labels in some inequalities obey these, given those of a few.

    What follows from these is decided first, then the rest is counted part by part.
    """
    labels, decided = _labels(part), set(fixed)
    part, forced, broken = _decide(part, fixed)
    while forced and not broken:
        decided |= forced.keys()
        part, forced, broken = _decide(part, forced)
    if broken:
        return 0
    count = 1 << len(labels - _labels(part) - decided)
    for own in _connected(part):
        count *= _count(own, known)
    return count


def _decide(part: Part, fixed: dict[int, bool]) -> tuple[Part, dict[int, bool], bool]:
    """Return inequalities given some labels, the labels that decides, and if one is broken."""
    left: set[Inequality] = set()
    forced: dict[int, bool] = {}
    for one in part:
        most = (
            one.most
            - sum(fixed.get(j, False) for j in one.plus)
            + sum(fixed.get(j, False) for j in one.minus)
        )
        plus, minus = one.plus.difference(fixed), one.minus.difference(fixed)
        if -len(minus) > most:
            return part, {}, True
        if len(plus) <= most:
            continue
        if -len(minus) == most:  # one wrong label would be too many
            for j, value in [*((j, False) for j in plus), *((j, True) for j in minus)]:
                if forced.setdefault(j, value) != value:
                    return part, {}, True
        left.add(Inequality(plus, minus, most))
    return frozenset(left), forced, False


def _count(part: Part, known: dict[Part, int]) -> int:
    """Return how many values of a connected part's labels obey it."""
    if part in known:
        return known[part]
    if len(known) >= MAX_CASES:
        raise TooEntangledError(f"not counted in {MAX_CASES} cases")
    known[part] = 0  # a place in the count of cases
    count = _count_group(part)
    if count is None:
        uses = Counter(j for plus, minus, _ in part for j in (*plus, *minus))
        split = min(uses, key=lambda j: (-uses[j], j))
        count = sum(_settle(part, {split: value}, known) for value in (False, True))
    known[part] = count
    return count


def _count_group(part: Part) -> int | None:
    """Return the same if all inequalities are about the same group of labels; else None."""
    first = next(iter(part))
    n_labels = most_right = len(first.plus | first.minus)
    fewest_right = 0  # labels that count for and are on, or count against and are off
    for plus, minus, most in part:
        if (plus, minus) == (first.plus, first.minus):
            most_right = min(most_right, most + len(first.minus))
        elif (minus, plus) == (first.plus, first.minus):
            fewest_right = max(fewest_right, len(first.minus) - most)
        else:
            return None
    return sum(comb(n_labels, number) for number in range(fewest_right, most_right + 1))


def _labels(part: Iterable[Inequality]) -> set[int]:
    return {j for plus, minus, _ in part for j in (*plus, *minus)}


def _connected(part: Part) -> list[Part]:
    """Return the connected parts: inequalities that share labels, directly or by others."""
    parts: list[tuple[set[int], list[Inequality]]] = []
    for one in part:
        labels = set(one.plus | one.minus)
        members = [one]
        apart = []
        for other in parts:
            if labels.isdisjoint(other[0]):
                apart.append(other)
            else:
                labels |= other[0]
                members += other[1]
        parts = [*apart, (labels, members)]
    return [frozenset(members) for _, members in parts]


NOTHING: IntArray = np.empty(0, dtype=np.int64)


class Rules(NamedTuple):
    """C inequalities with E terms in all, as kernels take them.

    Attributes
    ----------
    begin : (C + 1,)
        Where the terms of each begin.
    label, sign : (E,)
        The labels, and 1 or -1.
    most : (C,)
        What the sum of the signs of labels that are on may be at most.
    touch_begin, touching : (q + 1,), (E,)
        For each label the inequalities that it is in, ``touching[touch_begin[j] : touch_begin[j +
        1]]``.
    place : (q,)
        One object's: the position at which each label is flipped; below 0 for labels that are not.
    """

    begin: IntArray
    label: IntArray
    sign: IntArray
    most: IntArray
    touch_begin: IntArray
    touching: IntArray
    place: IntArray

    @classmethod
    def of(cls, inequalities: Sequence[Inequality], n_labels: int) -> "Rules":
        """Return the arrays of some inequalities; none of them without labels."""
        terms = [(c, j, sign) for c, one in enumerate(inequalities) for j, sign in _signs(one)]
        of, label, sign = np.array(terms, dtype=np.int64).reshape(-1, 3).T.copy()
        by_label = np.argsort(label, kind="stable")
        return cls(
            begin=np.searchsorted(of, np.arange(len(inequalities) + 1)),
            label=label,
            sign=sign,
            most=np.array([one.most for one in inequalities], dtype=np.int64),
            touch_begin=np.searchsorted(label[by_label], np.arange(n_labels + 1)),
            touching=of[by_label],
            place=np.full(n_labels, -1),
        )

    def allow(self, Y: LabelMatrix) -> BoolArray:
        """Tell for each labelset whether it obeys all inequalities."""
        if not len(self.most):
            return np.ones(len(Y), dtype=bool)
        terms = Y[:, self.label] * self.sign
        sums: IntArray = np.add.reduceat(terms, self.begin[:-1], axis=1)
        return np.asarray((sums <= self.most).all(axis=1))

    def placed(self, label: IntArray) -> "Rules":
        """Return the rules of one object whose labels are flipped in this order."""
        place = np.full_like(self.place, -1)
        place[label] = np.arange(len(label))
        return self._replace(place=place)


def _signs(one: Inequality) -> list[tuple[int, int]]:
    return sorted([*((j, 1) for j in one.plus), *((j, -1) for j in one.minus)])


NO_RULES = Rules(
    np.zeros(1, dtype=np.int64),
    NOTHING,
    NOTHING,
    NOTHING,
    np.zeros(1, dtype=np.int64),
    NOTHING,
    NOTHING,
)


@dataclass(eq=False)
class LabelsetRules:
    """All constraints on the labelsets of q labels, ready for engines.

    Attributes
    ----------
    n_labels : int
        How many there are.
    inequalities : tuple of Inequality
        What every labelset obeys.
    listed : int8 array of shape (L, q) or None
        The only labelsets there are, once each, where they are listed; kept in the order of their
        codes.

    Examples
    --------
    >>> rules = LabelsetRules(3, (Inequality(frozenset([0, 1]), frozenset(), 1),))
    >>> rules.n_allowed, rules.allow(np.array([[1, 1, 0], [1, 0, 1]])).tolist()
    (6, [False, True])
    """

    n_labels: int
    inequalities: tuple[Inequality, ...]
    listed: LabelMatrix | None = None

    def __post_init__(self) -> None:
        self.rules = Rules.of(self.inequalities, self.n_labels)
        if self.listed is not None:
            allowed = self.listed[self.rules.allow(self.listed)]
            self.listed = allowed[np.lexsort(tuple(pack(allowed).T))]

    def allow(self, Y: LabelMatrix) -> BoolArray:
        """Tell for each labelset whether it is allowed."""
        if self.listed is None:
            return self.rules.allow(Y)
        return np.isin(labelset_keys(Y), labelset_keys(self.listed))

    @cached_property
    def allows_empty(self) -> bool:
        """Whether the empty labelset is allowed."""
        return bool(self.allow(np.zeros((1, self.n_labels), dtype=np.int8))[0])

    @cached_property
    def n_allowed(self) -> int:
        """How many labelsets are allowed."""
        if self.listed is not None:
            return len(self.listed)
        return count_solutions(self.inequalities, self.n_labels)

    def n_candidates(self, *, allow_empty: bool) -> int:
        """Return the same, the empty labelset counted only where it is a candidate."""
        return self.n_allowed - (self.allows_empty and not allow_empty)

    def labelsets(self) -> LabelMatrix:
        """Return all labelsets that are allowed, in the order of their codes."""
        return (
            decode(np.flatnonzero(self.by_code), self.n_labels)
            if self.listed is None
            else self.listed
        )

    @cached_property
    def by_code(self) -> BoolArray:
        """Whether the labelset with each code is allowed, (2^q,)."""
        allowed = np.full(2**self.n_labels, self.listed is None)
        if self.listed is not None:
            allowed[encode(self.listed)] = True
            return allowed
        for one in self.inequalities:
            sums = np.zeros(1, dtype=np.int8)
            for j in range(self.n_labels):
                sums = np.concatenate([sums, sums + np.int8((j in one.plus) - (j in one.minus))])
            allowed &= sums <= one.most
        return allowed

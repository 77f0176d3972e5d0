"""How many labelsets obey inequalities, without listing them: by cases, part by part.

Labels that share no inequality can be counted by themselves, so the numbers of unconnected parts are multiplied. A
connected part is split into two cases by a label that many inequalities look at, and each case falls apart further: a
tree of labels below its root, a group label by label. Equal parts are counted once. (Bayardo, Pehoushek 2000.)
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb
from typing import NamedTuple


class Inequality(NamedTuple):
    """``#{labels of plus that are on} - #{labels of minus that are on} <= most``; no label is in both."""

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
    >>> count_solutions([Inequality(group, nothing, 1), Inequality(nothing, group, -1)], 4)  # exactly one of three
    6
    """
    part = frozenset(inequalities)
    try:
        count = _settle(part, {}, {})
    except RecursionError:
        raise TooEntangledError(f"connected through more than some hundred labels, {n_labels} in all") from None
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
    """Return what is left of inequalities given some labels, which labels that decides, and whether one is broken."""
    left: set[Inequality] = set()
    forced: dict[int, bool] = {}
    for one in part:
        most = one.most - sum(fixed.get(j, False) for j in one.plus) + sum(fixed.get(j, False) for j in one.minus)
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
    """Return the same where every inequality looks at the same group of labels in the same way; None elsewhere."""
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
    """Return the connected parts: inequalities that share labels, or are linked by others that do."""
    parts: list[tuple[set[int], list[Inequality]]] = []
    for one in part:
        labels, members, apart = set(one.plus | one.minus), [one], []
        for other in parts:
            if labels.isdisjoint(other[0]):
                apart.append(other)
            else:
                labels |= other[0]
                members += other[1]
        parts = [*apart, (labels, members)]
    return [frozenset(members) for _, members in parts]

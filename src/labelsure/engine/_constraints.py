"""Constraints on labelsets: what a user knows about them, by the names or numbers of labels."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsure._checks import (
    IntArray,
    LabelMatrix,
    check_count,
    check_label_matrix,
    is_list,
    is_whole,
    list_labels,
    made_up_names,
)
from labelsure.engine._rules import Inequality, LabelsetRules, TooEntangledError

Label = str | int
"""A label by its name, or by its number from 0 on."""

NOTHING: frozenset[int] = frozenset()


class LabelNumbers:
    """From labels as a user names them to their numbers.

    Parameters
    ----------
    label_names : sequence of str
        What the labels are called.
    """

    def __init__(self, label_names: Sequence[str]) -> None:
        self.names = tuple(label_names)
        self.number_of = {name: j for j, name in enumerate(self.names)}

    def one(self, label: Any, constraint: "Constraint") -> int:
        """Return the number of one label."""
        if isinstance(label, str) and label in self.number_of:
            return self.number_of[label]
        if is_whole(label) and 0 <= int(label) < len(self.names):
            return int(label)
        raise ValueError(
            f"{constraint!r} must name labels, or number them from 0 to {len(self.names) - 1}, got"
            f" {label!r}. {list_labels(self.names)}"
        )

    def several(self, labels: Any, constraint: "Constraint") -> frozenset[int]:
        """Return the numbers of different labels; a single name or number stands for itself."""
        given = list(labels) if is_list(labels) else [labels]
        numbers = [self.one(label, constraint) for label in given]
        if not numbers or len(set(numbers)) < len(numbers):
            raise ValueError(
                f"{constraint!r} must name at least one label, and none twice, got {labels!r}."
            )
        return frozenset(numbers)


class Constraint(ABC):
    """Something that every labelset obeys."""

    @abstractmethod
    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return the constraint in whole numbers, or raise ValueError for unknown labels."""

    def listed(self, labels: LabelNumbers) -> LabelMatrix | None:  # noqa: ARG002
        """Return the only labelsets there are, if it lists them."""
        return None


@dataclass(frozen=True)
class Implies(Constraint):
    """An object with one label has others too.

    Attributes
    ----------
    label : str or int
        The label.
    then : str, int or sequence of these
        What it has with it.

    Examples
    --------
    >>> from labelsure.engine import Implies, compile_constraints
    >>> rules = compile_constraints([Implies("spaniel", "dog")], ["dog", "spaniel"])
    >>> rules.labelsets().tolist()
    [[0, 0], [1, 0], [1, 1]]
    """

    label: Label
    then: Label | Sequence[Label]

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return: with the label on, none of the others is off."""
        first = labels.one(self.label, self)
        others = labels.several(self.then, self) - {first}
        return [Inequality(frozenset([first]), frozenset([other]), 0) for other in sorted(others)]


@dataclass(frozen=True)
class AtMost(Constraint):
    """An object has at most so many labels of a group.

    Attributes
    ----------
    k : int
        How many.
    labels : sequence of str or int
        The group.

    Examples
    --------
    >>> from labelsure.engine import AtMost, compile_constraints
    >>> compile_constraints([AtMost(1, [0, 1, 2])], 3).n_allowed
    4
    """

    k: int
    labels: Sequence[Label]

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return: so many are on at most."""
        return [Inequality(labels.several(self.labels, self), NOTHING, self._number(labels))]

    def _number(self, labels: LabelNumbers) -> int:
        n_labels = len(labels.several(self.labels, self))
        if not is_whole(self.k) or not 0 <= self.k <= n_labels:
            raise ValueError(
                f"{self!r} must ask for 0 to {n_labels} labels of {n_labels}, got {self.k!r}."
            )
        return int(self.k)


@dataclass(frozen=True)
class AtLeast(AtMost):
    """An object has at least so many labels of a group.

    Attributes
    ----------
    k, labels
        As in :class:`AtMost`.

    Examples
    --------
    >>> from labelsure.engine import AtLeast, compile_constraints
    >>> compile_constraints([AtLeast(2, ["a", "b", "c"])], ["a", "b", "c"]).n_allowed
    4
    """

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return: so many are on at least."""
        return [Inequality(NOTHING, labels.several(self.labels, self), -self._number(labels))]


@dataclass(frozen=True)
class Exactly(AtMost):
    """An object has exactly so many labels of a group.

    Attributes
    ----------
    k, labels
        As in :class:`AtMost`.

    Examples
    --------
    >>> from labelsure.engine import Exactly, compile_constraints
    >>> compile_constraints([Exactly(1, ["day", "night"])], ["day", "night"]).labelsets().tolist()
    [[1, 0], [0, 1]]
    """

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return both."""
        group, k = labels.several(self.labels, self), self._number(labels)
        return [Inequality(group, NOTHING, k), Inequality(NOTHING, group, -k)]


@dataclass(frozen=True)
class Exclude(Constraint):
    """No object has two of these labels.

    Attributes
    ----------
    labels : sequence of str or int
        At least two.

    Examples
    --------
    >>> from labelsure.engine import Exclude, compile_constraints
    >>> compile_constraints([Exclude(["cat", "dog"])], ["cat", "dog"]).labelsets().tolist()
    [[0, 0], [1, 0], [0, 1]]
    """

    labels: Sequence[Label]

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return: at most one is on."""
        group = labels.several(self.labels, self)
        if len(group) < 2:
            raise ValueError(
                f"{self!r} must name at least two labels, got one. Use AtMost(0, [label]) to"
                f" forbid one."
            )
        return [Inequality(group, NOTHING, 1)]


@dataclass(frozen=True)
class Hierarchy(Constraint):
    """An object with a label has its parent too, and the parent's parent, and so on.

    Attributes
    ----------
    parents : mapping from label to label
        The parent of each label that has one; :func:`labelsure.datasets.read_hierarchy` reads it
        from Mulan's XML.

    Examples
    --------
    >>> from labelsure.engine import Hierarchy, compile_constraints
    >>> hierarchy = Hierarchy({"spaniel": "dog", "dog": "animal"})
    >>> rules = compile_constraints([hierarchy], ["animal", "dog", "spaniel"])
    >>> rules.labelsets().tolist()
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    parents: Mapping[Any, Label]

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:
        """Return one implication per label with a parent."""
        if not isinstance(self.parents, Mapping):
            raise ValueError(f"Hierarchy must map labels to their parents, got {self.parents!r}.")
        parent_of = {
            labels.one(child, self): labels.one(parent, self)
            for child, parent in self.parents.items()
        }
        for child, parent in parent_of.items():
            above, steps = parent, 0
            while above in parent_of and steps <= len(parent_of):
                above, steps = parent_of[above], steps + 1
            if above in parent_of:
                raise ValueError(
                    f"Hierarchy must have no circles, got one above {labels.names[child]!r}."
                    " Name for each label the one right above it."
                )
        return [
            Inequality(frozenset([child]), frozenset([parent]), 0)
            for child, parent in parent_of.items()
        ]


@dataclass(frozen=True, eq=False)
class Allowed(Constraint):
    """There are no other labelsets than these.

    Attributes
    ----------
    labelsets : label matrix of shape (m, q), or sequence of sets of labels
        Rows of zeros and ones, or sets of names or numbers of labels; an empty set is the empty
        labelset.

    Examples
    --------
    >>> from labelsure.engine import Allowed, compile_constraints
    >>> allowed = Allowed([{"sea"}, {"sea", "city"}])
    >>> compile_constraints([allowed], ["sea", "city"]).labelsets().tolist()
    [[1, 0], [1, 1]]
    """

    labelsets: Any

    def inequalities(self, labels: LabelNumbers) -> list[Inequality]:  # noqa: ARG002
        """Return none: it lists the labelsets."""
        return []

    def listed(self, labels: LabelNumbers) -> LabelMatrix:
        """Return the labelsets, once each."""
        given, names = self.labelsets, labels.names
        if (
            is_list(given)
            and isinstance(given, Collection)
            and all(isinstance(one, set | frozenset) for one in given)
        ):
            rows = np.zeros((len(given), len(names)), dtype=np.int8)
            for row, labelset in zip(rows, given, strict=True):
                row[[labels.one(label, self) for label in labelset]] = 1
        else:
            rows = check_label_matrix(
                given, name="Allowed(labelsets)", n_labels=len(names), label_names=names
            )
        if not len(rows):
            raise ValueError("Allowed(labelsets) must list at least one labelset, got none.")
        return np.unique(rows, axis=0)


def compile_constraints(constraints: Any, labels: int | Sequence[str]) -> LabelsetRules:
    """Return constraints as engines take them, after checking that some labelset obeys all.

    Parameters
    ----------
    constraints : Constraint or sequence of Constraint
        All of them hold.
    labels : int or sequence of str
        How many labels there are, or what they are called.

    Returns
    -------
    LabelsetRules
        ``allow(Y)`` tells which labelsets are allowed, ``n_allowed`` how many there are.

    Examples
    --------
    >>> from labelsure.engine import AtLeast, AtMost, compile_constraints
    >>> compile_constraints([AtMost(1, [0, 1]), AtLeast(2, [0, 1])], 3)
    Traceback (most recent call last):
    ...
    ValueError: No labelset obeys all constraints: AtLeast(k=2, labels=[0, 1]) contradicts ...
    """
    names = tuple(labels) if is_list(labels) else made_up_names(check_count(labels, name="labels"))
    given = list_constraints(constraints)
    rules = _combine(given, LabelNumbers(names))
    if _count(rules) == 0:
        first = next(
            n
            for n in range(1, len(given) + 1)
            if _count(_combine(given[:n], LabelNumbers(names))) == 0
        )
        before = "those before it" if first > 1 else "itself"
        raise ValueError(
            f"No labelset obeys all constraints: {given[first - 1]!r} contradicts {before}. Leave"
            f" one of them out."
        )
    return rules


def list_constraints(constraints: Any) -> list[Constraint]:
    """Return constraints as a list, one or several being given."""
    if isinstance(constraints, Constraint):
        return [constraints]
    given = list(constraints) if is_list(constraints) else [constraints]
    if not all(isinstance(one, Constraint) for one in given):
        raise ValueError(
            "constraints must be constraints such as labelsure.engine.Implies('spaniel', 'dog'), in"
            f" a list, got {constraints!r}."
        )
    return given


def broken_by(constraint: Constraint, Y: LabelMatrix, labels: Sequence[str]) -> IntArray:
    """Return the rows of labelsets that break a constraint."""
    return np.flatnonzero(~_combine([constraint], LabelNumbers(labels)).allow(Y))


def _combine(constraints: Sequence[Constraint], labels: LabelNumbers) -> LabelsetRules:
    inequalities = [part for one in constraints for part in one.inequalities(labels)]
    lists = [listed for one in constraints if (listed := one.listed(labels)) is not None]
    n_labels, rules = len(labels.names), None
    for listed in lists:
        allowed = listed if rules is None else listed[rules.allow(listed)]
        rules = LabelsetRules(n_labels, (), allowed)
    return LabelsetRules(
        n_labels, tuple(dict.fromkeys(inequalities)), None if rules is None else rules.listed
    )


def _count(rules: LabelsetRules) -> int:
    try:
        return rules.n_allowed
    except TooEntangledError as error:
        raise ValueError(
            "These constraints overlap so much that the labelsets they allow cannot be counted"
            f" ({error}). Leave some out, or list the labelsets with Allowed."
        ) from None

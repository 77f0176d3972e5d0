"""Taxonomies put examples into categories; engines count p-values within these.

P-values add up a category's counts over the folds; another guarantee decides about regions alone.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from labelsure._checks import (
    IntArray,
    LabelMatrix,
    MatrixLike,
    as_array,
    check_count,
    is_whole,
    shown,
)
from labelsure._random import DRAW_UNIT
from labelsure.conformal._merging import Merging
from labelsure.engine._composite import CategoryEngine, GroupedEngine
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import Empty, FoldEngine, make_engine
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Discounts, Energy, Overrides, Penalty

Categories = np.ndarray[tuple[int], np.dtype[Any]]

COMMON_BITS, COMMON_SMOOTHED_BITS = 40, 28
"""P-values of all categories have one denominator: a common one below 2^40 (2^28 beside draws), or
that power, with numerators rounded up."""

NO_SCORE = -(1 << 60)
"""Stands for a fold without calibration scores in a category: never counted."""

NO_MEMBER = -(1 << 55)
"""Below what any sum of weights makes up for."""


class Taxonomy(ABC):
    """A fixed rule, chosen before any data is seen, that puts every example into a category."""

    @abstractmethod
    def of_examples(self, X: MatrixLike, Y: LabelMatrix) -> Categories:
        """Return the category of each example."""


class LabelsetTaxonomy(Taxonomy):
    """A taxonomy that looks at labelsets alone."""

    @abstractmethod
    def all_categories(self, n_labels: int) -> Sequence[int]:
        """Return all categories of labelsets."""

    @abstractmethod
    def keep(self, energy: Energy, category: int, cost: int) -> Energy:
        """Return the energy with at least ``cost`` more for every labelset of another category."""

    def of_examples(self, X: MatrixLike, Y: LabelMatrix) -> Categories:  # noqa: ARG002
        """Return the category of each example's labelset."""
        return self.of_labelsets(Y)

    @abstractmethod
    def of_labelsets(self, Y: LabelMatrix) -> IntArray:
        """Return the category of each labelset."""

    def _keep_listed(self, energy: Energy, category: int) -> Energy:
        """Return the energy without the discounts and overrides of other categories."""
        discounts, overrides = energy.discounts, energy.overrides
        if discounts is not None:
            own = self.of_labelsets(discounts.labelsets) == category
            discounts = Discounts(discounts.labelsets[own], discounts.amounts[own])
        if overrides is not None:
            own = self.of_labelsets(overrides.labelsets) == category
            begin = np.searchsorted(
                overrides.owners()[own], np.arange(energy.n_objects + 1)
            ).astype(np.int64)
            overrides = Overrides(begin, overrides.labelsets[own], overrides.scores[own])
        return replace(energy, discounts=discounts, overrides=overrides)


@dataclass(frozen=True)
class ByCardinality(LabelsetTaxonomy):
    """The number of labels of the labelset.

    Attributes
    ----------
    at_most : int or None, default=None
        Labelsets with this many labels or more form one category. Numbers of labels that no
        calibration example has are categories without examples, in which every labelset has the
        p-value 1: ``at_most`` keeps regions small.

    Examples
    --------
    >>> import numpy as np
    >>> ByCardinality(at_most=2).of_labelsets(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1]])).tolist()
    [0, 1, 2]
    """

    at_most: int | None = None

    def of_labelsets(self, Y: LabelMatrix) -> IntArray:
        """Return the number of labels of each labelset, at most ``at_most``."""
        sizes: IntArray = Y.sum(axis=1, dtype=np.int64)
        return np.minimum(sizes, self._largest(Y.shape[1]))

    def all_categories(self, n_labels: int) -> Sequence[int]:
        """Return all categories of labelsets."""
        return range(self._largest(n_labels) + 1)

    def keep(self, energy: Energy, category: int, cost: int) -> Energy:
        """Return the energy with at least ``cost`` more for every labelset of another category."""
        sizes = np.minimum(np.arange(energy.n_labels + 1), self._largest(energy.n_labels))
        others = Penalty(np.where(sizes == category, 0, cost))
        penalty = others if energy.penalty is None else energy.penalty + others
        return replace(self._keep_listed(energy, category), penalty=penalty)

    def _largest(self, n_labels: int) -> int:
        return (
            n_labels
            if self.at_most is None
            else min(check_count(self.at_most, name="at_most"), n_labels)
        )


@dataclass(frozen=True)
class ByLabel(LabelsetTaxonomy):
    """Whether the labelset has one label.

    Attributes
    ----------
    label : int
        The label's number.

    Examples
    --------
    >>> import numpy as np
    >>> ByLabel(1).of_labelsets(np.array([[1, 0], [0, 1]])).tolist()
    [0, 1]
    """

    label: int

    def of_labelsets(self, Y: LabelMatrix) -> IntArray:
        """Return 1 for labelsets with the label and 0 for the others."""
        if not 0 <= check_count(self.label, name="label", at_least=0) < Y.shape[1]:
            raise ValueError(
                f"label must be the number of one of the {Y.shape[1]} labels, from 0, got"
                f" {self.label}."
            )
        own: IntArray = Y[:, self.label].astype(np.int64)
        return own

    def all_categories(self, n_labels: int) -> Sequence[int]:  # noqa: ARG002
        """Return all categories of labelsets."""
        return range(2)

    def keep(self, energy: Energy, category: int, cost: int) -> Energy:
        """Return the energy with at least ``cost`` more for every labelset of another category."""
        assert energy.link is None  # check_choices has refused square roots
        constant, unary = energy.constant.copy(), energy.unary.copy()
        unary[:, self.label] += cost if category == 0 else -cost
        if category == 1:
            constant += cost
        return replace(self._keep_listed(energy, category), constant=constant, unary=unary)


@dataclass(frozen=True)
class ByObject(Taxonomy):
    """A category of the user's own that looks at objects alone.

    Attributes
    ----------
    function : callable
        Takes X and returns one category per row: numbers or words.

    Examples
    --------
    >>> import numpy as np
    >>> taxonomy = ByObject(lambda X: X[:, 0] > 1)
    >>> taxonomy.of_examples(np.array([[0.0], [2.0]]), np.zeros((2, 1))).tolist()
    [False, True]
    """

    function: Callable[[MatrixLike], Any]

    def of_examples(self, X: MatrixLike, Y: LabelMatrix) -> Categories:
        """Return the category of each object."""
        if not callable(self.function):
            raise ValueError(
                "ByObject takes a function from X to one category per object, got"
                f" {shown(self.function)}."
            )
        categories = as_array(
            self.function(check_objects(X)), name="what the function returns", shape="(n_objects,)"
        )
        if categories.shape != (len(Y),):
            raise ValueError(
                f"The category function must return one category per object, {len(Y)} in all, got"
                f" an array of shape {categories.shape}."
            )
        return categories


def check_objects(X: MatrixLike) -> MatrixLike:
    """Return the objects, or raise ValueError where there are only outputs."""
    if X is None:
        raise ValueError(
            "Categories and weights of objects need the objects themselves: pass them as X."
        )
    return X


def check_taxonomy(mondrian: Any, label_names: Sequence[str] | None, n_labels: int) -> Taxonomy:
    """Return the taxonomy that a user asked for.

    Parameters
    ----------
    mondrian : "cardinality", int, callable or Taxonomy
        As in CrossConformalClassifier; also one of ``label_names``.
    label_names : sequence of str or None
        The labels' names, where they have some.
    n_labels : int
        How many there are.
    """
    taxonomy: Taxonomy
    if isinstance(mondrian, Taxonomy):
        taxonomy = mondrian
    elif isinstance(mondrian, str) and mondrian == "cardinality":
        taxonomy = ByCardinality()
    elif isinstance(mondrian, str) and mondrian in (label_names or ()):
        taxonomy = ByLabel(list(label_names or ()).index(mondrian))
    elif is_whole(mondrian):
        taxonomy = ByLabel(int(mondrian))
    elif callable(mondrian) and not isinstance(mondrian, type):
        taxonomy = ByObject(mondrian)
    else:
        raise ValueError(
            'mondrian must be "cardinality", the number or the name of a label, a function of X,'
            f" or one of ByCardinality, ByLabel and ByObject, got {mondrian!r}."
        )
    if isinstance(taxonomy, LabelsetTaxonomy):
        # refuses an unknown label
        taxonomy.of_labelsets(np.empty((0, n_labels), dtype=np.int8))
    return taxonomy


def category_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    taxonomy: LabelsetTaxonomy,
    merging: Merging,
    *,
    empty: Empty,
    **settings: Any,
) -> LabelsetEngine:
    """Return the engine of a taxonomy of labelsets: counts and sizes within categories.

    Parameters
    ----------
    folds : sequence of Fold
        For new objects.
    scores, categories : sequences of arrays
        Per fold, the calibration examples' scores and categories.
    taxonomy : LabelsetTaxonomy
        What they are categories of.
    merging : Merging
        Of the folds' counts in a category.
    empty : str
        Whether the empty labelset is "ordinary" or "excluded".
    **settings
        As in make_engine.
    """
    within = {
        category: [
            own[of_examples == category]
            for own, of_examples in zip(scores, categories, strict=True)
        ]
        for category in taxonomy.all_categories(folds[0].energy.n_labels)
    }
    sizes = {category: [len(own) for own in of_folds] for category, of_folds in within.items()}
    largest = 2 ** (COMMON_BITS if merging.smoothing is None else COMMON_SMOOTHED_BITS)
    denominator = min(math.lcm(*(sum(of_folds) + 1 for of_folds in sizes.values())), largest)
    parts = []
    for category, of_folds in within.items():
        kept = [
            _keep(*fold, taxonomy, category, first=k == 0)
            for k, fold in enumerate(zip(folds, of_folds, strict=True))
        ]
        weighing = _weigh_category(sizes[category], denominator, merging)
        at_level = merging.weighing_at(sizes[category])
        settings["weighing_at"] = at_level and partial(_decide, weighing_at=at_level)
        parts.append(
            FoldEngine(kept, allow_empty=empty == "ordinary", weighing=weighing, **settings)
        )
    return CategoryEngine(parts)


def grouped_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    groups: Categories,
    merging: Merging,
    **settings: Any,
) -> LabelsetEngine:
    """Return the engine of a taxonomy of objects: each meets its category's examples.

    Parameters
    ----------
    folds : sequence of Fold
        For new objects.
    scores, categories : sequences of arrays
        Per fold, the calibration examples' scores and categories.
    groups : array of shape (n_objects,)
        The new objects' categories.
    merging : Merging
        Of the folds' counts in a category.
    **settings
        As in make_engine.
    """
    engines, places = [], []
    for group in np.unique(groups):
        objects = np.flatnonzero(groups == group)
        within = [
            own[of_examples == group] for own, of_examples in zip(scores, categories, strict=True)
        ]
        kept = [
            Fold(_calibration(own), fold.energy.take(objects))
            for fold, own in zip(folds, within, strict=True)
        ]
        sizes, of_group = [len(own) for own in within], merging.take(objects)
        weighing, weighing_at = of_group.weighing(sizes), of_group.weighing_at(sizes)
        engines.append(make_engine(kept, weighing=weighing, weighing_at=weighing_at, **settings))
        places.append(objects)
    return GroupedEngine(engines, places)


def _calibration(scores: IntArray) -> IntArray:
    return np.sort(scores if len(scores) else np.array([NO_SCORE]))


def _keep(
    fold: Fold, within: IntArray, taxonomy: LabelsetTaxonomy, category: int, *, first: bool
) -> Fold:
    """Return the fold in which labelsets of other categories are stranger than everything.

    The first fold gets one calibration score above all of the category's own: where it is not
    counted, the labelset is of another category, and where it is, it stands for the new object,
    which the p-value counts too.
    """
    highest = fold.energy.upper_bound() + 1
    calibration = _calibration(np.append(within, highest) if first else within)
    beyond = max(int(calibration[-1]), highest) - fold.energy.lower_bound() + 1
    return Fold(calibration, taxonomy.keep(fold.energy, category, beyond))


def _weigh_category(sizes: Sequence[int], denominator: int, merging: Merging) -> Weighing:
    """Return the weighing of a category's counts into numerators over the common denominator."""
    # exact where the denominator is a multiple, else rounded up
    share = -(-denominator // (sum(sizes) + 1))
    weights = np.tile(share * np.arange(max(sizes) + 2), (len(sizes), 1))
    nothing = np.zeros(len(merging.draws), dtype=np.int64)
    weighing = Weighing.ruled(weights, nothing, denominator)
    if merging.smoothing is None:
        return weighing
    rest = DRAW_UNIT - merging.smoothing
    # the first fold's score above all others counts u + (1 - u), and the new object only u
    return replace(
        weighing,
        start=-share * rest,
        denominators=weighing.denominators * DRAW_UNIT,
        at_least=merging.smoothing,
        above=rest,
    )


def _decide(significance: Fraction, *, weighing_at: Callable[[Fraction], Weighing]) -> Weighing:
    """Return the weighing at a level where the first fold has one more score."""
    weighing = weighing_at(significance)
    weights = np.pad(weighing.weights, ((0, 0), (0, 1)), mode="edge")
    weights[0, 1:] = weighing.weights[0]
    weights[0, 0] = NO_MEMBER
    return replace(weighing, weights=weights)

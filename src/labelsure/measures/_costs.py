"""Scores as integers: costs are rounded once, before anything is added.

Integer sums do not depend on their order, so calibration, brute force, search and threads agree to
the last bit, and scores that are equal on paper are equal in memory. With float sums, discrete
learners such as k-NN break their ties at random and get wrong p-values.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
from labelsure.measures._energy import Discounts, Energy, Maximum, Overrides, Penalty, SquareRoot

FINEST_EXPONENT = 40
"""A cost of 1 becomes at most 2^40: twelve decimal digits, more than outputs carry."""

COARSEST_EXPONENT = 20
"""Below 2^20 per unit, rounding could merge costs that a user would tell apart."""

SCORE_BITS = 50
"""Scores stay below 2^50, so that their sum over up to 2^12 folds fits an int64."""

LARGEST_SHIFT = 12
"""The largest shift under the square root, whose result has half the digits of the sum."""

ROUNDING = 1.01
"""What bounds are raised by: rounding to integers adds far less than a hundredth."""

BLOCK_ROWS = 2**15
"""Labelsets with scores of their own that are looked at together, to bound memory."""

TOO_LARGE = (
    "The costs of a measure reach {:.6g}, more than the {:.6g} that its _learn returned."
    " Let _learn return a number that no labelset's score can exceed, and costs be finite."
)
"""What is wrong with costs."""

Form: TypeAlias = Literal["sum", "root", "maximum", "none"]
"""What the costs of labels become: a sum, its square root, the largest one; or there are none."""


def choose_exponent(largest_score: float, *, root: bool = False) -> int:
    """Return e such that scores up to ``largest_score`` in units of 2^-e are exact in int64.

    Parameters
    ----------
    largest_score : float
        An upper bound of the magnitude of any labelset's score and of its partial sums.
    root : bool
        Whether scores are square roots of sums.

    Examples
    --------
    >>> choose_exponent(14.0), choose_exponent(2.0**20), choose_exponent(14.0, root=True)
    (40, 29, 27)
    """
    if root:
        exponent = (_exponent_below_root(largest_score) + LARGEST_SHIFT) // 2
        limit = math.sqrt(2.0 ** (SCORE_BITS + LARGEST_SHIFT - 2 * COARSEST_EXPONENT) / ROUNDING)
    else:
        exponent = min(FINEST_EXPONENT, SCORE_BITS - math.frexp(largest_score)[1])
        limit = 2.0 ** (SCORE_BITS - COARSEST_EXPONENT)
    if exponent < COARSEST_EXPONENT or not math.isfinite(largest_score):
        raise ValueError(
            f"Scores may be as large as {largest_score:.3g}, which leaves too few digits for exact"
            f" integer sums. Choose weights or penalties that keep scores below {limit:.3g}; for a"
            " distance whose residuals hardly vary, pass normalised=True or a larger shrinkage."
        )
    return exponent


def _exponent_below_root(largest_score: float) -> int:
    """Return the exponent of the sum that scores are the square roots of."""
    return SCORE_BITS - math.frexp(ROUNDING * largest_score**2)[1]


def to_fixed_point(costs: Any, exponent: int) -> IntArray:
    """Return ``costs`` in units of 2^-exponent, rounded to the nearest integer.

    Examples
    --------
    >>> import numpy as np
    >>> to_fixed_point(np.array([0.5, 1.0]), 3).tolist()
    [4, 8]
    """
    # exact as np.ldexp is, in a tenth of the time
    units = np.rint(np.multiply(costs, 2.0**exponent))
    if not np.isfinite(units).all():
        raise ValueError(
            "The costs and scores of a measure must be finite numbers, got NaN or infinity among"
            " them."
        )
    fixed: IntArray = units.astype(np.int64)
    return fixed


@dataclass(frozen=True, eq=False)
class OwnScores:
    """Labelsets with scores of their own, which count instead of what a measure's other costs say.

    Attributes
    ----------
    labelsets : int8 array of shape (E, q)
        Zeros and ones. None twice, or none twice for one object.
    scores : array of shape (E,), or a function
        Their scores. A function gets what the other costs say of each, an array of shape (E,), and
        returns the scores: for scores that change the general one instead of replacing it.
    sizes : int array of shape (n,) or None
        How many of the labelsets belong to each object, those of the first one coming first. None:
        the same labelsets and scores for all objects, stored once. Then the other costs must be the
        same for all objects too, and scores above what these say are lowered to it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import Costs, OwnScores
    >>> seen = np.array([[1, 0], [0, 1]])
    >>> costs = Costs(constant=3.0, overrides=OwnScores(seen, np.array([0.0, 1.5])))
    """

    labelsets: LabelMatrix | IntArray
    scores: FloatArray | Callable[[FloatArray], FloatArray]
    sizes: IntArray | None = None

    def put_into(self, general: Energy, exponent: int, bound: float) -> Energy:
        """Return the energy with these scores as overrides or, if shared, as discounts."""
        labelsets, n_objects = np.asarray(self.labelsets, dtype=np.int8), len(general.constant)
        if self.sizes is None and n_objects != 1:
            raise ValueError(
                "OwnScores without sizes are for costs that are the same for all objects: give"
                " one row."
            )
        sizes = np.array([len(labelsets)]) if self.sizes is None else self.sizes
        if np.shape(sizes) != (n_objects,) or np.sum(sizes) != len(labelsets):
            raise ValueError(
                f"sizes must say for each of {n_objects} objects how many of the {len(labelsets)}"
                f" labelsets"
                f" are its own, got an array of shape {np.shape(sizes)} and sum {np.sum(sizes)}."
            )
        plain = np.zeros(len(labelsets), dtype=np.int64)
        if self.sizes is None or callable(self.scores):
            owners = np.repeat(np.arange(n_objects), sizes)
            for start in range(0, len(owners), BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                plain[rows] = general.scores(labelsets[rows], objects=owners[rows])
        scores = (
            self.scores(np.ldexp(plain.astype(np.float64), -exponent))
            if callable(self.scores)
            else self.scores
        )
        own = to_fixed_point(scores, exponent)
        if (
            own.shape != plain.shape
            or np.abs(own).max(initial=0) > np.ldexp(ROUNDING * bound, exponent) + 1
        ):
            raise ValueError(
                f"OwnScores must have one score for each of {len(plain)} labelsets, none larger"
                f" than the {bound:.6g} that the measure's _learn returned, got shape {own.shape}."
            )
        if self.sizes is None:
            # sums of rounded costs may be a few units below the rounded whole where both are equal
            # on paper
            return replace(general, discounts=Discounts(labelsets, np.maximum(plain - own, 0)))
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return replace(general, overrides=Overrides(begin, labelsets, own))


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of the labelsets of n objects in floats: a measure's answer before rounding.

    The score of the labelset with indicator t for object i is::

        sum(constant_i) + sum_j (on_ij if t_j = 1 else off_ij) + sum_{j<r} pairwise_jr t_j t_r
        + by_cardinality[sum_j t_j] + per_distance * min over anchors u of #{j: t_j != u_j}

    where the first line may be under a square root or, without constant and pairs, a maximum
    instead of a sum: see :attr:`Measure.form`. Each number is rounded before any are added.

    Attributes
    ----------
    off, on : arrays of shape (n, q) or (q,), or None
        What each label costs when it is off, and when it is on; one row stands for all objects,
        None for zeros.
    constant : float, array of shape (n,) or (n, k), or None
        What all labelsets of an object pay, or k terms of it; a single row stands for all objects.
    pairwise : array of shape (q, q) or (n, q, q), iterable of n (q, q) arrays, or None
        What two labels add when both are on, for all objects or for each; only entries above the
        diagonal count. An iterable takes less memory.
    by_cardinality : array of shape (q + 1,) or None
        What labelsets with 0, 1, ..., q labels pay; not negative, not under the root.
    anchors : int8 array of shape (A, q) or None
        Labelsets; each labelset pays for its distance to the nearest of them.
    per_distance : float
        What it pays per label that differs; not negative, not under the root.
    overrides : OwnScores or None
        Labelsets with scores of their own instead.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import Costs
    >>> outputs = np.array([[0.9, 0.2]])
    >>> costs = Costs(off=outputs, on=1 - outputs, by_cardinality=np.array([1.0, 0.0, 0.5]))
    """

    off: FloatArray | None = None
    on: FloatArray | None = None
    constant: float | FloatArray | None = None
    pairwise: FloatArray | Iterable[FloatArray] | None = None
    by_cardinality: FloatArray | None = None
    anchors: LabelMatrix | None = None
    per_distance: float = 0.0
    overrides: OwnScores | None = None

    def energy(self, shape: tuple[int, int], exponent: int, *, form: Form, bound: float) -> Energy:
        """Return the energy of these costs, all rounded to whole numbers of 2^-exponent.

        Parameters
        ----------
        shape : (n_objects, n_labels)
        form : {"sum", "root", "maximum", "none"}
            What becomes of the costs of labels.
        bound : float
            No score is larger in magnitude, nor is a partial sum of one.
        """
        n_objects, n_labels = shape
        checked = self._check(shape, form, bound)
        below = min(2 * exponent, _exponent_below_root(bound)) if form == "root" else exponent
        pairwise = None if self.pairwise is None else _round_pairs(self.pairwise, shape, below)
        per_object = pairwise is not None and pairwise.ndim == 3
        shared = not per_object and all(len(rows) == 1 for rows in checked)
        rows_shape = (1 if shared else n_objects, n_labels)
        terms, off, on = (to_fixed_point(rows, below) for rows in checked)
        constant: IntArray = terms.sum(axis=1)
        by_cardinality: IntArray | None = None
        if self.by_cardinality is not None:
            by_cardinality = to_fixed_point(self.by_cardinality, exponent)
        general = Energy(
            np.zeros(rows_shape[0], dtype=np.int64), np.zeros(rows_shape, dtype=np.int64)
        )
        if form == "none" and self.constant is not None:
            # a penalty, so that no link of another measure applies to it
            flat = np.full(n_labels + 1, constant[0], dtype=np.int64)
            by_cardinality = flat if by_cardinality is None else flat + by_cardinality
        elif form == "maximum":
            maximum = Maximum(_repeat(off, rows_shape), _repeat(on, rows_shape))
            general = replace(general, maxima=(maximum,))
        elif form != "none":
            link = SquareRoot(2 * exponent - below) if form == "root" else None
            empty = _repeat(constant + off.sum(axis=1), rows_shape[:1])
            general = Energy(empty, _repeat(on - off, rows_shape), pairwise=pairwise, link=link)
        if by_cardinality is not None or self.anchors is not None:
            per_distance = int(to_fixed_point(self.per_distance, exponent))
            general = replace(general, penalty=Penalty(by_cardinality, self.anchors, per_distance))
        own = self.overrides
        if own is not None and own.sizes is None:
            general = own.put_into(general, exponent, bound)
        if len(general.constant) != n_objects:
            general = general.take(np.zeros(n_objects, dtype=np.int64))
        if own is not None and own.sizes is not None:
            general = own.put_into(general, exponent, bound)
        return general

    def _check(self, shape: tuple[int, int], form: Form, bound: float) -> list[FloatArray]:
        """Return constant, off and on as rows of terms, or say what is wrong with them."""
        n_objects, n_labels = shape
        constant = (
            np.zeros((1, 1))
            if self.constant is None
            else np.asarray(self.constant, dtype=np.float64)
        )
        parts = [constant.reshape(-1, 1) if constant.ndim < 2 else constant]
        for name, part in (("off", self.off), ("on", self.on)):
            rows = np.zeros((1, n_labels)) if part is None else np.atleast_2d(part)
            if rows.ndim != 2 or rows.shape[1] != n_labels:
                raise ValueError(
                    f"{name} must have shape {shape} or ({n_labels},), got {rows.shape}."
                )
            parts.append(rows)
        wrong = [len(part) for part in parts if len(part) not in (1, n_objects)]
        if wrong:
            raise ValueError(
                f"Costs must have one row for each of {n_objects} objects, or one for all, got"
                f" {wrong[0]}."
            )
        if form == "none" and not (self.off is None and self.on is None and self.pairwise is None):
            raise ValueError(
                'A measure whose form is "none" has no costs of labels: declare another form.'
            )
        if form == "none" and len(parts[0]) != 1:
            raise ValueError(
                'A measure whose form is "none" costs the same for all objects: give one constant.'
            )
        if form == "maximum" and not (self.constant is None and self.pairwise is None):
            raise ValueError(
                'A measure whose form is "maximum" has costs of single labels only: declare'
                " another form."
            )
        # what no sum of costs exceeds in magnitude, pairs of single objects left out
        terms, off, on = (np.abs(part) for part in parts)
        largest = np.maximum(off, on)
        others = (
            form in ("root", "maximum")
            or self.pairwise is not None
            or self.by_cardinality is not None
        )
        at_most = terms.max(initial=0.0) * terms.shape[1] + largest.max(initial=0.0) * n_labels
        if not (others or self.per_distance) and at_most <= bound:
            return parts  # seen without a sum for each object
        per_object = terms.sum(axis=1) + (
            largest.max(axis=1) if form == "maximum" else largest.sum(axis=1)
        )
        reach = float(per_object.max(initial=0.0))
        if isinstance(self.pairwise, np.ndarray) and self.pairwise.ndim == 2:
            reach += float(np.abs(np.triu(self.pairwise, 1)).sum())
        reach = math.sqrt(reach) if form == "root" else reach
        by_cardinality = (
            0.0 if self.by_cardinality is None else float(np.abs(self.by_cardinality).max())
        )
        reach += by_cardinality + abs(float(self.per_distance)) * n_labels
        if not reach <= ROUNDING * bound + 2.0**-FINEST_EXPONENT:
            raise ValueError(TOO_LARGE.format(reach, bound))
        return parts


def _repeat(part: IntArray, shape: tuple[int, ...]) -> IntArray:
    """Return a part of this shape, one row standing for all."""
    return part if len(part) == shape[0] else np.ascontiguousarray(np.broadcast_to(part, shape))


def _round_pairs(
    pairwise: FloatArray | Iterable[FloatArray], shape: tuple[int, int], exponent: int
) -> IntArray:
    """Return what is above the diagonal of one matrix, or of one for each object."""
    if isinstance(pairwise, np.ndarray) and pairwise.ndim == 2:
        return to_fixed_point(np.triu(pairwise, 1), exponent)
    pairs = np.empty((*shape, shape[1]), dtype=np.int64)
    # one by one: as floats, all at once, they take much memory
    for own, matrix in zip(pairs, pairwise, strict=True):
        own[:] = to_fixed_point(np.triu(matrix, 1), exponent)
    return pairs

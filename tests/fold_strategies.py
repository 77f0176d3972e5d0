"""Hypothesis strategies for folds full of ties, zeros and extremes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._weighing import ObjectWeighing, Weighing
from labelsure.measures._energy import Energy, Overrides, Penalty, SquareRoot
from labelsure.measures._labelset_bits import decode

LARGEST_COST = 2**43
"""With up to 10 labels, 56 costs: scores stay below the 2^50 that fixed point promises."""

COSTS = st.sampled_from(
    [
        st.integers(0, 0),
        st.integers(-1, 1),
        st.integers(-3, 9),
        st.integers(-LARGEST_COST, LARGEST_COST),
        st.sampled_from([-LARGEST_COST, -1, 0, 1, LARGEST_COST - 1, LARGEST_COST]),
    ]
)
"""Kinds of costs: only ties, many ties, few ties, huge spans, tiny differences on huge spans."""


def plain_weighing(at_least, above):
    """Return what kernels take where counts are added up: no weights."""
    return ObjectWeighing(at_least, at_least, above, np.empty((0, 0), dtype=np.int64))


def weighing_of(folds, draws=None):
    """Return the plain weighing, or the smoothed one."""
    n_calibration = sum(len(fold.calibration) for fold in folds)
    if draws is None:
        return Weighing.plain(n_calibration, folds[0].energy.n_objects)
    return Weighing.smoothed(n_calibration, draws)


@st.composite
def energies(draw, n_objects, n_labels):
    """An energy with costs of any sign, with or without pairs, of all objects or of each.

    What stands below the diagonal must not matter.
    """
    constant = draw(arrays(np.int64, n_objects, elements=draw(COSTS)))
    unary = draw(arrays(np.int64, (n_objects, n_labels), elements=draw(COSTS)))
    shape = draw(st.sampled_from([(n_labels, n_labels), (n_objects, n_labels, n_labels)]))
    pairwise = draw(st.none() | arrays(np.int64, shape, elements=draw(COSTS)))
    return Energy(constant, unary, pairwise)


NOT_NEGATIVE = COSTS.map(lambda elements: elements.map(abs))


@st.composite
def penalties(draw, n_labels):
    """A penalty by number of labels, by distance from some labelsets, or both."""
    by_cardinality = draw(st.none() | arrays(np.int64, n_labels + 1, elements=draw(NOT_NEGATIVE)))
    anchors = draw(arrays(np.int8, (draw(st.integers(1, 4)), n_labels), elements=st.integers(0, 1)))
    per_distance = draw(draw(NOT_NEGATIVE))
    return (
        Penalty(by_cardinality, anchors, per_distance)
        if draw(st.booleans())
        else Penalty(by_cardinality)
    )


@st.composite
def overrides(draw, n_objects, n_labels):
    """Up to four labelsets with scores of their own per object."""
    codes = [
        draw(st.lists(st.integers(0, 2**n_labels - 1), max_size=4, unique=True).map(np.array))
        for _ in range(n_objects)
    ]
    begin = np.cumsum([0, *map(len, codes)])
    scores = draw(arrays(np.int64, int(begin[-1]), elements=draw(COSTS)))
    return Overrides(begin, decode(np.concatenate(codes).astype(np.int64), n_labels), scores)


@st.composite
def full_energies(draw, n_objects, n_labels):
    """An energy with or without pairs, a link, a penalty and overrides."""
    plain = draw(energies(n_objects, n_labels))
    return Energy(
        plain.constant,
        plain.unary,
        plain.pairwise,
        draw(st.none() | st.integers(0, 12).map(SquareRoot)),
        draw(st.none() | penalties(n_labels)),
        draw(st.none() | overrides(n_objects, n_labels)),
    )


@st.composite
def calibrations(draw, energy, max_size=7):
    """Calibration scores that tie with labelsets' scores, differ by one, are equal, or far away."""
    n_scores = draw(st.integers(1, max_size))
    objects = draw(arrays(np.int64, n_scores, elements=st.integers(0, energy.n_objects - 1)))
    labelsets = draw(arrays(np.int64, (n_scores, energy.n_labels), elements=st.integers(0, 1)))
    scores = energy.take(objects).scores(labelsets) + draw(
        arrays(np.int64, n_scores, elements=st.integers(-1, 1))
    )
    kind = draw(
        st.sampled_from(
            ["as they are", "all equal", "low outlier", "high outlier", "far below", "far above"]
        )
    )
    if kind == "all equal":
        scores[:] = scores[0]
    elif kind in ("low outlier", "high outlier"):
        scores[0] = 2**49 if kind == "high outlier" else -(2**49)
    elif kind in ("far below", "far above"):
        scores += 2**49 if kind == "far above" else -(2**49)
    return np.sort(scores)


@st.composite
def fold_lists(draw, labels=(1, 5), folds=(1, 5), objects=(1, 3), kind=energies):
    """Folds of unequal sizes for the same objects; pairwise costs in some, or a common energy."""
    n_labels, n_folds, n_objects = (
        draw(st.integers(*bounds)) for bounds in (labels, folds, objects)
    )
    drawn = [draw(kind(n_objects, n_labels)) for _ in range(n_folds)]
    if draw(st.integers(0, 5)) == 5:
        drawn = drawn[:1] * n_folds
    return [Fold(draw(calibrations(energy)), energy) for energy in drawn]


def smoothing(n_objects):
    """Draws of smoothed p-values, with extremes, or None if p-values are not smoothed."""
    elements = st.sampled_from([1, 2, DRAW_UNIT // 2, DRAW_UNIT - 1, DRAW_UNIT]) | st.integers(
        1, DRAW_UNIT
    )
    return st.none() | arrays(np.int64, n_objects, elements=elements)

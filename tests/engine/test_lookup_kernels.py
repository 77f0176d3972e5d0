"""Look-ups of calibration scores equal binary searches and definitions."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from fold_strategies import fold_lists, full_energies, plain_weighing
from labelsure._random import DRAW_UNIT
from labelsure.engine import _lookup_kernels
from labelsure.engine._fold_arrays import FAR, FoldArrays
from labelsure.engine._p_values import count_at_least
from labelsure.measures._energy import SquareRoot
from labelsure.measures._labelset_bits import decode

LARGEST_ROOT = 2**31 - 1


@given(st.integers(-5, 2**62 - 1))
@example(2**62 - 1)
@example(2**53 + 1)
def test_integer_square_root_is_exact(square):
    assert _lookup_kernels.integer_square_root(square) == math.isqrt(max(square, 0))


@given(
    st.integers(0, LARGEST_ROOT) | st.integers(LARGEST_ROOT - 1000, LARGEST_ROOT),
    st.integers(-2, 2),
)
@example(LARGEST_ROOT, 0)
@example(94906266, -1)  # the first squares that floats cannot tell apart
def test_integer_square_root_is_exact_near_squares(root, beside):
    square = root * root + beside
    assert _lookup_kernels.integer_square_root(square) == math.isqrt(max(square, 0))


@pytest.mark.parametrize("link", range(13))
@pytest.mark.parametrize("beside", [-290608, -3, 0, 5])
def test_final_scores_of_what_is_out_of_reach_are_the_highest(link, beside):
    """They would overflow, and the search for a root of that may never end."""
    highest = _lookup_kernels.final_score(2**50 - 1, 7, link)
    assert (
        _lookup_kernels.final_score(FAR + beside, 7, link)
        == highest
        == math.isqrt((2**50 - 1) << link) + 7
    )


@given(st.integers(-(2**50), 2**50 - 1), st.integers(0, 2**40), st.integers(-1, 12))
def test_final_score_is_link_plus_penalty(additive, penalty, link):
    linked = additive if link < 0 else int(SquareRoot(link)(np.array([additive]))[0])
    assert _lookup_kernels.final_score(additive, penalty, link) == linked + penalty


def scores_worth_asking(data, folds):
    """Return one score per fold: on a calibration score, beside one, or far from all."""
    near = [
        data.draw(st.sampled_from(fold.calibration.tolist())) + data.draw(st.integers(-1, 1))
        for fold in folds
    ]
    far = [data.draw(st.integers(-(2**51), 2**51)) for _ in folds]
    return np.array([data.draw(st.sampled_from(pair)) for pair in zip(near, far, strict=True)])


@given(st.data(), fold_lists(labels=(1, 3), folds=(1, 5), objects=(1, 1)))
def test_counts_equal_calibrations(data, folds):
    """Also for scores below every bound of the energy, which bounds of searches reach."""
    tables = FoldArrays(folds).tables
    scores = scores_worth_asking(data, folds)
    expected = [
        int(count_at_least(fold.calibration, scores[[k]])[0]) for k, fold in enumerate(folds)
    ]
    more = data.draw(arrays(np.int64, len(folds), elements=st.integers(-9, 9)))
    assert _lookup_kernels.count_additive(scores - more, more, tables) == sum(expected)


@settings(max_examples=60)
@given(st.data(), fold_lists(labels=(1, 4), folds=(1, 5), objects=(1, 1), kind=full_energies))
def test_weigh_equals_reference(data, folds):
    general = [type(fold)(fold.calibration, fold.energy.general_form()) for fold in folds]
    tables = FoldArrays(general).tables
    n_labels = folds[0].energy.n_labels
    labelset = decode(np.array([data.draw(st.integers(0, 2**n_labels - 1))]), n_labels)
    additive, penalty = additive_and_penalty(general, labelset)
    more = data.draw(arrays(np.int64, len(folds), elements=st.integers(-9, 9)))
    draw = data.draw(
        st.sampled_from([None, 1, DRAW_UNIT - 1, DRAW_UNIT]) | st.integers(1, DRAW_UNIT)
    )
    weights = (1, 0) if draw is None else (draw, DRAW_UNIT - draw)
    expected = labelset_reference.numerator(
        general, 0, labelset[0].tolist(), at_least=weights[0], above=weights[1]
    )
    weighing = plain_weighing(*weights)
    assert _lookup_kernels.weigh(additive - more, more, penalty, weighing, tables) == expected


def additive_and_penalty(folds, labelset):
    """Return the additive score and the penalty of one labelset of object 0 in each fold."""
    additive, penalty = [], []
    for fold in folds:
        energy = fold.energy
        own = labelset_reference.score(
            type(fold)(fold.calibration, plain_part(energy)), 0, labelset[0].tolist()
        )
        additive.append(own)
        penalty.append(0 if energy.penalty is None else int(energy.penalty.costs(labelset)[0]))
    return np.array(additive), np.array(penalty)


def plain_part(energy):
    return type(energy)(energy.constant, energy.unary, energy.pairwise)


@settings(max_examples=60)
@given(st.data(), fold_lists(labels=(1, 2), folds=(1, 4), objects=(1, 1)), st.integers(0, 2))
def test_highest_score_is_the_last_with_the_numerator(data, folds, kind):
    tables, sizes = FoldArrays(folds).tables, [len(fold.calibration) for fold in folds]
    weights = np.tile(np.arange(max(sizes) + 1) * 3, (len(folds), 1))
    empty = plain_weighing(1, 0)
    weighing = [
        empty,
        plain_weighing(7, DRAW_UNIT - 7),
        empty._replace(weights=weights),
    ][kind]
    nothing = np.zeros(len(folds), dtype=np.int64)

    def numerator(score):
        return _lookup_kernels.weigh(nothing + score, nothing, nothing, weighing, tables)

    values = sorted({int(value) for fold in folds for value in fold.calibration})
    scores = [value + beside for value in values for beside in (-1, 0, 1)]
    wanted = data.draw(st.sampled_from([numerator(score) for score in scores])) + data.draw(
        st.integers(-1, 1)
    )
    found = _lookup_kernels.highest_score(wanted, nothing.copy(), nothing, weighing, tables)
    reaching = [score for score in scores if numerator(score) >= wanted]
    if numerator(values[-1] + 1) >= wanted:
        assert found == FAR
    elif not reaching:
        assert found == -FAR
    else:
        assert found == max(reaching)

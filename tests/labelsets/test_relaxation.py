"""Pairwise costs made convex: no negative values, and what single flips keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets._relaxation import relax_pairs

from quadratic_forms import precision_matrix

COSTS = st.sampled_from([st.integers(-1, 1), st.integers(-9, 9), st.integers(-(2**43), 2**43)])


@st.composite
def pairs_and_scales(draw):
    n_labels = draw(st.integers(1, 6))
    upper = np.triu(draw(arrays(np.int64, (n_labels, n_labels), elements=draw(COSTS))), 1)
    scale = draw(arrays(np.float64, n_labels, elements=st.sampled_from([0.0, 1.0, 1e3, 1e13])))
    return upper + upper.T, scale


def least_values(pairs, diagonal):
    """Return the least value of f' A f and, for each label, its least value where f_i = 1, by linear algebra."""
    form = pairs / 2 + np.diag(diagonal)
    others = [np.delete(np.arange(len(form)), i) for i in range(len(form))]
    schur = [
        form[i, i] - form[i, rest] @ np.linalg.pinv(form[np.ix_(rest, rest)], hermitian=True) @ form[rest, i]
        for i, rest in enumerate(others)
    ]
    return np.linalg.eigvalsh(form)[0], np.array(schur)


@given(pairs_and_scales())
def test_relaxed_forms_are_convex_and_keep_their_gains(case):
    pairs, scale = case
    diagonal, gain = relax_pairs(pairs, scale)
    size = np.abs(pairs).sum() + diagonal.sum() + 1
    lowest, with_label = least_values(pairs, diagonal)
    assert lowest >= -1e-12 * size
    assert (gain <= with_label + 1e-9 * size).all()
    assert ((gain >= 0) & (gain <= diagonal)).all()
    for whole in (diagonal, gain):
        assert (whole == np.floor(whole)).all()


@given(pairs_and_scales())
def test_labels_without_pairs_are_left_alone(case):
    pairs, scale = case
    pairs[0] = pairs[:, 0] = 0
    diagonal, gain = relax_pairs(pairs, scale)
    assert diagonal[0] == gain[0] == 0
    alone = relax_pairs(pairs[1:, 1:], scale[1:])
    assert np.array_equal(diagonal[1:], alone[0])
    assert np.array_equal(gain[1:], alone[1])


@pytest.mark.parametrize("seed", range(4))
def test_relaxed_mahalanobis_forms_need_little(seed):
    """Well below the diagonal of the precision matrix, which makes the form convex, too; and half of it is gained."""
    rng = np.random.default_rng(seed)
    precision = precision_matrix(rng, 40, strength=0.3) * 2.0**20
    scale = np.diag(precision)
    diagonal, gain = relax_pairs(np.rint(2 * precision).astype(np.int64), scale)
    assert np.mean(diagonal / scale) < 0.75
    assert np.mean(gain / diagonal) > 0.5

"""Online p-values by definition: independent and uniform if scores are exchangeable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, spearmanr

from labelsure.metrics import OnlinePValues, online_p_values

FALSE_ALARM = 1e-4

SCORES = st.one_of(
    st.lists(st.integers(0, 3), max_size=12),
    st.lists(st.sampled_from([-(2**63), 2**62, 2**62 + 1, 2**63 - 1, 0]), max_size=12),
    st.lists(st.sampled_from([0.5, -0.0, 0.0, 1e-300, np.inf, -np.inf, 7.0]), max_size=12),
    st.lists(st.sampled_from([1, 2.5, 3, np.float64(3.0), np.int64(1)]), max_size=12),
)
"""Ties, whole numbers that floats cannot tell apart, infinities, and both kinds of numbers."""


def slow_p_values(scores, draws):
    p_values = []
    for n, (score, u) in enumerate(zip(scores, draws, strict=True), start=1):
        seen = scores[:n]
        p_values.append(
            (sum(one > score for one in seen) + u * sum(one == score for one in seen)) / n
        )
    return p_values


@given(scores=SCORES, seed=st.integers(0, 9))
def test_online_p_values_are_those_of_the_definition(scores, seed):
    draws = 1 - np.random.RandomState(seed).random_sample(len(scores))
    p_values = online_p_values(scores, random_state=seed)
    assert p_values.dtype == np.float64
    assert p_values.tolist() == pytest.approx(slow_p_values(scores, draws), rel=1e-14)


@given(scores=SCORES, cut=st.integers(0, 12))
def test_online_p_values_do_not_depend_on_how_scores_arrive(scores, cut):
    whole = online_p_values(scores, random_state=3).tolist()
    assert online_p_values(scores[:cut], random_state=3).tolist() == whole[:cut]
    arriving = OnlinePValues(random_state=3)
    assert [
        *arriving.update_many(scores[:cut]).tolist(),
        *map(arriving.update, scores[cut:]),
    ] == whole
    assert len(arriving) == len(scores)


@pytest.mark.parametrize("ties", [False, True])
def test_online_p_values_are_independent_and_uniform(ties):
    """4 000 exchangeable sequences of 8 scores; false-alarm rate at most (8 + 7) 1e-4."""
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 3, (4000, 8)) if ties else rng.random((4000, 8))
    scores = scores + rng.integers(0, 9, (4000, 1))  # exchangeable, not independent
    p_values = np.array([online_p_values(row, random_state=rng.integers(2**31)) for row in scores])
    for n in range(8):
        assert kstest(p_values[:, n], "uniform").pvalue > FALSE_ALARM
    for n in range(7):
        assert spearmanr(p_values[:, n], p_values[:, n + 1]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (3.0, r"scores must have shape \(n,\), one per example, got shape \(\)"),
        ([[1, 2]], r"got shape \(1, 2\)"),
        ([1, np.nan], "scores must be numbers, got nan at position 1"),
        (np.array([1.0, np.nan]), "got nan at position 1"),
        ([1, None], "got None at position 1"),
        (["3"], "got '3' at position 0"),
        (np.array(["3"]), "got '3' at position 0"),
        ([True], "got True at position 0"),
        (np.array([1j]), "got 1j at position 0"),
    ],
    ids=str,
)
def test_online_p_values_refuse(scores, message):
    with pytest.raises(ValueError, match=message):
        online_p_values(scores)
    arriving = OnlinePValues(random_state=0)
    with pytest.raises(ValueError, match=message):
        arriving.update_many(scores)
    assert len(arriving) == 0

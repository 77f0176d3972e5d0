"""Energies and calibrations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from fold_strategies import COSTS, energies, full_energies
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._p_values import count_at_least
from labelsure.measures._energy import Energy, Overrides, Penalty, SquareRoot
from labelsure.measures._labelset_bits import decode

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5))
ENERGIES = SHAPES.flatmap(lambda shape: energies(*shape))
FULL_ENERGIES = SHAPES.flatmap(lambda shape: full_energies(*shape))


def transcription(energy, i, t):
    """constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r, in Python's own integers."""
    total = int(energy.constant[i]) + sum(
        int(energy.unary[i, j]) * int(t[j]) for j in range(energy.n_labels)
    )
    if energy.pairwise is not None:
        pairwise = energy.pairwise if energy.pairwise.ndim == 2 else energy.pairwise[i]
        for r in range(energy.n_labels):
            for j in range(r):
                total += int(pairwise[j, r]) * int(t[j]) * int(t[r])
    return total


@given(ENERGIES)
def test_scores_equal_transcription(energy):
    for labelset in decode(np.arange(2**energy.n_labels), energy.n_labels):
        scores = energy.scores(np.tile(labelset, (energy.n_objects, 1)))
        assert scores.dtype == np.int64
        assert scores.tolist() == [
            transcription(energy, i, labelset) for i in range(energy.n_objects)
        ]


@given(ENERGIES, st.data())
def test_scores_take_one_labelset_per_object(energy, data):
    shape = (energy.n_objects, energy.n_labels)
    for kind in (np.int8, bool, np.float64):
        labels = data.draw(arrays(np.int8, shape, elements=st.integers(0, 1)))
        expected = [transcription(energy, i, labels[i]) for i in range(energy.n_objects)]
        assert energy.scores(labels.astype(kind)).tolist() == expected


@given(ENERGIES)
def test_lower_bound_is_below_every_score(energy):
    labelsets = decode(np.arange(2**energy.n_labels), energy.n_labels)
    scores = [transcription(energy, i, t) for i in range(energy.n_objects) for t in labelsets]
    assert energy.lower_bound() <= min(scores)
    if energy.pairwise is None:
        assert energy.lower_bound() == min(scores)


@given(FULL_ENERGIES, st.data())
def test_scores_with_link_penalty_and_exceptions_equal_reference(energy, data):
    fold = Fold(np.sort(np.array([0])), energy)
    objects = st.integers(0, energy.n_objects - 1)
    codes = st.integers(0, 2**energy.n_labels - 1)
    for same_object in (False, True):
        rows = data.draw(st.lists(st.tuples(objects, codes), min_size=1, max_size=8))
        chosen = np.array([rows[0][0] if same_object else i for i, _ in rows])
        labelsets = decode(np.array([code for _, code in rows]), energy.n_labels)
        expected = [
            labelset_reference.score(fold, i, labelset)
            for i, labelset in zip(chosen, labelsets.tolist(), strict=True)
        ]
        assert energy.scores(labelsets, objects=chosen).tolist() == expected


@given(FULL_ENERGIES)
def test_lower_bound_is_below_every_score_outside_the_exceptions(energy):
    general = Energy(energy.constant, energy.unary, energy.pairwise, energy.link, energy.penalty)
    everyone = np.arange(energy.n_objects)
    for labelset in decode(np.arange(2**energy.n_labels), energy.n_labels):
        scores = general.scores(np.tile(labelset, (energy.n_objects, 1)), objects=everyone)
        assert energy.lower_bound() <= scores.min()


def test_lower_bound_of_no_objects_is_zero():
    energy = Energy(
        np.empty(0, dtype=np.int64),
        np.empty((0, 3), dtype=np.int64),
        -np.ones((3, 3), dtype=np.int64),
    )
    assert energy.lower_bound() == 0
    assert energy.scores(np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize(
    "objects", [np.array([2, 0, 2]), slice(1, None), np.array([], dtype=np.int64)], ids=repr
)
def test_take_keeps_the_scores_of_the_objects(objects):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (3, 4))
    overrides = Overrides(np.array([0, 0, 0, 1]), labels[[2]].astype(np.int8), np.array([77]))
    pairwise, penalty = rng.integers(-9, 9, (4, 4)), Penalty(np.arange(5))
    energy = Energy(
        rng.integers(0, 9, 3),
        rng.integers(-9, 9, (3, 4)),
        pairwise,
        SquareRoot(2),
        penalty,
        overrides=overrides,
    )
    assert energy.scores(labels)[2] == 77
    taken = energy.take(objects)
    assert taken.n_labels == 4
    assert taken.n_objects == len(labels[objects])
    assert taken.scores(labels[objects]).tolist() == energy.scores(labels)[objects].tolist()


@given(
    COSTS.flatmap(
        lambda kind: st.tuples(st.lists(kind, min_size=1, max_size=20), st.lists(kind, max_size=5))
    )
)
def test_calibration_counts_scores_at_least_as_large(scores_and_questions):
    scores, questions = scores_and_questions
    calibration = np.sort(np.array(scores))
    questions = questions + scores + [score + 1 for score in scores]
    expected = [sum(other >= score for other in scores) for score in questions]
    counts = count_at_least(calibration, np.array(questions))
    assert counts.tolist() == expected
    assert counts.dtype == np.int64
    assert len(calibration) == len(scores)
    assert calibration.tolist() == sorted(scores)


def test_calibration_leaves_the_scores_given_to_it_alone():
    scores = np.array([3, 1, 2])
    np.sort(scores)
    assert scores.tolist() == [3, 1, 2]

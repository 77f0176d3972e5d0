"""The Hamming penalty, against a transcription of its formula."""

import numpy as np
from hypothesis import given

from labelsure.measures import HammingPenalty
from penalty_cases import WEIGHTS, scores_of, training_and_labelsets


def transcription(t, training, weight):
    """weight * min over training labelsets of the Hamming distance / q."""
    return weight * min(sum(a != b for a, b in zip(t, row, strict=True)) for row in training) / len(t)


@given(training_and_labelsets(), WEIGHTS)
def test_scores_equal_formula(case, weight):
    training, labelsets = case
    measure = HammingPenalty(weight).fit(training)
    tolerance = (1 + labelsets.shape[1]) / 2 * 2.0**-measure.exponent_  # the cost of a label is rounded once
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        assert abs(score - transcription(labelset, training.tolist(), weight)) <= tolerance


@given(training_and_labelsets())
def test_equal_distances_are_equal_scores(case):
    training, labelsets = case
    energy = HammingPenalty(0.7).fit(training).energy(np.full(labelsets.shape, 0.5))
    distances = [transcription(labelset, training.tolist(), labelsets.shape[1]) for labelset in labelsets.tolist()]
    pairs = zip(energy.scores(labelsets).tolist(), distances, strict=True)
    assert len(set(pairs)) == len(set(distances))


def test_labelsets_are_kept_once():
    measure = HammingPenalty().fit([[1, 0], [0, 1], [1, 0], [1, 0]])
    assert sorted(measure.labelsets_.tolist()) == [[0, 1], [1, 0]]
    assert measure.labelsets_.dtype == np.int8


def test_distances_beyond_one_word_of_labels():
    training = np.zeros((2, 150), dtype=np.int8)
    training[1, 100:] = 1
    measure = HammingPenalty(3.0).fit(training)
    labelsets = np.zeros((3, 150), dtype=np.int8)
    labelsets[1, 149] = 1
    labelsets[2, :] = 1
    assert np.abs(scores_of(measure, labelsets) - [0, 3 / 150, 2.0]).max() < 1e-9


def test_largest_penalty_is_the_weight():
    assert scores_of(HammingPenalty(2.0).fit([[0, 0, 0, 0]]), np.ones((1, 4), dtype=np.int8)).tolist() == [2.0]

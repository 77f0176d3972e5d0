"""Penalties of Hamming distances, numbers of labels and new labelsets, against their formulas."""

import numpy as np
from hypothesis import given

from labelsure.measures import CardinalityPenalty, HammingPenalty, UnseenPenalty
from penalty_cases import WEIGHTS, scores_of, training_and_labelsets


def hamming_transcription(t, training, weight):
    """weight * min over training labelsets of the Hamming distance / q."""
    return (
        weight * min(sum(a != b for a, b in zip(t, row, strict=True)) for row in training) / len(t)
    )


@given(training_and_labelsets(), WEIGHTS)
def test_hamming_scores_equal_formula(case, weight):
    training, labelsets = case
    measure = HammingPenalty(weight).fit(training)
    # the cost of a label is rounded once
    tolerance = (1 + labelsets.shape[1]) / 2 * 2.0**-measure.exponent_
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        assert abs(score - hamming_transcription(labelset, training.tolist(), weight)) <= tolerance


def cardinality_transcription(t, training, weight):
    """weight * (1 - the share of training examples with as many labels)."""
    return weight * (1 - sum(sum(row) == sum(t) for row in training) / len(training))


@given(training_and_labelsets(), WEIGHTS)
def test_cardinality_scores_equal_formula(case, weight):
    training, labelsets = case
    measure = CardinalityPenalty(weight).fit(training)
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        assert (
            abs(score - cardinality_transcription(labelset, training.tolist(), weight))
            <= 2.0**-measure.exponent_
        )


def test_more_labels_than_an_int8_counts():
    training = np.ones((2, 200), dtype=np.int8)
    training[1, :50] = 0
    measure = CardinalityPenalty(1.0).fit(training)
    assert measure.frequencies_[[150, 200]].tolist() == [0.5, 0.5]
    assert scores_of(measure, training).tolist() == [0.5, 0.5]
    assert scores_of(measure, 1 - training).tolist() == [1.0, 1.0]


@given(training_and_labelsets(), WEIGHTS)
def test_unseen_scores_equal_formula(case, weight):
    training, labelsets = case
    measure = UnseenPenalty(weight).fit(training)
    unit = 2.0**-measure.exponent_
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        if labelset in training.tolist():
            assert score == 0
        else:
            assert abs(score - weight) <= unit


def test_all_pay_and_the_seen_are_spared():
    """So a search keeps its bounds for all but the few labelsets on the list."""
    measure = UnseenPenalty(2.0).fit([[1, 0, 1], [0, 0, 0], [1, 0, 1]])
    energy = measure.energy(np.full((1, 3), 0.5))
    assert energy.penalty.flat_cost() == 2 * 2**measure.exponent_
    assert energy.discounts.labelsets.tolist() == [[0, 0, 0], [1, 0, 1]]
    assert energy.discounts.amounts.tolist() == [2 * 2**measure.exponent_] * 2

"""The cardinality penalty, against a transcription of its formula."""

import numpy as np
from hypothesis import given

from labelsure.measures import CardinalityPenalty
from penalty_cases import WEIGHTS, scores_of, training_and_labelsets


def transcription(t, training, weight):
    """weight * (1 - the share of training examples with as many labels)."""
    return weight * (1 - sum(sum(row) == sum(t) for row in training) / len(training))


@given(training_and_labelsets(), WEIGHTS)
def test_scores_equal_formula(case, weight):
    training, labelsets = case
    measure = CardinalityPenalty(weight).fit(training)
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        assert abs(score - transcription(labelset, training.tolist(), weight)) <= 2.0**-measure.exponent_


def test_frequencies_are_those_of_numbers_of_labels():
    measure = CardinalityPenalty().fit([[1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]])
    assert measure.frequencies_.tolist() == [0.25, 0.5, 0, 0.25]


def test_more_labels_than_an_int8_counts():
    training = np.ones((2, 200), dtype=np.int8)
    training[1, :50] = 0
    measure = CardinalityPenalty(1.0).fit(training)
    assert measure.frequencies_[[150, 200]].tolist() == [0.5, 0.5]
    assert scores_of(measure, training).tolist() == [0.5, 0.5]
    assert scores_of(measure, 1 - training).tolist() == [1.0, 1.0]

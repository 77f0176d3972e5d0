"""The penalty on unseen labelsets, against a transcription of its formula."""

import numpy as np
from hypothesis import given

from labelsure.measures import UnseenPenalty
from penalty_cases import WEIGHTS, scores_of, training_and_labelsets


@given(training_and_labelsets(), WEIGHTS)
def test_scores_equal_formula(case, weight):
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


def test_labelsets_beyond_one_word_of_labels():
    training = np.zeros((2, 150), dtype=np.int8)
    training[1, 149] = 1
    other = np.zeros((1, 150), dtype=np.int8)
    other[0, 148] = 1
    assert scores_of(UnseenPenalty(1.5).fit(training), np.vstack([training, other])).tolist() == [0, 0, 1.5]

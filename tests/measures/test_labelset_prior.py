"""The smoothed prior of labelsets, against a transcription of its formula."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelsure.measures import LabelsetPrior
from penalty_cases import WEIGHTS, scores_of, training_and_labelsets

SMOOTHING = st.sampled_from([1e-300, 1e-9, 0.5, 1, 3, 1e15, 1e300]) | st.floats(1e-3, 1e3)
BASES = st.sampled_from(["marginals", "uniform"])


def probability(t, training, smoothing, base):
    """(count + smoothing * B) / (n + smoothing), B a product over labels, as a fraction."""
    n, product = len(training), Fraction(1)
    for j, on in enumerate(t):
        marginal = Fraction(1, 2)
        if base == "marginals":
            marginal = (sum(row[j] for row in training) + Fraction(1, 2)) / (n + 1)
        product *= marginal if on else 1 - marginal
    count = sum(row == t for row in training)
    return (count + Fraction(smoothing) * product) / (n + Fraction(smoothing))


def minus_log(p):
    # fractions may be beyond the range of floats
    return math.log(p.denominator) - math.log(p.numerator)


CASES = training_and_labelsets()
ONE_LABEL_OF_THIRTY = (np.eye(30, dtype=np.int8), np.eye(30, dtype=np.int8)[:3])


@given(CASES, WEIGHTS, SMOOTHING, BASES)
@example(ONE_LABEL_OF_THIRTY, 1.0, 1e300, "marginals")
@example(ONE_LABEL_OF_THIRTY, 7.3, 1e17, "uniform")
def test_scores_equal_formula(case, weight, smoothing, base):
    training, labelsets = case
    measure = LabelsetPrior(weight, smoothing=smoothing, base=base).fit(training)
    tolerance = (2 + labelsets.shape[1]) * 2.0**-measure.exponent_ + 1e-13 * measure.bound_
    for score, labelset in zip(scores_of(measure, labelsets), labelsets.tolist(), strict=True):
        expected = weight * minus_log(probability(labelset, training.tolist(), smoothing, base))
        assert abs(score - expected) <= tolerance


def test_many_labels_do_not_underflow():
    """The product over 5 000 labels is beyond the range of floats; its logarithm is not."""
    training = np.zeros((20, 5000), dtype=np.int8)
    training[np.arange(20), np.arange(20)] = 1
    measure = LabelsetPrior(base="uniform").fit(training)
    seen, unseen = scores_of(measure, np.vstack([training[:1], 1 - training[:1]]))
    assert seen == pytest.approx(math.log(21))
    assert unseen == pytest.approx(math.log(21) + 5000 * math.log(2))


@pytest.mark.parametrize("smoothing", [0, -1, np.nan, np.inf, "1", None, True])
def test_bad_smoothing_is_refused(smoothing):
    with pytest.raises(ValueError, match="smoothing must be a finite number above 0, got "):
        LabelsetPrior(smoothing=smoothing).fit([[1, 0]])


@pytest.mark.parametrize("base", ["marginal", None, 1])
def test_bad_bases_are_refused(base):
    with pytest.raises(ValueError, match="base must be one of 'marginals', 'uniform', got "):
        LabelsetPrior(base=base).fit([[1, 0]])

"""Statements on label-wise regions: bounds by formula, and sentences with their numbers."""

import numpy as np
import pytest

from labelsure import calibrate_labels
from labelsure.predictions import Guarantee, LabelWiseGuarantee
from labelsure.predictions._guarantee import as_promised

INDUCTIVE = (
    "for exchangeable examples"
    " (Papadopoulos, Proedrou, Vovk, Gammerman 2002; Vovk, Gammerman, Shafer 2005)."
)


def predict(n=100, n_folds=None, **parameters):
    """Predictions from balanced labels: each of three labels is on in half of each fold."""
    rng = np.random.default_rng(0)
    outputs, Y = rng.random((n, 3)), np.tile([[0, 1, 0], [1, 0, 1]], (n // 2, 1))
    folds = None if n_folds is None else np.arange(n) // 2 % n_folds
    predictor = calibrate_labels(outputs, Y, folds=folds, random_state=0, **parameters)
    return predictor.predict_labels(outputs[:2] if n_folds is None else [outputs[:2]] * n_folds)


def by_size(level, n_examples, n_folds):
    return 2 * level + 2 * (1 - level) * (n_folds - 1) / (n_examples + n_folds)


@pytest.mark.parametrize("smoothed", [False, True])
def test_one_held_out_part_keeps_the_significance(smoothed):
    pred = predict(smoothed=smoothed)
    assert pred.region(0.1).statement == (
        f"Some label is wrong with probability at most 0.1, {INDUCTIVE} Each label by itself is"
        " wrong with at most that probability too."
    )
    for h, words in ((1, "More than one label is wrong"), (2, "More than 2 labels are wrong")):
        assert pred.region(0.1, at_most_wrong=h).statement == (
            f"{words} with probability at most 0.1, {INDUCTIVE} It says nothing of each label by"
            " itself: for that, ask for region(0.1, per_label=True)."
        )
    assert pred.region(0.1, per_label=True).statement == (
        f"Each label by itself is wrong with probability at most 0.1, {INDUCTIVE} Of all 3 labels"
        " together at most 0.3 are wrong on average, and some label with probability at most 0.3."
    )
    assert pred.region(0.4, per_label=True).statement.endswith(
        " Of all 3 labels together at most 1.2 are wrong on average."
    )


def test_folds_keep_the_bound_of_cross_conformal_p_values():
    pred = predict(n_folds=5)
    bound = min(by_size(0.1, 100, 5), 2 * 0.1 + (1 - 5 / 100) / 6)
    for h in (0, 1):
        assert (
            f" wrong with probability at most {bound:.3g}, for 100 "
            in pred.region(0.1, at_most_wrong=h).statement
        )
    per_label = pred.region(0.1, per_label=True).statement
    assert per_label.startswith(
        f"Each label by itself is wrong with probability at most {bound:.3g}, for 100 "
    )
    assert f"at most {3 * bound:.3g} are wrong on average" in per_label
    assert per_label.endswith("close to the significance in practice (Papadopoulos 2014).")


@pytest.mark.parametrize("smoothed", [False, True])
def test_conditional_p_values_of_folds_keep_the_bound_within_the_value(smoothed):
    statement = predict(n_folds=5, conditional=True, smoothed=smoothed).region(0.3).statement
    bound = by_size(0.1, 50, 5)
    assert statement.startswith(
        f"Some label is wrong with probability at most {3 * bound:.3g}, for 100 exchangeable"
    )
    assert (
        f"Each label by itself is wrong with probability at most {bound:.3g}, both among"
        in statement
    )
    assert "(at worst: 50 examples in 5 folds have that value)" in statement


def test_bounds_count_the_folds_that_have_the_value():
    sizes, folds = np.array([[90, 10], [99, 1], [100, 0]]), np.array([[5, 4], [5, 1], [5, 0]])
    guarantee = LabelWiseGuarantee(
        sizes, folds, True, Guarantee("cross", as_promised, "examples", "somebody")
    )
    expected = [
        [by_size(0.1, 90, 5), by_size(0.1, 10, 4)],
        [by_size(0.1, 99, 5), 0.1],
        [by_size(0.1, 100, 5), 0],
    ]
    np.testing.assert_allclose(guarantee.bounds(0.1), expected)
    assert "(at worst: 10 examples in 4 folds have that value)" in guarantee.state_divided(0.1, 0)
    worst_of_labels = by_size(0.1, 10, 4) + by_size(0.1, 99, 5) + by_size(0.1, 100, 5)
    assert f"at most {worst_of_labels / 2:.3g}," in guarantee.state_divided(0.1, 1)
    assert "at most 1," in guarantee.state_divided(0.1, 0)


def test_regions_that_can_rule_out_nothing_say_so():
    few = predict(n=8)
    assert few.region(0.1).statement.endswith(
        " Nothing can be ruled out at this level, which takes 9 calibration examples: there are 8."
    )
    assert few.region(0.1).possible_values.all()
    assert "ruled out at this level" not in few.region(0.112).statement
    conditional = calibrate_labels(np.full((30, 1), 0.5), [[1]] * 4 + [[0]] * 26, conditional=True)
    statement = conditional.predict_labels([[0.5]]).region(0.1).statement
    assert statement.endswith(
        " 1 of the 2 values of labels cannot be ruled out at this level, which takes 9 calibration"
        " examples with that value: there are at most 4."
    )

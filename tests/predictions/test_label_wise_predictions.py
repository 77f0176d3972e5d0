"""Label-wise predictions and regions, against enumeration and exact fractions."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure import calibrate_labels
from labelsure.predictions import Guarantee, LabelWiseGuarantee, LabelWisePredictions
from labelsure.predictions._guarantee import as_promised

PROVEN = Guarantee("inductive", as_promised, "exchangeable examples", "somebody")
LEVELS = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 0.9]) | st.integers(1, 999).map(
    lambda k: k / 1000
)


def predictions(numerators, denominators, **parameters):
    """Label-conditional ones: those that are decided label by label."""
    numerators, denominators = (
        np.array(part, dtype=np.int64) for part in (numerators, denominators)
    )
    sizes = denominators - 1
    own = {
        "nearer_on": np.zeros(numerators.shape[:2], dtype=bool),
        "joint": None,
        "guarantee": LabelWiseGuarantee(sizes, np.ones_like(sizes), True, PROVEN),
    }
    return LabelWisePredictions(numerators, denominators, **(own | parameters))


@st.composite
def batches(draw):
    """Predictions with a denominator per label and value, and the same as fractions."""
    n, q = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    denominators = draw(arrays(np.int64, (q, 2), elements=st.integers(1, 12)))
    numerators = draw(arrays(np.int64, (n, q, 2), elements=st.integers(1, 12)))
    numerators = np.minimum(numerators, denominators)
    exact = [
        [
            [Fraction(int(numerators[i, j, c]), int(denominators[j, c])) for c in (0, 1)]
            for j in range(q)
        ]
        for i in range(n)
    ]
    return predictions(numerators, denominators), exact


@given(batches(), LEVELS, st.data())
def test_region_is_what_the_definition_says(batch, significance, data):
    pred, exact = batch
    q = pred.n_labels
    h = data.draw(st.integers(0, q - 1))
    per_label = h == 0 and data.draw(st.booleans())
    region = pred.region(significance, at_most_wrong=h, per_label=per_label)
    level = Fraction(str(significance)) * (1 if per_label else Fraction(h + 1, q))
    assert region.level == level
    for i, labels in enumerate(exact):
        possible = [[p > level for p in label] for label in labels]
        assert region.possible_values[i].tolist() == possible
        assert region.inner[i].tolist() == [on and not off for off, on in possible]
        assert region.outer[i].tolist() == [on for _, on in possible]
        assert region.undecided[i].tolist() == [on and off for off, on in possible]
        assert region.empty[i].tolist() == [not on and not off for off, on in possible]
        size = 0
        for labelset in product((0, 1), repeat=q):
            n_wrong = sum(not possible[j][c] for j, c in enumerate(labelset))
            alone = pred[[i]].region(significance, at_most_wrong=h, per_label=per_label)
            assert alone.wrong([labelset]).tolist() == [
                [not possible[j][c] for j, c in enumerate(labelset)]
            ]
            assert alone.n_wrong([labelset]).tolist() == [n_wrong]
            assert alone.contains([labelset]).tolist() == [n_wrong <= h]
            size += n_wrong <= h
        assert region.sizes[i] == size


@given(batches())
def test_labelset_p_value_is_bonferronis_or_markovs(batch):
    pred, exact = batch
    q = pred.n_labels
    for labelset, h in product(product((0, 1), repeat=q), range(q)):
        own = [sorted(labels[j][c] for j, c in enumerate(labelset)) for labels in exact]
        expected = [min(Fraction(1), q * p_values[h] / (h + 1)) for p_values in own]
        found = pred.labelset_p_value(np.tile(labelset, (len(pred), 1)), at_most_wrong=h)
        np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-15)


@given(st.integers(0, 10**6), st.integers(0, 2), st.sampled_from([None, 3]), LEVELS)
def test_labelset_p_value_says_what_regions_hold(seed, h, n_folds, significance):
    rng = np.random.default_rng(seed)
    outputs, Y = rng.integers(0, 5, (30, 3)) / 4, rng.integers(0, 2, (30, 3))
    predictor = calibrate_labels(
        outputs[:20], Y[:20], folds=None if n_folds is None else np.arange(20) % n_folds
    )
    pred = predictor.predict_labels(
        outputs[20:] if n_folds is None else [outputs[20:], outputs[19:29], outputs[18:28]]
    )
    p_values = [
        Fraction(round(p * 21), 21) for p in pred.labelset_p_value(Y[20:], at_most_wrong=h).tolist()
    ]
    contained = pred.region(significance, at_most_wrong=h).contains(Y[20:]).tolist()
    assert contained == [p > Fraction(str(significance)) for p in p_values]


def test_region_is_decided_by_whole_numbers():
    """At 0.3 over 3 labels the level is 0.1: a p-value of exactly 0.1 is out, despite rounding."""
    assert 0.3 / 3 < 0.1
    pred = predictions([[[k, k + 1]] * 3 for k in range(1, 10)], [[10, 10]] * 3)
    assert pred.region(0.3).possible_values[0].tolist() == [[False, True]] * 3
    assert pred.region(0.1, at_most_wrong=2).possible_values[0].tolist() == [[False, True]] * 3
    assert (
        pred.region(1 - 0.7).possible_values.tolist() == pred.region(0.3).possible_values.tolist()
    )


def test_predictions_and_regions_are_chosen_like_an_array():
    pred = predictions([[[k, k + 1]] for k in range(1, 6)], [[9, 9]], label_names=["sea"])
    region = pred.region(0.4)
    assert len(pred) == len(region) == 5
    for chosen in (slice(1, 3), [1, 2], np.array([False, True, True, False, False])):
        assert pred[chosen].p_values.tolist() == pred.p_values[1:3].tolist()
        assert region[chosen].possible_values.tolist() == region.possible_values[1:3].tolist()
        assert pred[chosen].label_names == region[chosen].label_names == ("sea",)
    assert pred[-1].p_values.tolist() == pred.p_values[-1:].tolist()
    assert [one.sizes.tolist() for one in region] == [[size] for size in region.sizes.tolist()]
    for both in (pred, region):
        with pytest.raises(IndexError, match="one axis"):
            both[[[0, 1]]]
        with pytest.raises(IndexError):
            both[5]


@pytest.mark.parametrize("conditional", [False, True])
def test_labels_are_taken_by_name(conditional):
    rng = np.random.default_rng(0)
    outputs = rng.random((60, 3))
    Y = pd.DataFrame((rng.random((60, 3)) < outputs).astype(int), columns=["sea", "city", "wood"])
    pred = calibrate_labels(outputs[:40], Y[:40], conditional=conditional).predict_labels(
        outputs[40:]
    )
    region = pred.region(0.3)
    other_order = Y[40:][["wood", "sea", "city"]]
    for ask in (pred.labelset_p_value, region.contains, region.n_wrong):
        assert ask(other_order).tolist() == ask(Y[40:]).tolist() == ask(Y[40:].to_numpy()).tolist()
        with pytest.raises(ValueError, match=r"without 'wood'.*The labels are 'sea', 'city'"):
            ask(other_order.rename(columns={"wood": "food"}))
        with pytest.raises(ValueError, match=r"3 labels.*got 4 columns"):
            ask(other_order.assign(food=0))
    assert region.wrong(other_order).tolist() == region.wrong(Y[40:]).tolist()
    assert region.n_wrong(other_order.to_numpy()).tolist() != region.n_wrong(Y[40:]).tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"significance": 0}, "significance must be a number strictly between 0 and 1, got 0"),
        ({"at_most_wrong": 2}, "at_most_wrong must be below the number of labels, 2, got 2"),
        ({"at_most_wrong": -1}, "at_most_wrong must be a whole number of at least 0, got -1"),
        ({"at_most_wrong": 1, "per_label": True}, "at_most_wrong=1 and per_label=True are two"),
    ],
)
def test_regions_that_mean_nothing_are_refused(parameters, message):
    pred = predictions([[[1, 2], [1, 2]]], [[4, 4], [4, 4]])
    with pytest.raises(ValueError, match=re.escape(message)):
        pred.region(**({"significance": 0.1} | parameters))

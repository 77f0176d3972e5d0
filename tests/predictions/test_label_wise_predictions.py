"""Label-wise predictions and regions, against enumeration and exact fractions."""

import pickle
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure import calibrate_labels
from labelsure.predictions import Guarantee, LabelWisePredictions

LEVELS = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 0.9]) | st.integers(1, 999).map(lambda k: k / 1000)


def same_level(significance):
    return significance


INDUCTIVE = Guarantee("inductive", same_level, "exchangeable examples", "somebody")


def predictions(numerators, denominators, **parameters):
    numerators = np.array(numerators, dtype=np.int64)
    nearer_on = parameters.pop("nearer_on", np.zeros(numerators.shape[:2], dtype=bool))
    own = {"conditional": False, "guarantee": INDUCTIVE} | parameters
    return LabelWisePredictions(numerators, np.array(denominators, dtype=np.int64), nearer_on=nearer_on, **own)


@st.composite
def batches(draw):
    """Predictions with other denominators for each label and value, and the same as exact fractions."""
    n, q = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    denominators = draw(arrays(np.int64, (q, 2), elements=st.integers(1, 12)))
    numerators = draw(arrays(np.int64, (n, q, 2), elements=st.integers(1, 12)))
    numerators = np.minimum(numerators, denominators)
    exact = [
        [[Fraction(int(numerators[i, j, c]), int(denominators[j, c])) for c in (0, 1)] for j in range(q)]
        for i in range(n)
    ]
    return predictions(numerators, denominators), exact


@given(batches(), LEVELS, st.data())
def test_region_is_what_the_definition_says(batch, significance, data):
    pred, exact = batch
    q = pred.n_labels
    h = data.draw(st.integers(0, q - 1))
    region = pred.region(significance, at_most_wrong=h)
    level = Fraction(str(significance)) * (h + 1) / q
    assert region.level == level
    for i, labels in enumerate(exact):
        possible = [[p > level for p in label] for label in labels]
        assert region.possible[i].tolist() == possible
        assert region.inner[i].tolist() == [on and not off for off, on in possible]
        assert region.outer[i].tolist() == [on for _, on in possible]
        assert region.undecided[i].tolist() == [on and off for off, on in possible]
        assert region.empty[i].tolist() == [not on and not off for off, on in possible]
        size = 0
        for labelset in product((0, 1), repeat=q):
            n_wrong = sum(not possible[j][c] for j, c in enumerate(labelset))
            alone = pred[[i]].region(significance, at_most_wrong=h)
            assert alone.n_wrong([labelset]).tolist() == [n_wrong]
            assert alone.contains([labelset]).tolist() == [n_wrong <= h]
            size += n_wrong <= h
        assert region.sizes[i] == size


@given(batches())
def test_labelset_p_value_is_bonferronis(batch):
    pred, exact = batch
    q = pred.n_labels
    for labelset in product((0, 1), repeat=q):
        expected = [min(Fraction(1), q * min(labels[j][c] for j, c in enumerate(labelset))) for labels in exact]
        found = pred.labelset_p_value(np.tile(labelset, (len(pred), 1)))
        np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-15)


def test_region_is_decided_by_whole_numbers():
    """At 0.3 over 3 labels the level is a tenth: a p-value of exactly that is out, whatever floats make of 0.3 / 3."""
    assert 0.3 / 3 < 0.1
    pred = predictions([[[k, k + 1]] * 3 for k in range(1, 10)], [[10, 10]] * 3)
    assert pred.region(0.3).possible[0].tolist() == [[False, True]] * 3
    assert pred.region(0.1, at_most_wrong=2).possible[0].tolist() == [[False, True]] * 3
    assert pred.region(1 - 0.7).possible.tolist() == pred.region(0.3).possible.tolist()


def test_region_with_huge_denominators_does_not_overflow():
    """Smoothed p-values have denominators of about 2^50, whose product with a level's numerator passes 2^63."""
    denominator = 2**31 * 500_000
    pred = predictions([[[denominator // 8, denominator // 8 + 1]]], [[denominator, denominator]])
    assert pred.region(0.125).possible.tolist() == [[[False, True]]]
    assert pred.region(0.124999999).possible.tolist() == [[[True, True]]]
    assert pred.region(0.125000001).possible.tolist() == [[[False, False]]]


def test_sizes_of_many_labels_are_exact():
    q = 100
    pred = predictions([[[5, 5]] * q, [[5, 5]] * (q - 1) + [[0, 0]], [[5, 0]] * q], [[10, 10]] * q)
    assert pred.region(0.1).sizes.tolist() == [2**q, 0, 1]
    assert pred.region(0.1).sizes.dtype == object
    assert pred.region(0.1, at_most_wrong=1).sizes.tolist() == [2**q, 2**q, 1 + q]
    assert pred[2:].region(0.1).sizes.dtype == np.int64


def test_labels_are_the_more_plausible_values():
    pred = predictions(
        [[[1, 2], [2, 1], [2, 2], [2, 2]]], [[4, 4]] * 4, nearer_on=np.array([[False, True, True, False]])
    )
    assert pred.labels.tolist() == [[1, 0, 1, 0]]
    other = predictions([[[2, 2]]], [[3, 4]], nearer_on=np.array([[True]]))
    assert other.labels.tolist() == [[0]]  # two thirds against one half


def test_ranking_is_the_difference_of_marginal_p_values():
    pred = predictions([[[1, 3], [4, 1]]], [[4, 4], [4, 4]])
    assert pred.rank_labels().tolist() == [[0.5, -0.75]]
    with pytest.raises(ValueError, match=r"cannot be ranked by label-conditional p-values.*conditional=False"):
        predictions([[[1, 3]]], [[4, 4]], conditional=True).rank_labels()


def test_predictions_are_chosen_like_an_array():
    pred = predictions([[[k, k + 1]] for k in range(1, 6)], [[9, 9]], label_names=["sea"])
    assert len(pred) == 5
    for chosen in (slice(1, 3), [1, 2], np.array([False, True, True, False, False])):
        assert pred[chosen].p_values.tolist() == pred.p_values[1:3].tolist()
        assert pred[chosen].label_names == ("sea",)
    assert pred[-1].p_values.tolist() == pred.p_values[-1:].tolist()
    with pytest.raises(IndexError, match="one axis"):
        pred[[[0, 1]]]
    with pytest.raises(IndexError):
        pred[5]


def test_predictions_and_regions_say_what_they_are():
    pred = predictions([[[1, 2], [1, 2]]], [[4, 4], [4, 4]])
    assert repr(pred) == "LabelWisePredictions(1 objects, 2 labels)"
    assert pred.label_names == ("label_0", "label_1")
    assert repr(pred.region(0.1)) == "LabelWiseRegion(significance=0.1, 1 objects)"
    assert repr(pred.region(0.1, at_most_wrong=1)) == "LabelWiseRegion(significance=0.1, at_most_wrong=1, 1 objects)"
    conditional = predictions([[[1, 2]]], [[4, 4]], conditional=True)
    assert repr(conditional) == "LabelWisePredictions(1 objects, 1 labels, label-conditional)"


@pytest.mark.parametrize(
    ("h", "words"),
    [(0, "A label is wrong"), (1, "More than one label is wrong"), (2, "More than 2 labels are wrong")],
)
def test_guarantee_is_what_was_asked_for(h, words):
    pred = predictions([[[1, 2]] * 3], [[4, 4]] * 3)
    sentence = pred.region(0.15, at_most_wrong=h).guarantee
    assert sentence.startswith(f"{words} with probability at most 0.15, for exchangeable examples (Lambrou")
    assert "somebody" in sentence


def test_guarantee_of_a_weaker_p_value_is_added_up_over_labels():
    weaker = Guarantee("cross", lambda level: 2 * level + 0.01, "something", "somebody")
    pred = predictions([[[1, 2]] * 4], [[4, 4]] * 4, guarantee=weaker)
    assert "at most 0.24," in pred.region(0.1).guarantee  # 4 (2 * 0.1 / 4 + 0.01)
    assert "at most 0.22," in pred.region(0.1, at_most_wrong=1).guarantee  # 4 (2 * 0.2 / 4 + 0.01) / 2
    assert "at most 1," in pred.region(0.9).guarantee
    assert "Nothing is proved" in predictions([[[1, 2]]], [[4, 4]], guarantee=None).region(0.1).guarantee


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"significance": 0}, "significance must be a number strictly between 0 and 1, got 0"),
        ({"significance": 1}, "significance must be a number strictly between 0 and 1, got 1"),
        ({"significance": "5 %"}, "significance must be a number strictly between 0 and 1, got '5 %'"),
        ({"at_most_wrong": 2}, "at_most_wrong must be below the number of labels, 2, got 2"),
        ({"at_most_wrong": 7}, "at_most_wrong must be below the number of labels, 2, got 7"),
        ({"at_most_wrong": -1}, "at_most_wrong must be a whole number of at least 0, got -1"),
        ({"at_most_wrong": 0.5}, "at_most_wrong must be a whole number of at least 0, got 0.5"),
        ({"at_most_wrong": True}, "at_most_wrong must be a whole number of at least 0, got True"),
    ],
)
def test_regions_that_mean_nothing_are_refused(parameters, message):
    pred = predictions([[[1, 2], [1, 2]]], [[4, 4], [4, 4]])
    with pytest.raises(ValueError, match=re.escape(message)):
        pred.region(**({"significance": 0.1} | parameters))


def test_labelsets_of_the_wrong_shape_are_refused():
    pred = predictions([[[1, 2], [1, 2]]] * 2, [[4, 4], [4, 4]])
    for ask in (pred.labelset_p_value, pred.region(0.1).contains, pred.region(0.1).n_wrong):
        with pytest.raises(ValueError, match="Y must have 2 columns, one per label, got 3"):
            ask(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="the predictions and Y must have the same number of rows, got 2 and 1"):
            ask(np.zeros((1, 2)))
        with pytest.raises(ValueError, match="Y must hold only 0 and 1, got 2"):
            ask(np.full((2, 2), 2))


def test_predictions_and_regions_pickle():
    pred = calibrate_labels([[0.9, 0.2], [0.6, 0.1]], [[1, 0], [1, 0]]).predict_labels([[0.8, 0.15]])
    again = pickle.loads(pickle.dumps(pred))
    np.testing.assert_array_equal(again.p_values, pred.p_values)
    region = pickle.loads(pickle.dumps(pred.region(0.4)))
    np.testing.assert_array_equal(region.possible, pred.region(0.4).possible)
    assert region.guarantee == pred.region(0.4).guarantee

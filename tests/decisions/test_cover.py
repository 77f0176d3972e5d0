"""The labels that cover the truth: by hand, in any bag of examples, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure import control_cover
from labelsure.decisions._cover import joining_numbers

FORMS = ["count", "chance", "threshold"]


def numbers_by_hand(outputs, form):
    """When each label of one object joins, label by label."""
    q = len(outputs)
    ranked = sorted(range(q), key=lambda j: (-outputs[j], j))
    by_label = {}
    for rank, j in enumerate(ranked, start=1):
        below = [outputs[k] for k in ranked[rank - 1 :]]
        with np.errstate(divide="ignore"):
            by_label[j] = {
                "count": rank,
                "chance": float(np.log1p(-np.array(below[::-1])).cumsum()[-1]),
                "threshold": 1 - outputs[j],
            }[form]
    return [by_label[j] for j in range(q)]


@st.composite
def bags(draw):
    n, q = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    outputs = draw(arrays(np.float64, (n, q), elements=st.integers(0, 5).map(lambda k: k / 5)))
    return outputs, draw(arrays(np.int8, (n, q), elements=st.integers(0, 1)))


@given(bags(), st.sampled_from(FORMS))
def test_labels_join_in_the_order_of_their_outputs(bag, form):
    outputs, _ = bag
    numbers = joining_numbers(outputs, form)
    assert numbers.tolist() == [numbers_by_hand(row.tolist(), form) for row in outputs]
    for row, joined in zip(outputs, numbers, strict=True):
        in_order = joined[np.argsort(-row, kind="stable")]
        assert (in_order[1:] >= in_order[:-1]).all()


@given(bags(), st.integers(1, 19), st.sampled_from(FORMS))
def test_truth_is_covered_often_enough_in_any_bag(bag, twentieths, form):
    """Each example in turn is the new one: the covered share is a probability if exchangeable."""
    outputs, Y = bag
    target = Fraction(twentieths, 20)
    covered = 0
    for i in range(len(Y)):
        others = np.arange(len(Y)) != i
        cover = control_cover(outputs[others], Y[others], target=float(target), form=form)
        covered += bool((cover.predict(outputs[[i]])[0] >= Y[i]).all())
    assert covered >= target * len(Y)


@given(bags(), st.integers(1, 19))
def test_no_smaller_number_of_labels_would_do(bag, twentieths):
    outputs, Y = bag
    cover = control_cover(outputs, Y, target=twentieths / 20)
    ranks = np.argsort(np.argsort(-outputs, axis=1, kind="stable"), axis=1) + 1
    worst = np.where(Y == 1, ranks, 0).max(axis=1)
    passing = [
        k
        for k in range(Y.shape[1] + 1)
        if (worst > k).sum() + 1 <= (1 - Fraction(twentieths, 20)) * (len(Y) + 1)
    ]
    assert cover.limit == (min(passing) if passing else np.inf)
    assert cover.reached == bool(passing)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": 1}, "target must be a number strictly between 0 and 1, got 1"),
        ({"form": "cumulative"}, "form must be one of 'count', 'chance', 'threshold', got"),
        ({"Y": [[0, 1, 1]]}, "outputs must have shape"),
        ({"Y": [[np.nan, 1]]}, "Leave out examples with NaN, or control the recall"),
        ({"outputs": [[0.5, 1.5]]}, "outputs must lie between 0 and 1, got 1.5"),
        ({"outputs": np.empty((0, 2)), "Y": np.empty((0, 2))}, "at least one calibration example"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        control_cover(**{"outputs": [[0.5, 0.2]], "Y": [[1, 0]]} | arguments)

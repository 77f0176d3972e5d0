"""Thresholds under risk control: brute force, odd data, unreachable targets, bad input."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from labelsure import control_cover, control_precision, control_recall
from labelsure.decisions._thresholds import (
    RecallSteps,
    _count_in_sets,
    betting_rejects,
    expect_the_worst,
    highest_log_capital,
    hoeffding_bentkus_p_value,
)

BOUNDS = ["betting", "hoeffding-bentkus"]
TARGETS = st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])


@st.composite
def examples(draw):
    """Outputs full of ties and labels of any density, rows without labels among them."""
    n, q = draw(st.sampled_from([1, 2, 5, 12, 20])), draw(st.integers(1, 4))
    outputs = draw(arrays(np.float64, (n, q), elements=st.integers(0, 10).map(lambda k: k / 10)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    ranks = draw(arrays(np.float64, (n, q), elements=st.floats(0, 1, width=16)))
    return outputs, (ranks < density).astype(np.int8)


def recall_losses(outputs, Y, threshold):
    """The share of each row's labels that is missed, as fractions; 0 in rows without labels."""
    return [
        Fraction(int(np.sum((o < threshold) & (y == 1))), int(y.sum())) if y.any() else Fraction(0)
        for o, y in zip(outputs, Y, strict=True)
    ]


def precision_losses(outputs, Y, threshold):
    """The share of false labels in each row's set; 0 for empty sets."""
    return [
        Fraction(int(np.sum((o >= threshold) & (y == 0))), int(np.sum(o >= threshold)))
        if np.any(o >= threshold)
        else Fraction(0)
        for o, y in zip(outputs, Y, strict=True)
    ]


def below(losses, level, delta, bound):
    """Whether the mean loss is shown to be below the level."""
    if bound == "betting":
        return bool(betting_rejects(np.array([losses], dtype=float), level, float(delta))[0])
    return hoeffding_bentkus_p_value(sum(losses), len(losses), level) <= delta


@given(examples(), TARGETS)
def test_crc_is_the_highest_threshold_that_passes(problem, target):
    outputs, Y = problem
    predictor = control_recall(outputs, Y, target=target)
    alpha, n = 1 - Fraction(str(target)), len(Y)
    passing = [
        threshold
        for threshold in [*(k / 20 for k in range(21)), np.inf]
        if (sum(recall_losses(outputs, Y, threshold)) + 1) / (n + 1) <= alpha
    ]
    assert predictor.reached == bool(passing)
    assert ("Too few examples" in predictor.statement) is not predictor.reached
    if not passing:
        assert predictor.threshold == 0
    else:  # among all thresholds with the same sets here, the one at an output of a true label
        assert predictor.threshold in passing
        highest = max(passing)
        assert recall_losses(outputs, Y, highest) == recall_losses(outputs, Y, predictor.threshold)
        assert predictor.threshold == highest
    np.testing.assert_array_equal(predictor.predict(outputs), outputs >= predictor.threshold)


@given(st.sampled_from(BOUNDS), examples(), TARGETS, st.sampled_from([0.05, 0.2, 0.5]))
def test_rcps_is_the_highest_threshold_below_which_all_pass(bound, problem, target, delta):
    outputs, Y = problem
    predictor = control_recall(outputs, Y, target=target, method="rcps", delta=delta, bound=bound)
    alpha = 1 - Fraction(str(target))
    chosen = 0.0
    for threshold in [*np.unique(outputs[Y == 1]).tolist(), np.inf]:
        if not below(recall_losses(outputs, Y, threshold), alpha, Fraction(str(delta)), bound):
            break
        chosen = threshold
        assert predictor.reached
    assert predictor.threshold == chosen


@given(
    st.sampled_from(["fixed-sequence", "bonferroni"]),
    st.sampled_from(BOUNDS),
    examples(),
    TARGETS,
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_precision_is_the_lowest_threshold_that_passes(correction, bound, problem, target, delta):
    outputs, Y = problem
    predictor = control_precision(
        outputs, Y, target=target, delta=delta, thresholds=11, correction=correction, bound=bound
    )
    alpha, level = (
        1 - Fraction(str(target)),
        Fraction(str(delta)) / (1 if correction == "fixed-sequence" else 11),
    )
    chosen = np.inf
    for threshold in [k / 10 for k in range(10, -1, -1)]:
        passes = below(precision_losses(outputs, Y, threshold), alpha, level, bound)
        if passes:
            chosen = threshold
        elif correction == "fixed-sequence":
            break
    assert predictor.threshold == chosen
    assert predictor.reached == (chosen < np.inf)
    np.testing.assert_array_equal(predictor.predict(outputs), outputs >= chosen)


def test_crc_decides_by_fractions():
    """Three rows that miss one label of ten: 3/10, which added up as floats is a little more."""
    assert sum([0.1] * 3) > 0.3
    outputs, Y = np.tile([0.2] + [0.8] * 9, (3, 1)), np.ones((3, 10))
    assert control_recall(outputs, Y, target=0.675).threshold == 0.8  # 1 - (3/10 + 1) / 4
    assert control_recall(outputs, Y, target=0.675001).threshold == 0.2


@pytest.mark.parametrize("control", [control_recall, control_precision, control_cover])
def test_labels_are_taken_by_name(control):
    rng = np.random.default_rng(0)
    outputs = pd.DataFrame(rng.random((400, 3)), columns=["sea", "city", "wood"])
    Y = (rng.random((400, 3)) < outputs ** np.array([1, 2, 3])).astype(int)
    expected = control(outputs.to_numpy(), Y.to_numpy(), target=0.5)
    other_order = ["wood", "sea", "city"]
    for first, second in ((outputs, Y[other_order]), (outputs[other_order], Y)):
        predictor = control(first, second, target=0.5)
        predicted = pd.DataFrame(
            predictor.predict(outputs[other_order]), columns=predictor.label_names
        )
        assert np.array_equal(predicted[outputs.columns], expected.predict(outputs.to_numpy()))
    with pytest.raises(ValueError, match="without 'wood'"):
        control(outputs.rename(columns={"wood": "food"}), Y)
    with pytest.raises(ValueError, match="without 'wood'"):
        control(outputs, Y, target=0.5).predict(outputs.rename(columns={"wood": "food"}))


@given(examples().filter(lambda bag: len(bag[1]) > 1), st.integers(1, 19).map(lambda k: k / 20))
def test_mean_loss_in_any_bag_is_at_most_the_level(bag, target):
    outputs, Y = bag
    total = Fraction(0)
    for i in range(len(Y)):
        others = np.arange(len(Y)) != i
        threshold = control_recall(outputs[others], Y[others], target=target).threshold
        if Y[i].any():
            total += Fraction(int(np.sum((outputs[i] < threshold) & (Y[i] == 1))), int(Y[i].sum()))
    assert total <= (1 - Fraction(str(target))) * len(Y)


LEVELS = st.sampled_from(
    [Fraction(1, 100), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)]
)


def divergence(a, b):
    return sum(x * math.log(x / y) for x, y in ((a, b), (1 - a, 1 - b)) if x > 0)


@given(st.integers(1, 200), st.data(), LEVELS)
def test_hoeffding_bentkus_is_its_formula(n, data, level):
    total = data.draw(st.integers(0, 6 * n).map(lambda k: Fraction(k, 6)))
    hoeffding = math.exp(-n * divergence(float(min(total / n, level)), float(level)))
    bentkus = math.e * binom.cdf(math.ceil(total), n, float(level))
    assert hoeffding_bentkus_p_value(total, n, level) == pytest.approx(
        min(hoeffding, bentkus), rel=1e-9, abs=1e-300
    )


def capital_by_hand(losses, level, delta):
    """The gambler's highest capital, one bet after the other."""
    n, capital, highest, sum_losses, sum_squares = len(losses), 1.0, 0.0, 0.0, 0.0
    variance = 0.25
    for i, loss in enumerate(losses, start=1):
        bet = min(1.0, math.sqrt(2 * math.log(1 / delta) / (n * variance)))
        capital *= 1 - bet * (loss - level)
        highest = max(highest, capital)
        sum_losses += loss
        mean = (0.5 + sum_losses) / (i + 1)
        sum_squares += (loss - mean) ** 2
        variance = (0.25 + sum_squares) / (i + 1)
    return highest


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 40)),
        elements=st.sampled_from([0, 0.25, 0.5, 1]),
    ),
    LEVELS,
    st.sampled_from([0.01, 0.1, 0.3]),
)
def test_betting_is_its_formula(losses, level, delta):
    capitals = [capital_by_hand(row, float(level), delta) for row in losses]
    np.testing.assert_allclose(
        np.exp(highest_log_capital(losses, level, delta)), capitals, rtol=1e-9
    )


@st.composite
def examples_with_gaps(draw):
    n, q = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    outputs = draw(arrays(np.float64, (n, q), elements=st.integers(0, 5).map(lambda k: k / 5)))
    row = st.lists(st.sampled_from([0, 1, None]), min_size=q, max_size=q)
    return outputs, [draw(row.filter(lambda row: set(row) != {None})) for _ in range(n)]


NAN = float("nan")


def recall_loss_by_hand(outputs, y, threshold):
    """The loss of one example, label by label; None is unknown."""
    true = [o for o, t in zip(outputs, y, strict=True) if t == 1]
    maybe = [o for o, t in zip(outputs, y, strict=True) if t is None]
    if true:
        return Fraction(sum(o < threshold for o in true), len(true))
    return Fraction(int(any(o < threshold for o in maybe)))


def precision_loss_by_hand(outputs, y, threshold):
    inside = [t for o, t in zip(outputs, y, strict=True) if o >= threshold]
    known = [t for t in inside if t is not None]
    if known:
        return Fraction(known.count(0), len(known))
    return Fraction(int(bool(inside)))


@given(examples_with_gaps())
def test_recall_losses_are_those_by_hand(drawn):
    outputs, rows = drawn
    labels, unknown = as_arrays(rows)
    steps = RecallSteps.of(outputs, expect_the_worst(outputs, labels, unknown))
    for d, threshold in enumerate(steps.thresholds):
        by_hand = sum(
            recall_loss_by_hand(o, y, threshold) for o, y in zip(outputs, rows, strict=True)
        )
        assert steps.total_loss(d) == by_hand


@given(examples_with_gaps())
def test_precision_losses_are_those_by_hand(drawn):
    outputs, rows = drawn
    grid = np.array([0.0, 0.3, 0.6, 1.0])
    n_false, n_predicted = _count_in_sets(outputs, *as_arrays(rows)[:1], grid, as_arrays(rows)[1])
    for k, threshold in enumerate(grid):
        for i, (o, y) in enumerate(zip(outputs, rows, strict=True)):
            loss = Fraction(int(n_false[k, i]), max(int(n_predicted[k, i]), 1))
            assert loss == precision_loss_by_hand(o, y, threshold)


def as_arrays(rows):
    unknown = np.array([[t is None for t in row] for row in rows])
    return np.array([[t or 0 for t in row] for row in rows], dtype=np.int8), unknown


@pytest.mark.parametrize("control", [control_recall, control_precision])
@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, NAN], [NAN, NAN]], "at least one known label in every row, got only NaN in row 1"),
        ([[1, NAN], [2, 0]], "Y must hold only 0 and 1, got 2"),
        ([[1, NAN], ["x", 0]], "Y must hold only 0 and 1"),
        ([[1, None], [0, 0]], "Y must hold only 0 and 1, got None"),
        ([[1, 0], [0]], "rows of different length"),
    ],
)
def test_what_is_no_label_is_named(control, Y, message):
    with pytest.raises(ValueError, match=message):
        control([[0.5, 0.2], [0.1, 0.6]], Y)


@pytest.mark.parametrize("control", [control_recall, control_precision])
@pytest.mark.parametrize(
    ("outputs", "Y", "target", "message"),
    [
        ([[0.1, 1.2]], [[0, 1]], 0.9, "outputs must lie between 0 and 1, got 1.2 in row 0"),
        ([[0.1, 0.2, 0.3]], [[0, 1]], 0.9, r"outputs must have shape \(n_objects, 2\), got"),
        ([[0.1, 0.2]], [[0, 1], [1, 0]], 0.9, "outputs and Y must have the same number of rows"),
        ([[0.1, 0.2]], [[0, 2]], 0.9, "Y must hold only 0 and 1, got 2"),
        (np.empty((0, 2)), np.empty((0, 2)), 0.9, "at least one calibration example, got none"),
        ([[0.1]], [[1]], 1.0, "target must be a number strictly between 0 and 1, got 1.0"),
        ([[0.1]], [[1]], "0.9", "target must be a number strictly between 0 and 1, got '0.9'"),
    ],
)
def test_bad_examples_and_targets_are_named(control, outputs, Y, target, message):
    with pytest.raises(ValueError, match=message):
        control(outputs, Y, target=target)


@pytest.mark.parametrize(
    ("control", "parameters", "message"),
    [
        (control_recall, {"method": "ltt"}, "method must be one of 'crc', 'rcps', got 'ltt'"),
        (control_recall, {"delta": 0.1}, "delta requires method='rcps'"),
        (control_recall, {"method": "rcps", "delta": 1}, "delta must be a number strictly"),
        (control_recall, {"method": "rcps", "bound": "wsr"}, "bound must be one of 'betting', "),
        (control_precision, {"delta": 0}, "delta must be a number strictly between 0 and 1"),
        (control_precision, {"bound": None}, "bound must be one of 'betting', "),
        (control_precision, {"correction": "holm"}, "correction must be one of 'fixed-sequence'"),
        (control_precision, {"thresholds": 1}, "thresholds must be a whole number of at least 2"),
        (control_precision, {"thresholds": []}, "thresholds must be a whole number or numbers"),
        (control_precision, {"thresholds": [0.5, 1.5]}, "thresholds must be a whole number or"),
    ],
)
def test_bad_parameters_are_named(control, parameters, message):
    with pytest.raises(ValueError, match=message):
        control([[0.1, 0.2]], [[0, 1]], **parameters)

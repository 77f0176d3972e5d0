"""Unknown labels: losses by hand, risks by simulation from a known population, rows of a selection, what is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from labelsure import MLkNNClassifier, ReviewSelector, control_precision, control_recall
from labelsure.decisions._precision import _count_in_sets
from labelsure.decisions._recall import RecallSteps
from labelsure.decisions._unknown import expect_the_worst

FALSE_ALARM = 1e-4
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


@st.composite
def examples(draw):
    n, q = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    outputs = draw(arrays(np.float64, (n, q), elements=st.integers(0, 5).map(lambda k: k / 5)))
    rows = st.lists(st.sampled_from([0, 1, None]), min_size=q, max_size=q).filter(
        lambda row: set(row) != {None}
    )
    return outputs, [draw(rows) for _ in range(n)]


def as_arrays(rows):
    unknown = np.array([[t is None for t in row] for row in rows])
    return np.array([[t or 0 for t in row] for row in rows], dtype=np.int8), unknown


@given(examples())
def test_recall_losses_are_those_by_hand(drawn):
    outputs, rows = drawn
    labels, unknown = as_arrays(rows)
    steps = RecallSteps.of(outputs, expect_the_worst(outputs, labels, unknown))
    for d, threshold in enumerate(steps.thresholds):
        by_hand = sum(
            recall_loss_by_hand(o, y, threshold) for o, y in zip(outputs, rows, strict=True)
        )
        assert steps.total_loss(d) == by_hand


@given(examples())
def test_precision_losses_are_those_by_hand(drawn):
    outputs, rows = drawn
    grid = np.array([0.0, 0.3, 0.6, 1.0])
    n_false, n_predicted = _count_in_sets(outputs, *as_arrays(rows)[:1], grid, as_arrays(rows)[1])
    for k, threshold in enumerate(grid):
        for i, (o, y) in enumerate(zip(outputs, rows, strict=True)):
            loss = Fraction(int(n_false[k, i]), max(int(n_predicted[k, i]), 1))
            assert loss == precision_loss_by_hand(o, y, threshold)


class Population:
    """60 examples that are all equally likely, some without labels, and a share of their labels unknown."""

    def __init__(self, seed, hidden=0.3):
        rng = np.random.default_rng(seed)
        self.outputs = (0.1 + 0.9 * rng.beta(0.6, 1.0, (60, 4))).round(2)
        self.Y = (rng.random((60, 4)) < self.outputs).astype(float)
        self.hidden = hidden

    def draw(self, rng, n):
        rows = rng.integers(60, size=n)
        Y = self.Y[rows].copy()
        Y[rng.random(Y.shape) < self.hidden] = np.nan
        kept = ~np.isnan(Y).all(axis=1)  # the share of these does not depend on labels
        return self.outputs[rows][kept], Y[kept]

    def recall_risk(self, threshold):
        missed = ((self.outputs < threshold) & (self.Y == 1)).sum(axis=1)
        return (missed / np.maximum(self.Y.sum(axis=1), 1)).mean()

    def precision_risk(self, threshold):
        inside = self.outputs >= threshold
        return ((inside & (self.Y == 0)).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)).mean()


def mean_recall_risk(population, control, n_trials, seed):
    risks = [
        population.recall_risk(control(*population.draw(rng, 60)).threshold)
        for rng in np.random.default_rng(seed).spawn(n_trials)
    ]
    return np.mean(risks), np.std(risks) / np.sqrt(n_trials)


def test_expected_recall_holds_for_all_labels_and_not_only_for_the_known():
    """400 data sets; the mean may pass the level by what has probability 1e-4 (normal approximation).

    To take unknown labels for absent ones, as a user may be tempted to, fails the same test.
    """
    population = Population(0)
    mean, deviation = mean_recall_risk(
        population, lambda o, Y: control_recall(o, Y, target=0.7), 400, 1
    )
    assert mean <= 0.3 + norm.isf(FALSE_ALARM) * deviation
    assert mean > 0.05  # else nothing was tested
    harsh = Population(0, hidden=0.7)
    mean, deviation = mean_recall_risk(
        harsh, lambda o, Y: control_recall(o, np.nan_to_num(Y), target=0.7), 400, 1
    )
    assert mean > 0.3 + norm.isf(FALSE_ALARM) * deviation


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


OBJECTS = np.random.default_rng(0).random((200, 3))
LABELS = (OBJECTS[:, :2] + 0.2 * np.random.default_rng(1).normal(size=(200, 2)) > 0.5).astype(float)
MODEL = MLkNNClassifier().fit(OBJECTS[:80], LABELS[:80])


def test_selection_uses_the_examples_whose_label_is_known():
    hidden = LABELS[80:150].copy()
    hidden[::3, 1] = NAN
    hidden[:, 0] = NAN
    told = ~np.isnan(hidden[:, 1])
    selector = ReviewSelector(MODEL, label=1).calibrate(OBJECTS[80:150], hidden)
    expected = ReviewSelector(MODEL, label=1).calibrate(OBJECTS[80:150][told], LABELS[80:150][told])
    assert selector.sureness_.tolist() == expected.sureness_.tolist()
    assert selector.right_.tolist() == expected.right_.tolist()
    again, other = (
        selector.select(OBJECTS[150:], alpha=0.2),
        expected.select(OBJECTS[150:], alpha=0.2),
    )
    assert again.accepted.tolist() == other.accepted.tolist()
    frame = pd.DataFrame(hidden[:, ::-1], columns=["b", "a"])
    named = ReviewSelector(MODEL, label="b").calibrate(OBJECTS[80:150], frame)
    assert len(named.right_) == told.sum()


def test_selection_refuses_unknown_labels_it_cannot_use():
    hidden = LABELS[80:150].copy()
    hidden[0, 0] = NAN
    for question in ({}, {"at_most": 1}):
        with pytest.raises(
            ValueError, match=r"got nan\. Unknown labels go with a question about one label"
        ):
            ReviewSelector(MODEL, **question).calibrate(OBJECTS[80:150], hidden)
    hidden[:, 0] = NAN
    with pytest.raises(ValueError, match="at least one example with 'label_0' known"):
        ReviewSelector(MODEL, label=0).calibrate(OBJECTS[80:150], hidden)


@pytest.mark.validity
def test_share_of_wrong_ones_among_the_accepted_is_kept_with_unknown_labels():
    """400 data sets, half of the values of the label unknown by chance; false alarm 1e-4 (normal approximation)."""
    shares = []
    for rng in np.random.default_rng(5).spawn(400):
        objects = rng.random((120, 3))
        truth = (objects[:, :2] + 0.3 * rng.normal(size=(120, 2)) > 0.5).astype(float)
        hidden = truth[:60].copy()
        hidden[1:][rng.random((59, 2)) < 0.5] = NAN
        selection = (
            ReviewSelector(MODEL, label=1)
            .calibrate(objects[:60], hidden)
            .select(objects[60:], alpha=0.2)
        )
        wrong = (selection.labelsets[:, 1] != truth[60:, 1])[selection.accepted]
        shares.append(wrong.mean() if len(wrong) else 0.0)
    assert np.mean(shares) <= 0.2 + norm.isf(FALSE_ALARM) * np.std(shares) / np.sqrt(400)
    assert np.mean(shares) > 0.05  # else nothing was tested

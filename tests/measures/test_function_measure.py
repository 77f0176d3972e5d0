"""Measures that are functions of the user's own."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.measures import FunctionMeasure
from labelsure.measures._labelset_bits import decode


def squares(outputs, labelset):
    return ((labelset - outputs) ** 2).sum(axis=1)


def fitted(function, n_labels=2, **options):
    return FunctionMeasure(function, **options).fit(np.empty((0, n_labels)))


@st.composite
def tables(draw):
    """Random scores of every labelset for two objects, and a function that looks them up."""
    n_labels = draw(st.integers(1, 4))
    score = st.sampled_from([0.0, -1.0, 1.0, 0.1, -100.0, 100.0]) | st.floats(-100, 100)
    of_all = draw(st.lists(st.tuples(score, score), min_size=2**n_labels, max_size=2**n_labels))

    def function(outputs, labelset):
        assert outputs.shape == (2, n_labels)
        assert labelset.shape == (n_labels,)
        return of_all[int(labelset @ (1 << np.arange(n_labels)))]

    return n_labels, np.array(of_all), function


@given(tables())
def test_scores_are_those_of_the_function(case):
    n_labels, of_all, function = case
    measure = fitted(function, n_labels)
    energy = measure.energy(np.zeros((2, n_labels)))
    labelsets = decode(np.arange(2**n_labels), n_labels)
    for i in range(2):
        scores = (
            energy.scores(labelsets, objects=np.full(len(labelsets), i)) * 2.0**-measure.exponent_
        )
        assert np.abs(scores - of_all[:, i]).max() <= 2.0**-measure.exponent_


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *_: 1.0, "one score per object, shape (3,), got shape () for the labelset [0, 0]"),
        (lambda o, t: np.abs(t - o), "got shape (3, 2) for the labelset [0, 0]"),
        (
            lambda o, t: np.abs(t - o).sum(axis=0),
            "got shape (2,) for the labelset [0, 0]. It is called with the",
        ),
        (lambda *_: np.zeros((3, 1)), "got shape (3, 1)"),
        (lambda *_: None, "one score per object, shape (3,), got shape ()"),
        (
            lambda *_: ["a", "b", "c"],
            "function must return numbers, got ['a', 'b', 'c'] for the labelset [0, 0]",
        ),
        (lambda *_: [1, [2, 3], 4], "function must return numbers, got [1, [2, 3], 4]"),
        (
            lambda o, t: np.where(t[1], np.nan, o[:, 0]),
            "got nan for the outputs [0.25, 0.5] and the labelset [0, 1]",
        ),
        (
            lambda o, t: o[:, 0] / (1 - t[0]),
            "got inf for the outputs [0.25, 0.5] and the labelset [1, 0]",
        ),
        (
            lambda o, _: -2000.0 * o[:, 1],
            "magnitude up to largest=1000, got -1100 for the outputs [0.25, 0.55]",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_results_are_refused(function, message):
    outputs = [[0.25, 0.5], [0.25, 0.55], [0.25, 0.5]]
    with pytest.raises(ValueError, match=re.escape(message)):
        fitted(function).energy(outputs)


@pytest.mark.parametrize("largest", [0, -1, np.nan, np.inf, "1", None, True])
def test_bad_values_of_largest_are_refused(largest):
    with pytest.raises(ValueError, match="largest must be a finite number above 0, got "):
        fitted(squares, largest=largest)


def test_too_many_labels_are_refused():
    with pytest.raises(
        ValueError,
        match=r"possible for up to 12 labels \(80 KiB per object and fold\), got 13 labels",
    ):
        fitted(squares, 13)
    energy = fitted(squares, 12).energy(np.zeros((1, 12)))
    assert energy.scores(np.ones((1, 12)))[0] == 12 * 2**40


def test_too_many_objects_are_refused(monkeypatch):
    monkeypatch.setattr("labelsure.measures._function_measure.MAX_LIST_BYTES", 2**20)
    measure = fitted(squares, 8)  # 256 * (8 + 8) bytes per object
    assert measure.energy(np.zeros((256, 8))).n_objects == 256
    with pytest.raises(
        ValueError,
        match=r"2\^8 labelsets of 257 objects .* more than the 1 MiB.* at most 256 objects",
    ):
        measure.energy(np.zeros((257, 8)))


def test_the_function_cannot_change_the_outputs():
    def careless(outputs, labelset):
        outputs -= labelset
        return np.abs(outputs).sum(axis=1)

    with pytest.raises(ValueError, match="read-only"):
        fitted(careless).energy([[0.5, 0.5]])
    outputs = np.array([[0.5, 0.5]])
    fitted(squares).energy(outputs)
    outputs[0, 0] = 0  # the caller's array stays writable

"""The figures of single answers against their definitions, a single label and the paper's counts included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelsure.metrics._point import point_measures


@st.composite
def two_label_matrices(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 6)))
    matrix = hnp.arrays(np.int8, shape, elements=st.integers(0, 1))
    return draw(matrix), draw(matrix)


def slow_f1(true, predicted):
    together = int(true.sum() + predicted.sum())
    return 2 * int((true & predicted).sum()) / together if together else 0.0


@given(two_label_matrices())
def test_point_measures_equal_their_definitions(pair):
    true, predicted = pair
    assert point_measures(true, predicted) == pytest.approx(
        {
            "subset_accuracy": np.mean(
                [list(a) == list(b) for a, b in zip(true, predicted, strict=True)]
            ),
            "hamming_loss": np.mean(true != predicted),
            "f1_micro": slow_f1(true, predicted),
            "f1_macro": np.mean([slow_f1(a, b) for a, b in zip(true.T, predicted.T, strict=True)]),
        }
    )
    assert point_measures(true, predicted.astype(bool)) == point_measures(
        true.astype(bool), predicted
    )


def test_point_measures_give_the_constant_prediction_its_known_figures():
    """FACTS.md: always {Urban} on scene's test file gives .2900 .1630 .0492 .1659, which depends only on counts."""
    n, n_urban, n_urban_alone, n_ones = 1196, 207, 195, 1299
    truth = np.zeros((n, 6), dtype=int)
    truth[:n_urban, 5] = 1
    truth[n_urban_alone:, 0] = 1
    truth[n_urban_alone : n_urban_alone + n_ones - truth.sum(), 1] = 1
    assert truth.sum() == n_ones
    urban = np.zeros_like(truth)
    urban[:, 5] = 1
    figures = point_measures(truth, urban)
    names = ("hamming_loss", "subset_accuracy", "f1_macro", "f1_micro")
    assert [figures[name] for name in names] == pytest.approx(
        [0.2900, 0.1630, 0.0492, 0.1659], abs=5e-5
    )

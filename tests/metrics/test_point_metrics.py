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

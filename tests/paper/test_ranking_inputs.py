"""Bad input to the measures of rankings is refused at the door."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelsure.paper import average_precision, coverage_error, one_error, ranking_loss

RANKING = [ranking_loss, one_error, coverage_error, average_precision]
Y = np.array([[1, 0, 1], [0, 1, 0]])
SCORES = np.array([[0.9, 0.1, 0.4], [0.3, 0.2, 0.7]])


@pytest.mark.parametrize("measure", RANKING)
@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        (
            Y,
            SCORES[:, :2],
            r"scores must have shape \(n_objects, 3\), one column per label of Y_true, got \(2,"
            r" 2\)",
        ),
        (Y, np.stack([SCORES] * 2), r"got \(2, 2, 3\).*predict_proba returns a list"),
        (Y, SCORES[:1], "Y_true and scores must have the same number of rows, got 2 and 1"),
        (
            Y,
            [[0.9, 0.1, 0.4], [0.3, np.nan, 0.7]],
            "scores must be numbers, got nan in row 1, column 1",
        ),
        (
            Y,
            [["a", "b", "c"], ["d", "e", "f"]],
            "scores must be a dense array of numbers .* list with 'a' in row 0",
        ),
        (Y, SCORES + 0j, r"got a ndarray with \(0.9\+0j\) in row 0, column 0"),
        (
            Y,
            np.ma.array(SCORES, mask=Y),
            "got a MaskedArray with a masked entry in row 0, column 0",
        ),
        (
            np.ma.array(Y, mask=Y),
            SCORES,
            "Y_true must hold only 0 and 1, got a masked entry in row 0, column 0",
        ),
        (Y, sparse.csr_array(SCORES), "scores must be a dense array of numbers .* got a csr_array"),
        (Y, None, "scores must be a dense array of numbers|scores must have shape"),
        (
            [[1, 0, np.nan], [0, 1, 0]],
            SCORES,
            "got nan: how the labels of an object should rank is not known",
        ),
        (
            [1, 0],
            SCORES,
            r"Y_true must be a label matrix of shape \(n_objects, n_labels\), got an array of"
            r" shape",
        ),
        ([[1, 0, 3], [0, 1, 0]], SCORES, "Y_true must hold only 0 and 1, got 3 in row 0, column 2"),
        (np.empty((0, 3)), np.empty((0, 3)), "Y_true must have at least one row"),
    ],
)
def test_ranking_measures_refuse(measure, truth, scores, message):
    with pytest.raises(ValueError, match=message):
        measure(truth, scores)


@pytest.mark.parametrize("measure", RANKING)
def test_measures_match_columns_by_name(measure):
    truth = pd.DataFrame(Y, columns=["a", "b", "c"])
    other = pd.DataFrame([[1, 1, 0], [0, 1, 0]], columns=["a", "b", "c"])
    expected = measure(Y, other.to_numpy())
    assert (
        measure(truth, other[["c", "a", "b"]]) == measure(truth[["b", "a", "c"]], other) == expected
    )
    assert measure(truth, other.to_numpy()) == measure(Y, other) == expected
    assert measure(truth, pd.DataFrame(other.to_numpy())) == expected
    with pytest.raises(
        ValueError, match=r"scores must have the 3 labels as columns, .*without 'c'"
    ):
        measure(truth, other.rename(columns={"c": "d"}))

"""Ranking metrics against definitions and scikit-learn, with ties, infinities and odd rows."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelsure.paper import average_precision, coverage_error, one_error, ranking_loss

MEASURES = [ranking_loss, one_error, coverage_error, average_precision]
TIED = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.25, 0.5, 1.0, np.inf])


@st.composite
def truth_and_scores(draw, elements=TIED, min_labels=1):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(min_labels, 7)))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))
    return truth, draw(hnp.arrays(np.float64, shape, elements=elements))


def slow_rank(row, label):
    return sum(other >= row[label] for other in row)


def slow_ranking_loss(on, off, row):
    if not on or not off:
        return None
    return sum(row[j] <= row[r] for j in on for r in off) / (len(on) * len(off))


def slow_one_error(on, off, row):
    if not on:
        return None
    return float(any(row[r] == max(row) for r in off))


def slow_coverage(on, off, row):
    if not on:
        return None
    return max(slow_rank(row, j) for j in on) - 1


def slow_average_precision(on, off, row):
    if not on:
        return None
    ranks = {j: slow_rank(row, j) for j in on}
    return sum(sum(ranks[r] <= ranks[j] for r in on) / ranks[j] for j in on) / len(on)


def slow_mean(slow, truth, scores):
    values = []
    for labels, row in zip(truth.tolist(), scores.tolist(), strict=True):
        on = [j for j, t in enumerate(labels) if t]
        off = [j for j, t in enumerate(labels) if not t]
        values.append(slow(on, off, row))
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


SLOW = {
    ranking_loss: slow_ranking_loss,
    one_error: slow_one_error,
    coverage_error: slow_coverage,
    average_precision: slow_average_precision,
}


@pytest.mark.parametrize("measure", MEASURES)
@given(data=truth_and_scores())
def test_ranking_measures_equal_their_definitions(measure, data):
    expected = slow_mean(SLOW[measure], *data)
    if expected is None:
        with pytest.raises(ValueError, match="needs an object with"):
            measure(*data)
    else:
        assert measure(*data) == pytest.approx(expected, abs=1e-12)


@given(truth_and_scores(elements=st.sampled_from([-1.0, 0.0, 0.25, 1.0]), min_labels=2))
def test_ranking_measures_equal_those_of_sklearn_on_ordinary_rows(data):
    truth, scores = data
    truth[:, 0], truth[:, -1] = 1, 0
    assert ranking_loss(truth, scores) == pytest.approx(
        sklearn.metrics.label_ranking_loss(truth, scores), abs=1e-12
    )
    assert coverage_error(truth, scores) == pytest.approx(
        sklearn.metrics.coverage_error(truth, scores) - 1, abs=1e-12
    )
    theirs = sklearn.metrics.label_ranking_average_precision_score(truth, scores)
    assert average_precision(truth, scores) == pytest.approx(theirs, abs=1e-12)


def test_ranking_measures_leave_out_rows_without_labels():
    truth, scores = np.array([[0, 1, 1], [1, 0, 0]]), np.array([[0.2, 0.9, 0.1], [0.3, 0.8, 0.1]])
    longer = np.vstack([truth, [[0, 0, 0]]]), np.vstack([scores, [[0.1, 0.2, 0.3]]])
    for measure in MEASURES:
        assert measure(*longer) == measure(truth, scores)
        with pytest.raises(
            ValueError, match=f"{measure.__name__} needs an object .* got none in the 1 rows"
        ):
            measure([[0, 0, 0]], [[0.1, 0.2, 0.3]])


def test_ranking_measures_take_rows_with_all_labels_where_they_mean_something():
    truth, scores = [[1, 1, 1]], [[0.1, -np.inf, 0.3]]
    assert (
        one_error(truth, scores),
        coverage_error(truth, scores),
        average_precision(truth, scores),
    ) == (
        0.0,
        2.0,
        1.0,
    )
    with pytest.raises(ValueError, match="some labels, not all"):
        ranking_loss(truth, scores)
    assert ranking_loss([[1, 1], [1, 0]], [[0.0, 1.0], [0.0, 1.0]]) == 1.0


def test_ranking_measures_tell_large_integers_apart():
    scores = np.array([[2**60 + 1, 2**60]])
    assert float(scores[0, 0]) == float(scores[0, 1])
    assert ranking_loss([[1, 0]], scores) == 0.0
    assert one_error([[0, 1]], scores) == 1.0

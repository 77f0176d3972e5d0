"""Measures of single predictions against their definitions, scikit-learn and the paper."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from labelsure.metrics import f1_macro, f1_micro, hamming_loss, subset_accuracy


@st.composite
def two_label_matrices(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 6)))
    matrix = hnp.arrays(np.int8, shape, elements=st.integers(0, 1))
    return draw(matrix), draw(matrix)


def slow_counts(truth, predicted, label):
    tp = fp = fn = 0
    for i in range(len(truth)):
        tp += truth[i][label] == 1 and predicted[i][label] == 1
        fp += truth[i][label] == 0 and predicted[i][label] == 1
        fn += truth[i][label] == 1 and predicted[i][label] == 0
    return tp, fp, fn


def slow_f1(tp, fp, fn):
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0


@given(two_label_matrices())
def test_point_measures_equal_their_definitions(pair):
    truth, predicted = (matrix.tolist() for matrix in pair)
    n, q = pair[0].shape
    sets = [
        ({j for j in range(q) if a[j]}, {j for j in range(q) if b[j]}) for a, b in zip(truth, predicted, strict=True)
    ]
    counts = [slow_counts(truth, predicted, label) for label in range(q)]
    assert hamming_loss(*pair) == pytest.approx(sum(len(a ^ b) / q for a, b in sets) / n, abs=1e-12)
    assert subset_accuracy(*pair) == pytest.approx(sum(a == b for a, b in sets) / n, abs=1e-12)
    assert f1_macro(*pair) == pytest.approx(sum(slow_f1(*count) for count in counts) / q, abs=1e-12)
    assert f1_micro(*pair) == pytest.approx(slow_f1(*(sum(part) for part in zip(*counts, strict=True))), abs=1e-12)


@given(two_label_matrices().filter(lambda pair: pair[0].shape[1] > 1))
def test_point_measures_equal_those_of_sklearn(pair):
    assert hamming_loss(*pair) == pytest.approx(sklearn.metrics.hamming_loss(*pair), abs=1e-12)
    assert subset_accuracy(*pair) == pytest.approx(sklearn.metrics.accuracy_score(*pair), abs=1e-12)
    for ours, average in ((f1_macro, "macro"), (f1_micro, "micro")):
        theirs = sklearn.metrics.f1_score(*pair, average=average, zero_division=0)
        assert ours(*pair) == pytest.approx(theirs, abs=1e-12)


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
    figures = [measure(truth, urban) for measure in (hamming_loss, subset_accuracy, f1_macro, f1_micro)]
    assert figures == pytest.approx([0.2900, 0.1630, 0.0492, 0.1659], abs=5e-5)


def test_f1_macro_counts_a_label_never_on_as_zero():
    assert f1_macro([[1, 0], [1, 0]], [[1, 0], [1, 0]]) == 0.5
    assert f1_macro([[0, 0]], [[0, 0]]) == 0.0
    assert f1_micro([[0, 0]], [[0, 0]]) == 0.0


def test_f1_counts_do_not_overflow_the_small_integers_of_label_matrices():
    truth = np.ones((70_000, 2), dtype=np.int8)
    assert f1_macro(truth, truth) == 1.0
    assert f1_micro(truth, truth) == 1.0


def test_point_measures_work_as_scorers():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, 3))
    scorer = make_scorer(hamming_loss, greater_is_better=False)
    scores = cross_val_score(KNeighborsClassifier(), X, Y, scoring=scorer, cv=4)
    expected = cross_val_score(
        KNeighborsClassifier(), X, Y, cv=4, scoring=make_scorer(sklearn.metrics.hamming_loss, greater_is_better=False)
    )
    assert scores == pytest.approx(expected)


def test_unknown_labels_are_left_out():
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(2, size=(2, 40, 3))
    unknown = rng.random((40, 3)) < 0.3
    gaps = np.where(unknown, np.nan, true)
    assert hamming_loss(gaps, predicted) == (true != predicted)[~unknown].mean()
    by_label = [sklearn.metrics.f1_score(true[known, j], predicted[known, j]) for j, known in enumerate(~unknown.T)]
    assert f1_macro(gaps, predicted) == pytest.approx(np.mean(by_label))
    assert f1_micro(gaps, predicted) == pytest.approx(sklearn.metrics.f1_score(true[~unknown], predicted[~unknown]))
    turned = pd.DataFrame(predicted, columns=list("abc"))[list("cab")]
    assert hamming_loss(pd.DataFrame(gaps, columns=list("abc")), turned) == hamming_loss(gaps, predicted)


def test_whole_labelsets_with_unknown_labels_are_refused():
    with pytest.raises(ValueError, match=r"got nan: whether a whole labelset is right.*hamming_loss"):
        subset_accuracy([[1, np.nan]], [[1, 0]])
    with pytest.raises(ValueError, match="at least one known label"):
        hamming_loss([[np.nan, np.nan]], [[1, 0]])

"""Single answers: the most probable labelset by definition, metrics, and the better answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from labelsure.measures import PosteriorMeasure
from labelsure.measures._log_partition import CountedPrior
from labelsure.measures._penalties import LabelsetPrior
from labelsure.measures._points import PointFigures, labels_are_better, most_probable, point_figures

TWO_LABELS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=np.int8)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=12),
    st.floats(0.05, 2.0),
    st.integers(0, 2**32 - 1),
)
def test_most_probable_is_that_of_all_labelsets_under_the_prior_of_the_other_examples(
    codes, beta, seed
):
    labels = TWO_LABELS[codes]
    values = np.random.default_rng(seed).normal(scale=3.0, size=labels.shape)
    whole = LabelsetPrior().fit(labels)
    counted = CountedPrior(whole.labelsets_, whole.counts_, whole.marginals_, 1.0)
    found = most_probable(counted, values, beta, counted.numbers_of(labels))
    for i, value in enumerate(values):
        counts = [sum((row == t).all() for row in np.delete(labels, i, axis=0)) for t in TWO_LABELS]
        products = np.prod(np.where(TWO_LABELS, whole.marginals_, 1 - whole.marginals_), axis=1)
        others = (np.array(counts) + products) / (len(labels) - 1 + 1)
        everyone = np.array([(labels == t).all(axis=1).sum() for t in TWO_LABELS])
        seen = (everyone + products) / (len(labels) + 1)
        own = (labels[i] == TWO_LABELS).all(axis=1)
        scores = TWO_LABELS @ value + beta * np.log(np.where(own, others, seen))
        assert scores[(found[i] == TWO_LABELS).all(axis=1)][0] == pytest.approx(
            scores.max(), abs=1e-9
        )


@given(st.integers(1, 20), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_point_figures_are_those_of_scikit_learn(n, q, seed):
    labels, predicted = np.random.default_rng(seed).integers(0, 2, (2, n, q))
    figures = point_figures(labels, predicted)
    expected = f1_score(labels, predicted, average=None if q > 1 else "binary", zero_division=0)
    assert figures.macro_f == pytest.approx(np.mean(expected))
    assert figures.excess == pytest.approx(predicted.sum() / max(labels.sum(), 1) - 1)


@pytest.mark.parametrize(
    ("of_labels", "of_labelsets", "expected"),
    [
        ((0.5, 0.0), (0.4, 0.0), True),
        ((0.4, 0.0), (0.4, 0.0), False),
        ((0.4, 0.1), (0.5, -0.2), True),
        ((0.4, 0.2), (0.5, -0.3), False),
    ],
    ids=["better F", "the same F", "labels in number", "both off"],
)
def test_labels_are_better_by_f_measure_or_by_their_number(of_labels, of_labelsets, expected):
    assert labels_are_better(PointFigures(*of_labels), PointFigures(*of_labelsets)) is expected


@pytest.mark.parametrize("low", [0.05, 0.3, 0.5])
def test_posterior_finds_labels_better_where_outputs_know_a_rare_label_that_labelsets_hide(low):
    """Whatever outputs up to 1/2 say of labels: these are not more likely than not."""
    rng = np.random.default_rng(1)
    labels = (rng.random((400, 8)) < 0.06).astype(np.int8)
    sure = np.where(labels, 0.9, 0.02)
    assert not PosteriorMeasure().fit(labels, outputs=sure).labels_are_better_
    noisy = np.where(
        rng.random(labels.shape) < 0.05,
        0.95,
        np.where(labels & (rng.random(labels.shape) < 0.6), 0.95, low),
    )
    assert PosteriorMeasure().fit(labels, outputs=noisy).labels_are_better_


def test_posterior_that_was_given_all_parameters_finds_labelsets_better():
    given = PosteriorMeasure(prior_exponent=1, marginals_share=1, temperature=1, intercepts=0)
    assert not given.fit([[1, 0], [0, 1]]).labels_are_better_

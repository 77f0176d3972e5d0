"""The largest error, against a transcription of its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, calibrate_outputs
from labelsure.engine import AtMost
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures import (
    AutoMeasure,
    FunctionMeasure,
    MaxNormMeasure,
    PowerMeasure,
    UnseenPenalty,
)
from labelsure.measures._labelset_bits import decode

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1 - 2**-53]) | st.floats(0, 1)


@given(st.integers(1, 5).flatmap(lambda q: arrays(np.float64, (2, q), elements=OUTPUTS)))
def test_scores_equal_formula(outputs):
    n_labels = outputs.shape[1]
    measure = MaxNormMeasure().fit(np.empty((0, n_labels)))
    energy = measure.energy(outputs)
    for labelset in decode(np.arange(2**n_labels), n_labels):
        expected = [
            max(abs(t - o) for t, o in zip(labelset.tolist(), row, strict=True))
            for row in outputs.tolist()
        ]
        scores = energy.scores(np.tile(labelset, (2, 1))) * 2.0**-measure.exponent_
        assert np.abs(scores - expected).max() <= 2.0**-measure.exponent_


def largest_error(outputs, labelset):
    return np.abs(labelset - outputs).max(axis=1)


LISTED = FunctionMeasure(largest_error, largest=1.0)
"""The same measure as a function of one's own, whose labelsets are listed."""


def some_data(n_labels, n_folds, seed):
    rng = np.random.default_rng(seed)
    Y = (rng.random((60, n_labels)) < 0.4).astype(int)
    noise = rng.normal(0, 0.25, (n_folds, 64, n_labels))
    truth = np.vstack([Y, rng.integers(0, 2, (4, n_labels))])
    outputs = np.round(np.clip(0.25 + 0.5 * truth + noise, 0, 1) * 32) / 32
    fold_of = np.arange(60) % n_folds
    return outputs[fold_of, np.arange(60)], Y, outputs[:, 60:], fold_of


def test_folds_may_have_other_measures_beside_it():
    """As where each fold chooses its own."""
    outputs, Y, new, _ = some_data(9, 2, seed=1)
    measures = [measure.fit(Y) for measure in (MaxNormMeasure(), clone(LISTED), PowerMeasure())]
    folds = [Fold(np.sort(one.energy(outputs).scores(Y)), one.energy(new[0])) for one in measures]
    mixed, listed = (FoldEngine([folds[k], folds[2]], allow_empty=True) for k in (0, 1))
    assert np.array_equal(mixed.p_value_table(), listed.p_value_table())
    assert np.array_equal(mixed.top(9).labelsets, listed.top(9).labelsets)


@pytest.mark.parametrize(
    "measure", [MaxNormMeasure(), UnseenPenalty() + MaxNormMeasure()], ids=repr
)
def test_more_than_24_labels_are_refused_before_anything_is_fitted(measure):
    Y = np.random.default_rng(0).integers(0, 2, (30, 25))
    for ask in (
        lambda: calibrate_outputs(np.full((30, 25), 0.5), Y, measure=measure, training_labels=Y),
        lambda: CrossConformalClassifier(None, measure=measure).fit(np.zeros((30, 2)), Y),
        lambda: CrossConformalClassifier(None, measure=AutoMeasure([measure])).fit(
            np.zeros((30, 2)), Y
        ),
        lambda: InductiveConformalClassifier(
            None, measure=measure, constraints=AtMost(25, range(25))
        ).fit(Y, Y),
    ):
        with pytest.raises(
            ValueError,
            match=r"MaxNormMeasure\(\) is a maximum .* up to 24 labels, got 25"
            r" labels.*PowerMeasure\(d=8\)",
        ):
            ask()

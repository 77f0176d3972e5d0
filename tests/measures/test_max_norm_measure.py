"""The largest error, against a transcription of its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from labelsure import calibrate_outputs
from labelsure.labelsets import decode
from labelsure.measures import MaxNormMeasure

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1 - 2**-53]) | st.floats(0, 1)


@given(st.integers(1, 5).flatmap(lambda q: arrays(np.float64, (2, q), elements=OUTPUTS)))
def test_scores_equal_formula(outputs):
    n_labels = outputs.shape[1]
    measure = MaxNormMeasure().fit(np.empty((0, n_labels)))
    energy = measure.energy(outputs)
    for labelset in decode(np.arange(2**n_labels), n_labels):
        expected = [max(abs(t - o) for t, o in zip(labelset.tolist(), row, strict=True)) for row in outputs.tolist()]
        scores = energy.scores(np.tile(labelset, (2, 1))) * 2.0**-measure.exponent_
        assert np.abs(scores - expected).max() <= 2.0**-measure.exponent_


@pytest.mark.parametrize("n_labels", [3, 9])  # by table and by search
def test_predictions_equal_a_direct_count(n_labels):
    rng = np.random.default_rng(n_labels)
    Y = (rng.random((40, n_labels)) < 0.4).astype(int)
    outputs = np.round(np.clip(0.5 * Y + 0.5 * rng.random(Y.shape), 0, 1) * 16) / 16
    new = np.round(rng.random((2, n_labels)) * 16) / 16
    pred = calibrate_outputs(outputs, Y, measure=MaxNormMeasure(), empty="allow").predict_labelsets(new)
    calibration = np.abs(Y - outputs).max(axis=1)
    labelsets = decode(np.arange(2**n_labels), n_labels)
    for i, row in enumerate(new):
        own = np.abs(labelsets - row).max(axis=1)
        p_values = ((calibration >= own[:, None]).sum(axis=1) + 1) / 41
        assert pred.p_values()[i].tolist() == p_values.tolist()
        assert pred.credibility[i] == p_values.max()
        assert pred.region(0.2).sizes[i] == (p_values > 0.2).sum()
        members = labelsets[p_values > 0.2]
        assert pred.region(0.2).inner[i].tolist() == members.all(axis=0).tolist()
        assert pred.region(0.2).outer[i].tolist() == members.any(axis=0).tolist()


def test_nothing_is_needed_of_training():
    measure = MaxNormMeasure()
    assert not measure.needs_training_labels
    assert measure.get_params() == {}
    assert isinstance(clone(measure), MaxNormMeasure)


def test_too_many_labels_are_refused():
    with pytest.raises(ValueError, match=r"MaxNormMeasure\(\) scores every labelset one by one, .* up to 12 labels"):
        MaxNormMeasure().fit(np.empty((0, 13)))

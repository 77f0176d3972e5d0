"""Whole models in any configuration, with data in any form: the answer for plain arrays, or a refusal in words."""

import warnings

import numpy as np
import pytest
from fuzz_cases import LONG
from fuzz_forms import fingerprint
from fuzz_models import configurations
from fuzz_rules import Refusal, outcome_of, same
from hypothesis import HealthCheck, Phase, given, settings

from labelsure import (
    calibrate_labels,
    calibrate_outputs,
    control_cover,
    control_precision,
    control_recall,
)

pytestmark = pytest.mark.filterwarnings("ignore")
FEW = settings(
    derandomize=True,
    max_examples=40,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
MANY = settings(FEW, max_examples=max(LONG // 16, 1), derandomize=False)


def check(configuration):
    odd, usual = configuration.tables()
    before = {name: fingerprint(table) for name, table in odd.items()}
    answer = outcome_of(lambda: configuration.run(**odd), learner=True)
    assert before == {name: fingerprint(table) for name, table in odd.items()}, (
        "an input was changed"
    )
    expected = outcome_of(lambda: configuration.run(**usual), learner=True)
    if isinstance(answer, Refusal) or isinstance(expected, Refusal):
        assert isinstance(answer, Refusal) == isinstance(expected, Refusal), (answer, expected)
    else:
        assert same(answer, expected)


@FEW
@given(configurations())
def test_models_answer_alike_for_every_form_of_data(configuration):
    check(configuration)


@pytest.mark.validity
@pytest.mark.parametrize("part", range(4))
@MANY
@given(configuration=configurations())
def test_many_models_answer_alike_for_every_form_of_data(part, configuration):
    check(configuration)


@pytest.mark.parametrize("n_labels", [1, 1000])
def test_one_label_and_a_thousand_are_answered(n_labels):
    rng = np.random.default_rng(0)
    outputs = rng.integers(0, 9, (12, n_labels)) / 8
    Y = (rng.random(outputs.shape) < outputs / 100).astype(int)
    Y[:, 0] = np.arange(12) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pred = calibrate_outputs(
            outputs, Y, label_names=["x" * 2000 + str(j) for j in range(n_labels)]
        ).predict_labelsets(outputs[:2])
        assert np.isfinite(pred.confidence).all()
        assert np.isfinite(pred.credibility).all()
        assert len(pred.summary(0.2)) == 2
        assert np.isfinite(calibrate_labels(outputs, Y).predict_labels(outputs[:2]).p_values).all()
        for control in (control_recall, control_precision, control_cover):
            assert control(outputs, Y).predict(outputs[:2]).shape == (2, n_labels)


@pytest.mark.parametrize(
    "control",
    [calibrate_outputs, calibrate_labels, control_recall, control_precision, control_cover],
)
def test_no_labels_and_no_examples_are_refused(control):
    for shape in [(5, 0), (0, 3), (0, 0)]:
        assert isinstance(
            outcome_of(lambda shape=shape: control(np.empty(shape), np.empty(shape))), Refusal
        )

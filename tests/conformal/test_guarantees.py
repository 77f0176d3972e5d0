"""Guarantees as a choice: nested regions and bounds of sizes; exactness/ compares every answer."""

import numpy as np
import pytest

from labelsure import calibrate_outputs
from labelsure.conformal import GUARANTEES
from labelsure.measures import PowerMeasure


def predictor_of_five_folds(guarantee):
    rng = np.random.default_rng(0)
    outputs = rng.random((60, 4))
    Y = (rng.random((60, 4)) < outputs).astype(int)
    folds = np.arange(60) % 5
    return calibrate_outputs(
        outputs, Y, folds=folds, guarantee=guarantee, empty_labelset="allow", random_state=0
    )


def test_regions_by_p_values_are_nested_and_those_by_e_values_need_not_be():
    """Regions of "exact" depend on the level: at 0.15 one may lack a member of that at 0.17."""
    rng = np.random.default_rng(1)
    centre = rng.random((200, 4))
    # folds disagree
    new = [np.clip(centre + rng.normal(scale=0.15, size=centre.shape), 0, 1) for _ in range(5)]
    lacking = {}
    for guarantee in GUARANTEES:
        pred = predictor_of_five_folds(guarantee).predict_labelsets(new)
        smaller, larger = (
            np.array([pred.region(level).contains(labelset) for labelset in pred.candidates()])
            for level in (0.17, 0.15)
        )
        lacking[guarantee] = int((smaller & ~larger).sum())
    assert lacking["cross"] == 0
    assert lacking["exact"] > 0


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_bounds_of_estimated_sizes_do_not_contradict_each_other(guarantee):
    """Thirty labels, ten folds: a certified lower bound once was sixty times the upper one."""
    rng = np.random.default_rng(0)
    n, n_labels, n_folds = 200, 30, 10
    outputs = rng.beta(0.4, 0.8, size=(n, n_labels))
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    new = np.clip(
        rng.beta(0.4, 0.8, size=(2, n_labels)) + 0.05 * rng.normal(size=(n_folds, 2, n_labels)),
        0,
        1,
    )
    folds = np.arange(n) % n_folds
    predictor = calibrate_outputs(
        outputs, Y, folds=folds, measure=PowerMeasure(), guarantee=guarantee, random_state=0
    )
    for significance in (0.05, 0.2):
        for size in predictor.predict_labelsets(new).region(significance).size_estimates:
            assert size.at_least <= size.low <= size.value <= size.high <= size.at_most

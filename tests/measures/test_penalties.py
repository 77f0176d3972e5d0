"""What all penalties on labelsets have in common."""

import numpy as np
import pytest

from labelsure import calibrate_outputs
from labelsure.measures import (
    CardinalityPenalty,
    HammingPenalty,
    LabelsetPrior,
    Need,
    UnseenPenalty,
)
from labelsure.measures._labelset_bits import decode

TRAINING = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 0]])
ALL = decode(np.arange(8), 3)
FLAT = [
    HammingPenalty,
    CardinalityPenalty,
    UnseenPenalty,
    lambda weight: LabelsetPrior(weight, base="uniform"),
]
EVERY = [*FLAT, LabelsetPrior]
FLAT_IDS = ["hamming", "cardinality", "unseen", "uniform prior"]
IDS = [*FLAT_IDS, "prior"]


def scores_of_all(measure, outputs=(0.5, 0.5, 0.5)):
    energy = measure.energy(np.tile(outputs, (len(ALL), 1)))
    return energy.scores(ALL)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_scores_do_not_depend_on_outputs(kind):
    measure = kind(1.5).fit(TRAINING)
    expected = scores_of_all(measure).tolist()
    assert len(set(expected)) > 1
    for outputs in ((0.0, 1.0, 0.25), (1.0, 1.0, 1.0)):
        assert scores_of_all(measure, outputs).tolist() == expected


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_training_labels_are_needed(kind):
    measure = kind(1.0)
    assert measure.needs == Need.TRAINING_LABELS
    with pytest.raises(ValueError, match="so Y needs at least one row, got none"):
        measure.fit(np.empty((0, 3)))
    with pytest.raises(
        ValueError,
        match="needs the labelsets that the model was trained on: pass them as training_l",
    ):
        calibrate_outputs(np.full((2, 3), 0.5), TRAINING[:2], measure=measure)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
@pytest.mark.parametrize("weight", [-1e-9, -1, np.nan, np.inf, "1", None, True])
def test_bad_weights_are_refused(kind, weight):
    with pytest.raises(ValueError, match="weight must be a finite number of at least 0, got "):
        kind(weight).fit(TRAINING)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
@pytest.mark.parametrize("weight", [1.0, 1000.0, 1e8])
def test_bound_is_above_every_score(kind, weight):
    measure = kind(weight).fit(TRAINING)
    scores = scores_of_all(measure)
    assert (scores >= 0).all()
    assert (scores <= np.ldexp(measure.bound_, measure.exponent_) + 8).all()
    assert (scores < 2**50).all()


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_penalties_work_alone_as_measures(kind):
    """p-values from a predictor are those counted by hand, through all of its answers."""
    rng = np.random.default_rng(0)
    Y = ALL[rng.integers(8, size=30)]
    predictor = calibrate_outputs(
        rng.random((30, 3)), Y, measure=kind(1.0), training_labels=TRAINING
    )
    pred = predictor.predict_labelsets(rng.random((2, 3)))
    of_all = dict(
        zip(map(tuple, ALL.tolist()), scores_of_all(kind(1.0).fit(TRAINING)).tolist(), strict=True)
    )
    calibration = [of_all[tuple(labelset)] for labelset in Y.tolist()]
    expected = [(sum(other >= of_all[t] for other in calibration) + 1) / 31 for t in of_all]
    assert pred.p_values().tolist() == [expected] * 2
    assert pred.credibility.tolist() == [max(expected)] * 2
    assert list(pred.region(0.3).sizes) == [sum(p > 0.3 for p in expected)] * 2

"""What all penalties on labelsets have in common."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labelsure import calibrate_outputs
from labelsure._core.energy import Energy
from labelsure._core.energy_parts import SquareRoot
from labelsure.labelsets import decode
from labelsure.measures import (
    CardinalityPenalty,
    HammingPenalty,
    LabelsetPrior,
    Measure,
    Need,
    PowerMeasure,
    UnseenPenalty,
)

TRAINING = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 0]])
ALL = decode(np.arange(8), 3)
FLAT = [HammingPenalty, CardinalityPenalty, UnseenPenalty, lambda weight: LabelsetPrior(weight, base="uniform")]
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
def test_weight_is_a_factor(kind):
    once, thrice = (scores_of_all(kind(weight).fit(TRAINING)) for weight in (1.0, 3.0))
    assert np.abs(thrice - 3 * once).max() <= 12  # each of up to five costs is rounded
    assert scores_of_all(kind(0).fit(TRAINING)).tolist() == [0] * 8


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_order_of_the_training_examples_does_not_matter(kind):
    forward, backward = kind(1.0).fit(TRAINING), kind(1.0).fit(TRAINING[::-1])
    assert scores_of_all(forward).tolist() == scores_of_all(backward).tolist()


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_training_labels_are_needed(kind):
    measure = kind(1.0)
    assert measure.needs == Need.TRAINING_LABELS
    with pytest.raises(ValueError, match="so Y needs at least one row, got none"):
        measure.fit(np.empty((0, 3)))
    with pytest.raises(ValueError, match="needs the labelsets that the model was trained on: pass them as training_l"):
        calibrate_outputs(np.full((2, 3), 0.5), TRAINING[:2], measure=measure)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
@pytest.mark.parametrize("weight", [-1e-9, -1, np.nan, np.inf, "1", None, True])
def test_bad_weights_are_refused(kind, weight):
    with pytest.raises(ValueError, match="weight must be a finite number of at least 0, got "):
        kind(weight).fit(TRAINING)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_weights_too_large_for_exact_sums_are_refused(kind):
    with pytest.raises(ValueError, match=r"Scores may be as large as .*keep scores below 1\.07e\+09"):
        kind(1e12).fit(TRAINING)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
@pytest.mark.parametrize("weight", [1.0, 1000.0, 1e8])
def test_bound_is_above_every_score(kind, weight):
    measure = kind(weight).fit(TRAINING)
    scores = scores_of_all(measure)
    assert (scores >= 0).all()
    assert (scores <= np.ldexp(measure.bound_, measure.exponent_) + 8).all()
    assert (scores < 2**50).all()


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_coarser_units_give_the_same_scores(kind):
    """A sum of measures asks for the units that both can be counted in."""
    measure = kind(1.5).fit(TRAINING)
    coarse = measure.energy(np.full((8, 3), 0.5), exponent=measure.exponent_ - 10).scores(ALL)
    assert np.abs(coarse * 2.0**10 - scores_of_all(measure)).max() <= 2**10 * 3


@pytest.mark.parametrize("kind", FLAT, ids=FLAT_IDS)
def test_penalties_can_be_added_to_a_square_root(kind):
    measure = kind(1.5).fit(TRAINING)
    energy = measure.energy(np.full((8, 3), 0.5))
    assert not energy.constant.any()
    assert not energy.unary.any()
    assert energy.pairwise is None
    assert energy.link is None
    root = Energy(np.arange(8) * 2**40, np.full((8, 3), 2**40), link=SquareRoot(2))
    assert (root + energy).scores(ALL).tolist() == (root.scores(ALL) + energy.scores(ALL)).tolist()


def test_prior_with_marginals_cannot_be_added_to_a_square_root():
    energy = LabelsetPrior().fit(TRAINING).energy(np.full((8, 3), 0.5))
    with pytest.raises(ValueError, match="can only be added to penalties"):
        energy + Energy(np.arange(8), np.ones((8, 3), dtype=np.int64), link=SquareRoot(2))


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_penalties_work_alone_as_measures(kind):
    """p-values from a predictor are those counted by hand, through all of its answers."""
    rng = np.random.default_rng(0)
    Y = ALL[rng.integers(8, size=30)]
    predictor = calibrate_outputs(rng.random((30, 3)), Y, measure=kind(1.0), training_labels=TRAINING)
    pred = predictor.predict_labelsets(rng.random((2, 3)))
    of_all = dict(zip(map(tuple, ALL.tolist()), scores_of_all(kind(1.0).fit(TRAINING)).tolist(), strict=True))
    calibration = [of_all[tuple(labelset)] for labelset in Y.tolist()]
    expected = [(sum(other >= of_all[t] for other in calibration) + 1) / 31 for t in of_all]
    assert pred.p_values().tolist() == [expected] * 2
    assert pred.credibility.tolist() == [max(expected)] * 2
    assert list(pred.region(0.3).sizes) == [sum(p > 0.3 for p in expected)] * 2


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_sparse_outputs_are_refused(kind):
    outputs = sparse.csr_array(np.full((3, 3), 0.6))
    predictor = calibrate_outputs(outputs, TRAINING[:3], measure=PowerMeasure() + kind(1.0), training_labels=TRAINING)
    with pytest.raises(ValueError, match=r"looks at all labels together, so it needs dense outputs.*outputs.toarray"):
        predictor.predict_labelsets(outputs).labelsets  # noqa: B018


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_no_objects_have_an_empty_energy(kind):
    energy = kind(1.0).fit(TRAINING).energy(np.empty((0, 3)))
    assert energy.n_objects == 0
    assert energy.scores(np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize("kind", EVERY, ids=IDS)
def test_penalties_are_scikit_learn_objects(kind):
    measure = kind(0.5)
    assert isinstance(measure, Measure)
    assert measure.get_params()["weight"] == 0.5
    with pytest.raises(NotFittedError):
        measure.energy([[0.5, 0.5, 0.5]])
    assert measure.fit(TRAINING) is measure
    copy = clone(measure)
    assert copy.get_params() == measure.get_params()
    assert not hasattr(copy, "exponent_")
    assert copy.set_params(weight=3).fit(TRAINING).weight == 3
    with pytest.raises(ValueError, match="Y must hold only 0 and 1, got 2"):
        measure.fit([[1, 2]])
    with pytest.raises(ValueError, match=r"outputs must have shape \(n_objects, 3\), got \(1, 2\)"):
        measure.energy([[0.5, 0.5]])


def test_default_weights():
    defaults = [kind().weight for kind in (HammingPenalty, CardinalityPenalty, UnseenPenalty, LabelsetPrior)]
    assert defaults == [2.0, 1.0, 3.0, 1.0]

"""Nothing learned from calibration examples enters a score: permuting their labels changes their own scores alone."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from labelsure import CrossConformalClassifier, InductiveConformalClassifier
from labelsure.estimators import outputs_of
from labelsure.measures import (
    CardinalityPenalty,
    ForestMeasure,
    FunctionMeasure,
    HammingPenalty,
    LabelsetPrior,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    MaxNormMeasure,
    PowerMeasure,
    UnseenPenalty,
)

BASE = RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0)
MEASURES = {
    "power with pairs": PowerMeasure(pair_penalty=1.0),
    "log loss, prior": LogLossMeasure() + LabelsetPrior(),
    "log loss, unseen": LogLossMeasure() + UnseenPenalty(2.0),
    "power, cardinality": PowerMeasure(d=1) + CardinalityPenalty(),
    "signed, Hamming": MahalanobisMeasure(out_of_fold=True) + HammingPenalty(2.0),
    "absolute": MahalanobisMeasure("absolute"),
    "forest": ForestMeasure(n_estimators=10, random_state=0),
    "label-wise": LabelWiseCombination(),
    "auto": "auto",
}
LEARN_NOTHING = {
    "max-norm": MaxNormMeasure(),
    "function": FunctionMeasure(lambda outputs, labelset: np.abs(outputs - labelset).sum(axis=1)),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    return X, (X[:, [0, 1, 2]] + X[:, [1, 2, 0]] + rng.normal(size=(150, 3)) > 0.3).astype(int)


def permute(Y, rows, seed=0):
    """Return labels with those of the given rows in another order."""
    other = Y.copy()
    other[rows] = Y[np.random.default_rng(seed).permutation(rows)]
    assert not np.array_equal(other, Y)
    return other


def scores_of_everything(calibrated, model, X):
    """Return the scores of all labelsets of the objects under one fold."""
    energy = calibrated.fold(outputs_of(model, X, 3), X).energy
    labelsets = np.array([[code >> j & 1 for j in range(3)] for code in range(8)], dtype=np.int8)
    return np.stack([energy.scores(np.tile(one, (len(X), 1))) for one in labelsets])


@pytest.mark.parametrize("name", [*MEASURES, *LEARN_NOTHING])
def test_inductive_scores_do_not_depend_on_calibration_labels(data, name):
    X, Y = data
    measure = (MEASURES | LEARN_NOTHING)[name]
    model = InductiveConformalClassifier(BASE, measure=measure, random_state=0, empty="allow")
    first = model.fit(X, Y)
    rows, own = first.calibration_indices_, first.calibrated_.scores
    scores = scores_of_everything(first.calibrated_, first.model_, X)
    second = model.fit(X, permute(Y, rows))
    assert np.array_equal(scores_of_everything(second.calibrated_, second.model_, X), scores)
    assert not np.array_equal(second.calibrated_.scores, own)  # what may change, and does


@pytest.mark.parametrize("name", MEASURES)
def test_a_folds_scores_do_not_depend_on_its_own_labels(data, name):
    X, Y = data
    measure = MEASURES[name]
    folds = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    model = CrossConformalClassifier(BASE, measure=measure, cv=folds, random_state=0, empty="allow")
    first = model.fit(X, Y)
    scores = [scores_of_everything(*fold, X) for fold in zip(first.calibrated_, first.models_, strict=True)]
    own = [calibrated.scores for calibrated in first.calibrated_]
    second = model.fit(X, permute(Y, folds[0][1]))  # they calibrate fold 0, and train fold 1
    changed = [scores_of_everything(*fold, X) for fold in zip(second.calibrated_, second.models_, strict=True)]
    assert np.array_equal(changed[0], scores[0])
    assert not np.array_equal(second.calibrated_[0].scores, own[0])
    assert not np.array_equal(changed[1], scores[1])

"""Stage one: outputs out of fold are of models that had not seen the example."""

import numpy as np
import pytest
from counting import Counting, make_data
from sklearn.model_selection import KFold

from labelsure.conformal._models import INNER_FOLDS, fit_models, out_of_fold_outputs
from labelsure.conformal._splits import Split
from labelsure.conformal._training_data import TrainingData
from labelsure.measures import Need

X, Y = make_data(45)
SPLITS = [Split(*split) for split in KFold(3, shuffle=True, random_state=0).split(X)]


def fit(needs=Need.NOTHING, *, estimator=None, n_jobs=None):
    estimator = Counting() if estimator is None else estimator
    data = TrainingData(X, Y)
    return fit_models(estimator, data, SPLITS, seeds=[1, 2, 3], needs=needs, n_jobs=n_jobs)


def test_out_of_fold_outputs_are_of_models_that_had_not_seen_the_example():
    """Inner models are trained within the training part, never on a calibration example."""
    Counting.fits.clear()
    (fold, *_) = fit(Need.OUT_OF_FOLD_OUTPUTS)
    assert len(Counting.fits) == 3 * (1 + INNER_FOLDS)
    split = SPLITS[0]
    rows = {tuple(row): i for i, row in enumerate(X.tolist())}
    assert len(rows) == len(X)
    for trained_on, _ in Counting.fits[1 : 1 + INNER_FOLDS]:
        trained = {rows[tuple(row)] for row in trained_on.tolist()}
        assert trained < set(split.train.tolist())
        inner = Counting().fit(X[sorted(trained)], Y[sorted(trained)])
        for place, row in enumerate(split.train.tolist()):
            if row not in trained:
                np.testing.assert_allclose(
                    fold.out_of_fold_outputs[place], inner.predict_proba(X[[row]])[0]
                )
    assert fold.out_of_fold_outputs.shape == (30, 3)


@pytest.mark.parametrize("groups", [None, np.array([0, 1])], ids=["alone", "groups"])
def test_out_of_fold_outputs_of_two_examples_come_from_each_other(groups):
    Counting.fits.clear()
    out_of_fold_outputs(Counting(), TrainingData(X[:2], Y[:2], groups=groups), seed=0)
    assert sorted(len(trained_on) for trained_on, _ in Counting.fits) == [1, 1]

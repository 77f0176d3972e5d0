"""Stage one: each model is trained on its training part alone, asked for what is needed, and seeded by its fold."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from counting import Counting, make_data
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from labelsure import MLkNNClassifier, PooledClassifier
from labelsure.conformal import Split, _models, fit_models, outputs_of_models
from labelsure.conformal._metadata import Metadata
from labelsure.conformal._models import INNER_FOLDS, out_of_fold_outputs
from labelsure.estimators import outputs_of
from labelsure.measures import Need

X, Y = make_data(45)
SPLITS = [Split(*split) for split in KFold(3, shuffle=True, random_state=0).split(X)]
FIVE = [Split(*split) for split in KFold(5, shuffle=True, random_state=0).split(X)]


def fit(needs=(), *, estimator=None, n_jobs=None):
    estimator = Counting() if estimator is None else estimator
    return fit_models(estimator, X, Y, SPLITS, seeds=[1, 2, 3], needs=list(needs), n_jobs=n_jobs)


def test_each_model_is_trained_on_its_training_part_alone():
    Counting.fits.clear()
    models = fit()
    assert len(Counting.fits) == 3
    for (trained_on, labels), split in zip(Counting.fits, SPLITS, strict=True):
        np.testing.assert_array_equal(trained_on, X[split.train])
        np.testing.assert_array_equal(labels, Y[split.train])
    for fold, split in zip(models, SPLITS, strict=True):
        np.testing.assert_array_equal(fold.outputs, outputs_of(fold.model, X[split.calibration], 3))
        assert fold.training_outputs is None
        assert fold.out_of_fold_outputs is None


def test_outputs_for_training_parts_are_there_where_a_measure_needs_them():
    Counting.fits.clear()
    models = fit([Need.NOTHING, Need.TRAINING_OUTPUTS])
    assert len(Counting.fits) == 3
    for fold, split in zip(models, SPLITS, strict=True):
        np.testing.assert_array_equal(fold.training_outputs, outputs_of(fold.model, X[split.train], 3))
        assert fold.out_of_fold_outputs is None


def test_out_of_fold_outputs_are_of_models_that_had_not_seen_the_example():
    """Inner models are trained within the training part; a calibration example trains none of them."""
    Counting.fits.clear()
    (fold, *_) = fit([Need.OUT_OF_FOLD_OUTPUTS])
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
                np.testing.assert_allclose(fold.out_of_fold_outputs[place], inner.predict_proba(X[[row]])[0])
    assert fold.out_of_fold_outputs.shape == (30, 3)


def test_pools_answer_for_training_parts_where_folds_share_models():
    pool = PooledClassifier([("near", MLkNNClassifier(3)), ("nearer", MLkNNClassifier(1))], cv=3)
    needs = [Need.TRAINING_OUTPUTS, Need.OUT_OF_FOLD_OUTPUTS]
    folds = fit_models(pool, X, Y, FIVE, seeds=range(5), needs=needs, n_jobs=None)
    for fold, split in zip(folds, FIVE, strict=True):
        assert fold.shared is not None
        np.testing.assert_array_equal(fold.training_outputs, outputs_of(fold.model, X[split.train], 3))


def test_folds_share_the_seconds_of_all_models_that_they_share(monkeypatch):
    """On a clock that goes on by one whenever it is read, each of the ten models takes one second."""
    ticks = count()
    monkeypatch.setattr(_models, "time", SimpleNamespace(process_time=lambda: next(ticks)))
    folds = fit_models(Counting(), X, Y, FIVE, seeds=range(5), needs=[Need.OUT_OF_FOLD_OUTPUTS], n_jobs=None)
    assert [fold.out_of_fold_seconds for fold in folds] == [10 / 5] * 5


def test_out_of_fold_outputs_of_a_single_example_know_nothing():
    assert out_of_fold_outputs(Counting(), X[:1], Y[:1], seed=0).tolist() == [[0.5] * Y.shape[1]]


@pytest.mark.parametrize("groups", [None, np.array([0, 1])], ids=["alone", "groups"])
def test_out_of_fold_outputs_of_two_examples_come_from_each_other(groups):
    Counting.fits.clear()
    out_of_fold_outputs(Counting(), X[:2], Y[:2], seed=0, metadata=Metadata(groups=groups))
    assert sorted(len(trained_on) for trained_on, _ in Counting.fits) == [1, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_do_not_depend_on_n_jobs_and_are_seeded_by_their_fold(n_jobs):
    forest = RandomForestClassifier(3)
    models = fit([Need.OUT_OF_FOLD_OUTPUTS], estimator=forest, n_jobs=n_jobs)
    assert [fold.model.estimator.random_state for fold in models] == [1, 2, 3]
    for fold, other in zip(models, fit([Need.OUT_OF_FOLD_OUTPUTS], estimator=forest), strict=True):
        np.testing.assert_array_equal(fold.outputs, other.outputs)
        np.testing.assert_array_equal(fold.out_of_fold_outputs, other.out_of_fold_outputs)
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


def test_errors_of_classifiers_say_how_to_wrap_them_unless_there_is_one_label():
    wrong = LogisticRegression(C=-1.0)
    with pytest.raises(ValueError, match=r"could not be fitted on 3 labels: .*OneVsRestClassifier\(LogisticRegression"):
        fit(estimator=wrong)
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression must be") as error:
        fit_models(wrong, X, Y[:, :1], SPLITS, seeds=[1, 2, 3], needs=[], n_jobs=None)
    assert "labels" not in str(error.value)


def test_models_answer_for_new_objects_in_their_order():
    models = [fold.model for fold in fit()]
    expected = [outputs_of(model, X, 3) for model in models]
    for n_jobs in (None, 2):
        np.testing.assert_array_equal(outputs_of_models(models, X, 3, n_jobs=n_jobs), expected)

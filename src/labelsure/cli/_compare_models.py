"""The models of a learner on a resplit: fitted once, used by all measures and guarantees with the same splits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from labelsure import conformal
from labelsure._core.randomness import draw_seeds, set_missing_seeds
from labelsure._core.types import FloatArray, LabelMatrix
from labelsure.cli._compare_data import Resplit
from labelsure.cli._scheduler import fits_on
from labelsure.estimators import fit_base
from labelsure.measures import AutoMeasure, Measure, Need


@dataclass(frozen=True, eq=False)
class LearnerModels:
    """The models inside of a conformal predictor, and what they say.

    Attributes
    ----------
    resplit : Resplit
        The data.
    splits : list of Split
        The rows of its training part that train and calibrate each model.
    models : list of FoldModel
        Fitted, with their outputs for these.
    new : list of arrays of shape (n_test, q)
        Their outputs for the test objects.
    seeds : list of int
        Of the folds, and one for draws.
    own_labels : array of shape (n_test, q)
        What the learner predicts by itself, see :func:`predict_alone`.
    """

    resplit: Resplit
    splits: list[conformal.Split]
    models: list[conformal.FoldModel]
    new: list[FloatArray]
    seeds: list[int]
    own_labels: LabelMatrix

    def examples(self, measure: Measure | AutoMeasure) -> list[conformal.FoldExamples]:
        """Return what each fold is calibrated with."""
        return conformal.gather_examples(self.resplit.X_train, self.resplit.Y_train, self.splits, self.models, measure)


def learn(
    learner: Any,
    resplit: Resplit,
    n_folds: int,
    *,
    needs: Sequence[Need],
    seed: int,
    n_jobs: int,
    client: Any = None,
) -> LearnerModels:
    """Fit all models of a conformal predictor, the same as those inside of it.

    The predictor is ``CrossConformalClassifier(learner, cv=n_folds, guarantee=..., random_state=seed)``, or
    ``InductiveConformalClassifier(learner, random_state=seed)``.

    Parameters
    ----------
    learner : classifier
        Unfitted.
    n_folds : int
        How many folds it has; 1 if it is inductive.
    needs : sequence of Need
        What each measure in question needs to know of training parts.
    n_jobs : int
        Processes to work with.
    client : distributed.Client or None
        Of a cluster that the models are fitted on instead.
    """
    X, Y, X_test, _ = resplit
    random = check_random_state(seed)
    (split_seed,) = draw_seeds(random, 1)
    if n_folds == 1:
        splits = [conformal.hold_out(conformal.InductiveConformalClassifier().calibration_size, len(Y), split_seed)]
    else:
        splits = conformal.make_splits(n_folds, X, Y, split_seed)
    seeds = draw_seeds(random, len(splits) + 1)
    n_processes = min(effective_n_jobs(n_jobs), len(splits)) if client is None else None
    with fits_on(client):
        models = conformal.fit_models(learner, X, Y, splits, seeds=seeds[:-1], needs=needs, n_jobs=n_processes)
    new = conformal.outputs_of_models([model.model for model in models], X_test, Y.shape[1], n_jobs=n_jobs)
    with threadpool_limits(limits=effective_n_jobs(n_jobs)):
        own_labels = predict_alone(set_missing_seeds(clone(learner), seed), resplit)
    return LearnerModels(resplit, splits, models, new, seeds, own_labels)


def predict_alone(learner: Any, resplit: Resplit) -> LabelMatrix:
    """Return the zeros and ones that a learner predicts without us, fitted on the whole training part."""
    X, Y, X_test, Y_test = resplit
    model = fit_base(learner, X, Y)
    labels = np.tile(Y[0], (len(Y_test), 1))  # right for labels that are constant in training, which it may not know
    if model.estimator is not None:
        labels[:, model.learned] = model.estimator.predict(X_test)
    return labels

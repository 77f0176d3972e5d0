"""The models of a learner on a resplit: fitted once, used by all measures and guarantees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from labelsure._core.randomness import draw_seeds
from labelsure._core.types import FloatArray
from labelsure.cli._compare_data import Resplit
from labelsure.cli._compare_words import INDUCTIVE
from labelsure.conformal import (
    GUARANTEES,
    FoldExamples,
    FoldModel,
    InductiveConformalClassifier,
    Split,
    fit_models,
    gather_examples,
    hold_out,
    make_splits,
    outputs_of_models,
)
from labelsure.measures import AutoMeasure, Measure, Need


@dataclass(frozen=True)
class Splitting:
    """How a predictor splits what it is fitted on.

    Attributes
    ----------
    n_folds : int
        One: an inductive predictor.
    equal : bool
        Whether the folds must have one size, the examples left over only training.
    """

    n_folds: int
    equal: bool = False

    @classmethod
    def of(cls, guarantee: str, *, n_folds: int, n_examples: int) -> "Splitting":
        """Return how the predictor with a guarantee splits; guarantees with the same splits share models."""
        if guarantee == INDUCTIVE:
            return cls(1)
        return cls(n_folds, equal=GUARANTEES[guarantee].prefixes and n_examples % n_folds > 0)

    def splits(self, resplit: Resplit, seed: int) -> list[Split]:
        """Return the rows that train and those that calibrate, fold by fold."""
        if self.n_folds == 1:
            return [hold_out(InductiveConformalClassifier().calibration_size, len(resplit.Y_train), seed)]
        return make_splits(self.n_folds, resplit.X_train, resplit.Y_train, seed, equal=self.equal)


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
    """

    resplit: Resplit
    splits: list[Split]
    models: list[FoldModel]
    new: list[FloatArray]
    seeds: list[int]

    def examples(self, measure: Measure | AutoMeasure) -> list[FoldExamples]:
        """Return what each fold is calibrated with, as far as the measure looks at it."""
        return gather_examples(self.resplit.X_train, self.resplit.Y_train, self.splits, self.models, measure)

    def seconds(self, measure: Measure | AutoMeasure) -> float:
        """Return what the models that a measure needs took the processor."""
        learned = Need.OUT_OF_FOLD_OUTPUTS in measure.needs
        return sum(model.seconds + learned * model.out_of_fold_seconds for model in self.models)


def learn(
    learner: Any,
    resplit: Resplit,
    *,
    splitting: Splitting,
    measures: Sequence[Measure | AutoMeasure],
    seed: int,
    n_jobs: int,
) -> LearnerModels:
    """Fit all models of a conformal predictor, the same as those inside of it.

    The predictor is ``CrossConformalClassifier(learner, cv=n_folds, guarantee=..., random_state=seed)``, or
    ``InductiveConformalClassifier(learner, random_state=seed)``.

    Parameters
    ----------
    learner : classifier
        Unfitted.
    splitting : Splitting
        How it splits the training part.
    measures : sequence of Measure
        Those that outputs for training examples are made for.
    n_jobs : int
        Processes to work with.
    """
    random = check_random_state(seed)
    splits = splitting.splits(resplit, *draw_seeds(random, 1))
    seeds = draw_seeds(random, len(splits) + 1)
    models = fit_models(
        learner,
        resplit.X_train,
        resplit.Y_train,
        splits,
        seeds=seeds[:-1],
        needs=[measure.needs for measure in measures],
        n_jobs=min(effective_n_jobs(n_jobs), len(splits)),
    )
    fitted = [model.model for model in models]
    new = outputs_of_models(fitted, resplit.X_test, resplit.Y_train.shape[1], n_jobs=n_jobs)
    return LearnerModels(resplit, splits, models, new, seeds)

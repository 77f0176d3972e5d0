"""The cells of a comparison: measures and guarantees on the outputs of a learner, judged on the test objects.

A learner's models are fitted once on a resplit, and used by all measures and guarantees with the same splits.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, median
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from labelsure import conformal
from labelsure._core.randomness import draw_seeds
from labelsure._core.types import FloatArray, LabelMatrix
from labelsure.cli._arguments import INDUCTIVE, WITHOUT_P_VALUES, significance_of
from labelsure.cli._compare_data import Resplit
from labelsure.measures import MANY_LABELS, AutoMeasure, Measure, Need
from labelsure.metrics import error_rate, mean_region_size, subset_accuracy, sum_criterion
from labelsure.predictions import LabelsetPredictions, RegionSize

Figures: TypeAlias = dict[str, Any]
"""What a cell measured: numbers by name, some by confidence level."""

Splitting: TypeAlias = tuple[int, bool]
"""How many folds a predictor has, one if it is inductive; whether they must have one size, the rest only training."""


def splitting_of(guarantee: str, *, n_folds: int, n_examples: int) -> Splitting:
    """Return how the predictor with a guarantee splits; guarantees with the same splits share models."""
    if guarantee == INDUCTIVE:
        return 1, False
    return n_folds, conformal.GUARANTEES[guarantee].prefixes and n_examples % n_folds > 0


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
    splits: list[conformal.Split]
    models: list[conformal.FoldModel]
    new: list[FloatArray]
    seeds: list[int]

    def examples(self, *, out_of_fold: bool) -> list[conformal.FoldExamples]:
        """Return what each fold is calibrated with."""
        X, Y = self.resplit.X_train, self.resplit.Y_train
        examples = []
        for (train, rows), model in zip(self.splits, self.models, strict=True):
            outputs = model.out_of_fold_outputs if out_of_fold else model.training_outputs
            part = conformal.TrainingPart(Y[train], outputs, X[train])
            examples.append(conformal.FoldExamples(model.outputs, Y[rows], part, X[rows]))
        return examples


def learn(
    learner: Any,
    resplit: Resplit,
    splitting: Splitting,
    *,
    needs: Sequence[Need],
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
    splitting : tuple
        How it splits the training part.
    needs : sequence of Need
        What each measure in question needs to know of training parts.
    n_jobs : int
        Processes to work with.
    """
    X, Y, X_test, _ = resplit
    n_folds, equal = splitting
    random = check_random_state(seed)
    (split_seed,) = draw_seeds(random, 1)
    if n_folds == 1:
        splits = [conformal.hold_out(conformal.InductiveConformalClassifier().calibration_size, len(Y), split_seed)]
    else:
        splits = conformal.make_splits(n_folds, X, Y, split_seed, equal=equal)
    seeds = draw_seeds(random, len(splits) + 1)
    n_processes = min(effective_n_jobs(n_jobs), len(splits))
    models = conformal.fit_models(learner, X, Y, splits, seeds=seeds[:-1], needs=needs, n_jobs=n_processes)
    new = conformal.outputs_of_models([model.model for model in models], X_test, Y.shape[1], n_jobs=n_jobs)
    return LearnerModels(resplit, splits, models, new, seeds)


def measure_cells(
    measure: Measure | AutoMeasure,
    learned: LearnerModels,
    guarantees: Sequence[str],
    *,
    levels: Sequence[str],
    n_sized: int,
    n_jobs: int,
) -> Iterator[dict[str, Any]]:
    """Yield the figures under each guarantee, and what folds chose if they did, or why there are none.

    Parameters
    ----------
    measure : Measure or AutoMeasure
        Unfitted.
    learned : LearnerModels
        The models, their outputs, and the data that they are about.
    guarantees : sequence of str
        By name.
    levels, n_sized
        As in :func:`judge`.
    n_jobs : int
        Threads to work with.
    """
    out_of_fold = Need.OUT_OF_FOLD_OUTPUTS in measure.needs
    learn_seconds = sum(model.seconds + out_of_fold * model.out_of_fold_seconds for model in learned.models)
    start = time.process_time()
    try:
        folds = tuple(conformal.calibrate(measure, learned.examples(out_of_fold=out_of_fold), seeds=learned.seeds[:-1]))
    except ValueError as error:  # what a measure says to data that it is not for
        yield from ({"refused": str(error)} for _ in guarantees)
        return
    fit_seconds = time.process_time() - start
    for guarantee in guarantees:
        # one fold: nothing is merged
        choices = conformal.Choices("cross" if guarantee == INDUCTIVE else guarantee)
        calibrator = conformal.Calibrator(folds, choices, learned.seeds[-1], complementary=True, n_jobs=n_jobs)
        for objects in (slice(1), slice(None)):  # the first alone: whatever has to be compiled is so then
            start = time.process_time()
            predictions = calibrator.predict([part[objects] for part in learned.new], learned.resplit.X_test[objects])
            p_values = guarantee not in WITHOUT_P_VALUES
            figures = judge(predictions, learned.resplit.Y_test[objects], levels, n_sized=n_sized, p_values=p_values)
        seconds = {"fit": learn_seconds, "answer": fit_seconds + time.process_time() - start}
        chosen = calibrator.measure_choices
        cell: dict[str, Any] = {"figures": figures | {"seconds": seconds}}
        yield cell if chosen is None else cell | {"chosen": dict(chosen.counts)}


def judge(
    predictions: LabelsetPredictions, Y: LabelMatrix, levels: Sequence[str], *, n_sized: int, p_values: bool
) -> Figures:
    """Return errors, sizes and the like of predictions for objects with these true labelsets.

    Parameters
    ----------
    levels : sequence of str
        Confidence levels in percent.
    n_sized : int
        How many objects, the first ones, sizes and sums of p-values are of, which take long; the rest is of all.
    p_values : bool
        Whether there are p-values to add up.
    """
    many = Y.shape[1] > MANY_LABELS
    sized = predictions[:n_sized]
    figures: Figures = {}
    for level in levels:
        significance = significance_of(level)
        region = sized.region(significance)
        found = {
            "errors": 100 * error_rate(predictions.region(significance).contains(Y)),
            "empty": 100 * float(np.mean(region.sizes == 0)),
            **(_logarithms(region.size_estimates) if many else {"sizes": mean_region_size(region.sizes)}),
        }
        for name, value in found.items():
            figures.setdefault(name, {})[level] = value
    if p_values and not many:
        sums = sum_criterion(sized)
        figures |= {"S": sums, "OF": sums - float(sized.p_value(Y[:n_sized]).mean())}
    return figures | {"subset_accuracy": subset_accuracy(Y, predictions.labelsets)}


def _logarithms(sizes: Sequence[RegionSize]) -> dict[str, float]:
    """Return median and mean of log2 of the size, medians of the ends of its interval, and how many are estimates."""
    ends = {
        "log2_sizes": [size.value for size in sizes],
        "log2_low": [size.low for size in sizes],
        "log2_high": [size.high for size in sizes],
    }
    bits = {name: [log2(max(size, 1)) for size in values] for name, values in ends.items()}
    return {name: median(values) for name, values in bits.items()} | {
        "log2_mean": fmean(bits["log2_sizes"]),
        "estimated": 100 * fmean(not size.exact for size in sizes),
    }

"""One cell of a comparison: a measure and a guarantee on the outputs of a learner, judged on the test objects."""

import time
from collections.abc import Sequence
from functools import cached_property
from math import log2
from statistics import fmean, median
from typing import Any, TypeAlias

from sklearn.base import clone

from labelsure._core.randomness import set_missing_seeds
from labelsure._core.running import map_in_threads, one_thread
from labelsure._core.types import LabelMatrix
from labelsure.cli._compare_data import Resplit
from labelsure.cli._compare_outputs import FoldOutputs
from labelsure.cli._compare_words import INDUCTIVE, WITHOUT_P_VALUES, significance_of
from labelsure.conformal._base import resolve_empty
from labelsure.conformal._calibrated import CalibratedMeasure, TrainingPart, calibrate, choices_of
from labelsure.conformal._predicting import predict_folds
from labelsure.labelsets import RegionSize
from labelsure.measures import Measure
from labelsure.metrics import mean_region_size, region_errors, subset_accuracy, sum_criterion
from labelsure.predictions import LabelsetPredictions

MANY_LABELS = 20
"""With more labels the mean size says little, and the sum of all p-values cannot be had."""

Figures: TypeAlias = dict[str, Any]
"""What a cell measured: numbers by name, some by confidence level."""


class MeasureTest:
    """A measure on the outputs of a learner's models, judged on the test objects under any guarantee.

    Parameters
    ----------
    measure : Measure
        Unfitted.
    folds : sequence of FoldOutputs
        The outputs.
    resplit : Resplit
        The data that they are about.
    levels : sequence of str
        Confidence levels in percent.
    n_sized : int
        How many test objects, the first ones, have the sizes of their regions measured.
    seed : int
        For the draws of randomised guarantees.
    n_jobs : int
        Threads to work with.
    """

    def __init__(
        self,
        measure: Measure,
        folds: Sequence[FoldOutputs],
        resplit: Resplit,
        *,
        levels: Sequence[str],
        n_sized: int,
        seed: int,
        n_jobs: int,
    ) -> None:
        self.measure = measure
        self.folds = folds
        self.resplit = resplit
        self.levels = levels
        self.n_sized = n_sized
        self.seed = seed
        self.n_jobs = n_jobs

    def cell(self, guarantee: str) -> dict[str, Any]:
        """Return the figures under a guarantee, and what folds chose if they did, or why there are none."""
        try:
            calibrated, fit_seconds = self._calibrated
        except ValueError as error:  # what a measure says to data that it is not for
            return {"refused": str(error)}
        self._judge(guarantee, slice(1))  # whatever has to be compiled is so now
        start = time.process_time()
        figures = self._judge(guarantee, slice(None))
        learner_seconds = sum(fold.seconds for fold in self.folds)
        if self.measure.needs_out_of_fold_outputs:
            learner_seconds += sum(fold.out_of_fold_seconds for fold in self.folds)
        answer_seconds = fit_seconds + time.process_time() - start
        choices = choices_of(calibrated)
        chosen = {} if choices is None else {"chosen": dict(choices.counts)}
        return {"figures": figures | {"seconds": {"fit": learner_seconds, "answer": answer_seconds}}, **chosen}

    @cached_property
    def _calibrated(self) -> tuple[list[CalibratedMeasure], float]:
        """A copy of the measure for each fold, fitted and calibrated, and the seconds that this took."""
        start = time.process_time()
        fitted = map_in_threads(self._calibrate, self.folds, n_jobs=self.n_jobs, description="fitting the measure")
        return list(fitted), time.process_time() - start

    def _calibrate(self, fold: FoldOutputs) -> CalibratedMeasure:
        X, Y = self.resplit.X_train, self.resplit.Y_train
        outputs = fold.out_of_fold if self.measure.needs_out_of_fold_outputs else fold.training
        training = TrainingPart(Y[fold.train], outputs, X[fold.train])
        measure = set_missing_seeds(clone(self.measure), fold.seed)
        with one_thread():
            return calibrate(measure, fold.held_out, Y[fold.calibration], training=training, X=X[fold.calibration])

    def _judge(self, guarantee: str, objects: slice) -> Figures:
        """Return the figures of some of the test objects."""
        X, Y = self.resplit.X_test[objects], self.resplit.Y_test[objects]
        calibrated, _ = self._calibrated
        with one_thread():
            folds = [own.fold(fold.new[objects], X) for own, fold in zip(calibrated, self.folds, strict=True)]
        predictions = predict_folds(
            folds,
            guarantee="cross" if guarantee == INDUCTIVE else guarantee,  # one fold: nothing is merged
            smoothed=False,
            random_state=self.seed,
            allow_empty=resolve_empty("auto", self.resplit.Y_train),
            label_names=None,
            n_jobs=self.n_jobs,
        )
        p_values = guarantee not in WITHOUT_P_VALUES
        return judge(predictions, Y, self.levels, n_sized=self.n_sized, p_values=p_values)


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
        sizes = sized.region(significance).sizes.tolist()
        found = {
            "errors": region_errors(predictions.region(significance).contains(Y)),
            "empty": 100 * fmean(int(size) == 0 for size in sizes),
            **(_logarithms(sizes) if many else {"sizes": mean_region_size(sizes)}),
        }
        for name, value in found.items():
            figures.setdefault(name, {})[level] = value
    if p_values and not many:
        sums = sum_criterion(sized)
        figures |= {"S": sums, "OF": sums - float(sized.p_value(Y[:n_sized]).mean())}
    return figures | {"subset_accuracy": subset_accuracy(Y, predictions.labelsets)}


def _logarithms(sizes: Sequence[int | RegionSize]) -> dict[str, float]:
    """Return median and mean of log2 of the size, medians of the ends of its interval, and how many are estimates."""
    ends = {
        "log2_sizes": [int(size) for size in sizes],
        "log2_low": [size.low if isinstance(size, RegionSize) else size for size in sizes],
        "log2_high": [size.high if isinstance(size, RegionSize) else size for size in sizes],
    }
    bits = {name: [log2(max(size, 1)) for size in values] for name, values in ends.items()}
    return {name: median(values) for name, values in bits.items()} | {
        "log2_mean": fmean(bits["log2_sizes"]),
        "estimated": 100 * fmean(isinstance(size, RegionSize) for size in sizes),
    }

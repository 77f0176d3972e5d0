"""One cell of a comparison: a measure and a guarantee on the outputs of a learner, judged on the test objects."""

import time
from collections.abc import Sequence
from functools import cached_property
from math import log2
from statistics import fmean, median
from typing import Any, TypeAlias

import numpy as np

from labelsure._core.types import LabelMatrix
from labelsure.cli._compare_outputs import LearnerModels
from labelsure.cli._compare_words import INDUCTIVE, WITHOUT_P_VALUES, significance_of
from labelsure.conformal import CalibratedFold, Calibrator, Choices, calibrate
from labelsure.measures import MANY_LABELS, AutoMeasure, Measure
from labelsure.metrics import error_rate, mean_region_size, subset_accuracy, sum_criterion
from labelsure.predictions import LabelsetPredictions, RegionSize

Figures: TypeAlias = dict[str, Any]
"""What a cell measured: numbers by name, some by confidence level."""


class MeasureTest:
    """A measure on the outputs of a learner's models, judged on the test objects under any guarantee.

    Parameters
    ----------
    measure : Measure or AutoMeasure
        Unfitted.
    learned : LearnerModels
        The models, their outputs, and the data that they are about.
    levels : sequence of str
        Confidence levels in percent.
    n_sized : int
        How many test objects, the first ones, have the sizes of their regions measured.
    n_jobs : int
        Threads to work with.
    """

    def __init__(
        self,
        measure: Measure | AutoMeasure,
        learned: LearnerModels,
        *,
        levels: Sequence[str],
        n_sized: int,
        n_jobs: int,
    ) -> None:
        self.measure = measure
        self.learned = learned
        self.levels = levels
        self.n_sized = n_sized
        self.n_jobs = n_jobs

    def cell(self, guarantee: str) -> dict[str, Any]:
        """Return the figures under a guarantee, and what folds chose if they did, or why there are none."""
        try:
            folds, fit_seconds = self._calibrated
        except ValueError as error:  # what a measure says to data that it is not for
            return {"refused": str(error)}
        calibrator = Calibrator(
            folds,
            Choices("cross" if guarantee == INDUCTIVE else guarantee),  # one fold: nothing is merged
            self.learned.seeds[-1],
            complementary=True,
            n_jobs=self.n_jobs,
        )
        p_values = guarantee not in WITHOUT_P_VALUES
        self._judge(calibrator, slice(1), p_values=p_values)  # whatever has to be compiled is so now
        start = time.process_time()
        figures = self._judge(calibrator, slice(None), p_values=p_values)
        seconds = {
            "fit": self.learned.seconds(self.measure),
            "answer": fit_seconds + time.process_time() - start,
        }
        choices = calibrator.measure_choices
        chosen = {} if choices is None else {"chosen": dict(choices.counts)}
        return {"figures": figures | {"seconds": seconds}, **chosen}

    @cached_property
    def _calibrated(self) -> tuple[tuple[CalibratedFold, ...], float]:
        """A copy of the measure for each fold, fitted and calibrated, and the seconds that this took."""
        start = time.process_time()
        folds = calibrate(self.measure, self.learned.examples(self.measure), seeds=self.learned.seeds[:-1])
        return tuple(folds), time.process_time() - start

    def _judge(self, calibrator: Calibrator, objects: slice, *, p_values: bool) -> Figures:
        """Return the figures of some of the test objects."""
        resplit = self.learned.resplit
        outputs = [part[objects] for part in self.learned.new]
        predictions = calibrator.predict(outputs, resplit.X_test[objects])
        return judge(predictions, resplit.Y_test[objects], self.levels, n_sized=self.n_sized, p_values=p_values)


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

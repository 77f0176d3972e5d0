"""The cells of a comparison: a measure and guarantees on the outputs of a learner, judged on the test objects."""

import time
from collections.abc import Iterator, Sequence
from math import log2
from statistics import fmean, median
from typing import Any, TypeAlias

import numpy as np

from labelsure import conformal
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.cli._arguments import INDUCTIVE, significance_of
from labelsure.cli._compare_models import LearnerModels
from labelsure.measures import MANY_LABELS, AutoMeasure, Measure, Need
from labelsure.metrics import error_rate, f1_macro, mean_region_size, subset_accuracy, sum_criterion
from labelsure.predictions import LabelsetPredictions, RegionSize

Figures: TypeAlias = dict[str, Any]
"""What a cell measured: numbers by name, some by confidence level."""


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
        folds = tuple(conformal.calibrate(measure, learned.examples(measure), seeds=learned.seeds[:-1]))
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
            new, Y = [part[objects] for part in learned.new], learned.resplit.Y_test[objects]
            predictions = calibrator.predict(new, learned.resplit.X_test[objects])
            p_values = guarantee != "exact"  # which changes regions only
            figures = judge(predictions, Y, levels, n_sized=n_sized, p_values=p_values)
            figures |= judge_labelsets(conformal.single_answers(predictions, calibrator, new), Y)
        seconds = {"fit": learn_seconds, "answer": fit_seconds + time.process_time() - start}
        figures |= {"seconds": seconds, "learner": judge_labelsets(learned.own_labels, Y)}
        chosen = calibrator.measure_choices
        cell: dict[str, Any] = {"figures": figures}
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
        region = sized.region(significance, bits=0.1)
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
    return figures


def judge_labelsets(predicted: LabelMatrix | IntArray, Y: LabelMatrix) -> dict[str, float]:
    """Return how good predicted labelsets are, and their mean number of labels beside that of the true ones."""
    n_labels, n_true = (float(labels.sum(axis=1).mean()) for labels in (predicted, Y))
    accuracy, macro_f = subset_accuracy(Y, predicted), f1_macro(Y, predicted)
    return {"subset_accuracy": accuracy, "macro_f": macro_f, "n_labels": n_labels, "n_true_labels": n_true}


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

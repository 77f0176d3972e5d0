"""How long does an object with 159 labels take?"""

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks._figures import Figure
from benchmarks._logistic import N_OBJECTS, Outputs, logistic_outputs
from benchmarks._measuring import fastest, in_new_process, peak_growth
from labelsure import LabelsetPredictions, PowerMeasure, calibrate_outputs

TITLE = "An object with 159 labels"
METHOD = (
    f"What `calibrate_outputs` with `PowerMeasure(d=4)` answers for the first {N_OBJECTS} test"
    " objects of bibtex from the outputs of logistic regression in 10 folds, on one thread: CPU"
    " milliseconds per object, best of several runs, kernels compiled beforehand. Memory is the"
    " highest growth of the process for all objects together, in a process of its own."
)
SIGNIFICANCE = 0.1
REPEATS = 5


def measure() -> list[Figure]:
    """Return milliseconds by object, and memory."""
    predict = partial(_predict, logistic_outputs("bibtex"))
    best_of(predict()[:2]), labels_of(predict()[:2])  # compile
    seconds = fastest(
        {
            "making the predictions, which answers nothing yet": predict,
            "best labelset, confidence, credibility": lambda: best_of(predict()),
            "labels in every, in some labelset of the region": lambda: labels_of(predict()),
            "all of these": lambda: answers_of(predict()),
        },
        repeats=REPEATS,
        clock=time.process_time,
    )
    memory = in_new_process(_memory, logistic_outputs("bibtex"))
    return [
        *(Figure(what, 1000 * value / N_OBJECTS, "ms") for what, value in seconds.items()),
        Figure("all of these: memory", memory, "MiB"),
    ]


def best_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the best labelsets with confidence and credibility."""
    return predictions.labelsets, predictions.confidence, predictions.credibility


def labels_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the labels in every and in some labelset of the 90 % region."""
    region = predictions.region(SIGNIFICANCE)
    return region.inner, region.outer


def answers_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return both."""
    return (*best_of(predictions), *labels_of(predictions))


def _predict(outputs: Outputs) -> LabelsetPredictions:
    predictor = calibrate_outputs(
        outputs.calibration, outputs.Y, folds=outputs.fold_of, measure=PowerMeasure(d=4), n_jobs=1
    )
    return predictor.predict_labelsets(outputs.test)


def _memory(outputs: Outputs) -> float:
    answers_of(_predict(outputs)[np.arange(1)])
    predictions = _predict(outputs)
    return peak_growth(lambda: answers_of(predictions))[1] / 2**20

"""What learners warn of in folds comes in one line, wherever the folds run."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    RecallController,
)
from labelsure.measures import PowerMeasure

RNG = np.random.default_rng(0)
X = RNG.random((60, 4))
Y = (RNG.random((60, 3)) < X[:, :3]).astype(int)
RARE = np.column_stack([Y, np.arange(60) < 1, np.arange(60) == 30])
"""Two labels with a single example each, which half of the folds do not train on."""

IMPATIENT = OneVsRestClassifier(LogisticRegression(max_iter=1))


def given_by(model, labels=Y):
    with warnings.catch_warnings(record=True) as given:
        model.fit(X, labels)
    return given


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rare_labels_are_one_line(n_jobs):
    model = CrossConformalClassifier(
        OneVsRestClassifier(LogisticRegression()),
        measure=PowerMeasure(),
        cv=6,
        random_state=0,
        n_jobs=n_jobs,
    )
    (line,) = given_by(model, RARE)
    text = str(line.message)
    assert text.startswith(
        "2 warnings while fitting folds, 2 different ones; the first: Label not "
    )
    assert text.endswith("is present in all training examples.")
    assert line.filename == __file__


@pytest.mark.parametrize(
    "model",
    [
        CrossConformalClassifier(IMPATIENT, measure=PowerMeasure(), cv=4),
        CrossConformalClassifier(IMPATIENT, cv=5),
        InductiveConformalClassifier(IMPATIENT, measure=PowerMeasure()),
        LabelWiseConformalClassifier(IMPATIENT, cv=4),
        RecallController(IMPATIENT, cv=4),
    ],
    ids=["cross", "default measure", "inductive", "label-wise", "recall"],
)
def test_learners_that_do_not_converge_are_one_line(model):
    (line,) = [
        warning for warning in given_by(model) if issubclass(warning.category, ConvergenceWarning)
    ]
    assert " warnings while fitting folds" in str(line.message)

"""Precomputed outputs support every option of the classifiers, with the same answers."""

from dataclasses import replace

import numpy as np
import pytest
from counting import Counting, make_data, without_addresses

from labelsure import (
    ByCardinality,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    PowerMeasure,
    calibrate_outputs,
)
from labelsure.conformal import GUARANTEES
from labelsure.learners import outputs_of
from labelsure.measures import (
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    UnseenPenalty,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(72)


def right(X):
    return np.where(np.asarray(X)[:, 3] > 0.5, "right", "left")


def fit_cross(**options):
    """Return a fitted classifier, a predictor from its models' outputs, and new outputs."""
    options.setdefault("measure", LogLossMeasure() + UnseenPenalty())
    model = CrossConformalClassifier(Counting(), cv=4, random_state=0, **options).fit(
        X[:60], Y[:60]
    )
    outputs, folds = np.empty((60, 3)), np.empty(60, dtype=int)
    for k, (rows, inner) in enumerate(zip(model.fold_indices_, model.models_, strict=True)):
        outputs[rows], folds[rows] = outputs_of(inner, X[rows], 3), k
    training = np.stack([outputs_of(inner, X[:60], 3) for inner in model.models_])
    predictor = calibrate_outputs(
        outputs, Y[:60], folds=folds, X=X[:60], training_outputs=training, **options
    )
    return model, predictor, np.stack([outputs_of(inner, X[60:], 3) for inner in model.models_])


def fit_inductive(**options):
    options.setdefault("measure", LogLossMeasure() + UnseenPenalty())
    model = InductiveConformalClassifier(Counting(), random_state=0, **options).fit(X[:60], Y[:60])
    (inner,), (rows,) = model.models_, model.fold_indices_
    train = np.setdiff1d(np.arange(60), rows)
    known = {
        "training_labels": Y[train],
        "training_outputs": outputs_of(inner, X[train], 3),
        "X": X[rows],
    }
    predictor = calibrate_outputs(outputs_of(inner, X[rows], 3), Y[rows], **known, **options)
    return model, predictor, outputs_of(inner, X[60:], 3)


def assert_alike(model, predictor, new):
    # for the same draws
    predictor.calibrator = replace(predictor.calibrator, seed=model.calibrator_.seed)
    pred, expected = predictor.predict_labelsets(new, X[60:]), model.predict_labelsets(X[60:])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    np.testing.assert_array_equal(pred.labelsets, expected.labelsets)
    for level in (0.1, 0.25):
        assert pred.region(level).sizes.tolist() == expected.region(level).sizes.tolist()
        assert pred.region(level).statement == expected.region(level).statement
    np.testing.assert_array_equal(predictor.predict(new, X[60:]), model.predict(X[60:]))
    assert predictor.predict(new, X[60:]).dtype == np.int64
    np.testing.assert_array_equal(
        predictor.nonconformity(new, Y[60:]), model.nonconformity(X[60:], Y[60:])
    )


CHOICES = [
    {"mondrian": "cardinality"},
    {"mondrian": ByCardinality(at_most=2), "empty_labelset": "allow"},
    {"mondrian": 1},
    {"mondrian": right},
    {"mondrian": right, "smoothed": True},
    {"smoothed": True},
    {"empty_labelset": "exclude"},
    {"empty_labelset": "allow"},
]
MEASURES = [
    PowerMeasure(2, pair_penalty=1),
    LogLossMeasure() + UnseenPenalty(),
    MahalanobisMeasure(),
    LabelWiseCombination(),
]


@pytest.mark.parametrize("fit", [fit_cross, fit_inductive])
@pytest.mark.parametrize(
    "options", [*CHOICES, *[{"measure": measure} for measure in MEASURES]], ids=without_addresses
)
def test_choices_give_what_the_classifier_gives(fit, options):
    assert_alike(*fit(**options))


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_guarantees_give_what_the_classifier_gives(guarantee):
    assert_alike(*fit_cross(guarantee=guarantee))

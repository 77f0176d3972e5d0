"""Another measure, guarantee or counting rule for fitted models: like a fresh fit, untrained."""

import numpy as np
import pytest
from counting import Counting, make_data, without_addresses

from labelsure import (
    ByCardinality,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    RecalibratedClassifier,
)
from labelsure.measures import (
    ForestMeasure,
    HammingPenalty,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    PowerMeasure,
    UnseenPenalty,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(80)
EXAMPLES = X[:60], Y[:60]
MEASURES = [
    PowerMeasure(2, pair_penalty=1.0),
    LogLossMeasure() + UnseenPenalty(2.0),
    MahalanobisMeasure() + HammingPenalty(),  # learns from outputs for the training part
    LabelWiseCombination(),
    ForestMeasure(LogLossMeasure(), n_estimators=3),  # draws at random, and looks at objects
]


def right(X):
    return np.asarray(X)[:, 3] > 0.5


def cross(**options):
    return CrossConformalClassifier(Counting(), **({"cv": 4, "random_state": 3} | options))


def inductive(**options):
    return InductiveConformalClassifier(Counting(), **({"random_state": 3} | options))


def assert_same(model, expected):
    """The same down to the bit: what was learned, all answers, and what is said about them."""
    for fold, other in zip(model.calibrator_.folds, expected.calibrator_.folds, strict=True):
        assert fold.scores.tolist() == other.scores.tolist()
    assert model.calibrator_.seed == expected.calibrator_.seed
    assert model.get_params().keys() == expected.get_params().keys()
    pred, other = model.predict_labelsets(X[60:]), expected.predict_labelsets(X[60:])
    np.testing.assert_array_equal(pred.p_values(), other.p_values())
    np.testing.assert_array_equal(pred.labelsets, other.labelsets)
    for level in (0.1, 0.3):
        assert pred.region(level).sizes.tolist() == other.region(level).sizes.tolist()
        assert pred.region(level).statement == other.region(level).statement
    np.testing.assert_array_equal(
        model.nonconformity(X[60:], Y[60:]), expected.nonconformity(X[60:], Y[60:])
    )


def assert_as_fresh(make, start, changes):
    model = make(**start).fit(*EXAMPLES)
    before = model.predict_labelsets(X[60:]).p_values()
    Counting.fits.clear()
    again = model.recalibrate(*EXAMPLES, **changes)
    assert not Counting.fits
    assert_same(again, make(**(start | changes)).fit(*EXAMPLES))
    assert again.models_ is model.models_
    assert all(
        again.get_params()[name] is value
        for name, value in changes.items()
        if not hasattr(value, "get_params")
    )
    np.testing.assert_array_equal(model.predict_labelsets(X[60:]).p_values(), before)


@pytest.mark.parametrize("make", [cross, inductive])
@pytest.mark.parametrize("measure", MEASURES, ids=without_addresses)
def test_another_measure_equals_a_fresh_fit(make, measure):
    assert_as_fresh(make, {"measure": PowerMeasure(1)}, {"measure": measure})


@pytest.mark.parametrize("make", [cross, inductive])
@pytest.mark.parametrize(
    "changes",
    [
        {"smoothed": True},
        {"empty_labelset": "allow"},
        {"empty_labelset": "exclude"},
        {"mondrian": "cardinality"},
        {"mondrian": 1},
        {"mondrian": right},
        {
            "mondrian": ByCardinality(at_most=2),
            "measure": PowerMeasure(),
            "empty_labelset": "allow",
        },
        {"n_jobs": 2},
        {},
    ],
    ids=without_addresses,
)
def test_another_way_of_counting_equals_a_fresh_fit(make, changes):
    assert_as_fresh(make, {}, changes)


@pytest.mark.parametrize("make", [cross, inductive])
@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (
            (X[:59], Y[:59]),
            "takes the 60 examples that fit was given, got 59 rows of X and 59 of y",
        ),
        ((X[:60], Y[:59]), "got 60 rows of X and 59 of y"),
        ((X, Y), "got 80 rows of X and 80 of y"),
        ((X[:60], Y[:60, :2]), "y must have 3 columns, one per label, got 2"),
        ((X[:60, :3], Y[:60]), "X has 3 features, but .* is expecting 4 features"),
    ],
)
def test_other_examples_are_refused(make, examples, message):
    with pytest.raises(ValueError, match=message):
        make().fit(*EXAMPLES).recalibrate(*examples, empty_labelset="allow")


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (cross, {"cv": 3}, "keeps the models as they are; it cannot change cv. Use fit"),
        (cross, {"random_state": 1}, "it cannot change random_state"),
        (cross, {"estimator": Counting(2.0)}, "it cannot change estimator"),
        (cross, {"estimator__power": 2.0}, "it cannot change estimator__power"),
        (inductive, {"calibration_size": 5}, "it cannot change calibration_size"),
        (inductive, {"prefit": True}, "it cannot change prefit"),
        (cross, {"rubbish": 1}, "it cannot change rubbish"),
        (inductive, {"guarantee": "exact"}, "Invalid parameter 'guarantee'"),
        (cross, {"weight": len}, "Invalid parameter 'weight'"),
        (
            cross,
            {"measure": "auto"},
            "learns from out-of-fold outputs, which takes new models: use fit",
        ),
        (
            cross,
            {"measure": MahalanobisMeasure(out_of_fold=True)},
            "learns from out-of-fold outputs",
        ),
        (cross, {"measure": "power"}, "measure must be a nonconformity measure"),
        (
            cross,
            {"guarantee": "exact", "smoothed": True},
            "smoothed=True can be combined with guarantee='cross' only",
        ),
        (cross, {"mondrian": 3}, "one of the 3 labels"),
        (cross, {"mondrian": 0, "measure": MahalanobisMeasure()}, "without a square root"),
        (inductive, {"weight": len, "mondrian": 0}, "weight does not go with mondrian"),
    ],
)
def test_changes_that_take_new_models_or_make_no_sense_are_refused(make, changes, message):
    model = make().fit(*EXAMPLES)
    before = model.get_params()
    with pytest.raises(ValueError, match=message):
        model.recalibrate(*EXAMPLES, **changes)
    assert model.get_params() == before


def test_pools_that_share_models_claim_no_more_after_recalibrating():
    pool = RecalibratedClassifier(MLkNNClassifier(3), random_state=0)
    model = CrossConformalClassifier(pool, cv=20, measure=PowerMeasure(), random_state=0).fit(
        *EXAMPLES
    )
    other = model.recalibrate(*EXAMPLES, measure=LogLossMeasure())
    statements = {one.predict_labelsets(X[60:]).region(0.2).statement for one in (model, other)}
    assert len(statements) == 1

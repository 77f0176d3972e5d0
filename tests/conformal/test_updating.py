"""Updates: new calibration examples, nothing refitted, every answer as if calibrated anew."""

import copy

import numpy as np
import pytest
from counting import Counting, make_data, without_addresses
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsure import (
    ByCardinality,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    calibrate_labels,
    calibrate_outputs,
)
from labelsure.engine import AtMost
from labelsure.measures import ForestMeasure, LogLossMeasure, MahalanobisMeasure, PowerMeasure

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(140)
TRAINED = X[:40], Y[:40]
OLD, NEW, ASKED = slice(40, 70), slice(70, 120), slice(120, 140)
BOTH = slice(40, 120)
MODEL = Counting().fit(*TRAINED)


def right(X):
    return np.asarray(X)[:, 3] > 0.5


def word(X):
    return np.where(np.asarray(X)[:, 3] > 0.5, "a longer word", "short")


def slope(X):
    return np.asarray(X)[:, 3] * (np.asarray(X)[:, 0] > 0.2)  # 0 for some


OPTIONS = [
    {},
    {"measure": PowerMeasure(2)},
    {"measure": MahalanobisMeasure()},
    {"measure": LogLossMeasure(), "mondrian": "cardinality"},
    {"mondrian": ByCardinality(at_most=1)},
    {"mondrian": 1, "measure": LogLossMeasure()},
    {"mondrian": right},
    {"mondrian": word, "smoothed": True},
    {"weight": slope},
    {"smoothed": True},
    {"empty_labelset": "exclude"},
    {"empty_labelset": "allow"},
]


def assert_same_answers(pred, other):
    np.testing.assert_array_equal(pred.p_values(), other.p_values())
    np.testing.assert_array_equal(pred.labelsets, other.labelsets)
    np.testing.assert_array_equal(pred.confidence, other.confidence)
    np.testing.assert_array_equal(pred.credibility, other.credibility)
    np.testing.assert_array_equal(pred.label_p_values, other.label_p_values)
    for level in (0.02, 0.1, 0.3):
        region, expected = pred.region(level), other.region(level)
        assert region.sizes.tolist() == expected.sizes.tolist()
        assert region.statement == expected.statement


def prefit(**options):
    return InductiveConformalClassifier(MODEL, **({"prefit": True, "random_state": 7} | options))


def calibrated(rows, **options):
    known = {"training_labels": TRAINED[1], "training_outputs": MODEL.predict_proba(TRAINED[0])}
    return prefit(**options).fit(X[rows], Y[rows], **known)


@pytest.mark.parametrize("options", OPTIONS, ids=without_addresses)
def test_update_equals_calibrating_anew(options):
    expected = calibrated(BOTH, **options).predict_labelsets(X[ASKED])
    assert_same_answers(
        calibrated(OLD, **options).update(X[NEW], Y[NEW]).predict_labelsets(X[ASKED]), expected
    )
    one_by_one = calibrated(NEW, **options)  # and the other way round
    for i in range(40, 70):
        one_by_one.update(X[[i]], Y[[i]])
    assert_same_answers(one_by_one.predict_labelsets(X[ASKED]), expected)


@pytest.mark.parametrize("measure", [None, ForestMeasure(n_estimators=3), "auto"], ids=str)
def test_update_of_a_fitted_predictor_fits_nothing_and_recalibrates_with_all(measure):
    model = InductiveConformalClassifier(Counting(), measure=measure, random_state=1).fit(
        X[:70], Y[:70]
    )
    before = len(Counting.fits)
    old = model.fold_indices_[0].tolist()
    assert model.update(X[NEW], Y[NEW]) is model
    assert len(Counting.fits) == before
    assert model.fold_indices_[0].tolist() == old + list(range(70, 120))
    again = model.recalibrate(X[:120], Y[:120])
    assert_same_answers(model.predict_labelsets(X[ASKED]), again.predict_labelsets(X[ASKED]))
    assert len(Counting.fits) == before


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=12
    ),
    st.data(),
)
@settings(max_examples=50)
def test_outputs_in_any_order_and_any_parts_give_the_same(examples, data):
    """Outputs full of ties; smoothed, so that draws are compared too."""
    outputs = np.array([[a / 4, b / 4] for a, b, _ in examples])
    labels = np.array([[code & 1, code >> 1] for *_, code in examples])
    asked = np.array([[0.25, 0.5], [1.0, 0.0]])
    expected = calibrate_outputs(outputs, labels, smoothed=True, random_state=3).predict_labelsets(
        asked
    )
    order = data.draw(st.permutations(range(len(examples))))
    cut = data.draw(st.integers(1, len(examples) - 1))
    first, rest = np.array(order[:cut]), np.array(order[cut:])
    predictor = calibrate_outputs(outputs[first], labels[first], smoothed=True, random_state=3)
    pred = predictor.update(outputs[rest], labels[rest]).predict_labelsets(asked)
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    assert pred.region(0.2).statement == expected.region(0.2).statement


def test_outputs_with_weights_and_categories_update_by_their_objects():
    outputs = X[:, :3]
    for options in ({"weight": slope}, {"mondrian": right}):
        expected = calibrate_outputs(outputs[BOTH], Y[BOTH], X=X[BOTH], **options)
        predictor = calibrate_outputs(outputs[OLD], Y[OLD], X=X[OLD], **options)
        predictor.update(outputs[NEW], Y[NEW], X[NEW])
        assert_same_answers(
            predictor.predict_labelsets(outputs[ASKED], X[ASKED]),
            expected.predict_labelsets(outputs[ASKED], X[ASKED]),
        )
        with pytest.raises(ValueError, match="pass them as X"):
            predictor.update(outputs[NEW], Y[NEW])


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("smoothed", [False, True])
def test_label_wise_update_equals_calibrating_anew(conditional, smoothed):
    options = {"conditional": conditional, "smoothed": smoothed, "random_state": 5}
    model = LabelWiseConformalClassifier(MODEL, prefit=True, **options)
    expected = copy.deepcopy(model).fit(X[BOTH], Y[BOTH]).predict_labels(X[ASKED])
    outputs = MODEL.predict_proba(X)
    ready = calibrate_labels(outputs[OLD], Y[OLD], **options).update(outputs[NEW], Y[NEW])
    ready_expected = calibrate_labels(outputs[BOTH], Y[BOTH], **options)
    pairs = [
        (model.fit(X[NEW], Y[NEW]).update(X[OLD], Y[OLD]).predict_labels(X[ASKED]), expected),
        (ready.predict_labels(outputs[ASKED]), ready_expected.predict_labels(outputs[ASKED])),
    ]
    for pred, other in pairs:
        np.testing.assert_array_equal(pred.p_values, other.p_values)
        for options in ({}, {} if conditional else {"at_most_wrong": 1}):
            region, of_other = pred.region(0.1, **options), other.region(0.1, **options)
            assert region.statement == of_other.statement
            np.testing.assert_array_equal(region.possible_values, of_other.possible_values)


BAD = [
    ((X[:5], Y[:4]), "same number of rows"),
    ((X[:5, :2], Y[:5]), "features"),
    ((X[:5], Y[:5, :2]), "must have 3 columns"),
    ((X[:5], Y[:5] * 2), "only 0 and 1"),
    ((X[:0], Y[:0]), "at least one row"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_failed_updates_leave_the_predictor_as_it_was(given, message):
    model = calibrated(OLD, mondrian=right)
    wise = LabelWiseConformalClassifier(Counting(), random_state=0).fit(X[:70], Y[:70])
    before = model.calibrator_, model.n_examples_, wise.calibrated_
    for one in (model, wise):
        with pytest.raises(ValueError, match=message):
            one.update(*given)
    assert before == (model.calibrator_, model.n_examples_, wise.calibrated_)


def test_labelsets_with_unknown_labels_do_not_update_a_labelset_predictor():
    model = calibrated(OLD)
    before = model.calibrator_
    with pytest.raises(ValueError, match="only 0 and 1, got nan"):
        model.update(X[:5], np.where(Y[:5] == 1, np.nan, 0))
    assert model.calibrator_ is before


def test_cross_conformal_predictors_say_why_they_cannot_be_updated():
    folds = np.arange(30) % 3
    fitted = [
        CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure()).fit(X[OLD], Y[OLD]),
        LabelWiseConformalClassifier(Counting(), cv=3).fit(X[OLD], Y[OLD]),
    ]
    for model in fitted:
        with pytest.raises(ValueError, match=r"a new one belongs to no fold. Use Inductive"):
            model.update(X[NEW], Y[NEW])
    for predictor in (
        calibrate_outputs(X[OLD, :3], Y[OLD], folds=folds),
        calibrate_labels(X[OLD, :3], Y[OLD], folds=folds),
    ):
        with pytest.raises(ValueError, match="3 folds"):
            predictor.update(X[NEW, :3], Y[NEW])


def test_updates_obey_the_constraints():
    obeying = [i for i in range(40, 120) if Y[i].sum() <= 2]
    breaking = next(i for i in range(140) if Y[i].sum() == 3)
    options = {"measure": PowerMeasure(), "constraints": [AtMost(2, [0, 1, 2])]}
    model = prefit(**options).fit(X[obeying[:20]], Y[obeying[:20]])
    before = model.calibrator_
    with pytest.raises(
        ValueError, match="obey the constraints, but 1 of 2 break one, the first in row 1"
    ):
        model.update(X[[obeying[20], breaking]], Y[[obeying[20], breaking]])
    assert model.calibrator_ is before
    expected = prefit(**options).fit(X[obeying], Y[obeying]).predict_labelsets(X[ASKED])
    model.update(X[obeying[20:]], Y[obeying[20:]])
    np.testing.assert_array_equal(model.predict_labelsets(X[ASKED]).p_values(), expected.p_values())

"""Label-wise p-values: against the definition, classifier and outputs alike, odd and bad input."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure import (
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    calibrate_labels,
)
from labelsure._random import (
    DRAW_UNIT,
    SMOOTHING,
    draw_seeds,
    draw_uniforms,
    join_keys,
    object_keys,
)
from labelsure.conformal._label_wise import predict_values
from labelsure.learners import outputs_of

OUTPUTS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.sampled_from(
    [0.1, 0.3, 0.7, 0.9, 1 - 0.9, 1e-13]
)
UNIT = 2**40


@pytest.fixture
def data():
    return make_multilabel_classification(90, n_features=6, n_classes=3, n_labels=1, random_state=0)


def nonconformity(output, value):
    """|c - o| in whole numbers of 2^-40, the output rounded as the package promises."""
    rounded = round(Fraction(float(output)) * UNIT)
    return abs(value * UNIT - rounded)


def p_values_by_definition(folds, n_objects, n_labels, *, conditional, draws=None):
    """(#{>=} + 1) / (m + 1), or smoothed; ``folds``: (calibration outputs, labels, new outputs)."""
    p_values = np.empty((n_objects, n_labels, 2), dtype=object)
    for i in range(n_objects):
        for j in range(n_labels):
            for c in (0, 1):
                larger = equal = m = 0
                for outputs, labels, new in folds:
                    score = nonconformity(new[i][j], c)
                    for o, y in zip(outputs, labels, strict=True):
                        if conditional and y[j] != c:
                            continue
                        other = nonconformity(o[j], int(y[j]))
                        larger, equal, m = larger + (other > score), equal + (other == score), m + 1
                u = Fraction(1) if draws is None or m == 0 else Fraction(int(draws[i]), DRAW_UNIT)
                p_values[i, j, c] = (larger + u * (equal + 1)) / (m + 1)
    return p_values


def draws_of(outputs_of_folds, seed):
    """The draws that belong to objects with these outputs."""
    return draw_uniforms(
        *draw_seeds(seed, 1), SMOOTHING, join_keys([object_keys(part) for part in outputs_of_folds])
    )


@st.composite
def label_problems(draw):
    n, q, n_new = draw(st.integers(1, 8)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_folds = draw(st.integers(1, min(3, n)))
    fold_of = np.sort(
        np.concatenate(
            [
                np.arange(n_folds),
                draw(arrays(np.int64, n - n_folds, elements=st.integers(0, n_folds - 1))),
            ]
        )
    )
    outputs = draw(arrays(np.float64, (n, q), elements=OUTPUTS))
    labels = draw(arrays(np.int8, (n, q), elements=st.integers(0, 1)))
    new = draw(arrays(np.float64, (n_folds, n_new, q), elements=OUTPUTS))
    return outputs, labels, fold_of, new


@given(label_problems(), st.booleans(), st.booleans(), st.integers(0, 5))
def test_p_values_are_those_of_the_definition(problem, conditional, smoothed, seed):
    outputs, labels, fold_of, new = problem
    n_folds, n_new, q = new.shape
    predictor = calibrate_labels(
        outputs,
        labels,
        folds=None if n_folds == 1 else fold_of,
        conditional=conditional,
        smoothed=smoothed,
        random_state=seed,
    )
    pred = predictor.predict_labels(new[0] if n_folds == 1 else new)
    draws = draws_of(new, seed) if smoothed else None
    folds = [(outputs[fold_of == k], labels[fold_of == k], new[k]) for k in range(n_folds)]
    exact = p_values_by_definition(folds, n_new, q, conditional=conditional, draws=draws)
    assert pred.p_values.tolist() == exact.astype(float).tolist()
    for level in (0.1, 0.25, 0.5):
        expected = exact > Fraction(str(level))
        np.testing.assert_array_equal(pred.region(level, per_label=True).possible_values, expected)
        if conditional:
            expected = exact > Fraction(str(level)) / q
            np.testing.assert_array_equal(pred.region(level).possible_values, expected)


@given(label_problems(), st.booleans(), st.integers(0, 5), st.data())
def test_joint_p_values_are_those_of_the_definition(problem, smoothed, seed, data):
    """One fold: the score of an example is its (h + 1)-th largest |t - o|."""
    outputs, labels, _, new = problem
    new, h = new[0], data.draw(st.integers(0, labels.shape[1] - 1))
    truth = data.draw(arrays(np.int8, new.shape, elements=st.integers(0, 1)))
    pred = calibrate_labels(outputs, labels, smoothed=smoothed, random_state=seed).predict_labels(
        new
    )
    draws = draws_of([new], seed) if smoothed else np.full(len(new), DRAW_UNIT)

    def score(o, y):
        return sorted(
            (nonconformity(one, int(t)) for one, t in zip(o, y, strict=True)), reverse=True
        )[h]

    others = [score(o, y) for o, y in zip(outputs, labels, strict=True)]
    own = [score(o, y) for o, y in zip(new, truth, strict=True)]
    expected = [
        (sum(s > one for s in others) + Fraction(int(u), DRAW_UNIT) * (others.count(one) + 1))
        / (len(others) + 1)
        for one, u in zip(own, draws, strict=True)
    ]
    found = pred.labelset_p_value(truth, at_most_wrong=h)
    assert found.tolist() == [float(p) for p in expected]
    for level in (0.1, 0.25, 0.5):
        region = pred.region(level, at_most_wrong=h)
        assert region.contains(truth).tolist() == [p > Fraction(str(level)) for p in expected]


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("cv", [None, 4])
def test_classifier_and_its_outputs_agree(cv, conditional, smoothed, data):
    X, Y = data
    common = {"conditional": conditional, "smoothed": smoothed, "random_state": 7}
    frame = pd.DataFrame(Y[:80], columns=["sea", "city", "wood"])
    model = LabelWiseConformalClassifier(KNeighborsClassifier(3), cv=cv, **common).fit(
        X[:80], frame
    )
    outputs, folds = np.full(Y[:80].shape, np.nan), np.full(80, -1)
    for k, (rows, fitted) in enumerate(zip(model.fold_indices_, model.models_, strict=True)):
        outputs[rows], folds[rows] = outputs_of(fitted, X[rows], 3), k
    rows = folds >= 0
    predictor = calibrate_labels(
        outputs[rows], frame[rows], folds=None if cv is None else folds[rows], **common
    )
    new = [outputs_of(fitted, X[80:], 3) for fitted in model.models_]
    pred = model.predict_labels(X[80:])
    again = predictor.predict_labels(new[0] if cv is None else new)
    if smoothed:  # the classifier's draws belong to features, those of outputs to outputs
        draws = draw_uniforms(model.draw_seed_, SMOOTHING, object_keys(X[80:]))
        again = predict_values(
            predictor.calibrated, new, draws=draws, label_names=predictor.label_names
        )
    np.testing.assert_array_equal(again.p_values, pred.p_values)
    np.testing.assert_array_equal(again.labels, pred.labels)
    np.testing.assert_array_equal(model.predict(X[80:]), pred.labels)
    assert again.label_names == pred.label_names == ("sea", "city", "wood")
    assert again.conditional is pred.conditional is conditional
    np.testing.assert_array_equal(
        again.region(0.1).possible_values, pred.region(0.1).possible_values
    )
    assert again.region(0.1).statement == pred.region(0.1).statement
    assert len(rows.nonzero()[0]) == (24 if cv is None else 80)


def test_calibration_labels_reach_nothing_but_their_scores(data):
    """Permuting the calibration labels changes the counts, but not the model or the outputs."""
    X, Y = data
    model = LabelWiseConformalClassifier(KNeighborsClassifier(3), random_state=1).fit(
        X[:80], Y[:80]
    )
    rows = model.fold_indices_[0]
    shuffled = Y[:80].copy()
    shuffled[rows] = np.random.default_rng(0).permutation(shuffled[rows])
    other = LabelWiseConformalClassifier(KNeighborsClassifier(3), random_state=1).fit(
        X[:80], shuffled
    )
    np.testing.assert_array_equal(other.fold_indices_[0], rows)
    np.testing.assert_array_equal(
        outputs_of(other.models_[0], X, 3), outputs_of(model.models_[0], X, 3)
    )
    expected = calibrate_labels(outputs_of(model.models_[0], X[rows], 3), shuffled[rows])
    new = outputs_of(model.models_[0], X[80:], 3)
    np.testing.assert_array_equal(
        other.predict_labels(X[80:]).p_values, expected.predict_labels(new).p_values
    )
    assert np.any(other.predict_labels(X[80:]).p_values != model.predict_labels(X[80:]).p_values)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cv", [None, 3])
def test_check_estimator_fails_only_where_declared(cv):
    # not two neighbours: one check wants the labels that are more likely than not, which plausible
    # ones need not be
    model = LabelWiseConformalClassifier(MLkNNClassifier(3), cv=cv, random_state=0)
    expected = expected_failed_checks(model)
    assert_fails_only_where_declared(
        check_estimator(model, expected_failed_checks=expected, on_fail=None), expected
    )


@pytest.mark.parametrize(
    ("outputs", "Y", "parameters", "message"),
    [
        (
            [[0.1, 1.2]],
            [[0, 1]],
            {},
            "outputs must lie between 0 and 1, got 1.2 in row 0, column 1",
        ),
        ([[0.1, np.nan]], [[0, 1]], {}, "outputs must lie between 0 and 1, got nan"),
        ([[0.1, 0.2, 0.3]], [[0, 1]], {}, "outputs must have shape (n_objects, 2), got (1, 3)"),
        (
            [[0.1, 0.2]],
            [[0, 1], [1, 0]],
            {},
            "outputs and Y must have the same number of rows, got 1 and 2",
        ),
        ([[0.1, 0.2]], [[0, 2]], {}, "Y must hold only 0 and 1, got 2"),
        (np.empty((0, 2)), np.empty((0, 2)), {}, "at least one calibration example, got none"),
        (
            [[0.1, 0.2]],
            [[0, 1]],
            {"label_names": ["a"]},
            "label_names must name the 2 labels, got 1 names",
        ),
        (
            [[0.1, 0.2]],
            [[0, 1]],
            {"folds": [0, 1]},
            "folds must hold one fold number per calibration example, 1",
        ),
        ([[0.1, 0.2]], [[0, 1]], {"folds": [0]}, "folds must name at least two folds"),
    ],
)
def test_examples_that_cannot_calibrate_are_refused(outputs, Y, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        calibrate_labels(outputs, Y, **parameters)


def test_parameters_that_cannot_be_used_are_refused(data):
    X, Y = data
    fitted = KNeighborsClassifier(3).fit(X, Y)
    for parameters, message in [
        ({"calibration_size": 0}, "calibration_size must be a finite number above 0, got 0"),
        ({"calibration_size": 90}, "must leave at least one example"),
        ({"cv": 1}, "cv must be a whole number of at least 2, got 1"),
        ({"estimator": KNeighborsClassifier}, "got the class KNeighborsClassifier"),
        ({"estimator": fitted, "prefit": True, "cv": 3}, "cv cannot be used with prefit=True"),
        ({"prefit": True, "estimator": None}, "fitted already because of prefit=True, got None"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            LabelWiseConformalClassifier(
                **({"estimator": KNeighborsClassifier(3)} | parameters)
            ).fit(X, Y)


def test_statements_name_the_learner_of_the_bound_at_the_level(data):
    """Custom training parts, as of time series, get the bound by size, valid for any learner."""
    X, Y = data
    symmetric = "a learner that does not depend on the order of examples"
    for cv, learners in (
        (30, (symmetric, symmetric)),
        (7, (symmetric, "any")),
        (TimeSeriesSplit(29), ("any", "any")),
    ):
        model = LabelWiseConformalClassifier(KNeighborsClassifier(1), cv=cv, random_state=0).fit(
            X[:60], Y[:60]
        )
        pred = model.predict_labels(X[80:])
        for level, learner in zip((0.02, 0.1), learners, strict=True):
            for statement in (
                pred.region(level).statement,
                pred.region(level, per_label=True).statement,
            ):
                assert (
                    f" labels, and {'any learner' if learner == 'any' else learner} (" in statement
                )

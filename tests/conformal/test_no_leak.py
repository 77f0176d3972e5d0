"""No leaks from calibration examples: changing their labels changes only their own scores.

The other labelsets occur nowhere in the data, so that they change whatever could be learned from
them: frequencies of labelsets, of numbers of labels and of pairs, distances to the nearest
labelset, errors.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from labelsure import CrossConformalClassifier, InductiveConformalClassifier
from labelsure.learners import outputs_of
from labelsure.measures import MEASURES, AutoMeasure, FunctionMeasure, make_measure

N_LABELS = 4
LABELSETS = np.array([[code >> j & 1 for j in range(N_LABELS)] for code in range(2**N_LABELS)])
BASE = RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0)
DEFAULT = "default"


def named(name):
    """Return the measure of a word, with little to do."""
    if name == DEFAULT:
        return None
    if name == "auto":
        return AutoMeasure(n_folds=2, n_objects=5)
    if name == "function":
        return FunctionMeasure(lambda outputs, labelset: np.abs(outputs - labelset).sum(axis=1))
    words = {"measure": "{}", "option": "power+{}", "penalty": "log-loss+{}"}
    measure = make_measure(words[MEASURES[name].role].format(name))
    return measure.set_params(n_estimators=10, random_state=0) if "forest" in name else measure


LEARN_NOTHING = ("power", "log-loss", "max-norm", "function")
LEARN = [name for name in (*MEASURES, DEFAULT) if name not in LEARN_NOTHING]


@pytest.fixture(scope="module")
def data():
    """Return examples with up to two labels, neither 0 and 2 nor 1 and 3 together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X + X[:, [1, 2, 3, 0]] + rng.normal(size=X.shape) > 0.3).astype(int)
    Y[:, 2] &= 1 - Y[:, 0]
    Y[:, 3] &= 1 - Y[:, 1]
    assert Y.sum(axis=1).max() == 2
    return X, Y


def replace_labels(Y, rows):
    """Return labels of which those of the rows are labelsets that nobody else has."""
    seen = {tuple(row) for row in Y.tolist()}
    new = np.array([row for row in LABELSETS.tolist() if tuple(row) not in seen])
    assert len(new) >= 5
    other = Y.copy()
    other[rows] = new[np.arange(len(rows)) % len(new)]
    return other


def of_all_labelsets(score, X):
    """Return the scores of all labelsets of the objects."""
    return np.stack([score(X, np.tile(one, (len(X), 1))) for one in LABELSETS])


@pytest.mark.parametrize("name", [*LEARN, *LEARN_NOTHING])
def test_inductive_scores_do_not_depend_on_calibration_labels(data, name):
    X, Y = data
    model = InductiveConformalClassifier(
        BASE, measure=named(name), random_state=0, empty_labelset="allow"
    )
    first = clone(model).fit(X, Y)
    second = clone(model).fit(X, replace_labels(Y, first.fold_indices_[0]))
    assert np.array_equal(
        of_all_labelsets(first.nonconformity, X), of_all_labelsets(second.nonconformity, X)
    )
    p_values = [fitted.predict_labelsets(X).p_values() for fitted in (first, second)]
    assert not np.array_equal(*p_values)  # what may change, and does


@pytest.mark.parametrize("name", LEARN)
def test_a_folds_scores_do_not_depend_on_its_own_labels(data, name):
    X, Y = data
    folds = [(np.arange(40, 120), np.arange(40)), (np.arange(80), np.arange(80, 120))]
    model = CrossConformalClassifier(
        BASE, measure=named(name), cv=folds, random_state=0, empty_labelset="allow"
    )

    def scores_of_folds(Y):
        fitted = clone(model).fit(X, Y)
        scores = []
        for calibrated, inner in zip(fitted.calibrator_.folds, fitted.models_, strict=True):
            outputs = outputs_of(inner, X, N_LABELS)
            scores.append(
                [
                    calibrated.measure.scores(outputs, np.tile(one, (len(X), 1)), X=X)
                    for one in LABELSETS
                ]
            )
        return scores

    first, second = scores_of_folds(Y), scores_of_folds(replace_labels(Y, folds[0][1]))
    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])  # they calibrate fold 0, and train fold 1


@pytest.mark.parametrize("name", [name for name in LEARN if name not in ("auto", DEFAULT)])
def test_labels_that_leaked_into_a_measure_would_be_seen(data, name):
    """Positive control of the tests above: fitted on the calibration part too, scores do change."""
    X, Y = data
    outputs = np.clip(0.5 + 0.2 * X, 0, 1)
    scores = []
    for labels in (Y, replace_labels(Y, np.arange(40))):
        measure = named(name).fit(labels, outputs=outputs, X=X)
        scores.append(
            of_all_labelsets(lambda X, Y, measure=measure: measure.scores(outputs, Y, X=X), X)
        )
    assert not np.array_equal(*scores)


def test_thresholds_and_the_choice_of_answers_do_not_depend_on_calibration_labels(data):
    X, Y = data
    model = InductiveConformalClassifier(
        BASE, random_state=0, empty_labelset="allow", predict_for="f1"
    )
    first = clone(model).fit(X, Y)
    second = clone(model).fit(X, replace_labels(Y, first.fold_indices_[0]))
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    assert np.array_equal(first.calibrator_.thresholds, second.calibrator_.thresholds)
    assert np.array_equal(first.predict(X), second.predict(X))
    answers = [fitted.calibrator_.choose_answers("auto") for fitted in (first, second)]
    assert answers[0] == answers[1]

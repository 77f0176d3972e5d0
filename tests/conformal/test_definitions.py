"""Full, inductive and cross-conformal p-values against transcriptions of their definitions, learner by learner."""

import numpy as np
import pytest
from definitions import candidates, cross_conformal_counts, full_conformal_counts, p_values
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PowerMeasure,
)
from labelsure._core.randomness import draw_order

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")


def array_outputs(model, X):
    return model.predict_proba(X)


def list_outputs(model, X):
    return np.column_stack([block[:, 1] for block in model.predict_proba(X)])


def sigmoid_outputs(model, X):
    return expit(model.decision_function(X))


LEARNERS = {
    "forest": (RandomForestClassifier(n_estimators=4, random_state=0), list_outputs),  # outputs k/4: full of ties
    "neighbours": (KNeighborsClassifier(4), list_outputs),  # outputs k/4: full of ties
    "ML-kNN": (MLkNNClassifier(3), array_outputs),
    "one vs rest": (OneVsRestClassifier(LogisticRegression()), array_outputs),
    "multi-output": (MultiOutputClassifier(LogisticRegression()), list_outputs),
    "ML-RBF": (MLRBFClassifier(centre_fraction=0.2, random_state=3), sigmoid_outputs),
    "pipeline": (make_pipeline(MinMaxScaler(), KNeighborsClassifier(2)), list_outputs),
}
ORDER_DOES_NOT_MATTER = ("neighbours", "ML-kNN", "pipeline")
PAPER = {"d": 4, "pair_penalty": 0.0}
PENALISED = {"d": 2, "pair_penalty": 0.25}


def make_data(n_examples, *, n_labels=3, seed=0, n_new=6):
    """Examples in which every label varies, and new objects.

    The first and last label meet in one example only: in the fold of that example they are a pair never seen. No two
    distances are equal, so that neighbours do not depend on the examples' order.
    """
    X, Y = make_multilabel_classification(
        n_examples + n_new, n_features=5, n_classes=n_labels, n_labels=1, length=20, random_state=seed
    )
    X += np.random.default_rng(seed).random(X.shape)
    Y[Y[:, -1] == 1, 0] = 0
    Y[4, [0, -1]] = 1
    return X[:n_examples], Y[:n_examples], X[n_examples:]


def fitted(estimator, X, Y):
    assert np.all(np.ptp(Y, axis=0) == 1), "a label is constant: the transcription would need the adapter"
    with threadpool_limits(limits=1):
        return clone(estimator).fit(X, Y)


def transcribe(estimator, outputs_of, splits, X, Y, objects, labelsets, measure):
    folds = []
    for train, calibration in splits:
        model = fitted(estimator, X[train], Y[train])
        folds.append((Y[train], Y[calibration], outputs_of(model, X[calibration]), outputs_of(model, objects)))
    return cross_conformal_counts(folds, len(objects), labelsets, **measure)


@pytest.mark.parametrize("measure", [PAPER, PENALISED], ids=["paper", "penalised"])
@pytest.mark.parametrize("name", LEARNERS)
def test_cross_conformal_p_values_equal_their_definition(name, measure):
    estimator, outputs_of = LEARNERS[name]
    X, Y, objects = make_data(40)
    model = CrossConformalClassifier(
        estimator, measure=PowerMeasure(**measure), cv=4, empty="allow", random_state=1
    ).fit(X, Y)
    rows = np.arange(len(X))
    assert sorted(np.concatenate(model.fold_indices_)) == rows.tolist()
    assert [len(fold) for fold in model.fold_indices_] == [10, 10, 10, 10]
    splits = [(np.setdiff1d(rows, fold), fold) for fold in model.fold_indices_]
    labelsets = candidates(3)
    larger, equal = transcribe(estimator, outputs_of, splits, X, Y, objects, labelsets, measure)
    pred = model.predict_labelsets(objects)
    np.testing.assert_array_equal(pred.candidates(), labelsets)
    np.testing.assert_array_equal(pred.p_values(), p_values(larger, equal, 40))
    if name in ("forest", "neighbours", "pipeline"):
        assert equal.sum() > 20  # the ties this test is about are there


@pytest.mark.parametrize("measure", [PAPER, PENALISED], ids=["paper", "penalised"])
@pytest.mark.parametrize("name", LEARNERS)
def test_inductive_p_values_equal_their_definition(name, measure):
    estimator, outputs_of = LEARNERS[name]
    X, Y, objects = make_data(45, seed=1)
    model = InductiveConformalClassifier(
        estimator, measure=PowerMeasure(**measure), calibration_size=0.4, empty="allow", random_state=2
    ).fit(X, Y)
    (calibration,) = model.fold_indices_
    assert len(calibration) == 18
    splits = [(np.setdiff1d(np.arange(45), calibration), calibration)]
    larger, equal = transcribe(estimator, outputs_of, splits, X, Y, objects, candidates(3), measure)
    np.testing.assert_array_equal(model.predict_labelsets(objects).p_values(), p_values(larger, equal, 18))


@pytest.mark.parametrize("measure", [PAPER, PENALISED], ids=["paper", "penalised"])
@pytest.mark.parametrize("name", LEARNERS)
def test_full_conformal_p_values_equal_their_definition(name, measure):
    estimator, outputs_of = LEARNERS[name]
    X, Y, objects = make_data(16, n_labels=2, seed=5, n_new=2)

    def outputs_when_trained_on(extended, labels):
        return outputs_of(fitted(estimator, extended, labels), extended)

    model = FullConformalClassifier(estimator, measure=PowerMeasure(**measure), empty="allow", random_state=3).fit(X, Y)
    # the definition is for classifiers that do not depend on the examples' order; for others it is drawn at random
    orders = [draw_order(model.draw_seed_, x[None], 17) for x in objects]
    orders = None if name in ORDER_DOES_NOT_MATTER else orders
    larger, equal = full_conformal_counts(
        outputs_when_trained_on, X, Y, objects, candidates(2), orders=orders, **measure
    )
    np.testing.assert_array_equal(model.predict_labelsets(objects).p_values(), p_values(larger, equal, 16))
    without = FullConformalClassifier(estimator, measure=PowerMeasure(**measure), empty="exclude", random_state=3)
    pred = without.fit(X, Y).predict_labelsets(objects)
    np.testing.assert_array_equal(pred.p_values(), p_values(larger, equal, 16)[:, 1:])
    assert pred.p_value(np.zeros((2, 2))).tolist() == [0, 0]

"""Unknown labels: a classifier per label, fitted on the rows where the label is known."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from labelsure import MLkNNClassifier, PooledClassifier
from labelsure.learners import outputs_of
from labelsure.learners._adapter import fit_known, learner_of_one_label

X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
UNKNOWN = np.random.RandomState(0).rand(80, 3) < 0.3


@pytest.mark.parametrize(
    "estimator",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(make_pipeline(StandardScaler(), LogisticRegression())),
        LogisticRegression(),
        OneVsRestClassifier(LinearSVC(random_state=0)),
    ],
    ids=str,
)
def test_each_label_is_fitted_on_its_known_rows_alone(estimator):
    outputs = outputs_of(fit_known(estimator, X, Y, UNKNOWN), X, 3)
    lies = np.where(UNKNOWN, 1 - Y, Y)
    np.testing.assert_array_equal(outputs_of(fit_known(estimator, X, lies, UNKNOWN), X, 3), outputs)
    for j in range(3):
        rows = ~UNKNOWN[:, j]
        single = learner_of_one_label(estimator)
        alone = single.fit(X[rows], Y[rows, j])
        if hasattr(alone, "predict_proba"):
            np.testing.assert_array_equal(outputs[:, j], alone.predict_proba(X)[:, 1])
        else:
            np.testing.assert_allclose(outputs[:, j], 1 / (1 + np.exp(-alone.decision_function(X))))


def test_weights_go_with_the_rows():
    weights = np.random.RandomState(1).rand(80)
    model = MultiOutputClassifier(LogisticRegression())
    outputs = outputs_of(fit_known(model, X, Y, UNKNOWN, sample_weight=weights), X, 3)
    rows = ~UNKNOWN[:, 1]
    alone = LogisticRegression().fit(X[rows], Y[rows, 1], sample_weight=weights[rows])
    np.testing.assert_array_equal(outputs[:, 1], alone.predict_proba(X)[:, 1])


def test_labels_of_one_known_value_are_constant():
    unknown = UNKNOWN | (np.arange(3) == 1) & (Y == 0)
    outputs = outputs_of(fit_known(LogisticRegression(), X, Y, unknown), X, 3)
    assert (outputs[:, 1] == 1).all()


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(),
        MLkNNClassifier(),
        ClassifierChain(LogisticRegression()),
        PooledClassifier([("one", DummyClassifier())]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_learners_of_all_labels_together_are_refused(estimator):
    assert learner_of_one_label(estimator) is None
    with pytest.raises(ValueError, match=r"learns all labels together.*MultiOutputClassifier"):
        fit_known(estimator, X, Y, UNKNOWN)


def test_a_label_that_is_nowhere_known_is_refused():
    with pytest.raises(ValueError, match="Label 2 is unknown"):
        fit_known(LogisticRegression(), X, Y, UNKNOWN | (np.arange(3) == 2))

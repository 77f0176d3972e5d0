"""Single answers of a classifier: the best labelset, or label by label, by a vote of the folds."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier
from labelsure.conformal._base import answer_batch
from labelsure.engine import AtMost
from labelsure.learners import outputs_of


@pytest.fixture
def fitted():
    X, Y = make_multilabel_classification(
        200, n_features=6, n_classes=6, n_labels=1, allow_unlabeled=False, random_state=0
    )
    X /= (
        30  # so that the learner is unsure: some objects have no label that is more likely than not
    )
    learner = OneVsRestClassifier(LogisticRegression())
    return CrossConformalClassifier(learner, cv=5, random_state=0).fit(X[:150], Y[:150]), X[150:]


def vote(model, votes):
    for fold, better in zip(model.calibrator_.folds, votes, strict=True):
        fold.measure.labels_are_better_ = better


def own_labels(model, X):
    return np.mean([outputs_of(inner, X, 6) for inner in model.models_], axis=0) > 0.5


def test_answers_are_the_labels_more_likely_than_not_with_a_majority_for_them(fitted):
    model, X = fitted
    vote(model, [True, True, True, False, False])
    answers = model.predict(X)
    np.testing.assert_array_equal(answers, own_labels(model, X))
    assert answers.dtype == np.int64
    assert (answers != model.predict_labelsets(X).labelsets).any()


@pytest.mark.parametrize("guarantee", ["cross", "exact"])
def test_answers_obey_constraints_whatever_the_vote(guarantee):
    X, Y = make_multilabel_classification(
        400, n_features=8, n_classes=5, n_labels=3, random_state=3
    )
    obeying = Y[:, :3].sum(axis=1) <= 1
    X, Y, learner = (
        X[obeying],
        Y[obeying],
        OneVsRestClassifier(LogisticRegression(C=100, max_iter=1000)),
    )
    rule = AtMost(1, [0, 1, 2])
    model = CrossConformalClassifier(
        learner, cv=5, guarantee=guarantee, constraints=rule, random_state=0
    )
    model.fit(X[:150], Y[:150])
    vote(model, [True] * 5)
    own = np.mean([outputs_of(inner, X, 5) for inner in model.models_], axis=0) > 0.5
    breaking = own[:, :3].sum(axis=1) > 1
    assert breaking.any()
    answers = model.predict(X)
    np.testing.assert_array_equal(answers[~breaking], own[~breaking])
    np.testing.assert_array_equal(answers[breaking], model.predict_labelsets(X[breaking]).labelsets)


class Counting(OneVsRestClassifier):
    n_asked = 0

    def predict_proba(self, X):
        type(self).n_asked += 1
        return super().predict_proba(X)


def test_both_answers_of_a_batch_are_made_of_outputs_computed_once(fitted):
    _, X = fitted
    labels = (X[:, :3] > X[:, :3].mean(axis=0)).astype(int)
    model = CrossConformalClassifier(Counting(LogisticRegression()), cv=3, random_state=0).fit(
        X, labels
    )
    Counting.n_asked = 0
    answers = answer_batch(model, X)
    assert Counting.n_asked == 3
    np.testing.assert_array_equal(answers.labels, model.predict(X))
    np.testing.assert_array_equal(
        answers.predictions.p_values(), model.predict_labelsets(X).p_values()
    )

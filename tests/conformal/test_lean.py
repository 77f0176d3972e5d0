"""A fitted predictor keeps, and pickles, little beyond its classifiers and calibration scores."""

import pickle

import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, PooledClassifier

X, Y = make_multilabel_classification(n_samples=620, n_features=20, n_classes=8, random_state=0)
LOGISTIC = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
POOL = PooledClassifier([("logistic", LOGISTIC), ("forest", RandomForestClassifier(5))])


def size(thing):
    return len(pickle.dumps(thing, protocol=5))


def needed(model):
    """The bytes of classifiers, of each fold's scores, labelsets and counts, and of row numbers."""
    folds, priors = (
        model.calibrator_.folds,
        [fold.measure.prior_ for fold in model.calibrator_.folds],
    )
    scores = [(fold.scores, fold.without_labels) for fold in folds]
    counts = [(prior.labelsets_, prior.counts_, prior.marginals_) for prior in priors]
    learned = [(fold.measure.parameters_, fold.measure.get_params()) for fold in folds]
    return sum(map(size, (model.models_, scores, counts, learned, model.fold_indices_)))


@pytest.mark.parametrize(
    "estimator", [LOGISTIC, RandomForestClassifier(5), POOL], ids=["logistic", "forest", "pool"]
)
def test_a_pickled_predictor_is_hardly_larger_than_its_classifiers_scores_and_priors(estimator):
    model = CrossConformalClassifier(estimator, random_state=0).fit(X[:600], Y[:600])
    before = size(model)
    assert before <= 1.1 * needed(model)
    predictions = model.predict_labelsets(X[600:])
    predictions.labelsets, predictions.region(0.1).sizes
    assert size(model) == before  # what answers work out is not kept either


@pytest.mark.parametrize("predictor", [CrossConformalClassifier, InductiveConformalClassifier])
def test_a_predictor_keeps_no_outputs_of_training_examples(predictor):
    model = predictor(POOL, random_state=0).fit(X[:120], Y[:120])
    assert not any(hasattr(fold.estimator, "out_of_fold_outputs_") for fold in model.models_)

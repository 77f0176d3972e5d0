# ruff: noqa: ARG002
"""Measures as a third party writes them: public names only, in floats, searched with 30 labels."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier
from labelsure.measures import Costs, Measure, Need, OwnScores, UnseenPenalty

N_LABELS = 30


class Hinge(Measure):
    """How far an output is on the wrong side of one half; all labels alike."""

    def _learn(self, labels, outputs, X):
        return self.n_labels_ * 0.5

    def _costs(self, outputs, X):
        return Costs(off=np.maximum(outputs - 0.5, 0), on=np.maximum(0.5 - outputs, 0))


class Rarity(Measure):
    """Weighted errors, higher for rare labels, plus a price for neighbours in unseen labelsets."""

    needs = Need.TRAINING_LABELS

    def __init__(self, *, price=0.25):
        self.price = price

    def check_parameters(self, n_labels=None):
        if not self.price >= 0:
            raise ValueError(f"price must be at least 0, got {self.price!r}.")

    def _learn(self, labels, outputs, X):
        self.weights_ = 1 / (1 + labels.sum(axis=0))
        self.seen_ = np.unique(labels, axis=0)
        return self.weights_.sum() + self.price * self.n_labels_

    def _costs(self, outputs, X):
        def spared(general):
            return 0.5 * general

        seen = np.tile(self.seen_, (len(outputs), 1))
        return Costs(
            off=self.weights_ * outputs,
            on=self.weights_ * (1 - outputs),
            pairwise=np.diag(np.full(self.n_labels_ - 1, self.price), 1),
            overrides=OwnScores(seen, spared, np.full(len(outputs), len(self.seen_))),
        )

    def formula(self, outputs, labelset):
        """Return the score of one labelset, as one would write it down."""
        errors = np.where(labelset == 1, 1 - outputs, outputs)
        neighbours = sum(labelset[j] * labelset[j + 1] for j in range(self.n_labels_ - 1))
        score = (self.weights_ * errors).sum() + self.price * neighbours
        return score / 2 if (self.seen_ == labelset).all(axis=1).any() else score


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(130, 4))
    X = hidden + 0.1 * rng.normal(size=hidden.shape)
    Y = (hidden @ rng.normal(size=(4, N_LABELS)) + rng.normal(size=(130, N_LABELS)) > 2.5).astype(
        int
    )
    return X, Y


def test_own_measure_has_the_scores_of_its_formula(data):
    _, Y = data
    measure = Rarity().fit(Y[:100])
    outputs = np.random.default_rng(1).random((6, N_LABELS))
    labelsets = np.vstack([Y[:3], 1 - Y[:3]])
    expected = [measure.formula(*row) for row in zip(outputs, labelsets, strict=True)]
    np.testing.assert_allclose(measure.scores(outputs, labelsets), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("measure", [Rarity(), Hinge(), Hinge() + UnseenPenalty(0.5)], ids=repr)
def test_own_measure_is_searched_with_thirty_labels(measure, data):
    """Members and p-values of the search match brute force; near-best labelsets are all found."""
    X, Y = data
    model = CrossConformalClassifier(
        OneVsRestClassifier(LogisticRegression()),
        measure=measure,
        cv=3,
        random_state=0,
        empty_labelset="allow",
    ).fit(X[:120], Y[:120])
    pred = model.predict_labelsets(X[120:])
    top = pred.top(5)
    for i in range(4):
        best = top.labelsets[i][0]
        near = np.vstack(
            [
                best,
                *(
                    flip(best, labels)
                    for n in (1, 2)
                    for labels in combinations(range(N_LABELS), n)
                ),
            ]
        )
        p_values = model.predict_labelsets(np.tile(X[120 + i], (len(near), 1))).p_value(near)
        assert top.p_values[i][0] == p_values.max()
        members = pred.region(0.05)[i]
        inside = [labelset in members for labelset in near]
        assert inside == (p_values > 0.05).tolist()
    assert (np.asarray(pred.region(0.2).sizes, dtype=float) >= 1).any()


def flip(labelset, labels):
    other = labelset.copy()
    other[list(labels)] ^= 1
    return other


def test_own_measure_that_forgets_its_bound_is_told(data):
    class Unbounded(Hinge):
        def _learn(self, labels, outputs, X):
            return 1.0

    _, Y = data
    with pytest.raises(
        ValueError, match=r"costs of a measure reach 15, more than the 1 that its _learn returned"
    ):
        Unbounded().fit(Y).energy(np.ones((1, N_LABELS)))

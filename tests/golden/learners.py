"""Learners and data of whole numbers: the same outputs on every processor and in any batch.

Outputs are sixty-fourths ``n / 64`` with ``n`` and ``64 - n`` prime, each prime once. So two
labelsets get the same log-likelihood only where they get it from the same numbers, never by ``2 * 8
== 4 * 4``, where the last bit of a logarithm would decide about a tie.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

SIXTY_FOURTHS = np.array([3, 5, 11, 17, 23, 41, 47, 53, 59, 61])
N_FEATURES, N_VALUES = 6, 8
# the place among the outputs, for each value of a feature
FREQUENT = np.array([1, 2, 2, 3, 6, 7, 7, 8])
RARE = np.array([1, 1, 1, 1, 2, 2, 3, 7])
MANY_LABELS = 22


def values_of_labels(X, n_labels):
    """Return the feature that decides each label; beyond N_FEATURES labels they repeat, shifted."""
    labels = np.arange(n_labels)
    return (np.asarray(X, dtype=np.int64)[:, labels % N_FEATURES] + labels // N_FEATURES) % N_VALUES


class Steps(ClassifierMixin, BaseEstimator):
    """A step function of one feature per label, shifted by a count of the training labels."""

    def fit(self, X, Y):  # noqa: ARG002
        self.shift_ = np.asarray(Y, dtype=np.int64).sum(axis=0) % 3 - 1
        self.classes_ = [np.array([0, 1]) for _ in self.shift_]
        return self

    def predict_proba(self, X):
        values = values_of_labels(X, len(self.shift_))
        steps = RARE if len(self.shift_) > MANY_LABELS else FREQUENT
        return SIXTY_FOURTHS[steps[values] + self.shift_] / 64

    def predict(self, X):
        return (self.predict_proba(X) > 0.5).astype(np.int64)


class Neighbours(ClassifierMixin, BaseEstimator):
    """The votes of the nine nearest training rows, by squared distance, then by their order."""

    def fit(self, X, Y):
        self.X_, self.Y_ = np.asarray(X, dtype=np.int64), np.asarray(Y, dtype=np.int64)
        self.classes_ = [np.array([0, 1]) for _ in range(self.Y_.shape[1])]
        return self

    def predict_proba(self, X):
        distances = ((np.asarray(X, dtype=np.int64)[:, None] - self.X_[None]) ** 2).sum(axis=2)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :9]
        return SIXTY_FOURTHS[self.Y_[nearest].sum(axis=1)] / 64

    def predict(self, X):
        return (self.predict_proba(X) > 0.5).astype(np.int64)


class Votes(ClassifierMixin, BaseEstimator):
    """One label: each feature votes with the majority of training rows on its side of a cut."""

    def __init__(self, threshold=4):
        self.threshold = threshold

    def fit(self, X, y):
        large, on = np.asarray(X, dtype=np.int64) >= self.threshold, np.asarray(y, dtype=np.int64)
        self.classes_ = np.array([0, 1])
        self.votes_ = np.array(
            [[2 * on[side].sum() > len(on[side]) for side in (~part, part)] for part in large.T]
        )
        return self

    def predict_proba(self, X):
        large = (np.asarray(X, dtype=np.int64) >= self.threshold).astype(np.int64)
        on = SIXTY_FOURTHS[self.votes_[np.arange(large.shape[1]), large].sum(axis=1) + 2] / 64
        return np.column_stack([1 - on, on])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.int64)


def make_data(n_rows, n_labels, *, seed=0, empties=True):
    """Return features and labels; with ``empties`` a quarter of the rows have no label."""
    draw = np.random.RandomState(1000 * seed + n_labels)
    X = draw.randint(0, N_VALUES, size=(n_rows, N_FEATURES))
    on = values_of_labels(X, n_labels) >= (7 if n_labels > MANY_LABELS else 4)
    Y = (on ^ (draw.randint(0, n_labels + 4, size=on.shape) == 0)).astype(np.int64)
    Y[draw.randint(0, n_rows, size=n_rows // 4)] = 0
    if not empties:
        Y[~Y.any(axis=1), 0] = 1
    return X, Y

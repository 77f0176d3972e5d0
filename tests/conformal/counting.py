"""A classifier that counts its fits, and models with it that are quick to fit."""

import re

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Counting(ClassifierMixin, BaseEstimator):
    """Outputs are the first features plus the mean training labels; copies count together."""

    fits = []  # noqa: RUF012, shared by all copies on purpose

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, Y):
        Counting.fits.append((np.array(X), np.array(Y)))
        self.mean_ = np.asarray(Y).mean(axis=0)
        self.classes_ = [np.array([0, 1])] * len(self.mean_)
        return self

    def predict_proba(self, X):
        return np.clip(
            (0.7 * np.asarray(X)[:, : len(self.mean_)] + 0.3 * self.mean_) ** self.power, 0, 1
        )


def make_data(n_examples=60, n_labels=3, seed=0):
    """Features between 0 and 1 and labels that follow them; some examples have none."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n_examples, n_labels + 1)), 2)
    return X, (rng.random((n_examples, n_labels)) < X[:, :n_labels]).astype(int)


def without_addresses(one):
    """Name a case the same in every process."""
    return re.sub(" at 0x[0-9a-f]+", "", str(one))

"""The regions that candidates are compared by, against loops over all labelsets."""

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest
from sklearn.model_selection import KFold

from labelsure.conformal import _choosing
from labelsure.conformal._choosing import Trial
from labelsure.engine import Implies, compile_constraints
from labelsure.measures import (
    LogLossMeasure,
    Need,
    PowerMeasure,
    UnseenPenalty,
)

LEVELS = (Fraction(1, 10), Fraction(3, 10))


class Uneven(PowerMeasure):
    """Its unit depends on what it was fitted on, as it may with a covariance."""

    def fit(self, Y, **known):  # noqa: ARG002
        super().fit(Y)
        self.exponent_ -= int(np.sum(Y)) % 4
        return self


def make_trial(*, n=40, empty=True, X=None, seed=0, rules=None):
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, 3)) < 0.5).astype(np.int8)
    if rules is not None:
        labels[:, 1] |= labels[:, 0]
    if not empty:
        labels[~labels.any(axis=1), 1] = 1
    # powers of eighths are whole numbers of every unit used here
    outputs = rng.integers(0, 9, size=(n, 3)) / 8
    objects = rng.random(n) < 0.6
    folds = list(KFold(4, shuffle=True, random_state=1).split(labels))
    return Trial(labels, outputs, X, folds, objects, LEVELS, 7, rules)


def slow_region_bits(candidate, trial):
    """Transcribed: scores as floats, every labelset of every object."""
    scores, fitted = np.empty(len(trial.labels)), {}
    for f, (fit, score) in enumerate(trial.folds):
        fitted[f] = trial.fit(candidate, fit)
        for i in score:
            fitted[i, "fold"] = f
            scores[i] = score_of(fitted[f], trial, i, trial.labels[i])
    rows = []
    for i in np.flatnonzero(trial.objects):
        sizes = []
        for level in trial.levels:
            members = 0
            for labelset in product((0, 1), repeat=trial.labels.shape[1]):
                obeys = trial.rules is None or labelset[0] <= labelset[1]
                if obeys and (any(labelset) or not trial.labels.any(axis=1).all()):
                    own = score_of(fitted[fitted[i, "fold"]], trial, i, labelset)
                    members += Fraction(int((scores >= own).sum()) + 1, len(scores) + 1) > level
            sizes.append(log2(max(members, 1)))
        rows.append(sizes)
    return np.array(rows)


def score_of(measure, trial, i, labelset):
    X = None if trial.X is None or Need.FEATURES not in measure.needs else trial.X[[i]]
    return measure.scores(trial.outputs[[i]], [labelset], X=X)[0]


@pytest.mark.parametrize(
    "candidate",
    [
        PowerMeasure(2),
        PowerMeasure(2) + UnseenPenalty(0.25),
        Uneven(2),
        PowerMeasure(1, pair_penalty=0.5),
    ],
    ids=["power", "unseen", "uneven units", "pairs"],
)
@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize(
    "rules", [None, compile_constraints([Implies(0, 1)], 3)], ids=["free", "constrained"]
)
def test_region_bits_are_those_of_all_labelsets_looked_at(candidate, empty, rules):
    trial = make_trial(empty=empty, rules=rules)
    bits = trial.region_bits(candidate)
    assert bits.shape == (trial.objects.sum(), 2)
    np.testing.assert_array_equal(bits, slow_region_bits(candidate, trial))
    assert len(np.unique(bits)) > 3


def test_rough_sizes_of_many_labels_are_near_the_exact_ones(monkeypatch):
    rng = np.random.default_rng(0)
    labels = (rng.random((60, 21)) < 0.2).astype(np.int8)
    outputs = 0.4 + 0.05 * labels + 0.1 * rng.random((60, 21))
    folds = list(KFold(3, shuffle=True, random_state=1).split(labels))
    trial = Trial(labels, outputs, None, folds, np.arange(60) < 12, (Fraction(1, 20),), 0)
    for candidate in (PowerMeasure(2), LogLossMeasure() + UnseenPenalty(1.0)):
        rough = trial.region_bits(candidate)
        with monkeypatch.context() as patch:
            patch.setattr(_choosing, "MANY_LABELS", 21)
            exact = trial.region_bits(candidate)
        large = exact > 14  # more than the search may find before it estimates
        assert large.sum() >= 4
        assert (rough[large] != exact[large]).all()
        np.testing.assert_allclose(rough, exact, atol=0.3)

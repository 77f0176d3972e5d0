"""The regions that candidates are compared by, against loops over all labelsets."""

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest
from sklearn.model_selection import KFold

from labelsure.conformal import _choosing
from labelsure.conformal._choosing import Trial
from labelsure.labelsets import FoldEngine, Implies, RegionSize, compile_constraints
from labelsure.measures import (
    ForestMeasure,
    LogLossMeasure,
    MahalanobisMeasure,
    Need,
    PosteriorMeasure,
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
    outputs = rng.integers(0, 9, size=(n, 3)) / 8  # powers of eighths are whole numbers of every unit used here
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
    [PowerMeasure(2), PowerMeasure(2) + UnseenPenalty(0.25), Uneven(2), PowerMeasure(1, pair_penalty=0.5)],
    ids=["power", "unseen", "uneven units", "pairs"],
)
@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("rules", [None, compile_constraints([Implies(0, 1)], 3)], ids=["free", "constrained"])
def test_region_bits_are_those_of_all_labelsets_looked_at(candidate, empty, rules):
    trial = make_trial(empty=empty, rules=rules)
    bits = trial.region_bits(candidate)
    assert bits.shape == (trial.objects.sum(), 2)
    np.testing.assert_array_equal(bits, slow_region_bits(candidate, trial))
    assert len(np.unique(bits)) > 3


def test_units_do_differ_between_folds():
    trial = make_trial()
    assert len({trial.fit(Uneven(2), rows).exponent_ for rows, _ in trial.folds}) > 1


def test_region_bits_of_measures_that_learn_from_outputs_and_objects():
    trial = make_trial(X=np.random.default_rng(1).normal(size=(40, 2)))
    for candidate in (MahalanobisMeasure(), ForestMeasure(n_estimators=3), LogLossMeasure(floor=0.01)):
        np.testing.assert_array_equal(trial.region_bits(candidate), slow_region_bits(candidate, trial))


def test_measures_are_fitted_without_the_examples_that_they_score():
    seen = []

    class Watching(PowerMeasure):
        def fit(self, Y, **known):
            seen.append((np.array(Y), np.array(known["outputs"])))
            return super().fit(Y)

    trial = make_trial()
    trial.region_bits(Watching())
    assert len(seen) == 4
    for (labels, outputs), (rows, _) in zip(seen, trial.folds, strict=True):
        np.testing.assert_array_equal(labels, trial.labels[rows])
        np.testing.assert_array_equal(outputs, trial.outputs[rows])


def test_parts_that_candidates_share_are_fitted_once():
    fits = []

    class Counting(PowerMeasure):
        def fit(self, Y, **known):  # noqa: ARG002
            fits.append(self.d)
            return super().fit(Y)

    trial, part = make_trial(), Counting(2)
    candidates = [part, part + UnseenPenalty(0.25), UnseenPenalty(0.25) + part + UnseenPenalty(0.5), Counting(2)]
    bits = [trial.region_bits(candidate) for candidate in candidates]
    assert len(fits) == 4 + 4  # the last one is another object
    for candidate, own in zip(candidates, bits, strict=True):
        np.testing.assert_array_equal(own, make_trial().region_bits(candidate))
    assert not hasattr(part, "exponent_")


def test_forests_and_their_base_are_fitted_once_each():
    fits = []

    class Counting(PosteriorMeasure):
        def fit(self, Y, **known):
            fits.append(len(Y))
            return super().fit(Y, **known)

    trial, base = make_trial(X=np.random.default_rng(1).normal(size=(40, 2))), Counting()
    candidates = [ForestMeasure(base, n_estimators=3), base, ForestMeasure(base, n_estimators=3) + UnseenPenalty(0.5)]
    bits = [trial.region_bits(candidate) for candidate in candidates]
    assert fits == [len(rows) for rows, _ in trial.folds]
    for candidate, own in zip(candidates, bits, strict=True):
        np.testing.assert_array_equal(own, slow_region_bits(candidate, trial))
    assert not hasattr(base, "exponent_")


def test_candidates_get_the_seed_where_they_have_none():
    trial = make_trial(X=np.zeros((40, 1)))
    assert trial.fit(ForestMeasure(n_estimators=1) + UnseenPenalty(), np.arange(40)).first.random_state == 7
    assert trial.fit(ForestMeasure(n_estimators=1, random_state=3), np.arange(40)).random_state == 3


def test_objects_are_asked_for_only_where_they_are_needed():
    trial = make_trial()
    with pytest.raises(ValueError, match="it needs the objects themselves, and only outputs are known"):
        trial.region_bits(ForestMeasure(n_estimators=1))


def test_estimates_without_a_member_drawn_count_as_large_as_they_can_be(monkeypatch):
    sizes = [
        RegionSize(64, 32, 128, coverage_level=0.99, at_least=8, at_most=2**30),
        RegionSize(8, 8, 1024, coverage_level=0.99, at_least=8, at_most=2**30),
    ]
    monkeypatch.setattr(FoldEngine, "region_sizes", lambda *_, **__: sizes)
    labels = np.eye(2, dtype=np.int8)
    trial = Trial(labels, np.full((2, 2), 0.5), None, [(np.arange(2), np.arange(2))], np.ones(2, bool), LEVELS[:1], 0)
    np.testing.assert_array_equal(trial.region_bits(PowerMeasure()), [[6.0], [10.0]])


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

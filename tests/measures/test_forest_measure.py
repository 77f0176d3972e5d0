"""The forest's joint model, against a transcription of its formula tree by tree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    calibrate_outputs,
)
from labelsure.measures import (
    ForestMeasure,
    LogLossMeasure,
    Need,
    PosteriorMeasure,
    PowerMeasure,
    UnseenPenalty,
)
from labelsure.measures._labelset_bits import decode

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1 - 2**-53]) | st.floats(0, 1)


def forest_probabilities(measure, Y_training, X_training, x):
    """P(psi | x) of every labelset: its share in a leaf of x, averaged over the trees."""
    total = {}
    for tree in measure.forest_.estimators_:
        leaf = tree.apply(np.array([x], dtype=np.float32))[0]
        inside = tree.apply(np.asarray(X_training, dtype=np.float32)) == leaf
        for labelset in Y_training[inside]:
            key = tuple(labelset.tolist())
            total[key] = total.get(key, 0) + 1 / inside.sum()
    return {key: value / len(measure.forest_.estimators_) for key, value in total.items()}


def listed_only(probabilities, max_listed):
    """The highest ones; ties by the labelset that is smaller label by label."""
    order = sorted(probabilities, key=lambda key: (-round(probabilities[key], 9), key))
    return {key: probabilities[key] for key in order[:max_listed]}


def transcription(measure, t, o, probabilities):
    floor = measure.base.floor
    clipped = [min(max(oj, floor), 1 - floor) for oj in o]
    product = math.prod(oj if tj else 1 - oj for tj, oj in zip(t, clipped, strict=True))
    return -math.log((1 - measure.mix) * probabilities.get(tuple(t), 0.0) + measure.mix * product)


@st.composite
def forests(draw):
    n_labels, n_training = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    Y = draw(arrays(np.int8, (n_training, n_labels), elements=st.integers(0, 1)))
    X = draw(arrays(np.float64, (n_training, 2), elements=st.integers(0, 3)))
    measure = ForestMeasure(
        LogLossMeasure(floor=draw(st.sampled_from([1e-6, 0.01, 0.3]))),
        n_estimators=draw(st.integers(1, 4)),
        min_samples_leaf=draw(st.integers(1, 4)),
        mix=draw(st.sampled_from([1e-6, 0.3, 0.999, 1 - 2**-50])),
        max_listed=draw(st.integers(1, 6)),
        random_state=draw(st.integers(0, 100)),
    )
    n_new = draw(st.integers(1, 3))
    outputs = draw(arrays(np.float64, (n_new, n_labels), elements=OUTPUTS))
    return measure, Y, X, outputs, draw(arrays(np.float64, (n_new, 2), elements=st.integers(0, 3)))


@settings(max_examples=60)
@given(forests())
def test_forest_scores_equal_formula(parts):
    measure, Y, X, outputs, X_new = parts
    energy = measure.fit(Y, X=X).energy(outputs, X=X_new)
    n_labels = outputs.shape[1]
    for i, (o, x) in enumerate(zip(outputs, X_new, strict=True)):
        listed = listed_only(forest_probabilities(measure, Y, X, x), measure.max_listed)
        for t in decode(np.arange(2**n_labels), n_labels):
            score = energy.scores(t[None], objects=np.array([i]))[0] * 2.0**-measure.exponent_
            expected = transcription(measure, t.tolist(), o.tolist(), listed)
            assert score == pytest.approx(
                expected, rel=1e-11, abs=(n_labels + 2) * 2.0**-measure.exponent_
            )


def clustered_data(n_objects, *, n_labels=5, seed=0):
    """Objects in clusters, each with labelsets of its own."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 6, size=n_objects)
    X = rng.normal(size=(n_objects, 4)) + rng.normal(size=(6, 4))[cluster] * 3
    Y = (rng.random((n_objects, n_labels)) < rng.random((6, n_labels))[cluster]).astype(np.int8)
    return X, Y, rng.random((n_objects, n_labels))


def small_forest(**parameters):
    usual = {
        "base": LogLossMeasure(),
        "n_estimators": 12,
        "min_samples_leaf": 5,
        "mix": 0.5,
        "random_state": 0,
    }
    return ForestMeasure(**(usual | parameters))


def equal(first, second):
    return (
        np.array_equal(first.constant, second.constant)
        and np.array_equal(first.unary, second.unary)
        and np.array_equal(first.overrides.begin, second.overrides.begin)
        and np.array_equal(first.overrides.labelsets, second.overrides.labelsets)
        and np.array_equal(first.overrides.scores, second.overrides.scores)
    )


def log_probabilities(energy, measure):
    """Minus the scores of all labelsets of all objects, (n, 2^q)."""
    every = decode(np.arange(2**energy.n_labels), energy.n_labels)
    scores = [energy.scores(every, objects=np.full(len(every), i)) for i in range(energy.n_objects)]
    return -np.ldexp(np.array(scores, dtype=float), -measure.exponent_)


def test_posterior_and_leaves_are_mixed_into_one_distribution():
    X, Y, outputs = clustered_data(300)
    measure = ForestMeasure(n_estimators=12, mix=0.7, max_listed=32, random_state=0)
    assert measure.needs == Need.FEATURES | Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS
    measure.fit(Y[:200], outputs=outputs[:200], X=X[:200])
    posterior = PosteriorMeasure().fit(Y[:200], outputs=outputs[:200])
    mixed = np.exp(log_probabilities(measure.energy(outputs[200:], X=X[200:]), measure))
    base = np.exp(log_probabilities(posterior.energy(outputs[200:]), posterior))
    assert mixed.sum(axis=1) == pytest.approx(np.ones(100), abs=1e-9)
    for own, of_base, x in zip(mixed, base, X[200:], strict=True):
        leaves = forest_probabilities(measure, Y[:200], X[:200], x)
        share = [leaves.get(tuple(t.tolist()), 0.0) for t in decode(np.arange(32), 5)]
        assert own == pytest.approx(0.7 * of_base + 0.3 * np.array(share), abs=1e-9)


def test_fitted_base_is_taken_as_it_is_and_an_unfitted_one_copied():
    X, Y, outputs = clustered_data(230)
    base = PosteriorMeasure().fit(Y[:200], outputs=outputs[:200])
    known = {"outputs": outputs[:200], "X": X[:200]}
    beside, anew = (
        small_forest(base=one).fit(Y[:200], **known) for one in (base, PosteriorMeasure())
    )
    assert beside.base_ is base
    assert not hasattr(anew.base, "exponent_")
    assert equal(beside.energy(outputs[200:], X=X[200:]), anew.energy(outputs[200:], X=X[200:]))
    assert not hasattr(clone(beside).base, "exponent_")  # what conformal classifiers fit


def test_forest_depends_on_its_random_state_alone():
    X, Y, outputs = clustered_data(230)

    def energy(random_state):
        return (
            small_forest(random_state=random_state)
            .fit(Y[:200], X=X[:200])
            .energy(outputs[200:], X=X[200:])
        )

    assert equal(energy(3), energy(3))
    assert equal(energy(np.random.RandomState(3)), energy(3))
    assert not equal(energy(3), energy(4))


@pytest.mark.parametrize("conformal", [CrossConformalClassifier, InductiveConformalClassifier])
def test_conformal_classifiers_seed_the_forest(conformal):
    X, Y, outputs = clustered_data(100)

    def energy(random_state):
        measure = small_forest(random_state=None) + UnseenPenalty()
        model = conformal(MLkNNClassifier(), measure=measure, random_state=random_state).fit(X, Y)
        return model.calibrator_.folds[0].measure.first.energy(outputs, X=X)

    assert equal(energy(1), energy(1))
    assert not equal(energy(1), energy(2))


@pytest.mark.parametrize("n_labels", [32, 33, 70])
def test_with_many_labels_leaves_hold_whole_labelsets(n_labels):
    X, Y, outputs = clustered_data(90, n_labels=n_labels)
    Y = Y[np.random.default_rng(1).integers(0, 8, size=90)]  # eight labelsets in all
    measure = small_forest(mix=0.5).fit(Y[:80], X=X[:80])
    assert measure.forest_.n_outputs_ == 32
    energy = measure.energy(outputs[80:], X=X[80:])
    for i, x in enumerate(X[80:]):
        listed = listed_only(forest_probabilities(measure, Y[:80], X[:80], x), 200)
        for t, probability in listed.items():
            score = energy.scores(np.array([t]), objects=np.array([i]))[0] * 2.0**-measure.exponent_
            expected = transcription(measure, t, outputs[80 + i].tolist(), {t: probability})
            assert score == pytest.approx(expected, rel=1e-9)


def test_objects_are_needed():
    assert ForestMeasure(LogLossMeasure()).needs == Need.FEATURES | Need.TRAINING_LABELS
    X, Y, outputs = clustered_data(50)
    with pytest.raises(
        ValueError, match="ForestMeasure looks at the objects themselves: pass them as X"
    ):
        small_forest().fit(Y)
    with pytest.raises(
        ValueError, match="ForestMeasure looks at the objects themselves: pass them as X"
    ):
        small_forest().fit(Y, X=X).energy(outputs)
    with pytest.raises(
        ValueError, match=r"needs the objects themselves.*use CrossConformalClassifier"
    ):
        calibrate_outputs(
            outputs, Y, folds=np.arange(50) % 2, measure=ForestMeasure(LogLossMeasure())
        )


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            ["some text", "more text", "and more"],
            "read X as a matrix of numbers, but: .*LogLossMeasure",
        ),
        (
            [["red"], ["green"], ["blue"]],
            "read X as a matrix of numbers, but: could not convert string to float",
        ),
        ([1.0, 2.0, 3.0], "read X as a matrix of numbers, but: Expected 2D array"),
        ([[1.0], [np.inf], [2.0]], "read X as a matrix of numbers, but: Input X contains infinity"),
        (
            [[1.0], [1e300], [2.0]],
            "read X as a matrix of numbers, but: Input X contains infinity or a value too large",
        ),
        ([[1.0], [2.0]], "X and Y must have the same number of rows, got 2 and 3"),
    ],
)
def test_objects_that_trees_cannot_read_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        small_forest().fit([[1, 0], [0, 1], [1, 1]], X=X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        (
            {"min_samples_leaf": 0.5},
            "min_samples_leaf must be a whole number of at least 1, got 0.5",
        ),
        ({"max_listed": 0}, "max_listed must be a whole number of at least 1, got 0"),
        ({"mix": 0}, "mix must be a finite number above 0, got 0"),
        ({"mix": 1.0}, r"mix must lie strictly between 0 and 1, got 1\.0"),
        ({"mix": np.nan}, "mix must be a finite number above 0, got nan"),
        ({"base": LogLossMeasure(floor=0.5)}, "floor must lie below one half, got 0.5"),
        (
            {"base": PosteriorMeasure(temperature=0)},
            "temperature must be a finite number above 0, got 0",
        ),
        ({"base": PowerMeasure()}, r"base must be a measure whose scores .*, got PowerMeasure\(\)"),
        (
            {"base": LogLossMeasure() + UnseenPenalty()},
            r"base must be .*, got LogLossMeasure\(\) \+ Unseen",
        ),
        ({"base": "posterior"}, "base must be .*, got 'posterior'"),
        ({"max_features": "most"}, "The 'max_features' parameter of ExtraTreesRegressor must be"),
    ],
)
def test_bad_parameters_of_forests_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        small_forest(**parameters).fit([[1, 0], [0, 1]], X=[[0.0], [1.0]])

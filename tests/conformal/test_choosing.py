"""measure="auto": chosen by the right loss, from training data alone, and refused if impossible."""

import pickle
import re

import joblib
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from labelsure import (
    AutoMeasure,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    calibrate_outputs,
)
from labelsure.conformal._choosing import choose_measure
from labelsure.engine import Exactly
from labelsure.measures import (
    ForestMeasure,
    LogLossMeasure,
    MahalanobisMeasure,
    PowerMeasure,
    UnseenPenalty,
)

FEW = [PowerMeasure(), LogLossMeasure(), LogLossMeasure() + UnseenPenalty(2.0)]
SMALL_FOREST = ForestMeasure(n_estimators=5)


class Refusing(ClassifierMixin, BaseEstimator):
    """Fails when it is fitted: what is refused before was refused at the door."""

    def fit(self, *_):
        raise AssertionError("fitted")

    def predict_proba(self, *_):
        raise AssertionError("asked")


@pytest.fixture(scope="module")
def data():
    return make_multilabel_classification(80, n_features=5, n_classes=3, random_state=1)


@pytest.fixture
def one_of_five():
    """Exactly one of five labels is on: only a measure on labelsets can tell that two are wrong."""
    rng = np.random.default_rng(0)
    which = rng.integers(5, size=150)
    return np.eye(5)[which] + rng.normal(scale=0.8, size=(150, 5)), np.eye(5, dtype=int)[which]


def cross(measure, **parameters):
    return CrossConformalClassifier(
        MLkNNClassifier(3), measure=measure, **({"cv": 3, "random_state": 0} | parameters)
    )


def assert_same_choice(choice, other):
    np.testing.assert_array_equal(choice.sizes, other.sizes)
    assert choice.chosen == other.chosen


@pytest.mark.parametrize("turned", [False, True])
def test_the_better_candidate_is_chosen(turned, one_of_five):
    better, worse = LogLossMeasure() + UnseenPenalty(3.0), LogLossMeasure()
    candidates = [better, worse] if turned else [worse, better]
    choices = cross(AutoMeasure(candidates)).fit(*one_of_five).measure_choices_
    assert choices.counts == {repr(better): 3}
    for choice in choices:
        assert choice.losses[0 if turned else 1] < choice.losses[1 if turned else 0] - 0.1


def test_candidates_are_compared_by_what_constraints_allow(one_of_five):
    """A penalty for labelsets never seen pays only as long as these are candidates."""
    auto = AutoMeasure([LogLossMeasure(), LogLossMeasure() + UnseenPenalty(2.0)], random_state=0)
    free, bound = (
        cross(auto, constraints=known).fit(*one_of_five) for known in (None, Exactly(1, range(5)))
    )
    assert {repr(choice.measure) for choice in free.measure_choices_} == {repr(auto.candidates[1])}
    assert {repr(choice.measure) for choice in bound.measure_choices_} == {repr(auto.candidates[0])}
    outputs = MLkNNClassifier(3).fit(*one_of_five).predict_proba(one_of_five[0])
    known = {
        "training_labels": one_of_five[1],
        "training_outputs": outputs,
        "constraints": Exactly(1, range(5)),
    }
    ready = calibrate_outputs(outputs, one_of_five[1], measure=auto, **known)
    assert (ready.calibrator.measure_choices[0].sizes <= 5).all()


@pytest.mark.filterwarnings("ignore:.*break Exactly")
def test_constraints_that_calibration_examples_may_drop_choose_nothing(one_of_five):
    """Else the measure would depend on whether a calibration example breaks them."""
    X, Y = one_of_five
    broken = Y.copy()
    broken[149] = 1
    auto = AutoMeasure([LogLossMeasure(), LogLossMeasure() + UnseenPenalty(2.0)], random_state=0)
    asked = {
        "cv": [(np.arange(100), np.arange(100, 150))],
        "constraints": Exactly(1, range(5)),
        "on_violation": "drop",
    }
    kept, dropped = (cross(auto, **asked).fit(X, labels) for labels in (Y, broken))
    assert kept.calibrator_.choices.constraints is not None
    assert dropped.calibrator_.choices.constraints is None
    assert_same_choice(kept.measure_choices_[0], dropped.measure_choices_[0])


def test_choices_repeat_and_do_not_depend_on_n_jobs(data):
    X, Y = data
    auto = AutoMeasure([*FEW, SMALL_FOREST], n_objects=10)
    with joblib.parallel_config(backend="threading"):
        model, again, parallel = (
            cross(auto, n_jobs=n_jobs).fit(X, Y) for n_jobs in (None, None, 2)
        )
    for other in (again, parallel):
        for choice, expected in zip(other.measure_choices_, model.measure_choices_, strict=True):
            assert_same_choice(choice, expected)
        np.testing.assert_array_equal(
            other.predict_labelsets(X).p_values(), model.predict_labelsets(X).p_values()
        )
    seeded = cross(auto, random_state=1, cv=[(np.arange(40), np.arange(40, 80))]).fit(X, Y)
    other = cross(auto, random_state=2, cv=[(np.arange(40), np.arange(40, 80))]).fit(X, Y)
    assert (seeded.measure_choices_[0].sizes != other.measure_choices_[0].sizes).any()
    outputs = np.random.default_rng(0).random(Y.shape)
    recipes = [AutoMeasure(FEW, n_objects=10, random_state=state) for state in (5, 5, 6)]
    sizes = [choose_measure(recipe, Y, outputs).sizes for recipe in recipes]
    np.testing.assert_array_equal(sizes[0], sizes[1])
    assert (sizes[0] != sizes[2]).any()


def test_candidates_that_cannot_be_used_are_left_out_with_the_reason():
    texts = ["cat dog", "dog cow", "rose oak", "oak fern", "cat rose", "cow oak"] * 5
    Y = np.array(
        [
            [any(w in t for w in ("cat", "dog", "cow")), any(w in t for w in ("rose", "oak"))]
            for t in texts
        ]
    )
    base = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
    auto = AutoMeasure([SMALL_FOREST, PowerMeasure(), MahalanobisMeasure(shrinkage=7.0)])
    model = InductiveConformalClassifier(base, measure=auto, random_state=0).fit(texts, Y)
    choice = model.measure_choices_[0]
    assert choice.measure.d == 4
    assert set(choice.skipped) == {0, 2}
    assert "shrinkage must lie between 0 and 1" in choice.skipped[2]
    assert np.isnan(choice.sizes[[0, 2]]).all()
    assert model.predict(texts[:3]).shape == (3, 2)
    with pytest.raises(
        ValueError, match=re.escape("None of the candidates can be used. ForestMeasure(")
    ):
        InductiveConformalClassifier(base, measure=AutoMeasure([SMALL_FOREST]), random_state=0).fit(
            texts, Y
        )


def test_ready_made_outputs_need_those_of_the_training_examples(data):
    X, Y = data
    base = KNeighborsClassifier(5).fit(X[:40], Y[:40])
    arrays = [
        np.column_stack([block[:, 1] for block in base.predict_proba(part)])
        for part in (X[:40], X[40:70], X[70:])
    ]
    auto = AutoMeasure([SMALL_FOREST, *FEW])
    known = {"training_labels": Y[:40], "training_outputs": arrays[0]}
    predictor = calibrate_outputs(arrays[1], Y[40:70], measure=auto, random_state=0, **known)
    assert "only outputs are known" in predictor.measure_choices[0].skipped[0]
    prefit = InductiveConformalClassifier(base, measure=auto, prefit=True, random_state=0).fit(
        X[40:70], Y[40:70], **known
    )
    assert repr(prefit.measure_choices_[0].measure) == repr(predictor.measure_choices[0].measure)
    named = calibrate_outputs(
        arrays[1], Y[40:70], measure=predictor.measure_choices[0].measure, **known
    )
    np.testing.assert_array_equal(
        predictor.predict_labelsets(arrays[2]).p_values(),
        named.predict_labelsets(arrays[2]).p_values(),
    )
    assert named.measure_choices is None
    with pytest.raises(ValueError, match="needs the labelsets that the model was trained on"):
        calibrate_outputs(arrays[1], Y[40:70], measure="auto")
    with pytest.raises(
        ValueError,
        match=r"AutoMeasure.* needs the outputs for what it was trained on: pass them as",
    ):
        calibrate_outputs(arrays[1], Y[40:70], measure="auto", training_labels=Y[:40])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": []}, r"candidates must be a list of at least one measure .*, got \[\]"),
        (
            {"candidates": [PowerMeasure(), "log-loss"]},
            "candidates must be a list .*, got 'log-loss'",
        ),
        ({"candidates": [PowerMeasure]}, "candidates must be a list .*, got <class"),
        ({"candidates": "power"}, "candidates must be a list .*, got 'p'"),
        ({"candidates": PowerMeasure()}, r"candidates must be a list .*, got PowerMeasure\(\)"),
        ({"significance": 0}, "significance must be a number strictly between 0 and 1, got 0"),
        (
            {"significance": (0.1, 1.5)},
            "significance must be a number strictly between 0 and 1, got 1.5",
        ),
        (
            {"significance": ()},
            r"significance must be a level such as 0.1 or a list of levels, got \(\)",
        ),
        (
            {"significance": None},
            "significance must be a level such as 0.1 or a list of levels, got None",
        ),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
        ({"n_objects": 0}, "n_objects must be a whole number of at least 1, got 0"),
    ],
)
@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_bad_parameters_are_refused_at_the_door(kind, parameters, message, data):
    with pytest.raises(ValueError, match=message):
        kind(Refusing(), measure=AutoMeasure(**parameters)).fit(*data)


def test_auto_is_a_parameter_like_others(data):
    X, Y = data
    candidates = [SMALL_FOREST, PowerMeasure()]
    model = cross(AutoMeasure(candidates, n_folds=3))
    copy = clone(model).set_params(measure__n_folds=2, measure__significance=0.2)
    assert model.measure.n_folds == 3
    assert copy.measure.candidates is not candidates
    copy.fit(X, Y)
    assert SMALL_FOREST.random_state is None
    assert copy.measure.candidates[0].random_state is None
    inside = InductiveConformalClassifier(MLkNNClassifier(3), random_state=0)
    search = GridSearchCV(
        inside, {"measure": ["auto", PowerMeasure(), AutoMeasure(FEW)]}, cv=2, refit=False
    )
    assert len(search.fit(X, Y).cv_results_["params"]) == 3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    again = pickle.loads(pickle.dumps(copy))
    np.testing.assert_array_equal(
        again.predict_labelsets(X[:5]).p_values(), copy.predict_labelsets(X[:5]).p_values()
    )
    assert str(again.measure_choices_) == str(copy.measure_choices_)


@pytest.mark.validity
def test_inductive_p_values_stay_valid_when_the_measure_is_chosen():
    """1000 independent trials; each level has a false-alarm rate of at most 1e-4."""
    n_trials, n_examples = 1000, 41
    p_values = np.empty(n_trials)
    for trial, rng in enumerate(np.random.default_rng(0).spawn(n_trials)):
        X = np.round(rng.normal(size=(n_examples, 2)))
        Y = np.column_stack(
            [
                X[:, 0] + rng.normal(size=n_examples) > 0,
                X.sum(axis=1) + rng.normal(size=n_examples) > 1,
            ]
        )
        model = InductiveConformalClassifier(
            KNeighborsClassifier(3), measure=AutoMeasure(FEW, significance=0.2, n_folds=3),
            calibration_size=19,
            empty_labelset="allow", random_state=int(rng.integers(2**31)),
        )  # fmt: skip
        p_values[trial] = model.fit(X[:-1], Y[:-1]).predict_labelsets(X[-1:]).p_value(Y[-1:])[0]
    for level in (0.05, 0.1, 0.2):
        errors = int((p_values <= level + 1e-12).sum())
        assert binomtest(errors, n_trials, level, alternative="greater").pvalue > 1e-4, (
            level,
            errors,
        )

"""Unknown labels, NaN in y: who trains, who calibrates, what is said about it."""

import numpy as np
import pandas as pd
import pytest
from counting import Counting, make_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    calibrate_labels,
)
from labelsure.learners import outputs_of
from labelsure.learners._adapter import fit_known
from labelsure.measures import LogLossMeasure, PowerMeasure, UnseenPenalty

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(120)
UNKNOWN = np.random.RandomState(0).rand(120, 3) < 0.2
GAPS = np.where(UNKNOWN, np.nan, Y)
COMPLETE = np.flatnonzero(~UNKNOWN.any(axis=1))
APART = MultiOutputClassifier(LogisticRegression())


class Together(Counting):
    """Learns all labels together, and says so."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        return tags


@pytest.mark.parametrize("measure", [None, PowerMeasure(), "auto"], ids=str)
def test_folds_of_complete_examples_have_models_that_learned_from_all_others(measure):
    model = CrossConformalClassifier(APART, cv=5, measure=measure, random_state=0).fit(X, GAPS)
    assert sorted(np.concatenate(model.fold_indices_)) == COMPLETE.tolist()
    assert model.n_incomplete_ == 120 - len(COMPLETE)
    for rows, fitted in zip(model.fold_indices_, model.models_, strict=True):
        train = np.delete(np.arange(120), rows)
        expected = fit_known(APART, X[train], Y[train], UNKNOWN[train])
        np.testing.assert_array_equal(outputs_of(fitted, X, 3), outputs_of(expected, X, 3))


def test_values_of_unknown_labels_reach_nothing():
    """Values beneath NaN in a DataFrame are hidden; the internal fill value has no effect."""
    models = [
        CrossConformalClassifier(APART, cv=4, random_state=0),
        InductiveConformalClassifier(APART, random_state=0),
        CrossConformalClassifier(Together(), cv=4, random_state=0),
    ]
    for model in models:
        first = model.fit(X, GAPS).predict_labelsets(X[:5]).p_values()
        frame = pd.DataFrame(Y, columns=list("abc")).astype("Int64").mask(UNKNOWN)
        again = model.fit(X, frame).predict_labelsets(X[:5]).p_values()
        np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_learners_of_all_labels_together_see_complete_examples_alone(kind):
    given = {"random_state": 0}
    with_gaps = kind(Together(), **given).fit(X, GAPS)
    without = kind(Together(), **given).fit(X[COMPLETE], Y[COMPLETE])
    np.testing.assert_array_equal(
        with_gaps.predict_labelsets(X[:9]).p_values(), without.predict_labelsets(X[:9]).p_values()
    )
    assert with_gaps.n_incomplete_ == 120 - len(COMPLETE)
    assert without.n_incomplete_ == 0


def with_gaps(way):
    """Return predictors that cannot train on incomplete examples: joint and prefit learners."""
    if way == "prefit":
        fitted = Counting().fit(*make_data(40, seed=9))
        return InductiveConformalClassifier(
            fitted, prefit=True, measure=PowerMeasure(), random_state=0
        )
    kind = InductiveConformalClassifier if way == "inductive" else CrossConformalClassifier
    folds = {
        "inductive": {},
        "cross": {"cv": 6},
        "splitter": {"cv": KFold(4)},
        "groups": {"cv": 4},
    }[way]
    return kind(
        Together(), measure=None if way == "cross" else PowerMeasure(), random_state=0, **folds
    )


@pytest.mark.parametrize("learner", [APART, Together()], ids=["apart", "together"])
@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6)
def test_recalibration_with_gaps_is_what_fit_gives(learner, kind, seed):
    """Whichever rows are incomplete: with the same models, and a measure fitted on training."""
    random = np.random.RandomState(seed)
    gaps = np.where(random.rand(*Y.shape) < 0.3 * random.rand(), np.nan, Y)
    options = {"random_state": 0} | ({"cv": 3} if kind is CrossConformalClassifier else {})
    model = kind(learner, measure=PowerMeasure(), **options).fit(X, gaps)
    for changed in (
        {"smoothed": True},
        {"mondrian": "cardinality"},
        {"measure": LogLossMeasure() + UnseenPenalty(1.0)},
    ):
        again = model.recalibrate(X, gaps, **changed)
        anew = clone(model).set_params(**changed).fit(X, gaps)
        np.testing.assert_array_equal(
            again.predict_labelsets(X[:4]).p_values(), anew.predict_labelsets(X[:4]).p_values()
        )
        assert again.calibrator_.guarantee.sentence(0.1) == anew.calibrator_.guarantee.sentence(0.1)
    for rows in model.fold_indices_:
        assert len(model.nonconformity(X[rows], gaps[rows])) == len(rows)  # all of them complete


def test_statements_say_how_many_calibrate_and_what_that_takes():
    n = len(COMPLETE)
    for estimator in (APART, Together()):
        model = CrossConformalClassifier(estimator, cv=4, random_state=0).fit(X, GAPS)
        statement = model.predict_labelsets(X[:3]).region(0.1).statement
        assert f"for {n} exchangeable examples in 4 folds" in statement
        assert f"{120 - n} more examples have unknown labels and do not calibrate" in statement
        assert (
            "whether an example is complete depends neither on its object nor on its labels"
            in statement
        )
    assert "unknown" not in model.fit(X, Y).predict_labelsets(X[:3]).region(0.1).statement


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize("estimator", [APART, Together()], ids=["apart", "together"])
def test_each_label_is_calibrated_with_the_examples_where_it_is_known(conditional, cv, estimator):
    model = LabelWiseConformalClassifier(
        estimator, conditional=conditional, cv=cv, random_state=0
    ).fit(X, GAPS)
    pred = model.predict_labels(X[:9])
    outputs = [outputs_of(fitted, X, 3) for fitted in model.models_]
    for j in range(3):
        for c in (0, 1):
            count, n = np.zeros(9), 0
            for own, of_fold in zip(outputs, model.fold_indices_, strict=True):
                known = of_fold[~UNKNOWN[of_fold, j]]
                rows = known[Y[known, j] == c] if conditional else known
                scores = np.abs(Y[rows, j] - own[rows, j])
                count += (scores[None] >= np.abs(c - own[:9, j])[:, None] - 1e-12).sum(axis=1)
                n += len(rows)
            np.testing.assert_allclose(pred.p_values[:, j, c], (count + 1) / (n + 1), atol=1e-9)


def test_ready_made_outputs_and_updates_take_gaps():
    outputs = X[:, :3]
    whole = calibrate_labels(outputs, GAPS)
    parts = calibrate_labels(outputs[:50], GAPS[:50]).update(outputs[50:], GAPS[50:])
    np.testing.assert_array_equal(
        whole.predict_labels(outputs[:9]).p_values, parts.predict_labels(outputs[:9]).p_values
    )
    assert (
        whole.predict_labels(outputs[:9]).region(0.1).statement
        == parts.predict_labels(outputs[:9]).region(0.1).statement
    )
    fitted = Counting().fit(X[:40], Y[:40])
    model = LabelWiseConformalClassifier(fitted, prefit=True)
    anew = model.fit(X[40:], GAPS[40:]).predict_labels(X[:9]).p_values
    updated = (
        model.fit(X[40:70], GAPS[40:70]).update(X[70:], GAPS[70:]).predict_labels(X[:9]).p_values
    )
    np.testing.assert_array_equal(anew, updated)


@pytest.mark.parametrize(
    "model",
    [CrossConformalClassifier(APART), LabelWiseConformalClassifier(APART)],
    ids=lambda one: type(one).__name__,
)
def test_impossible_gaps_are_refused(model):
    with pytest.raises(ValueError, match="only NaN for label 1"):
        model.fit(X, np.where(np.arange(3) == 1, np.nan, Y))
    with pytest.raises(ValueError, match="only 0 and 1, got 2"):
        model.fit(X, 2 * GAPS)


@pytest.mark.validity
def test_errors_with_gaps_are_within_their_bounds():
    """300 data sets each, a third of all entries unknown by chance, 10 new objects: errors at 0.2.

    False alarm: 4 standard deviations of the means over data sets, below 1e-4 for each of the four.
    """
    random = np.random.RandomState(0)
    missed = np.empty((300, 4))
    for one in range(300):
        objects, labels = make_data(130, seed=1000 + one)
        gaps = np.where(random.rand(120, 3) < 1 / 3, np.nan, labels[:120])
        new, truth = objects[120:], labels[120:]
        model = InductiveConformalClassifier(APART, measure=PowerMeasure(), random_state=one).fit(
            objects[:120], gaps
        )
        missed[one, 0] = 1 - model.predict_labelsets(new).region(0.2).contains(truth).mean()
        wise = LabelWiseConformalClassifier(APART, random_state=one).fit(objects[:120], gaps)
        missed[one, 1:] = (
            wise.predict_labels(new).region(0.2, per_label=True).wrong(truth).mean(axis=0)
        )
    spread = missed.std(axis=0) / np.sqrt(300)
    assert (missed.mean(axis=0) <= 0.2 + 4 * spread).all()
    assert (missed.mean(axis=0) >= 0.1).all()

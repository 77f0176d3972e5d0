"""The empty labelset: what "auto", "allow" and "exclude" make of it, and who finds it strangest.

Under "auto" the empty labelset is stranger than every other one in folds whose training part has no
example without labels. That every promise is kept then is simulated in test_promises.py.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PowerMeasure,
    calibrate_outputs,
)
from labelsure.learners import outputs_of

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")

KINDS = [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
NOTHING = np.zeros((1, 3), dtype=int)


def whole_numbers(n_examples=24):
    """Small whole numbers, and labels of which the third is always on."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (n_examples, 4)).astype(float)
    Y = (X[:, :3] + rng.integers(0, 3, (n_examples, 3)) > 3).astype(int)
    Y[:, 2] = 1
    return X, Y


def small(kind, **parameters):
    own = {CrossConformalClassifier: {"cv": 3}}.get(kind, {})
    return kind(MLkNNClassifier(3), **({"random_state": 0} | own | parameters))


@pytest.mark.parametrize("kind", KINDS)
def test_excluding_the_empty_labelset_warns_about_some_examples_and_fails_on_all(kind):
    X, Y = whole_numbers()
    Y[[5, 7]] = 0
    model = small(kind, empty_labelset="exclude")
    with pytest.warns(UserWarning, match=r"2 of 20 examples have no label.*always missed"):
        model.fit(X[:20], Y[:20])
    pred = model.predict_labelsets(X[22:])
    assert pred.labelsets.any(axis=1).all()
    assert pred.p_value(NOTHING[0]).tolist() == [0, 0]
    assert not pred.region(0.001).contains(NOTHING[0]).any()
    with pytest.raises(ValueError, match=r'empty_labelset="exclude".*no example has another'):
        small(kind, empty_labelset="exclude").fit(X[:20], 0 * Y[:20])


def p_values_with_strangest_empty(outputs, Y, new, *, d=4):
    """(#{alpha_i >= alpha} + 1) / (l + 1), examples without labels on top, as in candidates()."""
    labelsets = (np.arange(2 ** Y.shape[1])[:, None] >> np.arange(Y.shape[1])) & 1
    score = lambda y, o: np.inf if not y.any() else (np.abs(y - o) ** d).sum()  # noqa: E731
    own = np.array([score(y, o) for y, o in zip(Y, outputs, strict=True)])
    return np.array(
        [[(np.sum(own >= score(y, o)) + 1) / (len(Y) + 1) for y in labelsets] for o in new]
    )


def test_empty_labelset_is_strangest_in_those_folds_alone_that_have_not_seen_it():
    """An example without labels trains one of two models, and calibrates neither."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((24, 4)), rng.integers(0, 2, (24, 3))
    Y[:, 0] |= ~Y.any(axis=1)
    Y[20] = 0
    splits = [(np.arange(10, 21), np.arange(10)), (np.arange(10), np.arange(10, 20))]
    model = small(CrossConformalClassifier, cv=splits, measure=PowerMeasure()).fit(X[:21], Y[:21])
    own, new = (outputs_of(model.models_[0], part, 3) for part in (X[:10], X[21:]))
    scores = (np.abs(Y[:10] - own) ** 4).sum(axis=1)
    counts = (scores >= (new**4).sum(axis=1)[:, None]).sum(axis=1)
    assert counts.any()
    np.testing.assert_allclose(
        model.predict_labelsets(X[21:]).p_value(NOTHING[0]), (counts + 1) / 21
    )


def test_empty_labelset_is_ordinary_where_the_training_part_has_one_or_is_unknown():
    rng = np.random.default_rng(0)
    outputs = rng.random((20, 3))
    Y = (outputs > 0.5).astype(int)
    new = rng.random((6, 3))
    for training in (None, [[0, 0, 0], [1, 0, 0]]):
        known = {"training_labels": training, "measure": PowerMeasure()}
        auto, allow = (
            calibrate_outputs(outputs, Y, empty_labelset=empty, **known)
            for empty in ("auto", "allow")
        )
        np.testing.assert_array_equal(
            auto.predict_labelsets(new).p_values(), allow.predict_labelsets(new).p_values()
        )


def test_prefit_learns_from_training_labels_what_the_empty_labelset_is():
    X, Y = whole_numbers()
    fitted = MLkNNClassifier(3).fit(X[:10], Y[:10])
    model = InductiveConformalClassifier(fitted, prefit=True, measure=PowerMeasure())
    known = {}
    for name, training in {"none": Y[:10], "one": NOTHING, "unknown": None}.items():
        pred = model.fit(X[10:20], Y[10:20], training_labels=training).predict_labelsets(X[20:])
        known[name] = pred.p_value(NOTHING[0])
    assert np.allclose(known["none"], 1 / 11)
    np.testing.assert_array_equal(known["one"], known["unknown"])
    assert (known["one"] >= known["none"]).all()


def test_folds_differ_where_all_examples_without_labels_are_in_one_of_them():
    """Strangest in the fold whose training part has no such example; ordinary in the other."""
    rng = np.random.default_rng(0)
    outputs = rng.integers(0, 9, size=(20, 2)) / 8
    Y = (outputs > 0.5).astype(int)
    Y[:, 0] |= ~Y.any(axis=1)
    Y[:3] = 0
    folds = np.repeat([0, 1], 10)
    predictor = calibrate_outputs(outputs, Y, folds=folds, measure=PowerMeasure())
    assert [fold.finds_empty_strangest for fold in predictor.calibrator.folds] == [True, False]
    new = rng.integers(0, 9, size=(2, 5, 2)) / 8
    first = p_values_with_strangest_empty(outputs[:10], Y[:10], new[0]) * 11 - 1
    second = calibrate_outputs(outputs[10:], Y[10:], measure=PowerMeasure(), empty_labelset="allow")
    counts = first + second.predict_labelsets(new[1]).p_values() * 11 - 1
    np.testing.assert_allclose(
        predictor.predict_labelsets(new).p_values(), (counts + 1) / 21, atol=1e-12
    )
    thin = predictor.predict_labelsets([sparse.csr_array(part) for part in new])
    np.testing.assert_array_equal(thin.p_values(), predictor.predict_labelsets(new).p_values())


@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_one_example_without_labels_in_calibration_changes_p_values_by_one_count(kind):
    """Its score moves to the top: other labelsets gain at most 1 / (l + 1), and none loses."""
    X, Y = whole_numbers(60)
    one_fold = (
        {"cv": [(np.arange(25, 50), np.arange(25))]} if kind is CrossConformalClassifier else {}
    )
    model = small(kind, measure=PowerMeasure(), **one_fold)
    before = clone(model).fit(X[:50], Y[:50])
    row = before.fold_indices_[0][3]
    other = Y[:50].copy()
    other[row] = 0
    after = clone(model).fit(X[:50], other)
    tables = [fitted.predict_labelsets(X[50:]).p_values() for fitted in (before, after)]
    gained = (tables[1] - tables[0]) * (before.calibrator_.sizes[0] + 1)
    assert set(np.rint(gained).ravel().tolist()) <= {0.0, 1.0}
    assert np.allclose(gained[:, 0], 1)

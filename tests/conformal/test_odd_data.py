"""Odd data works: every shape, type and edge case of X and Y that the classifier supports."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PowerMeasure,
)

KINDS = [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
BASES = {
    "ML-kNN": MLkNNClassifier(3),
    "ML-RBF": MLRBFClassifier(),
    "neighbours": KNeighborsClassifier(1),
    "logistic": OneVsRestClassifier(LogisticRegression()),
    "multi-output": MultiOutputClassifier(LogisticRegression()),
}


def small(kind, estimator, **parameters):
    own = {CrossConformalClassifier: {"cv": 3}}.get(kind, {})
    return kind(estimator, **({"random_state": 0} | own | parameters))


def whole_numbers(n_examples=24, n_features=4, n_labels=3):
    """Small whole numbers, the same in every type; labels that vary."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (n_examples, n_features)).astype(float)
    Y = (X[:, :n_labels] + rng.integers(0, 3, (n_examples, n_labels)) > 3).astype(int)
    return X, Y


def assert_sane(model, X, n_labels):
    """p-values in (0, 1], one per candidate; the best is most plausible; a candidate predicted."""
    pred = model.predict_labelsets(X)
    table = pred.p_values()
    n_objects = X.shape[0] if hasattr(X, "shape") else len(X)
    assert table.shape == (n_objects, 2**n_labels)
    assert np.all((table > 0) & (table <= 1))
    np.testing.assert_array_equal(pred.p_value(pred.labelsets), table.max(axis=1))
    assert (pred.p_value(model.predict(X)) > 0).all()
    assert np.all((pred.confidence >= 0) & (pred.confidence <= 1))


ODD_LABELS = {
    "rows with no label": lambda Y: Y * (np.arange(len(Y)) % 2)[:, None],
    "no labels at all": lambda Y: 0 * Y,
    "all labels everywhere": lambda Y: 0 * Y + 1,
    "one never on": lambda Y: Y * [0, 1, 1],
    "one always on": lambda Y: np.maximum(Y, [0, 0, 1]),
    "one on once": lambda Y: np.column_stack([np.arange(len(Y)) == 3, Y[:, 1:]]).astype(int),
    "one label": lambda Y: Y[:, :1],
    "one label, never on": lambda Y: 0 * Y[:, :1],
    "one label, always on": lambda Y: 0 * Y[:, :1] + 1,
}


@pytest.mark.filterwarnings("ignore:Label")  # one-vs-rest says which labels are constant
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("labels", ODD_LABELS)
@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_odd_labels_work(kind, labels, base):
    X, Y = whole_numbers()
    Y = ODD_LABELS[labels](Y)
    for penalty in (0.0, 1.0):
        model = small(kind, BASES[base], measure=PowerMeasure(pair_penalty=penalty)).fit(
            X[:20], Y[:20]
        )
        assert_sane(model, X[20:], Y.shape[1])
    assert_sane(model, X[23:], Y.shape[1])  # a single object


@pytest.mark.filterwarnings("ignore:Label")
@pytest.mark.parametrize("base", BASES)
def test_two_examples_are_enough(base):
    X, Y = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0, 1], [1, 1]])
    cross = CrossConformalClassifier(BASES[base], cv=2, random_state=0).fit(X, Y)
    assert_sane(cross, X, 2)
    inductive = InductiveConformalClassifier(BASES[base], calibration_size=1, random_state=0).fit(
        X, Y
    )
    assert_sane(inductive, X, 2)
    if base in ("ML-kNN", "ML-RBF"):  # one example has no second class for the others
        assert_sane(FullConformalClassifier(BASES[base]).fit(X, Y), X[:1], 2)
        assert_sane(FullConformalClassifier(BASES[base]).fit(X[:1], Y[:1]), X[1:], 2)


def _read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


X_FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "object": lambda X: X.astype(object),
    "read-only": _read_only,
    "nested list": lambda X: X.tolist(),
    "frame": lambda X: pd.DataFrame(X).rename(columns=str),
    "frame of several types": lambda X: (
        pd.DataFrame(X).rename(columns=str).astype({"0": int, "1": np.float32})
    ),
    "csr array": sparse.csr_array,
    "coo array": sparse.coo_array,
}
Y_FORMS = {
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "object": lambda Y: Y.astype(object),
    "nested list": lambda Y: Y.tolist(),
    "csr matrix": sparse.csr_matrix,
    "frame": lambda Y: pd.DataFrame(Y, columns=list("abc")),
    "frame of bools": lambda Y: pd.DataFrame(Y, columns=list("abc")).astype(bool),
}


@pytest.mark.parametrize("form", X_FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_form_of_objects_does_not_matter(kind, form):
    """Fitting and predicting in any two forms of the same data gives the same p-values."""
    X, Y = whole_numbers()
    convert = X_FORMS[form]
    expected = (
        small(kind, MLkNNClassifier(3)).fit(X[:20], Y[:20]).predict_labelsets(X[22:]).p_values()
    )
    model = small(kind, MLkNNClassifier(3)).fit(convert(X[:20]), Y[:20])
    np.testing.assert_array_equal(model.predict_labelsets(convert(X[22:])).p_values(), expected)
    if "frame" not in form:  # scikit-learn warns where names are missing or new
        np.testing.assert_array_equal(model.predict_labelsets(X[22:]).p_values(), expected)
        plain = small(kind, MLkNNClassifier(3)).fit(X[:20], Y[:20])
        np.testing.assert_array_equal(plain.predict_labelsets(convert(X[22:])).p_values(), expected)


@pytest.mark.parametrize("form", Y_FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_form_of_labels_does_not_matter(kind, form):
    X, Y = whole_numbers()
    measure = PowerMeasure(pair_penalty=1.0)
    expected = (
        small(kind, MLkNNClassifier(3), measure=measure)
        .fit(X[:20], Y[:20])
        .predict_labelsets(X[22:])
    )
    model = small(kind, MLkNNClassifier(3), measure=measure).fit(X[:20], Y_FORMS[form](Y[:20]))
    pred = model.predict_labelsets(X[22:])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    np.testing.assert_array_equal(pred.p_value(Y_FORMS[form](Y[22:])), expected.p_value(Y[22:]))
    np.testing.assert_array_equal(
        pred.region(0.1).contains(Y_FORMS[form](Y[22:])), expected.region(0.1).contains(Y[22:])
    )


def test_cv_may_be_a_splitter_or_an_iterable():
    X, Y = whole_numbers()
    splitter = KFold(4, shuffle=True, random_state=3)
    expected = CrossConformalClassifier(MLkNNClassifier(3), cv=splitter, random_state=0).fit(X, Y)
    assert [fold.tolist() for fold in expected.fold_indices_] == [
        test.tolist() for _, test in splitter.split(X)
    ]
    numbers = np.empty(24, dtype=int)
    for k, fold in enumerate(expected.fold_indices_):
        numbers[fold] = k
    as_lists = [(train.tolist(), test.tolist()) for train, test in splitter.split(X)]
    for cv in (PredefinedSplit(numbers), splitter.split(X), as_lists, iter(as_lists)):
        model = CrossConformalClassifier(MLkNNClassifier(3), cv=cv, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(
            model.predict_labelsets(X).p_values(), expected.predict_labelsets(X).p_values()
        )


def test_one_fold_is_an_inductive_predictor():
    X, Y = whole_numbers()
    numbers = np.repeat([-1, 0], [14, 10])
    measure = PowerMeasure()
    options = {"measure": measure, "empty_labelset": "allow"}
    cross = CrossConformalClassifier(
        MLkNNClassifier(3), cv=PredefinedSplit(numbers), **options
    ).fit(X, Y)
    fitted = MLkNNClassifier(3).fit(X[:14], Y[:14])
    inductive = InductiveConformalClassifier(fitted, prefit=True, **options).fit(X[14:], Y[14:])
    np.testing.assert_array_equal(
        cross.predict_labelsets(X).p_values(), inductive.predict_labelsets(X).p_values()
    )
    once = CrossConformalClassifier(
        MLkNNClassifier(3), cv=ShuffleSplit(1, test_size=8, random_state=0)
    ).fit(X, Y)
    assert once.calibrator_.sizes == (8,)
    assert (
        "at most 0.1, for exchangeable examples ("
        in once.predict_labelsets(X).region(0.1).statement
    )


@pytest.mark.parametrize(
    ("size", "n_calibration"),
    [
        (1, 1),
        (23, 23),
        (np.int64(5), 5),
        (0.5, 12),
        (0.3, 8),
        (1e-9, 1),
        (0.95, 23),
        (np.float64(0.25), 6),
    ],
)
def test_calibration_size_is_a_number_or_a_share(size, n_calibration):
    X, Y = whole_numbers()
    model = InductiveConformalClassifier(
        MLkNNClassifier(3), calibration_size=size, random_state=0
    ).fit(X, Y)
    (rows,) = model.fold_indices_
    assert len(rows) == n_calibration
    assert model.calibrator_.sizes == (n_calibration,)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert np.ptp(rows) != n_calibration - 1 or n_calibration in (1, 23)

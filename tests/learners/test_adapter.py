"""The adapter with real scikit-learn classifiers in all the shapes they answer in."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsure import MLkNNClassifier, MLRBFClassifier
from labelsure.learners import fit_base, outputs_of

CLASSIFIERS = {
    "one vs rest, probabilities": OneVsRestClassifier(LogisticRegression()),
    "one vs rest, decisions": OneVsRestClassifier(LinearSVC(random_state=0)),
    "multi-output, logistic": MultiOutputClassifier(LogisticRegression()),
    "multi-output, forest": MultiOutputClassifier(
        RandomForestClassifier(n_estimators=5, random_state=0)
    ),
    "multi-output, naive Bayes": MultiOutputClassifier(GaussianNB()),
    "chain, logistic": ClassifierChain(LogisticRegression(), random_state=0),
    "chain, forest": ClassifierChain(
        RandomForestClassifier(n_estimators=5, random_state=0), random_state=0
    ),
    "forest": RandomForestClassifier(n_estimators=20, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "network": MLPClassifier(
        (5,), alpha=1.0, tol=0.01, max_iter=1000, solver="lbfgs", random_state=0
    ),
    "ridge": RidgeClassifier(),
    "dummy": DummyClassifier(),
    "pipeline": make_pipeline(
        StandardScaler(with_mean=False), RandomForestClassifier(n_estimators=20, random_state=0)
    ),
    "grid search": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5]}, cv=2),
    "grid search over a pipeline": GridSearchCV(
        make_pipeline(StandardScaler(with_mean=False), MLRBFClassifier(random_state=0)),
        {"mlrbfclassifier__scaling": [0.5, 1.0]},
        cv=2,
    ),
    "ML-kNN": MLkNNClassifier(5),
    "ML-RBF": MLRBFClassifier(centre_fraction=0.2, random_state=0),
}

BINARY_CLASSIFIERS = {"logistic": LogisticRegression(), "SVC": SVC(), "naive Bayes": GaussianNB()}


@pytest.fixture
def data():
    """Objects whose labels 0 and 1 follow the first two features; label 2 is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, rng.random(120) < 0.3]).astype(int)
    return X, Y


def with_constants(Y):
    """Put a label that is never on in front and one that is always on behind."""
    return np.column_stack([np.zeros(len(Y), dtype=int), Y, np.ones(len(Y), dtype=int)])


def assert_sensible(outputs, Y):
    """Outputs in range which, except the dummy's, separate on from off for learnable labels."""
    assert outputs.shape == Y.shape
    assert outputs.dtype == np.float64
    assert np.all((outputs >= 0) & (outputs <= 1))


def separation(outputs, labels):
    return outputs[labels == 1].mean() - outputs[labels == 0].mean()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_outputs_of_any_classifier_separate_on_from_off(name, data):
    X, Y = data
    outputs = outputs_of(fit_base(CLASSIFIERS[name], X, Y), X, 3)
    assert_sensible(outputs, Y)
    if name != "dummy":
        assert separation(outputs[:, 0], Y[:, 0]) > 0.1
        assert separation(outputs[:, 1], Y[:, 1]) > 0.1


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_outputs_of_constant_labels_say_so(name, data):
    X, Y = data
    Y = with_constants(Y)
    with warnings.catch_warnings():
        # one-vs-rest names constant labels
        warnings.filterwarnings("ignore", message="Label", category=UserWarning)
        outputs = outputs_of(fit_base(CLASSIFIERS[name], X, Y), X, 5)
    assert_sensible(outputs, Y)
    assert np.all(outputs[:, 0] < 0.05)
    assert np.all(outputs[:, 4] > 0.95)
    if name != "dummy":
        assert separation(outputs[:, 1], Y[:, 1]) > 0.1
        assert separation(outputs[:, 2], Y[:, 2]) > 0.1


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("name", CLASSIFIERS | BINARY_CLASSIFIERS)
def test_outputs_where_no_label_varies_are_those_values(name, value, data):
    X, _ = data
    classifier = (CLASSIFIERS | BINARY_CLASSIFIERS)[name]
    for n_labels in (1, 2):
        if n_labels == 2 and name in BINARY_CLASSIFIERS:
            continue
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning)
            model = fit_base(classifier, X, np.full((len(X), n_labels), value))
        assert np.all(np.abs(outputs_of(model, X[:7], n_labels) - value) < 0.05), (name, n_labels)


def test_outputs_are_the_probabilities_of_label_on_exactly(data):
    X, Y = data
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    expected = np.column_stack([block[:, 1] for block in forest.fit(X, Y).predict_proba(X)])
    np.testing.assert_array_equal(outputs_of(fit_base(forest, X, Y), X, 3), expected)
    rest = OneVsRestClassifier(LogisticRegression())
    np.testing.assert_array_equal(
        outputs_of(fit_base(rest, X, Y), X, 3), rest.fit(X, Y).predict_proba(X)
    )


def test_outputs_are_the_sigmoid_of_decisions_exactly(data):
    X, Y = data
    network = MLRBFClassifier(random_state=0)
    expected = expit(network.fit(X, Y).decision_function(X))
    np.testing.assert_array_equal(outputs_of(fit_base(network, X, Y), X, 3), expected)
    machine = SVC()
    decisions = machine.fit(X, Y[:, 0]).decision_function(X)
    np.testing.assert_array_equal(
        outputs_of(fit_base(machine, X, Y[:, [0]]), X, 1)[:, 0], expit(decisions)
    )


def test_varying_labels_are_untouched_by_constant_ones(data):
    X, Y = data
    for classifier in (
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LinearSVC(random_state=0)),
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Label", category=UserWarning)
            outputs = outputs_of(fit_base(classifier, X, with_constants(Y)), X, 5)
        np.testing.assert_array_equal(outputs[:, 1:4], outputs_of(fit_base(classifier, X, Y), X, 3))
        assert np.all(outputs[:, 0] == 0)
        assert np.all(outputs[:, 4] == 1)


def test_outputs_of_a_prefitted_classifier(data):
    X, Y = data
    for classifier in (
        RandomForestClassifier(n_estimators=5, random_state=0),
        MLRBFClassifier(random_state=0),
    ):
        expected = outputs_of(fit_base(classifier, X, Y), X, 3)
        np.testing.assert_array_equal(outputs_of(classifier.fit(X, Y), X, 3), expected)
    machine = LogisticRegression().fit(X, Y[:, 0].astype(bool))
    np.testing.assert_array_equal(outputs_of(machine, X, 1)[:, 0], machine.predict_proba(X)[:, 1])


class Scripted(ClassifierMixin, BaseEstimator):
    """A classifier that gives the answer it is told to, by the method it is told to have."""

    def __init__(self, method, answer, classes=None):
        self.method = method
        self.answer = answer
        self.classes = classes

    def fit(self, *_):
        return self

    def __getattr__(self, name):
        if name == "classes_" and self.__dict__.get("classes") is not None:
            return self.classes
        if name == self.__dict__.get("method"):
            return lambda _: self.answer
        raise AttributeError(name)


class SecondColumns(MultiOutputClassifier):
    """Takes it for granted that every label has two classes, as classifiers out there do."""

    def predict_proba(self, X):
        return np.column_stack([block[:, 1] for block in super().predict_proba(X)])


def test_classifier_that_fails_on_constant_labels_only_when_asked(data):
    X, Y = data
    classifier = SecondColumns(RandomForestClassifier(n_estimators=5, random_state=0))
    outputs = outputs_of(fit_base(classifier, X, with_constants(Y)), X, 5)
    np.testing.assert_array_equal(outputs[:, 1:4], outputs_of(fit_base(classifier, X, Y), X, 3))
    assert np.all(outputs[:, [0, 4]] == [0, 1])


TWO_OBJECTS = [[0.0], [1.0]]
MASKED = np.ma.array(np.full((2, 2), 0.5), mask=[[False, True], [False, False]])


@pytest.mark.parametrize(
    ("method", "answer", "classes", "expected"),
    [
        (
            "predict_proba",
            [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
            None,
            [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
        ),
        (
            "predict_proba",
            sparse.csr_array([[0.0, 0.2], [0.4, 0.0]]),
            None,
            [[0.0, 0.2], [0.4, 0.0]],
        ),
        ("predict_proba", [np.array([[0.9, 0.1], [0.2, 0.8]])], None, [[0.1], [0.8]]),
        (
            "predict_proba",
            [np.array([[0.9, 0.1], [0.2, 0.8]])] * 2,
            [np.array([1, 0])] * 2,
            [[0.9, 0.9], [0.2, 0.2]],
        ),
        (
            "predict_proba",
            [np.ones((2, 1))] * 2,
            [np.array([0]), np.array([1])],
            [[0.0, 1.0], [0.0, 1.0]],
        ),
        (
            "predict_proba",
            [np.ones((2, 1))] * 2,
            [np.array([False]), np.array([True])],
            [[0.0, 1.0], [0.0, 1.0]],
        ),
        ("predict_proba", np.array([0.1, 0.8]), None, [[0.1], [0.8]]),
        ("predict_proba", np.array([[0.1], [0.8]]), [np.array([0, 1])], [[0.1], [0.8]]),
        ("predict_proba", np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([-1, 1]), [[0.1], [0.8]]),
        ("predict_proba", np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([1]), [[1.0], [1.0]]),
        ("predict_proba", np.array([[1 + 1e-10, -1e-10], [0, 1]]), None, [[1.0, 0.0], [0.0, 1.0]]),
        (
            "predict_proba",
            np.array([[1 + 2e-7, 0], [0, 1]], dtype=np.float32),
            None,
            [[1.0, 0.0], [0.0, 1.0]],
        ),
        (
            "decision_function",
            np.array([[0.0, np.inf], [-np.inf, 0.0]]),
            None,
            [[0.5, 1.0], [0.0, 0.5]],
        ),
        ("decision_function", [np.zeros(2), np.zeros((2, 1))], None, [[0.5, 0.5], [0.5, 0.5]]),
        ("decision_function", np.zeros(2), None, [[0.5], [0.5]]),
        ("decision_function", np.zeros((2, 1), dtype=int), None, [[0.5], [0.5]]),
    ],
)
def test_outputs_are_read_from_every_shape(method, answer, classes, expected):
    if isinstance(answer, list) and isinstance(answer[0], list):
        answer = np.array(answer)
    n_labels = len(expected[0])
    outputs = outputs_of(Scripted(method, answer, classes), TWO_OBJECTS, n_labels)
    np.testing.assert_array_equal(outputs, expected)


@pytest.mark.parametrize(
    ("method", "answer", "classes", "message"),
    [
        (
            "predict",
            np.zeros((2, 2)),
            None,
            "predict_proba or decision_function, but Scripted has neither",
        ),
        (
            "predict_proba",
            np.zeros((2, 3)),
            None,
            r"predict_proba of Scripted must .* \(2, 2\) .* got .* \(2, 3\)",
        ),
        (
            "predict_proba",
            np.zeros((3, 2)),
            None,
            r"predict_proba of Scripted must .* got an array of shape \(3, 2\)",
        ),
        (
            "predict_proba",
            np.zeros((2, 2, 2)),
            None,
            r"Scripted must .* got an array of shape \(2, 2, 2\)",
        ),
        ("predict_proba", [np.zeros((2, 2))] * 3, None, "Scripted must .* got a list of 3 arrays"),
        (
            "predict_proba",
            [np.zeros((2, 2)), np.zeros((2, 3))],
            None,
            r"Scripted must .* shape \(2, 3\) for label 1",
        ),
        (
            "predict_proba",
            [np.zeros((2, 1))] * 2,
            None,
            r"Scripted gives a single column for label 0",
        ),
        (
            "predict_proba",
            [np.zeros((2, 2))] * 2,
            [np.array(["no", "yes"])] * 2,
            r"Scripted must .* \['no', 'yes'\]",
        ),
        (
            "predict_proba",
            [np.full((2, 1), 0.3)] * 2,
            [np.array([0])] * 2,
            "must be 1 everywhere, got 0.3",
        ),
        (
            "predict_proba",
            np.array([[0.5, np.nan], [0, 0]]),
            None,
            "Outputs of Scripted must lie between 0 and 1, got nan",
        ),
        (
            "predict_proba",
            np.array([[0.5, 1.001], [0, 0]]),
            None,
            "Outputs of Scripted must lie between 0 and 1, got 1.001",
        ),
        (
            "decision_function",
            np.array([[0.5, np.nan], [0, 0]]),
            None,
            "Outputs of Scripted .* got nan in row 0, column 1",
        ),
        (
            "predict_proba",
            np.full((2, 2), 0.5 + 1j),
            None,
            r"predict_proba of Scripted must be .* with \(0.5\+1j\) in row 0",
        ),
        (
            "decision_function",
            [np.zeros(2), np.zeros(2, dtype=complex)],
            None,
            "decision_function of Scripted must .* 0j",
        ),
        (
            "predict_proba",
            MASKED,
            None,
            "predict_proba of Scripted must be .* a masked entry in row 0, column 1",
        ),
        (
            "predict_proba",
            [MASKED, MASKED],
            None,
            "predict_proba of Scripted must be .* a masked entry in row 0",
        ),
        (
            "predict_proba",
            np.array([["0.1", "0.2"]] * 2),
            None,
            "predict_proba of Scripted must be .* with '0.1' in row 0",
        ),
        (
            "decision_function",
            np.zeros(2),
            None,
            r"decision_function of Scripted must .* got an array of shape \(2,\)",
        ),
        (
            "decision_function",
            [np.zeros((2, 2))] * 2,
            None,
            r"decision_function of Scripted must .* got a list",
        ),
    ],
)
def test_outputs_that_cannot_be_outputs_are_refused_by_name(method, answer, classes, message):
    with pytest.raises(ValueError, match=message):
        outputs_of(Scripted(method, answer, classes), TWO_OBJECTS, 2)


def test_outputs_for_another_number_of_labels_are_refused(data):
    X, Y = data
    model = fit_base(MLkNNClassifier(), X, Y)
    with pytest.raises(ValueError, match="n_labels must be the 3 labels"):
        outputs_of(model, X, 4)
    with pytest.raises(ValueError, match=r"predict_proba of MLkNNClassifier must .* \(120, 4\)"):
        outputs_of(model.estimator, X, 4)


@pytest.mark.parametrize("constant", [False, True])
def test_errors_of_the_classifier_come_through(constant, data):
    X, Y = data
    X[3, 1] = np.nan
    Y = with_constants(Y) if constant else Y
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fit_base(MultiOutputClassifier(LogisticRegression()), X, Y)

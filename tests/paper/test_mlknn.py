"""ML-kNN against its definition and the paper to four decimals; neighbours against a full sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure.paper import MLkNNClassifier
from labelsure.paper._mlknn import find_neighbours


def transcribe_mlknn(X, Y, X_new, k, s):
    """Zhang and Zhou's definition in loops; returns P(H1, E) and P(H0, E)."""
    n, q = Y.shape
    k = min(k, n - 1)

    def nearest(x, candidates):
        return sorted(candidates, key=lambda i: (np.sum((x - X[i]) ** 2), i))[:k]

    neighbours = [nearest(X[i], [m for m in range(n) if m != i]) for i in range(n)]
    on, off = np.empty((len(X_new), q)), np.empty((len(X_new), q))
    for j in range(q):
        cases = {0: [0] * (k + 1), 1: [0] * (k + 1)}
        for i in range(n):
            cases[Y[i, j]][sum(Y[m, j] for m in neighbours[i])] += 1
        prior = (s + sum(Y[:, j])) / (2 * s + n)
        for i, x in enumerate(X_new):
            r = sum(Y[m, j] for m in nearest(x, range(n)))
            on[i, j] = prior * (s + cases[1][r]) / (s * (k + 1) + sum(cases[1]))
            off[i, j] = (1 - prior) * (s + cases[0][r]) / (s * (k + 1) + sum(cases[0]))
    return on, off


@given(data=st.data())
def test_mlknn_equals_its_definition(data):
    n, q, k = (
        data.draw(st.integers(1, 9)),
        data.draw(st.integers(1, 3)),
        data.draw(st.integers(1, 5)),
    )
    s = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    coordinates = st.sampled_from([0.0, 0.1, 0.3, 1.0])
    X = data.draw(arrays(float, (n, 2), elements=coordinates))
    X_new = data.draw(arrays(float, (4, 2), elements=coordinates))
    Y = data.draw(arrays(np.int64, (n, q), elements=st.integers(0, 1)))
    on, off = transcribe_mlknn(X, Y, X_new, k, s)
    model = MLkNNClassifier(k, smoothing=s).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X_new), on / (on + off), rtol=1e-12)
    clear = np.abs(on - off) > 1e-12
    np.testing.assert_array_equal(model.predict(X_new)[clear], (on > off)[clear])


@pytest.mark.parametrize(
    ("name", "figures"),
    [("scene", [0.0953, 0.6012, 0.7189, 0.7183]), ("yeast", [0.1980, 0.1658, 0.3567, 0.6360])],
)
def test_mlknn_gives_the_papers_figures_to_four_decimals(name, figures, load_mulan):
    data = load_mulan(name)
    model = make_pipeline(MinMaxScaler(), MLkNNClassifier(n_neighbors=10, smoothing=1.0))
    predicted = model.fit(data.X_train, data.Y_train).predict(data.X_test)
    measured = [
        np.mean(predicted != data.Y_test),
        np.mean(np.all(predicted == data.Y_test, axis=1)),
        f1_score(data.Y_test, predicted, average="macro", zero_division=0),
        f1_score(data.Y_test, predicted, average="micro"),
    ]
    assert [round(float(figure), 4) for figure in measured] == figures


def test_mlknn_example_is_not_its_own_neighbour():
    # each example differs from its only neighbour: counting itself would turn every prediction
    # round
    X = np.array([[0.0], [0.1], [5.0], [5.1], [10.0], [10.1]])
    Y = np.array([[0], [1], [0], [1], [0], [1]])
    model = MLkNNClassifier(1).fit(X, Y)
    np.testing.assert_allclose(model.likelihoods_[1, 0], [4 / 5, 1 / 5])
    np.testing.assert_allclose(model.likelihoods_[0, 0], [1 / 5, 4 / 5])


def test_mlknn_uses_all_others_where_neighbours_are_few():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(4, 2)), np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
    model = MLkNNClassifier(10).fit(X, Y)
    assert model.n_neighbors_ == 3
    np.testing.assert_array_equal(
        model.predict_proba(X), MLkNNClassifier(3).fit(X, Y).predict_proba(X)
    )


@pytest.mark.parametrize("n_neighbors", [0, -1, 2.5, "3", True, None])
def test_mlknn_refuses_bad_n_neighbors(n_neighbors):
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1"):
        MLkNNClassifier(n_neighbors).fit([[0.0], [1.0]], [[0], [1]])


@pytest.mark.parametrize("smoothing", [0, -1.0, np.nan, np.inf, "1"])
def test_mlknn_refuses_bad_smoothing(smoothing):
    with pytest.raises(ValueError, match="smoothing must be a finite number above 0"):
        MLkNNClassifier(smoothing=smoothing).fit([[0.0], [1.0]], [[0], [1]])


def sort_all(X, references, n_neighbours, *, exclude_self=False):
    """Slow twin: every distance summed coordinate by coordinate, then a stable sort."""
    nearest = []
    for i, x in enumerate(X):
        distances = np.array([np.sum((x - y) ** 2) for y in references])
        if exclude_self:
            distances[i] = np.inf
        nearest.append(np.argsort(distances, kind="stable")[:n_neighbours])
    return np.array(nearest).reshape(len(X), n_neighbours)


any_values = st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1.0, -1.0, 1e-9, 1e6])
# squares of these add up without rounding, in whatever order a sparse sum takes
exact_values = st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0, -1.0, 3.0, 2.0**-10, 2.0**10])


@given(data=st.data(), as_sparse=st.booleans(), exclude_self=st.booleans())
def test_find_neighbours_equals_full_sort_with_ties(data, as_sparse, exclude_self):
    n, n_references, d = (
        data.draw(st.integers(1, 8)),
        data.draw(st.integers(2, 9)),
        data.draw(st.integers(1, 4)),
    )
    values = exact_values if as_sparse else any_values
    references = data.draw(arrays(float, (n_references, d), elements=values))
    X = references if exclude_self else data.draw(arrays(float, (n, d), elements=values))
    n_neighbours = data.draw(st.integers(0, n_references - 1))
    expected = sort_all(X, references, n_neighbours, exclude_self=exclude_self)
    if as_sparse:
        X, references = sparse.csr_matrix(X), sparse.csr_array(references)
    np.testing.assert_array_equal(
        find_neighbours(X, references, n_neighbours, exclude_self=exclude_self), expected
    )


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
def test_find_neighbours_survives_a_large_offset(offset):
    # far from the origin the fast distances are mostly rounding: nothing may be ruled out by them
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + offset
    X[30:] = X[:30]
    np.testing.assert_array_equal(
        find_neighbours(X, X, 7, exclude_self=True), sort_all(X, X, 7, exclude_self=True)
    )

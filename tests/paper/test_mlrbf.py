"""ML-RBF against its definition, the figures measured on scene and yeast, and odd data."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure.paper import MLRBFClassifier


@pytest.fixture
def clusters():
    """Three labels over 600 objects in four dimensions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.8, np.linalg.norm(X, axis=1) < 1.5]).astype(int)
    return X, Y


@pytest.mark.parametrize(
    ("name", "n_centres", "means", "deviations"),
    [
        ("scene", 15, [0.0940, 0.5582, 0.6997, 0.6960], [0.0010, 0.0061, 0.0032, 0.0035]),
        ("yeast", 69, [0.1995, 0.1750, 0.3842, 0.6363], [0.0017, 0.0073, 0.0063, 0.0035]),
    ],
)
def test_mlrbf_mean_over_seeds_is_within_the_reference_bands(
    name, n_centres, means, deviations, load_mulan
):
    data = load_mulan(name)
    figures = []
    for seed in range(10):
        model = make_pipeline(MinMaxScaler(), MLRBFClassifier(random_state=seed)).fit(
            data.X_train, data.Y_train
        )
        predicted = model.predict(data.X_test)
        assert model[-1].centres_.shape == (n_centres, data.X_train.shape[1])
        figures.append(
            [
                np.mean(predicted != data.Y_test),
                np.mean(np.all(predicted == data.Y_test, axis=1)),
                f1_score(data.Y_test, predicted, average="macro", zero_division=0),
                f1_score(data.Y_test, predicted, average="micro"),
            ]
        )
    assert np.all(np.abs(np.mean(figures, axis=0) - means) < 3 * np.array(deviations)), np.mean(
        figures, axis=0
    )


def test_mlrbf_equals_its_definition_given_its_centres(clusters):
    X, Y = clusters
    model = MLRBFClassifier(scaling=1.5, random_state=0).fit(X, Y)
    centres, sigma = model.centres_, 1.5 * pdist(model.centres_).mean()
    assert model.sigma_ == pytest.approx(sigma)
    units = np.column_stack([np.exp(-(cdist(X, centres) ** 2) / (2 * sigma**2)), np.ones(len(X))])
    outputs = model.decision_function(X)
    np.testing.assert_allclose(outputs, units @ model.weights_, rtol=1e-9, atol=1e-9)
    # least squares: what is left of the targets is orthogonal to every unit
    np.testing.assert_allclose(units.T @ (2 * Y - 1 - outputs), 0, atol=1e-7)
    np.testing.assert_array_equal(model.predict(X), outputs > 0)


def test_mlrbf_centres_come_from_the_positives_of_each_label(clusters):
    X, Y = clusters
    counts = np.ceil(Y.sum(axis=0) / 100).astype(int)
    model = MLRBFClassifier(random_state=0).fit(X, Y)
    assert len(model.centres_) == counts.sum()
    by_label = np.split(model.centres_, np.cumsum(counts)[:-1])
    # at a k-means optimum each centre is the mean of the points nearest to it
    for j, centres in enumerate(by_label):
        positives = X[Y[:, j] == 1]
        nearest = cdist(positives, centres).argmin(axis=1)
        for c, centre in enumerate(centres):
            np.testing.assert_allclose(positives[nearest == c].mean(axis=0), centre, atol=0.05)


def test_mlrbf_duplicates_fewer_than_centres_neither_warn_nor_fail():
    X = np.repeat([[0.0, -0.0], [1.0, 1.0]], 50, axis=0)
    X[1:50:2, 1] *= -1  # minus zero is zero
    Y = np.repeat([[1, 0], [1, 1]], 50, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MLRBFClassifier(centre_fraction=0.2, random_state=0).fit(X, Y)
    assert len(model.centres_) == 3
    np.testing.assert_array_equal(model.predict(X), Y)


def test_mlrbf_width_of_a_single_centre_is_the_mean_distance_of_the_examples():
    X = np.array([[0.0], [2.0], [4.0], [10.0]])
    model = MLRBFClassifier(scaling=2.0).fit(X, [[1], [1], [0], [0]])
    assert model.centres_.tolist() == [[1.0]]
    assert model.sigma_ == pytest.approx(2 * (1 + 1 + 3 + 9) / 4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"centre_fraction": 0}, "centre_fraction must be a finite number above 0, got 0"),
        (
            {"centre_fraction": 1.5},
            "centre_fraction must be at most 1, got 1.5. It is the number of k-means",
        ),
        ({"centre_fraction": "auto"}, "centre_fraction must be a finite number"),
        ({"scaling": -1.0}, "scaling must be a finite number above 0, got -1.0"),
        ({"scaling": np.nan}, "scaling must be a finite number"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
    ],
)
def test_mlrbf_refuses_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MLRBFClassifier(**parameters).fit([[0.0], [1.0]], [[0], [1]])

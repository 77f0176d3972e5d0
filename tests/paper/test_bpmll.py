"""BP-MLL against the paper's figures, its definition, and odd data."""

import numpy as np
import pytest
from paper_reference import best_cuts, network_outputs, train_epoch
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure.paper import BPMLLClassifier
from labelsure.paper._bpmll import draw_nguyen_widrow

NETWORK = ("hidden_weights_", "hidden_bias_", "output_weights_", "output_bias_")


def figures_of(model, data):
    predicted = (
        make_pipeline(MinMaxScaler(), model).fit(data.X_train, data.Y_train).predict(data.X_test)
    )
    return [
        np.mean(predicted != data.Y_test),
        np.mean(np.all(predicted == data.Y_test, axis=1)),
        f1_score(data.Y_test, predicted, average="macro", zero_division=0),
        f1_score(data.Y_test, predicted, average="micro"),
    ]


@pytest.fixture
def problem():
    """Labels that depend on the first of six features, some rows with none and some with all."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 6))
    Y = (X[:, :1] > [0.1, 0.4, 0.6, 0.9]).astype(int)
    return X, Y


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        pytest.param("scene", [0.2903, 0.1630, 0.0509, 0.1665], marks=pytest.mark.validity),
        ("yeast", [0.2272, 0.0960, 0.3047, 0.6212]),
    ],
)
def test_bpmll_in_file_order_is_within_002_of_the_paper(name, paper, load_mulan):
    data = load_mulan(name)
    figures = [
        figures_of(BPMLLClassifier(shuffle=False, random_state=seed), data) for seed in range(3)
    ]
    assert np.all(np.abs(np.mean(figures, axis=0) - paper) < 0.02), figures


@pytest.mark.parametrize(
    ("name", "reference", "deviations"),
    [
        pytest.param(
            "scene",
            [0.1498, 0.3637, 0.6557, 0.6345],
            [0.0116, 0.0434, 0.0312, 0.0268],
            marks=pytest.mark.validity,
        ),
        ("yeast", [0.2152, 0.1461, 0.3279, 0.6374], [0.0065, 0.0229, 0.0114, 0.0130]),
    ],
)
def test_bpmll_shuffled_does_not_forget_the_first_classes(name, reference, deviations, load_mulan):
    # two standard deviations over 12 seeds are 3.5 of the mean of three: a false alarm in less than
    # one in 200
    data = load_mulan(name)
    figures = [figures_of(BPMLLClassifier(random_state=seed), data) for seed in range(3)]
    assert np.all(np.abs(np.mean(figures, axis=0) - reference) < 2 * np.array(deviations)), figures


@pytest.mark.parametrize("shuffle", [False, True])
def test_bpmll_trains_as_its_definition_says(problem, shuffle):
    X, Y = problem
    model = BPMLLClassifier(
        n_epochs=3, hidden_fraction=0.5, weight_decay=0.2, shuffle=shuffle, random_state=5
    )
    model.fit(X, Y)
    rng = np.random.RandomState(5)
    network = (
        *draw_nguyen_widrow(X.min(axis=0), X.max(axis=0), 3, rng),
        *draw_nguyen_widrow(-np.ones(3), np.ones(3), 4, rng),
    )
    order = np.array([i for i in range(80) if 0 < Y[i].sum() < 4])
    assert order.size < 80
    for _ in range(3):
        if shuffle:
            rng.shuffle(order)
        network = train_epoch(X, Y, order, *network, 0.05, 2 * 0.2 / order.size)
    for name, expected in zip(NETWORK, network, strict=True):
        np.testing.assert_allclose(getattr(model, name), expected, rtol=1e-7, atol=1e-9)


def test_bpmll_decides_by_the_regressed_cut(problem):
    X, Y = problem
    model = BPMLLClassifier(n_epochs=10, random_state=0).fit(X, Y)
    outputs = network_outputs(X, *(getattr(model, name) for name in NETWORK))
    inputs = np.column_stack([outputs, np.ones(80)])
    solution = np.linalg.lstsq(inputs, best_cuts(outputs, Y, 0.1), rcond=None)[0]
    np.testing.assert_allclose(
        model.decision_function(X), outputs - (inputs @ solution)[:, None], atol=1e-9
    )
    assert np.array_equal(model.predict(X), model.decision_function(X) >= 0)


def test_nguyen_widrow_weights_have_their_length_and_spread():
    weights, bias = draw_nguyen_widrow(-np.ones(4), np.ones(4), 5, np.random.RandomState(0))
    length = 2 * 0.7 * 5 ** (1 / 4)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=0), length)
    spread = np.array([-1, -0.5, 0, 0.5, 1]) * np.sign(weights[0])
    assert np.any(weights[0] < 0)
    np.testing.assert_allclose(bias, length * spread, atol=1e-12)


@pytest.mark.parametrize("shuffle", [False, True])
def test_bpmll_network_ignores_rows_with_no_or_all_labels_but_the_cut_does_not(problem, shuffle):
    X, Y = problem
    rankable = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    X, Y = X[rankable], Y[rankable]
    settings = {"n_epochs": 5, "shuffle": shuffle, "random_state": 0}
    without = BPMLLClassifier(**settings).fit(X, Y)
    more_X, more_Y = np.vstack([X, X, X]), np.vstack([Y, np.zeros_like(Y), np.zeros_like(Y)])
    with_empty = BPMLLClassifier(**settings).fit(more_X, more_Y)
    for name in NETWORK:
        assert np.array_equal(getattr(without, name), getattr(with_empty, name))
    assert with_empty.predict(X).sum() < without.predict(X).sum()


@pytest.mark.parametrize(("n_full", "predicted"), [(0, 0), (3, 0), (7, 1), (10, 1)])
@pytest.mark.parametrize("q", [1, 3])
def test_bpmll_with_nothing_to_rank_predicts_what_is_more_frequent(q, n_full, predicted):
    X = np.random.default_rng(0).uniform(size=(10, 4))
    Y = np.repeat((np.arange(10) < n_full).astype(int)[:, None], q, axis=1)
    model = BPMLLClassifier(random_state=0).fit(X, Y)
    assert np.all(model.output_weights_ == 0)
    assert np.all(model.predict(X) == predicted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_fraction": 0}, "hidden_fraction must be a finite number above 0, got 0"),
        ({"hidden_fraction": "all"}, "hidden_fraction must be a finite number above 0, got 'all'"),
        ({"learning_rate": -0.1}, "learning_rate must be a finite number above 0, got -0.1"),
        ({"weight_decay": -1}, "weight_decay must be a finite number of at least 0, got -1"),
        ({"n_epochs": 0}, "n_epochs must be a whole number of at least 1, got 0"),
        ({"n_epochs": 2.5}, "n_epochs must be a whole number of at least 1, got 2.5"),
    ],
)
def test_bpmll_refuses_bad_settings(problem, settings, message):
    with pytest.raises(ValueError, match=message):
        BPMLLClassifier(**settings).fit(*problem)

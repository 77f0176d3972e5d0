"""ML-NB against the paper, its definition, and odd data; the genetic search separately."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.metrics import f1_score, hamming_loss, label_ranking_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure.paper import MLNBClassifier, _mlnb
from labelsure.paper._mlnb import search_bit_strings


@pytest.fixture
def problem():
    """Four labels of 90 objects with nine features, each label shifting a few of them."""
    rng = np.random.default_rng(0)
    Y = (rng.random((90, 4)) < [0.5, 0.3, 0.2, 0.6]).astype(int)
    X = rng.normal(size=(90, 9)) + Y @ rng.normal(scale=1.5, size=(4, 9))
    return X, Y


def naive_bayes_log_odds(train, Y, objects, smoothing=1.0):
    """Transcribe the definition, a label and a component at a time."""
    log_odds = np.empty((len(objects), Y.shape[1]))
    for j, labelled in enumerate(Y.T):
        log_odds[:, j] = np.log((smoothing + labelled.sum()) / (smoothing + (1 - labelled).sum()))
        on, off = train[labelled == 1], train[labelled == 0]
        for c in range(train.shape[1]):
            log_odds[:, j] += norm.logpdf(objects[:, c], on[:, c].mean(), on[:, c].std(ddof=1))
            log_odds[:, j] -= norm.logpdf(objects[:, c], off[:, c].mean(), off[:, c].std(ddof=1))
    return log_odds


@pytest.mark.parametrize(
    ("name", "n_components", "paper"),
    [
        pytest.param("scene", 89, [0.1309, 0.4105, 0.6230, 0.6221], marks=pytest.mark.validity),
        ("yeast", 31, [0.2115, 0.1254, 0.3428, 0.6152]),
    ],
)
def test_mlnb_mean_over_seeds_is_in_the_regime_of_the_paper(name, n_components, paper, load_mulan):
    data = load_mulan(name)
    figures = []
    for seed in range(4):
        model = make_pipeline(MinMaxScaler(), MLNBClassifier(random_state=seed)).fit(
            data.X_train, data.Y_train
        )
        assert model[-1].selected_.shape == (n_components,)
        predicted = model.predict(data.X_test)
        figures.append(
            [
                np.mean(predicted != data.Y_test),
                np.mean(np.all(predicted == data.Y_test, axis=1)),
                f1_score(data.Y_test, predicted, average="macro", zero_division=0),
                f1_score(data.Y_test, predicted, average="micro"),
            ]
        )
    assert np.all(np.abs(np.mean(figures, axis=0) - paper) < [0.03, 0.06, 0.06, 0.06]), figures


@pytest.mark.parametrize("smoothing", [1.0, 3.5])
def test_mlnb_probabilities_equal_their_definition(problem, smoothing):
    X, Y = problem
    settings = {
        "component_fraction": 0.5,
        "n_generations": 3,
        "smoothing": smoothing,
        "random_state": 0,
    }
    model = MLNBClassifier(**settings).fit(X[:60], Y[:60])
    pca = PCA(5, svd_solver="full").fit(X[:60])
    train, test = (pca.transform(part)[:, model.selected_] for part in (X[:60], X[60:]))
    expected = naive_bayes_log_odds(train, Y[:60], test, smoothing)
    np.testing.assert_allclose(logit(model.predict_proba(X[60:])), expected, rtol=1e-8, atol=1e-8)
    assert np.array_equal(model.predict(X[60:]), expected > 0)


@pytest.mark.parametrize(("n_folds", "sizes"), [(10, [9] * 10), (4, [22, 23, 22, 23])])
def test_mlnb_search_minimises_the_mean_loss_in_contiguous_folds(
    problem, monkeypatch, n_folds, sizes
):
    X, Y = problem
    costs = []

    def capture(cost, n_bits, **_):
        costs.append(cost)
        return np.ones(n_bits, dtype=bool)

    monkeypatch.setattr(_mlnb, "search_bit_strings", capture)
    MLNBClassifier(component_fraction=1.0, n_folds=n_folds).fit(X, Y)
    components = PCA(9, svd_solver="full").fit_transform(X)
    strings = np.array([[1] * 9, [0, 1] * 4 + [1], [1] + [0] * 8], dtype=bool)
    expected = np.zeros(3)
    stops = np.cumsum(sizes)
    for start, stop in zip(stops - sizes, stops, strict=True):
        held_out = (np.arange(90) >= start) & (np.arange(90) < stop)
        for k, string in enumerate(strings):
            part = components[:, string]
            log_odds = naive_bayes_log_odds(part[~held_out], Y[~held_out], part[held_out])
            losses = (
                hamming_loss(Y[held_out], log_odds > 0),
                label_ranking_loss(Y[held_out], log_odds),
            )
            expected[k] += np.mean(losses) / n_folds
    np.testing.assert_allclose(costs[0](strings), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"component_fraction": 0}, "component_fraction must be a finite number above 0, got 0"),
        (
            {"component_fraction": 3},
            "component_fraction must be at most 1, got 3. It is a fraction",
        ),
        ({"population_size": 3}, "population_size must be a whole number of at least 4, got 3"),
        ({"n_generations": -1}, "n_generations must be a whole number of at least 0, got -1"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
        ({"smoothing": 0}, "smoothing must be a finite number above 0, got 0"),
    ],
)
def test_mlnb_refuses_bad_settings(problem, settings, message):
    with pytest.raises(ValueError, match=message):
        MLNBClassifier(**settings).fit(*problem)


def search_and_record(cost, n_bits, *, population_size=20, n_generations=60, seed=0):
    generations = []

    def recorded(strings):
        generations.append(strings.copy())
        return cost(strings)

    settings = {"population_size": population_size, "n_generations": n_generations}
    best = search_bit_strings(recorded, n_bits, **settings, rng=np.random.RandomState(seed))
    return best, generations


@pytest.mark.parametrize("seed", range(3))
def test_genetic_search_keeps_its_two_best_and_returns_the_best_seen(seed):
    weights = np.random.default_rng(seed).integers(-20, 21, size=30)  # exact sums, some ties

    def cost(strings):
        return strings @ weights + np.abs(strings.sum(axis=1) - 9)

    best, generations = search_and_record(cost, 30, seed=seed)
    for before, after in pairwise(generations):
        elites = before[np.argsort(cost(before), kind="stable")[:2]]
        assert np.array_equal(after[:2], elites)
    assert cost(best[None])[0] == min(cost(strings).min() for strings in generations)

"""The pooling's likelihood, prior and maximum against a slow twin, with rare and odd labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from labelsure.learners._logit_pooling import (
    _Problem,
    _typical_sizes,
    learn_pooling,
    penalised_loss,
    pool_logits,
    smoothed_logits,
)


def simulate(n, weights, intercepts, seed=0):
    """Logits of unlike members, and labels drawn from their pool."""
    rng = np.random.default_rng(seed)
    q, M = np.shape(weights)
    Z = rng.normal(scale=1.5, size=(n, q, 1)) + rng.normal(size=(n, q, M))
    Y = (rng.random((n, q)) < expit((Z * weights).sum(axis=2) + intercepts)).astype(np.int8)
    return Z, Y


def slow_loss(parameters, Z, Y, k):
    """The module's formula, cell by cell, in its own parameters: a, b, and each label's own."""
    q, M = Z.shape[1:]
    shared, own = parameters[: M + 1], parameters[M + 1 :].reshape(q, M + 1)
    sizes = _typical_sizes(Z, np.ones(len(Z)))
    units = np.append(sizes, 1.0)
    loss = 0.0
    for i, j in np.ndindex(Y.shape):
        p = expit(sum(own[j, m] * Z[i, j, m] for m in range(M)) + own[j, M])
        loss -= np.log(p if Y[i, j] else 1 - p)
    for m in range(M + 1):
        loss += sum(k / 4 * (units[m] * (own[j, m] - shared[m])) ** 2 / 2 for j in range(q))
        loss += 1 / 4 * (units[m] * (shared[m] - (1 / M if m < M else 0.0))) ** 2 / 2
    return loss


@pytest.mark.parametrize("k", [0.5, 4.0])
def test_learned_pooling_is_the_maximum_of_the_posterior(k):
    Z, Y = simulate(40, np.array([[0.2, 0.9], [0.8, 0.5], [0.5, 0.0]]), [0.5, 0.0, -2.0])
    pooling = learn_pooling(Z, Y, pseudo_examples=k)
    found = np.concatenate([pooling.shared_weights, [0.0], np.column_stack(pooling[1:]).ravel()])
    bounds = [(0, None), (0, None), (None, None)] * 4
    best = minimize(slow_loss, np.full(12, 0.3), args=(Z, Y, k), method="L-BFGS-B", bounds=bounds)
    found[2] = best.x[2]  # the shared intercept, which nobody needs afterwards
    np.testing.assert_allclose(found, best.x, atol=2e-3)
    assert slow_loss(found, Z, Y, k) <= best.fun + 1e-4


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_gradient_is_that_of_the_loss(seed, precision):
    rng = np.random.default_rng(seed)
    Z, Y = simulate(12, rng.random((2, 3)), [0.0, -1.0], seed)
    problem = _Problem(
        Z, Y.astype(float), rng.integers(0, 3, 12).astype(float), np.full(4, 0.2), precision
    )
    at, direction = rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    _, gradient = penalised_loss(at, problem)
    step = 1e-5
    above, below = (penalised_loss(at + sign * step * direction, problem)[0] for sign in (1, -1))
    assert (gradient * direction).sum() == pytest.approx(
        (above - below) / (2 * step), rel=1e-6, abs=1e-6
    )


def test_learned_pooling_finds_the_weights_that_made_the_labels():
    """Standard errors are about 0.03: missing by 0.15 has probability < 1e-6; seeds are fixed."""
    weights, intercepts = np.array([[0.9, 0.1], [0.2, 0.7], [0.5, 0.5]]), np.array([0.0, 1.0, -1.0])
    Z, Y = simulate(10_000, weights, intercepts)
    pooling = learn_pooling(Z, Y, pseudo_examples=4.0)
    np.testing.assert_allclose(pooling.weights, weights, atol=0.15)
    np.testing.assert_allclose(pooling.intercepts, intercepts, atol=0.15)
    np.testing.assert_allclose(pooling.shared_weights, weights.mean(axis=0), atol=0.15)


def test_rare_label_falls_back_on_the_shared_values():
    Z, Y = simulate(2000, np.tile([0.9, 0.3], (5, 1)), np.zeros(5))
    rare = Y.copy()
    rare[:, 0] = 0
    rare[int(Z[:, 0, 0].argmin()), 0] = 1  # a single example, and a misleading one
    poolings = [learn_pooling(Z, rare, pseudo_examples=k) for k in (1e-3, 4.0, 1e3, 1e5)]
    own = [abs(pooling.weights[0] - pooling.weights[1:].mean(axis=0)).max() for pooling in poolings]
    assert (np.diff(own) < 0).all()
    assert own[0] > 0.5 and own[-1] < 0.05


def test_label_with_one_value_gets_the_shared_values():
    Z, Y = simulate(500, np.tile([0.9, 0.3], (3, 1)), np.zeros(3))
    Y[:, 1] = 0
    pooling = learn_pooling(Z, Y, pseudo_examples=4.0)
    np.testing.assert_array_equal(pooling.weights[1], pooling.shared_weights)
    assert not np.array_equal(pooling.weights[0], pooling.shared_weights)
    alone = learn_pooling(Z[:, [0, 2]], Y[:, [0, 2]], pseudo_examples=4.0)
    np.testing.assert_array_equal(alone.shared_weights, pooling.shared_weights)


def test_weights_are_never_negative():
    """A member whose logits are the pool's with the opposite sign would get a negative weight."""
    Z, Y = simulate(1000, np.tile([1.0, 0.0], (3, 1)), np.zeros(3))
    Z[:, :, 1] = -Z[:, :, 0] + 0.1 * Z[:, :, 1]
    pooling = learn_pooling(Z, Y, pseudo_examples=4.0)
    assert pooling.weights.min() == 0
    assert (pooling.weights[:, 0] > 0.5).all()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_perfect_members_have_finite_weights(size):
    Y = np.tile([[0, 1], [1, 0]], (20, 1)).astype(np.int8)
    Z = size * (2.0 * Y[:, :, np.newaxis] - 1)
    pooling = learn_pooling(Z, Y, pseudo_examples=4.0)
    assert all(np.isfinite(part).all() for part in pooling)
    assert ((pool_logits(Z, pooling) > 0) == Y).all()


def test_weight_of_two_counts_as_two_examples():
    Z, Y = simulate(60, np.tile([0.5, 0.4], (2, 1)), np.zeros(2))
    counts = np.random.default_rng(0).integers(0, 4, 60)
    weighted = learn_pooling(Z, Y, pseudo_examples=4.0, sample_weight=counts.astype(float))
    repeated = learn_pooling(
        np.repeat(Z, counts, axis=0), np.repeat(Y, counts, axis=0), pseudo_examples=4.0
    )
    for got, expected in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-3)


def test_smoothed_logits_are_finite_in_order_and_near_the_logits():
    outputs = np.array([0.0, 1e-300, 1e-9, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0])
    logits = smoothed_logits(outputs, 1000)
    assert np.isfinite(logits).all()
    assert (np.diff(logits)[2:] > 0).all() and (np.diff(logits) >= 0).all()
    assert logits[-1] == pytest.approx(np.log(2001))
    np.testing.assert_allclose(logits, -smoothed_logits(1 - outputs, 1000), atol=1e-9)
    np.testing.assert_allclose(logits[4:7], logit(outputs[4:7]), atol=0.01)

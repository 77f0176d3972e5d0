"""The estimators' kernels against their slow twins, and the twins against their formulas."""

import numpy as np
import paper_reference as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from labelsure.paper import _kernels

TIED = st.sampled_from([-1.0, -0.5, 0.0, np.nextafter(0.0, 1.0), 0.5, np.nextafter(0.5, 1.0), 1.0])
VALUES = TIED | st.floats(-1, 1)


@st.composite
def label_rows(draw, n, q, rankable=False):
    """Zeros and ones of shape (n, q); ``rankable`` rows have at least one of each."""
    Y = draw(hnp.arrays(np.int8, (n, q), elements=st.integers(0, 1)))
    if rankable:
        Y[:, 0] = 1 - Y[:, 1]
    return Y


@st.composite
def networks(draw, n_features, n_hidden, q):
    shapes = [(n_features, n_hidden), (n_hidden,), (n_hidden, q), (q,)]
    return [draw(hnp.arrays(np.float64, shape, elements=VALUES)) for shape in shapes]


@st.composite
def trainings(draw):
    """Examples with many zeros, an order with repetitions, a network, a rate and a decay."""
    n, d, h, q = (draw(st.integers(*limits)) for limits in [(1, 6), (1, 5), (1, 4), (2, 5)])
    X = draw(hnp.arrays(np.float64, (n, d), elements=st.just(0.0) | VALUES))
    order = draw(hnp.arrays(np.int64, st.integers(0, 12), elements=st.integers(0, n - 1)))
    Y = draw(label_rows(n, q, rankable=True))
    rate = draw(st.sampled_from([0.0, 0.05, 1.0]))
    decay = draw(st.sampled_from([0.0, 1e-4, 0.2, 1.0, 1.5]))
    return X, Y, order, draw(networks(d, h, q)), rate, decay


def as_csr(X):
    rows = sparse.csr_array(X)
    return rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)


@given(trainings())
def test_train_epoch_equals_reference(training):
    X, Y, order, network, rate, decay = training
    expected = reference.train_epoch(X, Y, order, *network, rate, decay)
    trained = [array.copy() for array in network]
    _kernels.train_epoch(
        _kernels.SparseRows(*as_csr(X)), Y, order, _kernels.Network(*trained), rate, decay
    )
    for got, wanted in zip(trained, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11)


@given(trainings())
def test_network_outputs_equal_reference(training):
    X, _, _, network, _, _ = training
    outputs = _kernels.network_outputs(_kernels.SparseRows(*as_csr(X)), _kernels.Network(*network))
    np.testing.assert_allclose(
        outputs, reference.network_outputs(X, *network), rtol=1e-12, atol=1e-13
    )


@given(st.data())
def test_ranking_errors_equal_reference(data):
    q = data.draw(st.integers(2, 8))
    outputs = data.draw(hnp.arrays(np.float64, q, elements=VALUES))
    labels = data.draw(label_rows(1, q, rankable=True))[0]
    errors = np.empty(q)
    _kernels.ranking_errors(outputs, labels, errors)
    np.testing.assert_allclose(
        errors, reference.ranking_errors(outputs, labels), rtol=1e-12, atol=1e-14
    )


@given(st.data())
def test_best_cuts_equal_reference(data):
    n, q = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 7))
    outputs = data.draw(hnp.arrays(np.float64, (n, q), elements=VALUES))
    Y = data.draw(label_rows(n, q))
    assert np.array_equal(_kernels.best_cuts(outputs, Y, 0.1), reference.best_cuts(outputs, Y, 0.1))


@given(st.data())
def test_population_losses_equal_reference(data):
    n, k, q = (data.draw(st.integers(1, limit)) for limit in (5, 4, 6))
    extreme = st.sampled_from([-1e300, 1e300, -0.0])
    log_odds = data.draw(hnp.arrays(np.float64, (n, k, q), elements=VALUES | extreme))
    Y = data.draw(label_rows(n, q))
    losses = _kernels.population_losses(log_odds, Y)
    np.testing.assert_allclose(
        losses, reference.population_losses(log_odds, Y), rtol=1e-12, atol=1e-15
    )


def test_best_cuts_take_the_lowest_of_equals_and_put_ties_on():
    outputs = np.array(
        [[0.2, 0.6, 0.4], [0.5, 0.5, 0.5], [0.1, 0.3, 0.2], [0.1, 0.3, 0.2], [0.3, 0.1, 0.2]]
    )
    Y = np.array([[0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0]], dtype=np.int8)
    # second row: none on is one error, all on (also by the midpoints, which equal the outputs) are
    # two last row: the only wanted label is lowest; cutting above all is one error, every other cut
    # two or more
    np.testing.assert_allclose(reference.best_cuts(outputs, Y, 0.1), [0.5, 0.6, 0.0, 0.4, 0.4])


def pairwise_loss(X, Y, network):
    """Sum over examples of the mean of exp(-(c_k - c_l)) over pairs of k on and l off."""
    outputs = reference.network_outputs(X, *network)
    return sum(
        np.mean(np.exp(-(row[labels == 1][:, None] - row[labels == 0][None, :])))
        for row, labels in zip(outputs, Y, strict=True)
    )


@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_reference_step_descends_the_gradient_of_the_pairwise_loss(decay):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(1, 3)), np.array([[1, 0, 1, 0, 0]], dtype=np.int8)
    network = [rng.normal(size=shape) for shape in [(3, 4), (4,), (4, 5), (5,)]]
    trained = reference.train_epoch(X, Y, np.array([0]), *network, 0.3, decay)
    for part, (before, after) in enumerate(zip(network, trained, strict=True)):
        for index in np.ndindex(before.shape):
            losses = []
            for step in (1e-6, -1e-6):
                moved = [array.copy() for array in network]
                moved[part][index] += step
                losses.append(pairwise_loss(X, Y, moved))
            gradient = (losses[0] - losses[1]) / 2e-6
            expected = before[index] - 0.3 * gradient - decay * before[index]
            assert after[index] == pytest.approx(expected, abs=1e-8)

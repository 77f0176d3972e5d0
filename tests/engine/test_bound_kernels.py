"""Bounds of what flips add, against all sets of flips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.engine._bound_kernels import balance, bound_flips
from labelsure.engine._pair_problem import PairCosts, PairProblem, PairRoom
from labelsure.engine._pairs import relax_pairs
from labelsure.measures._labelset_bits import decode

COSTS = st.sampled_from(
    [
        st.integers(0, 0),
        st.integers(-1, 1),
        st.integers(-3, 9),
        st.integers(-(2**43), 2**43),
        st.integers(-(2**43), 0),
    ]
)


class Flips:
    """Some of the labels, the others of which may not be flipped, with the cost of each flip."""

    def __init__(self, pairs, signs, labels, changes):
        self.pairs, self.sign = pairs, signs.astype(np.float64)
        self.labels, self.changes = labels, changes.astype(np.float64)
        self.n = len(labels)

    def added(self):
        """Return all sets of flips, and what each adds."""
        flips = decode(np.arange(2**self.n), self.n).astype(np.int64)
        signs = self.sign[self.labels].astype(np.int64)
        own = self.pairs[np.ix_(self.labels, self.labels)] * signs[:, None] * signs
        inside = np.einsum("fi,ij,fj->f", flips, np.triu(own, 1), flips)
        return flips, flips @ self.changes.astype(np.int64) + inside

    def scale(self):
        return np.abs(self.changes).max(initial=1) * np.ones(len(self.pairs))

    def diagonal(self):
        return relax_pairs(self.pairs, self.scale())[0]

    def bound(self, *, charged):
        """Return the bound and what each flip raises it by."""
        diagonal, gain = relax_pairs(self.pairs, self.scale())
        signed = np.minimum(self.pairs * self.sign[:, None] * self.sign, 0)
        slack = (signed - np.diag(np.diag(signed))).sum(axis=1)
        costs = PairCosts(
            sign=self.sign,
            pairs=self.pairs[None],
            diagonals=diagonal[None],
            gains=gain[None],
            slacks=slack[None],
            charged=np.array([charged]),
        )
        nothing = np.zeros(1, dtype=np.int64)
        problem = PairProblem(nothing, nothing, self.labels, self.changes[None], costs)
        desk = PairRoom.of(problem).desk
        desk.labels[: self.n], desk.fresh[0, : self.n] = self.labels, self.changes
        bound_flips(self.n, costs, desk)
        return int(desk.bounds[0]), desk.forced[0, : self.n]


@st.composite
def lists(draw):
    """Labels from a matrix of up to eight, some of them in the list, in some order."""
    n_labels = draw(st.integers(1, 8))
    upper = np.triu(draw(arrays(np.int64, (n_labels, n_labels), elements=draw(COSTS))), 1)
    signs = draw(arrays(np.int64, n_labels, elements=st.sampled_from([-1, 1])))
    labels = np.array(draw(st.permutations(range(n_labels)))[: draw(st.integers(1, n_labels))])
    changes = draw(arrays(np.int64, len(labels), elements=draw(COSTS)))
    return Flips(upper + upper.T, signs, labels, changes)


def assert_below_everything(flips, *, charged):
    bound, forced = flips.bound(charged=charged)
    sets, added = flips.added()
    assert bound <= added.min()
    assert (forced >= 0).all()
    for i, more in enumerate(forced):
        assert bound + int(more) <= added[sets[:, i] == 1].min()
    return bound, int(added.min())


@given(lists(), st.booleans())
def test_bounds_are_below_every_set_of_flips(flips, charged):
    assert_below_everything(flips, charged=charged)


def test_tight_bounds_of_large_costs_allow_for_rounding():
    """Without an allowance that grows with every step, this one was above a set of flips by one,
    of some 10^12.
    """
    upper = np.zeros((4, 4), dtype=np.int64)
    upper[np.triu_indices(4, 1)] = [
        1405896606257, 1410671062332, 1767352035215, 1443129681668, 1927492063725, 1623517877289,
    ]  # fmt: skip
    changes = np.array([-458139434815, 387809284750, 18118167271, -670957202268])
    flips = Flips(upper + upper.T, np.array([-1, 1, 1, -1]), np.arange(4), changes)
    bound, least = assert_below_everything(flips, charged=False)
    assert least - bound <= 1


def test_bounds_without_pairs_are_exact():
    flips = Flips(
        np.zeros((4, 4), dtype=np.int64), np.ones(4), np.arange(4), np.array([5, -3, 0, -1])
    )
    for charged in (True, False):
        bound, forced = flips.bound(charged=charged)
        assert (bound, forced.tolist()) == (-4, [5, 0, 0, 0])


def test_bounds_stay_below_where_floats_are_too_short():
    """Costs near 2^53, beyond what scores may be: sums are rounded, bounds still hold."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        upper = np.triu(rng.integers(-(2**49), 2**49, size=(7, 7)), 1)
        flips = Flips(
            upper + upper.T,
            rng.choice([-1, 1], size=7),
            np.arange(7),
            rng.integers(-(2**50), 2**50, size=7),
        )
        assert_below_everything(flips, charged=False)


def test_balance_finds_small_diagonals_without_negative_eigenvalues():
    """After many sweeps; smaller in sum than row sums, and not below the definition's bound."""
    rng = np.random.default_rng(0)
    couplings = rng.normal(size=(10, 10))
    couplings += couplings.T
    np.fill_diagonal(couplings, 0)
    weights = rng.uniform(0.5, 2, size=10)
    vectors = rng.normal(size=(10, 6))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    lengths = np.empty(10)
    balance(couplings, weights, 3000, vectors, lengths)
    roots = np.sqrt(weights)
    assert np.linalg.eigvalsh(couplings + np.diag(lengths))[0] > -1e-6
    # the dual value at these vectors, which no feasible diagonal falls below
    dual = -np.einsum("i,j,ij,ic,jc->", roots, roots, couplings, vectors, vectors)
    assert weights @ lengths == pytest.approx(dual, rel=1e-6)
    assert weights @ lengths < 0.8 * weights @ np.abs(couplings).sum(axis=1)

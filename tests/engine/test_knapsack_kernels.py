"""Counts of sets of flips and draws from them, against listing all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import knapsack_reference
from labelsure.engine._knapsack import Knapsack, Union
from labelsure.engine._knapsack_kernels import MUCH, count_fitting, draw_fitting

POSITIONS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=6)
BUDGETS = st.integers(0, 8)


def parts_of(positions):
    """Return cells and start."""
    cells = np.array([cost for cost, _ in positions], dtype=np.int64)
    return cells, np.array([first for _, first in positions], dtype=bool)


def draws_of(knapsack, n_draws, seed):
    """Return draws from one knapsack."""
    flips = np.empty((n_draws, len(knapsack.cells)), dtype=bool)
    knapsack.draw(flips, np.random.default_rng(seed), np.empty(knapsack.n_numbers))
    return flips


@given(POSITIONS, BUDGETS)
def test_counts_of_fitting_sets_are_those_listed(positions, budget):
    """With a row for each position, the last one is that of all; two rows in turn give the same."""
    cells, _ = parts_of(positions)
    expected = knapsack_reference.count_fitting(cells, budget)
    n_fitting = int((cells <= budget).sum())
    for n_rows in (2, 2 + n_fitting):
        rows = np.full((n_rows, budget + 1), np.nan)
        divided = np.full(n_rows, -1)
        counts, n_divided = count_fitting(cells, budget, rows, divided)
        assert counts.tolist() == expected
        assert n_divided == 0
        assert not divided[: 1 + n_fitting].any()
    for r, last in enumerate(np.flatnonzero(cells <= budget) + 1):
        assert rows[r + 1].tolist() == knapsack_reference.count_fitting(cells[:last], budget)


@given(POSITIONS, BUDGETS, st.integers(0, 2**32 - 1))
def test_draws_follow_the_counts_of_fitting_sets(positions, budget, seed):
    cells, start = parts_of(positions)
    random = np.random.default_rng(seed).random((20, len(cells) + 1))
    rows, divided = np.empty((2 + len(cells), budget + 1)), np.empty(2 + len(cells), dtype=np.int64)
    count_fitting(cells, budget, rows, divided)
    flips = np.tile(start, (20, 1))
    draw_fitting(cells, np.flatnonzero(cells <= budget), rows, divided, random, flips)
    assert flips.tolist() == knapsack_reference.draw_fitting(cells, start, budget, random).tolist()


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=4, max_size=4), BUDGETS
        ),
        min_size=1,
    )
)
def test_holders_are_the_knapsacks_whose_budget_a_set_fits(knapsacks):
    parts = [parts_of(positions) for positions, _ in knapsacks]
    union = Union(
        [
            Knapsack(start, cells, b)
            for (cells, start), (_, b) in zip(parts, knapsacks, strict=True)
        ],
        *[0] * 3,
    )
    start, cells, budgets = map(np.array, zip(*union.knapsacks, strict=True))
    flips = knapsack_reference.all_flips(4)
    assert union.holders(flips).tolist() == knapsack_reference.count_holders(
        flips, start, cells, budgets
    )


def test_knapsack_draws_uniformly_from_the_sets_that_fit():
    """Each of m sets is drawn n / m times within 6 standard deviations: a false alarm in 10^8."""
    start, cells = np.array([True, False, False, True, False]), np.array([0, 2, 99, 3, 5])
    everything, n_draws = knapsack_reference.all_flips(5), 20_000
    for budget in (0, 1, 5, 13):
        drawn = draws_of(Knapsack(start, cells, budget), n_draws, budget)
        fitting = everything[(everything != start) @ cells <= budget]
        assert Knapsack(start, cells, budget).size() == (len(fitting), 0)
        found, counts = np.unique(drawn, axis=0, return_counts=True)
        assert found.tolist() == np.unique(fitting, axis=0).tolist()
        share = 1 / len(fitting)
        assert np.abs(counts - n_draws * share).max() <= 6 * np.sqrt(n_draws * share * (1 - share))


def test_knapsacks_keep_counts_beyond_floats():
    knapsack = Knapsack(np.zeros(2500, dtype=bool), np.zeros(2500, dtype=np.int64), 0)
    size, n_times = knapsack.size()
    assert int(size) * int(MUCH) ** n_times == 2**2500
    drawn = draws_of(knapsack, 400, 0)
    assert abs(drawn.mean() - 0.5) < 0.01  # 6 standard deviations are 0.003

"""A genetic search over bit strings that evaluates a whole population at once."""

from collections.abc import Callable

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure._parallel import progress_bar

N_ELITES = 2
"""How many of the best strings go on unchanged."""

CROSSOVER_FRACTION = 0.8
"""The share of the other strings that have two parents; the rest are mutations of one."""

MUTATION_RATE = 0.01
"""The chance of each bit of a mutated string to flip."""


def search_bit_strings(
    cost: Callable[[BoolArray], FloatArray],
    n_bits: int,
    *,
    population_size: int,
    n_generations: int,
    rng: np.random.RandomState,
) -> BoolArray:
    """Return the best string of ``n_bits`` bits, not all zero, that a genetic search finds.

    A generation's two best strings go on unchanged. The others are children: four in five take each
    bit from one of two parents at random, the rest are a parent with each bit flipped with
    probability 0.01. The string of rank r is chosen as a parent in proportion to 1 / sqrt(r), by
    stochastic universal sampling (Baker 1987).

    Parameters
    ----------
    cost : callable
        Takes strings of shape (n_strings, n_bits), returns what each costs, shape (n_strings,).
    n_bits : int
        The length of the strings.
    population_size : int
        The number of strings in a generation, at least 4.
    n_generations : int
        How many generations follow the first, which is drawn at random.
    rng : RandomState
        Makes all draws.

    Returns
    -------
    array of bool of shape (n_bits,)
        The cheapest string seen, the first of its generation where several are.

    Examples
    --------
    >>> def ones(strings):
    ...     return strings.sum(axis=1)
    >>> rng = np.random.RandomState(0)
    >>> search_bit_strings(ones, 12, population_size=20, n_generations=50, rng=rng).sum()
    np.int64(1)
    """
    strings = _without_empty(rng.randint(2, size=(population_size, n_bits)).astype(bool), rng)
    costs = cost(strings)
    for _ in progress_bar(range(n_generations), description="genetic search, generations"):
        strings = _next_generation(strings, costs, rng)
        costs = cost(strings)
    return np.asarray(strings[np.argmin(costs)])


def _next_generation(
    strings: BoolArray, costs: FloatArray, rng: np.random.RandomState
) -> BoolArray:
    n_children = len(strings) - N_ELITES
    n_crossed = round(CROSSOVER_FRACTION * n_children)
    ranking = np.argsort(costs, kind="stable")
    parents = strings[ranking[_draw_parents(len(strings), n_children + n_crossed, rng)]]
    mothers, fathers, mutants = np.split(parents, [n_crossed, 2 * n_crossed])
    crossed = np.where(rng.random_sample(mothers.shape) < 0.5, mothers, fathers)
    mutated = mutants ^ (rng.random_sample(mutants.shape) < MUTATION_RATE)
    children = _without_empty(np.concatenate([crossed, mutated]), rng)
    return np.concatenate([strings[ranking[:N_ELITES]], children])


def _draw_parents(n_strings: int, n_parents: int, rng: np.random.RandomState) -> IntArray:
    """Draw ranks (0 is the best) by equally spaced pointers into the shares 1 / sqrt(rank + 1), in random order."""
    shares = 1 / np.sqrt(np.arange(1, n_strings + 1))
    pointers = (np.arange(n_parents) + rng.random_sample()) / n_parents
    # the last share takes all pointers that rounding leaves beyond the sum of the shares before it
    ranks = np.searchsorted(np.cumsum(shares[:-1]) / shares.sum(), pointers, side="right")
    return rng.permutation(ranks)


def _without_empty(strings: BoolArray, rng: np.random.RandomState) -> BoolArray:
    """Set one random bit in each string that has none."""
    empty = np.flatnonzero(~strings.any(axis=1))
    strings[empty, rng.randint(strings.shape[1], size=empty.size)] = True
    return strings

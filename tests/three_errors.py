"""The rule of all simulated promises: not above the nominal level by three standard errors."""

import numpy as np


def assert_at_most(nominal, loss, n_sets, *, seed):
    """Refuse a mean loss above its nominal level, and return the mean.

    One above by more than three standard errors is measured once more, with four times as many data
    sets and fresh seeds, and that counts: a promise that holds with equality is refused with
    probability 2e-6 (normal approximation).

    Parameters
    ----------
    nominal : float or array of shape (m,)
        What is promised.
    loss : callable
        From a random generator to what is lost on one data set that it draws: a number, or m of
        them.
    n_sets : int
        How many data sets are drawn.
    seed : int
        Of the first ones; the others have the next.
    """
    mean, error = _measure(loss, n_sets, seed)
    if not np.all(mean <= nominal + 3 * error):
        mean, error = _measure(loss, 4 * n_sets, seed + 1)
        assert np.all(mean <= nominal + 3 * error), (
            f"{mean} with standard error {error}, promised at most {nominal}"
        )
    return mean


def _measure(loss, n_sets, seed):
    losses = np.array(
        [loss(rng) for rng in np.random.default_rng(seed).spawn(n_sets)], dtype=np.float64
    )
    return losses.mean(axis=0), losses.std(axis=0) / np.sqrt(n_sets)

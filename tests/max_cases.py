"""Random problems whose scores are the largest of their labels' costs."""

import numpy as np

from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.measures._energy import Energy, Maximum
from search_cases import Case, random_calibration, random_rule

SPREADS = (0, 1, 2, 5, 1000, 2**45)
"""Of costs: nothing but ties up to none."""


def max_energy(off, on):
    """Return the energy with these costs of labels, (n, q), and nothing else."""
    return Energy(
        np.zeros(len(off), dtype=np.int64),
        np.zeros(off.shape, dtype=np.int64),
        maxima=(Maximum(off, on),),
    )


def random_max_case(seed, *, labels=(1, 10), folds=(1, 12), objects=(1, 2)):
    """Return a case full of ties: equal costs, labels that cost nothing, folds that agree and that
    do not.
    """
    rng = np.random.default_rng(seed)
    n_labels, n_folds, n_objects = (
        int(rng.integers(*ends, endpoint=True)) for ends in (labels, folds, objects)
    )
    agreement = rng.choice([0.0, 0.3, 0.9, 1.0])
    spread = int(rng.choice(SPREADS))
    shared = rng.integers(-spread, spread, endpoint=True, size=(2, n_objects, n_labels))
    energies = []
    for _ in range(n_folds):
        costs = rng.integers(-spread, spread, endpoint=True, size=shared.shape)
        costs = np.where(rng.random(shared.shape) < agreement, shared, costs)
        costs[:, rng.random((n_objects, n_labels)) < rng.choice([0.0, 0.3])] = -spread
        energies.append(max_energy(*costs))
    cut = [Fold(random_calibration(rng, energy, far=4 * spread), energy) for energy in energies]
    kind = rng.choice(["plain", "smoothed", "ruled"])
    draws = rng.choice([1, 2, DRAW_UNIT, *rng.integers(1, DRAW_UNIT, size=3)], size=n_objects)
    return Case(
        cut,
        allow_empty=bool(rng.integers(2)),
        draws=draws if kind == "smoothed" else None,
        rule=random_rule(rng, cut, n_objects) if kind == "ruled" else None,
    )

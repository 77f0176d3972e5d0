"""Labelsets drawn at random have the numerators that the engine has for them."""

import numpy as np
from labelsure.labelsets.search._importance_kernels import weigh_flips

from labelsure._core.labelset_bits import unpack
from labelsure.labelsets import FoldEngine, decode
from labelsure.labelsets.search._states import FAR, Buffer
from search_cases import random_case


def test_drawn_labelsets_are_members_exactly_if_their_numerators_say_so():
    """With and without pairs, links, penalties, smoothing and rules; discounts and overrides are looked at apart."""
    n_inside = n_outside = 0
    for seed in range(60):
        case = random_case(seed, labels=(2, 7), objects=(1, 2))
        general = [type(fold)(fold.calibration, fold.energy.general_form()) for fold in case.folds]
        engine = FoldEngine(general, allow_empty=case.allow_empty, weighing=case.weighing)
        i = engine.n_objects - 1
        everything = decode(np.arange(2**engine.n_labels), engine.n_labels)
        numerators = engine.numerators_of(everything, np.full(len(everything), i))
        smallest = max(int(np.median(numerators)), 1)
        (one,) = engine._search.pose(np.array([i]))
        problem = one.pair_problem
        mode = unpack(problem.mode[None], engine.n_labels)[0]
        flips = (everything ^ mode)[:, problem.labels].astype(bool)
        found = Buffer.of(len(flips), len(problem.mode))
        weigh_flips(flips, problem, one.lookup, -FAR, found)
        assert (unpack(found.words, engine.n_labels) == everything).all()
        members = found.numerators >= smallest
        assert members.tolist() == (numerators >= smallest).tolist()
        n_inside, n_outside = n_inside + members.sum(), n_outside + (~members).sum()
    assert min(n_inside, n_outside) > 400

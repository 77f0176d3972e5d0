"""The depth-first search under rules finds what brute force does, however often it is interrupted."""

import numpy as np
import pytest
from labelsure.labelsets.search._ruled_search import list_ruled_members

from brute_force import codes_of
from constraint_cases import constrain
from labelsure._core.labelset_bits import unpack
from labelsure.labelsets.search._states import Allowance, Buffer
from search_cases import random_case

ENDLESS = Allowance(10**9)


def searched_cases(n_cases):
    """Yield constrained cases of inequalities alone, without pairs and exceptions, with brute force's candidates."""
    seed = n_found = 0
    while n_found < n_cases:
        seed += 1
        case = constrain(random_case(seed, labels=(2, 6), folds=(1, 4), objects=(1, 1)), np.random.default_rng(seed))
        energies = [fold.energy for fold in case.folds]
        exceptional = any(one.overrides is not None or one.discounts is not None for one in energies)
        if case.strangest or case.rules.listed is not None or exceptional or case.search().arrays.has_pairs:
            continue
        n_found += 1
        yield case, case.ranked()[0]


@pytest.mark.parametrize(("n_room", "call"), [(1, 10**6), (3, 2), (100, 1)])
def test_ruled_search_finds_all_members_in_any_steps(n_room, call):
    sizes = []
    for case, ranked in searched_cases(40):
        (one,) = case.search().pose(np.arange(1))
        smallest = int(np.median(ranked.numerators))
        members = ranked.members(smallest)
        found, met = Buffer.of(n_room, len(one.flips.mode)), []
        for n_new, _ in list_ruled_members(one.flips, one.lookup, smallest, found, call, ENDLESS):
            codes = codes_of(unpack(found.words[:n_new], len(one.flips.label)))
            met += zip(codes, found.numerators[:n_new].tolist(), strict=True)
        assert sorted(met) == sorted(zip(members.codes.tolist(), members.numerators.tolist(), strict=True))
        sizes.append(len(met))
    assert max(sizes) > 5


def test_budget_ends_a_ruled_search():
    for case, _ in searched_cases(10):
        (one,) = case.search().pose(np.arange(1))
        nothing = Buffer.of(0, 1)
        steps = list(list_ruled_members(one.flips, one.lookup, 1, nothing, 10, Allowance(1)))
        full = list(list_ruled_members(one.flips, one.lookup, 1, nothing, 10**6, ENDLESS))
        assert sum(n_new for n_new, _ in steps) <= sum(n_new for n_new, _ in full) == len(case.ranked()[0].codes)
        assert full[-1][1]

"""Under constraints, searches and tables answer every question as if brute force's table had been filtered.

Best, top k, members in order and up to a limit, sizes, iteration, p-values of labels, inner and outer labels, tables;
for implications, exclusions, numbers of a group, lists and hierarchies, and mixtures of them, over all kinds of scores.
``make validity`` runs 5 000 cases.
"""

import numpy as np
import pytest

from constraint_cases import constrain
from search_cases import assert_answers_equal_brute_force, random_case

N_CASES = 150
N_VALIDITY_BLOCKS, N_VALIDITY_CASES = 20, 250


def constrained_case(seed):
    return constrain(random_case(seed, labels=(1, 9), folds=(1, 8)), np.random.default_rng([seed, 2]))


@pytest.mark.parametrize("block", range(3))
def test_constrained_answers_equal_filtered_brute_force(block):
    for seed in range(block, N_CASES, 3):
        assert_answers_equal_brute_force(constrained_case(seed), seed)


@pytest.mark.validity
@pytest.mark.parametrize("block", range(N_VALIDITY_BLOCKS))
def test_constrained_answers_equal_filtered_brute_force_in_many_cases(block):
    for seed in range(10**6 + block, 10**6 + N_VALIDITY_BLOCKS * N_VALIDITY_CASES, N_VALIDITY_BLOCKS):
        assert_answers_equal_brute_force(constrained_case(seed), seed)

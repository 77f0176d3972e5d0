"""Searches and tables answer every question exactly as brute force over all labelsets does.

Best, top k, region members in order and up to a limit, sizes, iteration, p-values of labels, inner
and outer labels; for ties, zeros, equal folds, 1 to 15 folds of unequal size, pairs of any sign,
links, penalties, overrides, smoothing, discounts, with and without the empty labelset, at levels on
and between p-values: 1 000 cases, and 10 000 in ``make validity``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labelset_reference
from brute_force import codes_of, highest_by_label, labelsets_of, rank_all
from fold_strategies import fold_lists, full_energies, smoothing
from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.measures._energy import Energy, Overrides
from search_cases import BY_SEARCH, Case, assert_answers_equal_brute_force, random_case, seen_case

N_CASES = 200
N_VALIDITY_BLOCKS, N_VALIDITY_CASES = 40, 250


def case_of(seed):
    """Return cases of all kinds, and as often what the default measure makes."""
    return random_case(seed) if seed % 2 else seen_case(seed)


@pytest.mark.parametrize("block", range(4))
def test_answers_equal_brute_force(block):
    for seed in range(block, 1000, 4):
        assert_answers_equal_brute_force(case_of(seed), seed)


@pytest.mark.validity
@pytest.mark.parametrize("block", range(N_VALIDITY_BLOCKS))
def test_answers_equal_brute_force_in_many_cases(block):
    for seed in range(
        10**6 + block, 10**6 + N_VALIDITY_BLOCKS * N_VALIDITY_CASES, N_VALIDITY_BLOCKS
    ):
        assert_answers_equal_brute_force(case_of(seed), seed)


@settings(max_examples=60)
@given(
    st.data(),
    fold_lists(labels=(1, 4), folds=(1, 4), objects=(1, 2), kind=full_energies),
    st.booleans(),
)
def test_answers_equal_brute_force_for_whatever_hypothesis_finds(data, folds, allow_empty):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    assert_answers_equal_brute_force(Case(folds, allow_empty, draws), data.draw(st.integers(0, 99)))


@pytest.mark.parametrize("seed", range(60))
def test_brute_force_equals_reference(seed):
    """The fast brute force that searches are compared with is itself compared with the readable
    one.
    """
    case = random_case(seed, labels=(1, 5), folds=(1, 4))
    case.rule = None  # rules have a test of their own
    n_labels = case.folds[0].energy.n_labels
    for i, ranked in enumerate(case.ranked()):
        weights = (
            (1, 0) if case.draws is None else (int(case.draws[i]), DRAW_UNIT - int(case.draws[i]))
        )
        expected = labelset_reference.ranked(
            case.folds, i, allow_empty=case.allow_empty, at_least=weights[0], above=weights[1]
        )
        assert list(zip(*(part.tolist() for part in ranked), strict=True)) == expected
        assert highest_by_label(ranked, n_labels) == labelset_reference.label_numerators(
            expected, n_labels
        )


def pair_problems(case):
    return [case.search().pose_one(i).problem for i in range(case.folds[0].energy.n_objects)]


def test_cases_cover_what_they_are_meant_to():
    """No vacuous comparisons: what the random cases hold, and that regions are empty, whole and in
    between.
    """
    cases = [random_case(seed) for seed in range(N_CASES)]
    energies = [fold.energy for case in cases for fold in case.folds]
    assert {case.folds[0].energy.n_labels for case in cases} >= set(range(1, 12))
    assert {len(case.folds) for case in cases} >= set(range(1, 14))
    assert any(len({len(fold.calibration) for fold in case.folds}) > 3 for case in cases)
    for part in ("pairwise", "link", "penalty", "overrides"):
        n_with = sum(getattr(energy, part) is not None for energy in energies)
        assert 0.1 < n_with / len(energies) < 0.9, part
    pairs = [energy.pairwise for energy in energies if energy.pairwise is not None]
    assert any((costs < 0).any() for costs in pairs)
    assert 0.1 < sum(costs.ndim == 3 for costs in pairs) / len(pairs) < 0.6
    relaxed = [
        any(not problem.costs.charged.all() for problem in pair_problems(case)) for case in cases
    ]
    assert sum(relaxed) > 15  # searches with the bound for dense pairs
    n_alike = sum(len({id(fold.energy) for fold in case.folds}) < len(case.folds) for case in cases)
    assert n_alike > 10
    assert sum(case.draws is not None for case in cases) > 40
    assert 40 < sum(case.allow_empty for case in cases) < 160
    shares = []
    for case in cases[:80]:
        engine = case.engine()
        for level in (0.05, 0.2, 0.5):
            smallest = int(level * int(engine.denominators[0])) + 1
            shares += [np.mean(ranked.numerators >= smallest) for ranked in case.ranked()]
    assert min(np.mean(np.array(shares) == 0), np.mean(np.array(shares) == 1)) > 0.05
    assert np.mean((np.array(shares) > 0) & (np.array(shares) < 1)) > 0.3


@pytest.mark.parametrize("size", [1, 2, 7])
def test_search_handles_one_fold_and_equal_calibration_scores(size):
    """One calibration score, or equal ones: p-values take two values, and everything else ties."""
    for seed in range(30):
        case = random_case(seed, labels=(1, 6), folds=(1, 1))
        fold, case.rule = case.folds[0], None
        case.folds = [Fold(np.sort(np.full(size, fold.calibration[0])), fold.energy)]
        assert_answers_equal_brute_force(case, seed)


def test_search_handles_the_largest_scores():
    """Scores just below 2^50 in fifteen folds: nothing overflows, with or without a link."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        case = random_case(seed, labels=(3, 3), folds=(15, 15), objects=(1, 1))
        for k, fold in enumerate(case.folds):
            unary = rng.choice([-(2**48), 2**48, 2**48 - 1], size=(1, 3))
            large = Energy(np.array([2**47]), unary, link=fold.energy.link)
            scores = large.scores(
                rng.integers(0, 2, size=(5, 3)), objects=np.zeros(5, dtype=np.int64)
            )
            case.folds[k] = Fold(np.sort(scores), large)
        assert_answers_equal_brute_force(case, seed)


def test_thousands_of_exceptions_are_answered_like_few():
    """Exceptional labelsets in two of three folds, more of them than others."""
    rng = np.random.default_rng(0)
    folds = []
    for n_exceptions in (2500, 0, 2500):
        codes = rng.choice(2**12, size=n_exceptions, replace=False)
        labelsets = labelsets_of(codes, 12).astype(np.int8)
        overrides = Overrides(
            np.array([0, n_exceptions]), labelsets, rng.integers(-50, 200, size=n_exceptions)
        )
        energy = Energy(np.array([40]), rng.integers(-9, 20, size=(1, 12)), overrides=overrides)
        folds.append(Fold(np.sort(rng.integers(-20, 120, size=40)), energy))
    case = Case(folds, allow_empty=False, draws=None)
    search = case.search()
    ranked = rank_all(folds, 0, allow_empty=False)
    smallest = int(np.quantile(ranked.numerators, 0.7))
    members = ranked.members(smallest)
    labelsets, numerators = case.engine(options=BY_SEARCH).region_members(0, smallest, None)
    assert codes_of(labelsets) == members.codes.tolist()
    assert numerators.tolist() == members.numerators.tolist()
    assert search.count(np.arange(1), np.array([smallest]), 10**9) == [(len(members.codes), True)]
    assert codes_of(search.best(np.arange(1), 50).labelsets[0]) == ranked.codes[:50].tolist()
    assert search.label_maxima(np.arange(1)).tolist() == [highest_by_label(ranked, 12)]

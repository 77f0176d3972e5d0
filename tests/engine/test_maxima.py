"""Tables of scores that are the largest of labels' costs, alone and beside other parts, against
brute force.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from brute_force import labelsets_of
from fold_strategies import COSTS, fold_lists, smoothing
from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from max_cases import max_energy, random_max_case
from search_cases import Case, assert_answers_equal_brute_force, random_case

N_CASES = 60


def assert_max_answers_equal_brute_force(case, seed):
    assert_answers_equal_brute_force(case, seed)
    engine, n_labels = case.engine(), case.folds[0].energy.n_labels
    assert engine.arrays.has_maxima
    for i, ranked in enumerate(case.ranked()):
        labelsets, objects = (
            labelsets_of(ranked.codes, n_labels).astype(np.int8),
            np.full(len(ranked.codes), i),
        )
        assert engine.numerators_of(labelsets, objects).tolist() == ranked.numerators.tolist()
        assert engine.total_scores(labelsets, objects).tolist() == ranked.totals.tolist()


@pytest.mark.parametrize("block", range(3))
def test_answers_about_maxima_equal_brute_force(block):
    for seed in range(block, N_CASES, 3):
        assert_max_answers_equal_brute_force(random_max_case(seed), seed)


@pytest.mark.validity
@pytest.mark.parametrize("block", range(10))
def test_answers_about_maxima_equal_brute_force_in_many_cases(block):
    for seed in range(10**6 + block, 10**6 + 5000, 10):
        assert_max_answers_equal_brute_force(random_max_case(seed), seed)


def test_answers_about_maxima_in_some_folds_beside_other_parts_equal_brute_force():
    """Sums, pairs, links, penalties, discounts, overrides; a fold without a maximum, and one with
    two.
    """
    for seed in range(60):
        case = random_case(seed, labels=(1, 7), folds=(1, 6))
        rng = np.random.default_rng([seed, 4])
        for k, fold in enumerate(case.folds):
            shape = (2, fold.energy.n_objects, fold.energy.n_labels)
            for _ in range((k + 1) % 3):
                energy = case.folds[k].energy + max_energy(*rng.integers(-40, 40, size=shape))
                case.folds[k] = Fold(fold.calibration, energy)
        assert_max_answers_equal_brute_force(case, seed)


@st.composite
def max_energies(draw, n_objects, n_labels):
    kinds = [draw(COSTS), draw(COSTS)]
    return max_energy(
        *(draw(arrays(np.int64, (n_objects, n_labels), elements=kind)) for kind in kinds)
    )


@settings(max_examples=60)
@given(
    st.data(),
    fold_lists(labels=(1, 5), folds=(1, 5), objects=(1, 2), kind=max_energies),
    st.booleans(),
)
def test_answers_about_maxima_equal_brute_force_for_whatever_hypothesis_finds(
    data, folds, allow_empty
):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    assert_max_answers_equal_brute_force(
        Case(folds, allow_empty, draws), data.draw(st.integers(0, 99))
    )


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_about_maxima_equals_reference(seed):
    case = random_max_case(seed, labels=(1, 5), folds=(1, 4))
    case.rule = None
    for i, ranked in enumerate(case.ranked()):
        weights = (
            (1, 0) if case.draws is None else (int(case.draws[i]), DRAW_UNIT - int(case.draws[i]))
        )
        expected = labelset_reference.ranked(
            case.folds, i, allow_empty=case.allow_empty, at_least=weights[0], above=weights[1]
        )
        assert list(zip(*(part.tolist() for part in ranked), strict=True)) == expected


def test_a_table_of_maxima_may_be_of_no_objects():
    nobody = FoldEngine(
        [Fold(np.sort(np.array([1])), max_energy(*np.zeros((2, 0, 9), np.int64)))], allow_empty=True
    )
    assert nobody.top(2).labelsets.shape == (0, 2, 9)
    assert nobody.label_numerators().shape == (0, 9, 2)
    assert list(nobody.region_sizes(1)) == []


def test_maxima_of_too_many_labels_are_refused():
    with pytest.raises(ValueError, match=r"2\^25 labelsets of 25 labels, one by one"):
        FoldEngine(
            [Fold(np.array([1]), max_energy(*np.zeros((2, 1, 25), np.int64)))], allow_empty=True
        )

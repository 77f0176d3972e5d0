"""Sizes by importance sampling: probabilities against definitions, estimates against tables."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.engine import _search
from labelsure.engine._estimate import RegionDraws, estimate_by_importance, log_probabilities
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.measures._energy import Penalty
from labelsure.measures._labelset_bits import decode, pack, unpack
from quadratic_forms import form_engine
from search_cases import by_rows, estimate_of, random_case, values_of


@given(arrays(bool, (3, 4)), arrays(np.float64, 4, elements=st.floats(0.01, 0.99)))
def test_log_probabilities_are_those_of_independent_flips(flips, probabilities):
    expected = np.where(flips, probabilities, 1 - probabilities).prod(axis=1)
    assert np.exp(log_probabilities(flips, probabilities)) == pytest.approx(expected)


def region_draws(engine, i, smallest, known=None):
    search = engine._search
    known = pack(np.empty((0, engine.n_labels), dtype=np.int8)) if known is None else known
    common = (smallest, known, partial(search.find_start, i), np.random.default_rng(0))
    return RegionDraws(
        engine.arrays, engine.weighing, search.pose_one(i), engine.constraints, *common
    )


def listed_size(engine, smallest):
    """Return the size of the first object's region from the table."""
    return values_of(by_rows(engine).region_sizes(np.array([smallest])))[0]


@pytest.mark.parametrize("start_budget", [1, 100_000])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("penalised", [False, True])
def test_estimates_of_dense_forms_hold_listed_sizes(own, penalised, start_budget, monkeypatch):
    """48 intervals of about 99 %, and values within a few per cent, also if draws start from any
    labelset.
    """
    monkeypatch.setattr(_search, "START_BUDGET", start_budget)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        parts = (
            {"penalty": Penalty(None, rng.integers(0, 2, size=(5, 13)).astype(np.int8), 2**17)}
            if penalised
            else {}
        )
        engine = form_engine(seed, n_labels=13, n_folds=1 + 2 * seed, own=own, **parts)
        for level in (0.05, 0.2):
            smallest = int(level * int(engine.denominators[0])) + 1
            truth = listed_size(engine, smallest)
            size = estimate_of(engine, 0, smallest, at_least=7).size
            assert truth > 100
            assert size.low <= truth <= size.high
            assert size.at_least == 7
            assert truth <= size.at_most
            assert abs(size.value / truth - 1) < 0.15
            assert size.high < 1.6 * size.low


def test_drawn_labelsets_are_members_exactly_if_their_numerators_say_so():
    """With and without pairs, links, penalties, smoothing and rules; discounts and overrides are
    looked at apart.
    """
    n_inside = n_outside = 0
    for seed in range(60):
        case = random_case(seed, labels=(2, 7), objects=(1, 2))
        general = [type(fold)(fold.calibration, fold.energy.general_form()) for fold in case.folds]
        engine = FoldEngine(general, allow_empty=case.allow_empty, weighing=case.weighing)
        i = engine.n_objects - 1
        everything = decode(np.arange(2**engine.n_labels), engine.n_labels)
        numerators = engine.numerators_of(everything, np.full(len(everything), i))
        smallest = max(int(np.median(numerators)), 1)
        draws = region_draws(engine, i, smallest)
        flips = (everything ^ unpack(draws.one.problem.mode[None], engine.n_labels))[
            :, draws.one.problem.labels
        ]
        members = draws.members(flips.astype(bool))
        assert members.tolist() == (numerators >= smallest).tolist()
        n_inside, n_outside = n_inside + members.sum(), n_outside + (~members).sum()
    assert min(n_inside, n_outside) > 400


def test_labelsets_that_are_known_do_not_count():
    engine = form_engine(0, n_labels=8, n_folds=1)
    smallest = 5
    labelsets, _ = next(by_rows(engine).iterate_members(0, smallest))
    known = pack(labelsets[: len(labelsets) // 2])
    whole = estimate_by_importance(region_draws(engine, 0, smallest), 20_000)
    rest = estimate_by_importance(region_draws(engine, 0, smallest, known), 20_000)
    assert 2 ** whole[0] == pytest.approx(len(labelsets), rel=0.1)
    assert 2 ** rest[0] == pytest.approx(len(labelsets) - len(known), rel=0.1)


def test_nothing_is_estimated_where_nothing_is_drawn():
    engine = form_engine(0, n_labels=8, n_folds=1)
    assert estimate_by_importance(region_draws(engine, 0, 10**6), 1000) is None


def test_regions_too_large_to_count_are_estimated():
    """2^45 labelsets and dense pairs, by the engine itself; a second region twice as certain is
    smaller.
    """
    options = EngineOptions(count_budget=5000)
    engine = form_engine(3, n_labels=45, n_folds=3, n_objects=2, strength=0.3, options=options)
    sizes = [engine.region_sizes(smallest) for smallest in (10, 60)]
    for large, small in zip(*sizes, strict=True):
        assert large.approximate
        assert small.approximate
        assert (
            5
            < small.at_least
            <= small.low
            < small.high
            < large.low
            < large.high
            <= large.at_most
            <= 2**45
        )
        assert large.high < 2 * large.low
    rough = engine.region_sizes(10, bits=2.0)
    for one, other in zip(sizes[0], rough, strict=True):
        assert one.low < other.high
        assert other.low < one.high


@pytest.mark.validity
@pytest.mark.parametrize("bits", [0.1, 1.0])
@pytest.mark.parametrize("strength", [0.4, 1.0])
def test_approximate_intervals_miss_no_more_often_than_they_say(strength, bits):
    """200 regions: more than 8 misses at 1 % each have a probability below 0.001."""
    n_missed = n_approximate = 0
    for seed in range(200):
        anchors = np.random.default_rng(seed).integers(0, 2, size=(6, 14)).astype(np.int8)
        parts = {"penalty": Penalty(None, anchors, 2**17)} if seed % 2 else {}
        engine = form_engine(seed, n_labels=14, n_folds=1 + seed % 4, strength=strength, **parts)
        smallest = int((0.05, 0.1, 0.2, 0.4)[seed // 2 % 4] * int(engine.denominators[0])) + 1
        truth = listed_size(engine, smallest)
        size = estimate_of(engine, 0, smallest, at_least=0, bits=bits).size
        assert truth <= size.at_most
        n_missed += not size.low <= truth <= size.high
        n_approximate += size.approximate
    assert n_approximate > 120
    assert n_missed <= 8

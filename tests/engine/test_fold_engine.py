"""The engine's answers about all labelsets, against definitions in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labelset_reference
from brute_force import highest_by_label
from fold_strategies import fold_lists, full_energies, smoothing, weighing_of
from labelsure._random import DRAW_UNIT
from labelsure.engine import _rows, _search
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine, StoredEngine
from labelsure.engine._results import EngineOptions
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Energy
from labelsure.measures._labelset_bits import decode
from search_cases import BY_SEARCH, BY_TABLE, Case, assert_best, assert_members, values_of


def exact_p_values(folds, *, allow_empty, draws):
    """Return the p-values of all candidates as fractions, straight from their definition."""
    at_least = labelset_reference.count_table(folds)
    above = labelset_reference.count_table(folds, strict=True)
    denominator = sum(len(fold.calibration) for fold in folds) + 1
    first = 0 if allow_empty else 1
    table = []
    for i in range(len(at_least)):
        u = None if draws is None else Fraction(int(draws[i]), DRAW_UNIT)
        counts = zip(at_least[i, first:].tolist(), above[i, first:].tolist(), strict=True)
        table.append(
            [
                Fraction(a + 1, denominator)
                if u is None
                else (b + u * (a - b + 1)) / Fraction(denominator)
                for a, b in counts
            ]
        )
    return table


def from_folds(folds, *, allow_empty, draws=None, **options):
    """Return the engine of some folds."""
    return FoldEngine(folds, allow_empty=allow_empty, weighing=weighing_of(folds, draws), **options)


def as_stored(folds, *, allow_empty, draws=None):
    """Return the engine that holds the same counts in tables, as full conformal prediction does."""
    n_labels = folds[0].energy.n_labels
    labelsets = decode(np.arange(2**n_labels), n_labels)
    engine = FoldEngine(folds, allow_empty=True)
    scores = np.array(
        [
            engine.total_scores(labelsets, np.full(len(labelsets), i))
            for i in range(engine.n_objects)
        ],
        dtype=np.int64,
    ).reshape(engine.n_objects, len(labelsets))
    return StoredEngine(
        labelset_reference.count_table(folds).astype(np.int32),
        labelset_reference.count_table(folds, strict=True).astype(np.int32),
        scores,
        weighing_of(folds, draws),
        allow_empty=allow_empty,
    )


@pytest.mark.parametrize("make", [from_folds, as_stored])
@settings(max_examples=80)
@given(st.data(), fold_lists(), st.booleans())
def test_p_value_table_equals_definition(make, data, folds, allow_empty):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    engine = make(folds, allow_empty=allow_empty, draws=draws)
    expected = exact_p_values(folds, allow_empty=allow_empty, draws=draws)
    assert engine.p_value_table().tolist() == [[float(p) for p in row] for row in expected]
    assert engine.n_candidates == len(expected[0])


@pytest.mark.parametrize("make", [from_folds, as_stored])
@given(st.data(), fold_lists(labels=(1, 4)), st.booleans())
def test_numerators_of_single_labelsets_equal_the_table(make, data, folds, allow_empty):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    engine = make(folds, allow_empty=allow_empty, draws=draws)
    n_codes = 2**engine.n_labels
    rows = engine.answers(engine.n_objects, table=True).numerators(np.arange(engine.n_objects))
    for code in range(n_codes):
        labelsets = np.repeat(decode(np.array([code]), engine.n_labels), engine.n_objects, axis=0)
        assert engine.numerators_of(labelsets).tolist() == rows[:, code].tolist()


@pytest.mark.parametrize("make", [from_folds, as_stored])
@settings(max_examples=40)
@given(st.data(), fold_lists(labels=(1, 4), kind=full_energies), st.booleans(), st.integers(1, 20))
def test_answers_equal_brute_force(make, data, folds, allow_empty, n_best):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    engine, everyone = (
        make(folds, allow_empty=allow_empty, draws=draws),
        Case(folds, allow_empty, draws).ranked(),
    )
    assert_best(engine, everyone, n_best)
    assert engine.label_numerators().tolist() == [
        highest_by_label(ranked, engine.n_labels) for ranked in everyone
    ]
    smallest = int(data.draw(st.sampled_from(everyone[0].numerators.tolist()))) + data.draw(
        st.integers(0, 1)
    )
    assert values_of(engine.region_sizes(smallest)) == [
        len(ranked.members(smallest).codes) for ranked in everyone
    ]
    for i, ranked in enumerate(everyone):
        assert_members(engine, i, ranked.members(smallest), smallest, data.draw(st.integers(0, 6)))


@pytest.mark.parametrize("make", [from_folds, as_stored])
@settings(max_examples=40)
@given(st.data(), fold_lists(labels=(1, 4)), st.booleans())
def test_label_masses_are_shares_of_all_p_values(make, data, folds, allow_empty):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    masses = make(folds, allow_empty=allow_empty, draws=draws).label_masses()
    first = 0 if allow_empty else 1
    for i, row in enumerate(exact_p_values(folds, allow_empty=allow_empty, draws=draws)):
        for j in range(folds[0].energy.n_labels):
            on = sum(p for code, p in enumerate(row, start=first) if code >> j & 1)
            assert masses[i, j] == pytest.approx(float(on / sum(row)), rel=1e-12)


def test_label_masses_do_not_overflow():
    """2^22 labelsets whose smoothed p-value is 1, of 4000 calibration examples: numerators add up
    to 2^65.
    """
    fold = Fold(np.sort(np.full(4000, 9)), Energy(np.array([0]), np.zeros((1, 22), dtype=np.int64)))
    engine = from_folds([fold], allow_empty=True, draws=np.array([DRAW_UNIT]))
    assert engine.label_masses().tolist() == [[0.5] * 22]


@settings(max_examples=40)
@given(st.data(), fold_lists(labels=(1, 4), objects=(1, 4), kind=full_energies))
def test_take_keeps_the_answers_of_the_objects(data, folds):
    n_objects = folds[0].energy.n_objects
    draws = data.draw(smoothing(n_objects))
    chosen = np.array(
        data.draw(st.lists(st.integers(0, n_objects - 1), max_size=5)), dtype=np.int64
    )
    for make in (from_folds, as_stored):
        engine = make(folds, allow_empty=True, draws=draws)
        assert (
            engine.take(chosen).p_value_table().tolist() == engine.p_value_table()[chosen].tolist()
        )


def random_folds(n_objects, n_labels, n_folds=3, seed=0):
    rng = np.random.default_rng(seed)
    folds = []
    for _ in range(n_folds):
        energy = Energy(
            rng.integers(0, 9, size=n_objects),
            rng.integers(-5, 5, size=(n_objects, n_labels)),
            rng.integers(0, 3, size=(n_labels, n_labels)),
        )
        folds.append(Fold(np.sort(rng.integers(-20, 20, size=30)), energy))
    return folds


def all_answers(engine):
    """Return everything that an engine can be asked, in plain Python."""
    best = engine.top(3)
    members = [engine.region_members(i, 40, None) for i in (0, engine.n_objects - 1)]
    return [
        engine.p_value_table().tolist(),
        best.labelsets.tolist(),
        best.numerators.tolist(),
        engine.label_numerators().tolist(),
        values_of(engine.region_sizes(40)),
        [(labelsets.tolist(), numerators.tolist()) for labelsets, numerators in members],
        engine.label_masses().tolist(),
    ]


def small_blocks(monkeypatch, n_objects):
    """Answer about so many objects with six labels at a time, at most."""
    monkeypatch.setattr(_rows, "ROW_BYTES", n_objects * 4 * 2**6)
    monkeypatch.setattr(_search, "BLOCK_OBJECTS", n_objects)


@pytest.mark.parametrize("table_labels", [0, 24], ids=["search", "table"])
@pytest.mark.parametrize("smoothed", [False, True])
def test_answers_do_not_depend_on_the_number_of_threads(smoothed, table_labels, monkeypatch):
    """Blocks of 16 objects: six of them to share out."""
    small_blocks(monkeypatch, 16)
    options = EngineOptions(table_labels=table_labels)
    folds = random_folds(n_objects=90, n_labels=6)
    draws = np.random.default_rng(1).integers(1, DRAW_UNIT, size=90) if smoothed else None
    one, two, all_cores = (
        from_folds(folds, allow_empty=True, draws=draws, n_jobs=jobs, options=options)
        for jobs in (1, 2, -1)
    )
    assert one.answers(90).n_block == 16
    answers = all_answers(one)
    assert all_answers(two) == answers
    assert all_answers(all_cores) == answers


@pytest.mark.parametrize("table_labels", [0, 24], ids=["search", "table"])
@pytest.mark.parametrize("draws", [None, np.arange(1, 10) * 2**27])
def test_answers_do_not_depend_on_the_size_of_blocks(draws, table_labels, monkeypatch):
    folds = random_folds(n_objects=9, n_labels=6)
    options = EngineOptions(table_labels=table_labels)
    whole = all_answers(from_folds(folds, allow_empty=False, draws=draws, options=options))
    small_blocks(monkeypatch, 1)
    engine = from_folds(folds, allow_empty=False, draws=draws, options=options)
    assert engine.answers(9).n_block == 1
    assert all_answers(engine) == whole


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE], ids=["search", "table"])
@pytest.mark.parametrize("allow_empty", [True, False])
def test_engine_answers_for_no_objects(allow_empty, options):
    engine = FoldEngine(
        random_folds(n_objects=0, n_labels=3), allow_empty=allow_empty, options=options
    )
    assert engine.p_value_table().shape == (0, 8 if allow_empty else 7)
    best = engine.top(4)
    assert best.labelsets.shape == (0, 4, 3)
    assert best.numerators.shape == (0, 4)
    assert list(engine.region_sizes(1)) == []
    assert engine.label_numerators().shape == (0, 3, 2)
    assert engine.label_masses().shape == (0, 3)
    assert engine.numerators_of(np.empty((0, 3), dtype=np.int8)).shape == (0,)


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE], ids=["search", "table"])
def test_a_single_candidate_has_no_runner_up(options):
    fold = Fold(np.sort(np.array([1, 2, 3])), Energy(np.array([0]), np.array([[2]])))
    engine = FoldEngine([fold], allow_empty=False, options=options)
    assert engine.top(2).labelsets.tolist() == [[[1], [0]]]
    assert engine.top(2).numerators.tolist() == [[3, 0]]
    assert engine.label_numerators().tolist() == [[[0, 3]]]


@pytest.mark.parametrize("n_labels", [25, 40, 1000])
def test_lists_of_too_many_labelsets_are_refused(n_labels):
    engine = FoldEngine(random_folds(n_objects=2, n_labels=n_labels), allow_empty=True)
    message = rf"all 2\^{n_labels} labelsets of {n_labels} labels.*up to 24 labels.*p_value\(Y\)"
    with pytest.raises(ValueError, match=message):
        engine.p_value_table()
    with pytest.raises(ValueError, match=message):
        engine.label_masses()
    assert engine.n_candidates == 2**n_labels


@pytest.mark.parametrize("smoothed", [False, True])
@given(st.integers(1, 999), st.integers(1, 2000))
def test_smallest_member_is_the_first_p_value_above_significance(
    smoothed, thousandths, n_calibration
):
    significance = Fraction(thousandths, 1000)
    weighing = (
        Weighing.smoothed(n_calibration, np.array([1]))
        if smoothed
        else Weighing.plain(n_calibration, 1)
    )
    counts = np.zeros((1, 2), dtype=np.int32)
    engine = StoredEngine(counts, counts, counts, weighing, allow_empty=True)
    (smallest,) = engine.smallest_member(significance).tolist()
    denominator = int(engine.denominators[0])
    assert Fraction(smallest, denominator) > significance >= Fraction(smallest - 1, denominator)

"""Searches with pairs: their steps against definitions, their answers against brute force."""

from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import codes_of, highest_by_label
from labelsure.engine import _pair_kernels, _pair_search
from labelsure.engine._fold_arrays import ScoreTables
from labelsure.engine._labelset_kernels import NUMERATOR, TOTAL, write_key
from labelsure.engine._lookup_kernels import total_of
from labelsure.engine._pair_problem import FOUND, FULL, N_NUMBERS, Goal, Ranked
from labelsure.engine._pair_search import read_keys
from labelsure.engine._results import EngineOptions
from labelsure.measures._labelset_bits import decode, pack
from search_cases import BY_SEARCH, assert_best, assert_members, random_case

NOTHING = np.zeros(2, dtype=np.int64)
NO_LINK = ScoreTables(
    np.zeros(1, dtype=np.int32),
    NOTHING,
    NOTHING,
    np.array([[0, 0, 0, 0, 0, 0, 0, -1]] * 2),
    NOTHING,
)


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30
    ),
    st.integers(1, 8),
    st.booleans(),
)
def test_offers_leave_the_best(labelsets, n_best, by_total):
    """Highest numerator, lowest total, lowest code; or numerators alone."""
    numbers, limit = np.zeros(N_NUMBERS, dtype=np.int64), np.array([-99, 99, 0])
    found, keys = np.arange(n_best + 1), np.zeros((n_best + 1, 3), dtype=np.int64)
    goal, best = Goal(ranked=True, by_total=by_total, limit=limit), Ranked(found, keys)
    for value, total, code in labelsets:
        words = np.array([code], dtype=np.uint64)
        _pair_kernels.record(value, total, words, goal, numbers, best)
    words, rank = read_keys(keys[found[: numbers[FOUND]]])
    kept = [
        (-value, total, code)
        for (value, total), code in zip(rank.tolist(), words[:, 0].tolist(), strict=True)
    ]
    expected = sorted((-value, total, code) for value, total, code in labelsets)[:n_best]
    if by_total:
        assert sorted(kept) == expected
    else:
        assert sorted(value for value, _, _ in kept) == [value for value, _, _ in expected]
    assert limit[FULL] == (len(labelsets) >= n_best)
    if limit[FULL]:
        assert (-limit[NUMERATOR], limit[TOTAL]) == max(kept)[:2]


@given(
    st.integers(0, 3),
    st.integers(0, 3),
    arrays(np.int64, 2, elements=st.integers(-2, 2)),
    arrays(np.int64, 2, elements=st.integers(0, 1)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_hopeless_is_what_cannot_come_before_the_worst_found(
    value, limit_value, scores, more, full, ranked, by_total
):
    limit = np.array([limit_value, 1, int(full)])
    hopeless = _pair_kernels.is_hopeless(
        value, scores, more, NOTHING, NO_LINK, Goal(ranked, by_total, limit)
    )
    total = int((scores + more).sum())
    assert total_of(scores, more, NOTHING, NO_LINK) == total
    if not ranked or not full:
        assert hopeless == (value < limit_value)
    elif by_total:
        assert hopeless == ((-value, total) > (-limit_value, 1))
    else:
        assert hopeless == (value <= limit_value)


@given(st.integers(0, 2**10 - 1), st.sets(st.integers(0, 9)), st.integers(0, 2**10 - 1))
def test_a_better_labelset_is_possible_if_the_lowest_code_is_lower(start, labels, other):
    """Ten labels spread over two words."""
    places = np.array([0, 1, 2, 3, 60, 61, 63, 64, 65, 99])

    def spread(codes):
        labelsets = np.zeros((len(codes), 100), dtype=np.int8)
        labelsets[:, places] = decode(np.array(codes), 10)
        return pack(labelsets)

    subsets = range(2 ** len(labels))
    changed = [
        start ^ sum(1 << label for bit, label in enumerate(sorted(labels)) if subset >> bit & 1)
        for subset in subsets
    ]
    keys = np.zeros((2, 4), dtype=np.int64)
    write_key(3, 7, spread([other])[0], True, 1, keys)
    room = np.empty(2, dtype=np.uint64)
    common = (
        spread([start])[0],
        places[sorted(labels)].astype(np.int64),
        room,
        Ranked(np.array([1, 0]), keys),
    )
    assert _pair_kernels.may_hold_better(3, 7, *common) == (min(changed) < other)
    assert _pair_kernels.may_hold_better(4, 8, *common)
    assert not _pair_kernels.may_hold_better(3, 8, *common)


def pair_cases(n_cases):
    """Return cases of one object with pairs, and the smallest numerators of regions."""
    cases = (random_case(seed, labels=(3, 6), folds=(1, 4), objects=(1, 1)) for seed in count())
    some = list(islice((case for case in cases if case.search().arrays.has_pairs), n_cases))
    return [(case, int(np.quantile(case.ranked()[0].numerators, 0.6))) for case in some]


def test_searches_with_pairs_equal_brute_force():
    for case, smallest in pair_cases(25):
        engine, everyone = case.engine(options=BY_SEARCH), case.ranked()
        members = everyone[0].members(smallest)
        for n_best in (1, 4, 70):
            assert_best(engine, everyone, n_best)
        assert_members(engine, 0, members, smallest, 2)
        assert engine.label_numerators().tolist() == [
            highest_by_label(everyone[0], engine.n_labels)
        ]
        assert engine._search.count(np.arange(1), np.array([smallest]), 10**9) == [
            (len(members.codes), True)
        ]


@pytest.mark.parametrize(("chunk", "call"), [(1, 10**6), (2, 3), (4096, 1)])
def test_searches_with_pairs_go_on_where_they_were_interrupted(chunk, call, monkeypatch):
    """Full buffers and spent budgets after every node: still every member once, in the same order."""
    cases = pair_cases(15)

    def iterated(options):
        parts = [
            part
            for case, smallest in cases
            for part, _ in case.search(options).iterate_members(0, smallest)
        ]
        return [code for part in parts for code in codes_of(part)]

    whole = iterated(EngineOptions())
    monkeypatch.setattr(_pair_search, "CALL", call)
    assert iterated(EngineOptions(chunk=chunk)) == whole
    assert len(whole) > 100

"""Energies against a transcription, their sums, and what they consist of."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import COSTS, overrides, penalties
from labelsure.measures._energy import Discounts, Energy, Overrides, Penalty, SquareRoot
from labelsure.measures._labelset_bits import decode

N_OBJECTS, N_LABELS = 2, 4
ALL = decode(np.arange(2**N_LABELS), N_LABELS)
OWNERS = np.repeat(np.arange(N_OBJECTS), len(ALL))
AMOUNTS = st.integers(0, 9)
ANCHORS = np.array([[1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.int8)
NOTHING = Energy(
    np.zeros(N_OBJECTS, dtype=np.int64), np.zeros((N_OBJECTS, N_LABELS), dtype=np.int64)
)


@st.composite
def labelset_costs(draw):
    """An energy of nothing but a penalty, discounts and overrides, any of which may be missing."""
    by_cardinality = draw(st.none() | arrays(np.int64, N_LABELS + 1, elements=AMOUNTS))
    codes = draw(st.lists(st.integers(0, 2**N_LABELS - 1), max_size=5, unique=True))
    spared = Discounts(
        decode(np.array(codes, dtype=np.int64), N_LABELS),
        draw(arrays(np.int64, len(codes), elements=AMOUNTS)),
    )
    return replace(
        NOTHING,
        penalty=draw(st.none() | AMOUNTS.map(lambda cost: Penalty(by_cardinality, ANCHORS, cost))),
        discounts=draw(st.none() | st.just(spared)),
        overrides=draw(st.none() | overrides(N_OBJECTS, N_LABELS)),
    )


@st.composite
def any_energies(draw, *, link=False):
    """The same with additive costs, pair costs common to all objects or not, linked or not."""
    pairs = arrays(np.int64, (N_LABELS, N_LABELS), elements=draw(COSTS))
    pairs_of_each = arrays(np.int64, (N_OBJECTS, N_LABELS, N_LABELS), elements=draw(COSTS))
    return replace(
        draw(labelset_costs()),
        constant=draw(arrays(np.int64, N_OBJECTS, elements=draw(COSTS))),
        unary=draw(arrays(np.int64, (N_OBJECTS, N_LABELS), elements=draw(COSTS))),
        pairwise=draw(st.none() | pairs | pairs_of_each),
        link=SquareRoot(draw(st.integers(0, 2))) if link else None,
    )


def transcription(energy, i, t):
    """link(constant + unary + pairs) + penalty - discount, or the override's score, in integers."""
    if energy.overrides is not None:
        for e in range(energy.overrides.begin[i], energy.overrides.begin[i + 1]):
            if energy.overrides.labelsets[e].tolist() == t:
                return int(energy.overrides.scores[e])
    total = int(energy.constant[i]) + sum(int(energy.unary[i, j]) for j in range(N_LABELS) if t[j])
    if energy.pairwise is not None:
        pairs = energy.pairwise if energy.pairwise.ndim == 2 else energy.pairwise[i]
        total += sum(int(pairs[j, r]) for r in range(N_LABELS) for j in range(r) if t[j] and t[r])
    if energy.link is not None:
        total = math.isqrt(max(total, 0) << energy.link.shift)
    if energy.penalty is not None:
        if energy.penalty.by_cardinality is not None:
            total += int(energy.penalty.by_cardinality[sum(t)])
        if energy.penalty.per_distance:
            distances = [
                sum(a != b for a, b in zip(t, anchor, strict=True))
                for anchor in energy.penalty.anchors
            ]
            total += energy.penalty.per_distance * min(distances)
    if energy.discounts is not None:
        for labelset, amount in zip(
            energy.discounts.labelsets.tolist(), energy.discounts.amounts, strict=True
        ):
            total -= int(amount) if labelset == t else 0
    return total


def transcribed(energy):
    return [transcription(energy, i, t) for i in range(N_OBJECTS) for t in ALL.tolist()]


def scores_of_all(energy):
    return energy.scores(np.tile(ALL, (N_OBJECTS, 1)), objects=OWNERS).tolist()


@given(any_energies() | any_energies(link=True))
def test_scores_equal_transcription(energy):
    assert scores_of_all(energy) == transcribed(energy)
    for i in range(N_OBJECTS):
        alone = energy.scores(ALL, objects=np.full(len(ALL), i))
        assert alone.tolist() == transcribed(energy)[i * len(ALL) : (i + 1) * len(ALL)]


@given(any_energies() | any_energies(link=True))
def test_lower_bound_and_general_form_are_those_without_discounts_and_exceptions(energy):
    general = replace(energy, discounts=None, overrides=None)
    assert scores_of_all(energy.general_form()) == transcribed(general)
    assert energy.lower_bound() <= min(transcribed(general))
    assert energy.general_form().lower_bound() <= min(transcribed(general))
    assert energy.upper_bound() >= max(transcribed(energy))


@given(any_energies(), any_energies())
def test_sum_of_two_energies_has_the_sums_of_their_scores(first, second):
    expected = [a + b for a, b in zip(transcribed(first), transcribed(second), strict=True)]
    assert scores_of_all(first + second) == expected
    assert scores_of_all(second + first) == expected
    # no discount hides behind an override that is gone
    assert transcribed(first + second) == expected


@given(any_energies(link=True), labelset_costs())
def test_costs_of_labelsets_can_be_added_to_an_energy_with_a_link(first, second):
    expected = [a + b for a, b in zip(transcribed(first), transcribed(second), strict=True)]
    for both in (first + second, second + first):
        assert scores_of_all(both) == expected
        assert both.link == first.link


@pytest.mark.parametrize(
    "other",
    [
        replace(NOTHING, link=SquareRoot(0)),
        replace(NOTHING, constant=np.array([0, 1])),
        replace(NOTHING, unary=NOTHING.unary + 1),
        replace(NOTHING, pairwise=np.ones((N_LABELS, N_LABELS), dtype=np.int64)),
    ],
    ids=["link", "constant", "unary", "pairs"],
)
def test_an_energy_with_a_link_cannot_be_added_to_one_of_the_outputs(other):
    root = replace(NOTHING, unary=NOTHING.unary + 4, link=SquareRoot(2))
    for first, second in ((root, other), (other, root)):
        with pytest.raises(
            ValueError, match="A measure with a square root can only be added to penalties"
        ):
            first + second


def test_pairs_of_many_objects_are_not_copied_to_score_one_of_them():
    """200 objects with 300 labels have 144 MB of pairs; a copy of one object's is 0.7 MB."""
    import tracemalloc

    pairs = np.ones((200, 300, 300), dtype=np.int64)
    energy = Energy(np.zeros(200, dtype=np.int64), np.zeros((200, 300), dtype=np.int64), pairs)
    labelsets = np.ones((2, 300), dtype=np.int8)
    tracemalloc.start()
    scores = energy.scores(labelsets, objects=np.array([7, 7]))
    several = energy.scores(labelsets, objects=np.array([7, 8]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert scores.tolist() == several.tolist() == [300 * 299 // 2] * 2
    assert peak < 10_000_000


@st.composite
def penalty_pairs(draw):
    """Two penalties by distance from the same labelsets, reordered, with repeats or without one."""
    n_labels = draw(st.integers(1, 6))
    first, second = draw(penalties(n_labels)), draw(penalties(n_labels))
    if first.anchors is not None and second.anchors is not None:
        again = draw(st.permutations([*first.anchors, first.anchors[0]]))
        second = Penalty(second.by_cardinality, np.array(again), second.per_distance)
    return n_labels, first, second


@given(penalty_pairs())
def test_sum_costs_what_both_cost(case):
    n_labels, first, second = case
    labelsets = decode(np.arange(2**n_labels), n_labels)
    expected = first.costs(labelsets) + second.costs(labelsets)
    assert (first + second).costs(labelsets).tolist() == expected.tolist()
    assert (second + first).costs(labelsets).tolist() == expected.tolist()


def test_distances_to_different_labelsets_cannot_be_added():
    near_one = Penalty(anchors=np.array([[1, 0]], dtype=np.int8), per_distance=1)
    near_both = Penalty(anchors=np.array([[1, 0], [0, 1]], dtype=np.int8), per_distance=1)
    with pytest.raises(
        ValueError, match="can only be added where they measure it to the same labelsets"
    ):
        near_one + near_both
    # a distance that costs nothing
    unused = Penalty(np.array([1, 2, 3]), anchors=near_both.anchors)
    assert (near_one + unused).costs(np.array([[0, 0], [0, 1]])).tolist() == [1 + 1, 2 + 2]
    assert (unused + near_one).costs(np.array([[0, 0], [0, 1]])).tolist() == [1 + 1, 2 + 2]


def test_distances_of_many_labelsets_are_worked_out_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    anchors = (rng.random((7, 130)) < 0.3).astype(np.int8)
    labelsets = np.repeat((rng.random((20, 130)) < 0.3).astype(np.int8), 3, axis=0)
    distances = (labelsets[:, None, :] != anchors).sum(axis=2).min(axis=1)
    for block in (1, 7, 30, 2**21):
        monkeypatch.setattr("labelsure.measures._energy.BLOCK_DISTANCES", block)
        assert (
            Penalty(anchors=anchors, per_distance=3).costs(labelsets).tolist()
            == (3 * distances).tolist()
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by_cardinality": np.array([0, -1])}, "by_cardinality must not be negative"),
        ({"per_distance": -1}, "per_distance must not be negative, got -1"),
        ({"per_distance": 1}, "per_distance needs at least one labelset in anchors"),
        (
            {"per_distance": 1, "anchors": np.empty((0, 2), dtype=np.int8)},
            "per_distance needs at least one labelset",
        ),
    ],
)
def test_penalty_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Penalty(**options)


def test_more_labels_than_bits_in_a_word():
    labelsets = np.zeros((3, 150), dtype=np.int8)
    labelsets[1, 149] = labelsets[2, 64] = 1
    listed = Discounts(labelsets, np.array([5, 6, 7]))
    other = np.zeros((1, 150), dtype=np.int8)
    other[0, 148] = 1
    assert listed.of(np.vstack([labelsets[::-1], other])).tolist() == [7, 6, 5, 0]
    assert (listed + listed).of(labelsets).tolist() == [10, 12, 14]


def test_no_discounts_spare_nothing():
    nothing = Discounts(np.empty((0, 3), dtype=np.int8), np.empty(0, dtype=np.int64))
    assert nothing.of(np.eye(3, dtype=np.int8)).tolist() == [0, 0, 0]
    assert nothing.of(np.empty((0, 3), dtype=np.int8)).tolist() == []


@pytest.mark.parametrize("n_labels", [3, 64, 65, 130])
@pytest.mark.parametrize("seed", range(5))
def test_override_equals_a_dictionary(n_labels, seed):
    """The slow version: one look-up per row by (object, labelset)."""
    rng = np.random.default_rng(seed)
    few = np.unique(rng.integers(0, 2, size=(6, n_labels)), axis=0).astype(np.int8)
    chosen = [np.flatnonzero(rng.random(len(few)) < 0.5) for _ in range(5)]
    begin = np.cumsum([0, *map(len, chosen)])
    listed = Overrides(begin, few[np.concatenate(chosen)], rng.integers(-9, 9, begin[-1]))
    rows = zip(listed.owners().tolist(), listed.labelsets, listed.scores.tolist(), strict=True)
    scores = {(owner, labelset.tobytes()): score for owner, labelset, score in rows}
    assert len(scores) == len(listed.scores)
    for n_asked in (5, 1, 0):
        objects = rng.permutation(5)[rng.integers(0, max(n_asked, 1), size=30 if n_asked else 0)]
        asked = few[rng.integers(len(few), size=len(objects))]
        general = rng.integers(100, 200, size=len(objects))
        expected = [
            scores.get((i, labelset.tobytes()), score)
            for i, labelset, score in zip(objects.tolist(), asked, general.tolist(), strict=True)
        ]
        assert listed.override(general, asked, objects).tolist() == expected
    assert listed.owners().tolist() == [i for i in range(5) for _ in chosen[i]]


NEAR_SQUARES = st.tuples(st.integers(0, 2**25), st.integers(-2, 2)).map(
    lambda pair: pair[0] ** 2 + pair[1]
)


@given(st.lists(st.integers(-(2**50), 2**50 - 1) | NEAR_SQUARES, max_size=8), st.integers(0, 12))
@example([2**50 - 1, 2**50 - 2, 0, -1, 1], 12)
@example([(2**25 - 1) ** 2, (2**25 - 1) ** 2 - 1, (2**25 - 1) ** 2 + 1], 0)
def test_square_root_is_exact(additive, shift):
    roots = SquareRoot(shift)(np.array(additive, dtype=np.int64))
    assert roots.dtype == np.int64
    assert roots.tolist() == [math.isqrt(max(a, 0) << shift) for a in additive]


@given(st.lists(st.integers(0, 2**50 - 1), min_size=2, max_size=8), st.integers(0, 12))
def test_square_root_keeps_order(additive, shift):
    roots = SquareRoot(shift)(np.sort(np.array(additive)))
    assert (np.diff(roots) >= 0).all()

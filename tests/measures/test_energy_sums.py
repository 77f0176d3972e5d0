"""Sums of energies, and energies with pairwise costs for each object."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import COSTS, overrides
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
    """The same with additive costs, the pairs' being the same for all objects or not, under a link or not."""
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
    """link(constant + unary + pairs) + penalty - discount, or the override's own score, in Python's integers."""
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


@given(
    any_energies() | any_energies(link=True), st.lists(st.integers(0, N_OBJECTS - 1), max_size=4)
)
def test_take_keeps_scores(energy, objects):
    taken = energy.take(np.array(objects, dtype=np.int64))
    expected = np.array(transcribed(energy)).reshape(N_OBJECTS, len(ALL))
    for place, i in enumerate(objects):
        assert taken.scores(ALL, objects=np.full(len(ALL), place)).tolist() == expected[i].tolist()


@given(any_energies() | any_energies(link=True))
def test_lower_bound_and_general_form_are_those_without_discounts_and_exceptions(energy):
    general = replace(energy, discounts=None, overrides=None)
    assert scores_of_all(energy.general_form()) == transcribed(general)
    assert energy.lower_bound() <= min(transcribed(general))
    assert energy.general_form().lower_bound() <= min(transcribed(general))
    assert energy.upper_bound() >= max(transcribed(energy))


@pytest.mark.parametrize("link", [None, SquareRoot(0)], ids=["no link", "link"])
@pytest.mark.parametrize("cost", [0, 7])
def test_a_penalty_that_all_pay_alike_joins_the_constant_unless_a_link_stands_between(link, cost):
    flat = replace(
        NOTHING, unary=NOTHING.unary + 4, link=link, penalty=Penalty(np.full(N_LABELS + 1, cost))
    )
    general = flat.general_form()
    assert scores_of_all(general) == transcribed(flat)
    assert (general.penalty is None) == (link is None)


@given(any_energies(), any_energies())
def test_sum_of_two_energies_has_the_sums_of_their_scores(first, second):
    expected = [a + b for a, b in zip(transcribed(first), transcribed(second), strict=True)]
    assert scores_of_all(first + second) == expected
    assert scores_of_all(second + first) == expected
    assert (
        transcribed(first + second) == expected
    )  # no discount hides behind an override that is gone


@given(any_energies(link=True), labelset_costs())
def test_costs_of_labelsets_can_be_added_to_an_energy_with_a_link(first, second):
    expected = [a + b for a, b in zip(transcribed(first), transcribed(second), strict=True)]
    for both in (first + second, second + first):
        assert scores_of_all(both) == expected
        assert both.link == first.link


@settings(max_examples=40)
@given(any_energies(), any_energies(), any_energies())
def test_sums_do_not_depend_on_the_order(a, b, c):
    assert scores_of_all((a + b) + c) == scores_of_all(a + (b + c))


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


def test_an_energy_with_an_empty_link_cannot_be_added_to_one_of_the_outputs():
    """sqrt(0) + a is no square root of a."""
    with pytest.raises(
        ValueError, match="A measure with a square root can only be added to penalties"
    ):
        replace(NOTHING, link=SquareRoot(2)) + replace(NOTHING, constant=np.array([4, 4]))


def test_sum_leaves_its_parts_alone():
    listed = Overrides(np.array([0, 1, 1]), ALL[[3]], np.array([7]))
    first = replace(NOTHING, overrides=listed, penalty=Penalty(np.arange(N_LABELS + 1)))
    second = replace(
        NOTHING, constant=np.array([1, 2]), discounts=Discounts(ALL[[3]], np.array([1]))
    )
    before = transcribed(first), transcribed(second)
    both = first + second
    both.constant[:] += 100
    assert (transcribed(first), transcribed(second)) == before
    assert listed.scores.tolist() == [7]


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

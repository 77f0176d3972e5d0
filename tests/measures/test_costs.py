"""Costs in floats become energies of integers: each number rounded once, otherwise exact."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.measures import _costs
from labelsure.measures._costs import (
    COARSEST_EXPONENT,
    FINEST_EXPONENT,
    SCORE_BITS,
    Costs,
    OwnScores,
    choose_exponent,
    to_fixed_point,
)
from labelsure.measures._labelset_bits import decode

BOUND = 1000.0
# whole numbers of every unit, and so are their sums
EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)
POSITIVE = st.integers(0, 16).map(lambda n: n / 8)


@st.composite
def some_costs(draw):
    """Return costs of all kinds, by form, with the number of objects and labels."""
    n, q = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    form = draw(st.sampled_from(["sum", "root", "maximum", "none"]))
    rows = st.sampled_from([(n, q), (1, q), (q,)])
    parts = {"by_cardinality": (q + 1,), "anchors": (2, q)}
    if form in ("sum", "root"):
        parts |= {"pairwise": draw(st.sampled_from([(q, q), (n, q, q)]))}
        parts |= {"constant": draw(st.sampled_from([(), (n,), (n, 3), (1, 2)]))}
    if form == "none":
        parts |= {"constant": draw(st.sampled_from([(), (1, 2)]))}
    if form != "none":
        parts |= {"off": draw(rows), "on": draw(rows)}
    kept = [name for name in parts if draw(st.booleans())]
    values = {"anchors": st.integers(0, 1), "by_cardinality": POSITIVE}
    dtypes = {"anchors": np.int8}
    if form in ("root", "none"):
        values |= dict.fromkeys(("constant", "off", "on", "pairwise"), POSITIVE)
    drawn = {
        name: draw(
            arrays(dtypes.get(name, np.float64), parts[name], elements=values.get(name, EIGHTHS))
        )
        for name in kept
    }
    if "anchors" in drawn:
        drawn["per_distance"] = draw(POSITIVE)
    if "pairwise" in drawn and drawn["pairwise"].ndim == 3 and draw(st.booleans()):
        drawn["pairwise"] = list(drawn["pairwise"])
    return Costs(**drawn), form, n, q


def transcription(costs, form, i, t):
    """Return the score of one labelset of object i, number by number."""

    def row(part, n_terms=1):
        if part is None:
            return [0.0] * n_terms
        part = np.asarray(part, dtype=float)
        part = part.reshape(-1, 1) if n_terms == 1 and part.ndim < 2 else np.atleast_2d(part)
        return part[0 if len(part) == 1 else i].tolist()

    q = len(t)
    off, on = row(costs.off, max(q, 2)), row(costs.on, max(q, 2))
    of_labels = [on[j] if t[j] else off[j] for j in range(q)]
    inside = max(of_labels) if form == "maximum" else sum(row(costs.constant)) + sum(of_labels)
    if costs.pairwise is not None:
        pairs = np.asarray(costs.pairwise)
        pairs = pairs if pairs.ndim == 2 else pairs[i]
        inside += sum(pairs[j, r] for r in range(q) for j in range(r) if t[j] and t[r])
    score = math.sqrt(inside) if form == "root" else inside
    if costs.by_cardinality is not None:
        score += costs.by_cardinality[sum(t)]
    if costs.anchors is not None:
        score += costs.per_distance * min(
            sum(a != b for a, b in zip(t, u, strict=True)) for u in costs.anchors
        )
    return score


@given(some_costs())
def test_energy_equals_formula(case):
    costs, form, n, q = case
    exponent = choose_exponent(BOUND, root=form == "root")
    energy = costs.energy((n, q), exponent, form=form, bound=BOUND)
    assert (energy.n_objects, energy.n_labels) == (n, q)
    for t in decode(np.arange(2**q), q):
        scores = energy.scores(np.tile(t, (n, 1))) * 2.0**-exponent
        expected = [transcription(costs, form, i, t.tolist()) for i in range(n)]
        if form == "root":
            np.testing.assert_allclose(scores, expected, rtol=0, atol=2.0 ** (1 - exponent))
        else:
            assert scores.tolist() == expected


def test_numbers_are_rounded_one_by_one():
    third = np.full((1, 3), 1 / 3)
    energy = Costs(off=third, on=2 * third, constant=third).energy(
        (1, 3), 20, form="sum", bound=4.0
    )
    unit = round(2**20 / 3)
    assert energy.constant.tolist() == [6 * unit]
    assert energy.unary.tolist() == [[round(2**21 / 3) - unit] * 3]


def test_own_scores_of_all_objects_are_discounts_and_never_above_the_rest():
    seen = OwnScores(np.array([[1, 0], [1, 1]]), np.array([0.5, 9.0]))
    energy = Costs(on=np.array([1.0, 2.0]), constant=1.0, overrides=seen).energy(
        (3, 2), 20, form="sum", bound=10.0
    )
    assert energy.overrides is None
    for t, score in (([1, 0], 0.5), ([1, 1], 4.0), ([0, 1], 3.0)):
        assert (energy.scores([t] * 3) * 2.0**-20).tolist() == [score] * 3


@pytest.mark.parametrize("block", [1, 2, 100])
def test_own_scores_of_objects_are_overrides_and_may_be_functions_of_the_rest(block, monkeypatch):
    monkeypatch.setattr(_costs, "BLOCK_ROWS", block)
    labelsets, sizes = np.array([[1, 0], [0, 0], [1, 0]]), np.array([2, 0, 1])
    costs = {"on": np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]])}
    given_scores = OwnScores(labelsets, np.array([9.0, 8.0, -7.0]), sizes)
    energy = Costs(**costs, overrides=given_scores).energy((3, 2), 20, form="sum", bound=10.0)
    assert (energy.scores([[1, 0]] * 3) * 2.0**-20).tolist() == [9.0, 1.0, -7.0]
    assert (energy.scores([[0, 0]] * 3) * 2.0**-20).tolist() == [8.0, 0.0, 0.0]
    halves = OwnScores(labelsets, lambda general: general / 2, sizes)
    energy = Costs(**costs, overrides=halves).energy((3, 2), 20, form="sum", bound=10.0)
    assert (energy.scores([[1, 0]] * 3) * 2.0**-20).tolist() == [0.5, 1.0, 1.5]


SQUARE = np.ones((2, 2))


@pytest.mark.parametrize(
    ("parts", "form", "message"),
    [
        ({"off": np.ones((2, 3))}, "sum", r"off must have shape \(2, 2\) or \(2,\), got \(2, 3\)"),
        ({"on": np.ones((3, 2))}, "sum", "one row for each of 2 objects, or one for all, got 3"),
        ({"constant": np.ones(5)}, "sum", "one row for each of 2 objects, or one for all, got 5"),
        ({"on": SQUARE}, "none", 'whose form is "none" has no costs of labels'),
        (
            {"pairwise": SQUARE},
            "maximum",
            'whose form is "maximum" has costs of single labels only',
        ),
        (
            {"on": np.full(2, 6.0)},
            "sum",
            "costs of a measure reach 12, more than the 10 that its _learn returned",
        ),
        ({"on": np.full(2, 60.0)}, "root", "reach 10.9545, more than the 10 that"),
        ({"by_cardinality": np.full(3, 11.0)}, "none", "reach 11, more than the 10 that"),
        ({"on": np.array([np.nan, 0.0])}, "sum", "reach nan, more than"),
        ({"by_cardinality": np.array([0, -1.0, 0])}, "none", "by_cardinality must not be negative"),
        (
            {"pairwise": [SQUARE, SQUARE * np.nan]},
            "sum",
            "must be finite numbers, got NaN or infinity",
        ),
        (
            {"overrides": OwnScores(SQUARE, np.array([0.0, np.inf]))},
            "none",
            "must be finite numbers",
        ),
        ({"constant": np.ones(2)}, "none", 'whose form is "none" costs the same for all objects'),
        (
            {"overrides": OwnScores(SQUARE, np.zeros(2), np.array([1, 2]))},
            "none",
            r"of the 2 labelsets are its own, got .* sum 3",
        ),
        (
            {"overrides": OwnScores(SQUARE, np.zeros(2), np.array([2]))},
            "none",
            r"for each of 2 objects .* shape \(1,\)",
        ),
        (
            {"overrides": OwnScores(SQUARE, np.zeros(3), np.array([1, 1]))},
            "none",
            "one score for each of 2 labelsets",
        ),
        (
            {"overrides": OwnScores(SQUARE, np.full(2, 11.0), np.array([1, 1]))},
            "none",
            "none larger than the 10 that",
        ),
        (
            {"on": SQUARE, "overrides": OwnScores(SQUARE, np.zeros(2))},
            "sum",
            "the same for all objects: give one row",
        ),
    ],
)
def test_costs_that_make_no_sense_are_refused(parts, form, message):
    with pytest.raises(ValueError, match=message):
        Costs(**parts).energy((2, 2), 20, form=form, bound=10.0)


@given(st.floats(1e-3, 2000))
def test_root_leaves_room_for_the_sum_below_it(largest):
    exponent = choose_exponent(largest, root=True)
    energy = Costs(on=np.array([largest**2])).energy((1, 1), exponent, form="root", bound=largest)
    assert 0 <= energy.link.shift <= 12
    assert energy.unary[0, 0] < 2**50
    assert energy.scores([[1]])[0] * 2.0**-exponent == pytest.approx(
        largest, abs=2.0 ** (2 - exponent)
    )


@pytest.mark.parametrize("largest", [2100.0, 1e9, math.inf, math.nan])
def test_root_of_sums_too_large_is_refused(largest):
    with pytest.raises(
        ValueError, match=r"keep scores below 2.04e\+03; for a distance .* normalised=True"
    ):
        choose_exponent(largest, root=True)


LIMIT = 2.0 ** (SCORE_BITS - COARSEST_EXPONENT)


@given(st.floats(0, LIMIT, exclude_max=True))
@example(2.0**10)
@example(2.0**10 - 2.0**-40)
@example(math.nextafter(LIMIT, 0))
def test_choose_exponent_keeps_scores_below_their_limit_and_as_fine_as_possible(largest):
    exponent = choose_exponent(largest)
    assert COARSEST_EXPONENT <= exponent <= FINEST_EXPONENT
    assert math.ldexp(largest, exponent) < 2**SCORE_BITS
    if exponent < FINEST_EXPONENT:
        assert math.ldexp(largest, exponent + 1) >= 2**SCORE_BITS


@pytest.mark.parametrize("largest", [LIMIT, 2 * LIMIT, 1e300, math.inf, math.nan])
def test_choose_exponent_refuses_scores_too_large(largest):
    with pytest.raises(
        ValueError, match=r"Scores may be as large as .* Choose weights .* below 1\.07e\+09"
    ):
        choose_exponent(largest)


@given(st.lists(st.floats(-100, 100), max_size=6), st.integers(COARSEST_EXPONENT, FINEST_EXPONENT))
def test_to_fixed_point_rounds_to_the_nearest_unit(costs, exponent):
    fixed = to_fixed_point(np.array(costs, dtype=np.float64), exponent)
    assert fixed.dtype == np.int64
    for cost, integer in zip(costs, fixed.tolist(), strict=True):
        assert abs(math.ldexp(cost, exponent) - integer) <= 0.5


@given(st.integers(-(2**49), 2**49), st.integers(COARSEST_EXPONENT, FINEST_EXPONENT))
def test_to_fixed_point_is_exact_for_whole_numbers_of_units(units, exponent):
    assert to_fixed_point(np.array([math.ldexp(units, -exponent)]), exponent).tolist() == [units]

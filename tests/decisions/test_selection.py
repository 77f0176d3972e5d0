"""Conformal selection on arrays: against its definition written out, in words, and at the door."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsure import select_objects

SURENESS = st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 0.75, 1.0, np.inf])
ALPHAS = st.integers(1, 19).map(lambda k: k / 20)


@st.composite
def cases(draw):
    n, m = draw(st.integers(1, 30)), draw(st.integers(1, 15))
    held_out = draw(st.lists(SURENESS, min_size=n, max_size=n))
    right = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return held_out, right, draw(st.lists(SURENESS, min_size=m, max_size=m))


def p_values_by_hand(held_out, right, new):
    wrong = [s for s, correct in zip(held_out, right, strict=True) if not correct]
    return [Fraction(1 + sum(s >= one for s in wrong), len(held_out) + 1) for one in new]


def benjamini_hochberg(p_values, alpha):
    """The largest set of lowest p-values, all at most alpha times its size / their number."""
    for size in range(len(p_values), 0, -1):
        accepted = [p <= alpha * size / len(p_values) for p in p_values]
        if sum(accepted) >= size:
            return accepted
    return [False] * len(p_values)


@given(cases(), ALPHAS)
def test_selection_of_a_batch_is_its_definition(case, alpha):
    selection = select_objects(*case, alpha=alpha)
    p_values = p_values_by_hand(*case)
    assert selection.p_values.tolist() == [float(p) for p in p_values]
    assert selection.accepted.tolist() == benjamini_hochberg(p_values, Fraction(str(alpha)))
    above = np.array(case[2]) >= selection.threshold
    assert selection.accepted.tolist() == (
        above.tolist() if selection.accepted.any() else [False] * len(case[2])
    )


@given(cases(), ALPHAS)
def test_selection_one_by_one_compares_with_alpha(case, alpha):
    selection = select_objects(*case, alpha=alpha, batch=False)
    assert selection.accepted.tolist() == [
        p <= Fraction(str(alpha)) for p in p_values_by_hand(*case)
    ]


@given(cases(), ALPHAS, st.integers(0, 2**32 - 1))
def test_ties_broken_at_random_lower_p_values_within_bounds(case, alpha, seed):
    held_out, right, new = case
    plain = select_objects(*case, alpha=alpha)
    random = select_objects(*case, alpha=alpha, random_ties=True, random_state=seed)
    wrong = [s for s, correct in zip(held_out, right, strict=True) if not correct]
    strictly_surer = np.array([1 + sum(s > one for s in wrong) for one in new]) / (
        len(held_out) + 1
    )
    assert (random.p_values <= plain.p_values).all()
    assert (random.p_values >= strictly_surer).all()
    assert random.accepted.sum() >= plain.accepted.sum()


def test_statement_of_a_batch_speaks_of_the_accepted_ones():
    statement = select_objects(
        [0.1] * 5 + [0.9] * 95, [False] * 5 + [True] * 95, [0.5, 0.6, 0.05]
    ).statement
    assert statement.startswith("2 of 3 objects accepted.")
    assert "among the accepted ones is at most 0.05" in statement
    assert "100 of them held out, 5 of these with a wrong prediction" in statement
    assert "Jin, Candes 2023" in statement
    one_by_one = select_objects([0.1, 0.9] * 50, [False, True] * 50, [0.95, 0.1], batch=False)
    assert "wrong prediction and is accepted is at most 0.05" in one_by_one.statement
    assert "share of all objects" in one_by_one.statement


def test_number_of_examples_said_to_be_needed_is_enough():
    """One new object in ten is surer than all wrong examples: 199 are needed, at alpha = 0.05."""
    new = [1.0] + [0.0] * 9
    selection = select_objects([1.0] * 10 + [0.0] * 30, [True] * 10 + [False] * 30, new)
    assert "With about 199 held-out examples" in selection.statement
    for n, accepted in ((199, 1), (198, 0)):
        assert select_objects([0.0] * n, [False] * n, new).accepted.sum() == accepted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [1.0]), "sureness must have shape .* at least one object, got shape"),
        (([1.0], [True], []), "new_sureness must have shape .* at least one object"),
        (([[1.0]], [True], [1.0]), r"sureness must have shape \(n_objects,\)"),
        (([np.nan], [True], [1.0]), "sureness must be numbers, got nan at position 0"),
        (([1.0], [True], [1.0, np.nan]), "new_sureness must be numbers, got nan at position 1"),
        ((["high"], [True], [1.0]), "sureness must be a dense array of numbers"),
        (([1.0, 2.0], [True], [1.0]), "sureness and right must have the same number of rows, got"),
        (([1.0], [2], [1.0]), "right must hold True or False for each held-out example, got 2"),
        (([1.0], [np.nan], [1.0]), "right must hold True or False for each held-out example, got"),
        (([1.0], [[True]], [1.0]), "right must hold True or False for each held-out example, got"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        select_objects(*arguments)


@st.composite
def bags(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    examples = st.tuples(st.integers(0, 4), st.booleans())
    return n, draw(st.lists(examples, min_size=n + m, max_size=n + m))


def false_share(selection, right_of_new):
    n_accepted = int(selection.accepted.sum())
    return Fraction(int((selection.accepted & ~right_of_new).sum()), max(n_accepted, 1))


def splits_of(bag):
    n, examples = bag
    sureness, right = (np.array(column) for column in zip(*examples, strict=True))
    for held_out in combinations(range(len(examples)), n):
        new = np.setdiff1d(np.arange(len(examples)), held_out)
        yield sureness[list(held_out)], right[list(held_out)], sureness[new], right[new]


@settings(max_examples=60, deadline=None)
@given(bags(), st.integers(2, 18).map(lambda k: k / 20))
def test_expected_false_share_in_any_bag_is_at_most_alpha(bag, alpha):
    shares = [
        false_share(select_objects(*split[:3], alpha=alpha), split[3].astype(bool))
        for split in splits_of(bag)
    ]
    assert sum(shares) <= Fraction(str(alpha)) * len(shares)


@settings(max_examples=60, deadline=None)
@given(bags(), st.integers(2, 18).map(lambda k: k / 20))
def test_objects_taken_one_by_one_are_rarely_wrong_and_accepted(bag, alpha):
    n_faults = n_objects = 0
    for held_out, right, new, right_of_new in splits_of(bag):
        accepted = select_objects(held_out, right, new, alpha=alpha, batch=False).accepted
        n_faults += int((accepted & ~right_of_new.astype(bool)).sum())
        n_objects += len(new)
    assert n_faults <= Fraction(str(alpha)) * n_objects

"""At most h wrong labels: joint scores by definition, for every labelset, with many ties."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure._random import DRAW_UNIT
from labelsure.predictions._label_wise import JointScores

UNIT = 4
SCORES = st.integers(0, UNIT)
LEVELS = st.integers(1, 19).map(lambda k: Fraction(k, 20))


@st.composite
def joint_scores(draw, most_folds=4):
    """Scores from 0 to 4, so that nearly all are tied, in one fold or several, smoothed or not."""
    k, n, q = draw(st.integers(1, most_folds)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    examples = [
        draw(arrays(np.int64, (draw(st.integers(1, 6)), q), elements=SCORES)) for _ in range(k)
    ]
    draws = draw(st.none() | arrays(np.int64, n, elements=st.integers(1, DRAW_UNIT)))
    off = draw(arrays(np.int64, (k, n, q), elements=SCORES))
    return JointScores(off, UNIT, [-np.sort(-scores, axis=1) for scores in examples], draws)


def score(off, labelset, h):
    """The (h + 1)-th largest |c_j - o_j|."""
    return sorted((UNIT - o if c else o for o, c in zip(off, labelset, strict=True)), reverse=True)[
        h
    ]


def p_value(joint, i, labelset, h):
    """The p-value of the labelset by definition, counts added up over the folds."""
    u = Fraction(1) if joint.draws is None else Fraction(int(joint.draws[i]), DRAW_UNIT)
    total, n_examples = u, 0
    for off, examples in zip(joint.off[:, i].tolist(), joint.examples, strict=True):
        own = score(off, labelset, h)
        of_examples = [sorted(row, reverse=True)[h] for row in examples.tolist()]
        total += sum(other > own for other in of_examples) + u * sum(
            other == own for other in of_examples
        )
        n_examples += len(examples)
    return total / (n_examples + 1)


def p_value_of_values(joint, i, labelset, h):
    """The p-value that the numerators of the labels' values give: the (h + 1)-th smallest."""
    numerators = joint.numerators(h)[i]
    own = sorted(int(numerators[j, c]) for j, c in enumerate(labelset))[h]
    return Fraction(own, joint.denominator)


def questions(joint):
    _, n, q = joint.off.shape
    return product(range(n), product((0, 1), repeat=q), range(q))


@given(joint_scores(most_folds=1))
def test_one_fold_gives_the_p_values_of_the_definition(joint):
    for i, labelset, h in questions(joint):
        assert p_value_of_values(joint, i, labelset, h) == p_value(joint, i, labelset, h)


@given(joint_scores())
def test_folds_never_rule_out_what_cross_conformal_p_values_keep(joint):
    """The proof for cross-conformal p-values then covers the event of more than h wrong labels."""
    for i, labelset, h in questions(joint):
        assert p_value_of_values(joint, i, labelset, h) >= p_value(joint, i, labelset, h)


def counts_of_folds(joint, i, h):
    """g_k(j, c) of each fold, as fractions, by label and value."""
    u = Fraction(1) if joint.draws is None else Fraction(int(joint.draws[i]), DRAW_UNIT)
    q = joint.off.shape[2]
    counts = {}
    for j, c in product(range(q), (0, 1)):
        counts[j, c] = []
        for off, examples in zip(joint.off[:, i], joint.examples, strict=True):
            own = UNIT - off[j] if c else off[j]
            counts[j, c].append(
                sum(other > own for other in examples[:, h]) + u * sum(examples[:, h] == own)
            )
    return counts, u


@given(joint_scores())
def test_values_are_ruled_out_together_with_all_that_count_less(joint):
    """The rule for folds: the sum of largest counts over values up to this one (h = 0: only it)."""
    _, n, q = joint.off.shape
    for i, h in product(range(n), range(q)):
        counts, u = counts_of_folds(joint, i, h)
        order = sorted(counts, key=lambda value: sum(counts[value]))
        numerators = joint.numerators(h)[i]
        for place, value in enumerate(order):
            before = order[: place + 1] if h else [value]
            expected = u + sum(
                max(counts[other][k] for other in before) for k in range(len(joint.off))
            )
            assert (
                Fraction(int(numerators[value]), 1 if joint.draws is None else DRAW_UNIT)
                == expected
            )


def test_sums_of_single_labels_would_not_do_for_folds():
    """Why values are excluded jointly: three folds, each right about another label.

    With at most 2 of 3 labels wrong a labelset is as strange as its most ordinary label. In each
    fold one label fits perfectly, so the labelset is as ordinary as can be; but every label by
    itself is beyond all calibration scores in two folds of three.
    """
    off = np.array([[[0, 3, 3]], [[3, 0, 3]], [[3, 3, 0]]])
    joint = JointScores(off, UNIT, [np.full((9, 3), 2)] * 3, None)
    assert p_value(joint, 0, (0, 0, 0), 2) == 1
    assert p_value_of_values(joint, 0, (0, 0, 0), 2) == 1
    alone = [Fraction(1 + sum(9 for k in range(3) if off[k, 0, j] <= 2), 28) for j in range(3)]
    assert max(alone) < Fraction(1, 2)


@given(joint_scores(), LEVELS)
def test_more_than_h_labels_are_ruled_out_where_the_p_value_is_at_most_the_level(joint, level):
    smallest = level * joint.denominator
    for i, labelset, h in questions(joint):
        numerators = [int(joint.numerators(h)[i, j, c]) for j, c in enumerate(labelset)]
        out = [j for j, numerator in enumerate(numerators) if numerator <= smallest]
        assert (len(out) > h) == (p_value_of_values(joint, i, labelset, h) <= level)

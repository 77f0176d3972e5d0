"""Hypothesis strategies for inequalities over labels, and what they mean."""

import numpy as np
from hypothesis import strategies as st

from labelsure.engine._rules import Inequality
from labelsure.measures._labelset_bits import decode


@st.composite
def inequalities(draw, n_labels):
    labels = draw(st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True))
    n_plus = draw(st.integers(0, len(labels)))
    return Inequality(
        frozenset(labels[:n_plus]), frozenset(labels[n_plus:]), draw(st.integers(-3, 3))
    )


@st.composite
def problems(draw):
    n_labels = draw(st.integers(1, 7))
    return n_labels, draw(st.lists(inequalities(n_labels), max_size=6))


def holds(one, labelset):
    """The definition of an inequality."""
    return sum(labelset[j] for j in one.plus) - sum(labelset[j] for j in one.minus) <= one.most


def solutions(n_labels, given_ones):
    everyone = decode(np.arange(2**n_labels), n_labels).tolist()
    return [labelset for labelset in everyone if all(holds(one, labelset) for one in given_ones)]

"""Training labels and labelsets to try penalties with."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

WEIGHTS = st.sampled_from([0, 1e-9, 1, 2.0, 1000]) | st.floats(0, 100)


@st.composite
def training_and_labelsets(draw, max_labels=6):
    """A few training labelsets, often the same ones, and labelsets among and beside them."""
    n_labels = draw(st.integers(1, max_labels))
    labels = arrays(np.int8, (draw(st.integers(1, 4)), n_labels), elements=st.integers(0, 1))
    few = draw(labels)
    training = few[draw(st.lists(st.integers(0, len(few) - 1), min_size=1, max_size=12))]
    return training, np.vstack([few, draw(labels)])


def scores_of(measure, labelsets):
    """Return the scores of labelsets as floats; whatever the outputs."""
    energy = measure.energy(np.full(labelsets.shape, 0.5))
    return energy.scores(labelsets) * 2.0**-measure.exponent_

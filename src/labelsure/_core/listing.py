"""Scores of all labelsets, one by one: what is left where scores are no sum over labels."""

from itertools import product

import numpy as np

from labelsure._core.types import LabelMatrix

MAX_LISTED_LABELS = 12
"""With 12 labels an object's list takes 80 KiB in every fold; each label more doubles it."""

MAX_LIST_BYTES = 2**29
"""The lists of the objects scored at a time may take so much memory in a fold; sorting them takes a few times more."""


def list_labelsets(n_labels: int) -> LabelMatrix:
    """Return all labelsets of a few labels.

    Examples
    --------
    >>> list_labelsets(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.array(list(product((0, 1), repeat=n_labels)), dtype=np.int8)


def check_listed_labels(what: str, n_labels: int) -> None:
    """Raise ValueError where there are too many labelsets to score every one; ``what`` would have to."""
    if n_labels > MAX_LISTED_LABELS:
        raise ValueError(
            f"{what} scores every labelset one by one, which is possible for up to {MAX_LISTED_LABELS} labels"
            f" ({_list_bytes(MAX_LISTED_LABELS) / 2**10:.0f} KiB per object and fold), got {n_labels} labels"
            f" (2^{n_labels} labelsets). Choose a measure that adds up over labels, such as PowerMeasure()."
        )


def check_list_memory(n_objects: int, n_labels: int) -> None:
    """Raise ValueError where the lists of this many objects would take too much memory."""
    at_a_time = MAX_LIST_BYTES // _list_bytes(n_labels)
    if n_objects > at_a_time:
        raise ValueError(
            f"Scoring all 2^{n_labels} labelsets of {n_objects} objects one by one would take"
            f" {n_objects * _list_bytes(n_labels) / 2**20:.0f} MiB in every fold, more than the"
            f" {MAX_LIST_BYTES // 2**20} MiB allowed. Pass at most {at_a_time} objects at a time, or choose a measure"
            " that adds up over labels, such as PowerMeasure()."
        )


def _list_bytes(n_labels: int) -> int:
    """Return what one object's labelsets with their scores take."""
    return int(2**n_labels) * (n_labels + 8)

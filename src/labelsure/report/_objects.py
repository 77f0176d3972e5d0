"""What the page knows of each object: small whole numbers that say at which levels something is in its region."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.predictions import RankedLabelsets
from labelsure.report._levels import Levels, Snapshot
from labelsure.report._payload import split_bytes
from labelsure.report._subject import Subject

N_TOP = 3
"""Labelsets shown of each object."""
MOST_CELLS, MOST_OBJECTS = 100_000, 10_000
"""Objects times labels, and objects, in the browser; of more every second one is there, every third, ..."""
SHADES = 10_000
"""P-values are shown in units of 1 / SHADES; what is a member is told by the codes."""


@dataclass(eq=False)
class Objects:
    """What is known of the objects in the browser; codes are filled level by level.

    A code says at which of the levels something is a member. For nested regions it is the number of
    levels at which it is not, so that it is a member from level number ``code`` on; for others bit
    i is set where it is at level i.

    Attributes
    ----------
    chosen : int array of shape (m,)
        The objects in the browser.
    labels, truth, top : arrays of codes of shape (m, q, 2), (m,) and (m, k)
        Of each label being off and on, of the true labelset, of the most plausible ones.
    sizes : array of shape (n_levels, m)
        The number of labelsets in each region.
    best : RankedLabelsets
        The most plausible labelsets of all objects, whether in the browser or not.
    """

    chosen: IntArray
    nested: bool
    labels: Any
    truth: Any
    top: Any
    sizes: Any
    best: RankedLabelsets

    @classmethod
    def of(cls, subject: Subject, levels: Levels) -> "Objects":
        """Return what is known of the objects at no level yet."""
        n_labels, n_levels = len(subject.label_names), len(levels)
        step = max(ceil(len(subject) * n_labels / MOST_CELLS), ceil(len(subject) / MOST_OBJECTS))
        chosen = np.arange(0, len(subject), step)
        kind = np.uint8 if levels.nested else np.uint16
        return cls(
            chosen,
            levels.nested,
            np.zeros((len(chosen), n_labels, 2), dtype=kind),
            np.zeros(len(chosen), dtype=kind),
            np.zeros((len(chosen), N_TOP), dtype=kind),
            np.zeros(
                (n_levels, len(chosen)), dtype=np.int64 if levels.sizes == "table" else np.float64
            ),
            subject.predictions.top(N_TOP),
        )

    def add(self, place: int, snapshot: Snapshot) -> None:
        """Note what is a member at one level."""
        self._note(self.labels, snapshot.possible[self.chosen], place)
        self._note(self.top, snapshot.top[self.chosen], place)
        if snapshot.covered is not None:
            self._note(self.truth, snapshot.covered[self.chosen], place)
        self.sizes[place] = snapshot.sizes[self.chosen]

    def _note(self, codes: Any, members: BoolArray, place: int) -> None:
        if self.nested:
            codes += ~members
        else:
            codes |= members.astype(np.uint16) << np.uint16(place)

    def arrays(self, labels: LabelMatrix | None, answers: LabelMatrix) -> dict[str, Any]:
        """Return what travels to the page, objects last, which deflates best."""
        whole = self.sizes.dtype == np.int64
        packed = {
            "labelCodes": self.labels.transpose(1, 2, 0),
            "topCodes": self.top.T,
            "topLabelsets": pack_labelsets(self.best.labelsets[self.chosen].transpose(1, 0, 2)),
            "predicted": pack_labelsets(answers[self.chosen][None]),
            "topPValues": in_shades(self.best.p_values[self.chosen].T),
            # at each level by how much they grew since the level before
            "sizes": split_bytes(np.diff(self.sizes, axis=0, prepend=0)) if whole else self.sizes,
        }
        if labels is not None:
            packed |= {"truthCodes": self.truth, "truth": pack_labelsets(labels[self.chosen][None])}
        return packed


def in_shades(p_values: FloatArray) -> np.ndarray[Any, Any]:
    """Return p-values as whole numbers, to be shown.

    Examples
    --------
    >>> in_shades(np.array([0.05, 1.0])).tolist()
    [500, 10000]
    """
    return np.round(p_values * SHADES).astype("<u2")


def pack_labelsets(labelsets: LabelMatrix) -> np.ndarray[Any, Any]:
    """Return labelsets of shape (k, n, q) as bits of bytes, shape (k, bytes per labelset, n), label 0 the lowest bit.

    Examples
    --------
    >>> pack_labelsets(np.array([[[1, 0, 1]]])).tolist()
    [[[5]]]
    """
    return np.packbits(labelsets.astype(np.uint8), axis=2, bitorder="little").transpose(0, 2, 1)

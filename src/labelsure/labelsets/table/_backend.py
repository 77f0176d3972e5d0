"""The seam for tables: what a back end must answer about a block of objects, and one that works in numpy on rows."""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays import Counts


class TableBackend(Protocol):
    """What is asked of all 2^q labelsets of a block of objects.

    Codes of labelsets that are no candidates have the numerator 0. A back end on another device keeps its rows there
    and hands over reductions only.
    """

    n_objects: int
    n_labels: int
    first_code: int
    """The lowest code of a candidate: 0, or 1 where the empty labelset is none."""

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""

    def sizes(self, objects: IntArray, smallest: IntArray) -> IntArray:
        """Return how many numerators of each object are at least its smallest."""

    def members(self, i: int, smallest: int) -> tuple[IntArray, Counts]:
        """Return the codes of one object with a numerator of at least ``smallest``, and these."""

    def best(self, objects: IntArray, n_best: int) -> list[tuple[IntArray, Counts]]:
        """Return each object's codes with the ``n_best`` highest numerators and all that tie with the last of them."""

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""

    def label_masses(self, objects: IntArray, empty: IntArray | None) -> FloatArray:
        """Return the share of all numerators on codes with each label, (n, q); the empty code's may be replaced."""


class RowTable(ABC):
    """A back end that makes rows of numerators in memory, and reduces them row by row."""

    n_objects: int
    n_labels: int
    first_code: int

    @abstractmethod
    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""

    def sizes(self, objects: IntArray, smallest: IntArray) -> IntArray:
        """Return how many numerators of each object are at least its smallest."""
        rows = self.numerators(objects)[:, self.first_code :]
        return np.array([np.count_nonzero(row >= least) for row, least in zip(rows, smallest, strict=True)])

    def members(self, i: int, smallest: int) -> tuple[IntArray, Counts]:
        """Return the codes of one object with a numerator of at least ``smallest``, and these."""
        row = self.numerators(np.array([i]))[0, self.first_code :]
        places = np.flatnonzero(row >= smallest)
        return places + self.first_code, row[places]

    def best(self, objects: IntArray, n_best: int) -> list[tuple[IntArray, Counts]]:
        """Return each object's codes with the ``n_best`` highest numerators and all that tie with the last of them."""
        n_best = min(n_best, 2**self.n_labels - self.first_code)
        found = []
        for row in self.numerators(objects)[:, self.first_code :]:
            if n_best <= 2:  # a few passes over the row; partitioning it takes ten times as long
                threshold = row.max()
                if n_best == 2 and np.count_nonzero(row == threshold) < 2:
                    threshold = row[row < threshold].max()
            else:
                threshold = np.partition(row, len(row) - n_best)[-n_best]
            places = np.flatnonzero(row >= threshold)
            found.append((places + self.first_code, row[places]))
        return found

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        maxima = np.empty((len(objects), self.n_labels, 2), dtype=np.int64)
        for own, row in zip(maxima, self.numerators(objects), strict=True):
            for j in range(self.n_labels):
                half = row.reshape(-1, 2, 2**j)
                own[j] = half[:, 0].max(), half[:, 1].max()
        return maxima

    def label_masses(self, objects: IntArray, empty: IntArray | None) -> FloatArray:
        """Return the share of all numerators on codes with each label, (n, q); the empty code's may be replaced."""
        rows = self.numerators(objects)
        if empty is not None:
            rows[:, 0] = empty[objects]
        masses = np.empty((len(objects), self.n_labels))
        for own, row in zip(masses, rows, strict=True):
            total = row.sum(dtype=np.float64)  # 2^24 smoothed numerators of 2^42 are beyond int64
            for j in range(self.n_labels):
                own[j] = row.reshape(-1, 2, 2**j)[:, 1].sum(dtype=np.float64) / total
        return masses

"""Energies of objects with very many labels, almost all of which have the same default output."""

from collections.abc import Callable
from dataclasses import dataclass

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Discounts
from labelsure._core.types import IntArray


@dataclass(frozen=True, eq=False)
class SparseEnergy:
    """The scores of labelsets of objects that have outputs of their own for few labels.

    Attributes
    ----------
    unary : int64 array of shape (q,) or (1,)
        What switching a label with the default output on adds at least; one number where all labels are alike.
    discounts : Discounts or None
        What some labelsets are spared, the same for all objects.
    energy_of : callable
        Returns the energy of an object over some labels, the others being off, discounts left out. It takes the
        object's number and those of the labels, ascending, all that have an output of its own among them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelsure._core.sparse_outputs import SparseOutputs
    >>> from labelsure.measures import PowerMeasure
    >>> outputs = SparseOutputs(sparse.csr_array([[0, 0, 0.75]]), 0.25, n_labels=3)
    >>> energy = PowerMeasure(d=1).fit([[1, 0, 0]]).sparse_energy(outputs)
    >>> float(energy.unary[0] / 2**40)  # 0.75 - 0.25
    0.5
    >>> float(energy.energy_of(0, np.array([2])).constant[0] / 2**40)  # 0.25 + 0.25 + 0.75
    1.25
    """

    unary: IntArray
    discounts: Discounts | None
    energy_of: Callable[[int, IntArray], Energy]

    def __add__(self, other: "SparseEnergy") -> "SparseEnergy":
        """Return the energies whose scores are the sums of both."""
        lists = [part.discounts for part in (self, other) if part.discounts is not None]
        return SparseEnergy(
            self.unary + other.unary,
            lists[0] + lists[1] if len(lists) == 2 else lists[0] if lists else None,
            lambda i, labels: self.energy_of(i, labels) + other.energy_of(i, labels),
        )

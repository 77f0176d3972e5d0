"""Energies of objects with very many labels, almost all of which have the same default output."""

from collections.abc import Callable
from dataclasses import dataclass

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Discounts
from labelsure._core.types import FloatArray, IntArray


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
        Returns the energy of an object over some labels, discounts left out: its outputs for them, (1, u), and their
        numbers, ascending, all those with an output of its own among them. All others are off.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> energy = PowerMeasure(d=1).fit([[1, 0, 0]]).sparse_energy(0.25)
    >>> float(energy.unary[0] / 2**40)  # 0.75 - 0.25
    0.5
    """

    unary: IntArray
    discounts: Discounts | None
    energy_of: Callable[[FloatArray, IntArray], Energy]

    def __add__(self, other: "SparseEnergy") -> "SparseEnergy":
        """Return the energies whose scores are the sums of both."""
        lists = [part.discounts for part in (self, other) if part.discounts is not None]
        return SparseEnergy(
            self.unary + other.unary,
            lists[0] + lists[1] if len(lists) == 2 else lists[0] if lists else None,
            lambda outputs, labels: self.energy_of(outputs, labels) + other.energy_of(outputs, labels),
        )

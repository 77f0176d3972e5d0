"""What a conformal predictor is to the engine: a list of folds."""

from dataclasses import dataclass

from labelsure._core.calibration import Calibration
from labelsure._core.energy import Energy
from labelsure._core.types import IntArray


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the sorted scores of its calibration part, and the energy of the objects at hand under its model.

    An inductive predictor has one fold, a cross-conformal predictor K of them.
    """

    calibration: Calibration
    energy: Energy

    def take(self, objects: IntArray | slice) -> "Fold":
        """Return the fold for some of the objects."""
        return Fold(self.calibration, self.energy.take(objects))

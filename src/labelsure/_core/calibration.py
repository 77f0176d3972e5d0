"""The calibration scores of one fold."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelsure._core.types import IntArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """The nonconformity scores of the true labelsets of one fold's calibration examples.

    Attributes
    ----------
    scores : int64 array of shape (m,)
        In ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> calibration = Calibration.of(np.array([5, 1, 5, 3]))
    >>> calibration.count_at_least(np.array([0, 5, 6])).tolist()
    [4, 2, 0]
    """

    scores: IntArray

    @classmethod
    def of(cls, scores: IntArray) -> "Calibration":
        """Return the calibration with these scores, in any order."""
        return cls(np.sort(scores))

    def __len__(self) -> int:
        return int(self.scores.shape[0])

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """The distinct scores ascending, and how many scores are at least each of them, with a 0 at the end."""
        values, first = np.unique(self.scores, return_index=True)
        return values, np.append(len(self) - first, 0).astype(np.int64)

    def count_at_least(self, scores: IntArray) -> IntArray:
        """Return, for each given score, how many calibration scores are at least as large."""
        return len(self) - np.searchsorted(self.scores, scores, side="left").astype(np.int64)

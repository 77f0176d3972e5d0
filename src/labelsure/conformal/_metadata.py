"""What comes with the rows of X and y."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_method_params

from labelsure._checks import IntArray, MatrixLike
from labelsure.conformal._splits import Split


@dataclass(frozen=True, eq=False)
class Metadata:
    """What comes with rows beside features and labels, checked.

    Attributes
    ----------
    learner, splitter : mappings
        Parameters of the classifier's ``fit`` and of the splitter's ``split``; values with a row
        per example, or not.
    groups : int64 array of shape (n,) or None
        The number of each example's group.
    """

    learner: Mapping[str, Any] = field(default_factory=dict)
    splitter: Mapping[str, Any] = field(default_factory=dict)
    groups: IntArray | None = None

    def take(self, X: MatrixLike, rows: IntArray) -> "Metadata":
        """Return the metadata of some rows of X, with their groups renumbered from 0."""
        groups = (
            None
            if self.groups is None
            else np.unique(self.groups[rows], return_inverse=True)[1].reshape(-1)
        )
        learner, splitter = (
            _check_method_params(X, params, rows) if params else {}
            for params in (self.learner, self.splitter)
        )
        return Metadata(learner, splitter, groups)

    @property
    def for_splits(self) -> dict[str, Any]:
        """Keywords of :func:`make_splits`."""
        return {"groups": self.groups, "split_params": self.splitter}

    @property
    def sample_weight(self) -> Any:
        """The weights by which a pool learns; None where there are none."""
        return self.learner.get("sample_weight")

    def check_training_parts(self, splits: Sequence[Split]) -> None:
        """Raise ValueError where a model would be trained on examples that all count nothing."""
        if self.sample_weight is None:
            return
        weights = np.asarray(self.sample_weight)
        for k, split in enumerate(splits):
            if not weights[split.train].any():
                raise ValueError(
                    "sample_weight must not be 0 for all training examples of a fold, as of fold"
                    f" {k}."
                )


NO_METADATA = Metadata()

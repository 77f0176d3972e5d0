"""Examples of which some labels are unknown: they train where the learner can, and calibrate what they can.

A labelset predictor counts examples whose whole labelset is known. These are exchangeable with new
ones where whether an example is complete depends neither on its object nor on its labels; otherwise
what is proven holds for new objects of the kind that would be complete. Where it depends on the
object alone, ``weight=`` makes up for it, with one over the probability of being complete. A
label-wise predictor counts, for each label, the examples where that one is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import (
    BoolArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    read_unknown,
    split_unknown,
)
from labelsure.conformal._splits import Split
from labelsure.learners._adapter import learner_of_one_label
from labelsure.learners._tables import resolve_learner
from labelsure.predictions import Guarantee

INCOMPLETE = (
    "{n} more examples have unknown labels and do not calibrate: this holds where whether an"
    " example is complete"
    " depends neither on its object nor on its labels."
)


class Known(NamedTuple):
    """What is known of the labels of all examples.

    Attributes
    ----------
    unknown : bool array of shape (n, q)
        Which entries are not known.
    apart : bool
        Whether the learner learns labels apart, so that incomplete examples can train it.
    """

    unknown: BoolArray
    apart: bool

    @classmethod
    def of(cls, unknown: BoolArray | None, estimator: Any) -> "Known | None":
        """Return what is known, None where everything is."""
        if unknown is None:
            return None
        return cls(unknown, learner_of_one_label(resolve_learner(estimator)) is not None)

    @property
    def complete(self) -> BoolArray:
        """Which examples have no unknown label."""
        complete: BoolArray = np.logical_not(np.any(self.unknown, axis=1))
        return complete

    def check_some_complete(self) -> None:
        """Raise ValueError where no example could calibrate a labelset predictor."""
        if not self.complete.any():
            raise ValueError(
                f"y has unknown labels (NaN) in every one of its {len(self.unknown)} rows: a"
                f" labelset predictor is"
                " calibrated with complete ones. LabelWiseConformalClassifier counts each label's"
                " known ones."
            )

    @property
    def trainable(self) -> BoolArray:
        """Which examples the learner can learn from."""
        return np.ones(len(self.unknown), dtype=bool) if self.apart else self.complete

    def mark(self, Y: LabelMatrix) -> Any:
        """Return labels with NaN where they are unknown, for learners."""
        return np.where(self.unknown, np.nan, Y)

    def trains(self, splits: Sequence[Split]) -> list[Split]:
        """Return the splits with training parts that the learner can learn from."""
        kept = [
            Split(split.train[self.trainable[split.train]], split.calibration) for split in splits
        ]
        if any(len(split.train) == 0 for split in kept):
            raise ValueError(
                "y has unknown labels (NaN) in every training example of a fold, and the"
                " estimator learns all labels"
                " together. Fit one per label: MultiOutputClassifier(...) around it."
            )
        return kept

    def split(self, cv: Any, make: Callable[..., list[Split]], *, whole: bool) -> list[Split]:
        """Return splits whose calibration examples are complete, and from whose training parts the learner can learn.

        Parameters
        ----------
        cv : object
            As the user passed it; None for a part held out.
        make : callable
            From row numbers of examples, or nothing for all of them, to splits.
        whole : bool
            Whether rows belong to groups, which stay whole.
        """
        if (
            cv is None or isinstance(cv, Integral)
        ) and not whole:  # those that cannot calibrate train every model
            rows, rest = np.flatnonzero(self.complete), np.flatnonzero(~self.complete)
            splits = [
                Split(np.sort(np.append(rows[train], rest)), rows[part])
                for train, part in make(rows)
            ]
        else:
            splits = [Split(train, rows[self.complete[rows]]) for train, rows in make()]
            if any(len(split.calibration) == 0 for split in splits):
                raise ValueError(
                    "cv must leave every fold a calibration example without unknown labels (NaN)."
                )
        return self.trains(splits)


class GapsMixin:
    """Reads labels with NaN in them."""

    estimator: Any
    n_incomplete_: int
    _check_fit: Callable[..., tuple[MatrixLike, LabelMatrix]]

    def _read_known(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        label_names: Sequence[str] | None,
        *,
        prefit: bool = False,
    ) -> tuple[MatrixLike, LabelMatrix, Known | None]:
        """Check estimator and training data, with NaN where labels are unknown; they are 0 then."""
        filled, missing = split_unknown(y)
        X, Y = self._check_fit(X, filled, label_names, prefit=prefit)
        return X, Y, Known.of(read_unknown(missing, label_names), self.estimator)

    def _check_known(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        label_names: Sequence[str] | None,
        *,
        prefit: bool = False,
    ) -> tuple[MatrixLike, LabelMatrix, Known | None]:
        """Check the same for a labelset predictor, and learn how many examples are incomplete."""
        X, Y, known = self._read_known(X, y, label_names, prefit=prefit)
        self.n_incomplete_ = 0
        if known is not None:
            known.check_some_complete()
            self.n_incomplete_ = int((~known.complete).sum())
        return X, Y, known


def add_incomplete(guarantee: Guarantee, n_incomplete: int) -> Guarantee:
    """Return a guarantee that says how many examples do not calibrate, and what that takes."""
    if n_incomplete == 0:
        return guarantee
    remark = " ".join(filter(None, [guarantee.remark, INCOMPLETE.format(n=n_incomplete)]))
    return replace(guarantee, remark=remark)

"""The measure that is chosen for the data at hand."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from labelsure._core.energy import Energy
from labelsure._core.randomness import draw_seeds
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import (
    check_count,
    check_label_matrix,
    check_outputs,
    check_same_length,
    check_significance,
)
from labelsure.conformal._candidates import default_candidates
from labelsure.conformal._choice import MeasureChoice
from labelsure.conformal._trial import Trial
from labelsure.measures import Measure

LOGARITHMIC_ABOVE = 20
"""With more labels than this, sizes are compared by their logarithms: a few giants would decide over a mean."""


class AutoMeasure(Measure):
    def __init__(
        self,
        candidates: Sequence[Measure] | None = None,
        *,
        significance: float | Sequence[float] = (0.05, 0.1, 0.2),
        n_folds: int = 5,
        n_objects: int = 200,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.significance = significance
        self.n_folds = n_folds
        self.n_objects = n_objects
        self.random_state = random_state

    @property
    def needs_training_labels(self) -> bool:
        return True

    @property
    def needs_training_outputs(self) -> bool:
        return True

    @property
    def needs_out_of_fold_outputs(self) -> bool:
        return True

    @property
    def needs_features(self) -> bool:
        return hasattr(self, "measure_") and self.measure_.needs_features

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:
        labels = check_label_matrix(Y)
        if outputs is None:
            raise ValueError("outputs")
        outputs = check_outputs(outputs, n_labels=labels.shape[1])
        check_same_length(outputs, labels, names=("outputs", "Y"))
        candidates = self._check_candidates(labels.shape[1])
        trial = self._make_trial(labels, outputs, X)
        self.choice_ = choose(candidates, trial)
        self.measure_ = trial.fit(self.choice_.measure, slice(None))
        self.n_labels_ = self.measure_.n_labels_
        self.bound_ = self.measure_.bound_
        self.exponent_ = self.measure_.exponent_
        return self

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        return self.measure_._energy(outputs, X, exponent)

    def restrict(self, labels: IntArray) -> Self:
        part = copy(self)
        part.measure_ = self.measure_.restrict(labels)
        part.n_labels_ = len(labels)
        return part

    def _check_candidates(self, n_labels: int) -> tuple[Measure, ...]:
        if self.candidates is None:
            return tuple(default_candidates(n_labels))
        return tuple(self.candidates)

    def _make_trial(self, labels: LabelMatrix, outputs: FloatArray, X: MatrixLike) -> Trial:
        from sklearn.model_selection import KFold

        n_folds = check_count(self.n_folds, name="n_folds", at_least=2)
        n_objects = check_count(self.n_objects, name="n_objects", at_least=2)
        (seed,) = draw_seeds(self.random_state, 1) if not isinstance(self.random_state, int) else (self.random_state,)
        folds = list(KFold(min(n_folds, len(labels)), shuffle=True, random_state=seed).split(labels))
        objects = np.zeros(len(labels), dtype=bool)
        objects[check_random_state(seed).permutation(len(labels))[:n_objects]] = True
        levels = [self.significance] if np.isscalar(self.significance) else self.significance
        return Trial(labels, outputs, X, folds, objects, [check_significance(l) for l in levels], seed)


def choose(candidates, trial) -> MeasureChoice:
    logarithmic = trial.labels.shape[1] > LOGARITHMIC_ABOVE
    sizes = np.full((len(candidates), len(trial.levels)), np.nan)
    losses = np.full(len(candidates), np.nan)
    skipped = {}
    for c, candidate in enumerate(candidates):
        try:
            bits = trial.region_bits(candidate)
        except (ValueError, TypeError) as error:
            skipped[c] = str(error)
            continue
        sizes[c] = bits.mean(axis=0) if logarithmic else np.exp2(bits).mean(axis=0)
        losses[c] = (sizes[c] if logarithmic else np.log2(sizes[c])).mean()
    return MeasureChoice(
        tuple(candidates),
        int(np.nanargmin(losses)),
        tuple(float(l) for l in trial.levels),
        sizes,
        losses,
        logarithmic,
        skipped,
        int(trial.objects.sum()),
        len(trial.labels),
    )

"""Stage two, second half: calibrated folds answer for new objects.

However many models there are, and wherever their outputs come from, this is where new objects meet calibration scores:
those of cross-conformal and inductive predictors, of ready-made outputs and of ``labelsure compare``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelsure._core.fixed_point import SCORE_BITS
from labelsure._core.randomness import MERGING, SMOOTHING, UInt64Array, draw_uniforms, join_keys, object_keys
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure.conformal._calibration import CalibratedFold, score_examples
from labelsure.conformal._choices import Choices
from labelsure.conformal._guarantees import GUARANTEES, Merging
from labelsure.conformal._mondrian import category_engine, grouped_engine
from labelsure.conformal._shift import weigh_densities, weights_of
from labelsure.conformal._sparse_outputs import SparseOutputs, compact_engine
from labelsure.conformal._statements import (
    on_average,
    state_inductive,
    state_merged,
    state_weighted,
    state_within_categories,
    without_empty,
)
from labelsure.conformal._taxonomy import Categories, LabelsetTaxonomy
from labelsure.labelsets import Empty, EngineOptions, Fold, LabelsetEngine, make_engine
from labelsure.measures import MeasureChoices, Need
from labelsure.predictions import Guarantee, LabelsetPredictions

STRANGEST = 2**SCORE_BITS
"""Above every score: that of the empty labelset under a measure whose training part has none."""


@dataclass(frozen=True, eq=False)
class Calibrator:
    """Everything that a prediction depends on beside the new objects and their outputs.

    Attributes
    ----------
    folds : tuple of CalibratedFold
        One for an inductive predictor.
    choices : Choices
        How the folds are merged, what their p-values are counted among, whether they are smoothed.
    seed : int
        For draws.
    complementary : bool
        Whether each fold's model was trained on all other examples.
    categories : tuple of arrays, or None
        Per fold, the categories of the calibration examples, where there is a taxonomy.
    weights : array or None
        Of the calibration examples of the only fold, where objects are weighed.
    label_names : tuple of str or None
        The labels' names.
    n_jobs : int or None
        Threads, as in joblib.
    options : EngineOptions or None
        Limits of time and memory of the engine.
    """

    folds: tuple[CalibratedFold, ...]
    choices: Choices
    seed: int
    complementary: bool = False
    categories: tuple[Categories, ...] | None = None
    weights: FloatArray | None = None
    label_names: tuple[str, ...] | None = None
    n_jobs: int | None = None
    options: EngineOptions | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of calibration examples of each fold."""
        return tuple(len(fold.scores) for fold in self.folds)

    @property
    def measure_choices(self) -> MeasureChoices | None:
        """What the folds chose; None where the measure was given."""
        choices = [fold.choice for fold in self.folds if fold.choice is not None]
        return MeasureChoices(choices) if choices else None

    def predict(
        self, outputs: Sequence[FloatArray | SparseOutputs], X: MatrixLike = None, *, index: Any = None
    ) -> LabelsetPredictions:
        """Return the predictions for new objects.

        Parameters
        ----------
        outputs : sequence of arrays of shape (n, q)
            Of each fold's model; all dense or all sparse.
        X : array-like of n rows or None
            The objects, where they are known.
        index : pandas index or None
            The objects' names.
        """
        self.choices.check_objects(X)
        merging = self._merging(outputs, X)
        dense = [part for part in outputs if not isinstance(part, SparseOutputs)]
        if dense:
            engine = self._engine([self.meet(k, part, X) for k, part in enumerate(dense)], X, merging)
        else:
            engine = self._compact_engine([part for part in outputs if isinstance(part, SparseOutputs)], merging)
        return LabelsetPredictions(
            engine,
            label_names=self.label_names,
            guarantee=self.guarantee,
            index=index,
        )

    def nonconformity(
        self, outputs: Sequence[FloatArray | SparseOutputs], Y: LabelMatrix, X: MatrixLike = None
    ) -> FloatArray:
        """Return how strange labelsets are for objects, in the mean over the folds' models."""
        scores = [
            np.ldexp(score_examples(fold.measure, part, Y, X).astype(np.float64), -fold.measure.exponent_)
            for fold, part in zip(self.folds, outputs, strict=True)
        ]
        return np.asarray(np.mean(scores, axis=0))

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is proven about regions."""
        choices = self.choices
        if self.weights is not None:
            stated = state_weighted()
        elif choices.taxonomy is not None and self.categories is not None:
            found = np.unique(np.concatenate(self.categories))
            counts = [[int((own == category).sum()) for own in self.categories] for category in found]
            stated = state_within_categories(choices.guarantee, counts)
        elif len(self.folds) == 1:
            stated = state_inductive(self.sizes[0])
        else:
            stated = state_merged(choices.guarantee, self.sizes, complementary=self.complementary)
        stated = on_average(stated) if choices.smoothed else stated
        return without_empty(stated) if choices.empty == "exclude" else stated

    @cached_property
    def scores(self) -> list[IntArray]:
        """The calibration scores of each fold, those of examples that have the strangest labelset above all others."""
        return [
            np.where(fold.without_labels, STRANGEST, fold.scores) if strangest else fold.scores
            for fold, strangest in zip(self.folds, self._strangest, strict=True)
        ]

    @cached_property
    def calibrations(self) -> list[IntArray]:
        """The same, sorted."""
        return [np.sort(scores) for scores in self.scores]

    @cached_property
    def _strangest(self) -> list[bool]:
        """Whether the empty labelset is the strangest in each fold."""
        auto = self.choices.empty == "auto"
        return [auto and fold.finds_empty_strangest for fold in self.folds]

    @cached_property
    def _empty(self) -> Empty:
        """What the engine makes of the empty labelset; where folds differ or it has equals, its score is overridden."""
        if self.choices.empty == "exclude":
            return "excluded"
        alone = all(self._strangest) and not any(fold.without_labels.any() for fold in self.folds)
        return "strangest" if alone and not isinstance(self.choices.taxonomy, LabelsetTaxonomy) else "ordinary"

    def _merging(self, outputs: Sequence[FloatArray | SparseOutputs], X: MatrixLike) -> Merging:
        """Return how the folds' counts are merged, with draws that belong to the objects."""
        kind, smoothed = GUARANTEES[self.choices.guarantee], self.choices.smoothed
        draws, smoothing = np.zeros(len(outputs[0]), dtype=np.int64), None
        if kind.randomised or smoothed:
            keys = join_keys([object_keys(X)] if X is not None else [keys_of_outputs(part) for part in outputs])
            draws = draw_uniforms(self.seed, MERGING, keys)
            smoothing = draw_uniforms(self.seed, SMOOTHING, keys) if smoothed else None
        return Merging(kind, draws, smoothing)

    def meet(self, k: int, outputs: FloatArray, X: MatrixLike = None) -> Fold:
        """Return fold ``k`` for new objects with these outputs of its model."""
        measure = self.folds[k].measure
        energy = measure.energy(outputs, X=X if Need.FEATURES in measure.needs else None)
        if self._strangest[k] and self._empty == "ordinary":
            energy = energy.override_empty(STRANGEST)
        return Fold(self.calibrations[k], energy)

    @property
    def _settings(self) -> dict[str, Any]:
        """What engines of all kinds take."""
        return {"empty": self._empty, "n_jobs": self.n_jobs, "options": self.options}

    def _engine(self, folds: Sequence[Fold], X: MatrixLike, merging: Merging) -> LabelsetEngine:
        taxonomy, categories = self.choices.taxonomy, self.categories
        if taxonomy is None or categories is None:
            weighing = merging.weighing(self.sizes)
            if self.weights is not None and self.choices.weight is not None:
                weighing = weigh_densities(self.scores[0], self.weights, weights_of(self.choices.weight, X))
            weighing_at = merging.weighing_at(self.sizes)
            return make_engine(folds, weighing=weighing, weighing_at=weighing_at, **self._settings)
        if isinstance(taxonomy, LabelsetTaxonomy):
            return category_engine(folds, self.scores, categories, taxonomy, merging, **self._settings)
        groups = taxonomy.of_examples(X, np.empty((len(merging.draws), 0), dtype=np.int8))
        return grouped_engine(folds, self.scores, categories, groups, merging, **self._settings)

    def _compact_engine(self, outputs: Sequence[SparseOutputs], merging: Merging) -> LabelsetEngine:
        if self.choices.taxonomy is not None or self.weights is not None:
            name = "weight" if self.weights is not None else "mondrian"
            raise ValueError(f"{name} needs dense outputs, got sparse matrices. Pass outputs.toarray().")
        if any(self._strangest) and self._empty == "ordinary":
            raise ValueError(
                "Examples without labels calibrate a model that was trained on none, so it finds them stranger than"
                ' everything; sparse outputs have no room for that. Pass empty="allow" or outputs.toarray().'
            )
        measures = [fold.measure for fold in self.folds]
        return compact_engine(measures, self.calibrations, outputs, merging, **self._settings)


def keys_of_outputs(outputs: FloatArray | SparseOutputs) -> UInt64Array:
    """Return a key for each object from its outputs, the same for dense and sparse ones."""
    if isinstance(outputs, SparseOutputs):
        return object_keys(outputs.matrix, default=outputs.default)
    return object_keys(outputs)

"""Objects to ask about, and what can be predicted for them: by the model itself, or from its outputs."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure._core.validation import n_rows
from labelsure.conformal import calibrate_labels, calibrate_outputs
from labelsure.decisions._review import ReviewSelector
from labelsure.decisions._sureness import ON_OUTPUTS, has_outputs, mean_outputs, predict_with_sureness, rows_of
from labelsure.predictions import LabelsetPredictions, LabelWisePredictions

REGION_OBJECTS = 100
"""Objects whose labelset regions are looked at: with many labels these take longest."""

MOST_LABELSETS = 1000
"""Members counted of a region; that there are more says enough."""


@dataclass(eq=False)
class Sample:
    """Objects to ask about, and examples to calibrate what the model does not answer by itself.

    Attributes
    ----------
    model : object
        The model, or predictions.
    n_labels : int
        The number of labels.
    objects : MatrixLike
        The objects that are asked about, or their predictions.
    rows : int array
        The rows of everything that is looked at.
    Y : array of shape (m, q) or None
        Their labels.
    calibration : tuple of objects and labels, or None
        The examples that calibrate.
    """

    model: Any
    n_labels: int
    objects: Any
    rows: IntArray
    Y: LabelMatrix | None = None
    calibration: tuple[Any, LabelMatrix] | None = None

    def __len__(self) -> int:
        return len(self.objects) if self._is_predictions else n_rows(rows_of(self.model, self.objects))

    @property
    def mean_labels(self) -> float:
        """How many labels an object has on average."""
        return float("nan") if self.Y is None else float(self.Y.sum(axis=1).mean())

    @property
    def few(self) -> float:
        """How many labels an answer may leave to look through: about three times as many as are true."""
        half = self.n_labels / 2
        return half if self.Y is None else min(3 * self.mean_labels + 1, half)

    @cached_property
    def joint(self) -> LabelsetPredictions | None:
        """Predictions of labelsets for the first objects, by the model itself or else from its outputs."""
        if self._is_predictions:
            return self.objects[:REGION_OBJECTS] if isinstance(self.objects, LabelsetPredictions) else None
        if hasattr(self.model, "predict_labelsets"):
            first = np.arange(min(len(self), REGION_OBJECTS))
            predictions: LabelsetPredictions = self.model.predict_labelsets(
                take_objects(self.model, self.objects, first)
            )
            return predictions
        if self.outputs is None:
            return None
        return calibrate_outputs(*self.calibration_outputs).predict_labelsets(self.outputs[:REGION_OBJECTS])

    @cached_property
    def by_label(self) -> LabelWisePredictions | None:
        """Predictions of labels, by the model itself or else from its outputs."""
        if self._is_predictions:
            return self.objects if isinstance(self.objects, LabelWisePredictions) else None
        if hasattr(self.model, "predict_labels"):
            predictions: LabelWisePredictions = self.model.predict_labels(self.objects)
            return predictions
        if self.outputs is None:
            return None
        return calibrate_labels(*self.calibration_outputs).predict_labels(self.outputs)

    @cached_property
    def by_label_conditional(self) -> LabelWisePredictions | None:
        """The same among the examples with the same value of a label, where the model says something else."""
        if self.outputs is None or hasattr(self.model, "predict_labels"):
            return None
        return calibrate_labels(*self.calibration_outputs, conditional=True).predict_labels(self.outputs)

    @cached_property
    def outputs(self) -> FloatArray | None:
        """What the model says about each label of the objects; None where nothing can be calibrated with it."""
        if self.calibration is None or not has_outputs(self.model):
            return None
        return mean_outputs(self.model, self.objects, self.n_labels)

    @cached_property
    def calibration_outputs(self) -> tuple[FloatArray, LabelMatrix]:
        """What the model says about the examples that calibrate, and their labels."""
        assert self.calibration is not None
        objects, labels = self.calibration
        return mean_outputs(self.model, objects, self.n_labels), labels

    def selector(self, at_most: int) -> tuple[ReviewSelector, FloatArray]:
        """Return a calibrated selector, and how sure the model is of the objects; computed once for all levels."""
        if at_most not in self._selectors:
            assert self.calibration is not None
            selector = ReviewSelector(self.model, at_most=at_most).calibrate(*self.calibration)
            _, sureness = predict_with_sureness(self.model, self.objects, selector.question_, selector.kind_)
            self._selectors[at_most] = selector, sureness
        return self._selectors[at_most]

    @cached_property
    def _selectors(self) -> dict[int, tuple[ReviewSelector, FloatArray]]:
        return {}

    @property
    def _is_predictions(self) -> bool:
        return isinstance(self.objects, LabelsetPredictions | LabelWisePredictions)


def take_objects(model: Any, X: Any, rows: IntArray) -> Any:
    """Return some objects, of every fold where a predictor takes the outputs of all folds."""
    if isinstance(model, ON_OUTPUTS) and model.fold_numbers is not None:
        return [_safe_indexing(part, rows) for part in X]
    return _safe_indexing(X, rows)

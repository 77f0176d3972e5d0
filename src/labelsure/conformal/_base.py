"""What the conformal classifiers share: doors, names, tags, and the two stages."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsure._core.running import one_thread
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_same_length, n_rows, read_labels, row_index_of
from labelsure.conformal._calibration import FoldExamples, TrainingPart, calibrate
from labelsure.conformal._calibrator import Calibrator
from labelsure.conformal._choices import (
    Choices,
    check_categories_of,
    check_choices,
    check_empty_labelsets,
    check_measure,
)
from labelsure.conformal._guarantees import check_fold_sizes
from labelsure.conformal._models import FoldModel, ask_model, check_estimator, outputs_of_models, tags_of
from labelsure.conformal._splits import Split
from labelsure.estimators import MultiLabelMixin
from labelsure.measures import AutoMeasure, Measure, MeasureChoices, Need, default_measure
from labelsure.predictions import LabelsetPredictions

CHOICES = ("guarantee", "smoothed", "empty", "mondrian", "weight")
"""Parameters that say how calibration examples are counted; not every classifier has all of them."""


class WrappingClassifier(MetaEstimatorMixin, MultiLabelMixin, BaseEstimator):
    """Base of all classifiers here: another classifier inside.

    X is handed to the classifier inside as it is, so whatever that accepts (DataFrames for a ColumnTransformer,
    sparse matrices, lists of texts, NaN) is accepted here, and refused where it refuses it.
    """

    estimator: Any
    smoothed: bool
    random_state: Any
    n_jobs: int | None

    def _check_fit(
        self, X: MatrixLike, y: LabelMatrixLike, label_names: Sequence[str] | None, *, prefit: bool = False
    ) -> tuple[MatrixLike, LabelMatrix]:
        """Check estimator and training data, and learn names and sizes."""
        check_estimator(self.estimator, prefit=prefit)
        labels, self.label_names_ = read_labels(y, label_names, name="y")
        X = _as_rows(X)
        check_same_length(X, labels, names=("X", "y"))
        validate_data(self, X, reset=True, skip_check_array=True)
        self.n_labels_ = labels.shape[1]
        self.classes_ = [np.array([0, 1]) for _ in range(self.n_labels_)]
        return X, labels

    def _check_predict(self, X: MatrixLike) -> MatrixLike:
        check_is_fitted(self)
        X = _as_rows(X)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError(
                f"X must have {self.n_features_in_} columns, one per feature, got an array of shape {X.shape}."
                " Reshape your data: X.reshape(1, -1) is a single object."
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = tags_of(self.estimator)
        tags.input_tags.sparse = inside is not None and inside.input_tags.sparse
        tags.input_tags.allow_nan = inside is not None and inside.input_tags.allow_nan
        return tags


class LabelsetClassifier(WrappingClassifier):
    """Base of the classifiers of labelsets: a classifier inside, p-values of labelsets outside."""

    measure: Any
    empty: str

    @abstractmethod
    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labelset with the highest p-value for each object, ties by lowest total score.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return self.predict_labelsets(X).labelsets.astype(np.int64)  # the int of scikit-learn's own classifiers

    def _check_choices(self, labels: Sequence[LabelMatrix], *, one_fold: bool) -> tuple[Choices, Any]:
        """Return what was asked for and the measure, or raise ValueError before anything is fitted."""
        measure = check_measure(self.measure, self.n_labels_)
        asked = {name: getattr(self, name) for name in CHOICES if hasattr(self, name)}
        choices = check_choices(**asked, label_names=self.label_names_, n_labels=self.n_labels_, one_fold=one_fold)
        check_categories_of(measure, choices.taxonomy, self.n_labels_)
        check_empty_labelsets(self.empty, *labels)
        return choices, measure


class CalibratedClassifier(LabelsetClassifier):
    """Base of the classifiers that fit models first and calibrate their outputs then.

    The fitted state is ``models_`` and ``calibrator_``; predictions look at nothing else.
    """

    models_: list[Any]
    calibrator_: Calibrator

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        return self.calibrator_.predict(outputs, X, index=row_index_of(X))

    def nonconformity(self, X: MatrixLike, y: LabelMatrixLike) -> FloatArray:
        """Return how strange labelsets are for objects: the scores that p-values are made of.

        For examples that arrive one after the other these are what
        :class:`~labelsure.metrics.ExchangeabilityMartingale` watches.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        y : array-like of shape (n_objects, n_labels)
            One labelset per object.

        Returns
        -------
        array of shape (n_objects,)
            Larger is stranger; the mean over the folds where there are several.
        """
        X = self._check_predict(X)
        labels = check_label_matrix(y, name="y", n_labels=self.n_labels_, label_names=self.label_names_)
        check_same_length(X, labels, names=("X", "y"))
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        return self.calibrator_.nonconformity(outputs, labels, X)

    def recalibrate(self, X: MatrixLike, y: LabelMatrixLike, **parameters: Any) -> Self:
        """Return a fitted copy with another measure, guarantee or way of counting, around the same models.

        Nothing is trained again but the measure. Measures that learn from out-of-fold outputs, "auto" among them, take
        new models: use ``fit``.

        Parameters
        ----------
        X, y : array-likes of n rows
            The examples that ``fit`` was given, in the same order.
        **parameters
            What to change: ``measure``, ``guarantee``, ``mondrian``, ``weight``, ``smoothed``, ``empty``, ``n_jobs``.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
        >>> from labelsure.measures import PowerMeasure
        >>> X, y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
        >>> model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0).fit(X, y)
        >>> exact = model.recalibrate(X, y, guarantee="exact", measure=PowerMeasure())
        >>> exact.models_ is model.models_
        True
        """
        X = self._check_predict(X)
        labels = check_label_matrix(y, name="y", n_labels=self.n_labels_, label_names=self.label_names_)
        if {len(labels), n_rows(X)} != {self.n_examples_}:
            raise ValueError(
                f"recalibrate takes the {self.n_examples_} examples that fit was given, got {n_rows(X)} rows of X and"
                f" {len(labels)} of y."
            )
        fixed = set(parameters) - {"measure", "n_jobs", *CHOICES}
        if fixed or getattr(self, "prefit", False):
            why = f"it cannot change {min(fixed)}" if fixed else "with prefit=True fit trains nothing anyway"
            raise ValueError(f"recalibrate keeps the models as they are; {why}. Use fit.")
        copy: Self = clone(self).set_params(**parameters)
        copy.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        choices, measure = copy._check_choices([labels], one_fold=len(self.models_) == 1)
        check_fold_sizes(choices.guarantee, [len(rows) for rows in self.fold_indices_])
        needs = needs_of(measure, self.n_labels_)
        if Need.OUT_OF_FOLD_OUTPUTS in needs:
            raise ValueError(f"{measure!r} learns from out-of-fold outputs, which takes new models: use fit.")
        splits = self._splits_again()
        with one_thread():
            asked = zip(self.models_, splits, strict=True)
            models = [ask_model(model, X, self.n_labels_, split, needs=[needs]) for model, split in asked]
        copy._calibrate(X, labels, splits, models, choices, measure)
        return copy

    def _keep_splits(self, splits: Sequence[Split], n_examples: int, seeds: Sequence[int]) -> None:
        """Remember which examples calibrate, and which train where these are not all the others."""
        self.n_examples_ = n_examples
        self.seeds_ = list(seeds)
        self.fold_indices_ = [split.calibration for split in splits]
        complementary = all(len(split.train) + len(split.calibration) == n_examples for split in splits)
        self.train_indices_ = None if complementary else [split.train for split in splits]

    def _splits_again(self) -> list[Split]:
        everyone = np.arange(self.n_examples_)
        trained = self.train_indices_ or [np.setdiff1d(everyone, rows) for rows in self.fold_indices_]
        return [Split(train, rows) for train, rows in zip(trained, self.fold_indices_, strict=True)]

    def _calibrate(
        self,
        X: MatrixLike,
        Y: LabelMatrix,
        splits: Sequence[Split],
        models: Sequence[FoldModel],
        choices: Choices,
        measure: Measure | AutoMeasure | None,
        training: TrainingPart | None = None,
    ) -> None:
        """Calibrate the models' outputs, stage two; ``training`` is what a user says of a model fitted elsewhere."""
        categories, weights = choices.look_at(X, Y)
        needs, folds = needs_of(measure, self.n_labels_), []
        with_objects = Need.FEATURES in needs or isinstance(measure, AutoMeasure)  # whose candidates may look at them
        for split, model in zip(splits, models, strict=True):
            outputs = model.out_of_fold_outputs if Need.OUT_OF_FOLD_OUTPUTS in needs else model.training_outputs
            of_objects = [_safe_indexing(X, rows) if with_objects else None for rows in split]
            part = TrainingPart(Y[split.train], outputs, of_objects[0]) if training is None else training
            folds.append(FoldExamples(model.outputs, Y[split.calibration], part, of_objects[1]))
        *seeds, draw_seed = self.seeds_
        rows = [split.calibration for split in splits]
        self.calibrator_ = Calibrator(
            tuple(calibrate(measure, folds, seeds=seeds, n_jobs=self.n_jobs)),
            choices,
            draw_seed,
            complementary=self.train_indices_ is None,
            categories=None if categories is None else tuple(categories[of_fold] for of_fold in rows),
            weights=None if weights is None else weights[rows[0]],
            label_names=self.label_names_,
            n_jobs=self.n_jobs,
        )

    @property
    def measure_choices_(self) -> MeasureChoices | None:
        """What each fold chose with ``measure="auto"``, and why; ``print`` it. None where the measure was given."""
        return self.calibrator_.measure_choices

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibrator_")  # what every fit learns last: one that failed half-way does not count


def needs_of(measure: Measure | AutoMeasure | None, n_labels: int) -> Need:
    """Return what a measure, or the default, needs of training parts."""
    return (default_measure(n_labels, training_labels=True) if measure is None else measure).needs


def _as_rows(X: MatrixLike) -> MatrixLike:
    """Return X if its rows can be counted and chosen, else say what is expected."""
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):
        X = X.tocsr()
    elif getattr(X, "ndim", 2) == 0 or not hasattr(X, "__len__") or isinstance(X, str | bytes):
        raise ValueError(f"X must have one row per object, got {X!r}.")
    if n_rows(X) == 0:
        raise ValueError(f"X must have at least one row, got shape {getattr(X, 'shape', (0,))}.")
    return X

"""Inductive conformal prediction: one model, and calibration examples that it has not seen."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from labelsure._core.randomness import draw_seeds
from labelsure._core.running import one_thread
from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_same_length, n_rows
from labelsure.conformal._base import ConformalClassifier, resolve_empty
from labelsure.conformal._calibrated import (
    TrainingPart,
    calibrate,
    check_training_part,
    choices_of,
    copy_measure,
    score_examples,
)
from labelsure.conformal._choice import MeasureChoices
from labelsure.conformal._fitting import fit_fold
from labelsure.conformal._guarantees import INDUCTIVE
from labelsure.conformal._predicting import check_mondrian, predict_categories
from labelsure.conformal._shift import WEIGHTED, weighted_rule, weights_of
from labelsure.conformal._splits import hold_out
from labelsure.conformal._taxonomy import Taxonomy
from labelsure.estimators import outputs_of
from labelsure.labelsets import Empty, Weighing, make_engine
from labelsure.measures import Measure
from labelsure.predictions import LabelsetPredictions


class InductiveConformalClassifier(ConformalClassifier):
    """Inductive (split) conformal predictor for multi-label classification.

    A part of the training set is held out for calibration. The p-value of a labelset psi for a new object is::

        p(psi) = (#{calibration examples i : alpha_i >= alpha(psi)} + 1) / (m + 1)

    with m the number of calibration examples.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    measure : Measure, "auto" or None, default=None
        The nonconformity measure; None as in :class:`CrossConformalClassifier` or, with ``prefit`` and no
        ``training_labels``, the paper's ``PowerMeasure(d=4)``. "auto" chooses one by inner cross-validation, see
        :class:`AutoMeasure`; with ``prefit`` that takes ``training_labels`` and ``training_outputs``.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it gets, which must
        not have been used to fit the estimator.
    mondrian : "cardinality", int, str, callable, Taxonomy or None, default=None
        P-values within categories, as in :class:`CrossConformalClassifier`; here they are valid within each.
    weight : callable or None, default=None
        For new objects from another distribution than the training objects, with the same labels given the object
        (covariate shift): a function from X to the ratio of the two densities, up to a factor. Not with ``mondrian``
        or ``smoothed``.
    empty, smoothed, random_state, n_jobs
        As in :class:`CrossConformalClassifier`.

    Attributes
    ----------
    model_ : FittedBase or the prefitted estimator
        The fitted classifier.
    calibrated_ : CalibratedMeasure
        The fitted measure with the scores of the calibration examples.
    calibration_indices_ : int array
        The rows of X that calibrate.
    allow_empty_, n_labels_, label_names_
        As in :class:`CrossConformalClassifier`.

    Notes
    -----
    For exchangeable data a region at significance eps misses the true labelset with probability at most eps [1]_.
    With weights the p-value is ``(sum of w_i over {i : alpha_i >= alpha(psi)} + w) / (sum of w_i + w)``, w being the
    new object's weight, and the same holds for independent examples under covariate shift [3]_.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.
    .. [2] Papadopoulos, H., Proedrou, K., Vovk, V., Gammerman, A. (2002). Inductive confidence machines for
       regression. ECML, 345-356.
    .. [3] Tibshirani, R. J., Barber, R. F., Candes, E. J., Ramdas, A. (2019). Conformal prediction under covariate
       shift. NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from labelsure import InductiveConformalClassifier
    >>> X, Y = make_multilabel_classification(n_samples=150, n_classes=3, random_state=0)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X[:60], Y[:60])
    >>> model = InductiveConformalClassifier(forest, prefit=True).fit(X[60:140], Y[60:140])
    >>> model.predict_labelsets(X[140:]).region(significance=0.1)
    LabelsetRegion(significance=0.1, 10 objects)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        measure: Measure | str | None = None,
        calibration_size: float | int = 0.3,
        prefit: bool = False,
        mondrian: Any = None,
        weight: Callable[[MatrixLike], Any] | None = None,
        empty: str = "auto",
        smoothed: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.calibration_size = calibration_size
        self.prefit = prefit
        self.mondrian = mondrian
        self.weight = weight
        self.empty = empty
        self.smoothed = smoothed
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: MatrixLike,
        Y: LabelMatrixLike,
        *,
        training_labels: LabelMatrixLike | None = None,
        training_outputs: MatrixLike | None = None,
    ) -> Self:
        """Fit the classifier on one part of the data and calibrate with the other.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects; with ``prefit``, the calibration objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        training_labels, training_outputs : array-like of shape (n, n_labels) or None, default=None
            With ``prefit`` only: the labels that the estimator was fitted on, and its outputs for those examples,
            for measures that need them.
        """
        X, Y = self._check_fit(X, Y, prefit=self.prefit)
        taxonomy = self._check_taxonomy()
        split_seed, seed = draw_seeds(self.random_state, 2)
        if self.prefit:
            training = check_training_part(training_labels, training_outputs, n_labels=self.n_labels_)
            known = self._calibrate_prefit(X, Y, training, seed)
        else:
            if training_labels is not None or training_outputs is not None:
                name = "training_outputs" if training_labels is None else "training_labels"
                raise ValueError(f"{name} goes with prefit=True; without it they are made from X and Y.")
            known = [Y]
            train, self.calibration_indices_ = hold_out(self.calibration_size, len(Y), split_seed)
            self.model_, self.calibrated_ = fit_fold(
                self._seeded_estimator(seed),
                self.measure,
                X,
                Y,
                train=train,
                calibration=self.calibration_indices_,
                seed=seed,
            )
        X_calibration = _safe_indexing(X, self.calibration_indices_)
        if taxonomy is not None:
            self.categories_ = taxonomy.of_examples(X_calibration, Y[self.calibration_indices_])
        if self.weight is not None:
            self.weights_ = weights_of(self.weight, X_calibration)
        self.allow_empty_ = resolve_empty(self.empty, *known)
        return self

    def _calibrate_prefit(self, X: MatrixLike, Y: LabelMatrix, training: TrainingPart, seed: int) -> list[LabelMatrix]:
        """Calibrate with all examples, and return all labelsets there are."""
        self.calibration_indices_ = np.arange(len(Y))
        self.model_ = self.estimator
        with one_thread():
            outputs = outputs_of(self.model_, X, self.n_labels_)
            measure = copy_measure(self.measure, seed, self.n_labels_, training_labels=training.labels is not None)
            self.calibrated_ = calibrate(measure, outputs, Y, training=training, X=X)
        return [Y] if training.labels is None else [Y, training.labels]

    @property
    def measure_choices_(self) -> MeasureChoices | None:
        """What was chosen with ``measure="auto"``, and why; ``print`` it. None where the measure was given."""
        return choices_of([self.calibrated_])

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        with one_thread():
            fold = self.calibrated_.fold(outputs_of(self.model_, X, self.n_labels_), X)
        taxonomy = self._check_taxonomy()
        if taxonomy is not None:
            return predict_categories(
                [fold],
                [self.calibrated_.scores],
                [self.categories_],
                taxonomy,
                X,
                allow_empty=self.allow_empty_,
                label_names=self.label_names_,
                n_jobs=self.n_jobs,
            )
        rule = None
        if self.weight is not None:
            rule = weighted_rule(self.calibrated_.scores, self.weights_, weights_of(self.weight, X))
        draws = self._draws(n_rows(X))
        weighing = rule
        if draws is not None:
            weighing = Weighing.smoothed(len(fold.calibration), draws)
        empty: Empty = "ordinary" if self.allow_empty_ else "excluded"
        engine = make_engine([fold], empty=empty, weighing=weighing, n_jobs=self.n_jobs)
        guarantee = INDUCTIVE if rule is None else WEIGHTED
        return LabelsetPredictions(engine, label_names=self.label_names_, guarantee=guarantee)

    def nonconformity(self, X: MatrixLike, Y: LabelMatrixLike) -> FloatArray:
        """Return how strange labelsets are for objects: the scores that p-values are made of.

        For examples that arrive one after the other these are what
        :class:`~labelsure.metrics.ExchangeabilityMartingale` watches.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        Y : array-like of shape (n_objects, n_labels)
            One labelset per object.

        Returns
        -------
        array of shape (n_objects,)
            Larger is stranger; equal scores are equal.
        """
        X = self._check_predict(X)
        Y = check_label_matrix(Y, n_labels=self.n_labels_)
        check_same_length(X, Y)
        measure = self.calibrated_.measure
        with one_thread():
            scores = score_examples(measure, outputs_of(self.model_, X, self.n_labels_), Y, X)
        nonconformity: FloatArray = np.ldexp(scores.astype(np.float64), -measure.exponent_)
        return nonconformity

    def _check_taxonomy(self) -> Taxonomy | None:
        """Return the taxonomy asked for, or raise ValueError where choices exclude each other."""
        if self.weight is not None and (self.mondrian is not None or self.smoothed):
            other = "mondrian" if self.mondrian is not None else "smoothed"
            raise ValueError(f"weight does not go with {other}: choose one of the two.")
        return check_mondrian(self.mondrian, self.label_names_, smoothed=self.smoothed)

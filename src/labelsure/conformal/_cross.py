"""Cross-conformal prediction: every example calibrates once, under a model that has not seen it."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from labelsure._core.progress import progress_bar
from labelsure._core.randomness import draw_seeds
from labelsure._core.threads import map_in_threads
from labelsure._core.types import IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_count, n_rows
from labelsure.conformal._base import ConformalClassifier, resolve_empty
from labelsure.conformal._calibrated import CalibratedMeasure, calibrate
from labelsure.estimators import FittedBase, fit_base, outputs_of
from labelsure.labelsets import FoldEngine
from labelsure.measures import Measure
from labelsure.predictions import LabelsetPredictions


class CrossConformalClassifier(ConformalClassifier):
    """Cross-conformal predictor for multi-label classification.

    The training set is cut into K folds S_1, ..., S_K. For each fold a model is trained on the others, and the
    examples of the fold are scored with it. The p-value of a labelset psi for a new object is::

        p(psi) = (sum_k #{i in S_k : alpha_i >= alpha^k(psi)} + 1) / (l + 1)

    with alpha^k(psi) its score under fold k's model and l the number of training examples.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier with ``predict_proba`` or ``decision_function`` for several labels, or a Pipeline
        that ends in one. None is :class:`~labelsure.MLRBFClassifier`, the paper's.
    measure : Measure or None, default=None
        The nonconformity measure; None is the paper's ``PowerMeasure(d=4)``.
    cv : int, splitter or iterable of (train, calibration) index pairs, default=10
        An int is that many shuffled folds of sizes as equal as possible. With a splitter of your own, no example may
        calibrate twice or calibrate a model that it trained.
    empty : {"auto", "allow", "exclude"}, default="auto"
        Whether the empty labelset is a candidate; "auto": if and only if a training example has no label.
    smoothed : bool, default=False
        Smoothed p-values: ties are counted with a random weight, one draw per object.
    random_state : int, RandomState or None, default=None
        For the folds, for every ``random_state`` inside the estimator that is None, and for smoothing.
    n_jobs : int or None, default=None
        Folds fitted in parallel, and threads for p-values; results do not depend on it.

    Attributes
    ----------
    models_ : list of FittedBase
        The fitted classifiers, one per fold.
    calibrated_ : list of CalibratedMeasure
        Fitted measures with the scores of the calibration examples, one per fold.
    fold_indices_ : list of int arrays
        The calibration examples of each fold.
    allow_empty_ : bool
        Whether the empty labelset is a candidate.
    n_labels_ : int
        The number of labels.
    label_names_ : tuple of str or None
        The labels' names, where Y was a DataFrame.

    Notes
    -----
    These p-values are not proven to be valid, only nearly so: for exchangeable data and a learner that does not
    depend on the examples' order, a region at significance eps misses the true labelset with probability at most
    ``2 eps + 2 (1 - eps)(1 - 1/K) / (l/K + 1)`` [2]_. In practice the error is close to eps for stable learners, as
    the paper shows.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI Workshops,
       241-250.
    .. [2] Barber, R. F., Candes, E. J., Ramdas, A., Tibshirani, R. J. (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49(1), 486-507.
    .. [3] Vovk, V. (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 9-28.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0).fit(X[:100], Y[:100])
    >>> pred = model.predict_labelsets(X[100:])
    >>> region = pred.region(significance=0.2)
    >>> bool(region.contains(Y[100:]).mean() >= 0.6)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        measure: Measure | None = None,
        cv: Any = 10,
        empty: str = "auto",
        smoothed: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.cv = cv
        self.empty = empty
        self.smoothed = smoothed
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Fit one model per fold and score the fold's examples with it.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        """
        X, Y = self._check_fit(X, Y)
        self.allow_empty_ = resolve_empty(self.empty, Y)
        split_seed, *seeds = draw_seeds(self.random_state, 1 + n_rows(X))
        splits = self._splits(X, Y, split_seed)
        self.fold_indices_ = [calibration for _, calibration in splits]
        jobs = (
            delayed(_fit_fold)(self._seeded_estimator(seed), self.measure, X, Y, train, calibration)
            for seed, (train, calibration) in zip(seeds, splits, strict=False)
        )
        with threadpool_limits(limits=1):
            fitted = Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs)
            folds = list(progress_bar(fitted, description="fitting folds", total=len(splits)))
        self.models_ = [model for model, _ in folds]
        self.calibrated_ = [calibrated for _, calibrated in folds]
        return self

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        with threadpool_limits(limits=1):
            outputs = map_in_threads(
                lambda model: outputs_of(model, X, self.n_labels_),
                self.models_,
                n_jobs=self.n_jobs,
                description="outputs of the folds' models",
            )
            folds = [calibrated.fold(o) for calibrated, o in zip(self.calibrated_, outputs, strict=True)]
        engine = FoldEngine(folds, allow_empty=self.allow_empty_, draws=self._draws(n_rows(X)), n_jobs=self.n_jobs)
        return LabelsetPredictions(engine, label_names=self.label_names_)

    def _splits(self, X: MatrixLike, Y: LabelMatrix, seed: int) -> list[tuple[IntArray, IntArray]]:
        from sklearn.model_selection import KFold, check_cv

        if isinstance(self.cv, Integral):
            n_folds = check_count(self.cv, name="cv", at_least=2)
            if n_folds > len(Y):
                raise ValueError(
                    f"cv={n_folds} folds need at least {n_folds} examples, got {len(Y)}. Lower cv or add examples."
                )
            splitter = KFold(n_folds, shuffle=True, random_state=seed)
        else:
            splitter = check_cv(self.cv)
        splits = [(np.asarray(train), np.asarray(calibration)) for train, calibration in splitter.split(X, Y)]
        _check_splits(splits, len(Y))
        return splits


def _fit_fold(
    estimator: Any, measure: Measure | None, X: MatrixLike, Y: LabelMatrix, train: IntArray, calibration: IntArray
) -> tuple[FittedBase, CalibratedMeasure]:
    with threadpool_limits(limits=1):  # sums in BLAS depend on its number of threads; results must not
        model = fit_base(estimator, _safe_indexing(X, train), Y[train])
        outputs = outputs_of(model, _safe_indexing(X, calibration), Y.shape[1])
    return model, calibrate(measure, outputs, Y[calibration], training_labels=Y[train])


def _check_splits(splits: list[tuple[IntArray, IntArray]], n_examples: int) -> None:
    """Raise ValueError where the splits would make p-values invalid."""
    uses = np.zeros(n_examples, dtype=np.int64)
    for train, calibration in splits:
        if len(train) == 0 or len(calibration) == 0:
            raise ValueError("cv must give every fold at least one training and one calibration example.")
        if np.intersect1d(train, calibration).size:
            raise ValueError("cv must not let an example calibrate a model that it trained; training and test overlap.")
        np.add.at(uses, calibration, 1)
    if uses.max() > 1:
        raise ValueError(
            f"cv must let every example calibrate at most once, but example {int(uses.argmax())} is in"
            f" {int(uses.max())} test parts. Use KFold, not ShuffleSplit or a repeated splitter."
        )

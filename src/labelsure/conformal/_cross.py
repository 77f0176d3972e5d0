"""Cross-conformal prediction: every example calibrates once, under a model that has not seen it."""

from typing import Any, Self

from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from labelsure._core.one_thread import one_thread
from labelsure._core.progress import progress_bar
from labelsure._core.randomness import draw_seeds
from labelsure._core.threads import map_in_threads
from labelsure._core.types import FloatArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import n_rows
from labelsure.conformal._base import ConformalClassifier, resolve_empty
from labelsure.conformal._fitting import fit_fold
from labelsure.conformal._splits import make_splits
from labelsure.estimators import FittedBase, outputs_of
from labelsure.labelsets import FoldEngine
from labelsure.measures import Measure
from labelsure.predictions import LabelsetPredictions


class CrossConformalClassifier(ConformalClassifier):
    """Cross-conformal predictor for multi-label classification.

    The training set is cut into K folds S_1, ..., S_K. For each fold a model is trained on the others, and the
    examples of the fold are scored with it. The p-value of a labelset psi for a new object is::

        p(psi) = (sum_k #{i in S_k : alpha_i >= alpha^k(psi)} + 1) / (l + 1)

    with alpha^k(psi) its score under fold k's model and l the number of examples in the folds.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier with ``predict_proba`` or ``decision_function`` for several labels, or a Pipeline
        that ends in one. None is :class:`~labelsure.MLRBFClassifier`, the paper's, for features on like scales.
    measure : Measure or None, default=None
        The nonconformity measure; None is the paper's ``PowerMeasure(d=4)``.
    cv : int, splitter or iterable of (train, calibration) index pairs, default=10
        An int is that many shuffled folds of sizes as equal as possible. With a splitter of your own, no example may
        calibrate twice or calibrate a model that it trained; examples in no test part only train.
    empty : {"auto", "allow", "exclude"}, default="auto"
        Whether the empty labelset is a candidate; "auto": if and only if a training example has no label.
    smoothed : bool, default=False
        Smoothed p-values: ties are counted with a random weight, one draw per object.
    random_state : int, RandomState or None, default=None
        For the folds, for every ``random_state`` inside the estimator that is None, and for smoothing. An int makes
        ``fit`` and each prediction repeatable. It also draws the same weights at each call: to smooth p-values of
        objects that arrive one at a time, pass a RandomState.
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
        split_seed, *seeds = draw_seeds(self.random_state, 1 + n_rows(X))
        splits = make_splits(self.cv, X, Y, split_seed)
        self.fold_indices_ = [calibration for _, calibration in splits]
        jobs = (
            delayed(fit_fold)(
                self._seeded_estimator(seed), self.measure, X, Y, train=train, calibration=calibration, seed=seed
            )
            for seed, (train, calibration) in zip(seeds, splits, strict=False)
        )
        with one_thread():
            fitted = Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs)
            folds = list(progress_bar(fitted, description="fitting folds", total=len(splits)))
        self.models_ = [model for model, _ in folds]
        self.calibrated_ = [calibrated for _, calibrated in folds]
        self.allow_empty_ = resolve_empty(self.empty, Y)
        return self

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        config = get_config()  # scikit-learn's settings belong to one thread and must follow the work into others

        def read_outputs(model: FittedBase) -> FloatArray:
            with config_context(**config):
                return outputs_of(model, X, self.n_labels_)

        with one_thread():
            outputs = map_in_threads(
                read_outputs, self.models_, n_jobs=self.n_jobs, description="outputs of the folds' models"
            )
            folds = [calibrated.fold(o, X) for calibrated, o in zip(self.calibrated_, outputs, strict=True)]
        engine = FoldEngine(folds, allow_empty=self.allow_empty_, draws=self._draws(n_rows(X)), n_jobs=self.n_jobs)
        return LabelsetPredictions(engine, label_names=self.label_names_)

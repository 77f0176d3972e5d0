"""Cross-conformal prediction: every example calibrates once, under a model that has not seen it."""

from typing import Any, Self

from sklearn.utils.parallel import delayed

from labelsure._core.randomness import draw_seeds
from labelsure._core.running import one_thread
from labelsure._core.types import LabelMatrixLike, MatrixLike
from labelsure._core.validation import n_rows
from labelsure.conformal._base import ConformalClassifier, resolve_empty
from labelsure.conformal._calibrated import choices_of
from labelsure.conformal._fitting import fit_fold
from labelsure.conformal._guarantees import check_guarantee
from labelsure.conformal._parallel import fit_in_parallel, outputs_of_models
from labelsure.conformal._predicting import check_mondrian, predict_categories, predict_folds
from labelsure.conformal._splits import make_splits
from labelsure.measures import AutoMeasure, Measure, MeasureChoices
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
    measure : Measure, AutoMeasure, "auto" or None, default=None
        The nonconformity measure; None is ``LogLossMeasure() + LabelsetPrior()``, with more than 20 labels
        ``LogLossMeasure() + UnseenPenalty()``. The paper's is ``PowerMeasure(d=4)``. "auto" chooses one for each fold
        by inner cross-validation, see :class:`AutoMeasure`.
    cv : int, splitter or iterable of (train, calibration) index pairs, default=10
        An int is that many shuffled folds of sizes as equal as possible. With a splitter of your own, no example may
        calibrate twice or calibrate a model that it trained; examples in no test part only train.
    empty : {"auto", "allow", "exclude"}, default="auto"
        Whether the empty labelset is a candidate; "auto": if and only if a training example has no label.
    guarantee : str, default="cross"
        How the folds are merged, and so what is proven; see Notes. "cross", "exact", "exact-deterministic",
        "twice-mean", "e-mod" or "eu-mod".
    mondrian : "cardinality", int, str, callable, Taxonomy or None, default=None
        P-values within categories: by the number of labels of the labelset ("cardinality", or
        ``ByCardinality(at_most=3)``), by whether it has one label (its number or name), or by a function of X that
        returns a category per object. A category without calibration examples gives the p-value 1. Not with another
        guarantee than "cross", nor with smoothing.
    smoothed : bool, default=False
        Smoothed p-values: ties are counted with a random weight, one draw per object. For "cross" only.
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
    categories_ : list of arrays
        The categories of each fold's calibration examples, where there is a taxonomy.
    allow_empty_ : bool
        Whether the empty labelset is a candidate.
    n_labels_ : int
        The number of labels.
    label_names_ : tuple of str or None
        The labels' names, where Y was a DataFrame.

    Notes
    -----
    The paper's p-values ("cross") are not proven to be valid, only nearly so: for exchangeable data and a learner that
    does not depend on the examples' order, a region at significance eps misses the true labelset with probability at
    most ``2 eps + 2 (1 - eps)(1 - 1/K) / (l/K + 1)`` [2]_. In practice the error is close to eps for stable learners,
    as the paper shows. The other guarantees prove an error of at most eps. With
    ``p_k = (#{i in S_k: alpha_i >= alpha^k(psi)} + 1) / (|S_k| + 1)``:

    - "exact": the mean over the folds of the e-values F(p_k), F falling and chosen for the level asked for, stays below
      U / eps, U one uniform draw per object [4]_. Hardly larger regions than the paper's. Only regions change: the
      p-values shown are still the paper's.
    - "exact-deterministic": the running mean of F(p_k) never reaches 1 / eps [4]_.
    - "twice-mean": p = 2 mean_k p_k, at most 1 [5]_.
    - "e-mod": p = 2 min_t mean_{k <= t} p_k [6]_.
    - "eu-mod": p = min(2 p_1 / (2 - U), that of e-mod) [6]_.

    "exact-deterministic", "e-mod" and "eu-mod" need folds of equal size: with ``cv`` a whole number that does not
    divide the number of examples, the few left over only train. ``predict_labelsets(X).region(0.05).guarantee`` says
    what holds for the numbers at hand.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI Workshops,
       241-250.
    .. [2] Barber, R. F., Candes, E. J., Ramdas, A., Tibshirani, R. J. (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49(1), 486-507.
    .. [3] Vovk, V. (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 9-28.
    .. [4] Alami, N., Zakharia, J., Ben Taieb, S. (2026). arXiv 2606.03600; Ramdas, A., Manole, T. (2023). Randomized
       and exchangeable improvements of Markov's, Chebyshev's and Chernoff's inequalities.
    .. [5] Rueschendorf, L. (1982). Random variables with maximum sums. Advances in Applied Probability 14, 623-632;
       Vovk, V., Wang, R. (2020). Combining p-values via averaging. Biometrika 107, 791-808.
    .. [6] Gasparin, M., Ramdas, A. (2025). Improving the statistical efficiency of cross-conformal prediction.

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
        measure: Measure | AutoMeasure | str | None = None,
        cv: Any = 10,
        empty: str = "auto",
        guarantee: str = "cross",
        mondrian: Any = None,
        smoothed: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.cv = cv
        self.empty = empty
        self.guarantee = guarantee
        self.mondrian = mondrian
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
        allow_empty = resolve_empty(self.empty, Y)
        taxonomy = check_mondrian(self.mondrian, self.label_names_, guarantee=self.guarantee, smoothed=self.smoothed)
        split_seed, *seeds = draw_seeds(self.random_state, 1 + n_rows(X))
        splits = make_splits(self.cv, X, Y, split_seed, equal=check_guarantee(self.guarantee).equal_folds)
        self.fold_indices_ = [calibration for _, calibration in splits]
        jobs = (
            delayed(fit_fold)(
                self._seeded_estimator(seed), self.measure, X, Y, train=train, calibration=calibration, seed=seed
            )
            for seed, (train, calibration) in zip(seeds, splits, strict=False)
        )
        folds = fit_in_parallel(jobs, n_folds=len(splits), n_jobs=self.n_jobs)
        self.models_ = [model for model, _ in folds]
        self.calibrated_ = [calibrated for _, calibrated in folds]
        if taxonomy is not None:
            categories = taxonomy.of_examples(X, Y)
            self.categories_ = [categories[calibration] for calibration in self.fold_indices_]
        self.allow_empty_ = allow_empty
        return self

    @property
    def measure_choices_(self) -> MeasureChoices | None:
        """What each fold chose with ``measure="auto"``, and why; ``print`` it. None where the measure was given."""
        return choices_of(self.calibrated_)

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        with one_thread():
            outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
            folds = [calibrated.fold(o, X) for calibrated, o in zip(self.calibrated_, outputs, strict=True)]
        taxonomy = check_mondrian(self.mondrian, self.label_names_, guarantee=self.guarantee, smoothed=self.smoothed)
        if taxonomy is not None:
            return predict_categories(
                folds,
                [calibrated.scores for calibrated in self.calibrated_],
                self.categories_,
                taxonomy,
                X,
                allow_empty=self.allow_empty_,
                label_names=self.label_names_,
                n_jobs=self.n_jobs,
            )
        return predict_folds(
            folds,
            guarantee=self.guarantee,
            smoothed=self.smoothed,
            random_state=self.random_state,
            allow_empty=self.allow_empty_,
            label_names=self.label_names_,
            n_jobs=self.n_jobs,
        )

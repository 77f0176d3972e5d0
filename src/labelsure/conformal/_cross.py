"""Cross-conformal prediction: every example calibrates once, under a model that has not seen it."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, Self

from sklearn.utils import check_random_state

from labelsure._checks import LabelMatrixLike, MatrixLike
from labelsure._random import draw_seeds
from labelsure.conformal._base import LabelsetClassifier
from labelsure.conformal._splits import make_splits, split_complete
from labelsure.engine import Constraint
from labelsure.measures import Measure


@dataclass(eq=False, repr=False)
class CrossConformalClassifier(LabelsetClassifier):
    """Cross-conformal predictor for multi-label classification.

    The training set is cut into K folds S_1, ..., S_K. For each fold a model is trained on the
    others, and the examples of the fold are scored with it. The p-value of a labelset psi for a new
    object is::

        p(psi) = (sum_k #{i in S_k : alpha_i >= alpha^k(psi)} + 1) / (l + 1)

    with alpha^k(psi) its score under fold k's model and l the number of examples in the folds.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier with ``predict_proba`` or ``decision_function`` for several
        labels, or a Pipeline that ends in one. None is a logistic regression per label on scaled
        features, which takes missing values and sparse rows. The paper's is
        :class:`~labelsure.MLRBFClassifier`.
    measure : Measure, "auto" or None, default=None
        The nonconformity measure; None is :class:`~labelsure.measures.PosteriorMeasure`, whose
        parameters are learned from out-of-fold outputs: five more fits on three fifths of the
        examples for any number of folds from five on, four on half of them with four folds, and
        three on two thirds of each training part with fewer. The paper's is
        ``PowerMeasure(d=4)``. "auto" chooses one for each fold by inner cross-validation, see
        :class:`AutoMeasure`.
    cv : int, splitter or iterable of (train, calibration) index pairs, default=10
        An int is that many shuffled folds of sizes as equal as possible. With a splitter of your
        own, no example may calibrate twice or calibrate a model that it trained; examples in no
        test part only train. Nothing is proven where labels choose the folds, as in
        :class:`MultiLabelStratifiedKFold`.
    empty_labelset : {"auto", "allow", "exclude"}, default="auto"
        What the empty labelset is: a candidate like any other ("allow"); no candidate ("exclude",
        as in the paper), which misses all objects without labels; "auto": a candidate like any
        other in folds whose training part has an example without labels, and stranger than every
        other labelset in folds whose training part has none.
    guarantee : str, default="cross"
        How the folds are merged, and so what is proven: "cross" (the paper's) or "exact", see
        Notes.
    mondrian : "cardinality", int, str, callable, Taxonomy or None, default=None
        P-values within categories: by the number of labels of the labelset ("cardinality", or
        ``ByCardinality(at_most=3)``), by whether it has one label (its number or name), or by a
        function of X that returns a category per object. A category without calibration examples
        gives the p-value 1, smoothed its draw.
    smoothed : bool, default=False
        Smoothed p-values: ties are counted with a random weight, one draw per object. For "cross"
        only.
    constraints : Constraint, sequence of Constraint or None, default=None
        What every labelset obeys, such as ``Implies("spaniel", "dog")`` or ``Exactly(1, ["day",
        "night"])`` of :mod:`labelsure.engine`. Other labelsets, the empty one among them, are no
        candidates: their p-value is 0.
    on_violation : {"refuse", "drop"}, default="refuse"
        What to do with a constraint that an example given to ``fit`` breaks: raise ValueError, or
        warn and leave it out.
    predict_for : {"auto", "exact match", "hamming", "f1"}, default="auto"
        Which labels ``predict`` answers: "exact match", the most plausible labelset; "hamming",
        labels with a probability above one half; "f1", labels above a threshold of their own that
        maximises the expected F-measure; "auto", the most plausible labelset unless training showed
        labels one by one to be better, see ``predict``. A fitted model changes it by
        ``set_params``; nothing is fitted again.
    random_state : int, RandomState or None, default=None
        For the folds, for every ``random_state`` inside the estimator that is None, and for the
        draws of randomised guarantees and smoothing. A draw belongs to the object: it depends on
        what ``fit`` drew and on the object's features alone, so objects get the same answer one by
        one, in batches, in any order and in any process. Equal objects share a draw; what is proven
        holds for each of them on average over the seed.
    n_jobs : int or None, default=None
        Folds fitted in parallel, and threads for p-values; results do not depend on it.
    memory : str, path, joblib.Memory or None, default=None
        A folder in which every fold that is fitted is kept, so that a ``fit`` that was killed goes
        on when it is called again with the same data and parameters; results are the same. Delete
        the folder when you no longer need it. Folds are pickled: it must be a folder that nobody
        else can write to. Code of your own is told apart by the file that the estimator's class is
        in, and by nothing that it imports.

    Attributes
    ----------
    models_ : list of FittedBase
        The fitted classifiers, one per fold.
    fold_indices_ : list of int arrays
        The rows of X that calibrate, of each fold.
    calibrator_ : Calibrator
        Fitted measures, calibration scores and choices: what predictions depend on beside the
        models.
    n_labels_ : int
        The number of labels.
    label_names_ : tuple of str or None
        The labels' names, where they are known.
    n_examples_, n_incomplete_ : int
        The number of rows of X, and of those with unknown labels.
    train_indices_ : list of int arrays or None
        The rows of X that train each fold's model; None where these are all that do not calibrate
        it.

    Notes
    -----
    The paper's p-values ("cross") are not proven to be valid, only nearly so: for exchangeable
    data, any learner and n examples in K folds, a region at significance eps misses the true
    labelset with probability at most ``2 eps + 2 (1 - eps)(K - 1) / (n + K)`` [2]_. In practice the
    error is close to eps for stable learners, as the paper shows. With "exact" it is at most eps: a
    labelset is in the region while the mean over the folds of the e-values F(p_k) is below U / eps,
    with ``p_k = (#{i in S_k: alpha_i >= alpha^k(psi)} + 1) / (|S_k| + 1)``, F falling and chosen
    for the level, and U one uniform draw per object [4]_. P-values, confidence and credibility are
    still the paper's, and only regions change. They are made for one level: those of a smaller
    significance need not contain those of a larger.

    Both need folds that were not chosen by their labels, as those of a whole number ``cv`` are;
    nothing is proven with stratified folds. ``predict_labelsets(X).region(0.05).statement`` says
    what holds for the numbers at hand.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI
       Workshops, 241-250.
    .. [2] Barber, R. F., Candes, E. J., Ramdas, A., Tibshirani, R. J. (2021). Predictive inference
       with the jackknife+. Annals of Statistics 49(1), 486-507.
    .. [3] Vovk, V. (2015). Cross-conformal predictors. Annals of Mathematics and Artificial
       Intelligence 74, 9-28.
    .. [4] Alami, N., Zakharia, J., Ben Taieb, S. (2026). arXiv 2606.03600; Ramdas, A., Manole, T.
       (2023). Randomized and exchangeable improvements of Markov's, Chebyshev's and Chernoff's
       inequalities.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0)
    >>> model = model.fit(X[:100], Y[:100])
    >>> pred = model.predict_labelsets(X[100:])
    >>> region = pred.region(significance=0.2)
    >>> bool(region.contains(Y[100:]).mean() >= 0.6)
    True
    """

    estimator: Any = None
    _: KW_ONLY
    measure: Measure | str | None = None
    cv: Any = 10
    empty_labelset: str = "auto"
    guarantee: str = "cross"
    mondrian: Any = None
    smoothed: bool = False
    constraints: Constraint | Sequence[Constraint] | None = None
    on_violation: str = "refuse"
    predict_for: str = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    memory: Any = None

    def fit(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        *,
        label_names: Sequence[str] | None = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit one model per fold and score the fold's examples with it.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown. Incomplete examples
            calibrate nothing, and train where the estimator learns labels apart
            (OneVsRestClassifier, MultiOutputClassifier).
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        groups : array-like of shape (n_objects,) or None, default=None
            Which examples belong together: whole groups train or calibrate. A whole number ``cv``
            makes folds of whole groups, a splitter must not tear them apart. What is proven
            changes: for groups of one size in folds a little more than twice the significance, for
            folds of groups of different sizes nothing; see the statement of a region.
            :class:`InductiveConformalClassifier` has a proof at the significance for groups of any
            sizes.
        **fit_params
            ``sample_weight`` for the classifier inside, in all its fits; with scikit-learn's
            metadata routing, whatever it and the splitter ask for. It never changes how calibration
            examples count.
        """
        data, split_params = self._read_training(X, y, label_names, groups, fit_params)
        choices, measure = self._check_choices(self._check_complete(data), one_fold=False)
        random = check_random_state(self.random_state)
        (seed,) = draw_seeds(random, 1)

        params: dict[str, Any] = {"groups": data.groups, "split_params": split_params}
        cut = partial(make_splits, self.cv, data.X, seed=seed, **params)
        by_cut = isinstance(self.cv, Integral) and data.groups is None
        splits = split_complete(data, self.estimator, cut, by_cut=by_cut)
        seeds = draw_seeds(random, len(splits) + 1)
        return self._learn(data, splits, seeds, choices, measure)

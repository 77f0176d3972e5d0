"""Label-wise conformal prediction: a p-value for each label being off and on."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrixLike,
    MatrixLike,
    check_flag,
    check_gaps,
    check_same_length,
    row_index_of,
)
from labelsure._random import SMOOTHING, draw_seeds, draw_uniforms, object_keys
from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._groups import are_weighed, sizes_of_groups
from labelsure.conformal._incomplete import GapsMixin, Known
from labelsure.conformal._label_wise_outputs import LabelCalibration, predict_values
from labelsure.conformal._metadata import RoutingMixin
from labelsure.conformal._models import fit_models, outputs_of_models
from labelsure.conformal._splits import Split, hold_out, make_splits
from labelsure.conformal._updating import check_one_fold
from labelsure.predictions import LabelWisePredictions


@dataclass(eq=False, repr=False)
class LabelWiseConformalClassifier(RoutingMixin, GapsMixin, WrappingClassifier):
    r"""Binary-relevance conformal predictor: p-values of single labels, from an inductive or a cross-conformal split.

    Each label is a problem of its own. A part of the training set is held out for calibration; with
    :math:`\alpha_{ij} = |t_{ij} - o_{ij}|` for its m examples, the p-values of label j being off (c = 0) and on
    (c = 1) are [1]_

    .. math:: p_j(c) = \frac{|\{i : \alpha_{ij} \ge |c - o_j|\}| + 1}{m + 1}

    or, with ``conditional``, the same among the examples with :math:`t_{ij} = c` only (Mondrian).

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    conditional : bool, default=False
        Whether examples are counted only among those with the same value of the label. Then errors
        are bounded among the objects that have a label and among those that do not, which matters
        for rare labels. A value that no calibration example has gets the p-value 1.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    cv : int, splitter, iterable of (train, calibration) index pairs or None, default=None
        None holds out ``calibration_size``. Else folds as in :class:`CrossConformalClassifier`:
        every example calibrates once, under a model that has not seen it, and counts are added up
        over the folds, which must not be chosen by the labels.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    smoothed : bool, default=False
        Smoothed p-values: ties are counted with a random weight, one draw per object.
    random_state : int, RandomState or None, default=None
        As in :class:`CrossConformalClassifier`.
    n_jobs : int or None, default=None
        Folds fitted in parallel; results do not depend on it.
    memory : str, path, joblib.Memory or None, default=None
        A folder that keeps fitted folds, as in :class:`CrossConformalClassifier`.

    Attributes
    ----------
    models_ : list
        The fitted classifiers, one per fold; one without ``cv``.
    calibrated_ : list of LabelCalibration
        The scores of the calibration examples, one per fold.
    fold_indices_ : list of int arrays
        The calibration examples of each fold.
    n_labels_ : int
        The number of labels.
    label_names_ : tuple of str or None
        The labels' names, where they are known.

    Notes
    -----
    For exchangeable data and a held-out calibration set, :math:`P(p_j(t_j) \le \varepsilon) \le
    \varepsilon` for every label j; with ``conditional`` also given :math:`t_j = c`, for both
    values. For all labels at once see :meth:`labelsure.LabelWisePredictions.region`. With ``cv``, n
    examples and K folds, less is proven: :math:`2 \varepsilon + 2 (1 - \varepsilon)(K - 1) / (n +
    K)` for any learner [2]_ [3]_; with ``conditional`` the same given :math:`t_j = c`, with the
    examples that have this value and the folds that have any. Without ``conditional`` and
    ``smoothed``, for models trained on all other examples by a learner that does not depend on
    their order, the bound for K folds of m examples each is the smaller one of that and :math:`(2
    \varepsilon (n + 1) + m - 2) / ((K + 1) m)` [3]_. ``predict_labels(X).region(0.1).statement``
    says what holds for the numbers at hand.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor.
       COPA 2016, LNCS 9653, 90-104.
    .. [2] Vovk, V., Wang, R. (2020). Combining p-values via averaging. Biometrika 107(4), 791-808.
    .. [3] Barber, R. F., Candes, E. J., Ramdas, A., Tibshirani, R. J. (2021). Predictive inference
       with the jackknife+. Annals of Statistics 49(1), 486-507.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import LabelWiseConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=320, n_classes=3, random_state=0)
    >>> model = LabelWiseConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:300], Y[:300])
    >>> pred = model.predict_labels(X[300:])
    >>> pred
    LabelWisePredictions(20 objects, 3 labels)
    >>> pred.region(significance=0.2, at_most_wrong=1)
    LabelWiseRegion(significance=0.2, at_most_wrong=1, 20 objects)
    """

    _learned_last = "calibrated_"

    estimator: Any = None
    _: KW_ONLY
    conditional: bool = False
    calibration_size: float | int = 0.3
    cv: Any = None
    prefit: bool = False
    smoothed: bool = False
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
        """Fit the classifier and score, label by label, examples that it has not seen.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects; with ``prefit``, the calibration objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown. Each label is calibrated
            with the examples where it is known; incomplete ones train where the estimator learns
            labels apart (OneVsRestClassifier, MultiOutputClassifier).
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        groups : array-like of shape (n_objects,) or None, default=None
            Which examples belong together: whole groups train or calibrate. See
            :meth:`CrossConformalClassifier.fit`; without ``cv``, ``calibration_size`` is a share,
            or a number, of groups, and examples count as in
            :meth:`InductiveConformalClassifier.fit`: by the sizes of their groups where these
            differ. With ``conditional``, ``smoothed`` or unknown labels they count alike, and
            nothing is proven.
        **fit_params
            ``sample_weight`` for the classifier inside, in all its fits; with scikit-learn's
            metadata routing, whatever it and the splitter ask for. It never changes how calibration
            examples count.
        """
        if check_flag(self.prefit, name="prefit") and self.cv is not None:
            raise ValueError(
                "cv goes without prefit=True: a model that is fitted already has no folds."
            )
        X, Y, known = self._read_known(X, y, label_names, prefit=self.prefit)
        metadata = self._route(X, groups, fit_params, prefit=self.prefit)
        random, fitted = check_random_state(self.random_state), None
        if self.prefit:
            splits, fitted = (
                [Split(np.empty(0, dtype=np.int64), np.arange(len(Y)))],
                [self.estimator],
            )
        elif self.cv is None:
            splits = [
                hold_out(
                    self.calibration_size, len(Y), *draw_seeds(random, 1), groups=metadata.groups
                )
            ]
        else:
            splits = make_splits(self.cv, X, Y, *draw_seeds(random, 1), **metadata.for_splits)
        *seeds, self.draw_seed_ = draw_seeds(random, len(splits) + 1)
        given: dict[str, Any] = {
            "n_jobs": self.n_jobs,
            "memory": self.memory,
            "fitted": fitted,
            "metadata": metadata,
        }
        marked, parts = (
            (Y, splits) if known is None or self.prefit else (known.mark(Y), known.trains(splits))
        )
        models = fit_models(self.estimator, X, marked, parts, seeds=seeds, needs=[], **given)
        self.models_, self.fold_indices_ = (
            [fold.model for fold in models],
            [split.calibration for split in splits],
        )
        self.smoothed_ = check_flag(self.smoothed, name="smoothed")
        self.groups_ = metadata.groups
        complementary = all(len(split.train) + len(split.calibration) == len(Y) for split in splits)
        self.complementary_ = (
            complementary and known is None and not any(fold.shared for fold in models)
        )
        self.calibrated_ = [
            LabelCalibration.of(
                fold.outputs,
                Y[rows],
                conditional=check_flag(self.conditional, name="conditional"),
                unknown=None if known is None else known.unknown[rows],
                sizes=of_fold,
            )
            for fold, rows, of_fold in zip(
                models, self.fold_indices_, self._sizes(known), strict=True
            )
        ]
        return self

    def _sizes(self, known: Known | None) -> Sequence[IntArray | None]:
        """Return how large the groups of each fold's examples are, where these count by that."""
        sizes = None if self.groups_ is None else sizes_of_groups(self.groups_, self.fold_indices_)
        gaps = known is not None and known.unknown[np.concatenate(self.fold_indices_)].any()
        weighed = are_weighed(sizes, plain=not self.smoothed_ and not self.conditional and not gaps)
        return (
            [None] * len(self.fold_indices_) if sizes is None or not weighed else sizes.calibrating
        )

    def update(self, X: MatrixLike, y: LabelMatrixLike) -> Self:
        """Add calibration examples to an inductive predictor, in place: :meth:`InductiveConformalClassifier.update`.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            New objects: not among those that trained the model.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown.
        """
        X = self._check_objects(X)
        check_one_fold(self.models_, groups=self.groups_)
        labels, unknown = check_gaps(
            y, name="y", n_labels=self.n_labels_, label_names=self.label_names_
        )
        check_same_length(X, labels, names=("X", "y"))
        (outputs,) = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
        (old,) = self.calibrated_
        new = LabelCalibration.of(outputs, labels, conditional=old.conditional, unknown=unknown)
        self.calibrated_ = [old.joined_by(new)]
        return self

    def predict_labels(self, X: MatrixLike) -> LabelWisePredictions:
        """Return p-values of each label being off and on for new objects.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
        return predict_values(
            self.calibrated_,
            outputs,
            draws=draw_uniforms(self.draw_seed_, SMOOTHING, object_keys(X))
            if self.smoothed_
            else None,
            label_names=self.label_names_,
            index=row_index_of(X),
            complementary=self.complementary_,
            groups=None
            if self.groups_ is None
            else sizes_of_groups(self.groups_, self.fold_indices_),
        )

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the mean of the models' outputs as they are, shape (n_objects, n_labels).

        What is learned here are p-values of labels, and no probabilities: for outputs that are
        recalibrated choose :class:`~labelsure.learners.RecalibratedClassifier` as the estimator.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
        return np.asarray(sum(outputs)) / len(outputs)

    def predict(self, X: MatrixLike) -> Any:
        """Return the more plausible value of each label, ties by the lower score.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        return self._put_out(self.predict_labels(X).labels.astype(np.int64), X)

    def _promise(self) -> str:
        return "predict_labels(X).region(0.05).statement says what is proven."

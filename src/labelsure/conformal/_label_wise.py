"""Label-wise conformal prediction: a p-value for each label being off and on."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_examples,
    check_flag,
    check_gaps,
    check_outputs,
    check_same_length,
    read_unknown,
    row_index_of,
    split_unknown,
)
from labelsure._random import DRAW_UNIT, SMOOTHING, draw_seeds, draw_uniforms, object_keys
from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._calibrator import check_one_fold, keys_of
from labelsure.conformal._guarantees import state_groups, state_guarantee
from labelsure.conformal._merging import GroupSizes, sizes_of_groups
from labelsure.conformal._models import fit_models, outputs_of_models
from labelsure.conformal._outputs import read_per_fold, rows_of_folds
from labelsure.conformal._splits import Split, hold_out, leave_out_unusable, make_splits
from labelsure.conformal._training_data import TrainingData, router_of
from labelsure.engine._p_values import GroupWeights, weigh_scores
from labelsure.measures._costs import choose_exponent, to_fixed_point
from labelsure.predictions import LabelWiseGuarantee, LabelWisePredictions
from labelsure.predictions._label_wise import JointScores

EXPONENT = choose_exponent(1.0)
"""Scores |c - o| lie between 0 and 1."""

UNIT = 2**EXPONENT


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """The scores ``|t_j - o_j|`` of one fold's calibration examples, label by label.

    Attributes
    ----------
    scores : int64 array of shape (m, q)
        Those of each example, in descending order; of examples without unknown labels.
    groups : sequence of q pairs of int64 arrays
        The scores that "off" and "on" are compared with: label-conditional, those of the examples
        with that value of the label; else those of all examples, twice.
    conditional : bool
        Whether the scores are those of the examples with the same value.
    n_incomplete : int
        How many examples have unknown labels, and calibrate the others.
    n_together : int64 array of shape (m, q + 1) or None
        Where examples count by the sizes of their groups, these sizes: for each label by descending
        score, and in the order of ``scores``.

    Examples
    --------
    >>> import numpy as np
    >>> outputs, Y = np.array([[0.75], [0.5], [0.25]]), np.array([[1], [0], [0]])
    >>> values = score_values(np.array([[0.5]]))
    >>> LabelCalibration.of(outputs, Y, conditional=False).weigh(values, None).tolist()
    [[[1, 1]]]
    >>> LabelCalibration.of(outputs, Y, conditional=True).weigh(values, None).tolist()
    [[[1, 0]]]
    """

    scores: IntArray
    groups: Sequence[tuple[IntArray, IntArray]]
    conditional: bool
    n_incomplete: int = 0
    n_together: IntArray | None = None

    @classmethod
    def of(
        cls,
        outputs: FloatArray,
        Y: LabelMatrix,
        *,
        conditional: bool,
        unknown: BoolArray | None = None,
        sizes: IntArray | None = None,
    ) -> "LabelCalibration":
        """Return the calibration of these outputs and labels, (m, q) each.

        ``sizes`` are those of the examples' groups, where they count by them.
        """
        known = np.ones(Y.shape, dtype=bool) if unknown is None else ~unknown
        scores = np.take_along_axis(score_values(outputs), Y[:, :, None].astype(np.int64), axis=2)[
            :, :, 0
        ]
        groups = []
        for j in range(Y.shape[1]):
            if conditional:
                off, on = (np.sort(scores[known[:, j] & (Y[:, j] == c), j]) for c in (0, 1))
            else:
                off = on = np.sort(scores[known[:, j], j])
            groups.append((off, on))
        complete, together = known.all(axis=1), None
        if sizes is not None:
            together = np.column_stack([sizes[np.argsort(-scores, axis=0, kind="stable")], sizes])
        return cls(
            -np.sort(-scores[complete], axis=1),
            groups,
            conditional,
            int((~complete).sum()),
            together,
        )

    def extended(
        self, outputs: FloatArray, Y: LabelMatrix, unknown: BoolArray | None
    ) -> "LabelCalibration":
        """Return the calibration of these examples too, the same in whichever order they come."""
        new = LabelCalibration.of(outputs, Y, conditional=self.conditional, unknown=unknown)
        groups = [
            (np.sort(np.append(off, new_off)), np.sort(np.append(on, new_on)))
            for (off, on), (new_off, new_on) in zip(self.groups, new.groups, strict=True)
        ]
        scores = np.concatenate([self.scores, new.scores])
        n_incomplete = self.n_incomplete + new.n_incomplete
        return LabelCalibration(scores, groups, self.conditional, n_incomplete)

    @property
    def group_sizes(self) -> IntArray:
        """The number of examples that "off" and "on" are compared with, shape (q, 2)."""
        return np.array([[len(off), len(on)] for off, on in self.groups], dtype=np.int64)

    @property
    def group_weights(self) -> GroupWeights | None:
        """How much the examples count, in the order of ``scores``; None where all count alike."""
        return None if self.n_together is None else GroupWeights.of(self.n_together[:, -1])

    def weigh(self, scores: IntArray, draws: IntArray | None) -> IntArray:
        """Return the weight of the calibration scores >= that of each value, (n, q, 2)."""
        weights, of_groups = np.empty_like(scores), self.group_weights
        for j, group in enumerate(self.groups):
            for c, calibration in enumerate(group):
                weights[:, j, c] = weigh_scores(calibration, scores[:, j, c], draws)
            if self.n_together is not None and of_groups is not None:
                of_largest = np.cumsum(of_groups.unit // self.n_together[:, j])
                weights[:, j] = np.concatenate([[0], of_largest])[weights[:, j]]
        return weights


def score_values(outputs: FloatArray) -> IntArray:
    """Return |c - o_j| for c = 0 and c = 1 in units of 2^-EXPONENT, shape (n, q, 2)."""
    off = to_fixed_point(outputs, EXPONENT)
    return np.stack([off, UNIT - off], axis=2)


def predict_values(
    folds: Sequence[LabelCalibration],
    outputs: Sequence[FloatArray],
    *,
    draws: IntArray | None,
    label_names: Sequence[str] | None,
    index: Any = None,
    complementary: bool = True,
    groups: GroupSizes | None = None,
) -> LabelWisePredictions:
    """Return the p-values of each label's values for new objects.

    Parameters
    ----------
    folds : sequence of LabelCalibration
        One for an inductive predictor, K for a cross-conformal one.
    outputs : sequence of arrays of shape (n, q)
        Of each fold's model.
    draws : int64 array of shape (n,) or None
        For smoothed p-values, one number from 1 to ``DRAW_UNIT`` per object.
    label_names : sequence of str or None
        The labels' names.
    index : pandas index or None
        That of the objects.
    complementary : bool
        Whether each fold's model was trained on all other examples.
    groups : GroupSizes or None
        How large groups are, where examples belong together.
    """
    first = folds[0]
    scores = [score_values(fold_outputs) for fold_outputs in outputs]
    weights = [fold.weigh(of_values, draws) for fold, of_values in zip(folds, scores, strict=True)]
    totals: IntArray = np.sum(scores, axis=0, dtype=np.int64)
    sizes: IntArray = np.sum([fold.group_sizes for fold in folds], axis=0, dtype=np.int64)
    own: Any = np.int64(1)
    denominators = sizes + 1
    if draws is not None:
        own = draws[:, None, None]
        denominators = denominators * DRAW_UNIT
    group_weights = first.group_weights
    if group_weights is not None:
        own = np.int64(group_weights.new)
        denominators = np.full_like(sizes, group_weights.denominator)
    numerators = np.sum(weights, axis=0, dtype=np.int64) + own
    joint = None
    if not first.conditional:
        off = np.stack([of_values[:, :, 0] for of_values in scores])
        joint = JointScores(off, UNIT, [fold.scores for fold in folds], draws, group_weights)
    return LabelWisePredictions(
        np.where(sizes == 0, denominators, numerators),  # 1 where nothing is there to compare with
        denominators,
        nearer_on=totals[:, :, 1] < totals[:, :, 0],
        joint=joint,
        guarantee=_state_guarantee(
            folds, sizes, smoothed=draws is not None, complementary=complementary, groups=groups
        ),
        label_names=tuple(label_names or ()),
        index=index,
    )


def _state_guarantee(
    folds: Sequence[LabelCalibration],
    sizes: IntArray,
    *,
    smoothed: bool,
    complementary: bool,
    groups: GroupSizes | None,
) -> LabelWiseGuarantee:
    """Return what is proven about p-values of single labels, and about all labels at once."""
    n_incomplete = sum(fold.n_incomplete for fold in folds)
    plain = not (smoothed or folds[0].conditional or n_incomplete)
    proven = None if groups is None else state_groups(groups, plain=plain)
    conditional = folds[0].conditional and proven is None
    if proven is None:
        # where no example is complete, what is said of all labels is said of one that is not there
        n_complete = [len(fold.scores) for fold in folds]
        if not any(n_complete):
            n_complete = [1] * len(folds)
        name = "inductive" if len(folds) == 1 else "cross"
        proven = state_guarantee(name, [n_complete], complementary=complementary and plain)
    n_folds: IntArray = np.sum([fold.group_sizes > 0 for fold in folds], axis=0, dtype=np.int64)
    return LabelWiseGuarantee(sizes, n_folds, conditional, proven, n_incomplete)


@dataclass(eq=False, repr=False)
class LabelWiseOutputsPredictor:
    """A calibrated label-wise predictor that works on outputs, made by :func:`calibrate_labels`.

    Attributes
    ----------
    calibrated : tuple of LabelCalibration
        The scores of the calibration examples, one per fold.
    fold_numbers : int array of shape (K,) or None
        The fold numbers in ascending order, the order in which new outputs are expected; None for
        an inductive one.
    n_labels : int
        The number of labels.
    label_names : sequence of str or None
        What they are called.
    draw_seed : int or None
        For the draws of smoothed p-values; None where they are not.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> predictor.predict_labels([[0.8, 0.15]]).p_values.tolist()
    [[[0.25, 0.75], [0.75, 0.25]]]
    """

    calibrated: tuple[LabelCalibration, ...]
    fold_numbers: IntArray | None
    n_labels: int
    label_names: Sequence[str] | None
    draw_seed: int | None

    def __repr__(self) -> str:
        n = sum(len(fold.scores) + fold.n_incomplete for fold in self.calibrated)
        folds = "" if self.fold_numbers is None else f" in {len(self.calibrated)} folds"
        return f"LabelWiseOutputsPredictor({self.n_labels} labels, {n} calibration examples{folds})"

    def predict_labels(self, outputs: Any) -> LabelWisePredictions:
        """Return p-values of each label being off and on for new objects.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels) or (K, n_objects, n_labels)
            Between 0 and 1: of the one model, or of each fold's model in the order of
            ``fold_numbers``.
        """
        names = self.label_names
        read = partial(check_outputs, n_labels=self.n_labels, label_names=names)
        checked = read_per_fold(outputs, self.fold_numbers, self.n_labels, read)
        draws = (
            None
            if self.draw_seed is None
            else draw_uniforms(self.draw_seed, SMOOTHING, keys_of(checked))
        )
        index = row_index_of(outputs if self.fold_numbers is None else outputs[0])
        return predict_values(self.calibrated, checked, draws=draws, label_names=names, index=index)

    def update(self, outputs: Any, Y: LabelMatrixLike) -> Self:
        """Add calibration examples in place, see :meth:`InductiveConformalClassifier.update`.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels)
            Of the model, for new examples that it was not trained on.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown.
        """
        check_one_fold(self.calibrated)
        names = self.label_names
        labels, unknown = check_gaps(Y, n_labels=self.n_labels, label_names=names)
        read = partial(check_outputs, n_labels=self.n_labels, label_names=names)
        (checked,) = read_per_fold(outputs, self.fold_numbers, self.n_labels, read)
        check_same_length(checked, labels, names=("outputs", "Y"))
        (old,) = self.calibrated
        self.calibrated = (old.extended(checked, labels, unknown),)
        return self


def calibrate_labels(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    folds: Any = None,
    conditional: bool = False,
    label_names: Sequence[str] | None = None,
    smoothed: bool = False,
    random_state: Any = None,
) -> LabelWiseOutputsPredictor:
    """Calibrate a label-wise predictor with the outputs of any model.

    Its p-values are those of :class:`LabelWiseConformalClassifier`, with the same guarantees.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones; NaN where a label is unknown. Each label
        is calibrated with the examples where it is known.
    folds : array-like of shape (n,) or None, default=None
        None: one model gave all outputs, an inductive predictor. Else the fold number of each
        example, whose output comes from a model trained on the other folds.
    conditional : bool, default=False
        Whether examples are counted only among those with the same value of the label.
    label_names : sequence of str or None, default=None
        Names of the labels; those of ``Y`` if it is a DataFrame.
    smoothed, random_state
        As in :class:`LabelWiseConformalClassifier`.

    Returns
    -------
    LabelWiseOutputsPredictor
        Its ``predict_labels`` takes outputs for new objects.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor.
       COPA 2016, LNCS 9653, 90-104.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.4, 0.1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> predictor = calibrate_labels(outputs, Y, conditional=True, label_names=["sea", "city"])
    >>> predictor.predict_labels([[0.8, 0.3]]).p_values.round(2).tolist()
    [[[0.33, 0.67], [0.25, 0.5]]]
    """
    filled, missing = split_unknown(Y)
    checked, labels, names = check_examples(outputs, filled, label_names)
    unknown = read_unknown(missing, label_names, name="Y")
    rows, fold_numbers = rows_of_folds(folds, len(labels))
    calibrated = [
        LabelCalibration.of(
            checked[part],
            labels[part],
            conditional=check_flag(conditional, name="conditional"),
            unknown=None if unknown is None else unknown[part],
        )
        for part in rows
    ]
    draw_seed = draw_seeds(random_state, 1)[0] if check_flag(smoothed, name="smoothed") else None
    return LabelWiseOutputsPredictor(
        tuple(calibrated), fold_numbers, labels.shape[1], names, draw_seed
    )


@dataclass(eq=False, repr=False)
class LabelWiseConformalClassifier(WrappingClassifier):
    r"""Binary-relevance conformal predictor: p-values of single labels, inductive or in folds.

    Each label is a separate problem. Some of the training set is held out for calibration; with
    :math:`\alpha_{ij} = |t_{ij} - o_{ij}|` for its m examples, the p-values of label j being off
    (c = 0) and on (c = 1) are [1]_

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
    >>> model = LabelWiseConformalClassifier(MLkNNClassifier(), random_state=0)
    >>> model = model.fit(X[:300], Y[:300])
    >>> pred = model.predict_labels(X[300:])
    >>> pred
    LabelWisePredictions(20 objects, 3 labels)
    >>> pred.region(significance=0.2, at_most_wrong=1)
    LabelWiseRegion(significance=0.2, at_most_wrong=1, 20 objects)
    """

    _learned_last = "calibrated_"
    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - as scikit-learn's splitters by groups have it

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
                "cv cannot be used with prefit=True: a model that is fitted already has no folds."
            )
        given = {"prefit": self.prefit}
        data, split_params = self._read_training(X, y, label_names, groups, fit_params, **given)
        smoothed = check_flag(self.smoothed, name="smoothed")
        conditional = check_flag(self.conditional, name="conditional")
        random = check_random_state(self.random_state)
        fitted = None
        n = len(data.Y)
        if self.prefit:
            splits = [Split(np.empty(0, dtype=np.int64), np.arange(n))]
            fitted = [self.estimator]
        elif self.cv is None:
            (seed,) = draw_seeds(random, 1)
            splits = [hold_out(self.calibration_size, n, seed, groups=data.groups)]
        else:
            (seed,) = draw_seeds(random, 1)
            params: dict[str, Any] = {"groups": data.groups, "split_params": split_params}
            splits = make_splits(self.cv, data.X, data.Y, seed, **params)
        complementary = all(len(split.train) + len(split.calibration) == n for split in splits)
        if not self.prefit:
            splits = leave_out_unusable(splits, data.usable_by(self.estimator))
        *seeds, self.draw_seed_ = draw_seeds(random, len(splits) + 1)
        models = fit_models(
            self.estimator,
            data,
            splits,
            seeds=seeds,
            n_jobs=self.n_jobs,
            fitted=fitted,
            memory=self.memory,
        )
        self.models_ = [fold.model for fold in models]
        self.fold_indices_ = [split.calibration for split in splits]
        self.smoothed_ = smoothed
        self.groups_ = data.groups
        shared = any(fold.shared for fold in models)
        self.complementary_ = complementary and data.unknown is None and not shared
        group_sizes = self._group_sizes(data, conditional=conditional)
        self.calibrated_ = [
            LabelCalibration.of(
                fold.outputs,
                data.Y[rows],
                conditional=conditional,
                unknown=None if data.unknown is None else data.unknown[rows],
                sizes=sizes,
            )
            for fold, rows, sizes in zip(models, self.fold_indices_, group_sizes, strict=True)
        ]
        return self

    def get_metadata_routing(self) -> Any:
        """Return what is routed to this predictor, its classifier and its splitter (as ``cv``)."""
        return router_of(self)

    def _group_sizes(self, data: TrainingData, *, conditional: bool) -> Sequence[IntArray | None]:
        """Return how large the groups of each fold's examples are, where these count by that."""
        sizes = sizes_of_groups(self.groups_, self.fold_indices_)
        complete = data.complete[np.concatenate(self.fold_indices_)].all()
        plain = bool(not self.smoothed_ and not conditional and complete)
        if sizes is None or not sizes.count_by_size(plain=plain):
            return [None] * len(self.fold_indices_)
        return sizes.calibrating

    def update(self, X: MatrixLike, y: LabelMatrixLike) -> Self:
        """Add calibration examples in place, see :meth:`InductiveConformalClassifier.update`.

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
        self.calibrated_ = [old.extended(outputs, labels, unknown)]
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
            groups=sizes_of_groups(self.groups_, self.fold_indices_),
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

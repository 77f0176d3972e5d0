"""Recall, precision and cover under control around any classifier: the estimators."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_choice,
    read_labels,
    split_unknown,
)
from labelsure._random import DRAW_UNIT, MERGING, draw_seeds, draw_uniforms, object_keys
from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._models import FoldModel, fit_models, outputs_of_models
from labelsure.conformal._splits import Split, hold_out, leave_out_unusable, make_splits
from labelsure.conformal._training_data import TrainingData
from labelsure.decisions._cover import UNKNOWN_REFUSED, LabelCover, control_cover
from labelsure.decisions._thresholds import (
    ThresholdPredictor,
    add_assumption,
    check_some_known,
    control_precision,
    control_recall,
)

MERGES = ("random", "any")
"""How folds are merged, the default first."""

FOLDS = "for exchangeable examples and folds that were not chosen by their labels"
EACH = "conformal risk control in each of {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024"
DRAWS = "on average over the draws, one per object and the same for equal objects"
CONDITIONS = {
    "random": f"{FOLDS}, {DRAWS} ({EACH}; labels kept by votes and draws)",
    "any": f"{FOLDS} ({EACH}; labels that any of them predicts)",
}

DRY_RUN = (np.array([[0.5]]), np.array([[1]]))
"""An example that parameters are checked with, before anything is fitted."""


@dataclass(eq=False, repr=False)  # scikit-learn compares and prints
class Controller(WrappingClassifier):
    """Base of the controllers: a classifier, and a threshold calibrated on held-out examples.

    The fitted state is ``models_`` and ``predictors_``, one of each per fold: outputs in, labels
    out.
    """

    estimator: Any = None
    _: KW_ONLY
    target: float = 0.9
    calibration_size: float | int = 0.3
    prefit: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    memory: Any = None

    _learned_last = "statement_"
    _control: ClassVar[Callable[..., ThresholdPredictor | LabelCover]]
    _options: ClassVar[tuple[str, ...]]
    _claim: ClassVar[str] = ""
    _fallback: ClassVar[str] = "all labels will be predicted"

    def fit(
        self, X: MatrixLike, y: LabelMatrixLike, *, label_names: Sequence[str] | None = None
    ) -> Self:
        """Fit the classifier, and calibrate with examples that it has not seen.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects; with ``prefit``, the calibration objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; for recall and precision NaN where a label is not known.
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        """
        self._calibrate(*DRY_RUN)
        filled, missing = split_unknown(y)
        X, Y = self._check_fit(X, filled, label_names, prefit=self.prefit)
        unknown = None if missing is None else self._read_unknown(missing, label_names)
        split_seed, model_seed, self.draw_seed_ = draw_seeds(self.random_state, 3)
        splits = self._splits(X, Y, split_seed)
        if self.prefit:
            (outputs,) = outputs_of_models([self.estimator], X, self.n_labels_, n_jobs=None)
            models = [FoldModel(self.estimator, outputs)]
        else:
            seeds = draw_seeds(model_seed, len(splits))
            given: dict[str, Any] = {"n_jobs": self.n_jobs, "memory": self.memory}
            data = TrainingData(X, Y, unknown)
            splits = leave_out_unusable(splits, data.usable_by(self.estimator))
            models = fit_models(self.estimator, data, splits, seeds=seeds, **given)
        self.models_ = [fold.model for fold in models]
        self.fold_indices_ = [split.calibration for split in splits]
        self._learn([fold.outputs for fold in models], Y, unknown)
        return self

    def predict(self, X: MatrixLike) -> Any:
        """Return the labels of new objects.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
        folds = zip(self.predictors_, outputs, strict=True)
        predicted = [predictor.predict(of_fold) for predictor, of_fold in folds]
        if len(predicted) == 1:
            return self._put_out(predicted[0], X)
        draws = None
        if self.merge_ == "random":
            draws = draw_uniforms(self.draw_seed_, MERGING, object_keys(X))
        return self._put_out(merge_votes(predicted, draws), X)

    def _promise(self) -> str:
        return str(self.statement_)

    def _calibrate(self, outputs: Any, Y: Any) -> ThresholdPredictor | LabelCover:
        """Return the predictor for these calibration examples."""
        options = {name: getattr(self, name) for name in ("target", *self._options)}
        return type(self)._control(outputs, Y, **options)

    def _splits(self, X: MatrixLike, Y: LabelMatrix, seed: int) -> list[Split]:
        """Return what trains and what calibrates, or raise ValueError before anything is fitted."""
        cv = getattr(self, "cv", None)
        self.merge_ = check_choice(getattr(self, "merge", MERGES[0]), MERGES, name="merge")
        if self.prefit and cv is not None:
            raise ValueError(
                "cv cannot be used with prefit=True, because a model that is already fitted has no"
                " folds."
            )
        if self.prefit:
            return [Split(np.empty(0, dtype=np.int64), np.arange(len(Y)))]
        if cv is None:
            train, calibration = hold_out(self.calibration_size, len(Y), seed)
            # in random order: bounds that bet on one example after the other must not meet them
            # sorted by their labels
            return [Split(train, check_random_state(seed).permutation(calibration))]
        return make_splits(cv, X, Y, seed)

    def _read_unknown(self, missing: Any, label_names: Sequence[str] | None) -> BoolArray:
        """Return where labels are unknown, or raise ValueError where that cannot be used."""
        unknown: BoolArray = read_labels(missing, label_names, name="y")[0].astype(bool)
        check_some_known(unknown, name="y")
        return unknown

    def _learn(
        self, outputs: Sequence[FloatArray], Y: LabelMatrix, unknown: BoolArray | None
    ) -> None:
        """Calibrate each fold, and state what is proven."""
        labels = Y if unknown is None else np.where(unknown, np.nan, Y)
        folds = zip(outputs, self.fold_indices_, strict=True)
        self.predictors_ = [self._calibrate(of_fold, labels[rows]) for of_fold, rows in folds]
        n_folds, size = len(self.predictors_), len(self.fold_indices_[0])
        self.reached_ = all(predictor.reached for predictor in self.predictors_)
        if not self.reached_:
            each = " in each fold" if n_folds > 1 else ""
            warnings.warn(
                f"{size} calibration examples{each} are too few to certify"
                f" target={float(self.target):g}, so {self._fallback}. Calibrate with more"
                " examples, or lower the target.",
                stacklevel=3,
            )
        if n_folds == 1:
            self.statement_ = self.predictors_[0].statement
        else:
            claim = self._claim.format(target=float(self.target))
            conditions = CONDITIONS[self.merge_].format(K=n_folds)
            self.statement_ = add_assumption(f"{claim}, {conditions}.", unknown)


def merge_votes(predicted: Sequence[IntArray], draws: IntArray | None) -> IntArray:
    """Return the labels that enough folds predict, from K arrays of zeros and ones of shape (n, q).

    Those that any fold predicts or, with draws u from 1 to ``DRAW_UNIT``, one per object, those
    that at least a share u / ``DRAW_UNIT`` of the folds predict.

    Examples
    --------
    >>> folds = [np.array([[1, 1, 0]]), np.array([[1, 0, 0]])]
    >>> merge_votes(folds, None).tolist(), merge_votes(folds, np.array([DRAW_UNIT])).tolist()
    ([[1, 1, 0]], [[1, 0, 0]])
    """
    votes = np.sum(predicted, axis=0)
    if draws is None:
        enough: BoolArray = votes > 0
    else:
        # u - 1 = 0 .. DRAW_UNIT - 1 is below votes / K with a probability of at least votes / K,
        # never of less
        enough = votes * DRAW_UNIT > len(predicted) * (draws[:, None] - 1)
    return enough.astype(np.int64)


@dataclass(eq=False, repr=False, kw_only=True)
class RecallController(Controller):
    r"""Predicts labels with an expected recall of at least ``target``, around any classifier.

    A part of the training set is held out, and :func:`control_recall` finds the highest threshold
    of the outputs that misses few enough true labels there. Or, with ``cv``, every fold finds a
    threshold for the model that has not seen it, and votes of the folds decide.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The recall to be reached, strictly between 0 and 1. An object without labels counts as
        recall 1.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    random_state : int, RandomState or None, default=None
        For the split, for every ``random_state`` inside the estimator that is None, and for the
        draws of "random", which belong to the object: see :class:`CrossConformalClassifier`.
    n_jobs : int or None, default=None
        Folds fitted in parallel; results do not depend on it.
    memory : str, path, joblib.Memory or None, default=None
        A folder that keeps fitted folds, as in :class:`~labelsure.CrossConformalClassifier`.
    method : {"crc", "rcps"}, default="crc"
        In expectation, or, for a part held out, with probability 1 - ``delta`` over calibration
        sets.
    delta, bound : default=None
        For "rcps", as in :func:`control_recall`.
    cv : int, splitter, iterable of (train, calibration) index pairs or None, default=None
        None holds out ``calibration_size``. Else folds as in :class:`CrossConformalClassifier`,
        which must not be chosen by the labels: stratified folds are not covered by the proofs.
    merge : {"random", "any"}, default="random"
        How many folds have to predict a label, and so what is proven; see Notes.

    Attributes
    ----------
    models_ : list
        The fitted classifiers, one per fold; one without ``cv``.
    predictors_ : list of ThresholdPredictor
        What turns the outputs of each into labels.
    statement_ : str
        What is proven about new objects, under which conditions, and by whom.
    reached_ : bool
        Whether the calibration examples show that the target is reached, in all folds.
    n_labels_, label_names_, fold_indices_
        As in :class:`LabelWiseConformalClassifier`.

    Notes
    -----
    A part held out: what :func:`control_recall` proves, as it is. With K folds, for exchangeable
    examples and any learner, the expected recall of a new object is proven to be at least the
    target:

    - "random": a label is predicted where at least a share U of the folds predict it, U one uniform
      draw per object, the same for equal objects. The promise is an average over U, over which the
      loss is the mean of the folds'.
    - "any": where one fold predicts it. No draw, and larger sets.

    Unknown labels, NaN in ``y``: the classifier inside learns from complete examples, or from all
    known labels if it learns one label at a time, and all examples calibrate. Chance must decide
    which labels of an object are known, treating them all alike, whatever their values. Sets are
    larger than the target takes where labels are few: with 30 % unknown, 2 to 3 times fewer true
    labels are missed than allowed with three labels, hardly fewer with twelve.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import MLkNNClassifier, RecallController
    >>> X, y = make_multilabel_classification(n_samples=600, n_classes=4, random_state=0)
    >>> model = RecallController(MLkNNClassifier(), target=0.9, random_state=0)
    >>> model = model.fit(X[:400], y[:400])
    >>> predicted = model.predict(X[400:])
    >>> found = (predicted * y[400:]).sum() / y[400:].sum()
    >>> print(f"{predicted.sum(axis=1).mean():.1f} labels an object, recall {found:.2f}")
    2.9 labels an object, recall 0.91
    >>> print(model.statement_)
    The expected recall of a new object is at least 0.9, an object without labels counting as recall
    1, for exchangeable
    examples (conformal risk control: Angelopoulos, Bates, Fisch, Lei, Schuster 2024).
    """

    method: str = "crc"
    delta: float | None = None
    bound: str | None = None
    cv: Any = None
    merge: str = "random"

    _control = staticmethod(control_recall)
    _options = ("method", "delta", "bound")
    _claim = (
        "The expected recall of a new object is at least {target:g}, an object without labels"
        " counting as recall 1"
    )

    def _calibrate(self, outputs: Any, Y: Any) -> ThresholdPredictor | LabelCover:
        if self.cv is not None and self.method == "rcps":
            raise ValueError(
                f"method={self.method!r} cannot be used with cv: what holds with high probability"
                " for each fold does not hold for all of them together. Use method='crc', or"
                " cv=None."
            )
        return super()._calibrate(outputs, Y)


@dataclass(eq=False, repr=False, kw_only=True)
class PrecisionController(Controller):
    """Predicts labels with a mean precision of at least ``target``, with high probability.

    A part of the training set is held out, and :func:`control_precision` finds the lowest threshold
    of the outputs that is tested to let in few enough false labels there. There are no folds here:
    precision is not monotone in the threshold, so what the folds promise does not carry over to the
    labels that several of them predict.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The precision to be reached, strictly between 0 and 1. An empty set counts as precise.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    random_state : int, RandomState or None, default=None
        For the split, and for every ``random_state`` inside the estimator that is None.
    n_jobs : int or None, default=None
        Handed on; there is one model.
    memory : str, path, joblib.Memory or None, default=None
        A folder that keeps fitted folds, as in :class:`~labelsure.CrossConformalClassifier`.
    delta, thresholds, correction, bound
        As in :func:`control_precision`.

    Attributes
    ----------
    models_, predictors_, statement_, reached_, n_labels_, label_names_, fold_indices_
        As in :class:`RecallController`; one model and one predictor. Where no threshold passes its
        test ``reached_`` is False, and no label is predicted.

    Notes
    -----
    What :func:`control_precision` proves, as it is. Unknown labels, NaN in ``y``, as in
    :class:`RecallController`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import MLkNNClassifier, PrecisionController
    >>> X, y = make_multilabel_classification(n_samples=1200, n_classes=4, random_state=0)
    >>> model = PrecisionController(MLkNNClassifier(), target=0.8, random_state=0)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> predicted = model.predict(X[1000:])
    >>> n_predicted, n_false = predicted.sum(axis=1), (predicted > y[1000:]).sum(axis=1)
    >>> precision = 1 - n_false / n_predicted.clip(min=1)
    >>> print(f"{n_predicted.mean():.1f} labels an object, mean precision {precision.mean():.2f}")
    1.8 labels an object, mean precision 0.84
    """

    delta: float = 0.1
    thresholds: Any = 101
    correction: str = "fixed-sequence"
    bound: str = "betting"

    _control = staticmethod(control_precision)
    _options = ("delta", "thresholds", "correction", "bound")
    _fallback = "no label will be predicted"


@dataclass(eq=False, repr=False, kw_only=True)
class CoverController(Controller):
    """Predicts few labels that include all true ones with probability ``target``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The probability that no true label is left out, strictly between 0 and 1.
    calibration_size, prefit, random_state, n_jobs, memory, cv, merge
        As in :class:`RecallController`.
    form : {"count", "chance", "threshold"}, default="count"
        Where labels are cut off, see :func:`control_cover`: after the same number k for every
        object, after as many as the object needs, or at an output.

    Attributes
    ----------
    models_, statement_, reached_, n_labels_, label_names_, fold_indices_
        As in :class:`RecallController`.
    predictors_ : list of LabelCover
        What turns the outputs of each model into labels; ``predictors_[0].limit`` is k for a part
        held out.

    Notes
    -----
    A part held out: what :func:`control_cover` proves, as it is. With K folds what
    :class:`RecallController` says of the expected recall holds for the probability that no true
    label is left out. With folds "count" is the number of labels that each fold names, and more or
    fewer may be predicted.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CoverController, MLkNNClassifier
    >>> X, y = make_multilabel_classification(600, n_classes=8, n_labels=2, random_state=0)
    >>> model = CoverController(MLkNNClassifier(), target=0.8, random_state=0).fit(X[:400], y[:400])
    >>> predicted = model.predict(X[400:])
    >>> covered = (predicted >= y[400:]).all(axis=1).mean()
    >>> print(f"{predicted.sum(axis=1).mean():.0f} labels cover {covered:.2f} of the objects")
    7 labels cover 0.89 of the objects
    """

    form: str = "count"
    cv: Any = None
    merge: str = "random"

    _control = staticmethod(control_cover)
    _options = ("form",)
    _claim = (
        "All true labels of a new object are among the labels predicted with probability at least"
        " {target:g}"
    )

    def _read_unknown(self, missing: Any, label_names: Any) -> BoolArray:  # noqa: ARG002
        raise ValueError(f"y {UNKNOWN_REFUSED}")

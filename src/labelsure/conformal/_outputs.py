"""Predictors from outputs alone: arrays of a neural net, of another library or language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    as_array,
    check_label_matrix,
    check_number,
    check_outputs,
    check_same_length,
    check_unmasked,
    read_labels,
    row_index_of,
    to_host,
)
from labelsure._random import draw_seeds
from labelsure.conformal._base import USUAL_LEVEL
from labelsure.conformal._calibrator import AnyOutputs, Calibrator, calibrate, check_one_fold
from labelsure.conformal._choices import Choices, check_choices
from labelsure.conformal._examples import FoldExamples
from labelsure.engine import Constraint
from labelsure.measures import Measure, Need
from labelsure.measures._choice import MeasureChoices
from labelsure.measures._sparse_outputs import SparseOutputs
from labelsure.predictions import LabelsetPredictions
from labelsure.predictions._show import html_note, html_page

TrainingPart = tuple[LabelMatrix | None, FloatArray | SparseOutputs | None]
"""Labels and outputs of the examples that a model was trained on, as far as they are known."""

Outputs = TypeVar("Outputs", FloatArray, SparseOutputs, AnyOutputs)


def read_outputs(
    outputs: Any,
    default_output: float,
    *,
    n_labels: int,
    label_names: Sequence[str] | None,
    name: str = "outputs",
) -> AnyOutputs:
    """Return checked outputs, sparse ones as such."""
    if sparse.issparse(outputs):
        default = check_number(default_output, name="default_output")
        return SparseOutputs(outputs, default, n_labels=n_labels, name=name)
    return check_outputs(outputs, n_labels=n_labels, label_names=label_names, name=name)


def rows_of_folds(folds: Any, n_examples: int) -> tuple[list[BoolArray], IntArray | None]:
    """Return the examples of each fold and the sorted fold numbers; all and None without folds."""
    if folds is None:
        return [np.ones(n_examples, dtype=bool)], None
    numbers = as_array(folds, name="folds", shape="(n_examples,)")
    if numbers.shape != (n_examples,):
        raise ValueError(
            f"folds must hold one fold number per calibration example, {n_examples} in all, got"
            f" shape {numbers.shape}."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"folds must hold whole numbers, got {numbers.dtype} values: {numbers[0]!r}, ..."
        )
    fold_numbers = np.unique(numbers)
    if len(fold_numbers) < 2:
        raise ValueError(
            "folds must name at least two folds; leave folds out where one model gave all outputs."
        )
    return [numbers == number for number in fold_numbers], fold_numbers


def read_per_fold(
    outputs: Any, fold_numbers: IntArray | None, n_labels: int, read: Callable[[Any], Outputs]
) -> list[Outputs]:
    """Return new objects' outputs of each fold's model, read; of the one model without folds."""
    if fold_numbers is None:
        return [read(outputs)]
    n_folds = len(fold_numbers)
    if not hasattr(outputs, "__len__") or len(outputs) != n_folds:
        got = len(outputs) if hasattr(outputs, "__len__") else repr(outputs)
        raise ValueError(
            f"outputs must hold one (n_objects, {n_labels}) array per fold, {n_folds} in all, got"
            f" {got}."
        )
    per_fold = [read(part) for part in outputs]
    if len({len(part) for part in per_fold}) > 1:
        raise ValueError(
            "outputs must be of the same objects in every fold, got different numbers of rows."
        )
    return per_fold


def check_training_part(
    training_labels: Any,
    training_outputs: Any,
    default_output: float = 0.0,
    *,
    n_labels: int,
    label_names: Sequence[str] | None,
) -> TrainingPart:
    """Return the labels and outputs that a model was trained on, checked."""
    labels, outputs = training_labels, training_outputs
    known: dict[str, Any] = {"n_labels": n_labels, "label_names": label_names}
    if labels is not None:
        labels = check_label_matrix(labels, name="training_labels", **known)
    if outputs is not None:
        outputs = read_outputs(outputs, default_output, name="training_outputs", **known)
        if labels is None:
            raise ValueError(
                "training_outputs goes with training_labels: pass the labels of the same examples"
                " too."
            )
        check_same_length(outputs, labels, names=("training_outputs", "training_labels"))
    return labels, outputs


def known_of(labels: LabelMatrix | None, outputs: FloatArray | SparseOutputs | None) -> Need:
    """Return what is known of a training part; its outputs count as out-of-fold outputs."""
    known = Need.NOTHING if labels is None else Need.TRAINING_LABELS
    return known if outputs is None else known | Need.OUT_OF_FOLD_OUTPUTS


@dataclass(eq=False, repr=False)
class OutputsPredictor:
    """A calibrated predictor that takes outputs, made by :func:`calibrate_outputs`.

    Attributes
    ----------
    calibrator : Calibrator
        Fitted measures, calibration scores and choices.
    fold_numbers : int array of shape (K,) or None
        The fold numbers in ascending order, the order in which new outputs are expected; None for
        an inductive one.
    n_labels : int
        The number of labels.
    default_output : float
        The output of every entry that a sparse matrix does not store.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> predictor.predict_labelsets([[0.8, 0.3]]).p_values().tolist()
    [[0.25, 0.75, 0.25, 0.25]]
    >>> predictor.predict([[0.8, 0.3]]).tolist()
    [[1, 0]]
    """

    calibrator: Calibrator
    fold_numbers: IntArray | None
    n_labels: int
    default_output: float

    def __repr__(self) -> str:
        n_folds, n = len(self.calibrator.folds), sum(self.calibrator.sizes)
        folds = "" if self.fold_numbers is None else f" in {n_folds} folds"
        return f"OutputsPredictor({self.n_labels} labels, {n} calibration examples{folds})"

    def _repr_html_(self) -> str:
        return html_page(repr(self), html_note(self.calibrator.guarantee.sentence(USUAL_LEVEL)))

    @property
    def measure_choices(self) -> MeasureChoices | None:
        """What was chosen with ``measure="auto"``, and why; None for a given measure."""
        return self.calibrator.measure_choices

    def predict_labelsets(self, outputs: Any, X: MatrixLike = None) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels) or (K, n_objects, n_labels)
            Between 0 and 1: of the one model, or of each fold's model in the order of
            ``fold_numbers``. A sparse matrix, or a list of K of them, has the ``default_output``
            where nothing is stored. Tensors of torch and arrays of CuPy may be on a GPU: they are
            copied to memory once.
        X : array-like of n_objects rows or None, default=None
            The objects, where categories or weights look at them; draws then belong to them.
        """
        index = row_index_of(outputs if X is None else X)
        return self.calibrator.predict(self._read(outputs, X), X, index=index)

    def predict(self, outputs: Any, X: MatrixLike = None) -> IntArray:
        """Return the labelset with the highest p-value, see :meth:`predict_labelsets`."""
        return self.predict_labelsets(outputs, X).labelsets.astype(np.int64)

    def predict_proba(self, outputs: Any, X: MatrixLike = None) -> FloatArray:
        """Return the probability of each label, see :attr:`LabelsetPredictions.probabilities`."""
        return self.calibrator.probabilities(self._read(outputs, X), X)

    def update(self, outputs: Any, Y: LabelMatrixLike, X: MatrixLike = None) -> Self:
        """Add calibration examples in place, see :meth:`InductiveConformalClassifier.update`.

        Parameters
        ----------
        outputs : array-like or sparse matrix of shape (n_objects, n_labels)
            Of the model, for new examples that it was not trained on.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        X : array-like of n_objects rows or None, default=None
            The objects, where categories or weights look at them.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1]], [[1, 0], [1, 0]])
        >>> predictor = predictor.update([[0.3, 0.8]], [[0, 1]])
        >>> predictor.predict_labelsets([[0.8, 0.3]]).p_values().tolist()
        [[0.25, 0.75, 0.25, 0.25]]
        """
        check_one_fold(self.calibrator.folds)
        names = self.calibrator.label_names
        labels = check_label_matrix(Y, n_labels=self.n_labels, label_names=names)
        (read,) = self._read(outputs, X)
        check_same_length(read, labels, names=("outputs", "Y"))
        self.calibrator = self.calibrator.extended(read, labels, X)
        return self

    def nonconformity(self, outputs: Any, Y: LabelMatrixLike) -> FloatArray:
        """Return how strange labelsets are for objects with these outputs, the mean over folds."""
        names = self.calibrator.label_names
        labels = check_label_matrix(Y, n_labels=self.n_labels, label_names=names)
        read = self._read(outputs, None)
        check_same_length(read[0], labels, names=("outputs", "Y"))
        return self.calibrator.nonconformity(read, labels)

    def _read(self, outputs: Any, X: MatrixLike) -> list[AnyOutputs]:
        """Return new objects' outputs of each fold's model."""
        names: dict[str, Any] = {
            "n_labels": self.n_labels,
            "label_names": self.calibrator.label_names,
        }
        read_one = partial(read_outputs, default_output=self.default_output, **names)
        read: list[AnyOutputs] = read_per_fold(
            to_host(outputs), self.fold_numbers, self.n_labels, read_one
        )
        if X is not None:
            check_unmasked(X)
            check_same_length(X, read[0], names=("X", "outputs"))
        return read


def calibrate_outputs(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    folds: Any = None,
    measure: Measure | str | None = None,
    training_labels: LabelMatrixLike | None = None,
    training_outputs: MatrixLike | None = None,
    default_output: float = 0.0,
    X: MatrixLike = None,
    guarantee: str = "cross",
    mondrian: Any = None,
    weight: Callable[[MatrixLike], Any] | None = None,
    empty_labelset: str = "auto",
    label_names: Sequence[str] | None = None,
    smoothed: bool = False,
    constraints: Constraint | Sequence[Constraint] | None = None,
    on_violation: str = "refuse",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OutputsPredictor:
    """Calibrate a conformal predictor with the outputs of any model.

    Parameters
    ----------
    outputs : array-like or sparse matrix of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it. Where there are very many labels, a sparse matrix that holds only the
        outputs above ``default_output``: then the cost of an answer follows the number of labels
        that matter to an object, not q.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones.
    folds : array-like of shape (n,) or None, default=None
        None: one model gave all outputs, an inductive predictor. Else the fold number of each
        example, whose output comes from a model trained on the other folds: a cross-conformal
        predictor, with the guarantee of :class:`CrossConformalClassifier`.
    measure : Measure, "auto" or None, default=None
        The nonconformity measure; None as in :class:`CrossConformalClassifier` or, where neither
        folds nor ``training_labels`` say what the model was trained on, the paper's
        ``PowerMeasure(d=4)``. "auto" chooses one by the training examples, so it needs
        ``training_outputs``, best of models that had not seen them; see :class:`AutoMeasure`.
    training_labels : array-like of shape (n_training, q) or None, default=None
        For the inductive predictor, the labels the model was trained on, if the measure needs them.
    training_outputs : array-like or sparse matrix of shape (n_training, q) or None, default=None
        The model's outputs for those examples, if the measure needs them. With folds, of shape (K,
        n, q), or a list of K matrices: the outputs of each fold's model for all n examples; those
        for the fold itself are not looked at.
    default_output : float, default=0.0
        The output of every entry that a sparse matrix does not store; below one half.
    X : array-like of n rows or None, default=None
        The calibration objects, for categories and weights that look at them.
    empty_labelset : {"auto", "allow", "exclude"}, default="auto"
        What the empty labelset is, see :class:`CrossConformalClassifier`; "auto" is "allow" where
        it is not known what the model was trained on.
    label_names : sequence of str or None, default=None
        Names of the labels; those of ``Y`` if it is a DataFrame.
    guarantee : str, default="cross"
        With folds, how they are merged; see :class:`CrossConformalClassifier`.
    constraints, on_violation
        What labelsets obey, see :class:`CrossConformalClassifier`; not for sparse outputs.
    mondrian, weight, smoothed, random_state, n_jobs
        As in :class:`CrossConformalClassifier` and :class:`InductiveConformalClassifier`. Draws
        belong to the objects' features where new ones come with X, else to their outputs.

    Returns
    -------
    OutputsPredictor
        Its ``predict_labelsets`` takes outputs for new objects.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> outputs = np.array([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.2, 0.9]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    >>> predictor = calibrate_outputs(outputs, Y, folds=[0, 1, 0, 1])
    >>> predictor.predict_labelsets([[[0.8, 0.4]], [[0.7, 0.5]]]).labelsets.tolist()
    [[1, 0]]
    """
    labels, names = read_labels(Y, label_names)
    n_labels = labels.shape[1]
    checked = read_outputs(outputs, default_output, n_labels=n_labels, label_names=names)
    check_same_length(checked, labels, names=("outputs", "Y"))
    if len(labels) == 0:
        raise ValueError("outputs and Y must hold at least one calibration example, got none.")
    rows, fold_numbers = rows_of_folds(folds, len(labels))
    given = (training_labels, training_outputs, default_output)
    training, known = _training_parts(*given, labels, None if folds is None else rows, names)
    choices, measure = check_choices(
        Choices(guarantee, smoothed, empty_labelset, mondrian, weight, constraints, on_violation),
        measure,
        *known,
        label_names=names,
        one_fold=folds is None,
        known=known_of(*training[0]),
    )
    categories, weights = choices.describe(X, labels, slice(None))
    seed, draw_seed = draw_seeds(random_state, 2)
    examples = [
        FoldExamples(
            _take(checked, of_fold),
            labels[of_fold],
            None,
            *part,
            categories=None if categories is None else categories[of_fold],
            weights=weights,
        )
        for of_fold, part in zip(rows, training, strict=True)
    ]
    seeds = [seed] * len(rows)
    calibrated = tuple(
        calibrate(measure, examples, seeds=seeds, n_jobs=n_jobs, rules=choices.known_rules)
    )
    calibrator = Calibrator(
        calibrated, choices, draw_seed, folds is not None, names, n_jobs
    ).with_thresholds(examples)
    return OutputsPredictor(calibrator, fold_numbers, n_labels, default_output)


def _training_parts(
    training_labels: Any,
    training_outputs: Any,
    default_output: float,
    Y: LabelMatrix,
    rows: Sequence[BoolArray] | None,
    label_names: Sequence[str] | None,
) -> tuple[list[TrainingPart], list[LabelMatrix]]:
    """Return what is known of each model's training part, and all labels that are known.

    With folds these are the labels of the others.
    """
    names: dict[str, Any] = {"n_labels": Y.shape[1], "label_names": label_names}
    if rows is None:
        part = check_training_part(training_labels, training_outputs, default_output, **names)
        return [part], [Y] if part[0] is None else [Y, part[0]]
    if training_labels is not None:
        raise ValueError(
            "training_labels cannot be used with folds; with folds, a fold's are the labels of the"
            " others."
        )
    per_fold = [None] * len(rows) if training_outputs is None else training_outputs
    if len(per_fold) != len(rows):
        raise ValueError(
            f"training_outputs must hold one ({len(Y)}, {Y.shape[1]}) array per fold, {len(rows)}"
            f" in all, got {len(per_fold)}."
        )
    parts: list[TrainingPart] = []
    for of_fold, part in zip(rows, per_fold, strict=True):
        checked = check_training_part(Y, part, default_output, **names)[1]
        parts.append((Y[~of_fold], None if checked is None else _take(checked, ~of_fold)))
    return parts, [Y]


def _take(outputs: Outputs, rows: BoolArray) -> Outputs:
    return outputs.take(rows) if isinstance(outputs, SparseOutputs) else outputs[rows]

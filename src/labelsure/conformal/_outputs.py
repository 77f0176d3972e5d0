"""The way in for ready-made outputs: arrays of a neural net, of another library, of another language."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.randomness import draw_seeds
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_number, check_outputs, check_same_length
from labelsure.conformal._base import draw_smoothing, resolve_empty
from labelsure.conformal._calibrated import (
    CalibratedMeasure,
    TrainingPart,
    calibrate,
    check_training_part,
    choices_of,
    copy_measure,
)
from labelsure.conformal._compact import compact_engine
from labelsure.conformal._fold_outputs import check_folds, check_label_names, check_same_objects, one_per_fold
from labelsure.conformal._guarantees import merge_folds, state_guarantee_of_labelsets
from labelsure.conformal._predicting import predict_folds
from labelsure.conformal._sparse_outputs import SparseOutputs
from labelsure.measures import AutoMeasure, Measure, MeasureChoices
from labelsure.predictions import LabelsetPredictions


class OutputsPredictor:
    """A calibrated predictor that works on outputs instead of objects, made by :func:`calibrate_outputs`.

    Attributes
    ----------
    fold_numbers : int array of shape (K,) or None
        The fold numbers in ascending order, the order in which new outputs are expected; None for an inductive one.
    n_labels : int
        The number of labels.
    allow_empty : bool
        Whether the empty labelset is a candidate.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> predictor.predict_labelsets([[0.8, 0.3]]).p_values().tolist()
    [[0.75, 0.25, 0.25]]
    """

    def __init__(
        self,
        calibrated: Sequence[CalibratedMeasure],
        *,
        fold_numbers: IntArray | None,
        n_labels: int,
        default_output: float,
        allow_empty: bool,
        label_names: Sequence[str] | None,
        guarantee: str,
        smoothed: bool,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        self.calibrated = tuple(calibrated)
        self.fold_numbers = fold_numbers
        self.n_labels = n_labels
        self.default_output = default_output
        self.allow_empty = allow_empty
        self.label_names = label_names
        self.guarantee = guarantee
        self.smoothed = smoothed
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def measure_choices(self) -> MeasureChoices | None:
        """What was chosen with ``measure="auto"``, and why; ``print`` it. None where the measure was given."""
        return choices_of(self.calibrated)

    def predict_labelsets(self, outputs: Any) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels), or (K, n_objects, n_labels) for a cross-conformal one
            Between 0 and 1: of the one model, or of each fold's model in the order of ``fold_numbers``. A sparse
            matrix, or a list of K of them, has the ``default_output`` where nothing is stored.
        """
        per_fold = one_per_fold(outputs, None if self.fold_numbers is None else len(self.calibrated), self.n_labels)
        checked = [read_outputs(part, self.default_output, n_labels=self.n_labels) for part in per_fold]
        check_same_objects(checked)
        if any(not isinstance(part, SparseOutputs) for part in checked):
            return self._predict_dense(checked)
        return self._predict_sparse([part for part in checked if isinstance(part, SparseOutputs)])

    def _predict_dense(self, outputs: Sequence[FloatArray | SparseOutputs]) -> LabelsetPredictions:
        dense = [part.dense(slice(None)) if isinstance(part, SparseOutputs) else part for part in outputs]
        return predict_folds(
            [calibrated.fold(part) for calibrated, part in zip(self.calibrated, dense, strict=True)],
            guarantee=self.guarantee,
            smoothed=self.smoothed,
            random_state=self.random_state,
            allow_empty=self.allow_empty,
            label_names=self.label_names,
            n_jobs=self.n_jobs,
        )

    def _predict_sparse(self, outputs: Sequence[SparseOutputs]) -> LabelsetPredictions:
        """Return the predictions of an engine that looks only at the labels that matter to each object."""
        if self.guarantee != "cross":
            raise ValueError(
                f"guarantee={self.guarantee!r} needs dense outputs, got sparse matrices."
                " Pass outputs.toarray(), or choose guarantee='cross'."
            )
        engine = compact_engine(
            self.calibrated,
            outputs,
            n_labels=self.n_labels,
            allow_empty=self.allow_empty,
            draws=draw_smoothing(len(outputs[0]), self.random_state) if self.smoothed else None,
            n_jobs=self.n_jobs,
        )
        sizes = [len(calibrated.calibration) for calibrated in self.calibrated]
        stated = state_guarantee_of_labelsets(self.guarantee, sizes, smoothed=self.smoothed)
        return LabelsetPredictions(engine, label_names=self.label_names, guarantee=stated)


def calibrate_outputs(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    folds: Any = None,
    measure: Measure | AutoMeasure | str | None = None,
    training_labels: LabelMatrixLike | None = None,
    training_outputs: MatrixLike | None = None,
    default_output: float = 0.0,
    guarantee: str = "cross",
    empty: str = "auto",
    label_names: Sequence[str] | None = None,
    smoothed: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OutputsPredictor:
    """Turn ready-made outputs of calibration examples into a conformal predictor; no estimator is involved.

    Parameters
    ----------
    outputs : array-like or sparse matrix of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have been trained on it.
        Where there are very many labels, a sparse matrix that holds only the outputs above ``default_output``: then
        the cost of an answer follows the number of labels that matter to an object, not q.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones.
    folds : array-like of shape (n,) or None, default=None
        None: one model gave all outputs, an inductive predictor. Else the fold number of each example, whose output
        comes from a model trained on the other folds: a cross-conformal predictor, with the guarantee of
        :class:`CrossConformalClassifier`.
    measure : Measure, AutoMeasure, "auto" or None, default=None
        The nonconformity measure; None as in :class:`CrossConformalClassifier` or, for sparse outputs and where
        neither folds nor ``training_labels`` say what the model was trained on, the paper's ``PowerMeasure(d=4)``.
        "auto" chooses one by the training examples, so it needs ``training_outputs``, best of models that had not seen
        them; see :class:`AutoMeasure`.
    training_labels : array-like of shape (n_training, q) or None, default=None
        For the inductive predictor, the labels the model was trained on, if the measure needs them.
    training_outputs : array-like of shape (n_training, q) or None, default=None
        The model's outputs for those examples, if the measure needs them. With folds, of shape (K, n, q): the outputs
        of each fold's model for all n examples; those for the fold itself are not looked at.
    default_output : float, default=0.0
        The output of every entry that a sparse matrix does not store; below one half.
    empty : {"auto", "allow", "exclude"}, default="auto"
        Whether the empty labelset is a candidate; "auto": if and only if a known example has no label.
    label_names : sequence of str or None, default=None
        Names of the labels; those of ``Y`` if it is a DataFrame.
    guarantee : str, default="cross"
        With folds, how they are merged; see :class:`CrossConformalClassifier`.
    smoothed, random_state, n_jobs
        As in :class:`CrossConformalClassifier`.

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
    labels = check_label_matrix(Y)
    checked = read_outputs(outputs, default_output, n_labels=labels.shape[1])
    check_same_length(checked, labels, names=("outputs", "Y"))
    if len(labels) == 0:
        raise ValueError("outputs and Y must hold at least one calibration example, got none.")
    names = check_label_names(label_names, Y, labels.shape[1])
    trained_on_known = not (folds is None and training_labels is None) and not isinstance(checked, SparseOutputs)
    (seed,) = draw_seeds(random_state, 1)
    measure = copy_measure(measure, seed, labels.shape[1], training_labels=trained_on_known)
    known = [labels]
    if folds is None:
        training = check_training_part(training_labels, training_outputs, n_labels=labels.shape[1])
        if training.labels is not None:
            known.append(training.labels)
        calibrated = [calibrate(measure, checked, labels, training=training)]
        fold_numbers = None
    else:
        if training_labels is not None:
            raise ValueError("training_labels goes without folds; with folds, a fold's are the labels of the others.")
        fold_of, fold_numbers = check_folds(folds, len(labels))
        of_models = _check_training_outputs(training_outputs, labels, len(fold_numbers))
        calibrated = [
            calibrate(
                measure,
                _take(checked, fold_of == k),
                labels[fold_of == k],
                training=TrainingPart(labels[fold_of != k], None if part is None else part[fold_of != k]),
            )
            for k, part in enumerate(of_models)
        ]
    merge_folds(
        guarantee, [len(fold.calibration) for fold in calibrated], np.empty(0, dtype=np.int64), smoothed=smoothed
    )
    return OutputsPredictor(
        calibrated,
        fold_numbers=fold_numbers,
        n_labels=labels.shape[1],
        default_output=default_output,
        allow_empty=resolve_empty(empty, *known),
        label_names=names,
        guarantee=guarantee,
        smoothed=smoothed,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def read_outputs(outputs: Any, default_output: float, *, n_labels: int) -> FloatArray | SparseOutputs:
    """Return checked outputs, sparse ones as such."""
    if sparse.issparse(outputs):
        return SparseOutputs(outputs, check_number(default_output, name="default_output"), n_labels=n_labels)
    return check_outputs(outputs, n_labels=n_labels)


def _take(outputs: FloatArray | SparseOutputs, rows: BoolArray) -> FloatArray | SparseOutputs:
    return outputs.take(rows) if isinstance(outputs, SparseOutputs) else outputs[rows]


def _check_training_outputs(outputs: Any, Y: LabelMatrix, n_folds: int) -> list[FloatArray | None]:
    """Return each fold's model's outputs for all examples; the user may have left them out."""
    if outputs is None:
        return [None] * n_folds
    if len(outputs) != n_folds:
        raise ValueError(
            f"training_outputs must hold one ({len(Y)}, {Y.shape[1]}) array per fold, {n_folds} in all,"
            f" got {len(outputs)}."
        )
    return [check_training_part(Y, part, n_labels=Y.shape[1]).outputs for part in outputs]

"""Label-wise p-values for ready-made outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from labelsure._core.randomness import SMOOTHING, draw_seeds, draw_uniforms, join_keys, object_keys
from labelsure._core.types import IntArray, LabelMatrixLike
from labelsure._core.validation import check_examples, check_outputs, row_index_of
from labelsure.conformal._label_wise_calibration import LabelCalibration, predict_values
from labelsure.conformal._ready_outputs import read_per_fold, rows_of_folds
from labelsure.predictions import LabelWisePredictions


@dataclass(eq=False, repr=False)
class LabelWiseOutputsPredictor:
    """A calibrated label-wise predictor that works on outputs, made by :func:`calibrate_labels`.

    Attributes
    ----------
    calibrated : tuple of LabelCalibration
        The scores of the calibration examples, one per fold.
    fold_numbers : int array of shape (K,) or None
        The fold numbers in ascending order, the order in which new outputs are expected; None for an inductive one.
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

    def predict_labels(self, outputs: Any) -> LabelWisePredictions:
        """Return p-values of each label being off and on for new objects.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels), or (K, n_objects, n_labels) for a cross-conformal one
            Between 0 and 1: of the one model, or of each fold's model in the order of ``fold_numbers``.
        """
        names = self.label_names
        read = partial(check_outputs, n_labels=self.n_labels, label_names=names)
        checked = read_per_fold(outputs, self.fold_numbers, self.n_labels, read)
        draws = None
        if self.draw_seed is not None:
            draws = draw_uniforms(self.draw_seed, SMOOTHING, join_keys([object_keys(part) for part in checked]))
        index = row_index_of(outputs if self.fold_numbers is None else outputs[0])
        return predict_values(self.calibrated, checked, draws=draws, label_names=names, index=index)


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
    """Turn ready-made outputs of calibration examples into a label-wise predictor; no estimator is involved.

    Its p-values are those of :class:`LabelWiseConformalClassifier`, with the same guarantees.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones.
    folds : array-like of shape (n,) or None, default=None
        None: one model gave all outputs, an inductive predictor. Else the fold number of each example, whose output
        comes from a model trained on the other folds.
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
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor. COPA 2016, LNCS
       9653, 90-104.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.4, 0.1]], [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> predictor = calibrate_labels(outputs, Y, conditional=True, label_names=["sea", "city"])
    >>> predictor.predict_labels([[0.8, 0.3]]).p_values.round(2).tolist()
    [[[0.33, 0.67], [0.25, 0.5]]]
    """
    checked, labels, names = check_examples(outputs, Y, label_names)
    rows, fold_numbers = rows_of_folds(folds, len(labels))
    calibrated = [LabelCalibration.of(checked[part], labels[part], conditional=conditional) for part in rows]
    draw_seed = draw_seeds(random_state, 1)[0] if smoothed else None
    return LabelWiseOutputsPredictor(tuple(calibrated), fold_numbers, labels.shape[1], names, draw_seed)

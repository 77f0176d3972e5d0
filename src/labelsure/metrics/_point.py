"""Metrics of single answers, one labelset per object, for the command line and the report."""

import numpy as np
from numpy.typing import ArrayLike


def point_measures(Y_true: ArrayLike, Y_pred: ArrayLike) -> dict[str, float]:
    """Return scikit-learn's subset accuracy, Hamming loss and F measures of two label matrices.

    Labels that no object has and none is given count 0 in the macro F measure.

    Examples
    --------
    >>> point_measures([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    {'subset_accuracy': 0.5, 'hamming_loss': 0.16666666666666666, 'f1_micro': 0.8, 'f1_macro':
    0.6666666666666666}
    """
    from sklearn.metrics import accuracy_score, f1_score, hamming_loss

    true, predicted = np.asarray(Y_true, dtype=np.int8), np.asarray(Y_pred, dtype=np.int8)
    micro, macro = ("micro", "macro") if true.shape[1] > 1 else ("binary", "binary")
    return {
        "subset_accuracy": float(accuracy_score(true, predicted)),
        "hamming_loss": float(hamming_loss(true, predicted)),
        "f1_micro": float(f1_score(true, predicted, average=micro, zero_division=0)),
        "f1_macro": float(f1_score(true, predicted, average=macro, zero_division=0)),
    }

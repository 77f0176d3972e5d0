"""The slow, readable twin of the kernel of stratified folds."""

import numpy as np

from labelsure._checks import IntArray, LabelMatrix


def assign_folds(Y: LabelMatrix, draws: IntArray, n_folds: int) -> IntArray:
    """Return each row's fold: iterative stratification as in Sechidis et al., with balanced sizes.

    ``wants[label, fold]`` is n_folds times how many more examples of the label the fold should get.
    """
    n_rows = len(Y)
    wants = np.tile(Y.sum(axis=0, dtype=np.int64)[:, np.newaxis], (1, n_folds))
    folds, sizes = np.full(n_rows, -1, dtype=np.int64), [0] * n_folds

    def is_open(fold: int) -> bool:
        larger = sum(size > n_rows // n_folds for size in sizes)
        return sizes[fold] < n_rows // n_folds + (larger < n_rows % n_folds)

    def assign(row: int, label: int | None) -> None:
        ranks = {
            fold: (0 if label is None else wants[label, fold], -sizes[fold])
            for fold in range(n_folds)
            if is_open(fold)
        }
        ties = [fold for fold in ranks if ranks[fold] == max(ranks.values())]
        fold = ties[draws[row] % len(ties)]
        folds[row] = fold
        sizes[fold] += 1
        wants[Y[row] == 1, fold] -= n_folds

    while Y[folds < 0].any():
        waiting = Y[folds < 0].sum(axis=0, dtype=np.int64)
        rarest = int(np.argmin(np.where(waiting > 0, waiting, n_rows + 1)))
        for row in np.flatnonzero((folds < 0) & (Y[:, rarest] == 1)):
            assign(int(row), rarest)
    for row in np.flatnonzero(folds < 0):
        assign(int(row), None)
    return folds

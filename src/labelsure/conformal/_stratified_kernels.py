"""Iterative stratification, compiled. Import this module inside functions, on first use."""

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel, kernel_part


@kernel_part
def _choose_fold(given: IntArray, sizes: IntArray, size: int, spare: int, draw: int) -> int:
    """Return an open fold that got the fewest, then a smallest of these, then the one drawn."""
    best = -1
    n_ties = 0
    for fold in range(sizes.size):
        if sizes[fold] > size or (sizes[fold] == size and spare == 0):
            continue
        better = (
            best < 0
            or given[fold] < given[best]
            or (given[fold] == given[best] and sizes[fold] < sizes[best])
        )
        if better:
            best = fold
            n_ties = 1
        elif given[fold] == given[best] and sizes[fold] == sizes[best]:
            n_ties += 1
    skip = draw % n_ties
    for fold in range(best, sizes.size):
        is_open = sizes[fold] < size or (sizes[fold] == size and spare > 0)
        if is_open and given[fold] == given[best] and sizes[fold] == sizes[best]:
            if skip == 0:
                return fold
            skip -= 1
    return best


@kernel
def assign_folds(
    row_starts: IntArray,
    row_labels: IntArray,
    label_starts: IntArray,
    label_rows: IntArray,
    draws: IntArray,
    n_folds: int,
) -> IntArray:
    """Return the fold of every row, from the labels of each row and the rows of each label.

    Reference : stratified_reference.assign_folds
    Requires : the arrays of one matrix by rows and by columns; draws of one number >= 0 per row
    Cost : O(entries + rows * folds + labels^2) time, O(rows + labels * folds) memory
    """
    n_rows, n_labels = row_starts.size - 1, label_starts.size - 1
    size, spare = n_rows // n_folds, n_rows % n_folds
    waiting = label_starts[1:] - label_starts[:-1]
    # the last row, all zeros, is for rows without labels
    given = np.zeros((n_labels + 1, n_folds), dtype=np.int64)
    sizes = np.zeros(n_folds, dtype=np.int64)
    folds = np.full(n_rows, -1, dtype=np.int64)
    rest = np.arange(n_rows)
    labels = np.flatnonzero(waiting)
    while True:
        rarest = n_labels
        n_left = 0
        for label in labels:
            if waiting[label] > 0:
                labels[n_left] = label
                n_left += 1
                if rarest == n_labels or waiting[label] < waiting[rarest]:
                    rarest = int(label)
        labels = labels[:n_left]
        rows = (
            rest
            if rarest == n_labels
            else label_rows[label_starts[rarest] : label_starts[rarest + 1]]
        )
        for row in rows:
            if folds[row] >= 0:
                continue
            fold = _choose_fold(given[rarest], sizes, size, spare, draws[row])
            if sizes[fold] == size:
                spare -= 1
            sizes[fold] += 1
            folds[row] = fold
            for p in range(row_starts[row], row_starts[row + 1]):
                given[row_labels[p], fold] += 1
                waiting[row_labels[p]] -= 1
        if rarest == n_labels:
            return folds

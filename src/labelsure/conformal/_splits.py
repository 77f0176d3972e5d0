"""Which examples train a model, and which calibrate it."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    IntArray,
    LabelMatrix,
    MatrixLike,
    check_count,
    check_number,
    is_list,
)
from labelsure.conformal._training_data import TrainingData


class Split(NamedTuple):
    """The rows that train a fold's model, and the rows that calibrate it."""

    train: IntArray
    calibration: IntArray


def hold_out(
    calibration_size: Any, n_examples: int, seed: int, *, groups: IntArray | None = None
) -> Split:
    """Return the training and the calibration examples, drawn at random, each in ascending order.

    Parameters
    ----------
    calibration_size : float or int
        The share, or the number, of examples that calibrate; of groups, where there are any.
    n_examples : int
        How many there are.
    seed : int
        For the draw.
    groups : int64 array of shape (n_examples,) or None
        The number of each example's group, from 0: whole groups are drawn.
    """
    if groups is not None:
        drawn = hold_out(calibration_size, int(groups.max()) + 1, seed)
        return Split(*(np.flatnonzero(np.isin(groups, part)) for part in drawn))
    size = check_number(calibration_size, name="calibration_size", above=0)
    whole = isinstance(calibration_size, Integral)
    if not whole and size >= 1:
        raise ValueError(
            "calibration_size must be a share below 1 or a whole number of examples, got"
            f" {calibration_size!r}."
        )
    # 0.07 * 100 is 7.000000000000001 in floating point: that asks for 7 examples, not 8
    n_calibration = int(size) if whole else math.ceil(size * n_examples * (1 - 1e-12))
    if not 0 < n_calibration < n_examples:
        raise ValueError(
            f"calibration_size={calibration_size!r} of n_samples={n_examples} must leave at least"
            f" one example for training and one for calibration, but takes {n_calibration} for"
            " calibration."
        )
    order = check_random_state(seed).permutation(n_examples)
    return Split(np.sort(order[n_calibration:]), np.sort(order[:n_calibration]))


def make_splits(
    cv: Any,
    X: MatrixLike,
    Y: LabelMatrix,
    seed: int,
    *,
    groups: IntArray | None = None,
    split_params: Mapping[str, Any] | None = None,
) -> list[Split]:
    """Return the folds of ``cv``, or raise ValueError where they would make p-values invalid.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, calibration) row numbers
        An int is that many folds, shuffled with ``seed``, of sizes as equal as possible.
    X, Y : array-likes with n rows
        Handed to the splitter.
    seed : int
        For shuffling.
    groups : int64 array of shape (n,) or None
        The number of each example's group, from 0: an int makes folds of as many groups each, a
        splitter must not tear them apart.
    split_params : mapping or None
        What the splitter asks for.
    """
    if cv is not None and not isinstance(cv, Integral):
        splits = _own_splits(cv, X, Y, split_params or {})
        check_apart(splits, groups)
        return splits
    n_folds, n_examples = check_count(cv, name="cv", at_least=2), len(Y)
    if groups is not None:
        return _group_splits(n_folds, groups, seed)
    if n_folds > n_examples:
        raise ValueError(
            f"cv={n_folds} folds need at least {n_folds} examples, got n_samples={n_examples}."
            " Lower cv or add examples."
        )
    order = check_random_state(seed).permutation(n_examples)
    folds = np.array_split(order, n_folds)
    return [Split(np.setdiff1d(order, fold), np.sort(fold)) for fold in folds]


def _group_splits(n_folds: int, groups: IntArray, seed: int) -> list[Split]:
    """Return shuffled folds of whole groups, with as equal numbers of groups as possible."""
    n_groups = int(groups.max()) + 1
    if n_folds > n_groups:
        raise ValueError(
            f"cv={n_folds} folds need at least {n_folds} groups, got {n_groups}. Lower cv."
        )
    of_groups = make_splits(n_folds, groups, np.empty((n_groups, 0), dtype=np.int8), seed)
    return [
        Split(*(np.flatnonzero(np.isin(groups, part)) for part in split)) for split in of_groups
    ]


def _own_splits(cv: Any, X: MatrixLike, Y: LabelMatrix, params: Mapping[str, Any]) -> list[Split]:
    """Return the splits of a user's own, checked."""
    from sklearn.model_selection import BaseShuffleSplit

    if isinstance(cv, str | bytes) or not (hasattr(cv, "split") or is_list(cv)):
        raise ValueError(
            "cv must be a whole number of folds, a splitter such as KFold(10, shuffle=True), or a"
            f" list of (train, calibration) row numbers, got {cv!r}."
        )
    # its test parts are disjoint only by luck
    if isinstance(cv, BaseShuffleSplit) and cv.get_n_splits(X, Y) > 1:
        raise ValueError(
            f"cv must let every example calibrate at most once, got {cv!r}. Use KFold instead."
        )
    with warnings.catch_warnings():
        # check_apart says more
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        given = list(cv.split(X, Y, **params) if hasattr(cv, "split") else cv)
    splits = [_check_split(split, len(Y)) for split in given]
    if not splits:
        raise ValueError(
            "cv must give at least one fold, got none; an iterator can be used only once, a list"
            " again."
        )
    uses = np.bincount(np.concatenate([split.calibration for split in splits]))
    if uses.max() > 1:
        raise ValueError(
            f"cv must let every example calibrate at most once, but example {int(uses.argmax())} is"
            f" in {int(uses.max())} test parts. Use KFold, not ShuffleSplit or a repeated splitter."
        )
    return splits


def _check_split(split: Any, n_examples: int) -> Split:
    """Return a split as two arrays of row numbers, or raise ValueError where it cannot be used."""
    try:
        train, calibration = (np.asarray(part) for part in split)
    except (TypeError, ValueError):
        raise ValueError(
            f"cv must give pairs of row numbers, (train, calibration), got {split!r}."
        ) from None
    for part in (train, calibration):
        if part.ndim != 1 or len(part) == 0:
            raise ValueError(
                "cv must give every fold at least one training and one calibration example, got"
                f" {split!r}."
            )
        if part.dtype.kind not in "iu" or part.min() < 0 or part.max() >= n_examples:
            raise ValueError(
                f"cv must give whole row numbers from 0 to {n_examples - 1}, got {part}."
                " numpy.flatnonzero turns a mask into row numbers."
            )
    if np.intersect1d(train, calibration).size:
        raise ValueError(
            "cv must not let an example calibrate a model that it trained; training and test"
            " overlap."
        )
    return Split(train, calibration)


def check_apart(splits: Sequence[Any], groups: IntArray | None) -> None:
    """Raise ValueError where a group has examples on both sides of a split."""
    if groups is None:
        return
    for k, (train, calibration) in enumerate(splits):
        both = np.flatnonzero(np.isin(groups[calibration], groups[train]))
        if len(both):
            example = int(np.asarray(calibration)[both[0]])
            raise ValueError(
                "cv must keep every group on one side of a split, but others of example"
                f" {example}'s group train the model that it calibrates (fold {k}). Use GroupKFold,"
                " or a whole number of folds."
            )


def split_complete(
    data: TrainingData, estimator: Any, cut: Callable[[LabelMatrix], list[Split]], *, by_cut: bool
) -> list[Split]:
    """Return splits with complete calibration examples and usable training examples.

    Parameters
    ----------
    data : TrainingData
        All examples.
    estimator : classifier or None
        The learner.
    cut : callable
        From labels to splits of their rows.
    by_cut : bool
        Whether ``cut`` draws rows at random, so that it may be given the complete ones alone: the
        others train every model. Otherwise they train where the split says so.
    """
    if data.unknown is None:
        return cut(data.Y)
    complete = data.complete
    if by_cut:
        rows, rest = np.flatnonzero(complete), np.flatnonzero(~complete)
        splits = [
            Split(np.sort(np.append(rows[train], rest)), rows[calibration])
            for train, calibration in cut(data.Y[rows])
        ]
    else:
        splits = [Split(train, rows[complete[rows]]) for train, rows in cut(data.Y)]
        if any(len(split.calibration) == 0 for split in splits):
            raise ValueError(
                "cv must leave every fold a calibration example without unknown labels (NaN)."
            )
    return leave_out_unusable(splits, data.usable_by(estimator))


def leave_out_unusable(splits: Sequence[Split], usable: BoolArray) -> list[Split]:
    """Return the splits with the training examples that the learner can learn from."""
    kept = [Split(split.train[usable[split.train]], split.calibration) for split in splits]
    if any(len(split.train) == 0 for split in kept):
        raise ValueError(
            "y has unknown labels (NaN) in every training example of a fold, and the estimator"
            " learns all labels together. Fit one per label: MultiOutputClassifier(...) around it."
        )
    return kept

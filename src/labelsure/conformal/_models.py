"""Stage one: a classifier is fitted on the training part of every split, and asked for outputs."""

import math
import time
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed

from labelsure._core.randomness import set_missing_seeds
from labelsure._core.running import one_thread, progress_bar
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_count, check_number
from labelsure.estimators import FittedBase, MLRBFClassifier, fit_base, outputs_of
from labelsure.measures import Need

EXPECTED = (
    "estimator must be a classifier for several labels with predict_proba or decision_function,"
    " such as RandomForestClassifier() or OneVsRestClassifier(LogisticRegression())"
)

INNER_FOLDS = 5
"""Models that give a training part its out-of-fold outputs."""


class Split(NamedTuple):
    """The rows that train a fold's model, and the rows that calibrate it."""

    train: IntArray
    calibration: IntArray


def hold_out(calibration_size: Any, n_examples: int, seed: int) -> Split:
    """Return the training and the calibration examples, drawn at random, each in ascending order.

    Parameters
    ----------
    calibration_size : float or int
        The share, or the number, of examples that calibrate.
    n_examples : int
        How many there are.
    seed : int
        For the draw.
    """
    size = check_number(calibration_size, name="calibration_size", above=0)
    whole = isinstance(calibration_size, Integral)
    if not whole and size >= 1:
        raise ValueError(
            f"calibration_size must be a share below 1 or a whole number of examples, got {calibration_size!r}."
        )
    # 0.07 * 100 is 7.000000000000001 in floating point: that asks for 7 examples, not 8
    n_calibration = int(size) if whole else math.ceil(size * n_examples * (1 - 1e-12))
    if not 0 < n_calibration < n_examples:
        raise ValueError(
            f"calibration_size={calibration_size!r} of n_samples={n_examples} must leave at least one example"
            f" for training and one for calibration, but takes {n_calibration} for calibration."
        )
    order = check_random_state(seed).permutation(n_examples)
    return Split(np.sort(order[n_calibration:]), np.sort(order[:n_calibration]))


def make_splits(cv: Any, X: MatrixLike, Y: LabelMatrix, seed: int, *, equal: bool = False) -> list[Split]:
    """Return the folds that ``cv`` asks for, or raise ValueError where they would make p-values invalid.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, calibration) row numbers
        An int is that many folds, shuffled with ``seed``, of sizes as equal as possible.
    X, Y : array-likes with n rows
        Handed to the splitter.
    seed : int
        For shuffling.
    equal : bool
        Whether an int makes folds of one size, the examples left over only training.
    """
    if cv is not None and not isinstance(cv, Integral):
        return _own_splits(cv, X, Y)
    n_folds, n_examples = check_count(cv, name="cv", at_least=2), len(Y)
    if n_folds > n_examples:
        raise ValueError(
            f"cv={n_folds} folds need at least {n_folds} examples, got n_samples={n_examples}."
            " Lower cv or add examples."
        )
    order = check_random_state(seed).permutation(n_examples)
    folds = np.array_split(order[: n_examples // n_folds * n_folds] if equal else order, n_folds)
    return [Split(np.setdiff1d(order, fold), np.sort(fold)) for fold in folds]


def _own_splits(cv: Any, X: MatrixLike, Y: LabelMatrix) -> list[Split]:
    """Return the splits of a user's own, checked."""
    from sklearn.model_selection import BaseShuffleSplit

    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(
            "cv must be a whole number of folds, a splitter such as KFold(10, shuffle=True), or a list of"
            f" (train, calibration) row numbers, got {cv!r}."
        )
    if isinstance(cv, BaseShuffleSplit) and cv.get_n_splits(X, Y) > 1:  # its test parts are disjoint only by luck
        raise ValueError(f"cv must let every example calibrate at most once, got {cv!r}. Use KFold instead.")
    splits = [_check_split(split, len(Y)) for split in (cv.split(X, Y) if hasattr(cv, "split") else cv)]
    if not splits:
        raise ValueError("cv must give at least one fold, got none; an iterator can be used only once, a list again.")
    uses = np.bincount(np.concatenate([split.calibration for split in splits]))
    if uses.max() > 1:
        raise ValueError(
            f"cv must let every example calibrate at most once, but example {int(uses.argmax())} is in"
            f" {int(uses.max())} test parts. Use KFold, not ShuffleSplit or a repeated splitter."
        )
    return splits


def _check_split(split: Any, n_examples: int) -> Split:
    """Return a split as two arrays of row numbers, or raise ValueError where it cannot be used."""
    try:
        train, calibration = (np.asarray(part) for part in split)
    except (TypeError, ValueError):
        raise ValueError(f"cv must give pairs of row numbers, (train, calibration), got {split!r}.") from None
    for part in (train, calibration):
        if part.ndim != 1 or len(part) == 0:
            raise ValueError(
                f"cv must give every fold at least one training and one calibration example, got {split!r}."
            )
        if part.dtype.kind not in "iu" or part.min() < 0 or part.max() >= n_examples:
            raise ValueError(
                f"cv must give whole row numbers from 0 to {n_examples - 1}, got {part}."
                " numpy.flatnonzero turns a mask into row numbers."
            )
    if np.intersect1d(train, calibration).size:
        raise ValueError("cv must not let an example calibrate a model that it trained; training and test overlap.")
    return Split(train, calibration)


class FoldModel(NamedTuple):
    """A fold's fitted classifier, with the outputs that its measure is fitted on and calibrated with.

    Attributes
    ----------
    model : FittedBase
        The classifier.
    outputs : array of shape (m, q)
        For the fold's calibration examples.
    training_outputs : array of shape (n, q) or None
        For its training examples, where they are needed.
    out_of_fold_outputs : array of shape (n, q) or None
        The same from models that had not seen the example.
    seconds, out_of_fold_seconds : float
        What the model and its outputs took the processor, and what those of the other models did.
    """

    model: FittedBase
    outputs: FloatArray
    training_outputs: FloatArray | None = None
    out_of_fold_outputs: FloatArray | None = None
    seconds: float = 0.0
    out_of_fold_seconds: float = 0.0


def check_estimator(estimator: Any, *, prefit: bool = False) -> None:
    """Raise ValueError where the estimator cannot be a classifier, so that nothing is fitted in vain.

    Parameters
    ----------
    estimator : object
        What the user passed; None stands for the default.
    prefit : bool
        Whether it is fitted already: then it need not be a scikit-learn estimator as long as it has outputs.
    """
    if estimator is None and not prefit:
        return
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"{EXPECTED}, got the class {name}. Pass an instance of it: {name}().")
    kind = getattr(tags_of(estimator), "estimator_type", None)
    if kind not in (None, "classifier"):
        raise ValueError(f"{EXPECTED}, got {estimator!r} (estimator_type: {kind}).")
    if prefit and not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(f"{EXPECTED}, fitted already because of prefit=True, got {estimator!r}.")
    if not prefit and not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"{EXPECTED}, got {estimator!r}.")


def tags_of(estimator: Any) -> Any:
    """Return the scikit-learn tags of the classifier inside, None where it has none."""
    estimator = MLRBFClassifier() if estimator is None else estimator
    return get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type) else None


def fit_models(
    estimator: Any,
    X: MatrixLike,
    Y: LabelMatrix,
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    needs: Sequence[Need],
    n_jobs: int | None,
    fitted: Sequence[Any] | None = None,
) -> list[FoldModel]:
    """Fit a copy of the classifier on each training part and ask it for outputs, with a progress bar.

    Parameters
    ----------
    estimator : classifier or None
        Unfitted; None is the default.
    X, Y : array-likes of n rows
        All examples.
    splits : sequence of Split
        Which of them train and which calibrate.
    seeds : sequence of int
        One for each split, wherever the user left a random_state at None.
    needs : sequence of Need
        What each measure in question needs to know of training parts.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    fitted : sequence of classifiers or None
        Models that are fitted already, one for each split: they are only asked.
    """
    models = [None] * len(splits) if fitted is None else fitted
    jobs = (
        delayed(_fit_fold)(estimator, X, Y, split, model, needs=needs, seed=seed)
        for seed, split, model in zip(seeds, splits, models, strict=True)
    )
    require = None if fitted is None else "sharedmem"
    return run_jobs(jobs, n_jobs=n_jobs, description="fitting folds", total=len(splits), require=require)


def run_jobs(jobs: Any, *, n_jobs: int | None, description: str, total: int, require: str | None = None) -> list[Any]:
    """Return what delayed calls return, in their order, in processes as joblib is told, with a progress bar.

    With ``require="sharedmem"`` they run in threads.
    """
    with one_thread():
        results = Parallel(n_jobs=n_jobs if total > 1 else 1, return_as="generator", require=require)(jobs)
        return list(progress_bar(results, description=description, total=total))


def _fit_fold(
    estimator: Any, X: MatrixLike, Y: LabelMatrix, split: Split, model: Any, *, needs: Sequence[Need], seed: int
) -> FoldModel:
    start, n_labels = time.process_time(), Y.shape[1]  # of this process alone, in which nothing else runs
    training = out_of_fold = None
    # a model that was trained elsewhere is calibrated with all there is, whatever kind of table that may be
    trained_on, asked = (_safe_indexing(X, rows) for rows in split) if len(split.train) else (None, X)
    with one_thread():
        model = fit_model(estimator, trained_on, Y[split.train], seed=seed) if model is None else model
        outputs = outputs_of(model, asked, n_labels)
        if any(Need.TRAINING_OUTPUTS in need and Need.OUT_OF_FOLD_OUTPUTS not in need for need in needs):
            training = outputs_of(model, trained_on, n_labels)
        seconds = time.process_time() - start
        if any(Need.OUT_OF_FOLD_OUTPUTS in need for need in needs):
            out_of_fold = out_of_fold_outputs(estimator, trained_on, Y[split.train], seed=seed)
    return FoldModel(model, outputs, training, out_of_fold, seconds, time.process_time() - start - seconds)


def out_of_fold_outputs(estimator: Any, X: MatrixLike, Y: LabelMatrix, *, seed: int) -> FloatArray:
    """Return outputs for every example from a model that was not trained on it."""
    if len(Y) < 2:
        raise ValueError(f"Out-of-fold outputs need at least 2 training examples, got {len(Y)}.")
    outputs = np.empty(Y.shape)
    for train, rest in make_splits(min(INNER_FOLDS, len(Y)), X, Y, seed):
        model = fit_model(estimator, _safe_indexing(X, train), Y[train], seed=seed)
        outputs[rest] = outputs_of(model, _safe_indexing(X, rest), Y.shape[1])
    return outputs


def fit_model(estimator: Any, X: MatrixLike, Y: LabelMatrix, *, seed: int) -> FittedBase:
    """Fit a copy of the classifier, the default for None, with ``seed`` wherever the user left a random_state at None.

    Where that fails and the classifier seems to be for one label at a time, say what to do.
    """
    copy = clone(MLRBFClassifier() if estimator is None else estimator)
    set_missing_seeds(copy, seed)  # in place: set_params of a FrozenEstimator returns nothing
    try:
        return fit_base(copy, X, Y)
    except ValueError as error:
        tags = tags_of(copy)
        known = tags is not None and tags.classifier_tags is not None
        if Y.shape[1] == 1 or (known and (tags.classifier_tags.multi_label or tags.target_tags.multi_output)):
            raise
        raise ValueError(
            f"estimator could not be fitted on {Y.shape[1]} labels: {error}"
            f" If it learns one label at a time, wrap it: OneVsRestClassifier({type(copy).__name__}())."
        ) from error


def outputs_of_models(models: Sequence[Any], X: MatrixLike, n_labels: int, *, n_jobs: int | None) -> list[FloatArray]:
    """Return each model's outputs for the same objects, asked for in threads."""
    jobs = (delayed(outputs_of)(model, X, n_labels) for model in models)
    asked = "outputs of the folds' models"
    return run_jobs(jobs, n_jobs=n_jobs, description=asked, total=len(models), require="sharedmem")

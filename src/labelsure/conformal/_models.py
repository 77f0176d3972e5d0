"""Stage one: a classifier is fitted on the training part of every fold, and asked for outputs."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed

from labelsure._core.randomness import set_missing_seeds
from labelsure._core.running import map_in_threads, one_thread, progress_bar
from labelsure._core.types import FloatArray, LabelMatrix, MatrixLike
from labelsure.conformal._splits import Split
from labelsure.estimators import FittedBase, MLRBFClassifier, fit_base, outputs_of
from labelsure.measures import Need

EXPECTED = (
    "estimator must be a classifier for several labels with predict_proba or decision_function,"
    " such as RandomForestClassifier() or OneVsRestClassifier(LogisticRegression())"
)

INNER_FOLDS = 5
"""Models that give a training part its out-of-fold outputs."""


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


def copy_estimator(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy, the default for None, with ``seed`` wherever the user left a random_state at None."""
    copy = clone(MLRBFClassifier() if estimator is None else estimator)
    set_missing_seeds(copy, seed)  # in place: set_params of a FrozenEstimator returns nothing
    return copy


def fit_models(
    estimator: Any,
    X: MatrixLike,
    Y: LabelMatrix,
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    needs: Sequence[Need],
    n_jobs: int | None,
) -> list[FoldModel]:
    """Fit a copy of the classifier on each training part and ask it for outputs, with a progress bar.

    Parameters
    ----------
    estimator : classifier or None
        Unfitted.
    X, Y : array-likes of n rows
        All examples.
    splits : sequence of Split
        Which of them train and which calibrate.
    seeds : sequence of int
        One for each split.
    needs : sequence of Need
        What each measure in question needs to know of training parts.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    """
    jobs = (
        delayed(_fit_fold)(copy_estimator(estimator, seed), X, Y, split, needs=needs, seed=seed)
        for seed, split in zip(seeds, splits, strict=True)
    )
    return run_jobs(jobs, n_jobs=n_jobs, description="fitting folds", total=len(splits))


def run_jobs(jobs: Any, *, n_jobs: int | None, description: str, total: int) -> list[Any]:
    """Return what delayed calls return, in their order, in processes as joblib is told, with a progress bar."""
    with one_thread():
        results = Parallel(n_jobs=n_jobs if total > 1 else 1, return_as="generator")(jobs)
        return list(progress_bar(results, description=description, total=total))


def _fit_fold(
    estimator: Any, X: MatrixLike, Y: LabelMatrix, split: Split, *, needs: Sequence[Need], seed: int
) -> FoldModel:
    start = time.process_time()  # of this process alone, in which nothing else runs
    with one_thread():
        model = fit_model(estimator, _safe_indexing(X, split.train), Y[split.train])
        asked = ask_model(model, X, Y.shape[1], split, needs=needs)
        seconds, out_of_fold = time.process_time() - start, None
        if any(Need.OUT_OF_FOLD_OUTPUTS in need for need in needs):
            out_of_fold = out_of_fold_outputs(estimator, _safe_indexing(X, split.train), Y[split.train], seed=seed)
    return asked._replace(
        out_of_fold_outputs=out_of_fold,
        seconds=seconds,
        out_of_fold_seconds=time.process_time() - start - seconds,
    )


def ask_model(model: Any, X: MatrixLike, n_labels: int, split: Split, *, needs: Sequence[Need]) -> FoldModel:
    """Return a fitted model with its outputs for the examples that calibrate it, and that it was trained on."""
    outputs = outputs_of(model, _safe_indexing(X, split.calibration), n_labels)
    training = None
    if any(Need.TRAINING_OUTPUTS in need and Need.OUT_OF_FOLD_OUTPUTS not in need for need in needs):
        training = outputs_of(model, _safe_indexing(X, split.train), n_labels)
    return FoldModel(model, outputs, training)


def out_of_fold_outputs(estimator: Any, X: MatrixLike, Y: LabelMatrix, *, seed: int) -> FloatArray:
    """Return outputs for every example from a model that was not trained on it."""
    from sklearn.model_selection import KFold

    if len(Y) < 2:
        raise ValueError(f"Out-of-fold outputs need at least 2 training examples, got {len(Y)}.")
    outputs = np.empty(Y.shape)
    for train, rest in KFold(min(INNER_FOLDS, len(Y)), shuffle=True, random_state=seed).split(Y):
        model = fit_model(clone(estimator), _safe_indexing(X, train), Y[train])
        outputs[rest] = outputs_of(model, _safe_indexing(X, rest), Y.shape[1])
    return outputs


def fit_model(estimator: Any, X: MatrixLike, Y: LabelMatrix) -> FittedBase:
    """Fit a copy; say what to do where that fails and the classifier seems to be for one label at a time."""
    try:
        return fit_base(estimator, X, Y)
    except ValueError as error:
        tags = tags_of(estimator)
        known = tags is not None and tags.classifier_tags is not None
        if Y.shape[1] == 1 or (known and (tags.classifier_tags.multi_label or tags.target_tags.multi_output)):
            raise
        raise ValueError(
            f"estimator could not be fitted on {Y.shape[1]} labels: {error}"
            f" If it learns one label at a time, wrap it: OneVsRestClassifier({type(estimator).__name__}())."
        ) from error


def outputs_of_models(models: Sequence[Any], X: MatrixLike, n_labels: int, *, n_jobs: int | None) -> list[FloatArray]:
    """Return each model's outputs for the same objects, asked for in threads."""
    config = get_config()  # scikit-learn's settings belong to one thread and must follow the work into others

    def read_outputs(model: Any) -> FloatArray:
        with config_context(**config):
            return outputs_of(model, X, n_labels)

    with one_thread():
        return list(map_in_threads(read_outputs, models, n_jobs=n_jobs, description="outputs of the folds' models"))

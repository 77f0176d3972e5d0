"""The members of a pool: checked, prepared, fitted side by side, and asked for logits."""

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import _check_method_params, _check_sample_weight, has_fit_parameter

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    MatrixLike,
    as_numbers,
    check_count,
    find_entry,
    n_rows,
)
from labelsure._parallel import one_thread, run_jobs
from labelsure.learners._adapter import FittedBase, fit_base, outputs_of, read_answer
from labelsure.learners._logit_pooling import smoothed_logits

EXPECTED = "must be a classifier with predict_proba or decision_function"

Fold = tuple[IntArray, IntArray]


def prepare_member(estimator: Any, name: str) -> Any:
    """Return an unfitted copy that learns several labels, or raise ValueError.

    A classifier whose tags say that it learns one label at a time is wrapped, so that there is one
    of it per label.
    """
    if isinstance(estimator, type):
        raise ValueError(
            f"{name} {EXPECTED}, got the class {estimator.__name__}. Pass an instance of it."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"{name} {EXPECTED}, got {estimator!r}.")
    tags = get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") else None
    if tags is not None and tags.estimator_type not in (None, "classifier"):
        raise ValueError(
            f"{name} {EXPECTED}, got {estimator!r} (estimator_type: {tags.estimator_type})."
        )
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(
            f"{name} {EXPECTED}, got {estimator!r}, which has neither. Inside MultiOutputClassifier"
            " only predict_proba shows; OneVsRestClassifier shows both."
        )
    copy = clone(estimator)
    if (
        tags is None
        or tags.classifier_tags is None
        or tags.classifier_tags.multi_label
        or tags.target_tags.multi_output
    ):
        return copy
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import MultiOutputClassifier

    # The first hands sample weights on, and hides decision functions.
    return (
        MultiOutputClassifier(copy) if hasattr(copy, "predict_proba") else OneVsRestClassifier(copy)
    )


def check_sample_weight(sample_weight: Any, X: MatrixLike) -> FloatArray | None:
    """Return finite weights, at least 0 and not all 0, one per row of X, or raise ValueError.

    Examples
    --------
    >>> check_sample_weight([1, 2], [[0.5], [0.7]]).tolist()
    [1.0, 2.0]
    """
    if sample_weight is None:
        return None
    given = as_numbers(sample_weight, name="sample_weight", shape="(n_objects,)")
    weights: FloatArray = _check_sample_weight(given, X, dtype=np.float64)
    if (weights < 0).any() or not weights.any():
        raise ValueError(f"sample_weight must be at least 0 and not all 0, got {sample_weight!r}.")
    return weights


def weight_params(estimator: Any, sample_weight: Any, name: str) -> dict[str, Any]:
    """Return the parameter of ``fit`` for sample weights when metadata routing is off.

    Parameters
    ----------
    estimator : classifier
        Learns several labels.
    sample_weight : array-like of shape (n_objects,)
        The weights.
    name : str
        What the classifier is called in the error where it takes none.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> weight_params(RandomForestClassifier(), [1.0, 2.0], "the estimator")
    {'sample_weight': [1.0, 2.0]}
    """
    # MultiOutputClassifier takes weights for one that may not
    inner = getattr(estimator, "estimator", None)
    if has_fit_parameter(estimator, "sample_weight") and (inner is None or _takes_weights(inner)):
        return {"sample_weight": sample_weight}
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return {f"{steps[-1][0]}__sample_weight": sample_weight}
    raise ValueError(
        f"sample_weight was given, but fit of {name}, {estimator!r}, takes none. Leave the weights"
        " out, choose a classifier that takes them (MultiOutputClassifier hands them on,"
        " OneVsRestClassifier does not), or say who gets them with scikit-learn's metadata routing."
    )


def _takes_weights(estimator: Any) -> bool:
    return has_fit_parameter(estimator, "sample_weight") or hasattr(estimator, "steps")


def make_folds(
    cv: Any, X: MatrixLike, Y: LabelMatrix, *, seed: int, split_params: dict[str, Any]
) -> list[Fold]:
    """Return folds that test every example once, by models not trained on it."""
    from sklearn.model_selection import KFold

    if cv is None or isinstance(cv, Integral):
        n_folds = check_count(cv, name="cv", at_least=2)
        if n_folds > len(Y):
            raise ValueError(
                f"cv={n_folds} folds need at least {n_folds} examples, got n_samples={len(Y)}."
                f" Lower cv."
            )
        cv = KFold(n_folds, shuffle=True, random_state=seed)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(
            f"cv must be a whole number of folds, a splitter or a list of (train, test), got"
            f" {cv!r}."
        )
    given = cv.split(X, Y, **split_params) if hasattr(cv, "split") else cv
    folds = [(np.asarray(train), np.asarray(test)) for train, test in given]
    tested = np.bincount(
        np.concatenate([np.empty(0, dtype=np.int64), *(test for _, test in folds)]),
        minlength=len(Y),
    )
    if len(tested) > len(Y) or (tested != 1).any():
        raise ValueError(
            f"cv must test every one of the {len(Y)} examples once, got {cv!r}, which tests example"
            f" {int((tested != 1).argmax())} {int(tested[(tested != 1).argmax()])} times. Use"
            f" KFold, for instance."
        )
    if any(np.intersect1d(train, test).size for train, test in folds):
        raise ValueError(
            f"cv must not test a model on examples that it was trained on, got {cv!r}."
        )
    return folds


def fit_members(
    members: Sequence[Any],
    X: MatrixLike,
    Y: LabelMatrix,
    params: Sequence[dict[str, Any]],
    n_jobs: int | None,
) -> list[FittedBase]:
    """Return every member fitted on all rows."""
    jobs = (delayed(_fit)(member, X, Y, own) for member, own in zip(members, params, strict=True))
    return run_jobs(jobs, n_jobs=n_jobs, description="fitting members", total=len(members))


def out_of_fold_logits(
    members: Sequence[Any],
    X: MatrixLike,
    Y: LabelMatrix,
    folds: Sequence[Fold],
    params: Sequence[dict[str, Any]],
    n_jobs: int | None,
) -> FloatArray:
    """Return logits, of shape (n, q, M), from members that were not trained on the object."""
    jobs = (
        delayed(_fit_and_ask)(member, X, Y, fold, own)
        for fold in folds
        for member, own in zip(members, params, strict=True)
    )
    answers = run_jobs(
        jobs, n_jobs=n_jobs, description="fitting members on folds", total=len(folds) * len(members)
    )
    logits = np.empty((*Y.shape, len(members)))
    for k, (_, test) in enumerate(folds):
        for m in range(len(members)):
            logits[test, :, m] = answers[k * len(members) + m]
    return logits


def logits_of(model: FittedBase, X: MatrixLike, n_labels: int, n_examples: int) -> FloatArray:
    """Return a fitted member's logits, (n, q): of its probabilities, or its margins unchanged.

    Parameters
    ----------
    n_examples : int
        How many it was fitted on, see :func:`smoothed_logits`.
    """
    if model.estimator is None or hasattr(model.estimator, "predict_proba"):
        return smoothed_logits(outputs_of(model, X, n_labels), n_examples)
    logits = np.empty((n_rows(X), n_labels))
    logits[:, model.learned] = read_answer(
        model.estimator, "decision_function", X, int(model.learned.sum())
    )
    fixed = ~np.isnan(model.fixed)
    logits[:, fixed] = smoothed_logits(model.fixed[fixed], n_examples)
    wrong = find_entry(~np.isfinite(logits), logits)
    if wrong:
        raise ValueError(
            f"decision_function of {type(model.estimator).__name__} must give finite numbers, got"
            f" {wrong}. Look for features that are not scaled."
        )
    return logits


def _fit(
    member: Any, X: MatrixLike, Y: LabelMatrix, params: dict[str, Any], rows: IntArray | None = None
) -> FittedBase:
    # one_thread again: this may be another process
    with one_thread(), warnings.catch_warnings():
        # OneVsRestClassifier says so of every rare label in every fold; the pool can deal with them
        warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
        if rows is None:
            return fit_base(member, X, Y, **params)
        return fit_base(
            member, _safe_indexing(X, rows), Y[rows], **_check_method_params(X, params, rows)
        )


def _fit_and_ask(
    member: Any, X: MatrixLike, Y: LabelMatrix, fold: Fold, params: dict[str, Any]
) -> FloatArray:
    train, test = fold
    model = _fit(member, X, Y, params, train)
    with one_thread():
        return logits_of(model, _safe_indexing(X, test), Y.shape[1], len(train))

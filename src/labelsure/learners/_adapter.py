"""The adapter: any scikit-learn classifier in, one output between 0 and 1 per object and label out.

:func:`fit_base` fits a copy of a classifier on a label matrix, also where the classifier itself
cannot because a label never varies. :func:`outputs_of` reads the outputs of what ``fit_base``
returned, or of a classifier that was fitted elsewhere. :func:`learns_from_folds` tells which
classifiers can share the fits of their inner folds, as pools do.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    as_numbers,
    check_count,
    check_label_matrix,
    check_outputs,
    check_same_length,
    n_rows,
)

Answer = NDArray[np.floating[Any]]

ROUNDING = 1e-9
"""How far a probability may lie outside [0, 1] and still count as 0 or 1.

Single precision is allowed more."""


@dataclass(frozen=True)
class FittedBase:
    """A classifier fitted by :func:`fit_base`, and what it does not know about constant labels.

    Parameters
    ----------
    estimator : fitted classifier or None
        None where no label varies: then no classifier is needed.
    learned : array of shape (n_labels,)
        Which columns of Y the estimator was fitted on.
    fixed : array of shape (n_labels,)
        The output of each label that has the same one for every object; NaN where the estimator
        gives the output.
    """

    estimator: Any
    learned: BoolArray
    fixed: FloatArray


def fit_base(estimator: Any, X: MatrixLike, Y: LabelMatrixLike, **fit_params: Any) -> FittedBase:
    """Fit a copy of ``estimator`` on a label matrix, whatever labels are constant in it.

    The copy is fitted on the whole of ``Y`` if it can be. Where it cannot and some labels are
    constant (always off or always on), it is fitted on the others, and the constant ones get the
    output 0.0 or 1.0; where all are constant no classifier is fitted at all. Constant labels also
    get 0.0 or 1.0 where the outputs come from a ``decision_function``: that measures the distance
    from a border between two values, and there was only one.

    Parameters
    ----------
    estimator : classifier
        Any classifier that :func:`sklearn.base.clone` copies; it stays as it is.
    X : array-like of shape (n_objects, n_features)
        The training objects, handed to the classifier as they are.
    Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
        Their labels, zeros and ones. The classifier gets them as a dense matrix, for one label too.
    **fit_params
        For the classifier's ``fit``, such as ``sample_weight``.

    Returns
    -------
    FittedBase
        For :func:`outputs_of`. It can be pickled if the classifier can.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0, 0, 1], [1, 0, 1], [1, 0, 1]]
    >>> model = fit_base(MultiOutputClassifier(LogisticRegression()), X, Y)
    >>> outputs_of(model, [[0.5]], 3).round(2).tolist()
    [[0.6, 0.0, 1.0]]
    """
    Y = check_label_matrix(Y)
    check_same_length(X, Y)
    constant: BoolArray = np.ptp(Y, axis=0) == 0
    values = np.where(constant, Y[0].astype(np.float64), np.nan)
    try:
        fitted = _fit(estimator, X, Y, fit_params)
        if constant.any():
            # some classifiers fail only when asked
            outputs_of(fitted, _safe_indexing(X, [0]), Y.shape[1])
    # LogisticRegression, predict_proba(X)[:, 1], one-vs-rest of SVMs
    except (ValueError, IndexError, AttributeError):
        if not constant.any():
            raise
        fitted = None if constant.all() else _fit(estimator, X, Y[:, ~constant], fit_params)
        return FittedBase(fitted, learned=~constant, fixed=values)
    fixed = np.full_like(values, np.nan) if hasattr(fitted, "predict_proba") else values
    return FittedBase(fitted, learned=np.ones_like(constant), fixed=fixed)


def _fit(estimator: Any, X: MatrixLike, Y: LabelMatrix, fit_params: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        # one label is a matrix with one column, on purpose
        warnings.simplefilter("ignore", DataConversionWarning)
        # int64: beyond 127 products of int8 matrices overflow, and label_binarize mixes labels up
        # (see Dataset)
        return clone(estimator).fit(X, Y.astype(np.int64), **fit_params)


def outputs_of(model: Any, X: MatrixLike, n_labels: int) -> FloatArray:
    """Return the outputs of a fitted classifier, a number from 0 to 1 per object and label.

    They are read from ``predict_proba``, as an array of shape (n_objects, n_labels) or as a list
    with one array of class probabilities per label; or, where there is no such method, from
    ``decision_function`` through the logistic sigmoid, ``1 / (1 + exp(-x))``. For a single label
    the shapes of a binary classifier are understood as well.

    Parameters
    ----------
    model : FittedBase or fitted classifier
        What :func:`fit_base` returned, or a classifier fitted elsewhere on labels 0 and 1.
    X : array-like of shape (n_objects, n_features)
        The objects.
    n_labels : int
        The number of labels there must be.

    Returns
    -------
    array of shape (n_objects, n_labels)
        The outputs.

    Raises
    ------
    ValueError
        Where the classifier has neither method, or answers in a shape or with values that cannot be
        outputs.

    Examples
    --------
    >>> from labelsure import MLkNNClassifier
    >>> model = MLkNNClassifier(n_neighbors=1).fit([[0.0], [1.0], [1.0]], [[0, 1], [1, 1], [1, 1]])
    >>> outputs_of(model, [[1.0]], 2).round(2).tolist()
    [[0.63, 0.86]]
    """
    n_labels = check_count(n_labels, name="n_labels")
    if isinstance(model, FittedBase):
        if len(model.fixed) != n_labels:
            raise ValueError(
                f"n_labels must be the {len(model.fixed)} labels that the model was fitted on,"
                f" got {n_labels}."
            )
        outputs = np.empty((n_rows(X), n_labels))
        if model.estimator is not None:
            outputs[:, model.learned] = outputs_of(model.estimator, X, int(model.learned.sum()))
        return np.where(np.isnan(model.fixed), outputs, model.fixed)
    if hasattr(model, "predict_proba"):
        answer = read_answer(model, "predict_proba", X, n_labels)
        nearest = np.clip(answer, 0.0, 1.0)
        # outside of [0, 1] by rounding alone is on its ends; the others stay, to be refused
        rounding = max(ROUNDING, 8 * float(np.finfo(answer.dtype).eps))
        outputs = np.where(np.abs(answer - nearest) <= rounding, nearest, answer).astype(np.float64)
    elif hasattr(model, "decision_function"):
        outputs = expit(read_answer(model, "decision_function", X, n_labels))
    else:
        raise ValueError(
            "The classifier must have predict_proba or decision_function, but"
            f" {type(model).__name__} has neither. Choose one that says how sure it is of each"
            " label, or wrap a binary classifier that does in"
            " sklearn.multiclass.OneVsRestClassifier."
        )
    return check_outputs(outputs, name=f"Outputs of {type(model).__name__}", n_labels=n_labels)


def read_answer(estimator: Any, method: str, X: MatrixLike, n_labels: int) -> Answer:
    """Return the answer of ``predict_proba`` or ``decision_function`` for each label, (n, q).

    Understood are an array of that shape (OneVsRestClassifier, ClassifierChain, MLPClassifier, the
    classifiers of this package), a list with an array per label (forests, neighbours,
    MultiOutputClassifier), and, for a single label, what a binary classifier gives.
    """
    answer = getattr(estimator, method)(X)
    shape = n_rows(X), n_labels
    listed = isinstance(answer, list | tuple)
    name, expected = (
        f"{method} of {type(estimator).__name__}",
        f"({shape[0]}, 2)" if listed else f"{shape}",
    )
    blocks = [
        as_numbers(
            block.toarray() if hasattr(block, "toarray") else block, name=name, shape=expected
        )
        for block in (answer if listed else [answer])
    ]
    if listed and len(blocks) != n_labels:
        _refuse(estimator, method, f"a list of {len(blocks)} arrays", shape)
    if listed or n_labels == 1:
        columns = [
            _read_label(estimator, method, block, j, shape) for j, block in enumerate(blocks)
        ]
        array: Answer = np.column_stack(columns)
    else:
        array = blocks[0]
        if array.shape != shape:
            _refuse(estimator, method, f"an array of shape {array.shape}", shape)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _read_label(
    estimator: Any, method: str, block: Answer, label: int, shape: tuple[int, int]
) -> Answer:
    """Return what is said of one label: a decision, or the probability that it is on.

    Probabilities may come with a column for each class. Which of them means "on", and that a label
    was constant in training, is read from ``classes_``.
    """
    block = block[:, np.newaxis] if block.ndim == 1 else block
    is_decision = method == "decision_function"
    if (
        block.ndim != 2
        or len(block) != shape[0]
        or block.shape[1] not in ((1,) if is_decision else (1, 2))
    ):
        _refuse(
            estimator,
            method,
            f"a list with an array of shape {block.shape} for label {label}",
            shape,
        )
    if is_decision:
        return block[:, 0]
    name, classes = type(estimator).__name__, _classes_of_label(estimator, label, shape[1])
    # two columns may say anything then: some classifiers mix them up
    if classes is not None and len(classes) == 1:
        if block.shape[1] == 1 and not np.allclose(block, 1.0):
            raise ValueError(
                f"{name} knows a single class, {classes[0]}, of label {label}: its predict_proba"
                f" must be 1 everywhere, got {block[np.argmin(block), 0]}."
            )
        return np.full(len(block), float(classes[0] == 1))
    if block.shape[1] == 1:
        if classes is None and shape[1] > 1:
            raise ValueError(
                f"predict_proba of {name} gives a single column for label {label}, and there is"
                f" no classes_[{label}] to"
                " tell what it means. Give the classifier a classes_ attribute."
            )
        return block[:, 0]
    on = np.array([1]) if classes is None else np.flatnonzero(classes == 1)
    if len(on) != 1 or on[0] > 1:
        raise ValueError(
            f"{name} must have been fitted on labels 0 and 1, but its classes_ for label {label}"
            f" are {np.asarray(classes).tolist()}."
        )
    return block[:, on[0]]


def _classes_of_label(estimator: Any, label: int, n_labels: int) -> NDArray[Any] | None:
    """Return the classes of a label, None if ``classes_`` is missing or means something else."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) == 0:
        return None
    # one flat array: the classes of the only label, or the numbers of the labels
    if np.ndim(classes[0]) == 0:
        return np.asarray(classes) if n_labels == 1 else None
    return np.asarray(classes[label]) if len(classes) == n_labels else None


def _refuse(estimator: Any, method: str, got: str, shape: tuple[int, int]) -> NoReturn:
    raise ValueError(
        f"{method} of {type(estimator).__name__} must give one output per object and label, an"
        f" array of shape {shape} or a list of {shape[1]} arrays, got {got}. Use a classifier that"
        " handles multi-label targets, or wrap it in sklearn.multiclass.OneVsRestClassifier."
    )


class LearnsFromFolds(Protocol):
    """A classifier whose ``fit`` has two halves, the second of which takes out-of-fold outputs.

    ``fit(X, y)`` is ``fit_members(X, y).learn_weights(logits, y)``, where the logits are those that
    ``member_outputs`` of copies gives for rows that they were not fitted on.
    """

    out_of_fold_outputs_: FloatArray

    def fit_members(self, X: MatrixLike, y: LabelMatrixLike, **fit_params: Any) -> Self:
        """Fit all but the weights."""

    def member_outputs(self, X: MatrixLike) -> FloatArray:
        """Return logits of shape (n_objects, n_labels, n_members)."""

    def learn_weights(
        self, logits: FloatArray, y: LabelMatrixLike, sample_weight: Any = None
    ) -> Self:
        """Learn the weights, and keep ``out_of_fold_outputs_`` of the same rows."""


def learns_from_folds(estimator: Any) -> TypeGuard[LearnsFromFolds]:
    """Return whether the ``fit`` of an estimator takes inner folds, which other fits can share."""
    # on the class: a FrozenEstimator has the attributes of a model that must not be refitted
    return hasattr(type(estimator), "learns_from_folds") and bool(estimator.learns_from_folds)


def fitted_on_all(estimator: Any, n_labels: int) -> FittedBase:
    """Return a fitted classifier that gives the outputs of all labels itself."""
    return FittedBase(estimator, np.ones(n_labels, dtype=bool), np.full(n_labels, np.nan))


class LabelByLabel:
    """A fitted classifier per label, which need not have been fitted on the same rows.

    Parameters
    ----------
    models : list of FittedBase
        One per label.
    """

    def __init__(self, models: list[FittedBase]) -> None:
        self.models = models

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the outputs of all labels, (n_objects, n_labels)."""
        return np.column_stack([outputs_of(model, X, 1) for model in self.models])


def learner_of_one_label(estimator: Any) -> Any:
    """Return the classifier inside an estimator that learns each label by itself.

    In a Pipeline it is looked for in the last step. None where all labels are learned together.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> learner_of_one_label(OneVsRestClassifier(LogisticRegression()))
    LogisticRegression()
    >>> learner_of_one_label(RandomForestClassifier()) is None
    True
    """
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, OneVsRestClassifier | MultiOutputClassifier):
        return estimator.estimator
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        single = learner_of_one_label(last)
        return None if single is None else clone(estimator).set_params(**{name: single})
    tags = get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") else None
    if tags is None or tags.classifier_tags is None:
        return None
    return None if tags.classifier_tags.multi_label or tags.target_tags.multi_output else estimator


def fit_known(
    estimator: Any, X: MatrixLike, Y: LabelMatrix, unknown: BoolArray, **fit_params: Any
) -> FittedBase:
    """Fit a copy of a learner of one label for every label, on the rows where it is known.

    A classifier that sees only these rows learns what it should where, given the object, whether a
    label is known does not depend on its value.

    Parameters
    ----------
    estimator : classifier
        One in which :func:`learner_of_one_label` finds a learner.
    X, Y
        As for :func:`fit_base`; Y is not looked at where it is unknown.
    unknown : bool array of shape (n_objects, n_labels)
        Which entries of Y are not known.
    **fit_params
        As for :func:`fit_base`; values with a row per object are cut like X.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0]], np.array([[0, 0], [1, 0], [1, 1]])
    >>> unknown = np.array([[False, False], [False, True], [False, False]])
    >>> outputs_of(fit_known(LogisticRegression(), X, Y, unknown), [[1.0]], 2).round(2).tolist()
    [[0.68, 0.5]]
    """
    single = learner_of_one_label(estimator)
    if single is None:
        raise ValueError(
            f"{estimator!r} learns all labels together, and some are unknown (NaN). Fit one per"
            f" label:"
            f" MultiOutputClassifier({type(estimator).__name__}()), or leave out examples with NaN."
        )
    models = []
    for label in range(Y.shape[1]):
        rows = np.flatnonzero(~unknown[:, label])
        if len(rows) == 0:
            raise ValueError(
                f"Label {label} is unknown (NaN) for all examples that a model is trained on. Use"
                " fewer folds, or leave the label out."
            )
        own = _check_method_params(X, fit_params, rows)
        models.append(fit_base(single, _safe_indexing(X, rows), Y[rows, label : label + 1], **own))
    return fitted_on_all(LabelByLabel(models), Y.shape[1])

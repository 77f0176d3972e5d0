"""The shapes in which classifiers answer for several labels, read into one (n_objects, n_labels) array."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from labelsure._core.validation import n_rows

Answer = NDArray[np.floating[Any]]


def read_probabilities(estimator: Any, X: Any, n_labels: int) -> Answer:
    """Return what ``predict_proba`` says of each label being on, of shape (n_objects, n_labels).

    Understood are an array of that shape (OneVsRestClassifier, ClassifierChain, MLPClassifier, the classifiers of
    this package), a list of ``n_labels`` arrays with one column per class (forests, neighbours,
    MultiOutputClassifier), and, for a single label, an array with one column per class (all binary classifiers). Which
    column means "on", and that a label was constant in training, is read from ``classes_``.
    """
    answer = estimator.predict_proba(X)
    if isinstance(answer, list | tuple):
        if len(answer) != n_labels:
            _refuse(estimator, "predict_proba", f"a list of {len(answer)} arrays", n_rows(X), n_labels)
        columns = [
            _probability_on(estimator, _as_array(block), n_rows(X), j, n_labels) for j, block in enumerate(answer)
        ]
        return np.column_stack(columns)
    array = _as_array(answer)
    if n_labels == 1 and array.ndim <= 2:
        return _probability_on(estimator, array.reshape(len(array), -1), n_rows(X), 0, 1)[:, np.newaxis]
    if array.shape != (n_rows(X), n_labels):
        _refuse(estimator, "predict_proba", f"an array of shape {array.shape}", n_rows(X), n_labels)
    return array


def read_decisions(estimator: Any, X: Any, n_labels: int) -> Answer:
    """Return what ``decision_function`` says of each label, of shape (n_objects, n_labels).

    Understood are an array of that shape, a list of ``n_labels`` columns, and, for a single label, a flat array.
    """
    answer = estimator.decision_function(X)
    if isinstance(answer, list | tuple):
        answer = _join_columns(estimator, [_as_array(block) for block in answer], n_rows(X), n_labels)
    array = _as_array(answer)
    if n_labels == 1 and array.ndim == 1:
        array = array[:, np.newaxis]
    if array.shape != (n_rows(X), n_labels):
        _refuse(estimator, "decision_function", f"an array of shape {array.shape}", n_rows(X), n_labels)
    return array


def _as_array(answer: Any) -> Answer:
    array = answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _join_columns(estimator: Any, blocks: list[Answer], n_objects: int, n_labels: int) -> Answer:
    shapes = [block.shape for block in blocks]
    if len(blocks) != n_labels or any(shape not in ((n_objects,), (n_objects, 1)) for shape in shapes):
        _refuse(estimator, "decision_function", f"a list of arrays of shapes {shapes}", n_objects, n_labels)
    return np.column_stack(blocks)


def _probability_on(estimator: Any, block: Answer, n_objects: int, label: int, n_labels: int) -> Answer:
    """Return the probability that one label is on from the probabilities of its classes."""
    if block.ndim != 2 or len(block) != n_objects or block.shape[1] not in (1, 2):
        _refuse(estimator, "predict_proba", f"an array of shape {block.shape} for label {label}", n_objects, n_labels)
    classes = _classes_of_label(estimator, label, n_labels)
    if classes is not None and len(classes) == 1:
        return _constant_label(estimator, block, classes[0], label)
    if block.shape[1] == 1:
        if classes is None and n_labels > 1:
            raise ValueError(
                f"predict_proba of {type(estimator).__name__} gives a single column for label {label}, and there is no"
                f" classes_[{label}] to tell what it means. Give the classifier a classes_ attribute."
            )
        return block[:, 0]
    on = np.array([1]) if classes is None else np.flatnonzero(classes == 1)
    if len(on) != 1 or on[0] > 1:
        raise ValueError(
            f"{type(estimator).__name__} must have been fitted on labels 0 and 1, but its classes_ for label {label}"
            f" are {np.asarray(classes).tolist()}."
        )
    return block[:, on[0]]


def _constant_label(estimator: Any, block: Answer, value: Any, label: int) -> Answer:
    """Return the only value a label had in training, whatever its two columns say (some classifiers mix them up)."""
    if block.shape[1] == 1 and not np.allclose(block, 1.0):
        raise ValueError(
            f"{type(estimator).__name__} knows a single class, {value}, of label {label}: its predict_proba must be 1"
            f" everywhere, got {block[np.argmin(block), 0]}."
        )
    return np.full(len(block), float(value == 1))


def _classes_of_label(estimator: Any, label: int, n_labels: int) -> NDArray[Any] | None:
    """Return the classes of one label, or None where ``classes_`` is missing or speaks of something else."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) == 0:
        return None
    if np.ndim(classes[0]) == 0:  # one flat array: the classes of the only label, or the numbers of the labels
        return np.asarray(classes) if n_labels == 1 else None
    return np.asarray(classes[label]) if len(classes) == n_labels else None


def _refuse(estimator: Any, method: str, got: str, n_objects: int, n_labels: int) -> NoReturn:
    raise ValueError(
        f"{method} of {type(estimator).__name__} must give one output per object and label, an array of shape"
        f" ({n_objects}, {n_labels}) or a list of {n_labels} arrays, got {got}."
        " Use a classifier that handles multi-label targets, or wrap it in sklearn.multiclass.OneVsRestClassifier."
    )

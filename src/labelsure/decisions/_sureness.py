"""What a model predicts, and how sure it is of that: numbers that rank objects, from the models alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    MatrixLike,
    check_count,
    check_label_matrix,
    check_outputs,
    check_same_length,
    is_whole,
    list_labels,
)
from labelsure.conformal import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    LabelWiseOutputsPredictor,
    OutputsPredictor,
)
from labelsure.conformal._models import outputs_of_models
from labelsure.decisions._selection import check_sureness
from labelsure.learners import outputs_of

Sureness: TypeAlias = str | Callable[[MatrixLike], Any]

ON_OUTPUTS = (OutputsPredictor, LabelWiseOutputsPredictor)
WITH_MODELS = (CrossConformalClassifier, InductiveConformalClassifier, LabelWiseConformalClassifier)

KINDS = ("gap", "outputs", "p-values")
"""In the order of preference: p-values of the surest objects are all the same, the lowest that there is."""


@dataclass(frozen=True)
class Question:
    """What has to be right: a labelset but for some labels, or one label.

    Attributes
    ----------
    n_labels : int
        The number of labels.
    at_most : int
        How many of them may be wrong.
    label : int or None
        The only label that matters, if there is one.
    name : str
        What that is called.
    """

    n_labels: int
    at_most: int = 0
    label: int | None = None
    name: str = ""

    @classmethod
    def of(cls, at_most: Any, label: Any, label_names: tuple[str, ...]) -> "Question":
        """Return the question about these labels, or say what is wrong with it."""
        allowed, n_labels = check_count(at_most, name="at_most", at_least=0), len(label_names)
        if allowed >= n_labels:
            raise ValueError(
                f"at_most must be below the number of labels, {n_labels}, got {allowed}: more"
                f" cannot be wrong."
            )
        if label is None:
            return cls(n_labels, allowed)
        if allowed:
            raise ValueError(
                f"at_most={allowed} and label={label!r} are two questions. Ask one of them."
            )
        if not (
            label in label_names
            if isinstance(label, str)
            else is_whole(label) and label in range(n_labels)
        ):
            raise ValueError(
                f"label must be the name of a label or a number from 0 to {n_labels - 1}, got"
                f" {label!r}."
                f" {list_labels(label_names)}"
            )
        position = label_names.index(label) if isinstance(label, str) else int(label)
        return cls(n_labels, 0, position, label_names[position])

    @property
    def whole(self) -> bool:
        """Whether all labels have to be right."""
        return self.label is None and self.at_most == 0

    @property
    def fault(self) -> str:
        """What a prediction has that is not right."""
        if self.label is not None:
            return f"a wrong value of {self.name!r}"
        return {0: "a wrong labelset", 1: "more than 1 wrong label"}.get(
            self.at_most, f"more than {self.at_most} wrong labels"
        )

    def judge(self, predicted: LabelMatrix, Y: LabelMatrix) -> BoolArray:
        """Tell which predictions are right."""
        wrong = predicted != Y
        right: BoolArray = (
            ~wrong[:, self.label] if self.label is not None else wrong.sum(axis=1) <= self.at_most
        )
        return right


def check_kind(kind: Any, model: Any, question: Question) -> Sureness:
    """Return how sureness is measured, None being the best way that there is, or say what does not go together."""
    p_values = (
        ["predict_labelsets"] if question.label is None else ["predict_labelsets", "predict_labels"]
    )
    possible = {
        "gap": hasattr(model, "nonconformity") and question.whole,
        "outputs": has_outputs(model),
        "p-values": any(hasattr(model, name) for name in p_values) and question.at_most == 0,
    }
    if callable(kind):
        own: Sureness = kind
        return own
    fitting = [name for name in KINDS if possible[name]]
    if kind is None and fitting:
        return fitting[0]
    if isinstance(kind, str) and kind in fitting:
        return str(kind)
    listed = "".join(f"{name!r}, " for name in fitting)
    raise ValueError(
        f"sureness must be {listed}None or a function from X to one number per object, for a"
        f" {type(model).__name__} and a question about {question.fault}, got {kind!r}."
    )


def predict_with_sureness(
    model: Any, X: MatrixLike, question: Question, kind: Sureness, *, exact: bool = False
) -> tuple[LabelMatrix, FloatArray]:
    """Return what the model predicts for objects, (n, q), and how sure it is of that as an answer to the question.

    Parameters
    ----------
    model : fitted predictor or classifier
        With ``predict_labelsets``, ``predict_labels``, or ``predict`` and outputs.
    X : array-like of n rows
        The objects; outputs for the predictors that work on these.
    question : Question
        What has to be right.
    kind : str or callable
        "gap": by how much the second best labelset is stranger than the best. "outputs": the
        logarithm of the probability that the prediction is right, labels taken as independent.
        "p-values": how implausible the next best answer is. Or a function from X to numbers.
    exact : bool
        Whether a search for the best labelset that was stopped early is refused: where it stops
        depends on the examples that calibrated the model.
    """
    of_labelsets, of_labels = hasattr(model, "predict_labelsets"), hasattr(model, "predict_labels")
    predictions: Any = None
    if of_labelsets or of_labels:
        predictions = model.predict_labelsets(X) if of_labelsets else model.predict_labels(X)
    if exact and not predictions.certain.all():
        raise ValueError(
            "With this many labels the best labelset of some objects was not found for certain,"
            " and depends on the"
            " examples that calibrated the model. Calibrate with fresh examples, without from_fit."
        )
    if kind == "gap":
        first, second = np.moveaxis(predictions.top(2).labelsets, 1, 0)
        return first, model.nonconformity(X, second) - model.nonconformity(X, first)
    if of_labelsets:
        predicted = predictions.labelsets
    else:
        predicted = predictions.labels if of_labels else _plain_labels(model, X, question.n_labels)
    if callable(kind):
        own = check_sureness(kind(X), "sureness")
        check_same_length(own, predicted, names=("sureness", "X"))
        return predicted, own
    if kind == "outputs":
        return predicted, log_probability(
            predicted, mean_outputs(model, X, question.n_labels), question
        )
    if question.whole:
        return predicted, predictions.confidence
    p_values = (predictions.label_p_values if of_labelsets else predictions.p_values)[
        :, question.label
    ]
    return predicted, np.abs(p_values[:, 1] - p_values[:, 0])


def log_probability(predicted: LabelMatrix, outputs: FloatArray, question: Question) -> FloatArray:
    """Return the logarithm of the probability that predictions are right, labels taken as independent.

    Examples
    --------
    >>> outputs, predicted = np.array([[0.9, 0.2]]), np.array([[1, 0]], dtype=np.int8)
    >>> np.exp(log_probability(predicted, outputs, Question(2))).round(6).tolist()
    [0.72]
    >>> np.exp(log_probability(predicted, outputs, Question(2, at_most=1))).round(6).tolist()
    [0.98]
    """
    wrong = np.abs(predicted - outputs)
    if question.label is not None:
        wrong = wrong[:, [question.label]]
    chances = np.zeros(
        (len(wrong), question.at_most + 1)
    )  # of 0, 1, ..., at_most wrong labels among those met
    chances[:, 0] = 1.0
    log_scale = np.zeros(len(wrong))
    for of_label in wrong.T:
        one_more = chances[:, :-1] * of_label[:, None]
        chances *= 1 - of_label[:, None]
        chances[:, 1:] += one_more
        total = chances.sum(axis=1)
        with np.errstate(divide="ignore"):
            log_scale += np.log(
                total
            )  # kept apart: products over thousands of labels are beyond any float
        chances /= np.where(total > 0, total, 1.0)[:, None]
    return log_scale


def names_of_labels(model: Any) -> tuple[str, ...] | None:
    """Return what a model calls its labels, or None."""
    if isinstance(model, OutputsPredictor):
        return model.calibrator.label_names
    names = getattr(
        model,
        "label_names" if isinstance(model, LabelWiseOutputsPredictor) else "label_names_",
        None,
    )
    return None if names is None else tuple(names)


def rows_of(model: Any, X: MatrixLike) -> Any:
    """Return what has one row per object: X, or the first fold's outputs where a predictor takes those of all folds."""
    return X[0] if isinstance(model, ON_OUTPUTS) and model.fold_numbers is not None else X


def has_outputs(model: Any) -> bool:
    if hasattr(model, "predict_labelsets") or hasattr(model, "predict_labels"):
        return isinstance(
            model, ON_OUTPUTS + WITH_MODELS
        )  # a full predictor has a model for each new object
    return hasattr(model, "predict_proba") or hasattr(model, "decision_function")


def mean_outputs(model: Any, X: MatrixLike, n_labels: int) -> FloatArray:
    """Return a model's outputs, the mean over the folds where there are several."""
    if isinstance(model, ON_OUTPUTS):
        known: dict[str, Any] = {"n_labels": n_labels, "label_names": names_of_labels(model)}
        per_fold = [
            check_outputs(part, **known) for part in ([X] if model.fold_numbers is None else X)
        ]
    elif isinstance(model, WITH_MODELS):
        per_fold = outputs_of_models(model.models_, X, n_labels, n_jobs=model.n_jobs)
    else:
        return outputs_of(model, X, n_labels)
    return np.asarray(np.mean(per_fold, axis=0))


def _plain_labels(model: Any, X: MatrixLike, n_labels: int) -> LabelMatrix:
    predicted = model.predict(X)
    if getattr(predicted, "ndim", 2) == 1 and n_labels == 1:
        predicted = np.reshape(predicted, (-1, 1))
    return check_label_matrix(
        predicted, name=f"What {type(model).__name__} predicts", n_labels=n_labels
    )

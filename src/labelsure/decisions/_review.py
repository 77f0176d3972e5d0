"""Which predictions of a fitted model need no review: conformal selection around any predictor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_flag,
    check_gaps,
    check_label_matrix,
    check_outputs,
    check_same_length,
    check_significance,
    is_whole,
    label_names_of,
    list_labels,
    made_up_names,
    n_rows,
    row_index_of,
)
from labelsure.conformal import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    LabelWiseOutputsPredictor,
    OutputsPredictor,
)
from labelsure.conformal._guarantees import INCOMPLETE
from labelsure.conformal._models import outputs_of_models
from labelsure.decisions._selection import ALPHA_EXAMPLE, Selection, check_sureness, select
from labelsure.learners import outputs_of

Sureness: TypeAlias = str | Callable[[MatrixLike], Any]

ON_OUTPUTS = (OutputsPredictor, LabelWiseOutputsPredictor)

WITH_MODELS = (CrossConformalClassifier, InductiveConformalClassifier, LabelWiseConformalClassifier)

KINDS = ("gap", "outputs", "p-values")
"""In order of preference: the p-values of the surest objects all tie at the lowest possible one."""

EXPECTED = (
    "model must be a fitted predictor of labelsets or labels, or a fitted classifier with predict"
    " and predict_proba or decision_function"
)

ASSUMED = (
    "{n} more held-out examples do not say whether they have this label and are left out: this"
    " holds where that depends neither on the object nor on the label."
)


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
        """Return the question about these labels, or raise ValueError."""
        allowed, n_labels = check_count(at_most, name="at_most", at_least=0), len(label_names)
        if allowed >= n_labels:
            raise ValueError(
                f"at_most must be below the number of labels, {n_labels}, got {allowed}: more"
                " cannot be wrong."
            )
        if label is None:
            return cls(n_labels, allowed)
        if allowed:
            raise ValueError(
                f"at_most={allowed} and label={label!r} are two questions. Ask one of them."
            )
        position = label
        if isinstance(label, str) and label in label_names:
            position = label_names.index(label)
        if not is_whole(position) or position not in range(n_labels):
            raise ValueError(
                f"label must be the name of a label or a number from 0 to {n_labels - 1}, got"
                f" {label!r}. {list_labels(label_names)}"
            )
        return cls(n_labels, 0, int(position), label_names[int(position)])

    @property
    def whole(self) -> bool:
        """Whether all labels have to be right."""
        return self.label is None and self.at_most == 0

    @property
    def fault(self) -> str:
        """What a prediction has that is not right."""
        if self.label is not None:
            return f"a wrong value of {self.name!r}"
        if self.whole:
            return "a wrong labelset"
        return f"more than {self.at_most} wrong label{'s' * (self.at_most > 1)}"

    def judge(self, predicted: LabelMatrix, Y: LabelMatrix) -> BoolArray:
        """Tell which predictions are right."""
        wrong = predicted != Y
        right: BoolArray = wrong.sum(axis=1) <= self.at_most
        if self.label is not None:
            right = ~wrong[:, self.label]
        return right


class ReviewSelector:
    """Accepts predictions of a fitted model without review, so that few accepted ones are wrong.

    Held-out examples that the model has not seen show how often it is wrong when it is how sure. Of
    a batch of new objects as many as possible are accepted such that the expected share of wrong
    ones among them is at most alpha, by :func:`select_objects`, which gives the formula and the
    proof.

    Parameters
    ----------
    model : fitted predictor or classifier
        Any conformal predictor of this package, those that work on ready-made outputs among them (X
        is then outputs), or any classifier for several labels with ``predict`` and
        ``predict_proba`` or ``decision_function``. Of a predictor of labelsets the most plausible
        ones are judged and promised, ``predict_labelsets(X).labelsets``; ``predict`` may give
        others.
    at_most : int, default=0
        How many labels of a predicted labelset may be wrong for it to count as right.
    label : str, int or None, default=None
        The only label that matters, by name or position, if there is one: a prediction is right
        where its value of this label is.
    sureness : {"gap", "outputs", "p-values"}, callable or None, default=None
        How sure the model is. "gap": by how much the second best labelset is stranger than the best
        one, for whole labelsets. "outputs": how probable it is by the outputs that the prediction
        is right, labels taken as independent. "p-values": one minus the second highest p-value or,
        for one label, the difference of the p-values of its values; the surest objects all tie. A
        function takes X and returns a number per object. None is the first of these that the model
        and the question have. Any choice is valid that was made without the held-out examples; a
        better one accepts more.

    Attributes
    ----------
    sureness_ : array of shape (n,)
        Of the held-out examples.
    right_ : bool array of shape (n,)
        Whether the predictions for these are right.
    label_names_ : tuple of str
        The labels.

    References
    ----------
    .. [1] Jin, Y., Candes, E. J. (2023). Selection by prediction with conformal p-values. JMLR
       24(244), 1-41.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from labelsure import ReviewSelector
    >>> X, y = make_multilabel_classification(n_samples=1200, n_classes=3, random_state=0)
    >>> model = RandomForestClassifier(random_state=0).fit(X[:500], y[:500])
    >>> selector = ReviewSelector(model).calibrate(X[500:900], y[500:900])
    >>> selector
    ReviewSelector(RandomForestClassifier, 400 held-out examples)
    >>> selection = selector.select(X[900:], alpha=0.1)
    >>> wrong = (selection.labelsets != y[900:]).any(axis=1)
    >>> print(f"{wrong[selection.accepted].sum()} wrong of {selection.accepted.sum()} accepted")
    5 wrong of 86 accepted
    >>> print(f"wrong in all: {wrong.sum()} of {len(wrong)}")
    wrong in all: 120 of 300
    """

    def __init__(
        self,
        model: Any,
        *,
        at_most: int = 0,
        label: str | int | None = None,
        sureness: Sureness | None = None,
    ) -> None:
        self.model = model
        self.at_most = at_most
        self.label = label
        self.sureness = sureness

    def __repr__(self) -> str:
        asked = {"at_most": self.at_most or None, "label": self.label, "sureness": self.sureness}
        words = "".join(f", {name}={value!r}" for name, value in asked.items() if value is not None)
        seen = f", {len(self.right_)} held-out examples" if hasattr(self, "right_") else ""
        return f"ReviewSelector({type(self.model).__name__}{words}{seen})"

    def calibrate(self, X: MatrixLike, y: LabelMatrixLike, *, from_fit: bool = False) -> Self:
        """See how sure the model is of held-out examples, and which of its predictions are right.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Objects that neither trained nor calibrated the model. For a predictor that works on
            outputs, their outputs.
        y : array-like, sparse matrix or DataFrame of shape (n, q)
            Their labels, zeros and ones. With ``label``, NaN where a label is not known: examples
            with this label known are used. Whether it is known must not depend on its value given
            the object; what is promised then holds for objects like those with a known label, and
            for all where it does not depend on the object either.
        from_fit : bool, default=False
            Whether ``X`` and ``y`` are all that the model's ``fit`` was given, NaN included, and
            the part of it that calibrated the model is to serve once more. For an
            :class:`InductiveConformalClassifier` without ``mondrian``, ``weight``, ``groups`` and
            ``on_violation="drop"``, and sureness by "gap" or "outputs" only: there neither the best
            labelset nor sureness depends on calibration examples. All others need fresh examples.
        """
        check_model(self.model)
        n_labels, known = labels_of(self.model)
        labels, unknown = check_gaps(y, name="y", n_labels=n_labels, label_names=known)
        names = tuple(known or label_names_of(y) or made_up_names(labels.shape[1]))
        check_same_length(rows_of(self.model, X), labels, names=("X", "y"))
        if len(labels) == 0:
            raise ValueError("X and y must hold at least one held-out example, got none.")
        question = Question.of(self.at_most, self.label, names)
        kind = check_kind(self.sureness, self.model, question)
        if check_flag(from_fit, name="from_fit"):
            rows = _calibration_rows(self.model, kind, X, labels)
            X = _safe_indexing(X, rows)
            labels = labels[rows]
            unknown = None if unknown is None else unknown[rows]
        told = _known_rows(unknown, question, from_fit=from_fit)
        predicted, sureness = predict_with_sureness(self.model, X, question, kind, exact=from_fit)
        self.question_, self.kind_ = question, kind
        self.from_fit_ = from_fit
        self.label_names_ = names
        self.sureness_, self.right_ = sureness[told], question.judge(predicted, labels)[told]
        self.n_unknown_ = self.model.n_incomplete_ if from_fit else len(labels) - len(self.right_)
        return self

    def select(self, X: MatrixLike, *, alpha: float = 0.05, batch: bool = True) -> Selection:
        """Return which predictions for new objects can be accepted without review.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            The new objects. For a predictor that works on outputs, their outputs.
        alpha : float, default=0.05
            The share of wrong ones among the accepted that you accept, strictly between 0 and 1.
        batch : bool, default=True
            Whether the objects are a batch, to be decided about at once. False decides about each
            by itself, and promises less: see :func:`select_objects`.
        """
        if not hasattr(self, "right_"):
            raise NotFittedError(
                "This ReviewSelector has seen no held-out examples yet: call calibrate(X, y) first."
            )
        level = check_significance(alpha, name="alpha", example=ALPHA_EXAMPLE)
        predicted, sureness = predict_with_sureness(
            self.model, X, self.question_, self.kind_, exact=self.from_fit_
        )
        held_out = self.sureness_, self.right_
        selection = replace(
            select(*held_out, sureness, level, batch, fault=self.question_.fault),
            labelsets=predicted,
            label_names=self.label_names_,
            index=row_index_of(rows_of(self.model, X)),
        )
        if self.n_unknown_ and selection.accepted.any():
            assumed = (INCOMPLETE if self.from_fit_ else ASSUMED).format(n=self.n_unknown_)
            return replace(selection, statement=f"{selection.statement} {assumed}")
        return selection


def check_kind(kind: Any, model: Any, question: Question) -> Sureness:
    """Return how sureness is measured, for None the best possible way, or raise ValueError."""
    if callable(kind):
        chosen: Sureness = kind
        return chosen
    of_labelsets, of_labels = hasattr(model, "predict_labelsets"), hasattr(model, "predict_labels")
    p_values = of_labelsets or (of_labels and question.label is not None)
    possible = {
        "gap": hasattr(model, "nonconformity") and question.whole,
        "outputs": has_outputs(model),
        "p-values": p_values and question.at_most == 0,
    }
    fitting = [name for name in KINDS if possible[name]]
    if fitting and (kind is None or (isinstance(kind, str) and kind in fitting)):
        return fitting[0] if kind is None else str(kind)
    listed = "".join(f"{name!r}, " for name in fitting)
    raise ValueError(
        f"sureness must be {listed}None or a function from X to one number per object, for a"
        f" {type(model).__name__} and a question about {question.fault}, got {kind!r}."
    )


def predict_with_sureness(
    model: Any, X: MatrixLike, question: Question, kind: Sureness, *, exact: bool = False
) -> tuple[LabelMatrix, FloatArray]:
    """Return what a model predicts for objects, (n, q), and how sure it is of that answer.

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
        Whether to raise ValueError where a search for the best labelset was stopped early: where it
        stops depends on the examples that calibrated the model.
    """
    of_labelsets, of_labels = hasattr(model, "predict_labelsets"), hasattr(model, "predict_labels")
    predictions: Any = None
    if of_labelsets or of_labels:
        predictions = model.predict_labelsets(X) if of_labelsets else model.predict_labels(X)
    if exact and not predictions.certain.all():
        raise ValueError(
            "With this many labels the best labelset of some objects was not found for certain,"
            " and depends on the examples that calibrated the model. Calibrate with fresh"
            " examples, without from_fit."
        )
    if kind == "gap":
        first, second = np.moveaxis(predictions.top(2).labelsets, 1, 0)
        return first, model.nonconformity(X, second) - model.nonconformity(X, first)
    if of_labelsets:
        predicted = predictions.labelsets
    else:
        predicted = predictions.labels if of_labels else _plain_labels(model, X, question.n_labels)
    if callable(kind):
        sureness = check_sureness(kind(X), "sureness")
        check_same_length(sureness, predicted, names=("sureness", "X"))
        return predicted, sureness
    if kind == "outputs":
        outputs = mean_outputs(model, X, question.n_labels)
        return predicted, log_probability(predicted, outputs, question)
    if question.whole:
        return predicted, predictions.confidence
    p_values = predictions.label_p_values if of_labelsets else predictions.p_values
    off, on = p_values[:, question.label].T
    return predicted, np.abs(on - off)


def log_probability(predicted: LabelMatrix, outputs: FloatArray, question: Question) -> FloatArray:
    """Return the log of the probability that predictions are right, labels taken as independent.

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
    # of 0, 1, ..., at_most wrong labels among those met
    chances = np.zeros((len(wrong), question.at_most + 1))
    chances[:, 0] = 1.0
    log_scale = np.zeros(len(wrong))
    for of_label in wrong.T:
        one_more = chances[:, :-1] * of_label[:, None]
        chances *= 1 - of_label[:, None]
        chances[:, 1:] += one_more
        total = chances.sum(axis=1)
        with np.errstate(divide="ignore"):
            # kept apart: products over thousands of labels are beyond any float
            log_scale += np.log(total)
        chances /= np.where(total > 0, total, 1.0)[:, None]
    return log_scale


def _plain_labels(model: Any, X: MatrixLike, n_labels: int) -> LabelMatrix:
    predicted = model.predict(X)
    if getattr(predicted, "ndim", 2) == 1 and n_labels == 1:
        predicted = np.reshape(predicted, (-1, 1))
    name = f"What {type(model).__name__} predicts"
    return check_label_matrix(predicted, name=name, n_labels=n_labels)


def _known_rows(unknown: BoolArray | None, question: Question, *, from_fit: bool) -> Any:
    """Return the examples whose answer to the question is known, or raise ValueError."""
    if unknown is None or not unknown.any():
        return slice(None)
    if question.label is None or from_fit:
        raise ValueError(
            "y must hold only 0 and 1, got nan. Unknown labels require a question about one label,"
            " label=..., and fresh examples; for whole labelsets leave out examples with NaN."
        )
    known = ~unknown[:, question.label]
    if not known.any():
        raise ValueError(
            f"y must hold at least one example with {question.name!r} known, got only nan."
        )
    return known


def _calibration_rows(model: Any, kind: Sureness, X: MatrixLike, Y: LabelMatrix) -> Any:
    """Return the rows that calibrated the model, or raise ValueError if they cannot be reused."""
    fresh = "Pass examples that neither trained nor calibrated the model, without from_fit."
    if not isinstance(model, InductiveConformalClassifier):
        got = type(model).__name__
        raise ValueError(f"from_fit requires an InductiveConformalClassifier, got a {got}. {fresh}")
    choices, n = model.calibrator_.choices, model.n_examples_
    refused = {
        "requires sureness='gap' or 'outputs': p-values depend on the examples that calibrated the"
        " model, and functions of your own may": kind not in ("gap", "outputs"),
        "cannot be used with mondrian or weight: with mondrian the best labelset depends on the"
        " examples that calibrated the model, with weight new objects are not like them": (
            choices.taxonomy is not None or choices.weight is not None
        ),
        "cannot be used with on_violation='drop': the examples that calibrated the model decide"
        " which constraints are dropped, and so its best labelsets": choices.on_violation == "drop",
        "cannot be used with groups: a few large groups may outvote the others, so one fresh"
        " example per group is needed": model.calibrator_.guarantee.name == "groups",
    }
    for why, holds in refused.items():
        if holds:
            raise ValueError(f"from_fit {why}. {fresh}")
    if len(Y) != n or n_rows(X) != n:
        raise ValueError(f"from_fit takes the {n} examples that fit was given, got {len(Y)}.")
    (rows,), (fold,) = model.fold_indices_, model.calibrator_.folds
    scores = model.nonconformity(_safe_indexing(X, rows), Y[rows])
    if not np.allclose(scores, np.ldexp(fold.scores.astype(np.float64), -fold.measure.exponent_)):
        raise ValueError(
            "from_fit takes the examples that fit was given, in the same order, but the scores of"
            " these differ from those of fit."
        )
    return rows


def check_model(model: Any) -> None:
    """Raise ValueError where there is no fitted model that predicts labels."""
    if isinstance(model, type):
        raise ValueError(
            f"{EXPECTED}, got the class {model.__name__}. Pass a fitted instance of it."
        )
    if not any(hasattr(model, name) for name in ("predict_labelsets", "predict_labels", "predict")):
        raise ValueError(f"{EXPECTED}, got {model!r}.")
    if hasattr(model, "fit") and hasattr(model, "get_params"):
        check_is_fitted(model)


def labels_of(model: Any) -> tuple[int | None, Sequence[str] | None]:
    """Return the number of a model's labels and their names, None where it does not know them."""
    if isinstance(model, OutputsPredictor):
        return model.n_labels, model.calibrator.label_names
    if isinstance(model, LabelWiseOutputsPredictor):
        return model.n_labels, model.label_names
    names = getattr(model, "label_names_", None)
    return getattr(model, "n_labels_", None), None if names is None else tuple(names)


def takes_fold_outputs(model: Any) -> bool:
    """Tell whether a predictor takes the outputs of each fold's model instead of objects."""
    return isinstance(model, ON_OUTPUTS) and model.fold_numbers is not None


def rows_of(model: Any, X: MatrixLike) -> Any:
    """Return what has one row per object: X, or the outputs of the first of several folds."""
    return X[0] if takes_fold_outputs(model) else X


def has_outputs(model: Any) -> bool:
    """Tell whether a model gives one output per label; a full predictor has a model per object."""
    if hasattr(model, "predict_labelsets") or hasattr(model, "predict_labels"):
        return isinstance(model, ON_OUTPUTS + WITH_MODELS)
    return hasattr(model, "predict_proba") or hasattr(model, "decision_function")


def mean_outputs(model: Any, X: MatrixLike, n_labels: int) -> FloatArray:
    """Return a model's outputs, the mean over the folds where there are several."""
    if isinstance(model, ON_OUTPUTS):
        known: dict[str, Any] = {"n_labels": n_labels, "label_names": labels_of(model)[1]}
        tables = X if takes_fold_outputs(model) else [X]
        per_fold = [check_outputs(table, **known) for table in tables]
    elif isinstance(model, WITH_MODELS):
        per_fold = outputs_of_models(model.models_, X, n_labels, n_jobs=model.n_jobs)
    else:
        return outputs_of(model, X, n_labels)
    return np.asarray(np.mean(per_fold, axis=0))

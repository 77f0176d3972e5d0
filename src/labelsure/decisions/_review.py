"""Which predictions of a fitted model need no review: conformal selection around any predictor."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    BoolArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_flag,
    check_gaps,
    check_same_length,
    label_names_of,
    made_up_names,
    n_rows,
    row_index_of,
)
from labelsure.conformal import InductiveConformalClassifier
from labelsure.conformal._incomplete import INCOMPLETE
from labelsure.decisions._risk_control import check_probability
from labelsure.decisions._selection import Selection, select
from labelsure.decisions._sureness import (
    Question,
    Sureness,
    check_kind,
    names_of_labels,
    predict_with_sureness,
    rows_of,
)

EXPECTED = (
    "model must be a fitted predictor of labelsets or labels, or a fitted classifier with predict"
    " and predict_proba or"
    " decision_function"
)

ASSUMED = (
    "{n} more held-out examples do not say whether they have this label and are left out: this"
    " holds where that depends"
    " neither on the object nor on the label."
)


class ReviewSelector:
    """Accepts predictions of a fitted model without review, so that few of the accepted ones are wrong.

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
    >>> print(f"accepted: {selection.accepted.sum()}, wrong among them: {wrong[selection.accepted].sum()}")
    accepted: 86, wrong among them: 5
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
        known = names_of_labels(self.model)  # else as the examples call them
        n_labels = getattr(self.model, "n_labels_", getattr(self.model, "n_labels", None))
        labels, unknown = check_gaps(y, name="y", n_labels=n_labels, label_names=known)
        names = known or label_names_of(y) or made_up_names(labels.shape[1])
        check_same_length(rows_of(self.model, X), labels, names=("X", "y"))
        if len(labels) == 0:
            raise ValueError("X and y must hold at least one held-out example, got none.")
        question = Question.of(self.at_most, self.label, tuple(names))
        kind = check_kind(self.sureness, self.model, question)
        if check_flag(from_fit, name="from_fit"):
            rows = _own_examples(self.model, kind, X, labels)
            X = _safe_indexing(X, rows)
            labels = labels[rows]
            unknown = None if unknown is None else unknown[rows]
        told = _known_rows(unknown, question, from_fit=from_fit)
        predicted, sureness = predict_with_sureness(self.model, X, question, kind, exact=from_fit)
        self.question_ = question
        self.kind_ = kind
        self.from_fit_ = from_fit
        self.label_names_ = tuple(names)
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
        level = check_probability(
            alpha, name="alpha", example="To accept 5 % wrong ones pass alpha=0.05."
        )
        predicted, sureness = predict_with_sureness(
            self.model, X, self.question_, self.kind_, exact=self.from_fit_
        )
        details = {
            "labelsets": predicted,
            "label_names": self.label_names_,
            "index": row_index_of(rows_of(self.model, X)),
        }
        selection = select(
            self.sureness_,
            self.right_,
            sureness,
            level,
            batch,
            fault=self.question_.fault,
            details=details,
        )
        if self.n_unknown_ and selection.accepted.any():
            assumed = (INCOMPLETE if self.from_fit_ else ASSUMED).format(n=self.n_unknown_)
            return replace(selection, statement=f"{selection.statement} {assumed}")
        return selection


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


def _known_rows(unknown: BoolArray | None, question: Question, *, from_fit: bool) -> Any:
    """Return the examples whose answer to the question is known, or say why unknown labels cannot be used."""
    if unknown is None or not unknown.any():
        return slice(None)
    if question.label is None or from_fit:
        raise ValueError(
            "y must hold only 0 and 1, got nan. Unknown labels go with a question about one"
            " label, label=..., and"
            " fresh examples; for whole labelsets leave out examples with NaN."
        )
    known = ~unknown[:, question.label]
    if not known.any():
        raise ValueError(
            f"y must hold at least one example with {question.name!r} known, got only nan."
        )
    return known


def _own_examples(model: Any, kind: Sureness, X: MatrixLike, Y: LabelMatrix) -> Any:
    """Return the rows that calibrated the model where these can serve once more, or say why they cannot."""
    fresh = "Pass examples that neither trained nor calibrated the model, without from_fit."
    if not isinstance(model, InductiveConformalClassifier):
        raise ValueError(
            f"from_fit goes with an InductiveConformalClassifier, got a {type(model).__name__}."
            f" {fresh}"
        )
    choices = model.calibrator_.choices
    if kind not in ("gap", "outputs"):
        raise ValueError(
            "from_fit goes with sureness='gap' or 'outputs': p-values depend on the examples that"
            " calibrated the model,"
            f" and functions of your own may. {fresh}"
        )
    if choices.taxonomy is not None or choices.weight is not None:
        raise ValueError(
            "from_fit goes without mondrian and weight: with the one the best labelset depends on"
            " the examples that"
            f" calibrated the model, with the other new objects are not like them. {fresh}"
        )
    if choices.on_violation == "drop":
        raise ValueError(
            "from_fit goes without on_violation='drop': the examples that calibrated the model"
            " decide which constraints"
            f" are dropped, and so on its best labelsets. {fresh}"
        )
    if model.calibrator_.guarantee.name == "groups":
        raise ValueError(
            "from_fit goes without groups: of examples that belong together, a few groups may"
            " outvote the others."
            " Pass one fresh example per group, without from_fit."
        )
    if len(Y) != model.n_examples_ or n_rows(X) != model.n_examples_:
        raise ValueError(
            f"from_fit takes the {model.n_examples_} examples that fit was given, got {len(Y)}."
        )
    (rows,), (fold,) = model.fold_indices_, model.calibrator_.folds
    scores = model.nonconformity(_safe_indexing(X, rows), Y[rows])
    if not np.allclose(scores, np.ldexp(fold.scores.astype(np.float64), -fold.measure.exponent_)):
        raise ValueError(
            "from_fit takes the examples that fit was given, in the same order: these score"
            " differently from those."
        )
    return rows

"""Which question to ask of a model: ask every question of some objects, and measure the answers."""

import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_label_matrix,
    check_same_length,
    check_significance,
)
from labelsure.conformal import calibrate_labels, calibrate_outputs
from labelsure.decisions._cover import control_cover
from labelsure.decisions._review import (
    ReviewSelector,
    check_model,
    labels_of,
    mean_outputs,
    predict_with_sureness,
    rows_of,
    takes_fold_outputs,
)
from labelsure.decisions._selection import select_objects
from labelsure.decisions._thresholds import control_precision, control_recall

# the strongest answers first; "review" answers another need and is never recommended first
QUESTIONS = {
    "labelsets": "Which labelsets cannot be ruled out?",
    "few wrong": "What is each label, so that at most h of them are wrong?",
    "each label": "What is each label, taken by itself?",
    "cover": "Which labels hold all true ones?",
    "recall": "Which labels hold nearly all true ones?",
    "precision": "Which labels are nearly all true?",
    "review": "Which predictions need no review?",
}

CONTROLS: dict[str, Callable[..., Any]] = {
    "cover": control_cover,
    "recall": control_recall,
    "precision": control_precision,
}


@dataclass(frozen=True)
class Answer:
    """What a question yields at an accepted error, whether it is informative, and how to ask it."""

    question: str
    level: float
    informative: bool
    words: str
    code: str
    figures: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Advice:
    """Which question the data can answer: ``print`` it for an answer per question and level."""

    answers: tuple[Answer, ...]
    basis: str
    looked_at: IntArray = field(compare=False)

    @property
    def first(self) -> Answer | None:
        """The strongest question with an informative answer, at the smallest error, or None."""
        order = list(QUESTIONS)
        worth = [
            answer for answer in self.answers if answer.informative and answer.question != "review"
        ]
        return min(worth, key=lambda one: (order.index(one.question), one.level), default=None)

    def __repr__(self) -> str:
        first = self.first
        if first is None:
            recommended = (
                "Ask nothing yet: no answer says much. A larger error, a better learner or more"
                " data may help."
            )
        else:
            words = f"At an error of {first.level:g}: {first.words}. Pass X and y other than these."
            recommended = (
                f"Ask first: {QUESTIONS[first.question]}\n    {first.code}\n{_wrap(words)}"
            )
        blocks = [_wrap(self.basis), recommended, "What each question yields (* = worth asking):"]
        for question, text in QUESTIONS.items():
            lines = [
                _wrap(f"{'*' if answer.informative else ' '} {answer.level:<5g} {answer.words}", 8)
                for answer in self.answers
                if answer.question == question
            ]
            blocks += ["\n".join([f"{question}: {text}", *lines])] if lines else []
        return "\n\n".join(blocks)


def advise(
    model: Any,
    X: MatrixLike,
    y: LabelMatrixLike,
    *,
    levels: Sequence[float] = (0.05, 0.1, 0.2),
    max_objects: int = 1000,
    random_state: Any = 0,
) -> Advice:
    """Measure which question a model can answer for these data, and return the code that asks it.

    Worth asking, as rules of thumb: labelsets where half of the regions hold at most 10 and half of
    the labels are decided; few wrong (h at most half of the errors without a model), each label,
    cover and recall where at most half of the labels, and 3 for each true one plus one, are left to
    look through, the first two with half of the true ones; precision where half of the objects get
    a label; review where a fifth are accepted.

    Parameters
    ----------
    model : fitted predictor or classifier
        Any conformal predictor of this package, or any classifier for several labels.
    X : array-like of shape (n_objects, n_features)
        Objects that neither trained nor calibrated the model; outputs, for a predictor on outputs.
    y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
        Their labels. Half of the examples calibrate what the model does not answer by itself, the
        others are asked.
    levels : sequence of float, default=(0.05, 0.1, 0.2)
        Errors: significances, one minus targets of recall, precision and cover, shares of wrong
        ones accepted.
    max_objects : int, default=1000
        The largest number of examples drawn. Labelsets are computed for at most 100 objects, and
        counted up to 1000 each.
    random_state : int, RandomState or None, default=0
        For the draws.

    Returns
    -------
    Advice
        To be printed; ``first`` is the answer to ask for first. Calibrate it with other examples
        than these.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier, advise
    >>> X, y = make_multilabel_classification(900, n_classes=3, length=200, random_state=0)
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
    >>> model = model.fit(X[:500], y[:500])
    >>> advise(model, X[500:], y[500:]).first.code
    'model.predict_labelsets(X_new).region(0.05)'
    """
    errors = sorted(float(check_significance(level)) for level in np.atleast_1d(levels).tolist())
    if not errors:
        raise ValueError(
            "levels must hold at least one number between 0 and 1, got none. Pass (0.05, 0.1, 0.2)."
        )
    most = check_count(max_objects, name="max_objects", at_least=20)
    check_model(model)
    n_labels, names = labels_of(model)
    labels = check_label_matrix(y, name="y", n_labels=n_labels, label_names=names)
    check_same_length(rows_of(model, X), labels, names=("X", "y"))
    rows = np.asarray(check_random_state(random_state).permutation(len(labels))[:most])
    if len(rows) < 20:
        raise ValueError(
            f"X and y must hold at least 20 examples, half of which calibrate, got {len(rows)}."
        )
    known, asked = np.split(rows, [len(rows) // 2])
    examples = _take(model, X, known), labels[known]
    answers = tuple(_ask(model, *examples, _take(model, X, asked), labels[asked], errors))
    basis = (
        f"{labels.shape[1]} labels, {labels[asked].sum(axis=1).mean():.1f} of them true on average."
        f" Measured on {len(asked)} objects (labelsets on at most 100), with {len(known)} others to"
        " calibrate, drawn at random."
    )
    return Advice(answers, basis, np.sort(rows))


def _ask(
    model: Any, X: Any, y: LabelMatrix, new: Any, Y: LabelMatrix, errors: Sequence[float]
) -> Iterator[Answer]:
    """Yield the answers for new objects with labels Y; X and y calibrate the rest."""
    n_labels = Y.shape[1]
    outputs, new_outputs = mean_outputs(model, X, n_labels), mean_outputs(model, new, n_labels)
    of_labelsets = of_labels = "model"
    if hasattr(model, "predict_labelsets"):
        joint = model.predict_labelsets(_take(model, new, np.arange(min(len(Y), 100))))
    else:
        of_labelsets = "InductiveConformalClassifier(classifier).fit(X, y)"
        joint = calibrate_outputs(outputs, y).predict_labelsets(new_outputs[:100])
    if hasattr(model, "predict_labels"):
        by_label = model.predict_labels(new)
    else:
        of_labels = "LabelWiseConformalClassifier(classifier).fit(X, y)"
        by_label = calibrate_labels(outputs, y).predict_labels(new_outputs)
    reviews = []
    for h in range(min(3, n_labels)):
        selector = ReviewSelector(model, at_most=h).calibrate(X, y)
        _, sureness = predict_with_sureness(model, new, selector.question_, selector.kind_)
        reviews.append((selector, sureness))
    few = float(min(3 * Y.sum(axis=1).mean() + 1, n_labels / 2))
    without_model = ((Y.mean(axis=0) > 0.5) != Y).sum(axis=1).mean()
    counts = range(1 + min(10, int(without_model / 2), n_labels - 1))
    for level in errors:
        yield _ask_labelsets(level, of_labelsets, joint)
        yield _first_informative(_ask_labels(level, of_labels, by_label, Y, few, h) for h in counts)
        yield _ask_labels(level, of_labels, by_label, Y, few, None)
        for question in CONTROLS:
            yield _ask_control(question, level, (outputs, y), new_outputs, Y == 1, few)
        yield _first_informative(_ask_review(level, *review) for review in reviews)


def _ask_labelsets(level: float, code: str, predictions: Any) -> Answer:
    with warnings.catch_warnings():
        # of too few examples, which the figures show
        warnings.simplefilter("ignore", UserWarning)
        region = predictions.region(level)
    median = float(np.median([sum(1 for _ in islice(one, 1001)) for one in region]))
    undecided = float(region.undecided.mean())
    many = "more than 1000" if median > 1000 else f"at most {np.ceil(median):.0f}"
    words = (
        f"half of the regions hold {many} labelset{'s' * (median > 1)}, and {undecided:.0%} of the"
        " labels are undecided"
    )
    code = f"{code}.predict_labelsets(X_new).region({level:g})"
    figures = {"median_size": median, "undecided": undecided}
    return Answer("labelsets", level, median <= 10 and undecided <= 0.5, words, code, figures)


def _ask_labels(
    level: float, code: str, predictions: Any, Y: LabelMatrix, few: float, h: int | None
) -> Answer:
    """Return the answer with at most h wrong labels or, for None, of each label by itself."""
    region = predictions.region(level, per_label=h is None, at_most_wrong=h or 0)
    if h is None:
        question = "each label"
        option = "per_label=True"
        answered = "sure or possible"
        open_labels = region.outer
    else:
        question, option = "few wrong", f"at_most_wrong={h}"
        answered = f"left undecided with at most {h} wrong"
        open_labels = region.undecided | region.empty
    left = float(open_labels.sum(axis=1).mean())
    found = float(region.outer[Y == 1].mean()) if Y.any() else 1.0
    words = (
        f"{left:.1f} labels of an object are {answered}; {found:.0%} of the true labels are sure"
        " or possible"
    )
    code = f"{code}.predict_labels(X_new).region({level:g}, {option})"
    figures = {"labels": left, "found": found, "h": h or 0}
    return Answer(question, level, left <= few and found >= 0.5, words, code, figures)


def _ask_control(
    question: str, level: float, examples: Any, outputs: FloatArray, Y: BoolArray, few: float
) -> Answer:
    target = round(1 - level, 10)
    predictor = CONTROLS[question](*examples, target=target)
    predicted = predictor.predict(outputs).astype(bool)
    hits = predicted & Y
    figures = {
        "labels": float(predicted.sum(axis=1).mean()),
        "covered": float((hits == Y).all(axis=1).mean()),
        "recall": _mean_share(hits, Y),
        "precision": _mean_share(hits, predicted),
        "some": float(predicted.any(axis=1).mean()),
    }
    words = (
        "{labels:.1f} labels of an object hold {recall:.0%} of its true ones, and all of them for"
        " {covered:.0%} of the objects; {precision:.0%} of these labels are true, and {some:.0%} of"
        " the objects get any"
    ).format(**figures)
    useful = figures["some"] >= 0.5 if question == "precision" else figures["labels"] <= few
    controller = f"{question.capitalize()}Controller(classifier, target={target:g})"
    code = f"{controller}.fit(X, y).predict(X_new)"
    return Answer(question, level, useful and predictor.reached, words, code, figures)


def _ask_review(level: float, selector: ReviewSelector, new: FloatArray) -> Answer:
    selection = select_objects(selector.sureness_, selector.right_, new, alpha=level)
    accepted, h = float(selection.accepted.mean()), selector.at_most
    words = (
        f"{accepted:.0%} of the objects need no review, at most {level:.0%} of them in expectation"
        f" with {selector.question_.fault}"
    )
    code = f"ReviewSelector(model, at_most={h}).calibrate(X, y).select(X_new, alpha={level:g})"
    return Answer("review", level, accepted >= 0.2, words, code, {"accepted": accepted, "h": h})


def _first_informative(answers: Iterator[Answer]) -> Answer:
    """Return the first informative answer, or the first one where none is."""
    asked = list(answers)
    return next((answer for answer in asked if answer.informative), asked[0])


def _mean_share(parts: BoolArray, wholes: BoolArray) -> float:
    """Return the mean over objects of a share of labels, 1 where there are none."""
    n_wholes = wholes.sum(axis=1)
    return float(np.where(n_wholes > 0, parts.sum(axis=1) / np.maximum(n_wholes, 1), 1.0).mean())


def _wrap(text: str, indent: int = 0) -> str:
    return textwrap.fill(text, 110, subsequent_indent=" " * indent)


def _take(model: Any, X: Any, rows: IntArray) -> Any:
    """Return some objects, of every fold where a predictor takes the outputs of all folds."""
    if takes_fold_outputs(model):
        return [_safe_indexing(of_fold, rows) for of_fold in X]
    return _safe_indexing(X, rows)

"""Which question to ask of a model: every question is asked of some objects, and what the answers say is measured."""

import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from labelsure import _checks
from labelsure._checks import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure.conformal import calibrate_labels, calibrate_outputs
from labelsure.decisions import _sureness
from labelsure.decisions._cover import control_cover
from labelsure.decisions._precision import control_precision
from labelsure.decisions._recall import control_recall
from labelsure.decisions._review import ReviewSelector, check_model
from labelsure.decisions._selection import select_objects

QUESTIONS = {
    "labelsets": "Which labelsets cannot be ruled out?",
    "few wrong": "What is each label, so that at most h of them are wrong?",
    "each label": "What is each label, taken by itself?",
    "cover": "Which labels hold all true ones?",
    "recall": "Which labels hold nearly all true ones?",
    "precision": "Which labels are nearly all true?",
    "review": "Which predictions need no review?",
}  # the strongest answers first; "review" asks for something else, and is never recommended first

CONTROLS = {"cover": control_cover, "recall": control_recall, "precision": control_precision}


@dataclass(frozen=True)
class Answer:
    """What a question yields at a level, the error accepted, whether that is worth asking for, and how to ask it."""

    question: str
    level: float
    informative: bool
    words: str
    code: str
    figures: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Advice:
    """Which question the data can answer, to be printed: an answer for each question and level, and the rows used."""

    answers: tuple[Answer, ...]
    basis: str
    looked_at: IntArray = field(compare=False)

    @property
    def first(self) -> Answer | None:
        """The strongest question with an informative answer, at the smallest error; None where there is none."""
        worth = [
            answer for answer in self.answers if answer.informative and answer.question != "review"
        ]
        return min(
            worth,
            key=lambda answer: (list(QUESTIONS).index(answer.question), answer.level),
            default=None,
        )

    def __repr__(self) -> str:
        recommended = "Ask nothing yet: no answer says much. A larger error, a better learner or more data may help."
        if self.first is not None:
            words = f"At an error of {self.first.level:g}: {self.first.words}. X and y: other examples than these."
            recommended = f"Ask first: {QUESTIONS[self.first.question]}\n    {self.first.code}\n{_wrap(words)}"
        blocks = [
            _wrap(self.basis),
            recommended,
            "What each question yields (* where that is worth asking for):",
        ]
        for question, text in QUESTIONS.items():
            answers = [answer for answer in self.answers if answer.question == question]
            lines = [
                _wrap(f"{'*' if one.informative else ' '} {one.level:<5g} {one.words}", 8)
                for one in answers
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
    """Measure which question a model can answer for these data, and give the line of code that asks it.

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
        How many examples are drawn at most; labelsets are looked at for 100 objects, and up to 1000
        of each counted.
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
    >>> X, y = make_multilabel_classification(n_samples=900, n_classes=3, length=200, random_state=0)
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:500], y[:500])
    >>> advise(model, X[500:], y[500:]).first.code
    'model.predict_labelsets(X_new).region(0.05)'
    """
    errors = sorted(
        float(_checks.check_significance(level)) for level in np.atleast_1d(levels).tolist()
    )
    if not errors:
        raise ValueError(
            "levels must hold at least one number between 0 and 1, got none. Pass (0.05, 0.1, 0.2)."
        )
    most = _checks.check_count(max_objects, name="max_objects", at_least=20)
    check_model(model)
    n_labels, names = (
        getattr(model, "n_labels_", getattr(model, "n_labels", None)),
        _sureness.names_of_labels(model),
    )
    labels = _checks.check_label_matrix(y, name="y", n_labels=n_labels, label_names=names)
    _checks.check_same_length(_sureness.rows_of(model, X), labels, names=("X", "y"))
    rows = np.asarray(check_random_state(random_state).permutation(len(labels))[:most])
    if len(rows) < 20:
        raise ValueError(
            f"X and y must hold at least 20 examples, half of which calibrate, got {len(rows)}."
        )
    known, asked = np.split(rows, [len(rows) // 2])
    sample = _Sample(
        model, _take(model, X, known), labels[known], _take(model, X, asked), labels[asked]
    )
    answers = tuple(answer for level in errors for answer in sample.ask(level))
    basis = (
        f"{labels.shape[1]} labels, {labels[asked].sum(axis=1).mean():.1f} of them true on"
        f" average. Measured on"
        f" {len(asked)} objects (labelsets on at most 100), with {len(known)} others to"
        f" calibrate, drawn at random."
    )
    return Advice(answers, basis, np.sort(rows))


class _Sample:
    """New objects and their labels Y, and known examples, which calibrate what the model does not answer itself."""

    def __init__(self, model: Any, X: Any, y: LabelMatrix, new: Any, Y: LabelMatrix) -> None:
        self.Y, self.few = Y, float(min(3 * Y.sum(axis=1).mean() + 1, Y.shape[1] / 2))
        self.known = _sureness.mean_outputs(model, X, Y.shape[1]), y
        self.outputs = _sureness.mean_outputs(model, new, Y.shape[1])
        first = _take(model, new, np.arange(min(len(Y), 100)))
        self.joint = (
            {"model": model.predict_labelsets(first)} if hasattr(model, "predict_labelsets") else {}
        )
        self.by_label = (
            {"model": model.predict_labels(new)} if hasattr(model, "predict_labels") else {}
        )
        if not self.joint:
            code = "InductiveConformalClassifier(classifier).fit(X, y)"
            self.joint[code] = calibrate_outputs(*self.known).predict_labelsets(self.outputs[:100])
        if not self.by_label:
            code = "LabelWiseConformalClassifier(classifier).fit(X, y)"
            self.by_label[code] = calibrate_labels(*self.known).predict_labels(self.outputs)
        self.reviews = []
        for h in range(min(3, Y.shape[1])):
            selector = ReviewSelector(model, at_most=h).calibrate(X, y)
            _, sureness = _sureness.predict_with_sureness(
                model, new, selector.question_, selector.kind_
            )
            self.reviews.append((selector, sureness))

    def ask(self, level: float) -> Iterator[Answer]:
        """Yield what each question yields at one level."""
        for code, predictions in self.joint.items():
            yield self._ask_labelsets(level, code, predictions)
        for code, predictions in self.by_label.items():
            wrong = ((self.Y.mean(axis=0) > 0.5) != self.Y).sum(axis=1).mean()  # without a model
            counts = range(1 + min(10, int(wrong / 2), self.Y.shape[1] - 1))
            yield _first_informative(
                [self._ask_labels(level, code, predictions, h) for h in counts]
            )
            yield self._ask_labels(level, code, predictions)
        for question, control in CONTROLS.items():
            yield self._ask_control(question, level, control)
        yield _first_informative([self._ask_review(level, *review) for review in self.reviews])

    def _ask_labelsets(self, level: float, code: str, predictions: Any) -> Answer:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # of too few examples, which the figures show
            region = predictions.region(level)
        median = float(np.median([sum(1 for _ in islice(one, 1001)) for one in region]))
        undecided = float(region.undecided.mean())
        many = "more than 1000" if median > 1000 else f"at most {np.ceil(median):.0f}"
        words = f"half of the regions hold {many} labelset{'s' * (median > 1)}, and {undecided:.0%} of the labels"
        code = f"{code}.predict_labelsets(X_new).region({level:g})"
        figures = {"median_size": median, "undecided": undecided}
        return Answer(
            "labelsets",
            level,
            median <= 10 and undecided <= 0.5,
            f"{words} are undecided",
            code,
            figures,
        )

    def _ask_labels(
        self, level: float, code: str, predictions: Any, h: int | None = None
    ) -> Answer:
        option = "per_label=True" if h is None else f"at_most_wrong={h}"
        region = predictions.region(level, per_label=h is None, at_most_wrong=h or 0)
        left = float(
            (region.outer if h is None else region.undecided | region.empty).sum(axis=1).mean()
        )
        found = float(region.outer[self.Y == 1].mean()) if self.Y.any() else 1.0
        answered = "sure or possible" if h is None else f"left undecided with at most {h} wrong"
        words = f"{left:.1f} labels of an object are {answered}; {found:.0%} of the true labels are sure or possible"
        code = f"{code}.predict_labels(X_new).region({level:g}, {option})"
        informative, figures = (
            left <= self.few and found >= 0.5,
            {"labels": left, "found": found, "h": h or 0},
        )
        return Answer(
            "each label" if h is None else "few wrong", level, informative, words, code, figures
        )

    def _ask_control(self, question: str, level: float, control: Any) -> Answer:
        target = round(1 - level, 10)
        predictor = control(*self.known, target=target)
        predicted = predictor.predict(self.outputs)
        hits = predicted & self.Y
        figures = {
            "labels": float(predicted.sum(axis=1).mean()),
            "covered": float((hits == self.Y).all(axis=1).mean()),
            "recall": _mean_share(hits, self.Y),
            "precision": _mean_share(hits, predicted),
            "some": float(predicted.any(axis=1).mean()),
        }
        words = (
            "{labels:.1f} labels of an object hold {recall:.0%} of its true ones, and all of them"
            " for {covered:.0%} of"
            " the objects; {precision:.0%} of these labels are true, and {some:.0%} of the"
            " objects get any"
        ).format(**figures)
        informative = (
            figures["some"] >= 0.5 if question == "precision" else figures["labels"] <= self.few
        )
        code = f"{question.capitalize()}Controller(classifier, target={target:g}).fit(X, y).predict(X_new)"
        return Answer(
            question,
            level,
            informative and getattr(predictor, "reached", True),
            words,
            code,
            figures,
        )

    def _ask_review(self, level: float, selector: ReviewSelector, new: FloatArray) -> Answer:
        selection = select_objects(selector.sureness_, selector.right_, new, alpha=level)
        accepted = float(selection.accepted.mean())
        limit = f"at most {level:.0%} of them in expectation with {selector.question_.fault}"
        code = f"ReviewSelector(model, at_most={selector.at_most}).calibrate(X, y).select(X_new, alpha={level:g})"
        words = f"{accepted:.0%} of the objects need no review, {limit}"
        return Answer(
            "review",
            level,
            accepted >= 0.2,
            words,
            code,
            {"accepted": accepted, "h": selector.at_most},
        )


def _first_informative(answers: list[Answer]) -> Answer:
    return next((answer for answer in answers if answer.informative), answers[0])


def _mean_share(parts: IntArray, wholes: Any) -> float:
    """Return the mean over objects of a share of labels, 1 where there are none."""
    n_wholes = wholes.sum(axis=1)
    return float(np.where(n_wholes > 0, parts.sum(axis=1) / np.maximum(n_wholes, 1), 1.0).mean())


def _wrap(text: str, indent: int = 0) -> str:
    return textwrap.fill(text, 110, subsequent_indent=" " * indent)


def _take(model: Any, X: Any, rows: IntArray) -> Any:
    """Return some objects, of every fold where a predictor takes the outputs of all folds."""
    if isinstance(model, _sureness.ON_OUTPUTS) and model.fold_numbers is not None:
        return [_safe_indexing(part, rows) for part in X]
    return _safe_indexing(X, rows)

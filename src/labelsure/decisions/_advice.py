"""Which question to ask: what was measured about each, and the words for it."""

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional
from labelsure._core.types import IntArray

QUESTIONS = {
    "labelsets": "Which labelsets cannot be ruled out?",
    "few wrong": "What is each label, so that at most h of them are wrong?",
    "each label": "What is each label, taken by itself?",
    "cover": "Which labels hold all true ones?",
    "recall": "Which labels hold nearly all true ones?",
    "precision": "Which labels are nearly all true?",
    "review": "Which predictions need no review?",
}
"""What can be asked, the strongest answers first; "review" asks for something else, and is never first."""

WIDTH = 110

LEARNER = "Here classifier is your learner, not fitted, and X and y are examples other than those looked at."


@dataclass(frozen=True)
class Answer:
    """What one question yields at one level.

    Attributes
    ----------
    question : str
        One of "labelsets", "few wrong", "each label", "cover", "recall", "precision" and "review".
    level : float
        The error accepted: a significance, one minus a target, or the alpha of a selection.
    informative : bool
        Whether the answer is worth asking for.
    words : str
        What it says of the objects looked at.
    code : str
        How to ask it.
    figures : mapping of str to float
        The figures in ``words``, by name.
    """

    question: str
    level: float
    informative: bool
    words: str
    code: str
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Advice:
    """Which question the data can answer, with figures; made by :func:`advise`, to be printed.

    Attributes
    ----------
    answers : tuple of Answer
        One for each question that could be measured, and each level.
    n_labels : int
        The number of labels.
    basis : str
        What was measured, and on which objects.
    looked_at : int array
        The rows of the objects that were looked at, those that calibrated among them.
    left_out : str
        What could not be measured, and what it takes; empty where everything was.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import MLkNNClassifier, advise
    >>> X, y = make_multilabel_classification(n_samples=900, n_classes=5, length=200, random_state=0)
    >>> advice = advise(MLkNNClassifier().fit(X[:500], y[:500]), X[500:], y[500:], levels=[0.1])
    >>> advice
    Advice(ask first: 'labelsets' at level 0.1; 5 labels)
    >>> advice.first.code
    'InductiveConformalClassifier(classifier).fit(X, y).predict_labelsets(X_new).region(0.1)'
    """

    answers: tuple[Answer, ...]
    n_labels: int
    basis: str
    looked_at: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), compare=False)
    left_out: str = ""

    @property
    def first(self) -> Answer | None:
        """What to ask first: the strongest question with an informative answer, at the strictest level; else None."""
        worth = [answer for answer in self.answers if answer.informative and answer.question != "review"]
        order = list(QUESTIONS)
        return min(worth, key=lambda answer: (order.index(answer.question), answer.level), default=None)

    def __repr__(self) -> str:
        first = self.first
        asked = "nothing" if first is None else f"{first.question!r} at level {first.level:g}"
        return f"Advice(ask first: {asked}; {self.n_labels} labels)"

    def __str__(self) -> str:
        paragraphs = [textwrap.fill(self.basis, WIDTH), self._recommend()]
        paragraphs += ["What each question yields (* where that is worth asking for):", *self._list()]
        return "\n\n".join(paragraphs + ([textwrap.fill(self.left_out, WIDTH)] if self.left_out else []))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per question and level, and the figures as columns.

        Examples
        --------
        >>> advice = Advice((Answer("recall", 0.1, True, "2 labels", "RecallController()", {"labels": 2.0}),), 5, "")
        >>> print(advice.to_frame())
                        informative    answer                code  labels
        question level
        recall   0.1           True  2 labels  RecallController()     2.0
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        keys = {"question": "question", "level": "level", "informative": "informative", "answer": "words"}
        rows = [
            {name: getattr(answer, key) for name, key in keys.items()} | {"code": answer.code, **answer.figures}
            for answer in self.answers
        ]
        return pandas.DataFrame(rows, columns=None if rows else [*keys, "code"]).set_index(["question", "level"])

    def _recommend(self) -> str:
        first = self.first
        if first is None:
            return textwrap.fill(
                "Ask nothing yet: no question that was measured has an answer that says much at these levels. A larger"
                " error, a better learner or more examples may help; the figures below say how far off each question"
                " is.",
                WIDTH,
            )
        words = f"{self._why(first)} {LEARNER}" if "(classifier" in first.code else self._why(first)
        return "\n".join([f"Ask first: {QUESTIONS[first.question]}", f"    {first.code}", textwrap.fill(words, WIDTH)])

    def _why(self, first: Answer) -> str:
        """Return why a question comes first: what it says, and what stronger ones do not."""
        stronger = list(QUESTIONS)[: list(QUESTIONS).index(first.question)]
        weak = [name for name in stronger if any(answer.question == name for answer in self.answers)]
        why = f"At an error of {first.level:g}: {first.words}."
        if weak:
            why += f" Stronger questions ({', '.join(weak)}) say too little here, see below."
        return why

    def _list(self) -> list[str]:
        paragraphs = []
        for question, text in QUESTIONS.items():
            lines = [
                textwrap.fill(
                    f"{'*' if answer.informative else ' '} {answer.level:<5g} {answer.words}",
                    WIDTH,
                    subsequent_indent=" " * 8,
                )
                for answer in self.answers
                if answer.question == question
            ]
            if lines:
                paragraphs.append("\n".join([f"{question}: {text}", *lines]))
        return paragraphs

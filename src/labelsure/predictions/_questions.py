"""Questions about one object: the few yes/no answers that settle it or make it certain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log2
from typing import Any

import numpy as np
from scipy.special import entr

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    check_flag,
    check_number,
    is_whole,
    list_labels,
)
from labelsure.engine._rules import Inequality

MOST_LISTED = 100_000
"""Regions of up to so many labelsets are listed: shares, and what is left, are exact."""

MOST_PLAUSIBLE = 4096
"""Of larger regions so many labelsets stand for all, until what is left can be listed."""

UNKNOWN = -1
BYTES = np.arange(256, dtype=np.uint8)[:, None]
BITS = np.unpackbits(BYTES, axis=1, bitorder="little").astype(np.float64)
NEARLY = 1 - 1e-9
"""Entropies that differ by less are equal: they were added up in different orders."""

SETTLED_STATEMENT = (
    "With truthful answers a settled labelset is wrong only where the region misses the true one,"
    " whatever is asked: over all objects, settled and wrong is at most as likely as that. The"
    " level is chosen before the first answer. Among the objects that get settled the share of"
    " wrong ones may be higher, at most by one over their share. A labelset that is certain is"
    " never wrong."
)


@dataclass(frozen=True, eq=False)
class YesNoQuestion:
    """A question about an object: whether it has a label, or whether a labelset is exactly its own.

    Attributes
    ----------
    text : str
        The question in words.
    share : float or None
        The share of the weight of the labelsets left for which the answer is yes; None where none
        is left.
    label : str or None
        The label asked about; None where a labelset is.
    column : int or None
        The number of that label.
    labelset : array of shape (q,) or None
        The labelset asked about; None where a label is.
    """

    text: str
    share: float | None
    label: str | None = None
    column: int | None = None
    labelset: LabelMatrix | None = None

    def answer_for(self, labelset: LabelMatrix) -> bool:
        """Return the true answer for an object with this labelset, an array of shape (q,)."""
        if self.labelset is None:
            return bool(labelset[self.column])
        return bool(np.array_equal(self.labelset, labelset))

    def __str__(self) -> str:
        if self.share is None:
            return self.text
        return f"{self.text} (yes: {self.share:.2f}, no: {1 - self.share:.2f})"


@dataclass(frozen=True, eq=False)
class Members:
    """Labelsets that agree with the answers, with their weights.

    Attributes
    ----------
    bits : uint8 array of shape (ceil(q / 8), m)
        Bit j % 8 of row j // 8 tells which of them have label j.
    log_weights : array of shape (m,)
        The logarithms of their weights, but for a constant.
    count : callable or None
        Returns how many labelsets agree, where these are only the most plausible ones; None: these
        are all.
    """

    bits: np.ndarray[Any, np.dtype[np.uint8]]
    log_weights: FloatArray
    count: Callable[[], int] | None = None

    @classmethod
    def of(
        cls, Y: LabelMatrix, log_weights: FloatArray, count: Callable[[], int] | None = None
    ) -> "Members":
        """Return labelsets given as rows of zeros and ones."""
        bits = np.ascontiguousarray(np.packbits(Y, axis=1, bitorder="little").T)
        return cls(bits, log_weights, count)

    def __len__(self) -> int:
        return len(self.log_weights)

    def keep(self, kept: BoolArray) -> "Members":
        """Return some of them."""
        return Members(self.bits[:, kept], self.log_weights[kept])

    def have(self, j: int) -> BoolArray:
        """Tell which have label ``j``."""
        on: BoolArray = (self.bits[j >> 3] >> (j & 7) & 1).astype(bool)
        return on

    def equal(self, labelset: LabelMatrix) -> BoolArray:
        """Tell which is this labelset."""
        packed = np.packbits(labelset, bitorder="little")
        equal: BoolArray = (self.bits == packed[:, None]).all(axis=0)
        return equal

    def best(self, n_labels: int) -> LabelMatrix:
        """Return the heaviest, the first of equals."""
        bits = self.bits[:, int(self.log_weights.argmax())]
        return np.unpackbits(bits, count=n_labels, bitorder="little").astype(np.int8)

    @cached_property
    def weights(self) -> FloatArray:
        """Their weights, which sum to one."""
        weights = np.exp(self.log_weights - self.log_weights.max(initial=-inf))
        normalised: FloatArray = weights / weights.sum()
        return normalised

    def shares(self, weights: FloatArray, n_labels: int) -> FloatArray:
        """Return the weight of those with each label, (q,)."""
        sums = np.array([np.bincount(row, weights, minlength=256) for row in self.bits])
        shares: FloatArray = np.clip((sums @ BITS).ravel()[:n_labels], 0, 1)
        return shares


@dataclass(frozen=True, eq=False)
class Progress:
    """What has been answered, and the members that agree.

    Attributes
    ----------
    known : int array of shape (q,)
        0 or 1 where a label is known, else -1; a labelset that was confirmed is known.
    rejected : tuple of labelsets
        What the object's labelset is not.
    members : Members
        Those that agree.
    n_labels, n_labelsets : int
        Answers given about labels and about labelsets.
    """

    known: IntArray
    rejected: tuple[LabelMatrix, ...]
    members: Members
    n_labels: int = 0
    n_labelsets: int = 0

    @property
    def open(self) -> IntArray:
        """The labels not known."""
        return np.flatnonzero(self.known == UNKNOWN)

    def inequalities(self) -> list[Inequality]:
        """Return the answers as constraints on labelsets."""
        known, nothing = self.known.tolist(), frozenset[int]()
        told = []
        for j, value in enumerate(known):
            if value == 1:
                told.append(Inequality(nothing, frozenset([j]), -1))
            elif value == 0:
                told.append(Inequality(frozenset([j]), nothing, 0))
        for labelset in self.rejected:
            on = frozenset(np.flatnonzero(labelset).tolist())
            told.append(Inequality(on, frozenset(range(len(known))) - on, len(on) - 1))
        return told


class Questions:
    """The yes/no questions that settle one object, made by ``region[i].questions()``.

    The next question is the one whose answer removes most entropy of the weights per unit of its
    cost: about a label, or whether the heaviest labelset is the object's own. Labelsets that
    disagree with an answer are left out. The weights are posterior probabilities where the measure
    is a :class:`~labelsure.measures.PosteriorMeasure`, in the mean over the folds' models, and
    p-values else: they decide what is asked, not what is promised.

    Objects are *settled* where one labelset of the region is left: with truthful answers it is
    wrong just where the region misses the truth, see ``statement``. They are *certain* where a
    labelset was confirmed or all labels are known. Questions go on until then; where no labelset of
    the region agrees, or one is left and confirming it costs as much as asking the labels, those
    not known are asked one by one.

    Of a region with more than 100 000 labelsets the 4096 most plausible ones stand for all: answers
    become constraints of the search for them, until what is left can be listed. Then shares are
    estimates.

    Parameters
    ----------
    find : callable
        Returns the members that obey inequalities.
    label_names : sequence of str
        The labels.
    labelset_cost : float
        What judging a labelset costs, judging a label being 1; infinite: only labels are asked
        about.
    statement : str
        What is promised.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.4, 0.6], [0.7, 0.7]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [1, 1], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    >>> asking = predictor.predict_labelsets([[0.5, 0.5]]).region(0.2)[0].questions()
    >>> asking
    Questions(0 answers about labels, 0 about labelsets; 4 labelsets left)
    >>> print(asking.question)
    Does it have sea? (yes: 0.50, no: 0.50)
    >>> asking.answer(True)
    >>> print(asking.question)
    Is it exactly {sea}? (yes: 0.50, no: 0.50)
    >>> asking.answer(False)
    >>> asking.settled, asking.certain, asking.labelset.tolist()
    (True, True, [1, 1])
    """

    def __init__(
        self,
        find: Callable[[Sequence[Inequality]], Members],
        label_names: Sequence[str],
        *,
        labelset_cost: float = 1.0,
        statement: str = "",
    ) -> None:
        self._cost = check_labelset_cost(labelset_cost)
        self._find = find
        self._names = tuple(label_names)
        self.statement = statement
        self._steps = [Progress(np.full(len(self._names), UNKNOWN), (), find([]))]
        self._question: YesNoQuestion | None = None
        self._ask()

    def __repr__(self) -> str:
        now = self._now
        left = len(now.members) if now.members.count is None else f"more than {MOST_LISTED}"
        return (
            f"Questions({now.n_labels} answers about labels, {now.n_labelsets} about labelsets;"
            f" {left} labelsets left)"
        )

    @property
    def question(self) -> YesNoQuestion | None:
        """The next question; None where the labels are certain."""
        return self._question

    @property
    def left(self) -> int:
        """How many labelsets of the region agree with the answers; an estimate for very many."""
        members = self._now.members
        return len(members) if members.count is None else members.count()

    @property
    def undecided(self) -> bool:
        """Whether several labelsets of the region are left, so that answers can settle it."""
        return self._now.members.count is not None or len(self._now.members) > 1

    @property
    def settled(self) -> bool:
        """Whether one labelset of the region is left."""
        return not self.undecided and len(self._now.members) == 1

    @property
    def certain(self) -> bool:
        """Whether a labelset was confirmed or all labels are known."""
        return self._question is None

    @property
    def labelset(self) -> LabelMatrix | None:
        """The known labelset, or else the heaviest one left, shape (q,); None if none is left."""
        now = self._now
        if self.certain:
            return now.known.astype(np.int8)
        return now.members.best(len(self._names)) if len(now.members) else None

    @property
    def n_labels(self) -> int:
        """How many answers about labels were given."""
        return self._now.n_labels

    @property
    def n_labelsets(self) -> int:
        """How many answers about labelsets were given."""
        return self._now.n_labelsets

    @property
    def expected_answers(self) -> float:
        """About how many answers settle the object from here: the entropy of the weights in bits.

        No order of questions needs fewer on average, were the weights right. Infinite where no
        labelset is left: nothing settles it then. Where the region is too large to be listed, the
        logarithm of its size to base 2.
        """
        members = self._now.members
        if members.count is not None:
            return log2(members.count())
        return abs(float(entr(members.weights).sum() / np.log(2))) if len(members) else inf

    def answer(self, value: bool, *, label: str | int | None = None) -> None:
        """Take an answer to the question, or tell whether the object has another label.

        Parameters
        ----------
        value : bool
            Yes or no.
        label : str, int or None, default=None
            The label that the answer is about, by name or number; None: what :attr:`question` asks.
        """
        value = check_flag(value, name="value")
        question = self._question
        now = self._now
        if question is None:
            raise ValueError(
                "Every label of this object is known: nothing is left to ask. undo() takes answers"
                " back."
            )
        if label is None and question.labelset is not None:
            self._steps.append(self._judge_labelset(question.labelset, value))
        else:
            j = self._number_of(question.column if label is None else label)
            if now.known[j] != UNKNOWN:
                raise ValueError(
                    f"Whether it has {self._names[j]!r} is known already. undo() takes answers"
                    " back."
                )
            self._steps.append(self._judge_label(j, value))
        self._ask()

    def undo(self) -> None:
        """Take the last answer back."""
        if len(self._steps) == 1:
            raise ValueError("No answer was given yet: there is nothing to take back.")
        self._steps.pop()
        self._ask()

    @property
    def _now(self) -> Progress:
        return self._steps[-1]

    def _number_of(self, label: Any) -> int:
        if isinstance(label, str) and label in self._names:
            return self._names.index(label)
        if is_whole(label) and 0 <= int(label) < len(self._names):
            return int(label)
        raise ValueError(
            f"label must be a label's name, or its number from 0 to {len(self._names) - 1}, got"
            f" {label!r}. {list_labels(self._names)}"
        )

    def _judge_labelset(self, labelset: LabelMatrix, value: bool) -> Progress:
        now = replace(self._now, n_labelsets=self._now.n_labelsets + 1)
        same = now.members.equal(labelset)
        if value:
            return replace(now, known=labelset.astype(np.int64), members=now.members.keep(same))
        return self._narrow(replace(now, rejected=(*now.rejected, labelset)), ~same)

    def _judge_label(self, j: int, value: bool) -> Progress:
        known = self._now.known.copy()
        known[j] = value
        now = replace(self._now, known=known, n_labels=self._now.n_labels + 1)
        return self._narrow(now, self._now.members.have(j) == value)

    def _narrow(self, now: Progress, agree: BoolArray) -> Progress:
        """Return the progress with the members that agree, and labels that follow."""
        if len(now.open) == 1:
            (j,), told = now.open, now.known != UNKNOWN
            refused = {int(row[j]) for row in now.rejected if (row == now.known)[told].all()}
            if len(refused) == 2:
                raise ValueError(
                    "This answer leaves no labelset: those that agree were said not to be the"
                    " object's."
                )
            if refused:
                known = now.known.copy()
                known[j] = 1 - refused.pop()
                now = replace(now, known=known)
        listed = now.members.count is None
        members = now.members.keep(agree) if listed else self._find(now.inequalities())
        return replace(now, members=members)

    def _ask(self) -> None:
        now, q = self._now, len(self._names)
        labels, members = now.open, now.members
        self._question = None
        if not len(labels):
            return
        if len(members) < 2:
            best = members.best(q) if len(members) else None
            if best is not None and self._cost < len(labels):
                self._question = self._about_labelset(best, 1.0)
            else:
                share = None if best is None else float(best[labels[0]])
                self._question = self._about_label(int(labels[0]), share)
            return
        weights = members.weights
        shares = members.shares(weights, q)
        gains = _entropy(shares[labels])
        if not gains.max() > 0:  # but for one labelset there are no weights to speak of
            weights = np.full(len(members), 1 / len(members))
            shares = members.shares(weights, q)
            gains = _entropy(shares[labels])
        j, heaviest = int(gains.argmax()), float(weights.max())
        if _entropy(heaviest) >= self._cost * float(gains[j]) * NEARLY:
            self._question = self._about_labelset(members.best(q), heaviest)
        else:
            self._question = self._about_label(int(labels[j]), float(shares[labels[j]]))

    def _about_label(self, j: int, share: float | None) -> YesNoQuestion:
        return YesNoQuestion(
            f"Does it have {self._names[j]}?", share, label=self._names[j], column=j
        )

    def _about_labelset(self, labelset: LabelMatrix, share: float) -> YesNoQuestion:
        names = ", ".join(np.array(self._names, dtype=object)[labelset == 1])
        text = f"Is it exactly {{{names}}}?" if names else "Has it no label at all?"
        return YesNoQuestion(text, share, labelset=labelset)


def check_labelset_cost(value: Any) -> float:
    """Return what judging a labelset costs, which may be infinite, or raise ValueError."""
    if isinstance(value, float) and value == inf:
        return inf
    return check_number(value, name="labelset_cost", above=0)


def _entropy(shares: Any) -> Any:
    """Return the entropy in bits of answers that are yes with these probabilities."""
    return (entr(shares) + entr(1 - np.asarray(shares))) / np.log(2)

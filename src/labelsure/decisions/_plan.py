"""A number of yes/no answers, spent over a batch of objects where they settle most."""

import numpy as np

from labelsure._checks import BoolArray, LabelMatrix, check_flag, check_number
from labelsure.predictions import Guarantee, LabelsetRegion, YesNoQuestion
from labelsure.predictions._questions import check_labelset_cost


class QuestionPlan:
    """Which object to ask about next, and what, within a budget of answers; made by :func:`plan`.

    Attributes
    ----------
    questions : list of Questions
        Of each object; answers go through :meth:`answer`.
    budget : float
        What answers may cost together.
    labelset_cost : float
        What judging a labelset costs, judging a label being 1.
    """

    def __init__(self, region: LabelsetRegion, budget: float, labelset_cost: float) -> None:
        self.questions = [one.questions(labelset_cost=labelset_cost) for one in region]
        self.budget, self.labelset_cost = budget, labelset_cost
        self._region, self._answered = region, list[int]()
        self._expected = np.array([asking.expected_answers for asking in self.questions])

    def __repr__(self) -> str:
        settled = f"{int(self.settled.sum())} of {len(self.questions)} objects settled"
        return f"QuestionPlan({settled}, {self.spent:g} of {self.budget:g} answers spent)"

    @property
    def object(self) -> int | None:
        """The number of the object to ask about next, the cheapest to settle; None at the end."""
        affordable = self.budget - self.spent
        undecided = [asking.undecided for asking in self.questions]
        for i in np.argsort(np.where(undecided, self._expected, np.inf), kind="stable").tolist():
            if not self.questions[i].undecided:
                return None  # nor are those that come after it
            if self._cost_of(self.questions[i].question) <= affordable:
                return int(i)
        return None

    @property
    def question(self) -> YesNoQuestion | None:
        """What to ask about it."""
        i = self.object
        return None if i is None else self.questions[i].question

    def answer(self, value: bool) -> None:
        """Take the answer to :attr:`question`."""
        i = self.object
        if i is None:
            raise ValueError(
                "This plan is at its end: the budget is spent, or no object is left that can be"
                " settled."
            )
        self.questions[i].answer(check_flag(value, name="value"))
        self._answered.append(i)
        self._expected[i] = self.questions[i].expected_answers

    def undo(self) -> None:
        """Take the last answer back."""
        if not self._answered:
            raise ValueError("No answer was given yet: there is nothing to take back.")
        i = self._answered.pop()
        self.questions[i].undo()
        self._expected[i] = self.questions[i].expected_answers

    @property
    def spent(self) -> float:
        """What the answers so far have cost."""
        n_labels = sum(asking.n_labels for asking in self.questions)
        n_labelsets = sum(asking.n_labelsets for asking in self.questions)
        return n_labels + (self.labelset_cost * n_labelsets if n_labelsets else 0)

    @property
    def settled(self) -> BoolArray:
        """Which objects have one labelset of their region left, shape (n,)."""
        return np.array([asking.settled for asking in self.questions], dtype=bool)

    @property
    def labelsets(self) -> LabelMatrix:
        """The labelsets of the objects that are settled, in their order."""
        settled = [np.asarray(asking.labelset) for asking in self.questions if asking.settled]
        return np.array(settled, dtype=np.int8).reshape(-1, len(self._region.label_names))

    @property
    def statement(self) -> str:
        """What is promised about all objects of the batch, and about those that are settled."""
        n, k = len(self.questions), int(self.settled.sum())
        guarantee, level = self._region._predictions.guarantee, float(self._region.significance)
        parts = [f"{k} of {n} objects are settled, for {self.spent:g} of {self.budget:g} answers."]
        parts += [self._region.statement]
        if isinstance(guarantee, Guarantee):
            bound = min(guarantee.error_bound(level), 1.0)
            share = ""
            if k:
                share = f", a share of at most {min(bound * n / k, 1.0):.3g} of the settled ones"
            parts.append(
                "With truthful answers a settled labelset is wrong only where its region misses the"
                " true one, whatever is asked about which object: in expectation at most"
                f" {bound * n:.3g} of all {n} objects are settled and wrong{share}."
            )
        n_empty = sum(not (asking.undecided or asking.settled) for asking in self.questions)
        if n_empty:
            parts.append(
                f"For {n_empty} objects no labelset of the region is left: they cannot be settled."
            )
        return " ".join(parts)

    def _cost_of(self, question: YesNoQuestion | None) -> float:
        return 1.0 if question is None or question.labelset is None else self.labelset_cost


def plan(region: LabelsetRegion, *, budget: float, labelset_cost: float = 1.0) -> QuestionPlan:
    """Return a plan of which questions to ask about which objects, to settle as many as possible.

    The next answer always goes to the object that is expected to need the fewest further ones. The
    level holds for all objects of the batch together, however the answers are spent.

    Parameters
    ----------
    region : LabelsetRegion
        Of the objects; its level is chosen before the first answer.
    budget : float
        What the answers may cost together, an answer about a label being 1.
    labelset_cost : float, default=1.0
        What it costs to judge whether a labelset is exactly the object's; infinite: only labels are
        asked about.

    Returns
    -------
    QuestionPlan
        Ask its ``question`` about its ``object`` and pass what was said to ``answer``, until there
        is none.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.4, 0.6], [0.7, 0.7]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [1, 1], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    >>> session = plan(predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]]).region(0.2), budget=3)
    >>> while session.question is not None:
    ...     print(f"Object {session.object}: {session.question}")
    ...     session.answer(False)
    Object 0: Is it exactly {sea}? (yes: 0.71, no: 0.29)
    Object 1: Does it have sea? (yes: 0.50, no: 0.50)
    Object 1: Has it no label at all? (yes: 0.50, no: 0.50)
    >>> session
    QuestionPlan(2 of 2 objects settled, 3 of 3 answers spent)
    """
    if not isinstance(region, LabelsetRegion):
        raise ValueError(
            f"region must be a LabelsetRegion, got {type(region).__name__}. Use"
            " predictions.region(0.1)."
        )
    most = check_number(budget, name="budget", at_least=0)
    return QuestionPlan(region, most, check_labelset_cost(labelset_cost))

"""Single answers: which to accept, what wrapping a learner changed, what a person must answer."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.decisions import select_objects
from labelsure.metrics import answers_needed
from labelsure.predictions import LabelsetPredictions, LabelsetRegion

# accepted error rates: shares of wrong labelsets among the accepted
ALPHAS = (0.01, 0.05, 0.1, 0.2)

# questions are simulated for so many objects, if their regions hold so many labelsets together:
# both simulations take about ten microseconds for each; counting them may take minutes with more
# labels
N_SAMPLED = 100
MOST_LABELSETS = 300_000
MOST_LABELS = 60


@dataclass(frozen=True, eq=False)
class Acceptance:
    """What can be accepted of one half of the objects, with the other half as held-out examples.

    Attributes
    ----------
    decided : bool array of shape (n,)
        The half that is decided about.
    accepted : bool array of shape (n_alphas, n)
        Those of them that can be accepted at each accepted error rate of ``ALPHAS``.
    wrong : bool array of shape (n,)
        Objects whose most plausible labelset is not the truth.
    """

    decided: BoolArray
    accepted: BoolArray
    wrong: BoolArray

    @property
    def codes(self) -> IntArray:
        """Index of the first alpha at which each object is accepted, or ``len(ALPHAS)``."""
        reached = np.concatenate([self.accepted, np.ones((1, len(self.wrong)), dtype=bool)])
        first: IntArray = reached.argmax(axis=0).astype(np.int64)
        return first


def accept(confidence: FloatArray, right: BoolArray) -> Acceptance | None:
    """Return what can be accepted of one half of the objects, with the other half held out.

    One half only: if each decided about the other, a half whose most confident answers are wrong
    would accept little and have much of the other half accepted, so that the share of wrong ones
    among all accepted ones is not bounded. Halves are drawn once for all, and ties of confidence
    are broken in the same way at every alpha, so that what is accepted at one is accepted at the
    next. None for a single object, which has no other half.
    """
    if len(confidence) < 2:
        return None
    held_out, new = np.array_split(np.random.default_rng(0).permutation(len(confidence)), 2)
    decided = np.zeros(len(confidence), dtype=bool)
    decided[new] = True
    accepted = np.zeros((len(ALPHAS), len(confidence)), dtype=bool)
    examples = confidence[held_out], right[held_out], confidence[new]
    for row, alpha in zip(accepted, ALPHAS, strict=True):
        selection = select_objects(*examples, alpha=alpha, random_ties=True, random_state=0)
        row[new] = selection.accepted
    return Acceptance(decided, accepted, ~right)


class AnswersOfPerson(NamedTuple):
    """What a truthful person has to answer, means over a sample of objects.

    Attributes
    ----------
    n_sampled, n_objects, n_labels : int
        Objects in the sample and in all, and labels.
    settled_at, certain_from : float
        Confidence in percent of the regions asked about.
    settled_labels : float
        Answers about labels, the only ones asked, until at most one labelset of the region is left.
    certain_labels, certain_labelsets : float
        Answers about labels and labelsets, which cost the same, until labels are certain.
    """

    n_sampled: int
    n_objects: int
    n_labels: int
    settled_at: float
    settled_labels: float
    certain_from: float
    certain_labels: float
    certain_labelsets: float

    def __str__(self) -> str:
        drawn = f"{self.n_sampled} of {self.n_objects:,} objects drawn with a fixed seed"
        objects = f"all {self.n_objects} objects" if self.n_sampled == self.n_objects else drawn
        return (
            f"What a person has to answer, mean of {objects}: settled at {self.settled_at:g} %:"
            f" {self.settled_labels:.1f} of {self.n_labels} labels; certain:"
            f" {self.certain_labels:.1f} labels and {self.certain_labelsets:.1f} labelsets per"
            f" object."
        )


def count_answers(
    predictions: LabelsetPredictions, Y: LabelMatrix, significance: float, widest: float
) -> AnswersOfPerson | None:
    """Return what a person has to answer; None if regions are too large for a quick simulation.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects.
    Y : array of shape (n, q)
        Their labels.
    significance : float
        Of the regions that are to be settled.
    widest : float
        Of the regions from which labels are to become certain; if these are too large,
        ``significance`` is used.
    """
    n_objects, n_labels = Y.shape
    if n_labels > MOST_LABELS:
        return None
    rows = np.sort(np.random.default_rng(0).permutation(n_objects)[:N_SAMPLED])
    sample, truth = predictions[rows], Y[rows]
    with warnings.catch_warnings():  # a level that cannot be reached shows in the sizes
        warnings.simplefilter("ignore", UserWarning)
        region, wide = sample.region(significance), sample.region(widest)
    if not _is_small(region):
        return None
    wide = wide if _is_small(wide) else region
    settled = answers_needed(region, truth, certain=False, labelset_cost=np.inf)
    certain = answers_needed(wide, truth)
    return AnswersOfPerson(
        len(rows),
        n_objects,
        n_labels,
        _percent(region),
        float(settled.labels.mean()),
        _percent(wide),
        float(certain.labels.mean()),
        float(certain.labelsets.mean()),
    )


def _is_small(region: LabelsetRegion) -> bool:
    return sum(size.value for size in region.size_estimates) <= MOST_LABELSETS


def _percent(region: LabelsetRegion) -> float:
    return round(100 * (1 - region.significance), 6)


def brier_score(Y: LabelMatrix, probabilities: FloatArray) -> float:
    """Return the mean squared difference between labels and their probabilities."""
    return float(np.mean((probabilities - Y) ** 2))


def say_what_wrapping_did(
    brier: float, alone_brier: float, macro_f: float, alone_macro_f: float
) -> str:
    """Return the Brier score and the macro F beside those of the learner alone.

    Examples
    --------
    >>> say_what_wrapping_did(0.138, 0.14, 0.486, 0.326)
    'What wrapping did: Brier score 0.138 (learner alone 0.140); macro F 0.486 (0.326).'
    """
    return (
        f"What wrapping did: Brier score {brier:.3f} (learner alone {alone_brier:.3f});"
        f" macro F {macro_f:.3f} ({alone_macro_f:.3f})."
    )

"""What wrapping a learner changes, and what a person has to answer: sentences for the page and the command line."""

import warnings
from typing import NamedTuple

import numpy as np

from labelsure._checks import FloatArray, LabelMatrix
from labelsure.metrics import answers_needed
from labelsure.predictions import LabelsetPredictions, LabelsetRegion

N_SAMPLED = 100
"""Objects that questions are played for, at most."""

MOST_LABELSETS = 300_000
"""In the regions of these objects together: both games take about ten microseconds for each."""

MOST_LABELS = 60
"""With more, counting labelsets may take minutes."""


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
            f" {self.certain_labels:.1f} labels and"
            f" {self.certain_labelsets:.1f} labelsets per object."
        )


def count_answers(
    predictions: LabelsetPredictions, Y: LabelMatrix, significance: float, widest: float
) -> AnswersOfPerson | None:
    """Return what a person has to answer; None where regions are too large for that to take a few seconds.

    Parameters
    ----------
    predictions : LabelsetPredictions
        Of n objects.
    Y : array of shape (n, q)
        Their labels.
    significance : float
        Of the regions that are to be settled.
    widest : float
        Of those that certain labels are asked from, where they are not too large: else it is
        ``significance``.
    """
    n_objects, n_labels = Y.shape
    if n_labels > MOST_LABELS:
        return None
    rows = np.sort(np.random.default_rng(0).permutation(n_objects)[:N_SAMPLED])
    sample, truth = predictions[rows], Y[rows]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # a level that cannot be reached shows in the sizes
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
        f"What wrapping did: Brier score {brier:.3f} (learner alone {alone_brier:.3f}); macro F"
        f" {macro_f:.3f}"
        f" ({alone_macro_f:.3f})."
    )

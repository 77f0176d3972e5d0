"""Probabilities of labels, summed over the labelsets that are candidates."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from labelsure._checks import FloatArray, LabelMatrix
from labelsure._random import LABELSETS, UInt64Array, draw_table
from labelsure.engine._rules import LabelsetRules
from labelsure.learners._logit_pooling import learn_pooling, smoothed_logits
from labelsure.measures._log_partition import LabelsetPosterior

MOST_LISTED = 2**16
"""With more candidates under constraints, the sum over them is estimated."""

LISTED_LABELS = 20
"""The same with more labels, unless constraints list the labelsets."""

N_DRAWS = 1024
"""Labelsets drawn for an estimate: its standard error is at most 0.016."""

N_DRAWS_TO_LEARN = 64
"""The same where thresholds are learned: many objects make up for it."""

LEARN_ENTRIES = 2**21
"""A recalibration is learned from at most this many examples times labels."""

SORT_ENTRIES = 2**25
"""Objects times the work for one of them that thresholds are learned from, at most."""

N_SMOOTHED = 1000
"""The number of examples that an output stands for: no logit is larger than log(2001)."""

PSEUDO_EXAMPLES = 4.0
"""As in :class:`~labelsure.learners.RecalibratedClassifier`."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labelsets that marginals are summed over.

    Attributes
    ----------
    rules : LabelsetRules or None
        What they obey.
    without_empty : bool
        Whether the empty one is left out.
    seed : int
        For draws, where there are too many to be listed.
    n_draws : int
        How many are drawn then.
    """

    rules: LabelsetRules | None
    without_empty: bool
    seed: int = 0
    n_draws: int = N_DRAWS

    @cached_property
    def listed(self) -> Any:
        """All of them as a sparse matrix, where rules allow few enough labelsets."""
        if self.rules is None or self.rules.n_allowed > MOST_LISTED:
            return None
        if self.rules.listed is None and self.rules.n_labels > LISTED_LABELS:
            return None
        labelsets = self.rules.labelsets()
        return sparse.csr_array(labelsets[self.hold(labelsets)], dtype=np.float64)

    @property
    def drawn(self) -> bool:
        """Whether the sum over them is estimated."""
        return self.rules is not None and self.listed is None

    def hold(self, labelsets: LabelMatrix) -> Any:
        """Tell for each labelset whether it is a candidate."""
        held = (
            np.ones(len(labelsets), dtype=bool)
            if self.rules is None
            else self.rules.allow(labelsets)
        )
        return held & labelsets.any(axis=1) if self.without_empty else held

    def marginals(self, posterior: LabelsetPosterior, keys: UInt64Array | None) -> FloatArray:
        """Return the probability of each label among the candidates, (n, q).

        What is said of an object is the same to the last bit whatever other objects there are.

        Parameters
        ----------
        posterior : LabelsetPosterior
            Of n objects.
        keys : uint64 array of shape (n,) or None
            What draws belong to, where there are any.
        """
        counted = posterior.counted
        held, result = self.hold(counted.labelsets), np.empty(posterior.values.shape)
        n_listed = 0 if self.listed is None else self.listed.shape[0]
        step = max(min(2**21 // max(len(counted.counts), n_listed), 2**12), 1)
        for start in range(0, len(result), step):
            rows = slice(start, start + step)
            _, product, seen, log_odds = posterior.shares(rows)
            sums, on = self._of_product(log_odds, None if keys is None else keys[rows])
            seen = seen * held
            totals = product * sums + seen.sum(axis=1)
            none = totals == 0  # no labelset that was seen or drawn is a candidate
            of_sums = product[:, np.newaxis] * on + seen @ counted.on
            result[rows] = np.where(
                none[:, np.newaxis], expit(log_odds), of_sums / np.where(none, 1, totals)[:, None]
            )
        return np.clip(result, 0.0, 1.0)

    def _of_product(
        self, log_odds: FloatArray, keys: UInt64Array | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of candidates, (n,), and of labels, (n, q), if independent."""
        if self.drawn:
            assert keys is not None
            means = np.array(
                [self._draw(*one).mean(axis=0) for one in zip(expit(log_odds), keys, strict=True)]
            )
            return means[:, 0], means[:, 1:]
        log_empty = -np.logaddexp(0.0, log_odds).sum(axis=1)
        if self.rules is not None:
            logs = np.ascontiguousarray((self.listed @ log_odds.T).T)
            weights = np.exp(logs + log_empty[:, np.newaxis])
            return weights.sum(axis=1), weights @ self.listed
        return -np.expm1(log_empty) if self.without_empty else np.ones(len(log_odds)), expit(
            log_odds
        )

    def _draw(self, on: FloatArray, key: np.uint64) -> FloatArray:
        """Return whether each labelset drawn is a candidate and, if so, its labels."""
        labelsets = (draw_table(self.seed, LABELSETS, key, (self.n_draws, len(on))) < on).astype(
            np.int8
        )
        held = self.hold(labelsets)
        return np.column_stack([held, labelsets * held[:, np.newaxis]]).astype(np.float64)


def learn_recalibration(outputs: FloatArray, Y: LabelMatrix) -> FloatArray:
    """Return slopes and intercepts, (2, q), from logits of outputs to logits of probabilities.

    Platt's scaling for each label, shrunk where it is rare:
    :class:`~labelsure.learners.RecalibratedClassifier`.
    """
    pooling = learn_pooling(
        smoothed_logits(outputs, N_SMOOTHED)[:, :, np.newaxis], Y, pseudo_examples=PSEUDO_EXAMPLES
    )
    return np.vstack([pooling.weights[:, 0], pooling.intercepts])


def recalibrated(outputs: FloatArray, recalibration: FloatArray | None) -> LabelsetPosterior:
    """Return the probabilities of labelsets of independent labels with these outputs."""
    slopes, intercepts = (1.0, 0.0) if recalibration is None else recalibration
    return LabelsetPosterior.of_labels(slopes * smoothed_logits(outputs, N_SMOOTHED) + intercepts)


def learn_thresholds(marginals: FloatArray) -> FloatArray:
    """Return the threshold of each label with the largest expected F-measure, (q,).

    With p the marginals of a label, F(t) = 2 sum_{p >= t} p / (#{p >= t} + sum p) is what is
    expected where they are right; no label is looked at. The threshold is in the middle between the
    last p above it and the next.

    Examples
    --------
    >>> learn_thresholds(np.array([[0.9, 0.2], [0.7, 0.1], [0.1, 0.3]])).round(3).tolist()
    [0.4, 0.15]
    """
    falling = -np.sort(-marginals, axis=0)
    numbers = np.arange(1, len(falling) + 1)[:, np.newaxis]
    expected = 2 * np.cumsum(falling, axis=0) / (numbers + falling.sum(axis=0))
    next_one = np.vstack([falling[1:], np.zeros((1, falling.shape[1]))])
    expected[falling == next_one] = -1.0  # equal marginals are on one side of the threshold
    last = expected.argmax(axis=0)[np.newaxis]
    middle: FloatArray = (
        np.take_along_axis(falling, last, 0) + np.take_along_axis(next_one, last, 0)
    )[0] / 2
    return middle

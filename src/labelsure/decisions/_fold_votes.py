r"""Several folds: each predicts labels with a promise of its own, and votes decide which of them are kept.

Fold k has a model of its own, calibrated with the :math:`m_k` examples that did not train it, so its set
:math:`\Gamma_k` has the expected loss :math:`E L(\Gamma_k) \le \alpha`: the training part being what it is, the
fold's examples and a new one are exchangeable. That takes folds that were not chosen by their labels, and nothing of
the learner. Let :math:`v_j` be the share of folds that predict label j. Both losses here, the share of true labels
missed and whether any is missed, obey

.. math:: \text{mean or max over true } j \text{ of } (1 - v_j) \;\le\; \bar L := \frac{1}{K} \sum_k L(\Gamma_k),
   \qquad E \bar L \le \alpha,

the mean with equality, for the share missed; the maximum, for any missed, because folds that miss label j are among
those that miss some label.

- "random": labels with :math:`v_j \ge U`, U uniform on (0, 1), one draw per object. Label j is missed with probability
  :math:`1 - v_j`, and some label is with probability :math:`\max (1 - v_j)`, so the expected loss is at most
  :math:`E \bar L \le \alpha`.
- "majority": labels with :math:`v_j \ge 1/2`. If such a label is missed, :math:`1 - v_j > 1/2`, so the loss is less
  than :math:`2 \bar L`, and its expectation at most :math:`2 \alpha`. In practice it is near :math:`\alpha`.
- "any": labels that some fold predicts. The loss is at most that of every fold: at most :math:`\alpha`, without a draw,
  and with larger sets.
- "cv-crc", after Cohen, Park, Simeone, Shamai (2024): one threshold for all folds, from the losses of all n = K m
  examples, each under the model that had not seen it,

  .. math:: \sum_i L_i(\lambda) + m \le \alpha (n + m),

  and the labels that some fold predicts with it. Expected loss at most :math:`\alpha`, for folds of m examples each,
  drawn at random, and a learner that does not look at the order of its training examples. The argument is our own
  reconstruction, not quoted from their paper, and the rule has the constants that it proves. Add to the new object
  m - 1 more as a further fold, and let every pair of folds have a model that neither trained. With the sets that any of
  an example's K models predicts, let :math:`\lambda^*` be the strictest threshold with a mean loss of at most
  :math:`\alpha` over all n + m examples. It treats them all alike, so the new object's expected loss under it is at
  most :math:`\alpha`. The losses that are known are of single models, hence at least as large, and m stands for the
  most that the further fold can lose: the threshold chosen is no stricter than :math:`\lambda^*`. Since m / (n + m) =
  1 / (K + 1), it takes at least :math:`1 / \alpha - 1` folds to say anything; "any" pays 1 / (m + 1) instead.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray

MERGES = ("random", "majority", "any", "cv-crc")
"""How folds are merged, the default first."""

CONDITIONS = {
    "random": "for exchangeable examples and folds that were not chosen by their labels (conformal risk control in each"
    " of {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024; labels kept by votes and one draw per object)",
    "majority": "for exchangeable examples and folds that were not chosen by their labels (conformal risk control in"
    " each of {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024; twice the loss, for a majority of votes)",
    "any": "for exchangeable examples and folds that were not chosen by their labels (conformal risk control in each of"
    " {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024; labels that any of them predicts)",
    "cv-crc": "for exchangeable examples and a learner that does not look at their order (cross-validation conformal"
    " risk control with {K} folds: after Cohen, Park, Simeone, Shamai 2024; constants as in labelsure's own proof)",
}


def proven_level(target: Fraction, merge: str) -> Fraction:
    """Return the recall, or the probability, that is proven for folds at a target.

    Examples
    --------
    >>> proven_level(Fraction(9, 10), "random"), proven_level(Fraction(9, 10), "majority")
    (Fraction(9, 10), Fraction(4, 5))
    """
    return max(1 - 2 * (1 - target), Fraction(0)) if merge == "majority" else target


def merge_votes(predicted: Sequence[IntArray], merge: str, draws: Any) -> IntArray:
    """Return the labels that enough folds predict, (n, q).

    Parameters
    ----------
    predicted : sequence of K int arrays of shape (n, q)
        Zeros and ones, one array per fold.
    merge : str
        How many are enough.
    draws : int array of shape (n,) or None
        From 1 to ``DRAW_UNIT``, one per object; for "random".

    Examples
    --------
    >>> folds = [np.array([[1, 1, 0]]), np.array([[1, 0, 0]])]
    >>> merge_votes(folds, "any", None).tolist(), merge_votes(folds, "random", np.array([DRAW_UNIT])).tolist()
    ([[1, 1, 0]], [[1, 0, 0]])
    """
    n_folds = len(predicted)
    votes = np.sum(predicted, axis=0)
    if merge == "random":
        # u - 1 = 0 .. DRAW_UNIT - 1 is below votes / K with a probability of at least votes / K, never of less
        enough: Any = votes * DRAW_UNIT > n_folds * (draws[:, None] - 1)
    else:
        enough = votes >= (math.ceil(n_folds / 2) if merge == "majority" else 1)
    return np.asarray(enough).astype(np.int64)


def check_folds_for_cv_crc(n_folds: int, level: Fraction) -> None:
    """Raise ValueError where one threshold for so few folds can only keep all labels."""
    least = math.ceil(1 / level) - 1
    if n_folds < least:
        raise ValueError(
            f"merge='cv-crc' takes at least {least} folds for target={float(1 - level):g}, got cv={n_folds}: each"
            " counts as one example. Raise cv, or use merge='any', which needs more examples in a fold instead."
        )

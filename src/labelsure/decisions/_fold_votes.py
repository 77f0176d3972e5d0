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
- "any": labels that some fold predicts. The loss is at most that of every fold: at most :math:`\alpha`, without a draw,
  and with larger sets.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray

MERGES = ("random", "any")
"""How folds are merged, the default first."""

FOLDS = "for exchangeable examples and folds that were not chosen by their labels"
EACH = "conformal risk control in each of {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024"
DRAWS = "on average over the draws, one per object and the same for equal objects"
CONDITIONS = {
    "random": f"{FOLDS}, {DRAWS} ({EACH}; labels kept by votes and draws)",
    "any": f"{FOLDS} ({EACH}; labels that any of them predicts)",
}


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
        enough = votes > 0
    return np.asarray(enough).astype(np.int64)

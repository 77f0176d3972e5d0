"""P-values one after the other: each example among those that came before it."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from labelsure._checks import FloatArray, IntArray, find_no_number, is_real

BLOCK = 1024
"""Scores that are compared with each other one by one; with all earlier ones they are compared by bisection."""


class OnlinePValues:
    r"""Smoothed p-values of scores that arrive one after the other, each among those before it and itself.

    The p-value of the n-th score is, with :math:`u_n` uniform on (0, 1],

    .. math:: p_n = \frac{|\{i \le n : s_i > s_n\}| + u_n \, |\{i \le n : s_i = s_n\}|}{n}

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        For the draws u.

    Notes
    -----
    If the scores are exchangeable, which those of exchangeable examples under one fixed model are,
    then p_1, p_2, ... are independent and uniform [1]_. The first l scores may be those of
    calibration examples, in any order: the p-values after them keep that property. The model must
    not have been trained on any of these examples.

    References
    ----------
    .. [1] Vovk, V., Nouretdinov, I., Gammerman, A. (2003). Testing exchangeability on-line. ICML,
       768-775.

    Examples
    --------
    >>> p_values = OnlinePValues(random_state=0)
    >>> p_values.update_many([3, 1, 2]).round(3).tolist()
    [0.451, 0.642, 0.466]
    >>> round(p_values.update(4), 3), len(p_values)
    (0.114, 4)
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self._rng = check_random_state(random_state)
        self._sorted: np.ndarray[Any, Any] = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of scores so far."""
        return len(self._sorted)

    def update(self, score: float) -> float:
        """Take in one more score and return its p-value."""
        return float(self.update_many([score])[0])

    def update_many(self, scores: ArrayLike) -> FloatArray:
        """Take in more scores, in the order of their arrival, and return their p-values.

        Parameters
        ----------
        scores : array-like of int or float of shape (m,)
            Nonconformity scores, larger is stranger. Whole numbers are compared as such, so ties
            are exact.
        """
        checked = check_scores_in_order(scores)
        blocks = [checked[start : start + BLOCK] for start in range(0, len(checked), BLOCK)]
        return np.concatenate([np.empty(0), *(self._update_block(block) for block in blocks)])

    def _update_block(self, block: np.ndarray[Any, Any]) -> FloatArray:
        larger, equal = _count_earlier(block)
        below, up_to = (
            np.searchsorted(self._sorted, block, side=side) for side in ("left", "right")
        )
        n_seen = len(self) + 1 + np.arange(len(block))
        draws = 1 - self._rng.random_sample(len(block))  # in (0, 1]: no p-value is ever 0
        p_values: FloatArray = (
            larger + len(self) - up_to + draws * (equal + up_to - below + 1)
        ) / n_seen
        ordered = np.sort(block)
        merged = np.result_type(self._sorted, block)
        self._sorted = np.insert(
            self._sorted.astype(merged), np.searchsorted(self._sorted, ordered), ordered
        )
        return p_values


def online_p_values(scores: ArrayLike, *, random_state: Any = None) -> FloatArray:
    r"""Return the smoothed p-value of each score among those before it and itself.

    .. math:: p_n = \frac{|\{i \le n : s_i > s_n\}| + u_n \, |\{i \le n : s_i = s_n\}|}{n}

    with :math:`u_n` uniform on (0, 1]. For exchangeable scores they are independent and uniform
    [1]_: what :class:`ExchangeabilityMartingale` and :func:`p_value_uniformity` ask for.

    Parameters
    ----------
    scores : array-like of int or float of shape (n,)
        Nonconformity scores of true labelsets under one fixed model, in the order of their arrival,
        larger is stranger. The model must not have been trained on these examples.
    random_state : int, RandomState instance or None, default=None
        For the draws u. With an int, more scores at the end do not change the p-values before them.

    Returns
    -------
    array of shape (n,)
        Above 0 and at most 1.

    See Also
    --------
    OnlinePValues : the same for scores that keep arriving.

    References
    ----------
    .. [1] Vovk, V., Nouretdinov, I., Gammerman, A. (2003). Testing exchangeability on-line. ICML,
       768-775.

    Examples
    --------
    >>> online_p_values([3, 1, 2, 4], random_state=0).round(3).tolist()
    [0.451, 0.642, 0.466, 0.114]
    """
    return OnlinePValues(random_state=random_state).update_many(scores)


def check_scores_in_order(scores: ArrayLike) -> np.ndarray[Any, Any]:
    """Return scores as an int64 or float64 array of shape (n,), or say what is wrong."""
    array = np.asarray(scores) if hasattr(scores, "dtype") else np.asarray(scores, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"scores must have shape (n,), one per example, got shape {array.shape}.")
    if odd := find_no_number(scores, array):
        raise ValueError(f"scores must be numbers, got {odd}.")
    if array.dtype.kind == "i" or (array.dtype.kind == "f" and not np.isnan(array).any()):
        return array.astype(np.int64 if array.dtype.kind == "i" else np.float64)
    # One by one as Python numbers: numpy would make floats of [1, 2**63], and ties of numbers that
    # differ.
    values = array.tolist()
    for n, value in enumerate(values):
        if not is_real(value) or value != value:  # noqa: PLR0124 - NaN, of numbers that no float holds too
            raise ValueError(f"scores must be numbers, got {value!r} at position {n}.")
    try:
        return np.array(
            values,
            dtype=np.int64 if all(isinstance(value, Integral) for value in values) else np.float64,
        )
    except OverflowError as error:
        raise ValueError(
            "scores that are whole numbers must lie within the range of int64, below 2^63."
        ) from error


def _count_earlier(block: np.ndarray[Any, Any]) -> tuple[IntArray, IntArray]:
    """Return for each score how many of those before it are larger, and how many are equal."""
    earlier = np.tri(len(block), k=-1, dtype=bool)
    larger = np.count_nonzero((block > block[:, None]) & earlier, axis=1)
    equal = np.count_nonzero((block == block[:, None]) & earlier, axis=1)
    return larger, equal

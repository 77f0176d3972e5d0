"""The log of the sum over all labelsets of exp(v.t) prior(t)^beta, for any number of labels.

A prior that counts labelsets and falls back on a product over labels, P(t) = c(t) + kappa B(t), is
the product wherever c is zero. So the sum over all 2^q labelsets is that of the product, which
factorises, plus corrections for the labelsets seen::

    Z = prod_j [(1 - m_j)^beta + m_j^beta e^v_j] kappa^beta + sum over seen t of e^{v.t} [P(t)^beta
    - (kappa B(t))^beta]

All terms are positive, so that nothing cancels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from labelsure._checks import FloatArray, Int32Array, IntArray, LabelMatrix
from labelsure._start_up import START_UP
from labelsure.measures._labelset_bits import find_keys, labelset_keys

BLOCK_ENTRIES = 2**21
"""Objects times seen labelsets that are looked at together, to bound memory."""


LARGEST_LOG = 600.0
"""Products of e^v over labels are floats up to e^709, their sums with weights at most 1 too."""

TOGETHER = 64
"""Objects computed together: their numbers for one label fill a few registers."""

PRODUCT_SECONDS = 1e-9
"""What a product of factors, or adding it up, takes in numpy; compiled, a third of it."""


class Trie(NamedTuple):
    """Labelsets sorted by their labels, each without the first labels shared with the one before.

    Attributes
    ----------
    label : int32 array of shape (N,)
        The other labels of all of them, ascending in each.
    begin : int32 array of shape (S + 1,)
        Where those of each begin.
    shared : int32 array of shape (S,)
        How many labels each shares.
    order : int64 array of shape (S,)
        Which of the labelsets given each is.

    Examples
    --------
    >>> import numpy as np
    >>> trie = Trie.of(np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1]]))
    >>> trie.label.tolist(), trie.begin.tolist(), trie.shared.tolist(), trie.order.tolist()
    ([0, 1, 2], [0, 0, 2, 3], [0, 0, 1], [1, 0, 2])
    """

    label: Int32Array
    begin: Int32Array
    shared: Int32Array
    order: IntArray

    @classmethod
    def of(cls, labelsets: LabelMatrix) -> "Trie":
        """Return the trie of some labelsets, none of them twice."""
        row, label = np.nonzero(labelsets)
        lengths = np.bincount(row, minlength=len(labelsets))
        column = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        paths = np.full((len(labelsets), int(lengths.max(initial=0)) + 1), -1, dtype=np.int32)
        paths[row, column] = label
        order = np.lexsort(paths.T[::-1])
        alike = np.zeros(paths.shape, dtype=bool)
        alike[1:] = np.logical_and.accumulate(paths[order[1:]] == paths[order[:-1]], axis=1)
        shared = alike.sum(axis=1, dtype=np.int32)
        begin = np.append(0, np.cumsum(lengths[order] - shared)).astype(np.int32)
        return cls(paths[order][(paths[order] >= 0) & ~alike], begin, shared, order)

    def levels(self) -> list[tuple[IntArray, IntArray, Int32Array]]:
        """Return, by depth, places in ``label``, the places before them, and the labels.

        Places are counted from 1. The place before is that of the label before it in its
        labelset, 0 for the first.
        """
        depth = np.arange(len(self.label)) - np.repeat(
            self.begin[:-1] - self.shared, np.diff(self.begin)
        )
        found, before = [], np.full(1, -1)
        for d in range(int(depth.max(initial=-1)) + 1):
            own = np.flatnonzero(depth == d)
            found.append((own + 1, before[np.searchsorted(before, own) - 1] + 1, self.label[own]))
            before = own
        return found


class Moments(NamedTuple):
    """The logarithm of a sum over labelsets, and its derivatives.

    Attributes
    ----------
    log_sums : array of shape (n,)
        log Z.
    marginals : array of shape (n, q)
        By v: the probability that a label is on, under the distribution whose terms are summed.
    log_priors : array of shape (n,)
        By beta: the mean of log P(t) under it.
    """

    log_sums: FloatArray
    marginals: FloatArray
    log_priors: FloatArray


class Shares(NamedTuple):
    """What the sum over all labelsets is made of.

    Attributes
    ----------
    log_sums : array of shape (n,)
        log Z.
    product : array of shape (n,)
        The share of the product over labels.
    seen : array of shape (n, S)
        The shares of the corrections for labelsets seen.
    log_odds : array of shape (n, q)
        Of labels under the product.
    """

    log_sums: FloatArray
    product: FloatArray
    seen: FloatArray
    log_odds: FloatArray


@dataclass(frozen=True, eq=False)
class CountedPrior:
    """A distribution over labelsets: those seen are counted, and all share a product over labels.

    Attributes
    ----------
    labelsets : int8 array of shape (S, q)
        The labelsets seen, each once.
    counts : int64 array of shape (S,)
        How many examples have each.
    marginals : array of shape (q,)
        The probabilities of the product's labels.
    smoothing : float
        How many examples the product counts for.
    """

    labelsets: LabelMatrix
    counts: IntArray
    marginals: FloatArray
    smoothing: float
    _known_powers: dict[float, tuple[FloatArray, float, FloatArray, FloatArray]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out of a pickle what is worked out when asked for."""
        return type(self), (self.labelsets, self.counts, self.marginals, self.smoothing)

    @cached_property
    def on(self) -> Any:
        """The labelsets as a sparse matrix of floats."""
        return sparse.csr_array(self.labelsets, dtype=np.float64)

    @cached_property
    def log_share(self) -> float:
        """The product's share kappa, as a logarithm."""
        return float(np.log(self.smoothing) - np.log(self.counts.sum() + self.smoothing))

    @cached_property
    def log_products(self) -> FloatArray:
        """The logarithms of kappa B of the labelsets seen."""
        log_off = np.log1p(-self.marginals)
        products: FloatArray = (
            self.log_share + log_off.sum() + self.on @ (np.log(self.marginals) - log_off)
        )
        return products

    @cached_property
    def log_seen(self) -> FloatArray:
        """The logarithms of P of the labelsets seen."""
        seen: FloatArray = np.logaddexp(
            np.log(self.counts / (self.counts.sum() + self.smoothing)), self.log_products
        )
        return seen

    @cached_property
    def log_seen_without_one(self) -> FloatArray:
        """The same with one example less: the prior for a new example with the labelset."""
        with np.errstate(divide="ignore"):
            log_counts = np.log(self.counts - 1.0)
        total = np.log(self.counts.sum() - 1 + self.smoothing)
        log_products = self.log_products - self.log_share + np.log(self.smoothing)
        without: FloatArray = np.logaddexp(log_counts, log_products) - total
        return without

    def numbers_of(self, labels: LabelMatrix) -> IntArray:
        """Return which of the labelsets seen each of n examples has; each must have one of them."""
        numbers: IntArray = find_keys(labelset_keys(labels), labelset_keys(self.labelsets))
        return numbers

    def log_sums(self, values: FloatArray, beta: float) -> FloatArray:
        """Return log Z for each object.

        Parameters
        ----------
        values : array of shape (n, q)
            v.
        beta : float
            The prior's exponent; at least 0.
        """
        result = np.empty(len(values))
        large = np.zeros(len(values), dtype=bool)
        if values.max(initial=0.0) * values.shape[1] > LARGEST_LOG:  # seldom
            large = np.maximum(values, 0.0).sum(axis=1) > LARGEST_LOG
        for rows in self.blocks(len(values)) if large.any() else ():
            product, seen = self._log_terms(values[rows], beta)
            largest = np.maximum(product, seen.max(axis=1))
            result[rows] = largest + np.log(
                np.exp(product - largest) + np.exp(seen - largest[:, None]).sum(axis=1)
            )
        if not large.all():
            result[~large] = self._log_of_sums(np.exp(values[~large]), beta)
        return result

    def _log_of_sums(self, odds: FloatArray, beta: float) -> FloatArray:
        """Return log Z from e^v, where no product of these is too large for a float."""
        n_objects, n_labels = odds.shape
        n_together = min(TOGETHER, max(n_objects, 2))  # numpy adds up a single one in another order
        n_blocks = -(-n_objects // n_together)
        padded = np.zeros((n_blocks, n_together, n_labels))
        padded.reshape(-1, n_labels)[:n_objects] = odds
        factors = np.ascontiguousarray(padded.transpose(0, 2, 1))
        weights, of_empty, off, on = self._powers(beta)
        if START_UP.spend(
            "sums", PRODUCT_SECONDS * n_objects * (len(self.trie.label) + len(weights))
        ):
            sums = np.array([self._sum_products(weights, block) for block in factors])[
                :, :n_objects
            ]
        else:
            from labelsure.measures._log_sum_kernels import sum_products

            sums, path = (
                np.zeros((n_blocks, min(n_together, n_objects))),
                np.ones((n_labels + 1, n_together)),
            )
            sum_products(self.trie, weights, factors, path, sums)
        log_products = beta * self.log_share + np.log(off + on * factors).sum(axis=1)
        with np.errstate(divide="ignore"):
            log_sums = np.logaddexp(log_products, np.log(of_empty + sums))
        return np.asarray(log_sums.reshape(-1)[:n_objects])

    @cached_property
    def trie(self) -> "Trie":
        """The labelsets seen as a trie, in which those with the same first labels share them."""
        return Trie.of(self.labelsets)

    def _sum_products(self, weights: FloatArray, factors: FloatArray) -> FloatArray:
        """Return the sums of ``sum_products`` for a block of two objects or more, bit for bit."""
        products = np.ones((1 + len(self.trie.label), factors.shape[1]))
        for own, before, label in self._levels:
            products[own] = products[before] * factors[label]
        # summed row by row
        sums: FloatArray = (weights[:, None] * products[self.trie.begin[1:]]).sum(axis=0)
        return sums

    @cached_property
    def _levels(self) -> list[tuple[IntArray, IntArray, Int32Array]]:
        """The trie level by level."""
        return self.trie.levels()

    def _powers(self, beta: float) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Return P^beta - (kappa B)^beta in the order of the trie, and that of the empty labelset.

        And those of the product: (1 - m_j)^beta and m_j^beta, (q, 1) each.
        """
        if beta not in self._known_powers:
            order, on = self.trie.order, self.marginals[:, None]
            weights = np.exp(self._corrections(self.log_seen, beta)[0])[order]
            empty = ~self.labelsets[order].any(axis=1)
            of_empty, weights[empty] = float(weights[empty].sum()), 0.0
            self._known_powers[beta] = weights, of_empty, (1 - on) ** beta, on**beta
        return self._known_powers[beta]

    def moments(self, values: FloatArray, beta: float, left_out: IntArray) -> Moments:
        """Return log Z for each object and its derivatives, the prior excluding its own example.

        Parameters
        ----------
        values : array of shape (n, q)
            v.
        beta : float
            The prior's exponent; at least 0. At 0 the derivative by beta is that of the product
            over labels alone.
        left_out : int64 array of shape (n,)
            The number of the labelset that each object has itself: it counts one less for this
            object.
        """
        log_sums = np.empty(len(values))
        marginals = np.empty(values.shape)
        log_priors = np.empty(len(values))
        log_on, log_off = np.log(self.marginals), np.log1p(-self.marginals)
        extra, slope = self._corrections(self.log_seen, beta)
        extra_without, slope_without = self._corrections(self.log_seen_without_one, beta)
        # nothing is left of a correction where beta is 0, or where the smoothing drowns the counts
        less = np.subtract(extra_without, extra, out=np.zeros_like(extra), where=extra > -np.inf)
        for rows in self.blocks(len(values)):
            own = np.arange(rows.stop - rows.start), left_out[rows]
            log_sums[rows], product, seen, log_odds = self.shares(
                values[rows], beta, (own, less[left_out[rows]])
            )
            on = expit(log_odds)
            marginals[rows] = product[:, None] * on + seen @ self.on
            log_product = self.log_share + on @ (log_on - log_off) + log_off.sum()
            log_priors[rows] = product * log_product + seen @ slope
            log_priors[rows] += seen[own] * (slope_without - slope)[left_out[rows]]
        return Moments(log_sums, marginals, log_priors)

    def shares(
        self, values: FloatArray, beta: float, less: tuple[Any, FloatArray] | None = None
    ) -> Shares:
        """Return what the sum over all labelsets is made of, for each object.

        The shares of the product and of labelsets seen add up to one. They are the same to the last
        bit whatever other objects there are.

        Parameters
        ----------
        values : array of shape (n, q)
            v, row by row in memory; few objects, see ``blocks``.
        beta : float
            The prior's exponent; at least 0.
        less : pair of an index and an array, or None
            By what the logarithms of some corrections differ.
        """
        product, seen = self._log_terms(values, beta)
        if less is not None:
            seen[less[0]] += less[1]
        largest = np.maximum(product, seen.max(axis=1))
        product, seen = np.exp(product - largest), np.exp(seen - largest[:, None])
        sums = product + seen.sum(axis=1)
        log_odds = values + beta * (np.log(self.marginals) - np.log1p(-self.marginals))
        return Shares(largest + np.log(sums), product / sums, seen / sums[:, None], log_odds)

    def blocks(self, n_objects: int) -> Iterator[slice]:
        """Return slices of objects, few enough for a table with all labelsets seen."""
        step = max(BLOCK_ENTRIES // len(self.counts), 1)
        return (slice(start, min(start + step, n_objects)) for start in range(0, n_objects, step))

    def _log_terms(self, values: FloatArray, beta: float) -> tuple[FloatArray, FloatArray]:
        """Return the logs of the product's sum, (n,), and of the corrections, (n, S)."""
        log_on, log_off = beta * np.log(self.marginals), beta * np.log1p(-self.marginals)
        product = beta * self.log_share + np.logaddexp(log_off, log_on + values).sum(axis=1)
        # row by row in memory, so that sums are the same to the last bit whatever other rows there
        # are
        seen = np.ascontiguousarray((self.on @ values.T).T)
        return product, seen + self._corrections(self.log_seen, beta)[0]

    def _corrections(self, log_seen: FloatArray, beta: float) -> tuple[FloatArray, FloatArray]:
        """Return log [P^beta - (kappa B)^beta] of the labelsets seen, and its slope in beta."""
        ratio = np.exp(-beta * (log_seen - self.log_products))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = beta * log_seen + np.log1p(-ratio)
            slopes = (log_seen - ratio * self.log_products) / (1 - ratio)
        return logs, np.where(ratio < 1, slopes, 0.0)


@dataclass(frozen=True, eq=False)
class LabelsetPosterior:
    """The probabilities of all labelsets of n objects: those seen, and a product over labels.

    Attributes
    ----------
    counted : CountedPrior
        The prior P.
    values : array of shape (n, q)
        v; the probability of a labelset t is proportional to exp(v.t) P(t)^beta.
    beta : float
        The prior's exponent; 0 for labels that are independent.
    leaves : sparse array of shape (n, S) or None
        More probability of labelsets seen, where that is mixed in; rows add up to at most one.
    mix : float
        The share of all else, where it is.
    """

    counted: CountedPrior
    values: FloatArray
    beta: float
    leaves: Any = None
    mix: float = 1.0

    @classmethod
    def of_labels(cls, log_odds: FloatArray) -> "LabelsetPosterior":
        """Return the probabilities of labelsets of independent labels."""
        n_labels = log_odds.shape[1]
        nothing = np.zeros((1, n_labels), dtype=np.int8)
        return cls(
            CountedPrior(nothing, np.ones(1, dtype=np.int64), np.full(n_labels, 0.5), 1.0),
            log_odds,
            0.0,
        )

    def shares(self, rows: slice) -> Shares:
        """Return what the probabilities of some objects are made of."""
        shares = self.counted.shares(np.ascontiguousarray(self.values[rows]), self.beta)
        if self.leaves is None:
            return shares
        seen = self.mix * shares.seen + (1 - self.mix) * self.leaves[rows].toarray()
        return shares._replace(product=self.mix * shares.product, seen=seen)

"""ML-NB: naive Bayes per label on principal components that a genetic search picks."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_number,
)
from labelsure._parallel import one_thread, progress_bar
from labelsure.learners._base import MultiLabelClassifier, as_dense, count_share

SMALLEST_VARIANCE = 1e-9
"""The least variance of a label in a component, relative to the largest component's."""

N_ELITES = 2
"""How many of the best strings go on unchanged."""

CROSSOVER_FRACTION = 0.8
"""The share of the other strings that have two parents; the rest are mutations of one."""

MUTATION_RATE = 0.01
"""The chance of each bit of a mutated string to flip."""


@dataclass(eq=False, repr=False, kw_only=True)
class MLNBClassifier(MultiLabelClassifier):
    r"""Multi-label naive Bayes with feature selection by principal components and a genetic search.

    The features are replaced by their leading principal components (fitted on the training examples
    alone). With :math:`z` the selected components of an object and independent normal distributions
    within each label, the posterior probability of label j is

    .. math:: P(y_j = 1 \mid z) \propto \frac{s + n_j}{2 s + n} \prod_c N(z_c; \mu_{jc},
    \sigma_{jc}^2)

    where :math:`n_j` of n examples have the label, and :math:`\sigma` is the standard deviation
    with n - 1. Which components are selected is decided by a genetic search over bit strings for
    the least

    .. math:: \text{mean over contiguous folds of } (\text{Hamming loss} + \text{ranking loss}) / 2

    Parameters
    ----------
    component_fraction : float, default=0.3
        Principal components to choose from as a fraction of the number of features, rounded up; at
        most 1. There are never more than examples.
    population_size : int, default=20
        Bit strings in a generation, at least 4.
    n_generations : int, default=100
        Generations of the genetic search after the first, which is random.
    n_folds : int, default=10
        Contiguous folds in which a bit string is evaluated, at least 2; as many as examples where
        these are fewer.
    smoothing : float, default=1.0
        The number s added to the examples with and to those without each label.
    random_state : int, RandomState or None, default=None
        Makes the draws of the genetic search.

    Attributes
    ----------
    pca_ : sklearn.decomposition.PCA
        The principal components.
    selected_ : array of bool of shape (n_components,)
        The components that the genetic search has picked.
    log_odds_ : LogOdds
        The log-odds of the labels as a function of the selected components.
    n_labels_, classes_, n_features_in_, feature_names_in_
        As for every classifier of this package.

    Notes
    -----
    The genetic search is the customary one: two elites, parents drawn by rank, four children in
    five by uniform crossover and the rest by flipping bits with probability 0.01; the article does
    not give its own. A label with no example takes the mean of all examples in place of its own,
    one with fewer than two their variance; variances are at least 1e-9 of the largest. Sparse X is
    made dense, as its components would be.

    References
    ----------
    M.-L. Zhang, J. M. Pena and V. Robles, "Feature selection for multi-label naive Bayes
    classification", Information Sciences 179(19), 2009, 3218-3229.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.paper import MLNBClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 10))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = MLNBClassifier(component_fraction=1.0, random_state=0).fit(X, Y)
    >>> model.predict_proba(X).shape
    (60, 2)
    >>> bool(np.mean(model.predict(X) == Y) > 0.8)
    True
    """

    component_fraction: float = 0.3
    population_size: int = 20
    n_generations: int = 100
    n_folds: int = 10
    smoothing: float = 1.0
    random_state: Any = None

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Find the principal components, select among them, and fit naive Bayes to those selected.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.

        Returns
        -------
        MLNBClassifier
            This estimator, fitted.
        """
        smoothing = check_number(self.smoothing, name="smoothing", above=0)
        X, Y = self._check_fit(X, Y)
        # one thread: the last digits would depend on their number, and with them the search
        with one_thread():
            components = self._fit_components(as_dense(X))
            self.selected_ = self._select(components, Y, smoothing)
            self.log_odds_ = fit_log_odds(components[:, self.selected_], Y, smoothing)
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the posterior probability of each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Probabilities that the labels are on.
        """
        X = as_dense(self._check_objects(X)) - self.pca_.mean_
        # einsum, not BLAS: an object's outputs must not depend, in the last digits, on the objects
        # beside it
        components = np.einsum("ik,jk->ij", X, self.pca_.components_[self.selected_])
        return np.asarray(expit(self.log_odds_.of(components)))

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labels with a posterior probability above one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return (self.predict_proba(X) > 0.5).astype(np.int64)

    def _fit_components(self, X: FloatArray) -> FloatArray:
        from sklearn.decomposition import PCA

        wanted = count_share(
            self.component_fraction,
            X.shape[1],
            name="component_fraction",
            at_most=1,
            meaning="It is a fraction of the number of features: 0.3 keeps three components for"
            " ten features.",
        )
        self.pca_ = PCA(n_components=min(wanted, *X.shape), svd_solver="full")
        # its shares of the variance, which we do not use, are 0 / 0 for a single example and for
        # constant features
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.pca_.fit_transform(X))

    def _select(self, components: FloatArray, Y: LabelMatrix, smoothing: float) -> BoolArray:
        """Search for the components with the least Hamming and ranking loss over the folds."""
        from labelsure.paper._kernels import population_losses

        n, n_components = components.shape
        n_folds = min(n, check_count(self.n_folds, name="n_folds", at_least=2))
        population_size = check_count(self.population_size, name="population_size", at_least=4)
        n_generations = check_count(self.n_generations, name="n_generations", at_least=0)
        if n_components == 1 or n_folds < 2:
            return np.ones(n_components, dtype=bool)
        folds = []  # contiguous, as equal as possible, each with what the others teach
        for start, stop in pairwise(np.arange(n_folds + 1) * n // n_folds):
            others = np.r_[:start, stop:n]
            log_odds = fit_log_odds(components[others], Y[others], smoothing)
            folds.append((components[start:stop], Y[start:stop], log_odds))

        def cost(strings: BoolArray) -> FloatArray:
            losses = [
                population_losses(log_odds.of_subsets(part, strings), labels)
                for part, labels, log_odds in folds
            ]
            return np.asarray(np.mean(losses, axis=0))

        return search_bit_strings(
            cost,
            n_components,
            population_size=population_size,
            n_generations=n_generations,
            rng=check_random_state(self.random_state),
        )


class LogOdds(NamedTuple):
    """Log-odds of q labels, ``prior + sum_c (quadratic_c z_c^2 + linear_c z_c + constant_c)``.

    Naive Bayes with normal distributions has this form, and a subset of the components is a subset
    of the sum.
    """

    prior: FloatArray
    """Shape (q,)."""
    quadratic: FloatArray
    """Shape (n_components, q), as are linear and constant."""
    linear: FloatArray
    constant: FloatArray

    def of(self, components: FloatArray) -> FloatArray:
        """Return the log-odds, (n, q), of examples with components of shape (n, n_components)."""
        squares = np.einsum("ik,kj->ij", components**2, self.quadratic)
        return np.asarray(
            squares
            + np.einsum("ik,kj->ij", components, self.linear)
            + self.constant.sum(axis=0)
            + self.prior
        )

    def of_subsets(self, components: FloatArray, strings: BoolArray) -> FloatArray:
        """Return the log-odds, (n, n_strings, q), of each example by each subset of components.

        One matrix product serves all subsets: (n, 2 n_components) with (2 n_components, n_strings *
        q).
        """
        n_strings, q = len(strings), self.prior.size
        powers = np.hstack([components**2, components])
        factors = np.vstack([self.quadratic, self.linear])
        masks = np.hstack([strings, strings]).T.astype(np.float64)
        weights = (masks[:, :, np.newaxis] * factors[:, np.newaxis, :]).reshape(-1, n_strings * q)
        sums = (powers @ weights).reshape(-1, n_strings, q)
        return np.asarray(sums + (strings.astype(np.float64) @ self.constant + self.prior))


def fit_log_odds(components: FloatArray, Y: LabelMatrix, smoothing: float) -> LogOdds:
    """Fit naive Bayes for each column of Y to the components of shape (n, n_components).

    Examples
    --------
    >>> components = np.array([[-1.0], [0.0], [0.0], [1.0]])
    >>> fit_log_odds(components, np.array([[0], [0], [1], [1]]), 1.0).linear.round(6)
    array([[2.]])
    """
    on = Y.astype(np.float64)
    n_on = on.sum(axis=0)
    on_mean, on_variance = _moments(components, on)
    off_mean, off_variance = _moments(components, 1 - on)
    return LogOdds(
        prior=np.log((smoothing + n_on) / (smoothing + len(Y) - n_on)),
        quadratic=0.5 / off_variance - 0.5 / on_variance,
        linear=on_mean / on_variance - off_mean / off_variance,
        constant=0.5
        * (
            off_mean**2 / off_variance
            - on_mean**2 / on_variance
            - np.log(on_variance / off_variance)
        ),
    )


def _moments(components: FloatArray, members: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance, (n_components, q), of the rows that each column marks by ones."""
    mean_of_all = components.mean(axis=0)[:, np.newaxis]
    centred = components - mean_of_all.T
    variance_of_all = (centred**2).sum(axis=0)[:, np.newaxis] / max(len(components) - 1, 1)
    n_members = members.sum(axis=0)
    shift = centred.T @ members / np.maximum(n_members, 1)
    squares = (centred**2).T @ members - n_members * shift**2
    variance = np.where(n_members < 2, variance_of_all, squares / np.maximum(n_members - 1, 1))
    largest = variance_of_all.max()
    return mean_of_all + shift, np.maximum(
        variance, SMALLEST_VARIANCE * largest if largest > 0 else 1.0
    )


def search_bit_strings(
    cost: Callable[[BoolArray], FloatArray],
    n_bits: int,
    *,
    population_size: int,
    n_generations: int,
    rng: np.random.RandomState,
) -> BoolArray:
    """Return the best string of ``n_bits`` bits, not all zero, that a genetic search finds.

    A generation's two best strings go on unchanged. The others are children: four in five take each
    bit from one of two parents at random, the rest are a parent with each bit flipped with
    probability 0.01. The string of rank r is chosen as a parent in proportion to 1 / sqrt(r), by
    stochastic universal sampling (Baker 1987).

    Parameters
    ----------
    cost : callable
        Takes strings of shape (n_strings, n_bits), returns what each costs, shape (n_strings,).
    n_bits : int
        The length of the strings.
    population_size : int
        The number of strings in a generation, at least 4.
    n_generations : int
        How many generations follow the first, which is drawn at random.
    rng : RandomState
        Makes all draws.

    Returns
    -------
    array of bool of shape (n_bits,)
        The cheapest string seen, the first of its generation where several are.

    Examples
    --------
    >>> def ones(strings):
    ...     return strings.sum(axis=1)
    >>> rng = np.random.RandomState(0)
    >>> search_bit_strings(ones, 12, population_size=20, n_generations=50, rng=rng).sum()
    np.int64(1)
    """
    strings = _without_empty(rng.randint(2, size=(population_size, n_bits)).astype(bool), rng)
    costs = cost(strings)
    for _ in progress_bar(range(n_generations), description="genetic search, generations"):
        strings = _next_generation(strings, costs, rng)
        costs = cost(strings)
    return np.asarray(strings[np.argmin(costs)])


def _next_generation(
    strings: BoolArray, costs: FloatArray, rng: np.random.RandomState
) -> BoolArray:
    n_children = len(strings) - N_ELITES
    n_crossed = round(CROSSOVER_FRACTION * n_children)
    ranking = np.argsort(costs, kind="stable")
    parents = strings[ranking[_draw_parents(len(strings), n_children + n_crossed, rng)]]
    mothers, fathers, mutants = np.split(parents, [n_crossed, 2 * n_crossed])
    crossed = np.where(rng.random_sample(mothers.shape) < 0.5, mothers, fathers)
    mutated = mutants ^ (rng.random_sample(mutants.shape) < MUTATION_RATE)
    children = _without_empty(np.concatenate([crossed, mutated]), rng)
    return np.concatenate([strings[ranking[:N_ELITES]], children])


def _draw_parents(n_strings: int, n_parents: int, rng: np.random.RandomState) -> IntArray:
    """Draw ranks (0 is best) by equally spaced pointers into shares 1 / sqrt(rank + 1)."""
    shares = 1 / np.sqrt(np.arange(1, n_strings + 1))
    pointers = (np.arange(n_parents) + rng.random_sample()) / n_parents
    # the last share takes all pointers that rounding leaves beyond the sum of the shares before it
    ranks = np.searchsorted(np.cumsum(shares[:-1]) / shares.sum(), pointers, side="right")
    return rng.permutation(ranks)


def _without_empty(strings: BoolArray, rng: np.random.RandomState) -> BoolArray:
    """Set one random bit in each string that has none."""
    empty = np.flatnonzero(~strings.any(axis=1))
    strings[empty, rng.randint(strings.shape[1], size=empty.size)] = True
    return strings

r"""Logits of several classifiers pooled into one: the model, its prior, and maximum likelihood.

For object i, label j and member m let :math:`z_{ijm}` be the member's logit. The pooled logit is

.. math:: u_{ij} = \sum_m w_{jm} z_{ijm} + b_j, \qquad w_{jm} = a_m + d_{jm} \ge 0 .

What all labels share, :math:`a_m` and :math:`b`, comes from all of them; a label's own deviations
:math:`d_{jm}` and :math:`b_j - b` have a Gaussian prior around 0, so that a rare label, whose few
examples say little, falls back on the shared values. The shared values themselves have a weak one
around equal weights, :math:`1 / M`, and 0, so that the maximum is finite and unique even where the
members separate the labels perfectly.

The prior's strength is counted in pseudo-examples. An example is most informative about a weight
where its probability is one half: then its share of the Fisher information is :math:`z^2 / 4`. So k
pseudo-examples of the member's typical size, :math:`s_m^2` the mean of :math:`z_{ijm}^2` weighted
by the information p (1 - p) of the mean logit, make a prior of precision :math:`k s_m^2 / 4` for a
weight, and of precision k / 4 for an intercept. For the shared values it is one pseudo-example.

Weights are not negative, as in Breiman's stacking (1996): of members that mostly agree,
unconstrained likelihood likes to set one against another, and a label would be believed less
because a member believes in it more.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from labelsure._checks import BoolArray, FloatArray, LabelMatrix

MOST_INFORMATIVE = 0.25
"""The information on an intercept in an example with probability one half: p (1 - p)."""


class Pooling(NamedTuple):
    """What pools members' logits: shared_weights (M,), weights (q, M) and intercepts (q,)."""

    shared_weights: FloatArray
    weights: FloatArray
    intercepts: FloatArray


class _Problem(NamedTuple):
    """Scaled logits (n, q, M), labels (n, q), example weights, and the prior in scaled units."""

    logits: FloatArray
    labels: FloatArray
    sample_weight: FloatArray
    centre: FloatArray
    precision: float


def smoothed_logits(outputs: FloatArray, n_examples: int) -> FloatArray:
    """Return the logits of outputs between 0 and 1, finite for 0 and 1 too.

    An output o becomes (n o + 1/2) / (n + 1): what n training examples say, and one more that is
    half on. The order of outputs stays, and no logit is beyond log(2 n + 1), because n examples
    cannot support more.

    Examples
    --------
    >>> smoothed_logits(np.array([0.0, 0.5, 1.0]), 100).round(2).tolist()
    [-5.3, 0.0, 5.3]
    """
    smoothed: FloatArray = logit((n_examples * outputs + 0.5) / (n_examples + 1))
    return smoothed


def pool_logits(logits: FloatArray, pooling: Pooling) -> FloatArray:
    """Return the pooled logits, of shape (n, q), of members' logits of shape (n, q, M)."""
    pooled: FloatArray = np.einsum("ijm,jm->ij", logits, pooling.weights) + pooling.intercepts
    return pooled


def fixed_pooling(weights: FloatArray, n_labels: int) -> Pooling:
    """Return the pooling in which all labels have these weights, and nothing is learned.

    Examples
    --------
    >>> pool_logits(np.array([[[1.0, 3.0]]]), fixed_pooling(np.array([0.5, 0.5]), 1)).tolist()
    [[2.0]]
    """
    return Pooling(weights, np.tile(weights, (n_labels, 1)), np.zeros(n_labels))


def learn_pooling(
    logits: FloatArray,
    Y: LabelMatrix,
    *,
    pseudo_examples: float,
    sample_weight: FloatArray | None = None,
) -> Pooling:
    """Return the pooling of the largest posterior density, see this module's formulas.

    Labels with one value only have nothing to say, and get the shared values.

    Parameters
    ----------
    logits : array of shape (n, q, M)
        Of members that were not trained on the object.
    Y : array of shape (n, q)
        The labels.
    pseudo_examples : float > 0
        The strength of the prior.
    sample_weight : array of shape (n,) or None
        How often each example counts.
    """
    n_objects, n_labels, n_members = logits.shape
    varying: BoolArray = np.ptp(Y, axis=0) > 0
    if not varying.any():
        return fixed_pooling(np.full(n_members, 1 / n_members), n_labels)
    sample_weight = np.ones(n_objects) if sample_weight is None else sample_weight
    scales = _typical_sizes(logits[:, varying], sample_weight)
    problem = _Problem(
        logits[:, varying] / scales,
        Y[:, varying].astype(np.float64),
        sample_weight,
        np.append(scales / n_members, 0.0),
        pseudo_examples * MOST_INFORMATIVE,
    )
    learned = _maximise(problem)
    shared = _shared(learned, problem)
    every = np.tile(shared, (n_labels, 1))
    every[varying] = learned
    return Pooling(shared[:-1] / scales, every[:, :-1] / scales, every[:, -1])


def _typical_sizes(logits: FloatArray, sample_weight: FloatArray) -> FloatArray:
    """Return the scale of each member's logits, ignoring labels that all members rule out."""
    probabilities = expit(logits.mean(axis=2))
    # where nothing is, all cells count alike
    in_doubt = np.maximum(probabilities * (1 - probabilities), 1e-9)
    information = sample_weight[:, np.newaxis] * in_doubt
    sizes = np.sqrt(np.einsum("ij,ijm->m", information, logits**2) / information.sum())
    return np.where(sizes > 0, sizes, 1.0)


def _maximise(problem: _Problem) -> FloatArray:
    """Return the best weights and, in the last column, intercept of each label, in scaled units."""
    from scipy.optimize import minimize

    n_labels = problem.logits.shape[1]
    start = np.tile(problem.centre, (n_labels, 1))
    steps = 1 / np.sqrt(_curvature(start, problem))  # of rare and of frequent labels alike
    lowest = np.zeros_like(start)
    lowest[:, -1] = -np.inf

    def loss(scaled: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = penalised_loss(scaled.reshape(start.shape) * steps, problem)
        return value, (gradient * steps).ravel()

    bounds = [(low, None) for low in lowest.ravel()]
    options = {"maxiter": 1000, "ftol": 1e-10}  # to three digits of a logit
    found = minimize(
        loss, (start / steps).ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    best: FloatArray = found.x.reshape(start.shape) * steps
    return best


def penalised_loss(coefficients: FloatArray, problem: _Problem) -> tuple[float, FloatArray]:
    """Return the negative log posterior and its gradient, with the shared values optimised.

    Parameters
    ----------
    coefficients : array of shape (q, M + 1)
        Each label's weights and intercept.
    """
    logits, labels, sample_weight, centre, precision = problem
    pooled = np.einsum("ijm,jm->ij", logits, coefficients[:, :-1]) + coefficients[:, -1]
    loss = float(sample_weight @ (np.logaddexp(0.0, pooled) - labels * pooled).sum(axis=1))
    residuals = sample_weight[:, np.newaxis] * (expit(pooled) - labels)
    gradient = np.column_stack([np.einsum("ij,ijm->jm", residuals, logits), residuals.sum(axis=0)])
    shared = _shared(coefficients, problem)
    deviations = coefficients - shared
    loss += (
        float(precision * (deviations**2).sum() + MOST_INFORMATIVE * ((shared - centre) ** 2).sum())
        / 2
    )
    return loss, gradient + precision * deviations


def _shared(coefficients: FloatArray, problem: _Problem) -> FloatArray:
    """Return the optimal shared values: a mean of the coefficients and the prior's centre."""
    mass = len(coefficients) * problem.precision + MOST_INFORMATIVE
    total = problem.precision * coefficients.sum(axis=0) + MOST_INFORMATIVE * problem.centre
    return np.asarray(total / mass)


def _curvature(coefficients: FloatArray, problem: _Problem) -> FloatArray:
    """Return the second derivative of the loss by each coefficient, the shared values held."""
    logits, sample_weight = problem.logits, problem.sample_weight[:, np.newaxis]
    probabilities = expit(
        np.einsum("ijm,jm->ij", logits, coefficients[:, :-1]) + coefficients[:, -1]
    )
    information = sample_weight * probabilities * (1 - probabilities)
    by_weight = np.einsum("ij,ijm->jm", information, logits**2)
    return np.column_stack([by_weight, information.sum(axis=0)]) + problem.precision

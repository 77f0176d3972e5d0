"""The scores of all labelsets from the measures' formulas, without any code of the package.

On outputs that are eighths, with weights that are halves, the formulas of powers, maxima and
penalties have no rounding at all in floats, so that the package's whole numbers must equal them.
Others agree to ten digits.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from labelsure.measures import Costs, Measure, OwnScores


def all_labelsets(n_labels):
    """All 2^q labelsets, label 0 changing fastest."""
    return (np.arange(2**n_labels)[:, None] >> np.arange(n_labels)) & 1


class Training(NamedTuple):
    """What a fold's measure was fitted on; outputs and objects where they are known."""

    labels: np.ndarray
    outputs: np.ndarray | None
    X: np.ndarray | None


class Asked(NamedTuple):
    """The objects whose labelsets are scored."""

    outputs: np.ndarray
    X: np.ndarray | None

    @property
    def labelsets(self):
        return all_labelsets(self.outputs.shape[1])


class Lopsided(Measure):
    """A user's measure: squared errors, attracting and repelling pairs, labelsets of fixed scores.

    score = sum_j |t_j - o_j|^2 + sum_{j < r} (-1)^(j + r) t_j t_r / 4 + (q - |t|) / 2, but the
    labelset of labels with an output above one half, and the full one, have scores -1/2 and o_0.
    """

    def _learn(self, labels, outputs, X):  # noqa: ARG002
        return 4.0 + self.n_labels_**2

    def _costs(self, outputs, X):  # noqa: ARG002
        q = outputs.shape[1]
        signs = (-1.0) ** np.add.outer(np.arange(q), np.arange(q)) / 4
        likely = (outputs > 0.5).astype(np.int8)
        full = likely.all(axis=1)
        listed = np.concatenate(
            [
                [row, np.ones(q, dtype=np.int8)][: 2 - same]
                for row, same in zip(likely, full, strict=True)
            ]
        )
        scores = np.concatenate(
            [[-0.5, row[0]][: 2 - same] for row, same in zip(outputs, full, strict=True)]
        )
        return Costs(
            off=outputs**2,
            on=(1 - outputs) ** 2,
            pairwise=signs,
            by_cardinality=(q - np.arange(q + 1)) / 2,
            overrides=OwnScores(listed, scores, 2 - full),
        )


def worst_and_sum(outputs, labelset):
    """For FunctionMeasure: exact on eighths."""
    differences = np.abs(outputs - labelset)
    return 4 * differences.max(axis=1) + differences.sum(axis=1)


def errors(asked):
    """|t_j - o_j| of every object, labelset and label."""
    return np.abs(asked.labelsets[None] - asked.outputs[:, None])


def for_all(asked, costs):
    """The same costs of labelsets for all objects."""
    return np.tile(costs, (len(asked.outputs), 1))


def power(measure, asked, training):
    """sum_j |t_j - o_j|^d + lambda #{pairs in psi never seen together in training}."""
    scores, labelsets = (errors(asked) ** measure.d).sum(axis=2), asked.labelsets
    if measure.pair_penalty:
        for r in range(labelsets.shape[1]):
            for j in range(r):
                if not (training.labels[:, j] & training.labels[:, r]).any():
                    scores = scores + measure.pair_penalty * (labelsets[:, j] & labelsets[:, r])
    return scores


def log_loss(measure, asked, training):
    """-sum_j log of the probability given to t_j."""
    given = np.clip(1 - errors(asked), measure.floor, 1 - measure.floor)
    return -np.log(given).sum(axis=2)


def max_norm(measure, asked, training):
    """max_j |t_j - o_j|."""
    return errors(asked).max(axis=2)


def function(measure, asked, training):
    """Whatever the function says."""
    return np.stack([worst_and_sum(asked.outputs, row) for row in asked.labelsets], axis=1)


def label_wise(measure, asked, training):
    """-sum_j log p_j(t_j), p_j the share of errors, training and new, that are as large."""
    scores = 0.0
    for j in range(asked.labelsets.shape[1]):
        known = np.round(np.abs(training.labels[:, j] - training.outputs[:, j]) * 2.0**40)
        new = np.round(errors(asked)[:, :, j] * 2.0**40)
        at_least = (known >= new[:, :, None]).sum(axis=2)
        scores = scores - np.log((at_least + 1) / (len(known) + 1))
    return scores


def mahalanobis(measure, asked, training):
    """sqrt(r' S^-1 r), S the covariance of training residuals, shrunk to its mean variance."""
    known, new = training.labels - training.outputs, asked.labelsets[None] - asked.outputs[:, None]
    if measure.residuals == "absolute":
        known, new = np.abs(known), np.abs(new)
    else:
        lines = [
            line_through(*pair) for pair in zip(training.outputs.T, training.labels.T, strict=True)
        ]
        slope, intercept = np.array(lines).T
        known = training.labels - np.clip(intercept + slope * training.outputs, -1, 2)
        new = asked.labelsets[None] - np.clip(intercept + slope * asked.outputs, -1, 2)[:, None]
    centred = known - known.mean(axis=0)
    covariance = centred.T @ centred / len(known)
    q, share = len(covariance), measure.shrinkage_
    if np.diag(covariance).max() <= 1e-12:
        shrunk = np.eye(q)
    else:
        shrunk = (1 - share) * covariance + share * np.trace(covariance) / q * np.eye(q)
    precision = np.linalg.inv(shrunk)
    precision /= np.abs(precision).sum()
    return np.sqrt(np.maximum(np.einsum("icj,jr,icr->ic", new, precision, new), 0))


def line_through(outputs, labels):
    """Slope and intercept of least squares; slope 0 where outputs do not vary."""
    slope = (
        0.0
        if np.ptp(outputs) <= 1e-6
        else np.cov(outputs, labels, bias=True)[0, 1] / np.var(outputs)
    )
    return slope, labels.mean() - slope * outputs.mean()


def unseen(measure, asked, training):
    """A cost for labelsets that no training example has."""
    known = {row.tobytes() for row in training.labels}
    return for_all(
        asked, [measure.weight * (row.tobytes() not in known) for row in asked.labelsets]
    )


def cardinality(measure, asked, training):
    """1 - the share of training examples with as many labels."""
    sizes = training.labels.sum(axis=1)
    return for_all(
        asked, [measure.weight * (1 - np.mean(sizes == row.sum())) for row in asked.labelsets]
    )


def hamming(measure, asked, training):
    """The distance to the nearest training labelset, as a share of the labels."""
    distances = (asked.labelsets[:, None] != training.labels[None]).sum(axis=2).min(axis=1)
    return for_all(asked, measure.weight / asked.labelsets.shape[1] * distances)


def log_frequencies(labels, labelsets, smoothing, base="marginals"):
    """log((n(psi) + smoothing B(psi)) / (n + smoothing)), B of frequencies, or uniform."""
    n, q = labels.shape
    on = (labels.sum(axis=0) + 0.5) / (n + 1) if base == "marginals" else np.full(q, 0.5)
    shares = np.where(labelsets == 1, on, 1 - on).prod(axis=1)
    own = (labelsets[:, None] == labels[None]).all(axis=2).sum(axis=1)
    return np.log((own + smoothing * shares) / (n + smoothing))


def prior(measure, asked, training):
    """-log of the smoothed frequency of the labelset in training."""
    logs = log_frequencies(training.labels, asked.labelsets, measure.smoothing, measure.base)
    return for_all(asked, -measure.weight * logs)


def posterior(measure, asked, training):
    """-log of p(psi | x), normalised over all labelsets one by one."""
    n = len(training.labels)
    exponent, share, temperature, intercepts = measure.parameters_
    often = (training.labels.sum(axis=0) + 0.5) / (n + 1)
    values = (
        np.log((n * asked.outputs + 0.5) / (n * (1 - asked.outputs) + 0.5)) / temperature
        + intercepts
    )
    values = values - share * np.log(often / (1 - often))
    logs = values @ asked.labelsets.T
    logs = logs + exponent * log_frequencies(training.labels, asked.labelsets, measure.smoothing)
    return np.log(np.exp(logs).sum(axis=1))[:, None] - logs


def forest(measure, asked, training):
    """-log(mix p_base + (1 - mix) P), P the mean share of the labelset in the leaves."""
    labelsets = asked.labelsets
    leaves, known = (measure.forest_.apply(X.astype(np.float32)) for X in (asked.X, training.X))
    own = (training.labels[:, None] == labelsets[None]).all(axis=2)
    shares = np.zeros((len(asked.outputs), len(labelsets)))
    for i, row in enumerate(leaves):
        for tree, leaf in enumerate(row):
            shares[i] += own[known[:, tree] == leaf].mean(axis=0) / len(row)
    base = (posterior if hasattr(measure.base_, "parameters_") else log_loss)(
        measure.base_, asked, training
    )
    return -np.log(measure.mix * np.exp(-base) + (1 - measure.mix) * shares)


def lopsided(measure, asked, training):
    """What the class says."""
    labelsets, q = asked.labelsets, asked.labelsets.shape[1]
    scores = (errors(asked) ** 2).sum(axis=2) + (q - labelsets.sum(axis=1)) / 2
    for r in range(q):
        for j in range(r):
            scores = scores + (-1) ** (j + r) * labelsets[:, j] * labelsets[:, r] / 4
    scores[:, -1] = asked.outputs[:, 0]
    for i, row in enumerate(asked.outputs):
        scores[i, (labelsets == (row > 0.5)).all(axis=1)] = -0.5
    return scores


FORMULAS = {
    "PowerMeasure": power,
    "LogLossMeasure": log_loss,
    "MaxNormMeasure": max_norm,
    "FunctionMeasure": function,
    "LabelWiseCombination": label_wise,
    "MahalanobisMeasure": mahalanobis,
    "UnseenPenalty": unseen,
    "CardinalityPenalty": cardinality,
    "HammingPenalty": hamming,
    "LabelsetPrior": prior,
    "PosteriorMeasure": posterior,
    "ForestMeasure": forest,
    "Lopsided": lopsided,
}
"""By the class of a measure; a sum is the sum of its parts."""

EXACT = {"PowerMeasure", "MaxNormMeasure", "FunctionMeasure", "UnseenPenalty", "Lopsided"}
"""Those whose formulas floats follow without rounding, on eighths."""


def formula_scores(fitted, asked: Asked, training: Training) -> Any:
    """Return the scores (n, 2^q) that the formula of a fitted measure gives."""
    return sum(FORMULAS[type(part).__name__](part, asked, training) for part in fitted.parts())


def whole_scores(fitted, asked: Asked):
    """Return the package's integer scores of all labelsets of each object, (n, 2^q), one by one."""
    labelsets, n = asked.labelsets, len(asked.outputs)
    energy = fitted.energy(asked.outputs, X=asked.X)
    objects = np.repeat(np.arange(n), len(labelsets))
    return energy.scores(np.tile(labelsets, (n, 1)), objects=objects).reshape(n, -1)


def check_scores(fitted, scores, asked: Asked, training: Training, *, dyadic: bool):
    """Compare the package's integers with the formula: exactly, or inexact floats to ten digits."""
    expected = formula_scores(fitted, asked, training)
    names = {type(part).__name__ for part in fitted.parts()}
    if dyadic and names <= EXACT:
        assert np.array_equal(np.ldexp(expected, fitted.exponent_), scores)
        return
    shown = np.ldexp(scores.astype(np.float64), -fitted.exponent_)
    if "MahalanobisMeasure" in names:  # a root magnifies what is rounded below it, next to zero
        np.testing.assert_allclose(shown, expected, rtol=1e-7, atol=math.sqrt(np.ldexp(1.0, -30)))
    else:
        np.testing.assert_allclose(shown, expected, rtol=1e-10, atol=1e-10)

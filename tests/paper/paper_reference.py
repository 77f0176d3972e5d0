"""Slow, readable twins of the estimators' kernels: the formulas, one example and pair at a time."""

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix


def ranking_errors(outputs: FloatArray, labels: LabelMatrix) -> FloatArray:
    """Return -dE/dnet_j of E = mean over (k on, l off) of exp(-(c_k - c_l)), with c = tanh(net)."""
    on, off = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    errors = np.zeros(outputs.size)
    for k in on:
        for l_ in off:
            loss = np.exp(-(outputs[k] - outputs[l_])) / (on.size * off.size)
            errors[k] += loss
            errors[l_] -= loss
    return np.asarray(errors * (1 - outputs) * (1 + outputs))


def network_outputs(
    X: FloatArray,
    hidden_weights: FloatArray,
    hidden_bias: FloatArray,
    output_weights: FloatArray,
    output_bias: FloatArray,
) -> FloatArray:
    """Return the outputs of a tanh network with one hidden layer for the rows of a dense X."""
    hidden = np.tanh(X @ hidden_weights + hidden_bias)
    return np.asarray(np.tanh(hidden @ output_weights + output_bias))


def train_epoch(
    X: FloatArray,
    Y: LabelMatrix,
    order: IntArray,
    hidden_weights: FloatArray,
    hidden_bias: FloatArray,
    output_weights: FloatArray,
    output_bias: FloatArray,
    rate: float,
    decay: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the weights after training on the dense examples of ``order``, all updated."""
    for i in order:
        hidden = np.tanh(X[i] @ hidden_weights + hidden_bias)
        outputs = np.tanh(hidden @ output_weights + output_bias)
        errors = ranking_errors(outputs, Y[i])
        hidden_errors = (output_weights @ errors) * (1 - hidden**2)
        output_weights = output_weights + rate * np.outer(hidden, errors) - decay * output_weights
        output_bias = output_bias + rate * errors - decay * output_bias
        hidden_weights = (
            hidden_weights + rate * np.outer(X[i], hidden_errors) - decay * hidden_weights
        )
        hidden_bias = hidden_bias + rate * hidden_errors - decay * hidden_bias
    return hidden_weights, hidden_bias, output_weights, output_bias


def best_cuts(outputs: FloatArray, Y: LabelMatrix, margin: float) -> FloatArray:
    """Return for each example the lowest of the q + 1 cuts that misclassify the fewest labels."""
    cuts = []
    for row, labels in zip(outputs, Y, strict=True):
        ordered = np.sort(row)
        candidates = [
            ordered[0] - margin,
            *((ordered[:-1] + ordered[1:]) / 2),
            ordered[-1] + margin,
        ]
        wrong = [np.sum((row >= cut) != (labels == 1)) for cut in candidates]
        cuts.append(candidates[int(np.argmin(wrong))])
    return np.array(cuts)


def population_losses(log_odds: FloatArray, Y: LabelMatrix) -> FloatArray:
    """Return the mean of Hamming loss and ranking loss of each (n, n_predictions, q) prediction."""
    losses = []
    for predicted in np.moveaxis(log_odds, 1, 0):
        hamming = np.mean((predicted > 0) != (Y == 1))
        ranking = np.mean(
            [_misordered(row, labels) for row, labels in zip(predicted, Y, strict=True)]
        )
        losses.append((hamming + ranking) / 2)
    return np.array(losses)


def _misordered(row: FloatArray, labels: LabelMatrix) -> float:
    pairs = [(k, l_) for k in np.flatnonzero(labels == 1) for l_ in np.flatnonzero(labels == 0)]
    return float(np.mean([row[k] <= row[l_] for k, l_ in pairs])) if pairs else 0.0

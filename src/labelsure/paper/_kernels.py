"""The estimators' inner loops, compiled. Import this module inside functions, on first use.

Each kernel names its slow twin in tests/paper/paper_reference.py; none uses threads, so results do
not depend on their number.
"""

import math
from typing import NamedTuple

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
from labelsure._compile import kernel


class SparseRows(NamedTuple):
    """The examples: a CSR matrix as its arrays."""

    data: FloatArray
    indices: IntArray
    indptr: IntArray


class Network(NamedTuple):
    """The weights of BP-MLL's network, which training changes in place."""

    hidden_weights: FloatArray
    hidden_bias: FloatArray
    output_weights: FloatArray
    output_bias: FloatArray


@kernel
def ranking_errors(outputs: FloatArray, labels: LabelMatrix, errors: FloatArray) -> None:
    """Write into ``errors`` what BP-MLL propagates back from each output, for one example.

    Reference : estimator_reference.ranking_errors
    Requires : outputs within [-1, 1], at least one label on and one off, errors of q entries
    Cost : O(q) time, since exp(-(c_k - c_l)) = exp(-c_k) exp(c_l)
    """
    on_sum = 0.0
    off_sum = 0.0
    n_on = 0
    for j in range(outputs.size):
        if labels[j]:
            errors[j] = math.exp(-outputs[j])
            on_sum += errors[j]
            n_on += 1
        else:
            errors[j] = math.exp(outputs[j])
            off_sum += errors[j]
    n_pairs = n_on * (outputs.size - n_on)
    for j in range(outputs.size):
        slope = 1.0 - outputs[j] * outputs[j]
        pull = off_sum if labels[j] else -on_sum
        errors[j] *= pull * slope / n_pairs


@kernel
def _activate(values: FloatArray, inputs: IntArray, weights: FloatArray, units: FloatArray) -> None:
    """Compute a layer's units, which hold their biases, from the inputs that are not zero."""
    for p in range(inputs.size):
        row, value = weights[inputs[p]], values[p]
        for s in range(units.size):
            units[s] += value * row[s]
    for s in range(units.size):
        units[s] = math.tanh(units[s])


@kernel
def _correct(
    values: FloatArray, inputs: IntArray, weights: FloatArray, steps: FloatArray, keep: float
) -> None:
    """Decay a layer's weights from some inputs, and add the inputs' values times the steps."""
    for p in range(inputs.size):
        row, value = weights[inputs[p]], values[p]
        for s in range(steps.size):
            row[s] = keep * row[s] + value * steps[s]


@kernel
def _catch_up(
    features: IntArray, weights: FloatArray, powers: FloatArray, ages: IntArray, age: int
) -> None:
    """Let the weights of these features decay as often as they have missed; part of train_epoch."""
    for feature in features:
        if ages[feature] < age:
            weights[feature] *= powers[age - ages[feature]]
            ages[feature] = age


@kernel
def network_outputs(rows: SparseRows, network: Network) -> FloatArray:
    """Return the outputs, shape (n, q), of BP-MLL's network for the rows of a CSR matrix.

    Not by matrix products: an object's outputs must not depend, in the last digits, on the objects
    beside it.

    Reference : estimator_reference.network_outputs
    Requires : column numbers below the number of rows of hidden_weights
    Cost : O(nonzeros * hidden units + n * hidden units * q) time, O(hidden units) memory
    """
    outputs = np.empty((rows.indptr.size - 1, network.output_bias.size))
    hidden = np.empty(network.hidden_bias.size)
    every_unit = np.arange(hidden.size)
    for i in range(outputs.shape[0]):
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        hidden[:] = network.hidden_bias
        _activate(rows.data[row], rows.indices[row], network.hidden_weights, hidden)
        outputs[i] = network.output_bias
        _activate(hidden, every_unit, network.output_weights, outputs[i])
    return outputs


@kernel
def train_epoch(
    rows: SparseRows, Y: LabelMatrix, order: IntArray, network: Network, rate: float, decay: float
) -> None:
    """Show BP-MLL's network the examples of ``order``, one at a time; the weights change in place.

    Examples are rows of a CSR matrix. The weights of a feature that is zero in an example only
    decay, and that is put off until the feature is needed again, so that an example costs as much
    as it has features.

    Reference : estimator_reference.train_epoch
    Requires : no duplicate entries in the CSR matrix; in each example a label on and one off
    Cost : O((nonzeros + examples * q) * hidden units) time, O(examples + features) memory
    """
    data, indices, indptr = rows
    hidden_weights, hidden_bias, output_weights, output_bias = network
    keep = 1.0 - decay
    powers = np.cumprod(np.append(1.0, np.full(order.size, keep)))
    ages = np.zeros(hidden_weights.shape[0], dtype=np.int64)
    hidden, hidden_errors = np.empty(hidden_bias.size), np.empty(hidden_bias.size)
    outputs, errors = np.empty(output_bias.size), np.empty(output_bias.size)
    every_unit = np.arange(hidden.size)
    for t in range(order.size):
        example = slice(indptr[order[t]], indptr[order[t] + 1])
        values, features = data[example], indices[example]
        _catch_up(features, hidden_weights, powers, ages, t)
        hidden[:] = hidden_bias
        _activate(values, features, hidden_weights, hidden)
        outputs[:] = output_bias
        _activate(hidden, every_unit, output_weights, outputs)
        ranking_errors(outputs, Y[order[t]], errors)
        for s in range(hidden.size):
            back = 0.0
            for j in range(errors.size):
                back += errors[j] * output_weights[s, j]
            hidden_errors[s] = back * (1.0 - hidden[s] * hidden[s])
        _correct(hidden, every_unit, output_weights, rate * errors, keep)
        _correct(rate * values, features, hidden_weights, hidden_errors, keep)
        output_bias[:] = keep * output_bias + rate * errors
        hidden_bias[:] = keep * hidden_bias + rate * hidden_errors
        ages[features] = t + 1
    _catch_up(np.arange(ages.size), hidden_weights, powers, ages, order.size)


@kernel
def best_cuts(outputs: FloatArray, Y: LabelMatrix, margin: float) -> FloatArray:
    """Find for each example the lowest cut of its outputs that misclassifies the fewest labels.

    Candidates are the lowest output less ``margin``, the midpoints of neighbours, the highest plus
    ``margin``; a label is on iff its output is at least the cut.

    Reference : estimator_reference.best_cuts
    Requires : finite outputs
    Cost : O(n q^2) time, O(n + q) memory
    """
    n, q = outputs.shape
    cuts = np.empty(n)
    for i in range(n):
        ordered = np.sort(outputs[i])
        candidates = np.append(ordered[0] - margin, ordered + margin)
        candidates[1:q] = (ordered[:-1] + ordered[1:]) / 2.0
        fewest = q + 1
        for cut in candidates:
            wrong = np.count_nonzero((outputs[i] >= cut) != (Y[i] == 1))
            if wrong < fewest:
                fewest = wrong
                cuts[i] = cut
    return cuts


@kernel
def population_losses(log_odds: FloatArray, Y: LabelMatrix) -> FloatArray:
    """Return the mean of Hamming and ranking loss of several predictions of the same examples.

    A label is predicted iff its log-odds are above zero. The ranking loss of an example is the
    share of pairs (label on, label off) in which the first does not have the higher log-odds, and
    zero where there is no such pair.

    Reference : estimator_reference.population_losses
    Requires : log_odds of shape (n, n_predictions, q), finite; n > 0
    Cost : O(n n_predictions q^2) time, O(n_predictions + q) memory
    """
    n, n_predictions, q = log_odds.shape
    losses = np.zeros(n_predictions)
    for i in range(n):
        on = np.flatnonzero(Y[i])
        off = np.flatnonzero(Y[i] == 0)
        n_pairs = on.size * off.size
        for k in range(n_predictions):
            row = log_odds[i, k]
            wrong = 0
            for j in range(q):
                wrong += (row[j] > 0.0) != (Y[i, j] == 1)
            misordered = 0
            for a in on:
                for b in off:
                    misordered += row[a] <= row[b]
            losses[k] += wrong / (2.0 * n * q)
            if n_pairs > 0:
                losses[k] += misordered / (2.0 * n * n_pairs)
    return losses

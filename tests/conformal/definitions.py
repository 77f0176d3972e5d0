"""The definitions of the p-values, transcribed from the papers: own loops, own scores, nothing of the package.

Scores are whole numbers of 2^-40, rounded label by label as the package promises, but from exact fractions.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

UNIT = 2**40


def candidates(n_labels, *, empty=True):
    """All labelsets, label 0 changing fastest."""
    labelsets = [bits[::-1] for bits in product((0, 1), repeat=n_labels)]
    return labelsets if empty else labelsets[1:]


def nonconformity(labelset, outputs, training_labels, *, d=4, pair_penalty=0.0):
    """sum_j |t_j - o_j|^d + lambda * (pairs of labels in the labelset never observed together in training)."""
    score = sum(round(abs(t - Fraction(float(o))) ** d * UNIT) for t, o in zip(labelset, outputs, strict=True))
    for j, r in combinations(range(len(labelset)), 2):
        if labelset[j] and labelset[r] and not any(row[j] and row[r] for row in training_labels):
            score += round(Fraction(pair_penalty) * UNIT)
    return score


def cross_conformal_counts(folds, objects, labelsets, **measure):
    """For each object and labelset, how many calibration scores are >, and how many are =, its score.

    ``folds`` holds (training labels, calibration labels, calibration outputs, outputs for the objects).
    """
    larger = np.zeros((objects, len(labelsets)), dtype=int)
    equal = np.zeros_like(larger)
    for training_labels, labels, outputs, new_outputs in folds:
        alphas = [
            nonconformity(y, o, training_labels, **measure) for y, o in zip(labels, outputs, strict=True)
        ]  # of the fold's examples
        for i in range(objects):
            for c, labelset in enumerate(labelsets):
                alpha = nonconformity(labelset, new_outputs[i], training_labels, **measure)
                larger[i, c] += sum(other > alpha for other in alphas)
                equal[i, c] += sum(other == alpha for other in alphas)
    return larger, equal


def full_conformal_counts(outputs_when_trained_on, X, Y, objects, labelsets, orders=None, **measure):
    """The same for the transductive definition; ``outputs_when_trained_on(X, Y)`` are of the examples trained on.

    ``orders`` may hold, for each object, the order in which the examples and, as the last, the object are trained on.
    """
    larger = np.zeros((len(objects), len(labelsets)), dtype=int)
    equal = np.zeros_like(larger)
    for i, x in enumerate(objects):
        order = range(len(X) + 1) if orders is None else orders[i]
        for c, labelset in enumerate(labelsets):
            extended, labels = np.vstack([X, x])[order], np.vstack([Y, labelset])[order]
            outputs = outputs_when_trained_on(extended, labels)
            alphas = [nonconformity(y, o, labels, **measure) for y, o in zip(labels, outputs, strict=True)]
            alpha = alphas.pop(list(order).index(len(X)))
            larger[i, c] = sum(other > alpha for other in alphas)
            equal[i, c] = sum(other == alpha for other in alphas)
    return larger, equal


def p_values(larger, equal, n_calibration):
    """(#{alpha_i >= alpha} + 1) / (l + 1)."""
    return (larger + equal + 1) / (n_calibration + 1)

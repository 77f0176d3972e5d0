"""Compiled evaluation of labelsets drawn at random."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import BoolArray
from labelsure.labelsets.arrays._fold_arrays import Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, weigh
from labelsure.labelsets.search._labelset_kernels import flip, is_candidate, penalise
from labelsure.labelsets.search._states import Buffer, PairProblem


@kernel
def weigh_flips(flips: BoolArray, problem: PairProblem, lookup: Lookup, stranger: Integer, found: Buffer) -> None:
    """Write the labelsets that rows of flips lead to, and their numerators; ``stranger`` for what is no candidate.

    Reference : labelset_reference.numerator
    Requires : flips (m, n) of the problem's labels; room for m labelsets
    Cost : O(n + K f^2) per row with f flips
    """
    n_folds, n_labels = problem.changes.shape
    labels, sign, pairs = problem.labels, problem.costs.sign, problem.costs.pairs
    nothing, penalty, scores = np.zeros(n_folds, np.int64), np.zeros(n_folds, np.int64), np.empty(n_folds, np.int64)
    flipped = np.empty(n_labels, np.int64)
    words, known = problem.mode.copy(), problem.mode.copy()
    for row in range(flips.shape[0]):
        n_flipped = 0
        for w in range(words.shape[0]):
            words[w] = problem.mode[w]
        for i in range(n_labels):
            if flips[row, i]:
                flipped[n_flipped] = i
                n_flipped += 1
                flip(words, labels[i])
        for k in range(n_folds):
            added = 0.0
            for a in range(n_flipped):
                i = flipped[a]
                added += problem.changes[k, i]
                for b in range(a if pairs.shape[1] > 0 else 0):
                    j = labels[flipped[b]]
                    added += sign[labels[i]] * sign[j] * pairs[k, labels[i], j]
            scores[k] = problem.base[k] + np.int64(added)
        for w in range(words.shape[0]):
            found.words[row, w] = words[w]
        found.numerators[row] = stranger
        if is_candidate(words, lookup.allow_empty, lookup.rules):
            if lookup.penalties.present:
                penalise(words, labels[:0], np.int64(0), lookup.penalties, penalty, known)
            found.numerators[row] = weigh(scores, nothing, penalty, lookup.weighing, lookup.tables)

"""Compiled search of the best labelsets among all 2^q of each object."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.types import Int32Array, IntArray
from labelsure.labelsets.arrays._fold_arrays import FAR, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, highest_score, only_counts, value_of, weighing_of
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.table._table_kernels import subset_sums


class CodeCosts(NamedTuple):
    """What is added to the sums over labels for each code, and room to add up one object's.

    Attributes
    ----------
    more : (2^q, K)
        What is added in each fold, the same for all objects.
    least, total : (2^q,)
        The least of that, and its sum.
    bounds, totals : (2^q,)
        For notes: lower bounds of a code's scores in all folds, and its total score.
    of_label, least_of_label, total_of_label : (q, K), (q,), (q,)
        For notes: what each label costs in the folds, the least of that, and its sum.
    scores, nothing : (K,)
        For notes, and zeros.
    """

    more: IntArray
    least: IntArray
    total: IntArray
    bounds: IntArray
    totals: IntArray
    of_label: IntArray
    least_of_label: IntArray
    total_of_label: IntArray
    scores: IntArray
    nothing: IntArray

    @classmethod
    def of(cls, rows: IntArray, n_labels: int) -> "CodeCosts":
        """Return the costs of all codes, given those of each fold, (K, 2^q) or (K, 0)."""
        n_folds, n_codes = len(rows), 2**n_labels
        more = np.ascontiguousarray(rows.T) if rows.size else np.zeros((n_codes, n_folds), dtype=np.int64)
        bounds, totals = np.empty((2, n_codes), dtype=np.int64)
        least, total = np.empty((2, n_labels), dtype=np.int64)
        scores, nothing = np.zeros((2, n_folds), dtype=np.int64)
        of_label = np.empty((n_labels, n_folds), dtype=np.int64)
        return cls(more, more.min(axis=1), more.sum(axis=1), bounds, totals, of_label, least, total, scores, nothing)


class BestCodes(NamedTuple):
    """The best codes of n objects and their numerators, (n, b) each, in order; and one object's total scores, (b,)."""

    codes: IntArray
    numerators: IntArray
    totals: IntArray

    @classmethod
    def of(cls, n_objects: int, n_best: int) -> "BestCodes":
        """Return room for the best codes of some objects."""
        codes, numerators = np.empty((2, n_objects, n_best), dtype=np.int64)
        return cls(codes, numerators, np.empty(n_best, dtype=np.int64))


@lean_kernel
def search_codes(
    constant: IntArray,
    unary: IntArray,
    weighings: ObjectWeighings,
    tables: ScoreTables,
    first_code: Integer,
    costs: CodeCosts,
    found: BestCodes,
) -> None:
    """Write the best codes of each object: by highest numerator, then by lowest total, then by lowest code.

    A code with scores above some level in all folds cannot reach the worst of the best; nor can one that may tie with
    it but has a higher total. Neither is looked at.

    Reference : labelset_reference.ranked
    Requires : constant (K, n), unary (K, n, q); no links; as many codes as asked for
    Cost : two additions per code, and K look-ups for those looked at
    """
    n_folds, n_objects, n_labels = unary.shape
    bounds, totals, scores, n_best = costs.bounds, costs.totals, costs.scores, found.codes.shape[1]
    for i in range(n_objects):
        weighing = weighing_of(i, weighings)
        plain = only_counts(weighing, tables)
        add_up(i, constant, unary, costs)
        seed, next_seed = two_lowest(totals, first_code)
        n_found = 0
        reached, level, level_above = np.int64(-FAR), np.int64(FAR), np.int64(FAR)
        for place in range(-2, bounds.shape[0] - first_code):  # what has low totals tells what others have to reach
            code = place + first_code
            if place < 0:
                code = seed if place == -2 else next_seed
            elif n_found == n_best:
                if bounds[code] > level:
                    continue
                if bounds[code] > level_above and totals[code] > found.totals[n_best - 1]:
                    continue
            if bounds[code] >= FAR:  # looked at already
                continue
            for k in range(n_folds):
                scores[k] = constant[k, i] + costs.more[code, k]
            for j in range(n_labels):
                if (code >> j) & 1:
                    for k in range(n_folds):
                        scores[k] += costs.of_label[j, k]
            bounds[code] = FAR
            value = value_of(scores, costs.nothing, costs.nothing, plain, weighing, tables)
            n_found = insert(i, code, value, totals[code], n_found, found)
            if n_found == n_best and found.numerators[i, n_best - 1] != reached:
                reached = found.numerators[i, n_best - 1]
                level = highest_score(reached, scores, costs.nothing, weighing, tables)
                level_above = highest_score(reached + 1, scores, costs.nothing, weighing, tables)


@kernel_part
def two_lowest(totals: IntArray, first_code: Integer) -> tuple[Integer, Integer]:
    """Return the codes of the lowest two totals; twice the same where there is one code only.

    Reference : numpy.argsort
    Requires : a code
    Cost : a comparison per code
    """
    lowest = second = first_code
    least, next_least = totals[first_code], np.int64(FAR)
    for code in range(first_code + 1, totals.shape[0]):
        total = totals[code]
        if total >= next_least:  # nearly always: one comparison that the processor foresees
            continue
        if total < least:
            lowest, second, least, next_least = code, lowest, total, least
        else:
            second, next_least = code, total
    return lowest, second


@kernel_part
def add_up(i: Integer, constant: IntArray, unary: IntArray, costs: CodeCosts) -> None:
    """Write a lower bound of the scores of each of an object's codes in all folds, and its total score.

    Reference : the definitions
    Requires : as search_codes
    Cost : four additions per code
    """
    n_folds, _, n_labels = unary.shape
    least, total = constant[0, i], np.int64(0)
    for k in range(n_folds):
        least, total = min(least, constant[k, i]), total + constant[k, i]
    for j in range(n_labels):
        least_cost, total_cost = unary[0, i, j], np.int64(0)
        for k in range(n_folds):
            cost = unary[k, i, j]
            costs.of_label[j, k] = cost
            least_cost, total_cost = min(least_cost, cost), total_cost + cost
        costs.least_of_label[j], costs.total_of_label[j] = least_cost, total_cost
    subset_sums(least, costs.least_of_label, costs.bounds)
    subset_sums(total, costs.total_of_label, costs.totals)
    for code in range(costs.bounds.shape[0]):
        costs.bounds[code] += costs.least[code]
        costs.totals[code] += costs.total[code]


@kernel_part
def insert(i: Integer, code: Integer, value: Integer, total: Integer, n_found: Integer, found: BestCodes) -> Integer:
    """Put a code among an object's best if it belongs there; return how many these are.

    Reference : bisect.insort
    Requires : n_found of the best there are found
    Cost : a comparison for each that comes after it
    """
    codes, numerators, totals = found.codes[i], found.numerators[i], found.totals
    n_best = codes.shape[0]
    place = n_found
    while place > 0:
        before = place - 1
        if numerators[before] > value:
            break
        tied = numerators[before] == value
        if tied and (totals[before] < total or (totals[before] == total and codes[before] < code)):
            break
        if place < n_best:
            codes[place], numerators[place], totals[place] = codes[before], numerators[before], totals[before]
        place = before
    if place < n_best:
        codes[place], numerators[place], totals[place] = code, value, total
    return min(n_found + 1, n_best)


@lean_kernel
def best_codes(rows: Int32Array, totals: IntArray, codes: IntArray, best: IntArray) -> None:
    """Write the codes with the highest numbers, in order: ties by lowest total, if there are totals, then by code.

    Reference : sorted
    Requires : rows (n, m), totals (n, m) or (n, 0), codes ascending, best (n, b) with b <= len(codes)
    Cost : one comparison per code, and b where it is among the best so far
    """
    by_total, n_best = totals.shape[1] > 0, best.shape[1]
    for i in range(rows.shape[0]):
        n_found = 0
        for c in range(codes.shape[0]):
            code = codes[c]
            value = rows[i, code]
            if n_found == n_best and value < rows[i, best[i, n_best - 1]]:
                continue
            place = n_found
            while place > 0:
                other = best[i, place - 1]
                tied = value == rows[i, other]
                if value < rows[i, other] or (tied and not (by_total and totals[i, code] < totals[i, other])):
                    break
                if place < n_best:
                    best[i, place] = other
                place -= 1
            if place < n_best:
                best[i, place] = code
            n_found = min(n_found + 1, n_best)

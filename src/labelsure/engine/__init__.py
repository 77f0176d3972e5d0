"""The engine: exact answers about the p-values of all labelsets, from folds of integer scores.

From the bottom up::

    _weighing, _rules, _results        numerators of counts; constraints; options and answers
    _fold_arrays, _lookup_kernels      folds as arrays, and counts looked up in them
    _numpy_rows, _rows                 rows of all candidates, in numpy first, and answers
    _block, _walk_kernels              the search of scores that add up
    _pair_problem, _pair_search        the search where pairs of labels have costs
    _listed_kernels                    labelsets that have a discount
    _search                            answers of both searches, beside listed labelsets
    _estimate, _knapsack               how large a region is that has too many labelsets to count
    _engine, _fold_engine, _composite  what engines answer; FoldEngine chooses how

The slow, readable truth that kernels are compared with is ``tests/labelset_reference.py``.

How to use it:

- ``make_engine(folds, empty=..., weighing=..., weighing_at=..., options=..., n_jobs=...)`` returns
  the engine of a list of ``Fold(calibration, energy)``. ``empty`` is "ordinary", "strangest" or
  "excluded". ``constraints=compile_constraints([...], labels)`` leaves only labelsets that obey
  them: rows mask the others, searches prune them.
- ``Weighing.plain(n_calibration, n_objects)``, ``Weighing.smoothed(n_calibration, draws)`` and
  ``Weighing.ruled(weights, start, denominators)`` are the ways in which counts become numerators;
  without one, counts are added up. ``weighing_at(significance)`` returns the weighing for regions
  at a level, where that depends on it.
- ``engine.at_level(significance)`` returns the engine to ask about regions, and the smallest
  numerator of each object's; ``numerators_of``, ``to_p_values``, ``p_value_table``, ``top``,
  ``region_sizes``, ``region_members``, ``iterate_members``, ``label_numerators``, ``label_masses``,
  ``total_scores`` and ``take`` are the questions.
- ``top`` returns ``BestLabelsets``: ``certain`` and ``upper`` say what is known where a search
  spent its budget. Sizes are ``RegionSize``.
"""

from labelsure.engine._constraints import (
    Allowed,
    AtLeast,
    AtMost,
    Constraint,
    Exactly,
    Exclude,
    Hierarchy,
    Implies,
    broken_by,
    compile_constraints,
)
from labelsure.engine._results import RegionSize

__all__ = [
    "Allowed",
    "AtLeast",
    "AtMost",
    "Constraint",
    "Exactly",
    "Exclude",
    "Hierarchy",
    "Implies",
    "RegionSize",
    "broken_by",
    "compile_constraints",
]

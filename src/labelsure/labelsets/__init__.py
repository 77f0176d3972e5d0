"""The engine: exact answers about the p-values of all labelsets, from folds of integer scores.

In layers, each knowing only those below it::

    _composite                         engines of categories and groups
    _fold_engine                       make_engine, FoldEngine: chooses between table and search; StoredEngine
    search/                            answers without listing; estimates
    table/                             answers from all 2^q labelsets, on the processor or on a GPU: TableBackend
    _engine                            LabelsetEngine: what every engine answers; StrangestEmpty
    _constraints                       what a user knows about labelsets, compiled to LabelsetRules
    arrays/                            folds as arrays, Weighing, EngineOptions, Answers, RegionSize, BestLabelsets

The slow, readable truth that kernels are compared with is ``tests/labelset_reference.py``.

How to use it:

- ``make_engine(folds, empty=..., weighing=..., weighing_at=..., options=..., n_jobs=...)`` returns the engine of a list
  of ``Fold(calibration, energy)``. ``empty`` is "ordinary", "strangest" or "excluded". An engine made otherwise gets a
  strangest empty labelset by ``StrangestEmpty(engine)``. ``constraints=compile_constraints([...], labels)`` leaves
  only labelsets that obey them: tables mask the others, searches prune them.
- ``Weighing.plain(n_calibration, n_objects)``, ``Weighing.smoothed(n_calibration, draws)`` and
  ``Weighing.ruled(weights, start, denominators)`` are the ways in which counts become numerators; without one counts
  are added up. ``weighing_at(significance)`` returns the weighing for regions at a level, where that depends on it.
- ``engine.at_level(significance)`` returns the engine to ask about regions and the smallest numerator of each object's;
  ``numerators_of``, ``to_p_values``, ``p_value_table``, ``top``, ``region_sizes``, ``region_members``,
  ``iterate_members``, ``label_numerators``, ``label_masses``, ``total_scores`` and ``take`` are the questions.
- ``top`` returns ``BestLabelsets``: ``certain`` and ``upper`` say what is known where a search spent its budget. Sizes
  are ``RegionSize``.
"""

from labelsure.labelsets._constraints import (
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
from labelsure.labelsets.arrays._results import RegionSize

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

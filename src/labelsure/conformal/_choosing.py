"""Choosing a measure by a training part alone: how large would the regions of each candidate be?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed

from labelsure._checks import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._parallel import run_jobs
from labelsure._random import set_missing_seeds
from labelsure.conformal._examples import FoldExamples
from labelsure.engine import RegionSize
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import make_engine
from labelsure.engine._rules import LabelsetRules
from labelsure.measures import MANY_LABELS, AutoMeasure, ForestMeasure, Measure, MeasureSum, Need
from labelsure.measures._base import rows_with_outputs
from labelsure.measures._choice import MeasureChoice
from labelsure.measures._sparse_outputs import SparseOutputs


def choose_for_folds(
    recipe: AutoMeasure,
    folds: Sequence[FoldExamples],
    seeds: Sequence[int],
    n_jobs: int | None,
    rules: LabelsetRules | None = None,
) -> list[MeasureChoice]:
    """Return what each fold chooses by its training part and by rules that labelsets obey."""
    jobs = (
        delayed(_choose_by_fold)(recipe, fold, seed, rules)
        for fold, seed in zip(folds, seeds, strict=True)
    )
    return run_jobs(jobs, n_jobs=n_jobs, description="choosing measures", total=len(folds))


def _choose_by_fold(
    recipe: AutoMeasure, fold: FoldExamples, seed: int, rules: LabelsetRules | None
) -> MeasureChoice:
    labels = fold.training_labels
    outputs = fold.training_outputs
    objects = fold.training_objects
    assert labels is not None  # the recipe needs both
    assert outputs is not None
    outputs = outputs.dense(slice(None)) if isinstance(outputs, SparseOutputs) else outputs
    rows = np.flatnonzero(rows_with_outputs(outputs))
    objects = None if objects is None else _safe_indexing(objects, rows)
    return choose_measure(
        set_missing_seeds(clone(recipe), seed), labels[rows], outputs[rows], objects, rules
    )


def choose_measure(
    recipe: AutoMeasure,
    labels: LabelMatrix,
    outputs: FloatArray,
    X: MatrixLike = None,
    rules: LabelsetRules | None = None,
) -> MeasureChoice:
    """Try all candidates on a training part, and return which one is chosen, and why.

    Parameters
    ----------
    recipe : AutoMeasure
        With a seed as its ``random_state``, where the choice has to repeat.
    labels, outputs : arrays of shape (n, q)
        The training part, best with outputs of models that had not seen the example.
    X : array-like of n rows or None
        The objects; without them, candidates that need them are left out.
    rules : LabelsetRules or None
        What the labelsets of a region obey. Whether they hold must not have been read off
        calibration examples.
    """
    if len(labels) < 2:
        raise ValueError(
            f"AutoMeasure needs at least 2 training examples to choose by, got {len(labels)}."
        )
    trial = make_trial(recipe, labels, outputs, X, rules)
    return recipe.choose(labels.shape[1], len(labels), trial.region_bits)


def make_trial(
    recipe: AutoMeasure,
    labels: LabelMatrix,
    outputs: FloatArray,
    X: MatrixLike,
    rules: LabelsetRules | None = None,
) -> "Trial":
    """Return the trial that a recipe specifies."""
    from sklearn.model_selection import KFold

    seed, n_objects = recipe.seed, recipe.count_objects(len(labels))
    folds = list(
        KFold(min(recipe.n_folds, len(labels)), shuffle=True, random_state=seed).split(labels)
    )
    rng = np.random.RandomState(seed)
    spread = np.concatenate([rng.permutation(rows) for _, rows in folds])
    objects = np.zeros(len(labels), dtype=bool)
    objects[spread[np.arange(n_objects) * len(labels) // n_objects]] = True
    return Trial(labels, outputs, X, folds, objects, recipe.levels(), seed, rules)


@dataclass(frozen=True, eq=False)
class Trial:
    """The examples on which all candidates are tried out alike.

    Attributes
    ----------
    labels, outputs : arrays of shape (n, q)
        The training part, outputs of models that had not seen the example.
    X : array-like of n rows or None
        The objects, where they are known.
    folds : sequence of (fit, score) pairs of int64 arrays
        Rows that fit the measure, and rows that are scored with it; every row is scored once.
    objects : bool array of shape (n,)
        The rows whose regions are measured.
    levels : sequence of Fraction
        The significance levels.
    seed : int
        For measures that draw at random.
    rules : LabelsetRules or None
        What the labelsets of a region obey.
    parts : dict
        Candidates, or parts of sums, with fitted copies of them, by identity and fold.
    """

    labels: LabelMatrix
    outputs: FloatArray
    X: MatrixLike
    folds: Sequence[tuple[IntArray, IntArray]]
    objects: np.ndarray[tuple[int], np.dtype[np.bool_]]
    levels: Sequence[Fraction]
    seed: int
    rules: LabelsetRules | None = None
    parts: dict[tuple[int, int], tuple[Measure, Measure]] = field(default_factory=dict)

    @property
    def allow_empty(self) -> bool:
        """Whether the empty labelset is a candidate."""
        return bool((~self.labels.any(axis=1)).any())

    def region_bits(self, candidate: Measure) -> FloatArray:
        """Return log2 of the sizes of regions, (n_objects, n_levels); empty ones count as 1.

        The measure is fitted once per fold on the other folds. All examples calibrate, each scored
        in its own fold; the region of an object is that of its fold's scores.
        """
        fitted = [self._fit_once(candidate, f) for f in range(len(self.folds))]
        exponents = [measure.exponent_ for measure in fitted]
        scores, energies = np.empty(len(self.labels), dtype=np.int64), []
        for measure, (_, rows) in zip(fitted, self.folds, strict=True):
            energy = measure.energy(self.outputs[rows], X=self._objects(measure, rows))
            scores[rows] = energy.scores(self.labels[rows]) >> (measure.exponent_ - min(exponents))
            energies.append(energy.take(np.flatnonzero(self.objects[rows])))
        bits = np.empty((len(self.labels), len(self.levels)))
        for energy, exponent, (_, rows) in zip(energies, exponents, self.folds, strict=True):
            if energy.n_objects:
                calibration = np.sort(scores << (exponent - min(exponents)))
                bits[rows[self.objects[rows]]] = self._bits_of(Fold(calibration, energy))
        return bits[self.objects]

    def _fit_once(self, candidate: Measure, f: int) -> Measure:
        """Return the measure fitted for a fold; parts that candidates share are fitted once.

        In common are objects, not equal parameters: only those are sure to be the same measure.
        """
        if type(candidate) is MeasureSum:
            return MeasureSum(
                self._fit_once(candidate.first, f), self._fit_once(candidate.second, f)
            ).join()
        if (
            id(candidate),
            f,
        ) not in self.parts:  # kept with its copy: an id is its own only as long as it lives
            base = candidate.base if isinstance(candidate, ForestMeasure) else None
            beside = None if base is None else self._fit_once(base, f)
            self.parts[id(candidate), f] = (
                candidate,
                self.fit(candidate, self.folds[f][0], base=beside),
            )
        return self.parts[id(candidate), f][1]

    def fit(self, candidate: Measure, rows: IntArray, *, base: Measure | None = None) -> Measure:
        """Return a copy of the measure fitted on these rows, with its base where that is fitted."""
        measure = set_missing_seeds(clone(candidate), self.seed)
        if base is not None:
            measure.base = base
        labels, outputs = self.labels[rows], self.outputs[rows]
        fitted: Measure = measure.fit(labels, outputs=outputs, X=self._objects(measure, rows))
        return fitted

    def _objects(self, measure: Measure, rows: IntArray) -> MatrixLike:
        if Need.FEATURES not in measure.needs:
            return None
        if self.X is None:
            raise ValueError("it needs the objects themselves, and only outputs are known.")
        return _safe_indexing(self.X, rows)

    def _bits_of(self, fold: Fold) -> FloatArray:
        """Return log2 of the sizes of the fold's regions, (n_objects, n_levels)."""
        n_objects = fold.energy.n_objects
        # one engine for all levels: setting one up costs more than asking it
        everyone = fold.take(np.tile(np.arange(n_objects), len(self.levels)))
        engine = make_engine(
            [everyone], empty="ordinary" if self.allow_empty else "excluded", constraints=self.rules
        )
        smallest = np.repeat([engine.at_level(level)[1][0] for level in self.levels], n_objects)
        sizes = engine.region_sizes(smallest, bits=2.0 if engine.n_labels > MANY_LABELS else 1.0)
        return np.array([_bits(size) for size in sizes]).reshape(len(self.levels), n_objects).T


def _bits(size: RegionSize) -> float:
    """Return log2 of a size, at least 0; the upper bound where no member was drawn."""
    return log2(max(size.value if size.exact or size.value > size.at_least else size.high, 1))

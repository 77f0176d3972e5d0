"""Stage two: fit and calibrate a measure for each fold, and merge the folds for new objects.

However many models there are and wherever their outputs come from, this is where new objects meet
calibration scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    MatrixLike,
    check_choice,
)
from labelsure._parallel import run_jobs
from labelsure._random import (
    MERGING,
    SMOOTHING,
    UInt64Array,
    draw_uniforms,
    join_keys,
    object_keys,
    set_missing_seeds,
)
from labelsure.conformal._choices import Choices, check_some_labels
from labelsure.conformal._choosing import choose_for_folds
from labelsure.conformal._examples import FoldExamples
from labelsure.conformal._guarantees import add_conditions, state_groups, state_guarantee
from labelsure.conformal._merging import GroupSizes, Merging, weigh_densities, weigh_groups
from labelsure.conformal._models import FoldModel
from labelsure.conformal._probabilities import (
    LEARN_ENTRIES,
    N_DRAWS,
    N_DRAWS_TO_LEARN,
    SORT_ENTRIES,
    Candidates,
    learn_recalibration,
    learn_thresholds,
    recalibrated,
)
from labelsure.conformal._splits import Split
from labelsure.conformal._taxonomy import (
    Categories,
    LabelsetTaxonomy,
    category_engine,
    grouped_engine,
)
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import Empty, make_engine
from labelsure.engine._results import EngineOptions
from labelsure.engine._rules import LabelsetRules
from labelsure.measures import AutoMeasure, Measure, Need, PosteriorMeasure
from labelsure.measures._choice import MeasureChoice, MeasureChoices
from labelsure.measures._costs import SCORE_BITS
from labelsure.measures._energy import Energy, join_energies
from labelsure.measures._log_partition import LabelsetPosterior
from labelsure.measures._sparse_outputs import SparseOutputs
from labelsure.predictions import Guarantee, LabelsetPredictions
from labelsure.predictions._batch import Posterior

AnyOutputs: TypeAlias = FloatArray | SparseOutputs
"""Outputs, of which few may be stored."""

STRANGEST = 2**SCORE_BITS
"""Above every score: that of the empty labelset under a measure whose training part has none."""

PREDICT_FOR = ("auto", "exact match", "hamming", "f1")
"""The metrics that ``predict`` may answer for."""

ANSWERS = {
    "exact match": "the most plausible labelset",
    "learner alone": "each label that the models find more likely than not in the mean",
    "hamming": "each label with a probability above one half",
    "f1": "each label whose probability is above the label's own threshold",
}
"""What answers are."""


@dataclass(frozen=True, eq=False)
class CalibratedFold:
    """A measure fitted on a fold's training part, and the scores of the fold's calibration part.

    Attributes
    ----------
    measure : Measure
        Fitted.
    scores : int64 array of shape (m,)
        The scores in the order of the calibration examples.
    without_labels : bool array of shape (m,)
        Which of these examples have no label.
    finds_empty_strangest : bool
        Whether the training part is known to have no example without labels, so that with
        ``empty_labelset="auto"`` the measure may put the empty labelset above all others.
        Calibration examples have no influence on this: it would cost the guarantee. Measures that
        are a maximum over labels score it like any other labelset.
    choice : MeasureChoice or None
        How the measure was chosen, where it was.
    categories, weights : arrays of shape (m,) or None
        As in FoldExamples.
    recalibration : array of shape (2, q) or None
        Where the scores are no logarithms of probabilities: what makes probabilities of the
        outputs. Learned from the calibration examples; no score depends on it.
    """

    measure: Measure
    scores: IntArray
    without_labels: BoolArray
    finds_empty_strangest: bool
    choice: MeasureChoice | None = None
    categories: Categories | None = None
    weights: FloatArray | None = None
    recalibration: FloatArray | None = None

    def posterior(self, outputs: FloatArray, X: MatrixLike) -> LabelsetPosterior:
        """Return the probabilities of labelsets, given the outputs of the fold's model."""
        found = self.measure.posterior(outputs, X if Need.FEATURES in self.measure.needs else None)
        return recalibrated(outputs, self.recalibration) if found is None else found


def gather_examples(
    X: MatrixLike,
    Y: LabelMatrix,
    splits: Sequence[Split],
    models: Sequence[FoldModel],
    measure: Measure,
    categories: Categories | None = None,
    weights: FloatArray | None = None,
    complete: BoolArray | None = None,
) -> list[FoldExamples]:
    """Return what each fold is calibrated with, from all examples and the models of stage one.

    Parameters
    ----------
    X, Y, splits, models
        As in :func:`fit_models`, and what that returned.
    measure : Measure
        Whose needs are seen to.
    categories, weights : arrays of shape (n,) or None
        Of all examples.
    complete : bool array of shape (n,) or None
        Which examples have no unknown label, where some have: the others train no measure.
    """
    learned = Need.OUT_OF_FOLD_OUTPUTS in measure.needs
    with_objects = any(Need.FEATURES in each.needs for each in measure.alternatives(Y.shape[1]))
    folds = []
    for (train, rows), model in zip(splits, models, strict=True):
        outputs = model.out_of_fold_outputs if learned else model.training_outputs
        if complete is not None:
            outputs = None if outputs is None else outputs[complete[train]]
            train = train[complete[train]]  # noqa: PLW2901 - what is left of it for the measure
        trained_on, X_fold = (
            _safe_indexing(X, part) if with_objects else None for part in (train, rows)
        )
        of_fold: list[Any] = [
            None if part is None else part[rows] for part in (categories, weights)
        ]
        fold = FoldExamples(model.outputs, Y[rows], X_fold, Y[train], outputs, trained_on, *of_fold)
        folds.append(fold)
    return folds


def calibrate(
    measure: Measure,
    folds: Sequence[FoldExamples],
    *,
    seeds: Sequence[int],
    n_jobs: int | None = None,
    rules: LabelsetRules | None = None,
) -> list[CalibratedFold]:
    """Fit a copy of the measure on each training part and score the calibration examples with it.

    Parameters
    ----------
    measure : Measure
        What to fit, or to choose, in every fold.
    folds : sequence of FoldExamples
        At least one.
    seeds : sequence of int
        One per fold, for whatever is drawn in it.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    rules : LabelsetRules or None
        What a measure may be chosen by, see ``Choices.known_rules``.
    """
    for fold in folds:
        fold.check(measure)
    choices: Sequence[MeasureChoice | None] = [None] * len(folds)
    if isinstance(measure, AutoMeasure):
        choices = choose_for_folds(measure, folds, seeds, n_jobs, rules)
    jobs = (
        delayed(_calibrate_fold)(measure, *part) for part in zip(folds, seeds, choices, strict=True)
    )
    return run_jobs(jobs, n_jobs=n_jobs, description="calibrating folds", total=len(folds))


def _calibrate_fold(
    measure: Measure, fold: FoldExamples, seed: int, choice: MeasureChoice | None
) -> CalibratedFold:
    seeded: Any = set_missing_seeds(clone(measure), seed)
    if choice is not None:
        seeded = set_missing_seeds(clone(choice.measure), seeded.seed)
    labels = fold.labels[:0] if fold.training_labels is None else fold.training_labels
    outputs = fold.training_outputs
    if isinstance(outputs, SparseOutputs):
        outputs = outputs.dense(slice(None))
    fitted = seeded.fit(labels, outputs=outputs, X=fold.training_objects)
    scores = score_examples(fitted, fold.outputs, fold.labels, fold.X)
    strangest = bool(len(labels) and labels.any(axis=1).all() and fitted.form != "maximum")
    without = np.logical_not(fold.labels.any(axis=1))
    dense = _dense(fold.outputs, len(fold.labels), LEARN_ENTRIES // fold.labels.shape[1])
    known = fitted.posterior(
        dense[1][:1], None if fold.X is None else _safe_indexing(fold.X, dense[0][:1])
    )
    recalibration = learn_recalibration(dense[1], fold.labels[dense[0]]) if known is None else None
    described = choice, fold.categories, fold.weights, recalibration
    return CalibratedFold(fitted, scores, without, strangest, *described)


def _dense(outputs: AnyOutputs, n: int, most: int) -> tuple[IntArray, FloatArray]:
    """Return every k-th row, about ``most`` of them or all, and its outputs as an array."""
    rows = np.arange(n)[:: max(n // max(most, 1), 1)]
    return rows, outputs.take(rows).dense(slice(None)) if isinstance(
        outputs, SparseOutputs
    ) else outputs[rows]


def score_examples(
    fitted: Measure, outputs: AnyOutputs, Y: LabelMatrix, X: MatrixLike = None
) -> IntArray:
    """Return the scores of the examples' labelsets."""
    return np.concatenate(
        [energy.scores(Y[rows]) for rows, energy in _energies(fitted, outputs, X)]
    )


def _energies(
    fitted: Measure, outputs: AnyOutputs, X: MatrixLike
) -> Iterator[tuple[slice, Energy]]:
    """Yield objects and their energy; sparse outputs are made dense block by block."""
    if isinstance(outputs, SparseOutputs):
        yield from ((rows, fitted.energy(outputs.dense(rows))) for rows in outputs.blocks())
    else:
        yield slice(None), fitted.energy(outputs, X=X if Need.FEATURES in fitted.needs else None)


@dataclass(eq=False)
class Calibrator:
    """Everything that a prediction depends on beside the new objects and their outputs.

    Attributes
    ----------
    folds : tuple of CalibratedFold
        One for an inductive predictor.
    choices : Choices
        How the folds are merged, what their p-values are counted among, whether they are smoothed.
    seed : int
        For draws.
    complementary : bool
        Whether each fold's model and measure were made from all other examples alike, so that
        bounds by a tournament of folds hold: not where folds share models for their out-of-fold
        outputs.
    label_names : tuple of str or None
        The labels' names.
    n_jobs : int or None
        Threads, as in joblib.
    options : EngineOptions or None
        Limits of time and memory of the engine.
    groups : GroupSizes or None
        How large groups are, where examples belong together. Examples count by them where sizes
        differ.
    n_incomplete : int
        How many examples do not calibrate because some of their labels are unknown.
    thresholds : array of shape (q,) or None
        The probabilities above which labels are answered for the F-measure, see
        :meth:`with_thresholds`.
    strangest : tuple of bool
        Whether the empty labelset is stranger than all others in each fold.
    scores, calibrations, sizes : tuples
        The calibration scores of each fold, those of examples that have the strangest labelset
        above all others; the same, sorted; and their number.
    empty : str
        What the engine makes of the empty labelset; where folds differ or it has equals, its score
        is overridden.
    """

    folds: tuple[CalibratedFold, ...]
    choices: Choices
    seed: int
    complementary: bool = False
    label_names: tuple[str, ...] | None = None
    n_jobs: int | None = None
    options: EngineOptions | None = None
    groups: GroupSizes | None = None
    n_incomplete: int = 0
    thresholds: FloatArray | None = None
    strangest: tuple[bool, ...] = field(init=False)
    scores: tuple[IntArray, ...] = field(init=False)
    calibrations: tuple[IntArray, ...] = field(init=False)
    sizes: tuple[int, ...] = field(init=False)
    empty: Empty = field(init=False)

    def __post_init__(self) -> None:
        auto = self.choices.empty_labelset == "auto"
        self.strangest = tuple(auto and fold.finds_empty_strangest for fold in self.folds)
        self.scores = tuple(
            np.where(fold.without_labels, STRANGEST, fold.scores) if strangest else fold.scores
            for fold, strangest in zip(self.folds, self.strangest, strict=True)
        )
        self.calibrations = tuple(np.sort(scores) for scores in self.scores)
        self.sizes = tuple(len(scores) for scores in self.scores)
        alone = all(self.strangest) and not any(fold.without_labels.any() for fold in self.folds)
        alone = alone and not isinstance(self.choices.taxonomy, LabelsetTaxonomy)
        self.empty = (
            "excluded"
            if self.choices.empty_labelset == "exclude"
            else "strangest"
            if alone
            else "ordinary"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out of a pickle what is made from the rest."""
        return type(self), tuple(getattr(self, given.name) for given in fields(self) if given.init)

    @property
    def measure_choices(self) -> MeasureChoices | None:
        """What the folds chose; None where the measure was given."""
        choices = [fold.choice for fold in self.folds if fold.choice is not None]
        return MeasureChoices(choices) if choices else None

    def predict(
        self, outputs: Sequence[AnyOutputs], X: MatrixLike = None, *, index: Any = None
    ) -> LabelsetPredictions:
        """Return the predictions for new objects.

        Parameters
        ----------
        outputs : sequence of arrays of shape (n, q)
            Of each fold's model, dense or sparse.
        X : array-like of n rows or None
            The objects, where they are known.
        index : pandas index or None
            The objects' names.
        """
        folds = [self.meet(k, part, X) for k, part in enumerate(outputs)]
        measures, posterior = [fold.measure for fold in self.folds], None
        if all(isinstance(measure, PosteriorMeasure) for measure in measures):
            exponents = tuple(measure.exponent_ for measure in measures)
            posterior = Posterior(tuple(fold.energy for fold in folds), exponents)
        engine, names = self._engine(folds, outputs, X), self.label_names or ()
        return LabelsetPredictions(
            engine,
            label_names=names,
            guarantee=self.guarantee,
            index=index,
            _find_probabilities=partial(self.probabilities, outputs, X),
            _posterior=posterior,
        )

    def probabilities(self, outputs: Sequence[AnyOutputs], X: MatrixLike = None) -> FloatArray:
        """Return the probability of each label, (n, q), the mean over the folds.

        Parameters
        ----------
        outputs, X
            As in :meth:`predict`.
        """
        n, q = len(outputs[0]), self.folds[0].measure.n_labels_
        result, candidates = np.zeros((n, q)), self._candidates()
        keys = keys_of(outputs if X is None else [X]) if candidates.drawn else None
        blocks = outputs[0].blocks() if isinstance(outputs[0], SparseOutputs) else [slice(0, n)]
        for rows in blocks:
            objects = X if X is None or len(blocks) == 1 else _safe_indexing(X, np.arange(n)[rows])
            for fold, part in zip(self.folds, outputs, strict=True):
                dense = part.dense(rows) if isinstance(part, SparseOutputs) else part[rows]
                posterior = fold.posterior(dense, objects)
                result[rows] += candidates.marginals(
                    posterior, None if keys is None else keys[rows]
                )
        return np.asarray(result / len(self.folds))

    def with_thresholds(self, examples: Sequence[FoldExamples]) -> "Calibrator":
        """Return the same with thresholds learned from the probabilities of calibration examples.

        Each under the model and the measure of its fold, which have not seen it; labels are not
        looked at.
        """
        candidates, q = self._candidates(N_DRAWS_TO_LEARN), examples[0].labels.shape[1]
        work = (
            q
            if candidates.rules is None
            else q * N_DRAWS_TO_LEARN
            if candidates.drawn
            else candidates.listed.nnz
        )
        share = SORT_ENTRIES / max(work * sum(self.sizes), 1)
        marginals = []
        for fold, part in zip(self.folds, examples, strict=True):
            rows, dense = _dense(part.outputs, len(part.labels), int(share * len(part.labels)) + 1)
            objects = None if part.X is None else _safe_indexing(part.X, rows)
            keys = keys_of([dense]) if candidates.drawn else None
            marginals.append(candidates.marginals(fold.posterior(dense, objects), keys))
        return replace(self, thresholds=learn_thresholds(np.vstack(marginals)))

    def _candidates(self, n_draws: int = N_DRAWS) -> Candidates:
        return Candidates(
            self.choices.constraints, self.choices.empty_labelset == "exclude", self.seed, n_draws
        )

    def choose_answers(self, predict_for: str) -> str:
        """Return which of ``ANSWERS`` are given; with "auto" the folds' measures vote."""
        if check_choice(predict_for, PREDICT_FOR, name="predict_for") != "auto":
            return predict_for
        votes = [fold.measure.labels_are_better_ for fold in self.folds]
        return "learner alone" if 2 * sum(votes) > len(votes) else "exact match"

    def describe_answers(self, predict_for: str) -> str:
        """Return what is answered instead of the most plausible labelset, "" where that is."""
        chosen = self.choose_answers(predict_for)
        if chosen == "exact match":
            return ""
        why = ": better than labelsets on training parts" if predict_for == "auto" else ""
        return f'predict(X) answers with predict_for="{predict_for}": {ANSWERS[chosen]}{why}.'

    def single_answers(
        self,
        predictions: LabelsetPredictions,
        outputs: Sequence[FloatArray],
        predict_for: str = "auto",
    ) -> IntArray:
        """Return one labelset for each object, (n, q).

        Where the answer is not a candidate, it is the most plausible labelset.

        Parameters
        ----------
        predictions : LabelsetPredictions
            For the objects.
        outputs : sequence of arrays of shape (n, q)
            What the predictions were made from.
        predict_for : {"auto", "exact match", "hamming", "f1"}
            The metric.
        """
        chosen = self.choose_answers(predict_for)
        if chosen == "exact match":
            return predictions.labelsets.astype(np.int64)  # as scikit-learn's own classifiers
        if chosen == "learner alone":
            answers = labels_of_outputs(outputs)
        else:
            by_label = self.thresholds if chosen == "f1" else None
            threshold = 0.5 if by_label is None else by_label
            answers = np.asarray(predictions.probabilities > threshold).astype(np.int64)
        impossible = np.flatnonzero(predictions.p_value(answers) == 0)
        if len(impossible):
            answers[impossible] = predictions[impossible].labelsets
        return answers

    def nonconformity(
        self, outputs: Sequence[AnyOutputs], Y: LabelMatrix, X: MatrixLike = None
    ) -> FloatArray:
        """Return how strange labelsets are for objects, in the mean over the folds' models."""
        scores = [
            np.ldexp(
                score_examples(fold.measure, part, Y, X).astype(np.float64), -fold.measure.exponent_
            )
            for fold, part in zip(self.folds, outputs, strict=True)
        ]
        return np.asarray(np.mean(scores, axis=0))

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is proven about regions."""
        choices, proven = self.choices, None
        with_labels = choices.empty_labelset == "exclude"
        if self.groups is not None:
            proven = state_groups(
                self.groups,
                plain=self._plain,
                with_labels=with_labels,
                n_incomplete=self.n_incomplete,
            )
        if proven is None:
            sizes, name = [self.sizes], choices.guarantee
            if choices.taxonomy is not None:
                categories = np.unique(np.concatenate(self._categories))
                sizes = [
                    tuple(int((of_fold == category).sum()) for of_fold in self._categories)
                    for category in categories
                ]
            elif len(self.folds) == 1:
                name = "inductive" if choices.weight is None else "weighted"
            proven = state_guarantee(
                name,
                sizes,
                within_categories=choices.taxonomy is not None,
                complementary=self.complementary,
                smoothed=choices.smoothed,
                with_labels=with_labels,
            )
        return add_conditions(
            proven, constrained=choices.constraints is not None, n_incomplete=self.n_incomplete
        )

    @property
    def _plain(self) -> bool:
        """Whether p-values are shares of all calibration examples, and decide about regions."""
        choices = self.choices
        alike = choices.taxonomy is None and choices.weight is None and not choices.smoothed
        return alike and choices.guarantee != "exact"

    def meet(self, k: int, outputs: AnyOutputs, X: MatrixLike = None) -> Fold:
        """Return fold ``k`` for new objects with these outputs of its model."""
        parts = [energy for _, energy in _energies(self.folds[k].measure, outputs, X)]
        energy = parts[0] if len(parts) == 1 else join_energies(parts)
        if self.strangest[k] and self.empty == "ordinary":
            energy = energy.override_empty(STRANGEST)
        return Fold(self.calibrations[k], energy)

    def _engine(
        self, folds: Sequence[Fold], outputs: Sequence[AnyOutputs], X: MatrixLike
    ) -> LabelsetEngine:
        choices, weights = self.choices, self.folds[0].weights
        exact = choices.guarantee == "exact"
        merging = Merging(exact, np.zeros(len(outputs[0]), dtype=np.int64))
        if exact or choices.smoothed:
            keys = keys_of(outputs if X is None else [X])
            smoothing = draw_uniforms(self.seed, SMOOTHING, keys) if choices.smoothed else None
            merging = Merging(exact, draw_uniforms(self.seed, MERGING, keys), smoothing)
        settings: dict[str, Any] = {
            "empty": self.empty,
            "n_jobs": self.n_jobs,
            "options": self.options,
            "constraints": choices.constraints,
        }
        if choices.taxonomy is not None:
            make: Any = grouped_engine
            of_objects: Any = choices.taxonomy
            if isinstance(choices.taxonomy, LabelsetTaxonomy):
                make = category_engine
            else:
                no_labels = np.empty((len(merging.draws), 0), dtype=np.int8)
                of_objects = choices.taxonomy.of_examples(X, no_labels)
            engine: LabelsetEngine = make(
                folds, self.scores, self._categories, of_objects, merging, **settings
            )
            return engine
        if weights is not None:
            weighing = weigh_densities(self.scores[0], weights, choices.weights_of(X))
        elif self.groups and self.groups.count_by_size(
            plain=self._plain, n_incomplete=self.n_incomplete
        ):
            sizes = self.groups.calibrating[0]
            weighing = weigh_groups(self.scores[0], sizes, len(merging.draws))
        else:
            weighing = merging.weighing(self.sizes)
        weighing_at = merging.weighing_at(self.sizes)
        return make_engine(folds, weighing=weighing, weighing_at=weighing_at, **settings)

    @property
    def _categories(self) -> list[Categories]:
        return [fold.categories for fold in self.folds if fold.categories is not None]

    def extended(self, outputs: AnyOutputs, Y: LabelMatrix, X: MatrixLike = None) -> "Calibrator":
        """Return the calibrator of an inductive predictor with more calibration examples.

        Model and measure are functions of the training part alone, so calibrating anew with old and
        new examples together would give every example the score that it has already. P-values look
        at scores as a bag, so adding the new scores is the same, to the last bit.

        Parameters
        ----------
        outputs : array of shape (m, q), or SparseOutputs
            Of the model, for the new examples.
        Y : array of shape (m, q)
            Their labelsets.
        X : array-like of m rows or None
            The objects, where the measure, categories or weights look at them.
        """
        if len(Y) == 0:
            raise ValueError("update takes at least one new calibration example, got none.")
        (fold,) = self.folds
        rules = self.choices.constraints
        if rules is not None and not (obey := rules.allow(Y)).all():
            raise ValueError(
                f"update takes examples that obey the constraints, but {int((~obey).sum())} of"
                f" {len(Y)} break one, the first in row {int(np.argmin(obey))}. Correct the labels,"
                " or fit anew without that constraint."
            )
        if self.choices.empty_labelset == "exclude":
            check_some_labels([~fold.without_labels[:, np.newaxis], Y], stacklevel=4)
        categories, weights = self.choices.describe(X, Y)
        longer = replace(
            fold,
            scores=np.append(fold.scores, score_examples(fold.measure, outputs, Y, X)),
            without_labels=np.append(fold.without_labels, ~Y.any(axis=1)),
            categories=_append(fold.categories, categories),
            weights=_append(fold.weights, weights),
        )
        return replace(self, folds=(longer,))


def _append(old: Any, new: Any) -> Any:
    return None if new is None else np.append(old, new)


def keys_of(tables: Sequence[Any]) -> UInt64Array:
    """Return the keys of draws, one for each object, from all tables about it, dense or sparse."""
    return join_keys(
        [
            object_keys(table.matrix, default=table.default)
            if isinstance(table, SparseOutputs)
            else object_keys(table)
            for table in tables
        ]
    )


def labels_of_outputs(outputs: Sequence[FloatArray]) -> IntArray:
    """Return the labels with a mean output above one half: the answer of the learner alone."""
    total = np.asarray(sum(outputs))  # without a copy of all outputs
    return (total > len(outputs) / 2).astype(np.int64)


def check_one_fold(folds: Sequence[object], *, groups: object = None) -> None:
    """Raise ValueError where new examples would have to belong to a fold or to a group."""
    if groups is not None:
        raise ValueError(
            "update takes a predictor that was fitted without groups: fit anew with all examples."
        )
    if len(folds) > 1:
        raise ValueError(
            "update takes an inductive predictor, one model and its calibration examples, got"
            f" {len(folds)} folds. In a cross-conformal predictor every example calibrates in one"
            " fold and trains the models of the others: a new one belongs to no fold. Use"
            " InductiveConformalClassifier, LabelWiseConformalClassifier(cv=None) or outputs"
            " without folds; or fit anew with all examples."
        )

"""The measure that is chosen for the data at hand."""

from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.randomness import draw_seeds
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import (
    check_count,
    check_label_matrix,
    check_outputs,
    check_same_length,
    check_significance,
)
from labelsure.conformal._candidates import default_candidates
from labelsure.conformal._choice import MeasureChoice
from labelsure.conformal._trial import MANY_LABELS, Trial
from labelsure.measures import Measure

N_OBJECTS = 200
"""Regions that are measured per candidate, unless told otherwise."""

CLOSE_BITS = 0.1
"""Losses that differ by less count as equal. A few hundred examples cannot tell them apart, and folds that choose at
random between close candidates make larger regions together than with any one of them."""


class AutoMeasure(Measure):
    """The measure among candidates that makes the smallest regions, chosen on each fold's training part alone.

    ``measure="auto"`` stands for ``AutoMeasure()``. For every fold the classifier's outputs for its training part are
    made by five models that had not seen the example. The training part is cut into ``n_folds`` parts; each candidate
    m is fitted on the others' labels and outputs and scores the part. With all these scores as calibration, the
    regions of ``n_objects`` training examples x_i are measured, and the candidate with the smallest ::

        loss(m) = mean over eps of log2(mean over i of max(|region_eps(x_i)|, 1))

    is fitted on the whole training part; of losses within 0.1 of the smallest, which are as good as equal, the
    earliest candidate's counts, so that folds agree more often. With more than 20 labels sizes are compared
    by their logarithms, ``mean over eps and i of log2(max(|region_eps(x_i)|, 1))``, because a few giant regions would
    decide over a mean; they are then estimated where they cannot be counted soon.

    Nothing of the calibration part is looked at, so a chosen measure is as valid as one named beforehand [2]_. Folds
    may choose differently.

    Parameters
    ----------
    candidates : list of Measure or None, default=None
        What to choose from, in order of preference; all are fitted on the out-of-fold outputs. Those that cannot be
        used, because they need objects and only outputs are known or because their ``fit`` fails, are left out, and
        the report says why. None: power, up to 100 labels with pairs too, and log loss (floor 0.01), both with
        penalties for unseen labelsets and with labelset priors, and, up to 20 labels, signed Mahalanobis distances and
        forests with penalties; :func:`~labelsure.conformal.default_candidates` lists them.
    significance : float or sequence of float, default=(0.05, 0.1, 0.2)
        The levels at which regions should be small. Several make the choice steadier than one: where few examples lie
        above a threshold, it is a matter of luck.
    n_folds : int, default=10
        The parts that candidates are tried out on; at least 2.
    n_objects : int or None, default=None
        How many training examples' regions are measured, drawn at random, as many from each part, the same for all
        candidates; None: 200.
    random_state : int, RandomState or None, default=None
        For the parts, the draw of the examples, and every ``random_state`` in the candidates that is None. Where it is
        None, conformal classifiers derive it from their own.

    Attributes
    ----------
    measure_ : Measure
        The chosen one, fitted.
    choice_ : MeasureChoice
        What was chosen and why; ``print`` it.
    n_labels_, exponent_
        Those of ``measure_``.

    Notes
    -----
    Five more fits of the classifier per fold, as for every measure with out-of-fold outputs, and ``n_folds`` fits of
    each candidate. Ready-made outputs (:func:`~labelsure.calibrate_outputs`, ``prefit=True``) work where
    ``training_labels`` and ``training_outputs`` are given. Outputs for examples that the model knows by heart are
    allowed, but lead to a poor choice.

    References
    ----------
    .. [1] Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions. Journal of the Royal
       Statistical Society B 36(2), 111-147.
    .. [2] Yang, Y., Kuchibhotla, A. K. (2025). Selection and aggregation of conformal prediction sets. Journal of the
       American Statistical Association 120, 435-447.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> from labelsure.conformal import AutoMeasure
    >>> from labelsure.measures import LogLossMeasure, PowerMeasure
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> auto = AutoMeasure([LogLossMeasure(), PowerMeasure()], significance=0.1)
    >>> model = CrossConformalClassifier(MLkNNClassifier(), measure=auto, cv=3, random_state=0).fit(X, Y)
    >>> print(model.measure_choices_[0])
    LogLossMeasure() chosen from 2 candidates by the mean size of the regions
    of 80 of 80 training examples, at significance:
    rank  0.1
       1 5.64 LogLossMeasure()
       2 5.89 PowerMeasure()
    """

    def __init__(
        self,
        candidates: Sequence[Measure] | None = None,
        *,
        significance: float | Sequence[float] = (0.05, 0.1, 0.2),
        n_folds: int = 10,
        n_objects: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.significance = significance
        self.n_folds = n_folds
        self.n_objects = n_objects
        self.random_state = random_state

    @property
    def needs_training_labels(self) -> bool:
        """Always."""
        return True

    @property
    def needs_training_outputs(self) -> bool:
        """Always."""
        return True

    @property
    def needs_out_of_fold_outputs(self) -> bool:
        """Always: on examples that a model has seen, all measures look better than they are, some more than others."""
        return True

    @property
    def needs_features(self) -> bool:
        """Whether the chosen measure does; before, candidates that do are left out where there are no objects."""
        return hasattr(self, "measure_") and self.measure_.needs_features

    def check_parameters(self) -> None:
        """Raise ValueError where parameters make no sense, before anything is fitted."""
        self._check_candidates(1)
        self._levels()
        check_count(self.n_folds, name="n_folds", at_least=2)
        if self.n_objects is not None:
            check_count(self.n_objects, name="n_objects")

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:
        """Try all candidates out, choose one and fit it; see :meth:`Measure.fit`."""
        self.check_parameters()
        labels = check_label_matrix(Y)
        if outputs is None:
            raise ValueError("AutoMeasure compares regions: pass outputs, those for the examples of Y, got None.")
        given = check_outputs(outputs, n_labels=labels.shape[1])
        check_same_length(given, labels, names=("outputs", "Y"))
        if len(labels) < 2:
            raise ValueError(f"AutoMeasure needs at least 2 training examples to choose by, got {len(labels)}.")
        trial = self._make_trial(labels, given, X)
        self.choice_ = choose(self._check_candidates(labels.shape[1]), trial)
        self.measure_ = trial.fit(self.choice_.measure, np.arange(len(labels)))
        self.n_labels_ = self.measure_.n_labels_
        self.bound_ = self.measure_.bound_
        self.exponent_ = self.measure_.exponent_
        return self

    def restrict(self, labels: IntArray) -> Self:
        """Return the chosen measure for some of the labels alone; see :meth:`Measure.restrict`."""
        part = copy(self)
        part.measure_ = self.measure_.restrict(labels)
        part.n_labels_ = len(labels)
        return part

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        return self.measure_._energy(outputs, X, exponent)

    def _check_candidates(self, n_labels: int) -> tuple[Measure, ...]:
        if self.candidates is None:
            return tuple(default_candidates(n_labels))
        listed = tuple(self.candidates) if isinstance(self.candidates, Sequence) else ()
        wrong = [one for one in listed if not isinstance(one, Measure)]
        if not listed or wrong:
            got = wrong[0] if wrong else self.candidates
            raise ValueError(
                "candidates must be a list of at least one measure such as labelsure.measures.PowerMeasure(),"
                f" or None for the usual ones, got {got!r}."
            )
        return listed

    def _levels(self) -> list[Fraction]:
        if isinstance(self.significance, Real):
            return [check_significance(self.significance)]
        if not isinstance(self.significance, Sequence | np.ndarray) or not len(self.significance):
            raise ValueError(
                f"significance must be a level such as 0.1 or a list of levels, got {self.significance!r}."
            )
        return [check_significance(level) for level in self.significance]

    def _make_trial(self, labels: LabelMatrix, outputs: FloatArray, X: MatrixLike) -> Trial:
        from sklearn.model_selection import KFold

        # an int goes to the candidates as it is: then naming the one chosen gives the same result
        state = self.random_state
        seed = int(state) if isinstance(state, Integral) else draw_seeds(state, 1)[0]
        n_objects = min(N_OBJECTS if self.n_objects is None else self.n_objects, len(labels))
        folds = list(KFold(min(self.n_folds, len(labels)), shuffle=True, random_state=seed).split(labels))
        # as many of each part: its examples have their outputs from one model or two, and favour what suits those
        rng = np.random.RandomState(seed)
        spread = np.concatenate([rng.permutation(rows) for _, rows in folds])
        objects = np.zeros(len(labels), dtype=bool)
        objects[spread[np.arange(n_objects) * len(labels) // n_objects]] = True
        return Trial(labels, outputs, X, folds, objects, self._levels(), seed)


def choose(candidates: Sequence[Measure], trial: Trial) -> MeasureChoice:
    """Return which candidate makes the smallest regions in a trial, or say why none can be used."""
    logarithmic = trial.labels.shape[1] > MANY_LABELS
    sizes = np.full((len(candidates), len(trial.levels)), np.nan)
    skipped = {}
    for c, candidate in enumerate(candidates):
        try:
            bits = trial.region_bits(candidate)
        except (ValueError, TypeError) as error:  # objects that it cannot read, a singular matrix, too large a weight
            skipped[c] = str(error)
            continue
        sizes[c] = bits.mean(axis=0) if logarithmic else np.exp2(bits).mean(axis=0)
    if len(skipped) == len(candidates):
        reasons = " ".join(f"{candidates[c]!r}: {why}" for c, why in skipped.items())
        raise ValueError(f"None of the candidates can be used. {reasons}")
    losses = (sizes if logarithmic else np.log2(sizes)).mean(axis=1)
    close = np.flatnonzero(losses <= np.nanmin(losses) + CLOSE_BITS)
    return MeasureChoice(
        candidates=tuple(candidates),
        chosen=int(close[0]),
        significance=tuple(float(level) for level in trial.levels),
        sizes=sizes,
        losses=losses,
        logarithmic=logarithmic,
        skipped=skipped,
        n_objects=int(trial.objects.sum()),
        n_examples=len(trial.labels),
    )

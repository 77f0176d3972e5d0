"""The default measure, and the one that chooses among others by the data at hand."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure._checks import (
    FloatArray,
    LabelMatrix,
    MatrixLike,
    check_count,
    check_significance,
    is_list,
    is_whole,
)
from labelsure._random import draw_seeds
from labelsure.measures._base import Measure
from labelsure.measures._choice import MeasureChoice
from labelsure.measures._errors import PowerMeasure
from labelsure.measures._need import Need
from labelsure.measures._posterior import USUAL, PosteriorMeasure
from labelsure.measures._registry import MANY_LABELS, make_measures

CANDIDATES = (
    "small-posterior-forest",
    "posterior",
    "log-loss:0.01+unseen:1",
    "log-loss:0.01+prior:1",
)
"""In order of preference, where it makes little difference. Of up to 14 tried out, with penalties,
priors, distances and forests, one of these four had the smallest regions over the three levels, or
was within 0.06 bits of them, on the training parts of emotions, scene, yeast, birds, medical and
enron with logistic regression and with extremely randomised trees. A signed distance with a Hamming
penalty is left out on purpose: with 1100 training examples of yeast its regions are a quarter to
two fifths as large at 95 % confidence, where most of what is missed are labelsets never seen, but a
third larger at 90 %, and parts of a training part are smaller still: it would be chosen for the
wrong reason."""

N_OBJECTS = 60
"""Regions that are measured per candidate, unless told otherwise."""


def default_measure(known: Need) -> Measure:
    """Return the default measure: minus the log posterior, as far as it is known.

    Parameters
    ----------
    known : Need
        What is known of training parts. With out-of-fold outputs the posterior's parameters are
        learned from them, with labels alone they are usual ones, and with neither the measure is
        the paper's.

    Examples
    --------
    >>> from labelsure.measures import Need
    >>> from labelsure.measures._auto import default_measure
    >>> default_measure(Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS)
    PosteriorMeasure()
    >>> default_measure(Need.TRAINING_LABELS)
    PosteriorMeasure(intercepts=0.0, marginals_share=0.7, prior_exponent=0.7,
                     temperature=1.0)
    >>> default_measure(Need.NOTHING)
    PowerMeasure()
    """
    if Need.TRAINING_LABELS not in known:
        return PowerMeasure()
    if Need.OUT_OF_FOLD_OUTPUTS in known:
        return PosteriorMeasure()
    exponent, share, slope, intercept = USUAL
    return PosteriorMeasure(
        prior_exponent=exponent, marginals_share=share, temperature=1 / slope, intercepts=intercept
    )


def default_candidates(n_labels: int) -> list[Measure]:
    """Return the unfitted measures that :class:`AutoMeasure` compares unless told otherwise.

    Parameters
    ----------
    n_labels : int
        The number of labels: with many, some measures take too long.

    Examples
    --------
    >>> from labelsure.measures import default_candidates
    >>> default_candidates(6)[0]
    ForestMeasure(base=PosteriorMeasure(), n_estimators=25)
    """
    n_labels = check_count(n_labels, name="n_labels")
    return make_measures(CANDIDATES if n_labels <= MANY_LABELS else CANDIDATES[1:])


@dataclass(eq=False, repr=False)
class AutoMeasure(Measure):
    """Of some candidates the measure with the smallest regions on each fold's training part.

    ``measure="auto"`` stands for ``AutoMeasure()``. The outputs for a fold's training part are made
    by models that had not seen the example. The training part is cut into ``n_folds`` parts; each
    candidate m is fitted on the others' labels and outputs and scores the part. With all these
    scores as calibration, the regions of ``n_objects`` training examples x_i are measured, and the
    candidate with the smallest ::

        loss(m) = mean over eps of log2(mean over i of max(|region_eps(x_i)|, 1))

    is fitted on the whole training part; of losses within 0.05 of the smallest, which count as
    equal, the earliest candidate's counts, so that folds agree more often. With more than 20 labels
    sizes are compared by their logarithms,
    ``mean over eps and i of log2(max(|region_eps(x_i)|, 1))``, because a few giant regions would
    decide over a mean; they are then estimated where they cannot be counted soon.

    Under constraints, regions hold what these allow; not where ``on_violation="drop"`` gives
    calibration examples a say in what is allowed. Nothing of the calibration part is looked at, so
    a chosen measure is as valid as one named beforehand [2]_. Folds may choose differently. Five
    folds or more are put into five groups for their out-of-fold outputs; the folds of a group
    choose once, by the examples outside the group, all of which train each of them.

    Parameters
    ----------
    candidates : list of Measure or None, default=None
        What to choose from, in order of preference; all are fitted on the out-of-fold outputs.
        Those that cannot be used, because they need objects and only outputs are known or because
        their ``fit`` fails, are left out, and the report says why. None: the posterior, up to 20
        labels mixed with the leaves of a small forest too, and log loss (floor 0.01) with a penalty
        for unseen labelsets or a labelset prior; :func:`default_candidates` lists them.
    significance : float or sequence of float, default=(0.05, 0.1, 0.2)
        The levels at which regions should be small. Several make the choice steadier than one:
        where few examples lie above a threshold, it is a matter of luck.
    n_folds : int, default=3
        The parts that candidates are tried out on; at least 2.
    n_objects : int or None, default=None
        How many training examples' regions are measured, drawn at random, as many from each part,
        the same for all candidates; None: 60.
    random_state : int, RandomState or None, default=None
        For the parts, the draw of the examples, and every ``random_state`` in the candidates that
        is None. Where it is None, conformal classifiers derive it from their own.

    Notes
    -----
    Pass it to a predictor as ``measure=``, not as a part of a sum: only a predictor can say how
    large regions are. The predictor keeps the measures chosen, and its ``measure_choices_`` says
    why; ``print`` them.

    It takes five more fits of the classifier in all with five folds or more, as every measure that
    learns from out-of-fold outputs does, and ``n_folds`` fits of each candidate for every choice;
    what candidates have in common is fitted once. Folds choose by the training examples that have
    such outputs, two thirds of them with ten folds. Ready-made outputs
    (:func:`~labelsure.calibrate_outputs`, ``prefit=True``) work where ``training_labels`` and
    ``training_outputs`` are given. Outputs for examples that the model knows by heart are allowed,
    but lead to a poor choice.

    One measure is chosen for all levels: then a labelset has one p-value, and regions are nested.
    Choosing for each level would hardly pay: on the training parts of emotions, scene, yeast,
    birds, medical and enron, with logistic regression and with extremely randomised trees, the
    candidate that is best on the whole is within 3 % of the best at each of the three levels in 11
    of 12 cases. In the other one, medical with logistic regression, another one's regions are a
    quarter smaller at 90 %: pass ``significance=0.1`` where only that level matters.

    References
    ----------
    .. [1] Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions.
       Journal of the Royal Statistical Society B 36(2), 111-147.
    .. [2] Yang, Y., Kuchibhotla, A. K. (2025). Selection and aggregation of conformal prediction
       sets. Journal of the American Statistical Association 120, 435-447.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> from labelsure.measures import AutoMeasure, LogLossMeasure, PowerMeasure
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> auto = AutoMeasure([LogLossMeasure(), PowerMeasure()], significance=0.1)
    >>> model = CrossConformalClassifier(MLkNNClassifier(), measure=auto, cv=3, random_state=0)
    >>> model = model.fit(X, Y)
    >>> print(model.measure_choices_[0])
    LogLossMeasure() chosen from 2 candidates: the earliest within 0.05 bits of the smallest
    regions.
    Mean sizes of the regions of 60 of 80 training examples, by significance:
    rank  0.1 bits
       1 5.65 2.50 * LogLossMeasure()
       2 5.72 2.52   PowerMeasure()
    """

    candidates: Sequence[Measure] | None = None
    _: KW_ONLY
    significance: float | Sequence[float] = (0.05, 0.1, 0.2)
    n_folds: int = 3
    n_objects: int | None = None
    random_state: Any = None

    needs = Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS
    """On examples that a model has seen, all measures look better than they are, some more than
    others. Candidates that need objects are left out where there are none."""

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where parameters make no sense, before anything is fitted."""
        self.alternatives(1)
        self.levels()
        check_count(self.n_folds, name="n_folds", at_least=2)
        if self.n_objects is not None:
            check_count(self.n_objects, name="n_objects")

    def alternatives(self, n_labels: int) -> tuple[Measure, ...]:
        """Return what there is to choose from."""
        if self.candidates is None:
            return tuple(default_candidates(n_labels))
        listed = tuple(self.candidates) if isinstance(self.candidates, Sequence) else ()
        wrong = [one for one in listed if not isinstance(one, Measure)]
        if not listed or wrong:
            got = wrong[0] if wrong else self.candidates
            raise ValueError(
                "candidates must be a list of at least one measure such as"
                f" labelsure.measures.PowerMeasure(), or None for the usual ones, got {got!r}."
            )
        return listed

    def levels(self) -> list[Fraction]:
        """Return the significance levels at which regions are measured."""
        asked = self.significance
        levels = list(asked) if is_list(asked) else [] if asked is None else [asked]
        if not levels:
            raise ValueError(
                f"significance must be a level such as 0.1 or a list of levels, got {asked!r}."
            )
        return [check_significance(level) for level in levels]

    def parts(self) -> list[Measure]:
        """Raise ValueError: it cannot be added to other measures."""
        raise ValueError(
            f"{self!r} chooses one measure for a predictor, so it cannot be part of a sum. Put the"
            " sums among its candidates."
        )

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        raise ValueError(
            f"{self!r} is fitted by predictors, which try its candidates out: pass it as measure=."
        )

    @property
    def seed(self) -> int:
        """The seed of a choice; an int is kept, so passing the chosen measure changes nothing."""
        state = self.random_state
        return int(state) if is_whole(state) else draw_seeds(state, 1)[0]

    def count_objects(self, n_examples: int) -> int:
        """Return how many of the training examples' regions are measured."""
        return min(N_OBJECTS if self.n_objects is None else self.n_objects, n_examples)

    def choose(
        self, n_labels: int, n_examples: int, region_bits: Callable[[Measure], FloatArray]
    ) -> MeasureChoice:
        """Return which candidate makes the smallest regions, or say why none can be used.

        Parameters
        ----------
        n_labels, n_examples : int
            The number of labels and of training examples.
        region_bits : callable
            Fits a measure on some of the training examples and calibrates it with others, and
            returns log2 of the sizes of regions, of shape (n_objects, n_levels).
        """
        candidates, levels = self.alternatives(n_labels), self.levels()
        logarithmic = n_labels > MANY_LABELS
        sizes = np.full((len(candidates), len(levels)), np.nan)
        skipped = {}
        for c, candidate in enumerate(candidates):
            try:
                bits = region_bits(candidate)
            except (ValueError, TypeError) as error:  # it needs objects, or its fit fails
                skipped[c] = str(error)
                continue
            sizes[c] = bits.mean(axis=0) if logarithmic else np.exp2(bits).mean(axis=0)
        return MeasureChoice(
            candidates,
            sizes,
            significance=tuple(float(level) for level in levels),
            n_objects=self.count_objects(n_examples),
            n_examples=n_examples,
            logarithmic=logarithmic,
            skipped=skipped,
        )

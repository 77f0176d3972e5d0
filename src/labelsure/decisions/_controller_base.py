"""What controllers of recall, precision and cover share: a classifier inside, a part held out or folds."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from labelsure._checks import (
    BoolArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_choice,
    read_labels,
    split_unknown,
)
from labelsure._random import DRAW_UNIT, MERGING, draw_seeds, draw_uniforms, object_keys
from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._incomplete import Known
from labelsure.conformal._models import FoldModel, fit_models, outputs_of_models
from labelsure.conformal._splits import Split, hold_out, make_splits
from labelsure.decisions._risk_control import check_probability
from labelsure.decisions._unknown import add_assumption, check_some_known

MERGES = ("random", "any")
"""How folds are merged, the default first."""

FOLDS = "for exchangeable examples and folds that were not chosen by their labels"
EACH = "conformal risk control in each of {K} folds: Angelopoulos, Bates, Fisch, Lei, Schuster 2024"
DRAWS = "on average over the draws, one per object and the same for equal objects"
CONDITIONS = {
    "random": f"{FOLDS}, {DRAWS} ({EACH}; labels kept by votes and draws)",
    "any": f"{FOLDS} ({EACH}; labels that any of them predicts)",
}


def merge_votes(predicted: Sequence[IntArray], merge: str, draws: Any) -> IntArray:
    """Return the labels that enough folds predict, (n, q).

    Parameters
    ----------
    predicted : sequence of K int arrays of shape (n, q)
        Zeros and ones, one array per fold.
    merge : str
        How many are enough.
    draws : int array of shape (n,) or None
        From 1 to ``DRAW_UNIT``, one per object; for "random".

    Examples
    --------
    >>> folds = [np.array([[1, 1, 0]]), np.array([[1, 0, 0]])]
    >>> merge_votes(folds, "any", None).tolist(), merge_votes(folds, "random", np.array([DRAW_UNIT])).tolist()
    ([[1, 1, 0]], [[1, 0, 0]])
    """
    n_folds = len(predicted)
    votes = np.sum(predicted, axis=0)
    if merge == "random":
        # u - 1 = 0 .. DRAW_UNIT - 1 is below votes / K with a probability of at least votes / K,
        # never of less
        enough: Any = votes * DRAW_UNIT > n_folds * (draws[:, None] - 1)
    else:
        enough = votes > 0
    return np.asarray(enough).astype(np.int64)


@dataclass(eq=False, repr=False)  # scikit-learn compares and prints
class Controller(WrappingClassifier):
    """Base of classifiers that predict sets of labels with a promise about them.

    The fitted state is ``models_`` and ``predictors_``, one of each per fold: outputs in, labels
    out.
    """

    estimator: Any = None
    _: KW_ONLY
    target: float = 0.9
    calibration_size: float | int = 0.3
    prefit: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    memory: Any = None

    _learned_last = "statement_"
    _fallback = "all labels are predicted"
    _claim = ""
    _uses_unknown = True

    @abstractmethod
    def _check_parameters(self) -> Fraction:
        """Return the target, or raise ValueError where a parameter makes no sense."""

    @abstractmethod
    def _calibrate(self, outputs: Any, Y: Any) -> Any:
        """Return the predictor for these calibration examples."""

    @property
    def _folds(self) -> tuple[Any, str]:
        """The folds asked for, None for a part held out, and how they are merged."""
        return getattr(self, "cv", None), getattr(self, "merge", MERGES[0])

    def fit(
        self, X: MatrixLike, y: LabelMatrixLike, *, label_names: Sequence[str] | None = None
    ) -> Self:
        """Fit the classifier, and calibrate with examples that it has not seen.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects; with ``prefit``, the calibration objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; for recall and precision NaN where a label is not known.
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        """
        target = self._check_parameters()
        filled, missing = split_unknown(y)
        X, Y = self._check_fit(X, filled, label_names, prefit=self.prefit)
        unknown = None if missing is None else self._check_unknown(missing, label_names)
        split_seed, model_seed, self.draw_seed_ = draw_seeds(self.random_state, 3)
        splits = self._splits(X, Y, split_seed)
        if self.prefit:
            (outputs,) = outputs_of_models([self.estimator], X, self.n_labels_, n_jobs=None)
            models = [FoldModel(self.estimator, outputs)]
        else:
            known = Known.of(unknown, self.estimator)
            labels, parts = (Y, splits) if known is None else (known.mark(Y), known.trains(splits))
            seeds = draw_seeds(model_seed, len(parts))
            given: dict[str, Any] = {"n_jobs": self.n_jobs, "memory": self.memory}
            models = fit_models(self.estimator, X, labels, parts, seeds=seeds, needs=[], **given)
        self.models_ = [fold.model for fold in models]
        self.fold_indices_ = [split.calibration for split in splits]
        self._learn(models, Y, unknown, target)
        return self

    def predict(self, X: MatrixLike) -> Any:
        """Return the labels of new objects.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.n_jobs)
        predicted = [
            part.predict(table) for part, table in zip(self.predictors_, outputs, strict=True)
        ]
        if len(predicted) == 1:
            return self._put_out(np.asarray(predicted[0]), X)
        draws = (
            draw_uniforms(self.draw_seed_, MERGING, object_keys(X))
            if self.merge_ == "random"
            else None
        )
        return self._put_out(merge_votes(predicted, self.merge_, draws), X)

    def _promise(self) -> str:
        return str(self.statement_)

    def _splits(self, X: MatrixLike, Y: LabelMatrix, seed: int) -> list[Split]:
        """Return what trains and what calibrates, or raise ValueError before anything is fitted."""
        cv, merge = self._folds
        check_choice(merge, MERGES, name="merge")
        if self.prefit and cv is not None:
            raise ValueError(
                "cv goes without prefit=True: a model that is fitted already has no folds."
            )
        if self.prefit:
            return [Split(np.empty(0, dtype=np.int64), np.arange(len(Y)))]
        if cv is None:
            train, calibration = hold_out(self.calibration_size, len(Y), seed)
            # in random order: bounds that bet on one example after the other must not meet them
            # sorted by their labels
            return [Split(train, check_random_state(seed).permutation(calibration))]
        return make_splits(cv, X, Y, seed)

    def _check_unknown(self, missing: Any, label_names: Sequence[str] | None) -> BoolArray:
        """Return where labels are unknown, or raise ValueError where that cannot be used."""
        if not self._uses_unknown:
            raise ValueError(
                "y must hold only 0 and 1, got nan: whether all true labels are covered is not"
                " known where some are"
                " not. Leave out examples with NaN, or use RecallController, which can use them."
            )
        unknown: BoolArray = read_labels(missing, label_names, name="y")[0].astype(bool)
        check_some_known(unknown, name="y")
        return unknown

    def _learn(
        self,
        models: Sequence[FoldModel],
        Y: LabelMatrix,
        unknown: BoolArray | None,
        target: Fraction,
    ) -> None:
        """Calibrate each fold, and say what is proven."""
        labels = Y if unknown is None else np.where(unknown, np.nan, Y)
        parts = zip(models, self.fold_indices_, strict=True)
        self.predictors_ = [self._calibrate(fold.outputs, labels[rows]) for fold, rows in parts]
        _, self.merge_ = self._folds
        n_folds, size = len(self.predictors_), len(self.fold_indices_[0])
        self.reached_ = all(predictor.reached for predictor in self.predictors_)
        if not self.reached_:
            warnings.warn(
                f"The calibration examples, {size} of them{' in a fold' if n_folds > 1 else ''},"
                f" do not show"
                f" target={float(target):g}. Where that is so {self._fallback}. Calibrate with"
                f" more, or ask for less.",
                stacklevel=3,
            )
        if n_folds == 1:
            self.statement_ = self.predictors_[0].statement
        else:
            claim = self._claim.format(target=float(target))
            conditions = CONDITIONS[self.merge_].format(K=n_folds)
            self.statement_ = add_assumption(f"{claim}, {conditions}.", unknown)


def check_target(value: Any) -> Fraction:
    """Return the target of a controller as an exact fraction."""
    return check_probability(value, name="target", example="For 90 % pass target=0.9.")

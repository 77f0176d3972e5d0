"""The outputs of a learner's models on a resplit: fitted once, used by all measures and guarantees."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed

from labelsure._core.randomness import draw_seeds
from labelsure._core.running import one_thread
from labelsure._core.types import FloatArray, IntArray
from labelsure.cli._compare_data import Resplit
from labelsure.cli._compare_words import INDUCTIVE
from labelsure.conformal import InductiveConformalClassifier
from labelsure.conformal._fitting import INNER_FOLDS, out_of_fold_outputs
from labelsure.conformal._guarantees import check_guarantee
from labelsure.conformal._inside import copy_inside, fit_inside
from labelsure.conformal._parallel import fit_in_parallel
from labelsure.conformal._splits import Split, hold_out, make_splits
from labelsure.estimators import outputs_of
from labelsure.measures import Need


@dataclass(frozen=True, eq=False)
class FoldOutputs:
    """What one fold's model says.

    Attributes
    ----------
    train, calibration : int64 arrays
        The rows of the resplit's training part that train and calibrate the fold.
    training, out_of_fold : arrays of shape (n_train, q) or None
        Outputs for the examples that trained it: its own, and those of models that had not seen them.
    held_out : array of shape (n_calibration, q)
        For the examples that calibrate.
    new : array of shape (n_test, q)
        For the test objects.
    seed : int
        Of the fold, for everything drawn in it.
    seconds, out_of_fold_seconds : float
        What the model and its outputs took the processor, and what those of the other models did.
    """

    train: IntArray
    calibration: IntArray
    training: FloatArray | None
    out_of_fold: FloatArray | None
    held_out: FloatArray
    new: FloatArray
    seed: int
    seconds: float
    out_of_fold_seconds: float


@dataclass(frozen=True)
class Splitting:
    """How a predictor splits what it is fitted on.

    Attributes
    ----------
    n_folds : int
        One: an inductive predictor.
    equal : bool
        Whether the folds must have one size, the examples left over only training.
    """

    n_folds: int
    equal: bool = False

    @classmethod
    def of(cls, guarantee: str, *, n_folds: int, n_examples: int) -> "Splitting":
        """Return how the predictor with a guarantee splits; guarantees with the same splits share models."""
        if guarantee == INDUCTIVE:
            return cls(1)
        return cls(n_folds, equal=check_guarantee(guarantee).equal_folds and n_examples % n_folds > 0)

    def splits(self, resplit: Resplit, seed: int) -> list[Split]:
        """Return the rows that train and those that calibrate, fold by fold."""
        if self.n_folds == 1:
            return [hold_out(InductiveConformalClassifier().calibration_size, len(resplit.Y_train), seed)]
        return make_splits(self.n_folds, resplit.X_train, resplit.Y_train, seed, equal=self.equal)


def fold_outputs(
    learner: Any, resplit: Resplit, *, splitting: Splitting, needs: Collection[Need], seed: int, n_jobs: int
) -> list[FoldOutputs]:
    """Return the outputs of all models of a conformal predictor, the same as those inside of it.

    The predictor is ``CrossConformalClassifier(learner, cv=n_folds, guarantee=..., random_state=seed)``, or
    ``InductiveConformalClassifier(learner, random_state=seed)``.

    Parameters
    ----------
    learner : classifier
        Unfitted.
    splitting : Splitting
        How it splits the training part.
    needs : collection of Need
        What each of the measures needs.
    n_jobs : int
        Processes to work with.
    """
    split_seed, *seeds = draw_seeds(seed, 1 + len(resplit.Y_train))
    splits = splitting.splits(resplit, split_seed)
    jobs = (delayed(_fit)(learner, resplit, split, s, needs) for split, s in zip(splits, seeds, strict=False))
    return fit_in_parallel(jobs, n_folds=len(splits), n_jobs=min(effective_n_jobs(n_jobs), len(splits)))


def _fit(learner: Any, resplit: Resplit, split: Split, seed: int, needs: Collection[Need]) -> FoldOutputs:
    """Fit one fold's model and ask it for all outputs, as :func:`labelsure.conformal._fitting.fit_fold` does."""
    start = time.process_time()  # of this process alone, in which nothing else runs
    train, calibration = split
    X, Y = resplit.X_train, resplit.Y_train
    X_train, n_labels = _safe_indexing(X, train), Y.shape[1]
    estimator = copy_inside(learner, seed)
    out_of_fold = None
    with one_thread():
        model = fit_inside(estimator, X_train, Y[train])
        own = any(Need.TRAINING_OUTPUTS in need and Need.OUT_OF_FOLD_OUTPUTS not in need for need in needs)
        training = outputs_of(model, X_train, n_labels) if own else None
        held_out = outputs_of(model, _safe_indexing(X, calibration), n_labels)
        new = outputs_of(model, resplit.X_test, n_labels)
        between = time.process_time()
        if any(Need.OUT_OF_FOLD_OUTPUTS in need for need in needs):
            out_of_fold = out_of_fold_outputs(estimator, X_train, Y[train], n_folds=INNER_FOLDS, seed=seed)
    seconds = between - start, time.process_time() - between
    return FoldOutputs(train, calibration, training, out_of_fold, held_out, new, seed, *seconds)

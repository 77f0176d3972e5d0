"""Stage one: fit a classifier on the training part of every split, and compute its outputs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed

from labelsure._checks import (
    BoolArray,
    FloatArray,
    MatrixLike,
    check_flag,
)
from labelsure._parallel import count_threads, one_thread, progress_bar, run_jobs
from labelsure._random import draw_seeds, set_missing_seeds
from labelsure.conformal._memory import run_kept
from labelsure.conformal._sharing import N_MODELS, SharedModels, share_models
from labelsure.conformal._splits import Split, make_splits
from labelsure.conformal._training_data import TrainingData
from labelsure.learners import FittedBase, fit_base, outputs_of
from labelsure.learners._adapter import (
    LearnsFromFolds,
    fit_known,
    fitted_on_all,
    learns_from_folds,
)
from labelsure.learners._tables import resolve_learner
from labelsure.measures import Need
from labelsure.measures._base import rows_with_outputs

EXPECTED = (
    "estimator must be a classifier for several labels with predict_proba or decision_function,"
    " such as RandomForestClassifier() or OneVsRestClassifier(LogisticRegression())"
)

FITTING = "fitting folds"

INNER_FOLDS = 3
"""Models that give a training part its out-of-fold outputs where folds share none: with five, three
folds would take longer than four, whose models are shared."""


class FoldModel(NamedTuple):
    """A fold's fitted classifier, and the outputs with which its measure is fitted and calibrated.

    Attributes
    ----------
    model : FittedBase
        The classifier.
    outputs : array of shape (m, q)
        For the fold's calibration examples.
    training_outputs : array of shape (n, q) or None
        For its training examples, where they are needed.
    out_of_fold_outputs : array of shape (n, q) or None
        The same from models that had not seen the example; rows of NaN where there is none.
    shared : SharedModels or None
        The models that other folds use too, where they had a part in it.
    """

    model: FittedBase
    outputs: FloatArray
    training_outputs: FloatArray | None = None
    out_of_fold_outputs: FloatArray | None = None
    shared: SharedModels | None = None


def check_estimator(estimator: Any, *, prefit: bool = False) -> None:
    """Raise ValueError before anything is fitted where the estimator is no classifier.

    Parameters
    ----------
    estimator : object
        What the user passed; None stands for the default.
    prefit : bool
        Whether it is fitted already: then it need not be a scikit-learn estimator as long as it has
        outputs.
    """
    if not check_flag(prefit, name="prefit") and estimator is None:
        return
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"{EXPECTED}, got the class {name}. Pass an instance of it: {name}().")
    kind = getattr(tags_of(estimator), "estimator_type", None)
    if kind not in (None, "classifier"):
        raise ValueError(f"{EXPECTED}, got {estimator!r} (estimator_type: {kind}).")
    if prefit and not (
        hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")
    ):
        raise ValueError(f"{EXPECTED}, fitted already because of prefit=True, got {estimator!r}.")
    if not prefit and not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"{EXPECTED}, got {estimator!r}.")


def tags_of(estimator: Any) -> Any:
    """Return the scikit-learn tags of the classifier inside, None where it has none."""
    learner = resolve_learner(estimator)
    if not hasattr(learner, "__sklearn_tags__") or isinstance(learner, type):
        return None
    tags = get_tags(learner)
    if estimator is None:  # it fills gaps, which the tags of a Pipeline do not say
        tags.input_tags.allow_nan = True
    return tags


def fit_models(
    estimator: Any,
    data: TrainingData,
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    needs: Need = Need.NOTHING,
    n_jobs: int | None,
    fitted: Sequence[Any] | None = None,
    trainable: BoolArray | None = None,
    memory: Any = None,
) -> list[FoldModel]:
    """Fit a copy of the classifier on each training part and compute its outputs.

    Parameters
    ----------
    estimator : classifier or None
        Unfitted; None is the default.
    data : TrainingData
        All examples.
    splits : sequence of Split
        Which of them train and which calibrate.
    seeds : sequence of int
        One for each split, wherever the user left a random_state at None.
    needs : Need
        What the measure needs to know of training parts.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    fitted : sequence of classifiers or None
        Models that are fitted already, one for each split: they are only asked.
    trainable : bool array of shape (n,) or None
        Which examples the classifier can learn from; None: all.
    memory : str, path, joblib.Memory or None
        A folder that keeps what is finished, for a later call with the same arguments.
    """
    _check_weights(data, splits)
    honest = Need.OUT_OF_FOLD_OUTPUTS in needs
    pooled = learns_from_folds(estimator)
    group_seed, *shared_seeds = draw_seeds(seeds[0], 1 + N_MODELS)
    shared = None
    if fitted is None and (honest or pooled):
        usable = np.ones(len(data.Y), dtype=bool) if trainable is None else trainable
        shared = share_models(splits, usable, data.groups, seed=group_seed)
    require = None if fitted is None else "sharedmem"
    jobs: list[Any]
    if shared is not None and pooled:
        jobs = [
            delayed(_fit_members)(estimator, data, split, seed=seed)
            for seed, split in zip(seeds, splits, strict=True)
        ]
    else:
        models = [None] * len(splits) if fitted is None else fitted
        known = {"needs": needs, "shared": shared is not None}
        jobs = [
            delayed(_fit_fold)(estimator, data, split, model, seed=seed, **known)
            for seed, split, model in zip(seeds, splits, models, strict=True)
        ]
    if shared is not None:
        for model, seed in enumerate(shared_seeds[: shared.n_models]):
            jobs.append(delayed(_fit_shared)(estimator, data, shared.split(model), seed=seed))
    if memory is None or fitted is not None:
        done = run_jobs(jobs, n_jobs=n_jobs, description=FITTING, total=len(jobs), require=require)
    else:
        done = run_kept(jobs, memory, n_jobs=n_jobs, description=FITTING)
    if shared is None:
        return done
    answers = done[len(splits) :]
    out_of_fold = [shared.gather(split, answers) for split in splits]
    folds = list(zip(done[: len(splits)], splits, out_of_fold, strict=True))
    if pooled:
        folds = progress_bar(folds, description="finishing folds")
        finished = [_finish_pool(pool, data, split, logits, needs) for pool, split, logits in folds]
    else:
        finished = [fold._replace(out_of_fold_outputs=outputs) for fold, _, outputs in folds]
    return [fold._replace(shared=shared) for fold in finished]


def _check_weights(data: TrainingData, splits: Sequence[Split]) -> None:
    """Raise ValueError where all examples that train a model have the weight 0."""
    if data.sample_weight is None:
        return
    weights = np.asarray(data.sample_weight)
    for k, split in enumerate(splits):
        if not weights[split.train].any():
            raise ValueError(
                f"sample_weight must not be 0 for all training examples of a fold, as of fold {k}."
            )


def _fit_fold(
    estimator: Any,
    data: TrainingData,
    split: Split,
    model: Any,
    *,
    needs: Need,
    seed: int,
    shared: bool,
) -> FoldModel:
    """Return a fold's model with its outputs; out-of-fold ones unless shared models give them."""
    # a model that was trained elsewhere may be calibrated with all there is, whatever kind of table
    # that may be: nothing is taken from it
    trained_on = data.take(split.train) if len(split.train) else TrainingData(None, data.Y[:0])
    with one_thread():
        if model is None:
            model = fit_model(estimator, trained_on, seed=seed)
        fold = _ask(model, trained_on, data, split, needs)
        if shared or Need.OUT_OF_FOLD_OUTPUTS not in needs:
            return fold
        # a pool has them already, and nobody needs them again
        outputs = getattr(model.estimator, "__dict__", {}).pop("out_of_fold_outputs_", None)
        if outputs is None:
            outputs = out_of_fold_outputs(estimator, trained_on, seed=seed)
    return fold._replace(out_of_fold_outputs=outputs)


def _ask(
    model: Any, trained_on: TrainingData, data: TrainingData, split: Split, needs: Need
) -> FoldModel:
    """Return a fitted model with its outputs for calibration and, where needed, for training."""
    n_examples, n_labels = data.Y.shape
    everything = len(split.calibration) == n_examples
    calibrating = data.X if everything else _safe_indexing(data.X, split.calibration)
    outputs = outputs_of(model, calibrating, n_labels)
    if Need.TRAINING_OUTPUTS not in needs or Need.OUT_OF_FOLD_OUTPUTS in needs:
        return FoldModel(model, outputs)
    return FoldModel(model, outputs, outputs_of(model, trained_on.X, n_labels))


def _fit_shared(estimator: Any, data: TrainingData, split: Split, *, seed: int) -> FloatArray:
    """Return what a shared model says about the examples that it left out.

    Of a pool these are the logits of its members, (m, q, M), else outputs, (m, q).
    """
    left_out = _safe_indexing(data.X, split.calibration)
    with one_thread():
        if learns_from_folds(estimator):
            return _fit_members(estimator, data, split, seed=seed).member_outputs(left_out)
        model = fit_model(estimator, data.take(split.train), seed=seed)
        return outputs_of(model, left_out, data.Y.shape[1])


def _fit_members(
    estimator: LearnsFromFolds, data: TrainingData, split: Split, *, seed: int
) -> LearnsFromFolds:
    """Return a pool with members fitted on a training part, whose weights are to be learned."""
    trained_on = data.take(split.train)
    with one_thread():
        pool: LearnsFromFolds = _seeded_copy(estimator, seed)
        return pool.fit_members(trained_on.X, trained_on.Y, **trained_on.params)


def _finish_pool(
    pool: LearnsFromFolds, data: TrainingData, split: Split, logits: FloatArray, needs: Need
) -> FoldModel:
    """Return the fold whose pool learns its weights from the logits of shared models."""
    trained_on = data.take(split.train)
    known = rows_with_outputs(logits)
    weights = trained_on.sample_weight
    weights = None if weights is None else np.asarray(weights)[known]
    pool.learn_weights(logits[known], trained_on.Y[known], weights)
    outputs = np.full(trained_on.Y.shape, np.nan)
    outputs[known] = vars(pool).pop("out_of_fold_outputs_")  # nobody needs them again
    model = fitted_on_all(pool, data.Y.shape[1])
    with one_thread():
        fold = _ask(model, trained_on, data, split, needs)
    return fold._replace(out_of_fold_outputs=outputs)


def out_of_fold_outputs(estimator: Any, data: TrainingData, *, seed: int) -> FloatArray:
    """Return outputs from models that were trained neither on the example nor on its group."""
    n_examples, n_labels = data.Y.shape
    if n_examples < 2:
        return np.full(data.Y.shape, 0.5)  # no other example tells anything about it
    outputs = np.full(data.Y.shape, np.nan)
    for split in _inner_splits(data, seed):
        model = fit_model(estimator, data.take(split.train), seed=seed)
        left_out = _safe_indexing(data.X, split.calibration)
        outputs[split.calibration] = outputs_of(model, left_out, n_labels)
    return outputs


def _inner_splits(data: TrainingData, seed: int) -> list[Split]:
    """Return the folds of a training part that give it out-of-fold outputs."""
    X = data.X
    Y = data.Y
    groups = data.groups
    if groups is None:
        return make_splits(min(INNER_FOLDS, len(Y)), X, Y, seed)
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise ValueError(
            "Out-of-fold outputs need at least 2 groups in every training part, got 1. Use fewer"
            " folds."
        )
    return make_splits(min(INNER_FOLDS, n_groups), X, Y, seed, groups=groups)


def _fit_pool_by_groups(pool: LearnsFromFolds, data: TrainingData, *, seed: int) -> LearnsFromFolds:
    """Fit a pool whose inner folds keep groups together; its own would tear them apart."""
    splits = _inner_splits(data, seed)
    answers = [_fit_shared(pool, data, split, seed=seed) for split in splits]
    logits = np.empty((len(data.Y), *answers[0].shape[1:]))
    for split, answer in zip(splits, answers, strict=True):
        logits[split.calibration] = answer
    pool = pool.fit_members(data.X, data.Y, **data.params)
    return pool.learn_weights(logits, data.Y, data.sample_weight)


def _seeded_copy(estimator: Any, seed: int) -> Any:
    copy = clone(resolve_learner(estimator))
    set_missing_seeds(copy, seed)  # in place: set_params of a FrozenEstimator returns nothing
    return copy


def fit_model(estimator: Any, data: TrainingData, *, seed: int) -> FittedBase:
    """Fit a copy of the classifier, the default for None.

    ``seed`` is used wherever the user left a random_state at None. Where the fit fails and the
    classifier seems to be for one label at a time, say what to do.
    """
    n_labels = data.Y.shape[1]
    copy = _seeded_copy(estimator, seed)
    if data.groups is not None and learns_from_folds(copy):
        return fitted_on_all(_fit_pool_by_groups(copy, data, seed=seed), n_labels)
    if data.unknown is not None:
        return fit_known(copy, data.X, data.Y, data.unknown, **data.params)
    try:
        return fit_base(copy, data.X, data.Y, **data.params)
    except ValueError as error:
        tags = tags_of(copy)
        known = tags is not None and tags.classifier_tags is not None
        if n_labels == 1 or (
            known and (tags.classifier_tags.multi_label or tags.target_tags.multi_output)
        ):
            raise
        raise ValueError(
            f"estimator could not be fitted on {n_labels} labels: {error} If it learns one label"
            f" at a time, wrap it: OneVsRestClassifier({type(copy).__name__}())."
        ) from error


def outputs_of_models(
    models: Sequence[Any], X: MatrixLike, n_labels: int, *, n_jobs: int | None
) -> list[FloatArray]:
    """Return each model's outputs for the same objects, asked for in threads."""
    asked = "outputs of the folds' models"
    if count_threads(n_jobs) == 1:  # joblib takes longer than many a model does for one object
        with one_thread():
            return [
                outputs_of(model, X, n_labels) for model in progress_bar(models, description=asked)
            ]
    jobs = (delayed(outputs_of)(model, X, n_labels) for model in models)
    return run_jobs(jobs, n_jobs=n_jobs, description=asked, total=len(models), require="sharedmem")

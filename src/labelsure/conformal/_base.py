"""What the conformal classifiers share: doors, names, tags, and the two stages."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_choice,
    check_gaps,
    check_label_matrix,
    check_same_length,
    n_rows,
    read_labels,
    row_index_of,
)
from labelsure.conformal._calibrator import Calibrator, calibrate, gather_examples
from labelsure.conformal._choices import Choices, check_choices
from labelsure.conformal._groups import sizes_of_groups
from labelsure.conformal._guarantees import check_guarantee
from labelsure.conformal._incomplete import GapsMixin, Known
from labelsure.conformal._metadata import NO_METADATA, Metadata, RoutingMixin
from labelsure.conformal._models import check_estimator, fit_models, outputs_of_models, tags_of
from labelsure.conformal._outside import USUAL_LEVEL, OutsideMixin
from labelsure.conformal._points import PREDICT_FOR, Answers, describe_answers, single_answers
from labelsure.conformal._splits import Split
from labelsure.conformal._updating import check_one_fold, extend_calibrator
from labelsure.learners._base import MetaClassifier
from labelsure.learners._pool_base import LogitPool
from labelsure.measures import AutoMeasure, Measure, Need
from labelsure.measures._choice import MeasureChoices
from labelsure.predictions import LabelsetPredictions

CHOICES = ("guarantee", "smoothed", "empty", "mondrian", "weight", "constraints", "on_violation")
"""Parameters that say how calibration examples are counted; not every classifier has all of them."""


class WrappingClassifier(OutsideMixin, MetaClassifier):
    """Base of all classifiers here: another classifier inside."""

    estimator: Any
    n_jobs: int | None

    def _check_fit(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        label_names: Sequence[str] | None,
        *,
        prefit: bool = False,
    ) -> tuple[MatrixLike, LabelMatrix]:
        """Check estimator and training data, and learn names and sizes."""
        check_estimator(self.estimator, prefit=prefit)
        labels, self.label_names_ = read_labels(y, label_names, name="y")
        X = self._check_objects(X, reset=True)
        check_same_length(X, labels, names=("X", "y"))
        self.n_labels_ = labels.shape[1]
        self.classes_ = np.tile(
            [0, 1], (self.n_labels_, 1)
        )  # an array: cross_val_predict asks for its shape
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = tags_of(self.estimator)
        tags.input_tags.sparse = inside is not None and inside.input_tags.sparse
        tags.input_tags.allow_nan = inside is not None and inside.input_tags.allow_nan
        return tags


class LabelsetClassifier(WrappingClassifier):
    """Base of the classifiers of labelsets: a classifier inside, p-values of labelsets outside."""

    measure: Any
    empty: str

    @abstractmethod
    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """

    def predict(self, X: MatrixLike) -> Any:
        """Return the labelset with the highest p-value for each object, ties by lowest total score.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        labels = self.predict_labelsets(X).labelsets.astype(
            np.int64
        )  # the int of scikit-learn's own classifiers
        return self._put_out(labels, X)

    def _check_choices(
        self,
        *labels: LabelMatrix,
        one_fold: bool,
        known: Need = Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS,
    ) -> tuple[Choices, Measure | AutoMeasure]:
        """Return what was asked for and the measure, or raise ValueError before anything is fitted."""
        check_choice(getattr(self, "predict_for", "auto"), PREDICT_FOR, name="predict_for")
        given = {name: getattr(self, name) for name in CHOICES if hasattr(self, name)}
        asked = Choices(taxonomy=given.pop("mondrian", None), **given)
        return check_choices(
            asked,
            self.measure,
            *labels,
            label_names=self.label_names_,
            one_fold=one_fold,
            known=known,
        )


class CalibratedClassifier(RoutingMixin, GapsMixin, LabelsetClassifier):
    """Base of the classifiers that fit models first and calibrate their outputs then.

    The fitted state is ``models_`` and ``calibrator_``; predictions look at nothing else.
    """

    memory: Any
    models_: list[Any]
    fold_indices_: list[IntArray]
    calibrator_: Calibrator
    predict_for: str
    pools_share_: bool = (
        False  # whether the models are pools that learned from models that all folds share
    )
    _learned_last = "calibrator_"

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        predictions = self.calibrator_.predict(outputs, X, index=row_index_of(X))
        predict_for = check_choice(self.predict_for, PREDICT_FOR, name="predict_for")
        predictions.answers = describe_answers(self.calibrator_, predict_for)
        return predictions

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each label, in the mean over the folds' models.

        A label's is the sum of the posterior's probabilities over the candidates that have it, with
        a measure that ranks labelsets by a posterior:
        :class:`~labelsure.measures.PosteriorMeasure`, the default, and
        :class:`~labelsure.measures.ForestMeasure` on it. With other measures outputs are
        recalibrated label by label (Platt's scaling) on the fold's calibration examples, and labels
        count as independent. No p-value depends on either.

        An excluded empty labelset and labelsets that constraints forbid are left out of the sum,
        which has a closed form else. Under constraints it goes over the labelsets that are allowed,
        or where these are more than 65 536, or labels more than 20 without a list of labelsets,
        over those seen in training and 1024 drawn for each object, a standard error of at most
        0.016; where no such labelset is allowed, over all. With ``empty="auto"`` the empty labelset
        is always in the sum, with the probability that the posterior gives it, small where no
        training example is without labels.

        Objects get the same answer one by one and in batches. :meth:`update`, and
        :meth:`recalibrate` without a new measure, leave recalibration and thresholds as they are.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Between 0 and 1.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier
        >>> X, y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:100], y[:100])
        >>> model.predict_proba(X[100:]).shape
        (20, 3)
        """
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        return self.calibrator_.probabilities(outputs, X)

    def predict(self, X: MatrixLike) -> Any:
        """Return one labelset for each object.

        With ``predict_for="exact match"`` it is the one with the highest p-value,
        ``predict_labelsets(X).labelsets``, which is right as a whole most often. With "hamming" it
        is the labels with a probability above one half, see :meth:`predict_proba`, and with "f1"
        those above a threshold for each label: the one with the largest expected F-measure on the
        probabilities of the calibration examples, whose labels are not looked at. With "auto" it is
        the labelset with the highest p-value, unless training showed that it is a worse answer than
        the classifier's own, the labels that its models find more likely than not in the mean. The
        default measure looks at that, see ``labels_are_better_`` of
        :class:`~labelsure.measures.PosteriorMeasure`; ``predict_labelsets(X).answers`` says where
        it is so. Labels that are no candidate together give way to the labelset with the highest
        p-value.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        return self._put_out(self._answer(X).labels, X)

    def _answer(self, X: MatrixLike) -> Answers:
        """Return the answers of ``predict`` and ``predict_labelsets``, from outputs that are computed once."""
        X = self._check_objects(X)
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        predictions = self.calibrator_.predict(outputs, X, index=row_index_of(X))
        predict_for = check_choice(self.predict_for, PREDICT_FOR, name="predict_for")
        predictions.answers = describe_answers(self.calibrator_, predict_for)
        return Answers(
            predictions,
            single_answers(predictions, self.calibrator_, outputs, predict_for),
            outputs,
        )

    def nonconformity(self, X: MatrixLike, y: LabelMatrixLike) -> FloatArray:
        """Return how strange labelsets are for objects: the scores that p-values are made of.

        For examples that arrive one after the other these are what
        :class:`~labelsure.metrics.ExchangeabilityMartingale` watches.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        y : array-like of shape (n_objects, n_labels)
            One labelset per object.

        Returns
        -------
        array of shape (n_objects,)
            Larger is stranger; the mean over the folds where there are several.
        """
        X = self._check_objects(X)
        labels = check_label_matrix(
            y, name="y", n_labels=self.n_labels_, label_names=self.label_names_
        )
        check_same_length(X, labels, names=("X", "y"))
        outputs = outputs_of_models(self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs)
        return self.calibrator_.nonconformity(outputs, labels, X)

    def update(self, X: MatrixLike, y: LabelMatrixLike) -> Self:
        """Add calibration examples to an inductive predictor, in place, as ``partial_fit`` of scikit-learn would.

        Nothing is fitted again. Afterwards every answer is that of a predictor calibrated with old
        and new examples together, whatever their order and however many calls they came in. A call
        that fails changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            New objects: not among those that trained the model.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.

        Notes
        -----
        What is proven needs new calibration examples that are exchangeable with the old ones and
        with the objects still to come. Labels that are asked for only where the predictor was
        unsure are not.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier
        >>> X, y = make_multilabel_classification(n_samples=150, n_classes=3, random_state=0)
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:100], y[:100])
        >>> model.update(X[100:140], y[100:140]).calibrator_.sizes
        (70,)
        """
        X = self._check_objects(X)
        check_one_fold(self.models_, groups=self.groups_)
        labels = check_label_matrix(
            y, name="y", n_labels=self.n_labels_, label_names=self.label_names_
        )
        check_same_length(X, labels, names=("X", "y"))
        (outputs,) = outputs_of_models(
            self.models_, X, self.n_labels_, n_jobs=self.calibrator_.n_jobs
        )
        self.calibrator_ = extend_calibrator(self.calibrator_, outputs, labels, X)
        rows = np.arange(self.n_examples_, self.n_examples_ + len(labels))
        self.fold_indices_ = [np.concatenate([*self.fold_indices_, rows])]
        self.n_examples_ += len(labels)
        return self

    def recalibrate(self, X: MatrixLike, y: LabelMatrixLike, **parameters: Any) -> Self:
        """Return a fitted copy with another measure, guarantee or way of counting, around the same models.

        Nothing is trained again but a new measure. New measures that learn from out-of-fold
        outputs, "auto" and the default among them, take new models: use ``fit``.

        Parameters
        ----------
        X, y : array-likes of n rows
            The examples that ``fit`` was given, and ``update`` after it, in the same order; NaN
            where ``fit`` had it.
        **parameters
            What to change: ``measure``, ``guarantee``, ``mondrian``, ``weight``, ``smoothed``,
            ``empty``, ``constraints``, ``on_violation``, ``predict_for``, ``n_jobs``.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
        >>> from labelsure.measures import PowerMeasure
        >>> X, y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
        >>> model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0).fit(X, y)
        >>> exact = model.recalibrate(X, y, guarantee="exact", measure=PowerMeasure())
        >>> exact.models_ is model.models_
        True
        """
        X = self._check_objects(X)
        labels, unknown = check_gaps(
            y, name="y", n_labels=self.n_labels_, label_names=self.label_names_
        )
        if {len(labels), n_rows(X)} != {self.n_examples_}:
            raise ValueError(
                f"recalibrate takes the {self.n_examples_} examples that fit was given, got"
                f" {n_rows(X)} rows of X and"
                f" {len(labels)} of y."
            )
        known = Known.of(unknown, self.estimator)
        complete = np.ones(len(labels), dtype=bool) if known is None else known.complete
        if (~complete).sum() != self.n_incomplete_ or not complete[
            np.concatenate(self.fold_indices_)
        ].all():
            raise ValueError(
                f"recalibrate takes the examples that fit was given, {self.n_incomplete_} of them"
                f" with unknown labels"
                f" (NaN), got {(~complete).sum()} rows with NaN, or other rows. Use fit."
            )
        fixed = set(parameters) - {"measure", "predict_for", "n_jobs", *CHOICES}
        if fixed or getattr(self, "prefit", False):
            why = (
                f"it cannot change {min(fixed)}"
                if fixed
                else "with prefit=True fit trains nothing anyway"
            )
            raise ValueError(f"recalibrate keeps the models as they are; {why}. Use fit.")
        copy: Self = clone(self).set_params(**parameters)
        copy.__dict__.update(
            {name: value for name, value in vars(self).items() if name.endswith("_")}
        )
        choices, measure = copy._check_choices(labels[complete], one_fold=len(self.models_) == 1)
        if "measure" not in parameters:
            return copy._count_anew(X, labels, choices)
        if Need.OUT_OF_FOLD_OUTPUTS in measure.needs:
            raise ValueError(
                f"{measure!r} learns from out-of-fold outputs, which takes new models: use fit."
            )
        everyone = np.arange(self.n_examples_)
        trained = self.train_indices_ or [
            np.setdiff1d(everyone, rows) for rows in self.fold_indices_
        ]
        splits = [Split(*rows) for rows in zip(trained, self.fold_indices_, strict=True)]
        given: dict[str, Any] = {
            "fitted": self.models_,
            "metadata": Metadata(groups=self.groups_),
            "known": known,
        }
        return copy._learn(X, labels, splits, self.seeds_, choices, measure, **given)

    def _promise(self) -> str:
        return self.calibrator_.guarantee.sentence(USUAL_LEVEL)

    def _count_anew(self, X: MatrixLike, Y: LabelMatrix, choices: Choices) -> Self:
        """Keep the fitted measures and their scores, and count them in another way."""
        rows, calibrated = self.fold_indices_, self.calibrator_
        categories, weights = choices.look_at(X, Y, np.concatenate(rows))
        folds = tuple(
            replace(
                fold,
                categories=None if categories is None else categories[of_fold],
                weights=None if weights is None else weights[of_fold],
            )
            for fold, of_fold in zip(calibrated.folds, rows, strict=True)
        )
        self.calibrator_ = replace(calibrated, folds=folds, choices=choices, n_jobs=self.n_jobs)
        return self

    def _learn(
        self,
        X: MatrixLike,
        Y: LabelMatrix,
        splits: Sequence[Split],
        seeds: Sequence[int],
        choices: Choices,
        measure: Measure | AutoMeasure,
        *,
        fitted: list[Any] | None = None,
        training: dict[str, Any] | None = None,
        metadata: Metadata = NO_METADATA,
        known: Known | None = None,
    ) -> Self:
        """Go through both stages: fit models, or ask those that are fitted already, and calibrate their outputs.

        Parameters
        ----------
        X, Y, splits, fitted, metadata
            As in :func:`fit_models`.
        seeds : sequence of int
            One per split, and one for draws.
        choices, measure
            What was asked for.
        training : dict or None
            What a user says of a model fitted elsewhere: fields of FoldExamples.
        known : Known or None
            Which labels are known, where some are not.
        """
        rows = [split.calibration for split in splits]
        check_guarantee(choices.guarantee, smoothed=choices.smoothed, one_fold=len(rows) == 1)
        looked_at = choices.look_at(
            X, Y, np.concatenate(rows)
        )  # functions of the user's own fail before any fit
        self.n_examples_ = len(Y)
        self.seeds_ = list(seeds)
        self.fold_indices_ = rows
        n_used = [len(split.train) + len(split.calibration) for split in splits]
        self.train_indices_ = None if set(n_used) == {len(Y)} else [split.train for split in splits]
        *seeds, draw_seed = seeds
        needs = [measure.needs] if training is None else []
        given: dict[str, Any] = {
            "n_jobs": self.n_jobs,
            "memory": self.memory,
            "fitted": fitted,
            "metadata": metadata,
        }
        marked = Y
        complete = None
        trainable = None
        if known is not None:
            marked = known.mark(Y) if known.apart else Y
            complete = known.complete
            trainable = known.trainable
        models = fit_models(
            self.estimator,
            X,
            marked,
            splits,
            seeds=seeds,
            needs=needs,
            trainable=trainable,
            **given,
        )
        self.models_ = [fold.model for fold in models] if fitted is None else fitted
        examples = gather_examples(X, Y, splits, models, measure, *looked_at, complete)
        if training is not None:
            examples = [replace(fold, **training) for fold in examples]
        folds = tuple(
            calibrate(measure, examples, seeds=seeds, n_jobs=self.n_jobs, rules=choices.known_rules)
        )
        if fitted is None:
            self.pools_share_ = isinstance(self.estimator, LogitPool) and any(
                fold.shared for fold in models
            )
        complementary = set(n_used) == {len(Y) if trainable is None else int(trainable.sum())}
        alone = complementary and not self.pools_share_ and not any(fold.shared for fold in models)
        self.groups_ = metadata.groups
        sizes = None if self.groups_ is None else sizes_of_groups(self.groups_, rows)
        given = {"groups": sizes, "n_incomplete": self.n_incomplete_}
        calibrator = Calibrator(
            folds, choices, draw_seed, alone, self.label_names_, self.n_jobs, **given
        )
        self.calibrator_ = calibrator.with_thresholds(examples)
        return self

    @property
    def measure_choices_(self) -> MeasureChoices | None:
        """What each fold chose with ``measure="auto"``, and why; ``print`` it. None where the measure was given."""
        return self.calibrator_.measure_choices

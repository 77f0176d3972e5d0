"""Checks, tags and output of all conformal classifiers, and both stages of labelset predictors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from labelsure._checks import (
    LIBRARIES,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_choice,
    check_gaps,
    check_label_matrix,
    check_same_length,
    made_up_names,
    n_rows,
    read_labels,
    read_unknown,
    row_index_of,
    split_unknown,
)
from labelsure._errors import import_optional
from labelsure.conformal._calibrator import (
    PREDICT_FOR,
    Calibrator,
    calibrate,
    check_one_fold,
    gather_examples,
)
from labelsure.conformal._choices import CHOICES, Choices, check_choices, check_guarantee
from labelsure.conformal._merging import sizes_of_groups
from labelsure.conformal._models import check_estimator, fit_models, outputs_of_models, tags_of
from labelsure.conformal._splits import Split
from labelsure.conformal._training_data import TrainingData, check_groups, route_params, router_of
from labelsure.learners._adapter import learns_from_folds
from labelsure.learners._base import MetaClassifier
from labelsure.measures import Measure, Need
from labelsure.measures._choice import MeasureChoices
from labelsure.predictions import LabelsetPredictions
from labelsure.predictions._frames import make_frame
from labelsure.predictions._show import html_note, html_page, shorten

USUAL_LEVEL = 0.05
"""The significance at which a diagram says what is proven."""


class BatchAnswers(NamedTuple):
    """What a predictor says of a batch of objects, all of it from outputs that are computed once.

    Attributes
    ----------
    predictions : LabelsetPredictions
        What ``predict_labelsets`` returns.
    labels : int array of shape (n, q)
        What ``predict`` returns.
    outputs : list of arrays of shape (n, q)
        Of each model; empty where the predictor has no models.
    """

    predictions: LabelsetPredictions
    labels: IntArray
    outputs: list[FloatArray]


def answer_batch(model: Any, X: Any) -> BatchAnswers:
    """Return what a fitted predictor of labelsets says of objects."""
    if isinstance(model, LabelsetClassifier):
        return model._answer(X)
    predictions = model.predict_labelsets(X)
    return BatchAnswers(predictions, predictions.labelsets.astype(np.int64), [])


class WrappingClassifier(MetaClassifier):
    """Base of all classifiers here: wraps a classifier, predicts arrays or DataFrames of labels."""

    estimator: Any
    measure: Any
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
        # an array, because cross_val_predict asks for its shape
        self.classes_ = np.tile([0, 1], (self.n_labels_, 1))
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = tags_of(self.estimator)
        tags.input_tags.sparse = inside is not None and inside.input_tags.sparse
        tags.input_tags.allow_nan = inside is not None and inside.input_tags.allow_nan
        return tags

    def _read_training(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        label_names: Sequence[str] | None,
        groups: Any,
        fit_params: Mapping[str, Any],
        *,
        prefit: bool = False,
    ) -> tuple[TrainingData, dict[str, Any]]:
        """Check the arguments of ``fit``; return the data and the parameters of the splitter."""
        filled, missing = split_unknown(y)
        X, Y = self._check_fit(X, filled, label_names, prefit=prefit)
        unknown = read_unknown(missing, label_names)
        numbers = None if groups is None else check_groups(groups, len(Y))
        params, split_params = route_params(self, X, groups, fit_params, prefit=prefit)
        return TrainingData(X, Y, unknown, numbers, params), split_params

    def _check_choices(
        self,
        *labels: LabelMatrix,
        one_fold: bool,
        known: Need = Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS,
    ) -> tuple[Choices, Measure]:
        """Return the choices and the measure, or raise ValueError before anything is fitted."""
        check_choice(getattr(self, "predict_for", "auto"), PREDICT_FOR, name="predict_for")
        asked, names = Choices.of(self), self.label_names_
        return check_choices(
            asked, self.measure, *labels, label_names=names, one_fold=one_fold, known=known
        )

    def set_output(self, *, predict: str | None = None) -> Self:
        """Set what ``predict`` returns, as ``set_output`` of scikit-learn does for ``transform``.

        Copies by :func:`sklearn.base.clone` keep it. What ``predict_labelsets`` and
        ``predict_labels`` return needs no setting: its ``to_frame`` makes a table of the library
        that X came in.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"} or None, default=None
            "default": an array. "pandas", "polars": a DataFrame with the labels as columns and, of
            pandas, the index of X. None: as before.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier
        >>> X, y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
        >>> model = model.set_output(predict="pandas")
        >>> print(model.fit(X, y, label_names=["sea", "city", "night"]).predict(X[:2]))
           sea  city  night
        0    0     1      0
        1    0     1      0
        """
        if predict is not None:
            library = check_choice(predict, ("default", *LIBRARIES), name="predict")
            if library in LIBRARIES:
                import_optional(library, extra=library, purpose=f"set_output(predict={library!r})")
            # scikit-learn's own name for it, so that clone copies it
            self._sklearn_output_config = {
                **getattr(self, "_sklearn_output_config", {}),
                "predict": library,
            }
        return self

    def _put_out(self, labels: IntArray, X: MatrixLike) -> Any:
        """Return predicted labels as :meth:`set_output` asks."""
        library = getattr(self, "_sklearn_output_config", {}).get("predict", "default")
        if library == "default":
            return labels
        names = self.label_names_ or made_up_names(self.n_labels_)
        index = row_index_of(X) if library == "pandas" else None
        return make_frame(dict(zip(names, labels.T, strict=True)), index=index, library=library)

    def _promise(self) -> str:
        """Return what is proven, or where to find it; of a fitted classifier."""
        return "predict_labelsets(X).region(0.05).statement says what is proven."

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        if not self.__sklearn_is_fitted__():
            return diagram
        names = shorten(self.label_names_ or made_up_names(self.n_labels_))
        return diagram + html_page(
            f"Fitted on {self.n_labels_} labels: {names}", html_note(self._promise())
        )


class LabelsetClassifier(WrappingClassifier):
    """Base of the classifiers that fit models first and calibrate their outputs then.

    The fitted state is ``models_`` and ``calibrator_``; predictions depend on nothing else.
    """

    memory: Any
    predict_for: str
    models_: list[Any]
    fold_indices_: list[IntArray]
    calibrator_: Calibrator
    pools_share_: bool = False
    """Whether the models are pools that learned from models that all folds share."""
    _learned_last = "calibrator_"
    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - as scikit-learn's splitters by groups have it

    def get_metadata_routing(self) -> Any:
        """Return what is routed to this predictor, its classifier and its splitter (as ``cv``)."""
        return router_of(self)

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        return self._predict(X)[0]

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
        0.016; where no such labelset is allowed, over all. With ``empty_labelset="auto"`` the empty
        labelset is always in the sum, with the probability that the posterior gives it, small where
        no training example is without labels.

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
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
        >>> model = model.fit(X[:100], y[:100])
        >>> model.predict_proba(X[100:]).shape
        (20, 3)
        """
        X, outputs = self._ask_models(X)
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

    def _ask_models(self, X: MatrixLike) -> tuple[MatrixLike, list[FloatArray]]:
        """Return checked objects, and the outputs of each fold's model for them."""
        X = self._check_objects(X)
        n_jobs = self.calibrator_.n_jobs
        return X, outputs_of_models(self.models_, X, self.n_labels_, n_jobs=n_jobs)

    def _predict(self, X: MatrixLike) -> tuple[LabelsetPredictions, list[FloatArray]]:
        X, outputs = self._ask_models(X)
        predictions = self.calibrator_.predict(outputs, X, index=row_index_of(X))
        predictions.answers = self.calibrator_.describe_answers(self.predict_for)
        return predictions, outputs

    def _answer(self, X: MatrixLike) -> BatchAnswers:
        """Return the answers of ``predict`` and ``predict_labelsets``, computing outputs once."""
        predictions, outputs = self._predict(X)
        labels = self.calibrator_.single_answers(predictions, outputs, self.predict_for)
        return BatchAnswers(predictions, labels, outputs)

    def _check_labels(self, X: MatrixLike, y: LabelMatrixLike) -> LabelMatrix:
        """Return the labels of the objects X, checked."""
        labels = check_label_matrix(
            y, name="y", n_labels=self.n_labels_, label_names=self.label_names_
        )
        check_same_length(X, labels, names=("X", "y"))
        return labels

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
        X, outputs = self._ask_models(X)
        return self.calibrator_.nonconformity(outputs, self._check_labels(X, y), X)

    def update(self, X: MatrixLike, y: LabelMatrixLike) -> Self:
        """Add calibration examples to an inductive predictor, in place, like a ``partial_fit``.

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
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
        >>> model = model.fit(X[:100], y[:100])
        >>> model.update(X[100:140], y[100:140]).calibrator_.sizes
        (70,)
        """
        X = self._check_objects(X)
        check_one_fold(self.models_, groups=self.groups_)
        labels = self._check_labels(X, y)
        X, (outputs,) = self._ask_models(X)
        self.calibrator_ = self.calibrator_.extended(outputs, labels, X)
        rows = np.arange(self.n_examples_, self.n_examples_ + len(labels))
        self.fold_indices_ = [np.concatenate([*self.fold_indices_, rows])]
        self.n_examples_ += len(labels)
        return self

    def recalibrate(self, X: MatrixLike, y: LabelMatrixLike, **parameters: Any) -> Self:
        """Return a fitted copy with another measure, guarantee or way of counting, same models.

        Nothing is trained again but a new measure. New measures that learn from out-of-fold
        outputs, "auto" and the default among them, take new models: use ``fit``.

        Parameters
        ----------
        X, y : array-likes of n rows
            The examples that ``fit`` was given, and ``update`` after it, in the same order; NaN
            where ``fit`` had it.
        **parameters
            What to change: ``measure``, ``guarantee``, ``mondrian``, ``weight``, ``smoothed``,
            ``empty_labelset``, ``constraints``, ``on_violation``, ``predict_for``, ``n_jobs``.

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
                f" {n_rows(X)} rows of X and {len(labels)} of y."
            )
        data = TrainingData(X, labels, unknown, self.groups_)
        complete = data.complete
        n_incomplete = int((~complete).sum())
        calibrating = np.concatenate(self.fold_indices_)
        if n_incomplete != self.n_incomplete_ or not complete[calibrating].all():
            raise ValueError(
                f"recalibrate takes the examples that fit was given, {self.n_incomplete_} of them"
                f" with unknown labels (NaN), got {n_incomplete} rows with NaN, or other rows. Use"
                " fit."
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
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
        copy.__dict__.update(fitted)
        choices, measure = copy._check_choices(labels[complete], one_fold=len(self.models_) == 1)
        if "measure" not in parameters:
            return copy._count_anew(data, choices)
        if Need.OUT_OF_FOLD_OUTPUTS in measure.needs:
            raise ValueError(
                f"{measure!r} learns from out-of-fold outputs, which takes new models: use fit."
            )
        everyone = np.arange(self.n_examples_)
        trained = self.train_indices_ or [
            np.setdiff1d(everyone, rows) for rows in self.fold_indices_
        ]
        splits = [Split(*rows) for rows in zip(trained, self.fold_indices_, strict=True)]
        return copy._learn(data, splits, self.seeds_, choices, measure, fitted=self.models_)

    def _promise(self) -> str:
        return self.calibrator_.guarantee.sentence(USUAL_LEVEL)

    def _count_anew(self, data: TrainingData, choices: Choices) -> Self:
        """Keep the fitted measures and their scores, and count them in another way."""
        rows = self.fold_indices_
        categories, weights = choices.describe(data.X, data.Y, np.concatenate(rows))
        folds = tuple(
            replace(
                fold,
                categories=None if categories is None else categories[of_fold],
                weights=None if weights is None else weights[of_fold],
            )
            for fold, of_fold in zip(self.calibrator_.folds, rows, strict=True)
        )
        self.calibrator_ = replace(
            self.calibrator_, folds=folds, choices=choices, n_jobs=self.n_jobs
        )
        return self

    def _check_complete(self, data: TrainingData) -> LabelMatrix:
        """Return the completely known labelsets, and count the others in ``n_incomplete_``."""
        complete = data.complete
        if not complete.any():
            raise ValueError(
                f"y has unknown labels (NaN) in every one of its {len(complete)} rows: a labelset"
                " predictor is calibrated with complete ones. LabelWiseConformalClassifier counts"
                " each label's known ones."
            )
        self.n_incomplete_ = int((~complete).sum())
        return data.Y[complete]

    def _learn(
        self,
        data: TrainingData,
        splits: Sequence[Split],
        seeds: Sequence[int],
        choices: Choices,
        measure: Measure,
        *,
        fitted: list[Any] | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> Self:
        """Fit models, or take fitted ones; fit measures on their outputs; calibrate; keep all.

        Parameters
        ----------
        data : TrainingData
            All examples.
        splits : sequence of Split
            Which of them train and which calibrate.
        seeds : sequence of int
            One per split, and one for draws.
        choices, measure
            As checked.
        fitted : list or None
            The models where they are fitted already, one per split.
        training : mapping or None
            What a user says of a model fitted elsewhere: fields of FoldExamples.
        """
        rows = [split.calibration for split in splits]
        check_guarantee(choices.guarantee, smoothed=choices.smoothed, one_fold=len(rows) == 1)
        # the user's functions fail before any fit
        categories, weights = choices.describe(data.X, data.Y, np.concatenate(rows))
        *model_seeds, draw_seed = seeds
        usable = data.usable_by(self.estimator)

        # models
        models = fit_models(
            self.estimator,
            data,
            splits,
            seeds=model_seeds,
            needs=measure.needs if training is None else Need.NOTHING,
            n_jobs=self.n_jobs,
            fitted=fitted,
            trainable=usable,
            memory=self.memory,
        )
        # measures and calibration
        examples = gather_examples(
            data.X, data.Y, splits, models, measure, categories, weights, data.complete
        )
        if training is not None:
            examples = [replace(fold, **training) for fold in examples]
        folds = calibrate(
            measure, examples, seeds=model_seeds, n_jobs=self.n_jobs, rules=choices.known_rules
        )

        # keep
        n_used = [len(split.train) + len(split.calibration) for split in splits]
        self.n_examples_ = len(data.Y)
        self.seeds_ = list(seeds)
        self.fold_indices_ = rows
        self.train_indices_ = (
            None if set(n_used) == {len(data.Y)} else [split.train for split in splits]
        )
        self.groups_ = data.groups
        shared = any(fold.shared for fold in models)
        if fitted is None:
            self.pools_share_ = shared and learns_from_folds(self.estimator)
        self.models_ = [fold.model for fold in models] if fitted is None else fitted
        complementary = set(n_used) == {int(usable.sum())} and not shared and not self.pools_share_
        self.calibrator_ = Calibrator(
            tuple(folds),
            choices,
            draw_seed,
            complementary,
            self.label_names_,
            self.n_jobs,
            groups=sizes_of_groups(data.groups, rows),
            n_incomplete=self.n_incomplete_,
        ).with_thresholds(examples)
        return self

    @property
    def measure_choices_(self) -> MeasureChoices | None:
        """What each fold chose with ``measure="auto"``, and why; None for a given measure."""
        return self.calibrator_.measure_choices

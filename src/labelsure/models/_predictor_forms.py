"""The forms of predictors, controllers and selectors, and of what they are made of."""

from typing import Any

import numpy as np

from labelsure._core.fixed_point import SCORE_BITS
from labelsure.conformal import (
    GUARANTEES,
    ByCardinality,
    ByLabel,
    ByObject,
    CalibratedFold,
    Calibrator,
    Choices,
    CrossConformalClassifier,
    FullConformalClassifier,
    GroupSizes,
    InductiveConformalClassifier,
    LabelCalibration,
    LabelWiseConformalClassifier,
    LabelWiseOutputsPredictor,
    MultiLabelStratifiedKFold,
    OutputsPredictor,
    Taxonomy,
)
from labelsure.decisions import (
    CoverController,
    LabelCover,
    PrecisionController,
    Question,
    RecallController,
    ReviewSelector,
    ThresholdPredictor,
)
from labelsure.labelsets import (
    Allowed,
    AtLeast,
    AtMost,
    Exactly,
    Exclude,
    Hierarchy,
    Implies,
    Inequality,
    LabelsetRules,
)
from labelsure.measures import Measure, MeasureChoice
from labelsure.models._checks import (
    Check,
    Sizes,
    anything,
    array,
    flag,
    instance,
    labelsets,
    maybe,
    names,
    number,
    one_of,
    several,
    text,
    whole,
)
from labelsure.models._forms import Form, estimator
from labelsure.models._learned_forms import (
    CLASSIFIERS,
    COUNT,
    FEATURES,
    LABELS,
    MEASURE_FORMS,
    MOST_LABELS,
    gives_outputs,
)

SEED = whole(0, 2**64)
ROWS = array("i", "rows", low=0)
N_JOBS = maybe(whole(-(2**12), 2**12))


def _rows(value: Any, sizes: Sizes) -> None:  # noqa: ARG001 - every fold has a size of its own
    ROWS(value, Sizes())


def _categories(value: Any, sizes: Sizes) -> None:
    if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "biufU":
        raise ValueError("its categories are none")
    sizes.agree("m", len(value))


def _check_rules(rules: LabelsetRules) -> None:
    everyone = set(range(rules.n_labels))
    for plus, minus, most in rules.inequalities:
        if not (plus or minus) or not plus | minus <= everyone or plus & minus or abs(most) > rules.n_labels:
            raise ValueError("a rule speaks of labels that there are not")
    if rules.listed is not None and not rules.n_allowed:
        raise ValueError("no labelset obeys its rules")


def _check_calibrator(calibrator: Calibrator) -> None:
    """Raise ValueError where folds and choices do not go together."""
    choices, folds = calibrator.choices, calibrator.folds
    n_labels = {fold.measure.n_labels_ for fold in folds}
    if choices.constraints is not None:
        n_labels.add(choices.constraints.n_labels)
    if calibrator.label_names is not None:
        n_labels.add(len(calibrator.label_names))
    if len(n_labels) > 1:
        raise ValueError("its folds speak of different labels")
    kind = GUARANTEES[choices.guarantee]
    if choices.guarantee != "cross" and (len(folds) < 2 or choices.smoothed):
        raise ValueError(f"{choices.guarantee!r} does not go with its folds")
    if kind.prefixes and (len(set(calibrator.sizes)) > 1 or choices.taxonomy is not None):
        raise ValueError(f"{choices.guarantee!r} takes folds of one size")
    if not all(calibrator.sizes):
        raise ValueError("a fold has no calibration examples")
    parts = {"taxonomy": "categories", "weight": "weights"}
    for asked, kept in parts.items():
        if any((getattr(fold, kept) is None) is not (getattr(choices, asked) is None) for fold in folds):
            raise ValueError(f"its examples have no {kept}, or others than were asked for")
    if choices.weight is not None and (len(folds) > 1 or choices.smoothed or not folds[0].weights.any()):
        raise ValueError("its weights do not go with its folds")
    if isinstance(choices.taxonomy, ByLabel | ByCardinality):
        choices.taxonomy.of_labelsets(np.zeros((1, next(iter(n_labels))), dtype=np.int8))
        if any(fold.categories.dtype != np.int64 for fold in folds):
            raise ValueError("its categories are no numbers")
    calibrator.guarantee.sentence(0.1)


def _check_models(model: Any, n_folds: int) -> None:
    if len(model.models_) != n_folds or len(model.fold_indices_) != n_folds:
        raise ValueError("it has not one model for each fold")
    if not all(map(gives_outputs, model.models_)):
        raise ValueError("one of its models gives no outputs")
    sizes = {len(one.learned) for one in model.models_ if hasattr(one, "learned")} | {model.n_labels_}
    if model.label_names_ is not None:
        sizes.add(len(model.label_names_))
    if len(sizes) > 1:
        raise ValueError("its models speak of other labels")


def _check_predictor(model: CrossConformalClassifier | InductiveConformalClassifier) -> None:
    calibrator = model.calibrator_
    _check_models(model, len(calibrator.folds))
    if any(fold.measure.n_labels_ != model.n_labels_ for fold in calibrator.folds):
        raise ValueError("its measures speak of other labels")
    if [len(rows) for rows in model.fold_indices_] != list(calibrator.sizes):
        raise ValueError("its folds have other examples than were scored")
    if any(len(rows) and rows.max() >= model.n_examples_ for rows in model.fold_indices_):
        raise ValueError("its folds have more examples than there were")


def _check_outputs_predictor(predictor: OutputsPredictor) -> None:
    folds = predictor.calibrator.folds
    n_folds = 1 if predictor.fold_numbers is None else len(predictor.fold_numbers)
    if len(folds) != n_folds or any(fold.measure.n_labels_ != predictor.n_labels for fold in folds):
        raise ValueError("its folds are not those that it was calibrated with")


def _check_labels(folds: Any, n_labels: int) -> None:
    if any(fold.scores.shape[1] != n_labels or fold.conditional is not folds[0].conditional for fold in folds):
        raise ValueError("its folds speak of other labels")


def _check_label_wise(model: LabelWiseConformalClassifier) -> None:
    _check_models(model, len(model.calibrated_))
    _check_labels(model.calibrated_, model.n_labels_)
    if model.groups_ is not None and any(rows.max(initial=0) >= len(model.groups_) for rows in model.fold_indices_):
        raise ValueError("its folds have more examples than there were")


def _check_label_wise_outputs(predictor: LabelWiseOutputsPredictor) -> None:
    _check_labels(predictor.calibrated, predictor.n_labels)
    if len(predictor.calibrated) != (1 if predictor.fold_numbers is None else len(predictor.fold_numbers)):
        raise ValueError("its folds are not those that it was calibrated with")


def _check_scores(calibration: LabelCalibration) -> None:
    for group in calibration.groups:
        if any((np.diff(scores) < 0).any() for scores in group):
            raise ValueError("its scores are out of order")


def _check_full(model: FullConformalClassifier) -> None:
    if len(model.Y_) == 0 or (model.label_names_ is not None and len(model.label_names_) != model.n_labels_):
        raise ValueError("it has no examples, or other labels than they have")
    rules = model.choices_.constraints
    if rules is not None and rules.n_labels != model.n_labels_:
        raise ValueError("its constraints speak of other labels")
    model.measure_.check_parameters(model.n_labels_)


def _check_controller(model: Any) -> None:
    _check_models(model, len(model.predictors_))
    if any(part.n_labels != model.n_labels_ for part in model.predictors_):
        raise ValueError("its predictors speak of other labels")


NAMED: dict[str, Check] = {**LABELS, "label_names_": maybe(names("q"))}
MODELS: dict[str, Check] = {"models_": several(anything, least=1), "fold_indices_": several(_rows, least=1)}
RUN: dict[str, Check] = {"n_jobs": N_JOBS}

CALIBRATED: dict[str, Check] = {
    **NAMED,
    **MODELS,
    "n_incomplete_": COUNT,
    "n_examples_": whole(1, 2**40, size="n"),
    "seeds_": several(SEED),
    "train_indices_": maybe(several(_rows)),
    "groups_": maybe(array("i", "n", low=0)),
    "calibrator_": instance(Calibrator),
}

CONTROLLED: dict[str, Check] = {
    **NAMED,
    **MODELS,
    "draw_seed_": SEED,
    "merge_": one_of("random", "majority", "any", "cv-crc"),
    "predictors_": several(instance(ThresholdPredictor, LabelCover), least=1),
    "reached_": flag,
    "statement_": text,
}

PROMISE: dict[str, Check] = {
    "target": number(0, 1),
    "reached": flag,
    "n_labels": whole(1, MOST_LABELS, size="q"),
    "n_calibration": COUNT,
    "statement": text,
    "label_names": maybe(names("q")),
}

LABEL_SCORE = array("i", "m", "q", low=0, high=2**SCORE_BITS)


def _pair_of_scores(value: Any, sizes: Sizes) -> None:  # noqa: ARG001 - every label has numbers of its own
    for one in value if type(value) is tuple and len(value) == 2 else [None]:
        array("i", "own", low=0, high=2**SCORE_BITS)(one, Sizes())


PREDICTORS = [
    estimator(
        CrossConformalClassifier,
        CALIBRATED,
        arguments=RUN,
        may_have={**FEATURES, "pools_share_": flag},
        check=_check_predictor,
    ),
    estimator(
        InductiveConformalClassifier,
        CALIBRATED,
        arguments=RUN,
        may_have={**FEATURES, "pools_share_": flag},
        check=_check_predictor,
    ),
    estimator(
        FullConformalClassifier,
        {
            **NAMED,
            "seed_": SEED,
            "draw_seed_": SEED,
            "X_": anything,
            "Y_": labelsets("n", "q"),
            "base_": anything,
            "measure_": instance(Measure),
            "choices_": instance(Choices),
        },
        arguments=RUN,
        may_have=FEATURES,
        check=_check_full,
    ),
    estimator(
        LabelWiseConformalClassifier,
        {
            **NAMED,
            **MODELS,
            "draw_seed_": SEED,
            "smoothed_": flag,
            "complementary_": flag,
            "groups_": maybe(array("i", "n", low=0)),
            "calibrated_": several(instance(LabelCalibration), least=1),
        },
        arguments=RUN,
        may_have={**FEATURES, "n_incomplete_": COUNT},
        check=_check_label_wise,
    ),
    Form(
        OutputsPredictor,
        {
            "calibrator": instance(Calibrator),
            "fold_numbers": maybe(array("i", "K")),
            "n_labels": whole(1, MOST_LABELS),
            "default_output": number(0, 1),
        },
        check=_check_outputs_predictor,
    ),
    Form(
        LabelWiseOutputsPredictor,
        {
            "calibrated": several(instance(LabelCalibration), kind=tuple, least=1),
            "fold_numbers": maybe(array("i", "K")),
            "n_labels": whole(1, MOST_LABELS, size="q"),
            "label_names": maybe(names("q")),
            "draw_seed": maybe(SEED),
        },
        check=_check_label_wise_outputs,
    ),
    estimator(RecallController, CONTROLLED, arguments=RUN, may_have=FEATURES, check=_check_controller),
    estimator(PrecisionController, CONTROLLED, arguments=RUN, may_have=FEATURES, check=_check_controller),
    estimator(CoverController, CONTROLLED, arguments=RUN, may_have=FEATURES, check=_check_controller),
    Form(ThresholdPredictor, {**PROMISE, "threshold": number(0, finite=False)}),
    Form(LabelCover, {**PROMISE, "limit": number(finite=False), "form": one_of("count", "chance", "threshold")}),
    Form(
        ReviewSelector,
        learned={
            "question_": instance(Question),
            "kind_": anything,
            "from_fit_": flag,
            "label_names_": names("q"),
            "sureness_": array("f", "n", missing=True),
            "right_": array("b", "n"),
            "n_unknown_": COUNT,
        },
    ),
]

PARTS = [
    Form(
        CalibratedFold,
        {
            "measure": instance(Measure),
            "scores": array("i", "m", low=-(2**SCORE_BITS), high=2**SCORE_BITS),
            "without_labels": array("b", "m"),
            "finds_empty_strangest": flag,
            "choice": maybe(instance(MeasureChoice)),
            "categories": maybe(_categories),
            "weights": maybe(array("f", "m", low=0)),
        },
    ),
    Form(
        Calibrator,
        {
            "folds": several(instance(CalibratedFold), kind=tuple, least=1),
            "choices": instance(Choices),
            "seed": SEED,
            "complementary": flag,
            "label_names": maybe(names("q")),
            "n_jobs": N_JOBS,
            "options": one_of(None),
            "groups": maybe(instance(GroupSizes)),
            "n_incomplete": COUNT,
        },
        check=_check_calibrator,
    ),
    Form(
        Choices,
        {
            "guarantee": one_of(*GUARANTEES),
            "smoothed": flag,
            "empty": one_of("auto", "allow", "exclude"),
            "taxonomy": maybe(instance(Taxonomy)),
            "constraints": maybe(instance(LabelsetRules)),
            "on_violation": one_of("refuse", "drop"),
            "known_rules": maybe(instance(LabelsetRules)),
        },
    ),
    Form(
        GroupSizes,
        {
            "all_groups": array("i", "g", low=1),
            "calibrating": several(_rows, kind=tuple, least=1),
        },
    ),
    Form(
        LabelCalibration,
        {
            "scores": LABEL_SCORE,
            "groups": several(_pair_of_scores, "q"),
            "conditional": flag,
            "n_incomplete": COUNT,
        },
        check=_check_scores,
    ),
    Form(
        LabelsetRules,
        {
            "n_labels": whole(1, MOST_LABELS, size="q"),
            "inequalities": several(instance(Inequality), kind=tuple),
            "listed": maybe(labelsets("L", "q", different=True)),
        },
        check=_check_rules,
    ),
    Form(Inequality, {"plus": instance(frozenset), "minus": instance(frozenset), "most": whole(-(2**30), 2**30)}),
    Form(Question, {"n_labels": whole(1, MOST_LABELS), "at_most": COUNT, "label": maybe(COUNT), "name": text}),
    Form(ByCardinality, {"at_most": maybe(whole(1))}),
    Form(ByLabel, {"label": COUNT}),
    Form(ByObject),
    *(Form(cls) for cls in (Implies, AtMost, AtLeast, Exactly, Exclude, Hierarchy, Allowed, MultiLabelStratifiedKFold)),
]

FORMS: dict[type, Form] = {form.cls: form for form in [*CLASSIFIERS, *MEASURE_FORMS, *PARTS, *PREDICTORS]}
"""All classes of ours that a file may hold."""

ROOTS: tuple[type, ...] = tuple(
    form.cls for form in [*PREDICTORS, *CLASSIFIERS] if hasattr(form.cls, "predict")
) + tuple(form.cls for form in PREDICTORS if not hasattr(form.cls, "predict"))
"""What can be saved as a model."""

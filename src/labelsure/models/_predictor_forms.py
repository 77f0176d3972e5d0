"""The forms of predictors, controllers and selectors, and of what they are made of."""

from typing import Any

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
)
from labelsure.models._predictor_checks import (
    categories,
    check_calibrator,
    check_controller,
    check_full,
    check_label_wise,
    check_label_wise_outputs,
    check_outputs_predictor,
    check_predictor,
    check_rules,
    check_scores,
)

SEED = whole(0, 2**64)
ROWS = array("i", "rows", low=0)


SIZES_OF_GROUPS = array("i", "m", low=1)


def _sizes_of_groups(value: Any, _sizes: Sizes) -> None:
    SIZES_OF_GROUPS(value, Sizes())


def _rows(value: Any, _sizes: Sizes) -> None:  # every fold has a size of its own
    ROWS(value, Sizes())


CLASSES = array("i", "q", 2, low=0, high=1)
NAMED: dict[str, Check] = {**LABELS, "classes_": CLASSES, "label_names_": maybe(names("q"))}
MODELS: dict[str, Check] = {"models_": several(anything, least=1), "fold_indices_": several(_rows, least=1)}
DEVICE: dict[str, Check] = {"device": one_of("cpu", "cuda")}

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
    "merge_": one_of("random", "any"),
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


def _pair_of_scores(value: Any, _sizes: Sizes) -> None:  # every label has numbers of its own
    for one in value if type(value) is tuple and len(value) == 2 else [None]:
        array("i", "own", low=0, high=2**SCORE_BITS)(one, Sizes())


PREDICTORS = [
    estimator(
        CrossConformalClassifier,
        CALIBRATED,
        arguments=DEVICE,
        may_have={**FEATURES, "pools_share_": flag},
        check=check_predictor,
    ),
    estimator(
        InductiveConformalClassifier,
        CALIBRATED,
        arguments=DEVICE,
        may_have={**FEATURES, "pools_share_": flag},
        check=check_predictor,
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
        may_have=FEATURES,
        check=check_full,
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
        may_have={**FEATURES, "n_incomplete_": COUNT},
        check=check_label_wise,
    ),
    Form(
        OutputsPredictor,
        {
            "calibrator": instance(Calibrator),
            "fold_numbers": maybe(array("i", "K")),
            "n_labels": whole(1, MOST_LABELS),
            "default_output": number(0, 1),
            **DEVICE,
        },
        check=check_outputs_predictor,
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
        check=check_label_wise_outputs,
    ),
    estimator(RecallController, CONTROLLED, may_have=FEATURES, check=check_controller),
    estimator(PrecisionController, CONTROLLED, may_have=FEATURES, check=check_controller),
    estimator(CoverController, CONTROLLED, may_have=FEATURES, check=check_controller),
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
            "categories": maybe(categories),
            "weights": maybe(array("f", "m", low=0)),
            "recalibration": maybe(array("f", 2, "q")),
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
            "options": one_of(None),
            "groups": maybe(instance(GroupSizes)),
            "n_incomplete": COUNT,
            "thresholds": maybe(array("f", "q", low=0, high=1)),
        },
        check=check_calibrator,
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
            "calibrating": several(_sizes_of_groups, kind=tuple, least=1),
        },
    ),
    Form(
        LabelCalibration,
        {
            "scores": LABEL_SCORE,
            "groups": several(_pair_of_scores, "q"),
            "conditional": flag,
            "n_incomplete": COUNT,
            "n_together": maybe(array("i", "m", "q+1", low=1)),
        },
        check=check_scores,
    ),
    Form(
        LabelsetRules,
        {
            "n_labels": whole(1, MOST_LABELS, size="q"),
            "inequalities": several(instance(Inequality), kind=tuple),
            "listed": maybe(labelsets("L", "q", different=True)),
        },
        check=check_rules,
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

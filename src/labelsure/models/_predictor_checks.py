"""What must hold in a predictor beyond its fields: folds, models, labels and choices go together."""

from typing import Any

import numpy as np

from labelsure.conformal import (
    ByCardinality,
    ByLabel,
    Calibrator,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelCalibration,
    LabelWiseConformalClassifier,
    LabelWiseOutputsPredictor,
    OutputsPredictor,
)
from labelsure.labelsets import LabelsetRules
from labelsure.models._archive import ModelFileError
from labelsure.models._checks import Sizes
from labelsure.models._learned_forms import gives_outputs


def categories(value: Any, sizes: Sizes) -> None:
    """Accept the category of each example, numbers or words."""
    if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "biufU":
        raise ModelFileError("has categories that are none")
    sizes.agree("m", len(value))


def check_rules(rules: LabelsetRules) -> None:
    """Raise ValueError where rules speak of labels that there are not, or leave nothing."""
    everyone = set(range(rules.n_labels))
    for plus, minus, most in rules.inequalities:
        if not (plus or minus) or not plus | minus <= everyone or plus & minus or abs(most) > rules.n_labels:
            raise ValueError("a rule speaks of labels that there are not")
    if rules.listed is not None and not rules.n_allowed:
        raise ValueError("no labelset obeys its rules")


def check_calibrator(calibrator: Calibrator) -> None:
    """Raise ValueError where folds and choices do not go together."""
    choices, folds = calibrator.choices, calibrator.folds
    n_labels = {fold.measure.n_labels_ for fold in folds}
    if choices.constraints is not None:
        n_labels.add(choices.constraints.n_labels)
    if calibrator.label_names is not None:
        n_labels.add(len(calibrator.label_names))
    learned = [calibrator.thresholds, *(fold.recalibration for fold in folds)]
    n_labels |= {one.shape[-1] for one in learned if one is not None}
    if len(n_labels) > 1:
        raise ValueError("its folds speak of different labels")
    if choices.guarantee != "cross" and (len(folds) < 2 or choices.smoothed):
        raise ValueError(f"{choices.guarantee!r} does not go with its folds")
    if not all(calibrator.sizes):
        raise ValueError("a fold has no calibration examples")
    parts = {"taxonomy": "categories", "weight": "weights"}
    for asked, kept in parts.items():
        if any((getattr(fold, kept) is None) is not (getattr(choices, asked) is None) for fold in folds):
            raise ValueError(f"its examples have no {kept}, or others than were asked for")
    weights = folds[0].weights
    if weights is not None and (len(folds) > 1 or choices.smoothed or not weights.any()):
        raise ValueError("its weights do not go with its folds")
    if isinstance(choices.taxonomy, ByLabel | ByCardinality):
        choices.taxonomy.of_labelsets(np.zeros((1, next(iter(n_labels))), dtype=np.int8))
        if any(fold.categories is None or fold.categories.dtype != np.int64 for fold in folds):
            raise ValueError("its categories are no numbers")
    if calibrator.groups is not None and tuple(map(len, calibrator.groups.calibrating)) != calibrator.sizes:
        raise ValueError("its groups have other examples than were scored")
    calibrator.guarantee.sentence(0.1)


def check_models(model: Any, n_folds: int) -> None:
    """Raise ValueError where there is not one model of these labels for each fold."""
    if len(model.models_) != n_folds or len(model.fold_indices_) != n_folds:
        raise ValueError("it has not one model for each fold")
    if not all(map(gives_outputs, model.models_)):
        raise ValueError("one of its models gives no outputs")
    sizes = {len(one.learned) for one in model.models_ if hasattr(one, "learned")} | {model.n_labels_}
    if model.label_names_ is not None:
        sizes.add(len(model.label_names_))
    if len(sizes) > 1:
        raise ValueError("its models speak of other labels")


def check_predictor(model: CrossConformalClassifier | InductiveConformalClassifier) -> None:
    """Raise ValueError where models, measures and folds do not go together."""
    calibrator = model.calibrator_
    check_models(model, len(calibrator.folds))
    if any(fold.measure.n_labels_ != model.n_labels_ for fold in calibrator.folds):
        raise ValueError("its measures speak of other labels")
    if [len(rows) for rows in model.fold_indices_] != list(calibrator.sizes):
        raise ValueError("its folds have other examples than were scored")
    if any(len(rows) and rows.max() >= model.n_examples_ for rows in model.fold_indices_):
        raise ValueError("its folds have more examples than there were")


def check_outputs_predictor(predictor: OutputsPredictor) -> None:
    """Raise ValueError where folds are not those that new outputs are expected for."""
    folds = predictor.calibrator.folds
    n_folds = 1 if predictor.fold_numbers is None else len(predictor.fold_numbers)
    if len(folds) != n_folds or any(fold.measure.n_labels_ != predictor.n_labels for fold in folds):
        raise ValueError("its folds are not those that it was calibrated with")


def check_labels(folds: Any, n_labels: int) -> None:
    """Raise ValueError where folds are calibrated for other labels, or in other ways."""
    if any(fold.scores.shape[1] != n_labels or fold.conditional is not folds[0].conditional for fold in folds):
        raise ValueError("its folds speak of other labels")


def check_label_wise(model: LabelWiseConformalClassifier) -> None:
    """Raise ValueError where models, labels and groups do not go together."""
    check_models(model, len(model.calibrated_))
    check_labels(model.calibrated_, model.n_labels_)
    if model.groups_ is not None and any(rows.max(initial=0) >= len(model.groups_) for rows in model.fold_indices_):
        raise ValueError("its folds have more examples than there were")


def check_label_wise_outputs(predictor: LabelWiseOutputsPredictor) -> None:
    """Raise ValueError where folds are not those that new outputs are expected for."""
    check_labels(predictor.calibrated, predictor.n_labels)
    if len(predictor.calibrated) != (1 if predictor.fold_numbers is None else len(predictor.fold_numbers)):
        raise ValueError("its folds are not those that it was calibrated with")


def check_scores(calibration: LabelCalibration) -> None:
    """Raise ValueError where scores that are counted are not in ascending order."""
    for group in calibration.groups:
        if any((np.diff(scores) < 0).any() for scores in group):
            raise ValueError("its scores are out of order")
    together = calibration.n_together
    if together is not None:
        alike = together.shape[1] == calibration.scores.shape[1] + 1 and not calibration.conditional
        ordered = np.sort(together, axis=0)
        whole = [len(off) == len(on) == len(together) for off, on in calibration.groups]
        if not (alike and all(whole) and calibration.n_incomplete == 0 and (ordered == ordered[:, -1:]).all()):
            raise ValueError("its groups have other examples than were scored")


def check_full(model: FullConformalClassifier) -> None:
    """Raise ValueError where examples, labels and constraints do not go together."""
    if len(model.Y_) == 0 or (model.label_names_ is not None and len(model.label_names_) != model.n_labels_):
        raise ValueError("it has no examples, or other labels than they have")
    rules = model.choices_.constraints
    if rules is not None and rules.n_labels != model.n_labels_:
        raise ValueError("its constraints speak of other labels")
    model.measure_.check_parameters(model.n_labels_)


def check_controller(model: Any) -> None:
    """Raise ValueError where models and predictors do not go together."""
    check_models(model, len(model.predictors_))
    if any(part.n_labels != model.n_labels_ for part in model.predictors_):
        raise ValueError("its predictors speak of other labels")

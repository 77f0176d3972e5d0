"""What the package makes of a configuration, and what brute force needs to know of it."""

from typing import Any, NamedTuple

import brute_rules
import numpy as np
from brute_rules import STRANGEST, BruteFold, PValues
from exact_cases import FULL, ONE_FOLD, ByFirst, is_high, weights_of
from scipy import sparse
from score_formulas import Asked, Training, all_labelsets, check_scores, whole_scores
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from brute_force import allowed_codes
from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    calibrate_outputs,
)
from labelsure._random import MERGING, SMOOTHING, draw_order, draw_uniforms, join_keys, object_keys
from labelsure.conformal import ByCardinality
from labelsure.engine._results import EngineOptions
from labelsure.measures import Need

PINCHED = EngineOptions(
    table_labels=0, max_table_labels=0, count_budget=8, first_budget=3, best_budget=6,
    chunk=2,
)  # fmt: skip
OPTIONS = {"table": None, "search": EngineOptions(table_labels=0), "pinched": PINCHED}


class Raised(ClassifierMixin, BaseEstimator):
    """A joint learner: outputs are features, or their squares, by a count of training labels."""

    def fit(self, X, Y):  # noqa: ARG002
        self.power_ = 1.0 + np.asarray(Y).sum() % 2
        self.classes_ = [np.array([0, 1])] * np.asarray(Y).shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float64) ** self.power_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class Part(NamedTuple):
    """A fold as the data have it: what trains, what calibrates, and the new objects."""

    training: Training
    old: Asked
    labels: np.ndarray
    new: Asked
    categories: np.ndarray
    weights: np.ndarray


class Built(NamedTuple):
    """The package's answers and brute force's: p-values, total scores, categories in ``folds``."""

    predict: Any  # from row numbers of new objects and the name of an engine to predictions
    folds: list
    shown: PValues
    draws: np.ndarray
    totals: np.ndarray
    candidates: np.ndarray


def rule_of(case):
    """The name by which brute force knows the rule."""
    return "smoothed" if case.rule.startswith("smoothed") else case.rule


def settings_of(case):
    """What the package is asked for."""
    smoothed = rule_of(case) == "smoothed"
    settings = {
        "measure": case.measure,
        "empty_labelset": case.empty,
        "random_state": case.number,
        "smoothed": smoothed,
    }
    if case.constraint != "none":
        settings["constraints"] = case.constraints
    if case.taxonomy != "none":
        at_most, own = ByCardinality(at_most=2), ByFirst()
        taxonomies = {"at most 2": at_most, "label": case.label, "object": is_high, "own": own}
        settings["mondrian"] = taxonomies.get(case.taxonomy, case.taxonomy)
    if case.rule == "weighted":
        settings["weight"] = weights_of
    if case.rule not in (*ONE_FOLD, *FULL) and not smoothed:
        settings["guarantee"] = case.rule
    return settings


def categories_of(case, X, Y):
    """The category of each example, or of objects and labelsets side by side; 0 by default."""
    match case.taxonomy:
        case "cardinality":
            return Y.sum(axis=-1)
        case "at most 2":
            return np.minimum(Y.sum(axis=-1), 2)
        case "label":
            return Y[..., case.label]
        case "object":
            return is_high(X)
        case "own":
            return ByFirst().of_examples(X, Y)
    return np.zeros(len(X) if Y.ndim == 2 else Y.shape[:-1], dtype=int)


def build(case):
    """Return the predictor of an inductive or a cross-conformal case, and the truth about it."""
    call = build_classifier if case.way == "classifier" else build_outputs
    predict, calibrator, parts, key_tables = call(case)
    labelsets = all_labelsets(case.Y.shape[1])
    wanted = wanted_categories(case, labelsets)
    folds, totals = [], 0
    for calibrated, part in zip(calibrator.folds, parts, strict=True):
        own, fresh = scores_of(case, calibrated.measure, part)
        folds.append(BruteFold(own, part.categories, fresh, wanted))
        totals = totals + fresh
    draws = np.zeros(len(case.X_new), dtype=np.int64)
    if rule_of(case) in ("smoothed", "exact"):
        keys = join_keys([object_keys(table) for table in key_tables])
        draws = draw_uniforms(
            calibrator.seed, SMOOTHING if rule_of(case) == "smoothed" else MERGING, keys
        )
    weights = (parts[0].weights, weights_of(case.X_new)) if case.rule == "weighted" else None
    shown = brute_rules.p_values(rule_of(case), folds, draws, weights)

    def predict_by(rows, engine):
        calibrator.options = OPTIONS[engine]
        return predict(rows)

    return Built(predict_by, folds, shown, draws, totals, candidates_of(case, labelsets))


def scores_of(case, measure, part):
    """Scores of calibration examples and of all labelsets of new objects, checked by formula."""
    old, new, labels = part.old, part.new, part.labels
    both = Asked(
        np.vstack([old.outputs, new.outputs]), None if old.X is None else np.vstack([old.X, new.X])
    )
    scores = whole_scores(measure, both)
    check_scores(measure, scores, both, part.training, dyadic=case.dyadic)
    own, fresh = scores[np.arange(len(labels)), codes_of(labels)], scores[len(labels) :]
    known = part.training.labels
    if (
        case.empty == "auto"
        and len(known)
        and known.any(axis=1).all()
        and measure.form != "maximum"
    ):
        # every training example has labels
        own, fresh[:, 0] = np.where(labels.any(axis=1), own, STRANGEST), STRANGEST
    return own, fresh


def codes_of(labelsets):
    """Labelsets as numbers, label 0 the lowest bit."""
    return labelsets.astype(np.int64) @ (1 << np.arange(labelsets.shape[-1]))


def wanted_categories(case, labelsets):
    """The category of each new object's labelsets, (n, 2^q)."""
    shape = (len(case.X_new), len(labelsets))
    if case.taxonomy in ("object", "own"):
        of_objects = categories_of(case, case.X_new, np.zeros((len(case.X_new), 1)))
        return np.repeat(of_objects[:, None], shape[1], axis=1)
    return np.broadcast_to(categories_of(case, case.X_new, labelsets[None]), shape)


def candidates_of(case, labelsets):
    candidates = np.isin(
        np.arange(len(labelsets)), allowed_codes(case.constraints, case.Y.shape[1])
    )
    candidates[0] &= case.empty != "exclude"
    return candidates


def build_outputs(case):
    """Ready-made outputs, dense or sparse."""
    settings, with_folds = settings_of(case), case.rule not in ONE_FOLD
    calibrate = case.fold_of >= 0
    outputs, new, of_models = case.outputs, case.new, case.outputs
    thin = fill = np.asarray
    if case.way == "sparse":
        settings["default_output"] = case.default

        def fill(part):
            return np.where(part > case.default, part, case.default)

        def thin(part):
            return sparse.csr_array(np.where(part > case.default, part, 0.0))

    outputs, new, of_models = fill(outputs), fill(new), fill(of_models)
    rows = np.flatnonzero(calibrate)
    own = outputs[case.fold_of[rows], rows]
    if case.taxonomy != "none" or case.rule == "weighted":
        settings["X"] = case.X[rows]
    knows = True
    if with_folds:
        settings |= {"folds": case.fold_of, "training_outputs": [thin(part) for part in of_models]}
    else:
        knows = case.measure.needs.value > 0 or case.number % 3 > 0
        if knows:
            settings["training_labels"] = case.Y[~calibrate]
            settings["training_outputs"] = thin(of_models[0][~calibrate])
    predictor = calibrate_outputs(thin(own), case.Y[rows], **settings)
    parts = []
    for k in range(len(outputs)):
        train, mine = case.fold_of != k, case.fold_of == k
        training = Training(case.Y[train & knows], of_models[k][train & knows], None)
        about = categories_of(case, case.X[mine], case.Y[mine]), weights_of(case.X[mine])
        parts.append(
            Part(training, Asked(outputs[k][mine], None), case.Y[mine], Asked(new[k], None), *about)
        )
    with_objects = "X" in settings
    mixed = case.number % 4 == 0  # sparse calibration goes with dense new outputs too

    def predict(objects):
        of_models = [part[objects] if mixed else thin(part[objects]) for part in new]
        X = case.X_new[objects] if with_objects else None
        return predictor.predict_labelsets(of_models if with_folds else of_models[0], X)

    return predict, predictor.calibrator, parts, [case.X_new] if with_objects else list(new)


def build_classifier(case):
    """A classifier around a learner, some examples of which may have unknown labels."""
    X, Y, settings = case.X, case.Y, settings_of(case)
    marked = Y.astype(np.float64)
    if case.incomplete:  # more examples, that neither train nor calibrate
        more = np.random.default_rng(case.number)
        X = np.vstack([X, X[:2]])
        marked = np.vstack([marked, np.where(more.random(Y[:2].shape) < 0.5, np.nan, Y[:2])])
        marked[-2:, 0] = np.nan
    if case.rule in ONE_FOLD:
        n_calibration = int((case.fold_of == 0).sum())
        model = InductiveConformalClassifier(Raised(), calibration_size=n_calibration, **settings)
    else:
        splits = [
            (np.flatnonzero(case.fold_of != k), np.flatnonzero(case.fold_of == k))
            for k in range(len(case.outputs))
        ]
        model = CrossConformalClassifier(Raised(), cv=splits, **settings)
    model.fit(X, marked)
    assert model.n_incomplete_ == len(X) - len(Y)
    parts = []
    looks = Need.FEATURES in case.measure.needs
    for rows in model.fold_indices_:
        train = np.setdiff1d(np.arange(len(Y)), rows)
        raised = Raised().fit(case.X[train], Y[train]).predict_proba
        training = Training(Y[train], raised(case.X[train]), case.X[train])
        old, new = (
            Asked(raised(part), part if looks else None) for part in (case.X[rows], case.X_new)
        )
        about = categories_of(case, case.X[rows], Y[rows]), weights_of(case.X[rows])
        parts.append(Part(training, old, Y[rows], new, *about))
    return (
        (lambda objects: model.predict_labelsets(case.X_new[objects])),
        model.calibrator_,
        parts,
        [case.X_new],
    )


def build_full(case):
    """The transductive definition: one fit per object and labelset."""
    model = FullConformalClassifier(Raised(), **settings_of(case)).fit(case.X, case.Y)
    labelsets, n = all_labelsets(case.Y.shape[1]), len(case.Y)
    candidates = candidates_of(case, labelsets)
    at_least, above, totals = np.zeros((3, len(case.X_new), len(labelsets)), dtype=np.int64)
    for i, x in enumerate(case.X_new):
        order = draw_order(model.draw_seed_, x[None], n + 1)
        place = order.tolist().index(n)
        for code in np.flatnonzero(candidates):
            X, Y = np.vstack([case.X, x])[order], np.vstack([case.Y, labelsets[code]])[order]
            outputs = Raised().fit(X, Y).predict_proba(X)
            fitted = clone(model.measure_).fit(Y, outputs=outputs, X=X)
            asked = Asked(outputs, X if Need.FEATURES in fitted.needs else None)
            scores = whole_scores(fitted, asked)
            check_scores(fitted, scores, asked, Training(Y, outputs, X), dyadic=case.dyadic)
            own = scores[np.arange(n + 1), codes_of(Y)]
            if case.empty == "auto" and (~Y.any(axis=1)).sum() == 1:
                own = np.where(Y.any(axis=1), own, STRANGEST)
            totals[i, code] = own[place]
            at_least[i, code] = (own >= own[place]).sum() - 1
            above[i, code] = (own > own[place]).sum()
    denominators = np.full(len(case.X_new), n + 1)
    shown, draws = PValues(at_least + 1, denominators), np.zeros(len(case.X_new), dtype=np.int64)
    if rule_of(case) == "smoothed":
        draws = draw_uniforms(model.draw_seed_, SMOOTHING, object_keys(case.X_new))
        unit = brute_rules.DRAW_UNIT
        shown = PValues(above * unit + draws[:, None] * (at_least - above + 1), denominators * unit)

    def predict(rows, engine):
        return model.predict_labelsets(case.X_new[rows])

    return Built(predict, [], shown, draws, totals, candidates)

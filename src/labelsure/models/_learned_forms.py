"""The forms of our own classifiers and measures."""

import math
from typing import Any

import numpy as np

from labelsure._core.fixed_point import choose_exponent
from labelsure.estimators import (
    BPMLLClassifier,
    FittedBase,
    LogOdds,
    MLkNNClassifier,
    MLNBClassifier,
    MLRBFClassifier,
    PooledClassifier,
    RecalibratedClassifier,
)
from labelsure.measures import (
    AutoMeasure,
    CardinalityPenalty,
    CountedPrior,
    ForestMeasure,
    FunctionMeasure,
    HammingPenalty,
    LabelsetPrior,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    MaxNormMeasure,
    Measure,
    MeasureChoice,
    MeasureSum,
    PosteriorMeasure,
    PosteriorParameters,
    PowerMeasure,
    UnseenPenalty,
)
from labelsure.models._checks import (
    Check,
    anything,
    array,
    classes,
    feature_names,
    flag,
    instance,
    labelsets,
    matrix,
    maybe,
    number,
    several,
    whole,
)
from labelsure.models._forms import Form, estimator

MOST_LABELS = 2**24
COUNT = whole(0, 2**40)
FEATURES: dict[str, Check] = {"n_features_in_": whole(1, 2**40, size="p"), "feature_names_in_": feature_names}
LABELS: dict[str, Check] = {"n_labels_": whole(1, MOST_LABELS, size="q"), "classes_": classes}
CLASSIFIER: dict[str, Check] = {**LABELS, "n_features_in_": FEATURES["n_features_in_"]}
NAMES: dict[str, Check] = {"feature_names_in_": feature_names}


def gives_outputs(model: Any) -> bool:
    """Tell whether something can be asked for outputs."""
    return isinstance(model, FittedBase) or any(hasattr(model, name) for name in ("predict_proba", "decision_function"))


def _check_base(base: FittedBase) -> None:
    if base.estimator is None and base.learned.any() and np.isnan(base.fixed).any():
        raise ValueError("labels are learned by no classifier")
    if base.estimator is not None and not gives_outputs(base.estimator):
        raise ValueError(f"a {type(base.estimator).__name__} gives no outputs")


def _check_neighbours(model: MLkNNClassifier) -> None:
    if model.n_neighbors_ > len(model.Y_):
        raise ValueError("it looks for more neighbours than there are examples")


def _check_components(model: MLNBClassifier) -> None:
    shape = len(model.selected_), model.n_features_in_
    if np.shape(model.pca_.components_) != shape or np.shape(model.pca_.mean_) != shape[1:]:
        raise ValueError("its components are not those that it chose from")
    if model.log_odds_.linear.shape != (int(model.selected_.sum()), model.n_labels_):
        raise ValueError("its log-odds are not those of the components that it chose")


def _check_pool(pool: PooledClassifier | RecalibratedClassifier) -> None:
    if any(len(member.learned) != pool.n_labels_ for member in pool.members_):
        raise ValueError("its members have learned other labels")


POOL: dict[str, Check] = {
    **LABELS,
    "n_examples_": whole(1, 2**40),
    "members_": several(instance(FittedBase), "M", least=1),
    "shared_weights_": array("f", "M"),
    "weights_": array("f", "q", "M"),
    "intercepts_": array("f", "q"),
}
POOL_MAY: dict[str, Check] = {**FEATURES, "out_of_fold_outputs_": array("f", "n", "q", low=0, high=1)}

CLASSIFIERS = [
    Form(
        FittedBase,
        {"estimator": anything, "learned": array("b", "q"), "fixed": array("f", "q", low=0, high=1, missing=True)},
        check=_check_base,
    ),
    estimator(
        MLkNNClassifier,
        {
            **CLASSIFIER,
            "X_": matrix("n", "p"),
            "Y_": labelsets("n", "q"),
            "n_neighbors_": whole(0, 2**31, size="k"),
            "likelihoods_": array("f", 2, "q", "k+1", low=0, high=1),
            "priors_": array("f", 2, "q", low=0, high=1),
        },
        may_have=NAMES,
        check=_check_neighbours,
    ),
    Form(
        LogOdds,
        {
            "prior": array("f", "q"),
            "quadratic": array("f", "c", "q"),
            "linear": array("f", "c", "q"),
            "constant": array("f", "c", "q"),
        },
    ),
    estimator(
        MLNBClassifier,
        {**CLASSIFIER, "pca_": anything, "selected_": array("b", "c"), "log_odds_": instance(LogOdds)},
        may_have=NAMES,
        check=_check_components,
    ),
    estimator(
        BPMLLClassifier,
        {
            **CLASSIFIER,
            "hidden_weights_": array("f", "p", "h"),
            "hidden_bias_": array("f", "h"),
            "output_weights_": array("f", "h", "q"),
            "output_bias_": array("f", "q"),
            "cut_coef_": array("f", "q"),
            "cut_intercept_": number(),
        },
        may_have=NAMES,
    ),
    estimator(
        MLRBFClassifier,
        {
            **CLASSIFIER,
            "centres_": array("f", "c", "p"),
            "sigma_": number(0),
            "weights_": array("f", "c+1", "q"),
        },
        may_have=NAMES,
    ),
    estimator(PooledClassifier, POOL, may_have=POOL_MAY, check=_check_pool),
    estimator(RecalibratedClassifier, POOL, may_have=POOL_MAY, check=_check_pool),
]


def _check_measure(measure: Measure) -> None:
    """Raise ValueError where parameters make no sense, or scores would not be whole numbers that can be added."""
    measure.check_parameters(measure.n_labels_)
    parts = [part for part in measure.parts() if part is not measure]
    if any(part.n_labels_ != measure.n_labels_ for part in parts):
        raise ValueError("its parts have learned other labels")
    finest = choose_exponent(measure.bound_, root=measure.form == "root")
    if measure.exponent_ > min([finest, *(part.exponent_ for part in parts)]):
        raise ValueError("its scores would be too large to be added up")


def _check_distance(measure: MahalanobisMeasure) -> None:
    _check_measure(measure)
    reach = 2.0 if measure.residuals == "absolute" else 3.0
    if measure.bound_ < reach * math.sqrt(np.abs(measure.precision_).sum()) * (1 - 1e-9):
        raise ValueError("its distances reach farther than it says")


def _check_posterior(measure: PosteriorMeasure) -> None:
    _check_measure(measure)
    counted, prior = measure._counted, measure.prior_
    if {counted.labelsets.shape[1], prior.n_labels_, len(measure.parameters_.intercepts)} != {measure.n_labels_}:
        raise ValueError("its prior is one of other labels")
    if prior.exponent_ < measure.exponent_ or prior.bound_ > measure.bound_:
        raise ValueError("its prior is on another scale")


def _check_forest(measure: ForestMeasure) -> None:
    _check_measure(measure)
    sizes = [tree.tree_.node_count for tree in measure.forest_.estimators_]
    fits = np.array_equal(measure._first_node, np.cumsum([0, *sizes])) and measure.base_.n_labels_ == measure.n_labels_
    if not fits or measure._shares.shape != (measure._first_node[-1], len(measure.labelsets_)):
        raise ValueError("its shares are not those of its leaves")
    if measure.base_.exponent_ < measure.exponent_:
        raise ValueError("its base is on another scale")


def _measure(cls: type, learned: dict[str, Check] | None = None, check: Any = _check_measure) -> Form:
    common: dict[str, Check] = {
        "n_labels_": whole(1, MOST_LABELS, size="q"),
        "bound_": number(0, 2.0**30),
        "exponent_": whole(0, 40),
    }
    worked_out = {} if cls is MeasureSum else {"_of_all": dict}
    may_have = {"labels_are_better_": flag}
    return estimator(cls, {**common, **(learned or {})}, may_have=may_have, worked_out=worked_out, check=check)


SEEN = {"labelsets_": labelsets("S", "q", different=True)}
PROBABILITIES = array("f", "q", low=1e-300, high=1 - 2**-53)

MEASURE_FORMS = [
    _measure(PowerMeasure, {"unseen_pairs_": maybe(array("b", "q", "q"))}),
    _measure(MaxNormMeasure),
    _measure(LogLossMeasure),
    _measure(
        MahalanobisMeasure,
        {
            "slope_": array("f", "q"),
            "intercept_": array("f", "q"),
            "shrinkage_": number(0, 1),
            "precision_": array("f", "q", "q"),
        },
        _check_distance,
    ),
    _measure(LabelWiseCombination, {"errors_": array("i", "n", "q", low=0, high=2**40)}),
    _measure(
        LabelsetPrior,
        {
            **SEEN,
            "counts_": array("i", "S", low=1),
            "n_training_": whole(1, 2**40),
            "marginals_": PROBABILITIES,
            "_smoothing_cost": number(),
        },
    ),
    _measure(HammingPenalty, SEEN),
    _measure(UnseenPenalty, SEEN),
    _measure(CardinalityPenalty, {"frequencies_": array("f", "q+1", low=0, high=1)}),
    _measure(FunctionMeasure),
    Form(
        CountedPrior,
        {
            "labelsets": labelsets("S", "q", different=True),
            "counts": array("i", "S", low=1),
            "marginals": PROBABILITIES,
            "smoothing": number(0),
        },
    ),
    Form(
        PosteriorParameters,
        {
            "prior_exponent": number(0),
            "marginals_share": number(0),
            "temperature": number(0),
            "intercepts": array("f", "q"),
        },
    ),
    _measure(
        PosteriorMeasure,
        {
            "n_training_": whole(1, 2**40),
            "_counted": instance(CountedPrior),
            "parameters_": instance(PosteriorParameters),
            "prior_": instance(LabelsetPrior),
            "_shifts": array("f", "q"),
        },
        _check_posterior,
    ),
    _measure(
        ForestMeasure,
        {
            **SEEN,
            "base_": instance(Measure),
            "forest_": anything,
            "_first_node": array("i", "T+1", low=0),
            "_shares": anything,
        },
        _check_forest,
    ),
    _measure(MeasureSum),
    Form(AutoMeasure),
    Form(
        MeasureChoice,
        {
            "candidates": several(instance(Measure), "c", kind=tuple, least=1),
            "sizes": array("f", "c", "l", missing=True),
            "significance": several(number(0, 1), "l", kind=tuple),
            "n_objects": COUNT,
            "n_examples": COUNT,
            "logarithmic": flag,
        },
    ),
]

"""Calls of the other rooms: measures, learners, decisions, metrics, predictions, pictures, files; see fuzz_calls."""

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np
from fuzz_answers import plain_answer
from fuzz_calls import (
    CALLS,
    OUT,
    OUTPUTS,
    OUTPUTS_NEW,
    TABLES,
    X_NEW,
    XY,
    X,
    Y,
    calibrate_and_predict,
    call,
    knn,
    label_wise,
    learning,
    outputs_predictor,
    smoothed,
    worst,
)

import labelsure
import labelsure.conformal as c
import labelsure.datasets as ds
import labelsure.decisions as d
import labelsure.engine as ls
import labelsure.learners as e
import labelsure.measures as m
import labelsure.metrics as mt
import labelsure.model_file as mo
from labelsure import paper

# --- measures
# -----------------------------------------------------------------------------------------------------
EVERY_MEASURE = (
    "PowerMeasure",
    "LogLossMeasure",
    "MaxNormMeasure",
    "MahalanobisMeasure",
    "LabelWiseCombination",
    "LabelsetPrior",
    "PosteriorMeasure",
    "ForestMeasure",
    "FunctionMeasure",
    "CardinalityPenalty",
    "HammingPenalty",
    "UnseenPenalty",
)
MEASURE_ARGUMENTS = {
    "PowerMeasure": {"d": 4, "pair_penalty": 0.5},
    "LogLossMeasure": {"floor": 1e-6},
    "MahalanobisMeasure": {
        "residuals": "signed",
        "rescale": True,
        "shrinkage": 0.1,
        "normalised": True,
        "out_of_fold": False,
    },
    "LabelWiseCombination": {"out_of_fold": False},
    "LabelsetPrior": {"weight": 1.0, "smoothing": 1.0, "base": "marginals"},
    "PosteriorMeasure": {
        "prior_exponent": 0.5,
        "marginals_share": 0.5,
        "temperature": 1.0,
        "intercepts": 0.0,
        "smoothing": 1.0,
    },
    "ForestMeasure": {
        "base": None,
        "n_estimators": 2,
        "min_samples_leaf": 3,
        "max_features": "sqrt",
        "mix": 0.9,
        "max_listed": 20,
        "random_state": 0,
    },
    "FunctionMeasure": {"function": worst, "largest": 1000.0},
    "CardinalityPenalty": {"weight": 1.0},
    "HammingPenalty": {"weight": 2.0},
    "UnseenPenalty": {"weight": 3.0},
}


def measured(kind):
    def run(outputs, Y, outputs_new, **parameters):
        measure = getattr(m, kind)(**parameters)
        if kind == "ForestMeasure":
            model = c.InductiveConformalClassifier(
                knn(), measure=measure, calibration_size=0.5, random_state=0
            )
            return model.fit(X, Y).predict_labelsets(X_NEW)
        if kind.endswith("Penalty"):
            measure = m.PowerMeasure() + measure
        return calibrate_and_predict(
            outputs,
            Y,
            outputs_new,
            training_labels=TABLES["Y"],
            training_outputs=OUTPUTS,
            measure=measure,
        )

    return run


for name in EVERY_MEASURE:
    call(
        f"measures.{name}",
        measured(name),
        OUT,
        given=MEASURE_ARGUMENTS.get(name, {}),
        unlike=("n_estimators",),
        learner=name == "ForestMeasure",
    )
call(
    "measures.MeasureSum",
    lambda outputs, Y, outputs_new, first, second: calibrate_and_predict(
        outputs, Y, outputs_new, training_labels=TABLES["Y"], measure=m.MeasureSum(first, second)
    ),
    OUT,
    given={"first": m.LogLossMeasure(), "second": m.UnseenPenalty()},
)
call(
    "measures.AutoMeasure",
    lambda outputs, Y, outputs_new, **p: calibrate_and_predict(
        outputs,
        Y,
        outputs_new,
        training_labels=TABLES["Y"],
        training_outputs=OUTPUTS,
        measure=m.AutoMeasure(**p),
        random_state=0,
    ),
    OUT,
    given={
        "candidates": [m.PowerMeasure(), m.LogLossMeasure()],
        "significance": (0.1, 0.2),
        "n_folds": 2,
        "n_objects": 5,
        "random_state": 0,
    },
)
call("measures.make_measure", m.make_measure, given={"name": "power:2+pairs"})
call(
    "measures.default_candidates",
    lambda n_labels: repr(m.default_candidates(n_labels)),
    given={"n_labels": 3},
)
call(
    "measures.fit and scores",
    lambda labels, scores, outputs_new, Y_new: [
        m.make_measure(word).fit(labels, outputs=scores).scores(outputs_new, Y_new)
        for word in ("power:2+pairs", "mahalanobis", "label-wise", "log-loss+prior")
    ],
    ("labels", "scores", "outputs_new", "Y_new"),
)

# --- estimators
# ---------------------------------------------------------------------------------------------------
LEARNER_ARGUMENTS = {
    "MLkNNClassifier": {"n_neighbors": 2, "smoothing": 1.0},
    "MLRBFClassifier": {"centre_fraction": 0.2, "scaling": 1.0, "n_init": 1, "random_state": 0},
    "MLNBClassifier": {
        "component_fraction": 0.5,
        "population_size": 4,
        "n_generations": 1,
        "n_folds": 2,
        "smoothing": 1.0,
        "random_state": 0,
    },
    "BPMLLClassifier": {
        "hidden_fraction": 0.5,
        "learning_rate": 0.05,
        "n_epochs": 1,
        "weight_decay": 0.1,
        "shuffle": True,
        "random_state": 0,
    },
    "PooledClassifier": {
        "estimators": [("a", labelsure.MLkNNClassifier(2)), ("b", labelsure.MLkNNClassifier(3))],
        "cv": 2,
        "pseudo_examples": 4.0,
        "n_jobs": None,
        "random_state": 0,
        "weights": "learned",
    },
    "RecalibratedClassifier": {
        "estimator": labelsure.MLkNNClassifier(2),
        "cv": 2,
        "pseudo_examples": 4.0,
        "n_jobs": None,
        "random_state": 0,
    },
}
TAKES_LONG = ("n_jobs", "n_epochs", "n_generations", "population_size", "n_init", "cv")


def learned(kind):
    def run(X, Y, X_new, **parameters):
        model = getattr(labelsure, kind)(**parameters).fit(X, Y)
        return model.predict(X_new), e.outputs_of(model, X_new, TABLES["Y"].shape[1])

    return run


for name, arguments in LEARNER_ARGUMENTS.items():
    room = getattr(labelsure, name).__module__.split(".")[1]
    call(
        f"{room}.{name}",
        learned(name),
        ("X", "Y", "X_new"),
        given=arguments,
        unlike=TAKES_LONG,
        **learning,
    )
call(
    "learners.fit_base",
    lambda X, Y, X_new: e.outputs_of(e.fit_base(knn(), X, Y), X_new, 3),
    ("X", "Y", "X_new"),
    **learning,
)
call(
    "learners.outputs_of",
    lambda X_new, **p: e.outputs_of(X=X_new, **p),
    ("X_new",),
    given={"model": knn().fit(X, Y), "n_labels": 3},
    **learning,
)
call(
    "learners.table_pool",
    lambda random_state, n_jobs: repr(e.table_pool(random_state=random_state, n_jobs=n_jobs)),
    given={"random_state": 0, "n_jobs": None},
    unlike=("random_state", "n_jobs"),
)

for name in ("ranking_loss", "one_error", "coverage_error", "average_precision"):
    call(f"paper.{name}", getattr(paper, name), ("Y_true", "scores"))

# --- decisions
# ----------------------------------------------------------------------------------------------------
PAIR = ("outputs", "Y", "outputs_new")
CONTROLS = {
    "control_recall": {"target": 0.7, "method": "crc", "delta": None, "bound": None},
    "control_precision": {
        "target": 0.7,
        "delta": 0.2,
        "thresholds": 11,
        "correction": "fixed-sequence",
        "bound": "betting",
    },
    "control_cover": {"target": 0.7, "form": "count"},
}


def controlled(name):
    def run(outputs, Y, outputs_new, **given):
        made = getattr(d, name)(outputs, Y, **given)
        return made, made.predict(outputs_new)

    return run


for name, arguments in CONTROLS.items():
    call(f"decisions.{name}", controlled(name), PAIR, given=arguments)
CONTROLLERS = {
    "RecallController": {
        "method": "crc",
        "delta": None,
        "bound": None,
        "cv": None,
        "merge": "random",
    },
    "PrecisionController": {
        "delta": 0.2,
        "thresholds": 11,
        "correction": "fixed-sequence",
        "bound": "betting",
    },
    "CoverController": {"form": "count", "cv": None, "merge": "random"},
}
for name, arguments in CONTROLLERS.items():
    call(
        f"decisions.{name}",
        lambda X, y, X_new, label_names=None, name=name, **p: (
            getattr(d, name)(**p).fit(X, y, label_names=label_names).predict(X_new)
        ),
        XY,
        **learning,
        given={
            "estimator": knn(),
            "target": 0.7,
            "calibration_size": 0.5,
            "prefit": False,
            "random_state": 0,
            "n_jobs": None,
            "label_names": None,
            **arguments,
        },
    )
call(
    "decisions.ReviewSelector",
    lambda X, y, X_new, from_fit, alpha, batch, **p: (
        d.ReviewSelector(smoothed(), **p)
        .calibrate(X, y, from_fit=from_fit)
        .select(X_new, alpha=alpha, batch=batch)
    ),
    XY,
    **learning,
    given={
        "at_most": 0,
        "label": None,
        "sureness": None,
        "from_fit": False,
        "alpha": 0.3,
        "batch": True,
    },
)
call(
    "decisions.select_objects",
    d.select_objects,
    ("sureness", "right", "new_sureness"),
    given={"alpha": 0.3, "batch": True, "random_ties": False, "random_state": 0},
)
call(
    "decisions.find_label_errors",
    lambda X_new, Y_new, level: d.find_label_errors(
        smoothed(), X_new, Y_new, trusted=(X, Y), level=level
    ),
    ("X_new", "Y_new"),
    **learning,
    given={"level": 0.5},
)
call(
    "decisions.fewest_flagged",
    d.fewest_flagged,
    given={"n_trusted": 100, "n_suspects": 1000, "level": 0.1},
)
call(
    "decisions.pac_significance",
    d.pac_significance,
    given={"n_calibration": 100, "epsilon": 0.1, "delta": 0.1},
)
call(
    "decisions.pac_region", d.pac_region, given={"predictions": None, "epsilon": 0.5, "delta": 0.4}
)
call(
    "decisions.advise",
    lambda X, y, **p: d.advise(smoothed(), X, y, **p),
    ("X", "y"),
    **learning,
    given={"levels": (0.1, 0.2), "max_objects": 20, "random_state": 0}
    | {
        table: np.repeat(TABLES[table], 2, axis=0) for table in ("X", "y")
    },  # 20 examples are the least
)

# --- predictions
# --------------------------------------------------------------------------------------------------


@cache
def predictions():
    return outputs_predictor().predict_labelsets(OUTPUTS_NEW)


@cache
def all_predictions():
    """Of as many objects as there are rows in Y."""
    return outputs_predictor().predict_labelsets(OUTPUTS)


@cache
def labels_predicted():
    return label_wise().predict_labels(X_NEW)


CALLS["decisions.pac_region"].arguments["predictions"] = all_predictions()
call(
    "predictions.LabelsetPredictions.p_value",
    lambda Y_new: predictions().p_value(Y_new),
    ("Y_new",),
    sparse=True,
)
ONE_OF = {
    "top": {"k": 2},
    "region": {"significance": 0.2, "confidence": None, "force_nonempty": False, "bits": 1.0},
    "summary": {"significance": 0.2, "top": 2, "force_nonempty": False, "bits": 1.0},
    "p_values": {"max_memory": 2**20},
    "candidates": {"max_memory": 2**20},
    "rank_labels": {"method": "difference"},
    "to_frame": {"layout": "wide", "prefix": "p_", "library": None},
    "__getitem__": {"i": 1},
    "_repr_html_": {},
}


def asked(what, method):
    """A method by keywords; the index of ``[]`` has no name."""
    if method == "__getitem__":
        return lambda i: what()[i]
    return lambda **given: plain_answer(getattr(what(), method)(**given))


for method, arguments in ONE_OF.items():
    call(f"predictions.LabelsetPredictions.{method}", asked(predictions, method), given=arguments)
REGION = {
    "to_frame": {"layout": "wide", "prefix": "p_", "library": None},
    "__getitem__": {"i": 1},
    "_repr_html_": {},
}
for method, arguments in REGION.items():
    call(
        f"predictions.LabelsetRegion.{method}",
        asked(lambda: predictions().region(0.2), method),
        given=arguments,
    )
    call(
        f"predictions.LabelWiseRegion.{method}",
        asked(lambda: labels_predicted().region(0.3), method),
        given=arguments,
    )
call(
    "predictions.LabelsetRegion.contains",
    lambda Y_new: predictions().region(0.2).contains(Y_new),
    ("Y_new",),
    sparse=True,
)
call(
    "predictions.ObjectRegion.members",
    lambda limit: predictions().region(0.2)[1].members(limit=limit),
    given={"limit": 2},
)
call(
    "predictions.ObjectRegion.questions",
    lambda labelset_cost: str(
        predictions().region(0.2)[1].questions(labelset_cost=labelset_cost).question
    ),
    given={"labelset_cost": 2.0},
)
call(
    "decisions.plan",
    lambda **p: repr(d.plan(predictions().region(0.2), **p)),
    given={"budget": 5, "labelset_cost": 2},
)
call(
    "predictions.ObjectRegion.__contains__",
    lambda Y: Y in predictions().region(0.2)[1],
    given={"Y": [1, 0, 1]},
)
call(
    "predictions.RankedLabelsets.to_frame",
    asked(lambda: predictions().top(2), "to_frame"),
    given={"layout": "wide", "library": None},
)
call("predictions.Summaries.columns", lambda: predictions().summary().columns()["confidence"])
call(
    "predictions.Summaries.to_frame",
    asked(lambda: predictions().summary(), "to_frame"),
    given={"library": None},
)
call(
    "predictions.Summaries.__getitem__",
    asked(lambda: predictions().summary(), "__getitem__"),
    given={"i": 1},
)
for method in ("contains", "wrong", "n_wrong"):
    call(
        f"predictions.LabelWiseRegion.{method}",
        lambda Y_new, method=method: getattr(labels_predicted().region(0.3), method)(Y_new),
        ("Y_new",),
        sparse=True,
    )
call(
    "predictions.LabelWisePredictions.labelset_p_value",
    lambda Y_new, at_most_wrong: labels_predicted().labelset_p_value(
        Y_new, at_most_wrong=at_most_wrong
    ),
    ("Y_new",),
    given={"at_most_wrong": 0},
    sparse=True,
)
LABEL_WISE = {
    "region": {"significance": 0.3, "confidence": None, "at_most_wrong": 0, "per_label": False},
    "rank_labels": {},
    "to_frame": {"layout": "long", "prefix": "", "library": None},
    "__getitem__": {"i": 1},
    "_repr_html_": {},
}
for method, arguments in LABEL_WISE.items():
    call(
        f"predictions.LabelWisePredictions.{method}",
        asked(labels_predicted, method),
        given=arguments,
    )
call(
    "predictions.Guarantee.sentence",
    lambda significance: [predictions().guarantee.sentence(significance)],
    given={"significance": 0.1},
)

# --- metrics
# ------------------------------------------------------------------------------------------------------
of_predictions = {"predictions": all_predictions()}
levels = {**of_predictions, "significance": (0.1, 0.2)}
call("metrics.efficiency_criteria", mt.efficiency_criteria, ("Y_true",), given=levels, sparse=True)
call(
    "metrics.calibration_curve",
    mt.calibration_curve,
    ("Y_true",),
    given={**levels, "coverage_level": 0.9},
    sparse=True,
)
call("metrics.error_rate", mt.error_rate, ("contains",))
call(
    "metrics.answers_needed",
    lambda Y_new, **p: mt.answers_needed(predictions().region(0.2), Y_new, **p).costs,
    ("Y_new",),
    given={"certain": True, "labelset_cost": 2.0},
    sparse=True,
)
for name in ("mean_region_size", "median_region_size"):
    call(f"metrics.{name}", getattr(mt, name), ("sizes",))
call("metrics.size_histogram", mt.size_histogram, ("sizes",), given={"max_size": 8})
call(
    "metrics.coverage_by_cardinality",
    mt.coverage_by_cardinality,
    ("contains", "Y_true"),
    given={"coverage_level": 0.9},
)
call(
    "metrics.coverage_by_label",
    mt.coverage_by_label,
    ("contains", "Y_true"),
    given={"coverage_level": 0.9, "label_names": ["sea", "city", "night"]},
)
call(
    "metrics.coverage_by_size",
    mt.coverage_by_size,
    ("contains", "sizes"),
    given={"coverage_level": 0.9},
)
call(
    "metrics.coverage_by_group",
    lambda group_list, **p: mt.coverage_by_group(groups=group_list, **p),
    ("contains", "group_list"),
    given={"name": "group", "coverage_level": 0.9},
    objects=("group_list",),
    unlike=("name",),
)
call(
    "metrics.coverage_in_worst_slab",
    mt.coverage_in_worst_slab,
    ("contains", "X"),
    given={"min_share": 0.2, "n_directions": 5, "coverage_level": 0.9, "random_state": 0},
    unlike=("n_directions",),
)
call("metrics.p_value_uniformity", mt.p_value_uniformity, ("p_values",))
call(
    "metrics.online_p_values",
    lambda score_list, random_state: mt.online_p_values(score_list, random_state=random_state),
    ("score_list",),
    given={"random_state": 0},
)
call(
    "metrics.OnlinePValues",
    lambda score_list, score, random_state: (
        (online := mt.OnlinePValues(random_state=random_state)).update_many(score_list),
        online.update(score),
    ),
    ("score_list",),
    given={"random_state": 0, "score": 0.5},
)


def watched(p_values, p_value, **parameters):
    martingale = mt.ExchangeabilityMartingale(**parameters)
    martingale.update_many(p_values)
    martingale.update(p_value)
    return martingale.value, martingale.alarm, martingale.log10_path, martingale.statement


call(
    "metrics.ExchangeabilityMartingale",
    watched,
    ("p_values",),
    given={"p_value": 0.5, "method": "simple_jumper", "alarm_at": 20.0, "jump_rate": 0.01},
)
call(
    "metrics.Slab",
    lambda X, direction, low, high: mt.Slab(direction, low, high).holds(X),
    ("X",),
    given={"direction": np.array([1.0, 0, 0, 0]), "low": 0.0, "high": 0.5},
    unlike=("direction", "low", "high"),
)

# --- labelsets: what a user says about them
# ------------------------------------------------------------------------
NAMES = ("sea", "city", "night")
CONSTRAINTS = {
    "AtLeast": {"k": 1, "labels": NAMES},
    "AtMost": {"k": 1, "labels": NAMES},
    "Exactly": {"k": 1, "labels": NAMES},
    "Exclude": {"labels": NAMES},
    "Implies": {"label": "sea", "then": "city"},
    "Hierarchy": {"parents": {"sea": "city"}},
    "Allowed": {"labelsets": [[1, 0, 0], [0, 1, 1]]},
}
for name, arguments in CONSTRAINTS.items():
    call(
        f"engine.{name}",
        lambda name=name, **p: c.calibrate_outputs(
            OUTPUTS,
            Y,
            constraints=getattr(ls, name)(**p),
            on_violation="drop",
            label_names=NAMES,
            random_state=0,
        ).predict_labelsets(OUTPUTS_NEW),
        given=arguments,
    )
call(
    "engine.compile_constraints",
    lambda constraints, labels: ls.compile_constraints(constraints, labels).labelsets(),
    given={"constraints": [ls.AtMost(1, [0, 1])], "labels": 3},
    unlike=("labels",),
)

# --- files, pictures and pages
# --------------------------------------------------------------------------------------


def in_a_folder(function):
    def run(**given):
        with tempfile.TemporaryDirectory() as folder:
            return function(Path(folder), **given)

    return run


def save_and_load(folder, model, table, trusted):
    mo.save_model(model, folder / "a.labelsure", table=table, trusted=trusted)
    loaded = mo.load_model(folder / "a.labelsure", trusted=trusted)
    return loaded.predict_labelsets(OUTPUTS_NEW)


call(
    "model_file.save_model",
    in_a_folder(save_and_load),
    given={"model": outputs_predictor(), "table": None, "trusted": ()},
)


def answers_in_tables(function, **given):
    import labelsure.batches as b

    if function == "TablePredictor":
        return b.TablePredictor(**given)(OUTPUTS_NEW)["confidence"].to_numpy()
    answers = b.predict_batches(batches=[OUTPUTS_NEW[:3], OUTPUTS_NEW[3:]], **given)
    return np.concatenate([table["confidence"].to_numpy() for table in answers])


for name in ("TablePredictor", "predict_batches"):
    call(
        f"batches.{name}",
        partial(answers_in_tables, name),
        given={"model": outputs_predictor(), "significance": 0.1, "top": 2, "keep": ()},
    )

for name in ("load_model", "open_model", "read_manifest"):
    call(
        f"model_file.{name}",
        lambda path, name=name: str(getattr(mo, name)(path)) and None,
        given={"path": "nowhere"},
    )
for name in ("load_dataset",):
    call(
        f"datasets.{name}",
        lambda name, data_home, download: ds.load_dataset(
            name, data_home=data_home, download=download
        ),
        given={"name": "nothing", "data_home": None, "download": False},
        unlike=("download",),
    )


def picture(name, *, of_objects=True):
    def run(**given):
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        from labelsure import plots

        try:
            display = getattr(plots, name).from_predictions(**given)
            display.figure_.canvas.draw()
            return name
        finally:
            plt.close("all")

    return run


call(
    "plots.CalibrationDisplay",
    picture("CalibrationDisplay"),
    ("Y_true",),
    given={**levels, "coverage_level": 0.9, "name": "a$b"},
    unlike=("name",),
    sparse=True,
)
call(
    "plots.ConfidenceDisplay",
    picture("ConfidenceDisplay"),
    ("Y_true",),
    given=of_predictions,
    sparse=True,
)
call(
    "plots.LabelDisplay",
    picture("LabelDisplay"),
    given={**of_predictions, "i": 1, "significance": 0.2},
)
call(
    "plots.LabelsetDisplay",
    picture("LabelsetDisplay"),
    ("Y_true",),
    given={**of_predictions, "i": 1, "significance": 0.2, "top": 3},
    sparse=True,
)
call(
    "plots.RegionSizeDisplay",
    picture("RegionSizeDisplay"),
    given={**of_predictions, "significance": (0.1, 0.2)},
)


def write_report(folder, Y_true, **given):
    from labelsure.report import write_report as write

    return write(folder / "a.html", Y=Y_true, **given)


call(
    "report.write_report",
    in_a_folder(write_report),
    ("Y_true",),
    sparse=True,
    given={**of_predictions, "objects": None, "groups": None, "title": "a page"},
)

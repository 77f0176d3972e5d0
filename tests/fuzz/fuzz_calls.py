"""Every public callable with arguments that work, derived from its signature.

A function is called; a class is made, and fitted where it has ``fit``; the methods of what users
hold are called on an object made for it. An argument comes from EXAMPLES, by ``Callable.parameter``
or by the name of the parameter, or is the default. What is an array there is a table of numbers,
for which fuzzing puts other forms and odd contents.
"""

import copy
import importlib
import inspect
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import labelsure
from labelsure import conformal, decisions, engine, learners, measures, metrics
from labelsure._checks import is_list
from labelsure.engine._engine import LabelsetEngine

ROOMS = sorted({*labelsure.__dir__()} & {*labelsure._HOME})
NAMES = ("sea", "city", "night")


def _eighths(n_columns, seed):
    return np.random.default_rng(seed).integers(0, 9, size=(20, n_columns)) / 8


X, X_NEW = _eighths(4, 0), _eighths(4, 3)
OUTPUTS, ROWS = _eighths(3, 1), np.arange(20)
Y = (np.random.default_rng(2).random((20, 3)) < OUTPUTS).astype(np.float64)
Y[~Y.any(axis=1), 0] = 1


def knn():
    return labelsure.MLkNNClassifier(2)


def logistic(**options):
    return MultiOutputClassifier(LogisticRegression(**options))


def worst(outputs, labelset):
    """For FunctionMeasure."""
    return np.abs(outputs - labelset).max(axis=1)


def first_is_high(X):
    """For ByObject, of any form of X."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    return rows[:, 0] > 0.5


def weigh(X):
    """For weight=, of any form of X."""
    return 0.5 + first_is_high(X)


@cache
def fitted(kind=conformal.CrossConformalClassifier, **options):
    """Return a predictor that is made once."""
    if kind is not conformal.LabelWiseConformalClassifier:
        options = {"measure": measures.PowerMeasure(), **options}
    return kind(knn(), random_state=0, **options).fit(X, Y, label_names=NAMES)


@cache
def calibrated(calibrate=conformal.calibrate_outputs, **options):
    """Return a predictor of ready-made outputs that is made once."""
    return calibrate(OUTPUTS, Y, random_state=0, label_names=NAMES, **options)


def predicted():
    return calibrated().predict_labelsets(OUTPUTS)


def labels_predicted():
    return calibrated(conformal.calibrate_labels).predict_labels(OUTPUTS)


def errors_found():
    return decisions.find_label_errors(smoothed(), X_NEW, Y, trusted=(X, Y), level=0.5)


def smoothed():
    return fitted(conformal.InductiveConformalClassifier, calibration_size=0.5, smoothed=True)


HELD = {
    "conformal.CrossConformalClassifier": lambda: fitted(cv=2),
    "conformal.InductiveConformalClassifier": smoothed,
    "conformal.LabelWiseConformalClassifier": lambda: fitted(
        conformal.LabelWiseConformalClassifier, calibration_size=0.5
    ),
    "conformal.OutputsPredictor": lambda: calibrated(smoothed=True),
    "conformal.LabelWiseOutputsPredictor": lambda: calibrated(conformal.calibrate_labels),
    "decisions.ReviewSelector": lambda: decisions.ReviewSelector(smoothed()).calibrate(X, Y),
    "decisions.ThresholdPredictor": lambda: decisions.control_recall(OUTPUTS, Y, target=0.7),
    "decisions.LabelCover": lambda: decisions.control_cover(OUTPUTS, Y, target=0.7),
    "decisions.QuestionPlan": lambda: decisions.plan(predicted().region(0.2), budget=5),
    "decisions.LabelErrors": errors_found,
    "measures.MeasureSum": lambda: measures.make_measure("power:2+pairs").fit(Y, outputs=OUTPUTS),
    "metrics.ExchangeabilityMartingale": metrics.ExchangeabilityMartingale,
    "metrics.OnlinePValues": lambda: metrics.OnlinePValues(random_state=0),
    "predictions.LabelsetPredictions": predicted,
    "predictions.LabelsetRegion": lambda: predicted().region(0.2),
    "predictions.ObjectRegion": lambda: predicted().region(0.2)[1],
    "predictions.LabelWisePredictions": labels_predicted,
    "predictions.LabelWiseRegion": lambda: labels_predicted().region(0.3),
    "predictions.RankedLabelsets": lambda: predicted().top(2),
    "predictions.Questions": predicted().region(0.2)[1].questions,
    "predictions.Summaries": lambda: predicted().summary(0.2),
    "predictions.Guarantee": lambda: predicted().guarantee,
}
"""How to make what users hold, whose public methods are called."""

SCRATCH = tempfile.TemporaryDirectory()
EXAMPLES = {
    "X": X, "objects": 1, "write_report.objects": None, **dict.fromkeys(("Y", "y", "Y_true"), Y),
    **dict.fromkeys(("outputs", "scores"), OUTPUTS), "alpha": 0.3,
    "batches": [OUTPUTS[:3], OUTPUTS[3:]], "budget": 5, "contains": ROWS % 3 > 0.0, "cv": 2,
    "data_home": None, "direction": [1.0, 0.0, 0.0, 0.0], "epsilon": 0.5, "estimator": knn(),
    "estimators": [("a", knn()), ("b", labelsure.MLkNNClassifier(3))],
    "first": measures.LogLossMeasure(), "folds": ROWS % 4, "function": worst, "groups": ROWS // 2,
    "high": 0.5, "i": 1, "k": 2, "labels": NAMES, "labelsets": [[1, 0, 0], [0, 1, 1]], "low": 0.0,
    "measure": measures.PowerMeasure(), "model": calibrated(), "n_calibration": 100, "n_labels": 3,
    "n_objects": 2, "n_suspects": 1000, "n_trusted": 100, "name": "power:2+pairs",
    "new_sureness": ROWS / 4, "p_value": 0.5, "p_values": (ROWS + 1) / 32,
    "parents": {"sea": "city"}, "path": "nowhere", "predictions": predicted(), "random_state": 0,
    "region": predicted().region(0.2), "right": ROWS % 4 > 0.0, "sample_weight": 1.0 + ROWS % 3,
    "score": 0.5, "second": measures.UnseenPenalty(), "significance": 0.2, "sizes": ROWS % 5.0,
    "sureness": ROWS / 16, "then": "city", "value": True,
    "AutoMeasure.candidates": [measures.PowerMeasure(), measures.LogLossMeasure()],
    "AutoMeasure.n_folds": 2, "AutoMeasure.n_objects": 5, "BPMLLClassifier.n_epochs": 1,
    "ByLabel.label": 1, "ByObject.function": first_is_high, "ForestMeasure.n_estimators": 2,
    "Implies.label": "sea", "MLNBClassifier.n_folds": 2, "MLNBClassifier.n_generations": 1,
    "MLNBClassifier.population_size": 4, "MLRBFClassifier.centre_fraction": 0.2,
    "MLkNNClassifier.n_neighbors": 2, "labelset": [1, 0, 1], "OnlinePValues.scores": ROWS / 8,
    "advise.model": smoothed(), "compile_constraints.constraints": [engine.AtMost(1, [0, 1])],
    "compile_constraints.labels": 3, "coverage_in_worst_slab.n_directions": 5,
    "find_label_errors.model": smoothed(), "find_label_errors.trusted": (X, Y),
    "find_label_errors.X": X_NEW, "load_dataset.name": "nothing", "load_dataset.download": False,
    "online_p_values.scores": ROWS / 8, "outputs_of.model": knn().fit(X, Y),
    "pac_region.delta": 0.4, "save_model.path": Path(SCRATCH.name) / "a.labelsure",
    "write_report.path": Path(SCRATCH.name) / "a.html", "ReviewSelector.model": smoothed(),
    "PosteriorMeasure.prior_exponent": 0.5, "PosteriorMeasure.marginals_share": 0.5,
    "PosteriorMeasure.temperature": 1.0, "PosteriorMeasure.intercepts": 0.0,
}  # fmt: skip
VARIANTS = {
    "batches.predict_batches": {"significance": 0.1, "top": 2, "keep": ()},
    "conformal.CrossConformalClassifier": {
        "estimator": logistic(),
        "sample_weight": EXAMPLES["sample_weight"],
    },
    "conformal.InductiveConformalClassifier": {"groups": EXAMPLES["groups"]},
    "conformal.calibrate_outputs": {"folds": EXAMPLES["folds"]},
    "conformal.calibrate_outputs, trained": {
        "training_labels": Y,
        "training_outputs": OUTPUTS,
        "measure": measures.make_measure("mahalanobis+unseen"),
    },
    "conformal.OutputsPredictor.predict_labelsets": {"X": X},
    "learners.PooledClassifier": {
        "estimators": [("a", logistic()), ("b", logistic(C=0.1))],
        "sample_weight": EXAMPLES["sample_weight"],
    },
    "report.write_report": {"Y": Y},
}
"""Further calls, with arguments whose default is None."""

UNLIKE = {
    "n_jobs", "memory", "n_epochs", "n_generations", "population_size", "n_init", "n_estimators",
    "n_directions", "download", "path", "data_home", "direction", "low", "high", "batches", "ax",
    "region", "PooledClassifier.cv", "RecalibratedClassifier.cv", "TablePredictor.columns",
    "calibrate_outputs.training_outputs", "find_label_errors.trusted", "fit_base.estimator",
}  # fmt: skip
"""Parameters without invalid values: these would hang, write, or fail with Python's message."""

NOT_CALLED = {
    "available_datasets", "broken_by", "compile_kernels", "infer_schema", "open_table",
    "read_hierarchy", "read_mulan", "table_pipeline", "table_pool",
}  # fmt: skip
"""Functions of files, which are fuzzed with their room, and what takes no data of a user's."""

NOT_ASKED = {
    "check_form", "check_parameters", "fit", "get_metadata_routing", "get_params", "hold", "join",
    "parts", "posterior", "set_output", "set_params", "energy", "count", "index", "undo",
}  # fmt: skip
"""Methods that predictors call, of scikit-learn, or of Sequence."""

MAKES = (
    BaseEstimator, engine.Constraint, measures.Measure, measures.AutoMeasure,
    conformal.ByCardinality, conformal.ByLabel, conformal.ByObject,
    conformal.MultiLabelStratifiedKFold, metrics.ExchangeabilityMartingale, metrics.OnlinePValues,
    metrics.Slab, labelsure.TablePredictor,
)  # fmt: skip
"""Classes that users make; the others are results."""

BASES = (engine.Constraint, measures.Measure)

FIRST = ("fit", "calibrate", "split", "update_many", "holds")
"""Methods of which a class's first is called on a new object."""


@dataclass(frozen=True)
class Call:
    """A function of keyword arguments, and arguments that work."""

    owner: str
    run: Callable[..., Any]
    arguments: dict[str, Any]

    @property
    def tables(self):
        """The names of arguments that are tables of numbers."""
        return [name for name, value in self.arguments.items() if isinstance(value, np.ndarray)]

    @property
    def others(self):
        """The names of arguments that may have odd values."""
        free = {*self.arguments} - {*self.tables} - UNLIKE
        return sorted(name for name in free if f"{self.owner}.{name}" not in UNLIKE)

    def answer(self, **changes):
        """Return the plain answer with some arguments changed."""
        return plain_answer(self.run(**{**self.arguments, **changes}))


def arguments_of(owner, *functions):
    """Return arguments that work, by the names in signatures."""
    arguments = {}
    for parameter in (p for f in functions for p in inspect.signature(f).parameters.values()):
        if parameter.name == "self" or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        value, required = parameter.default, parameter.default is parameter.empty
        if required or value is None or parameter.name == "cv":
            example = EXAMPLES.get(parameter.name, value)
            usual = required or parameter.name == "outputs" or not isinstance(example, np.ndarray)
            value = example if usual else value
        value = EXAMPLES.get(f"{owner}.{parameter.name}", value)
        assert value is not parameter.empty, f"EXAMPLES lacks {owner}.{parameter.name}"
        arguments[parameter.name] = value
    return arguments


def make(kind, first):
    """Return a function that makes an object and calls its first method."""

    def run(**given):
        names = inspect.signature(kind).parameters
        made = kind(**{name: value for name, value in given.items() if name in names})
        rest = {name: value for name, value in given.items() if name not in names}
        return getattr(made, first)(**rest) if first else made

    return run


def drawn(from_predictions):
    """Return a function that draws a display and closes its figure."""

    @wraps(from_predictions)
    def run(**given):
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot

        try:
            display = from_predictions(**given)
            display.figure_.canvas.draw()
            return type(display).__name__
        finally:
            pyplot.close("all")

    return run


def derive_calls():
    """Return a call of every public callable, by ``room.name`` or ``room.Class.method``."""
    calls = {}
    for room in ROOMS:
        public = importlib.import_module(f"labelsure.{room}")
        for name in public.__all__:
            what = getattr(public, name)
            if hasattr(what, "from_predictions"):
                what = drawn(what.from_predictions)
            if inspect.isclass(what) and issubclass(what, MAKES) and what not in BASES:
                first = next((method for method in FIRST if hasattr(what, method)), None)
                first = None if issubclass(what, measures.Measure) else first
                functions = [what, getattr(what, first)] if first else [what]
                calls[f"{room}.{name}"] = Call(
                    name, make(what, first), arguments_of(name, *functions)
                )
            elif inspect.isroutine(what) and name not in NOT_CALLED:
                calls[f"{room}.{name}"] = Call(name, what, arguments_of(name, what))
    for owner, hold in HELD.items():
        kind = type(hold())
        for method, function in inspect.getmembers(kind, inspect.isfunction):
            special = method in ("__getitem__", "__contains__", "_repr_html_")
            ours = function.__module__.startswith("labelsure")
            if ours and method not in NOT_ASKED and (special or method[0] != "_"):
                arguments = arguments_of(kind.__name__, function)
                calls[f"{owner}.{method}"] = Call(
                    kind.__name__,
                    lambda hold=hold, function=function, **given: function(
                        copy.copy(hold()), **given
                    ),
                    arguments,
                )
    for name, more in VARIANTS.items():
        call = calls[name.partition(",")[0].partition(" ")[0]]
        calls[f"{name} {'+'.join(more)}"] = Call(call.owner, call.run, call.arguments | more)
    return calls


def plain_answer(answer):  # noqa: PLR0911 - one line per type
    """Return an answer as nested tuples of arrays, numbers and texts."""
    match answer:
        case None | str() | bytes() | bool() | int() | float():
            return answer
        case np.generic():
            return np.array(answer) if answer.dtype.kind in "OUSV" else answer.item()
        case np.ndarray() if answer.dtype == object:
            return plain_answer(answer.tolist())
        case np.ndarray():
            return np.ascontiguousarray(answer)
        case Path():
            return answer.name
        case Mapping():
            return tuple((plain_answer(key), plain_answer(value)) for key, value in answer.items())
    if type(answer).__module__.startswith("labelsure"):
        return used(answer)
    if sparse.issparse(answer):
        return answer.toarray()
    if hasattr(answer, "iloc"):
        cells = answer.astype(object).where(answer.notna(), None).to_numpy()
        return tuple(map(str, answer.columns)), plain_answer(cells)
    if hasattr(answer, "to_pylist"):
        return plain_answer(answer.to_pylist())
    if isinstance(answer, Sequence | set | frozenset | Iterator):
        return tuple(map(plain_answer, answer))
    return type(answer).__name__


def used(thing):  # noqa: PLR0911 - one line per kind of object
    """Return what an object of ours says or does, as plain answers."""
    if isinstance(thing, measures.Measure | measures.AutoMeasure):
        whole = measures.PowerMeasure() + thing if isinstance(thing, PENALTIES) else thing
        model = conformal.InductiveConformalClassifier(knn(), measure=whole, random_state=0)
        return used(model.fit(X, Y))
    if isinstance(thing, engine.Constraint):
        options = {"constraints": thing, "on_violation": "drop"}
        return used(conformal.calibrate_outputs(OUTPUTS, Y, label_names=NAMES, **options))
    if type(thing).__module__.startswith("labelsure.conformal._taxonomy"):
        predictor = conformal.calibrate_outputs(OUTPUTS, Y, X=X, mondrian=thing)
        return used(predictor.predict_labelsets(OUTPUTS, X))
    for ask in ("predict_labelsets", "predict_labels", "predict"):
        if hasattr(thing, ask):
            fold_numbers = getattr(thing, "fold_numbers", None)
            data = X if hasattr(thing, "fit") else OUTPUTS
            asked = data if fold_numbers is None else [data] * len(fold_numbers)
            return plain_answer(getattr(thing, ask)(asked))
    if hasattr(thing, "select"):
        return plain_answer(thing.select(X, alpha=0.3))
    if isinstance(thing, labelsure.TablePredictor):
        return plain_answer(thing(OUTPUTS))
    if isinstance(thing, learners.FittedBase):
        return learners.outputs_of(thing, X, 3)
    if isinstance(thing, LabelsetEngine) or (is_list(thing) and not is_dataclass(thing)):
        return type(thing).__name__
    return tuple((name, plain_answer(getattr(thing, name))) for name in public_attributes(thing))


PENALTIES = (measures.CardinalityPenalty, measures.HammingPenalty, measures.UnseenPenalty)
UNREAD = {"coverage", "label_names", "index", "names", "objects", "region", "guarantee"}
"""Attributes that are texts that a form of the data may bring along, or objects already seen."""


def public_attributes(thing):
    """Return the names of a result's fields and properties."""
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    names += [
        name
        for name, value in inspect.getmembers(type(thing))
        if isinstance(value, property | cached_property)
    ]
    return sorted({name for name in names if name[0] != "_"} - UNREAD)


CALLS = derive_calls()

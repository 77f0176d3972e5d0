"""Every public callable with arguments that work: what fuzzing puts odd tables and odd values into.

A call is a function of keyword arguments; ``tables`` names those that are tables of numbers.
Classes are called with the arguments of their constructor and of what is asked of them next, so
that nothing that can be set goes unseen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from fuzz_answers import plain_answer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import labelsure
import labelsure.conformal as c
import labelsure.measures as m

N, Q, N_NEW = 16, 3, 4


@dataclass(frozen=True)
class Call:
    """A call that works.

    Attributes
    ----------
    function : callable
        Of keyword arguments alone.
    arguments : dict
        That work. Never changed.
    tables : tuple of str
        Which of them are tables of numbers.
    learner : bool
        Whether one of the tables is handed to a learner as it is.
    unlike : tuple of str
        Which arguments no odd value is put in for, because every one is taken, or some would take
        for ever.
    sparse : bool
        Whether tables of numbers may be sparse.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    tables: tuple[str, ...] = ()
    learner: bool = False
    unlike: tuple[str, ...] = ("n_jobs",)
    objects: tuple[str, ...] = ()
    sparse: bool = False

    def answer(self, **changes):
        """Return the plain answer to the call with some arguments changed."""
        return plain_answer(self.function(**{**self.arguments, **changes}))


CALLS: dict[str, Call] = {}
"""Calls by the name of what they call, ``room.name`` or ``room.Class.method``."""


def call(name, function, tables=(), **options):
    """Add a call; ``given`` are its arguments that are no tables."""
    given = options.pop("given", {})
    arguments = {
        one: TABLES[one.removeprefix("training_") if one not in TABLES else one] for one in tables
    }
    CALLS[name] = Call(function, arguments | given, tuple(tables), **options)


def _eighths(shape, seed):
    return np.random.default_rng(seed).integers(0, 9, size=shape) / 8


X = _eighths((N, 4), 0)
OUTPUTS = _eighths((N, Q), 1)
Y = (np.random.default_rng(2).random((N, Q)) < OUTPUTS).astype(np.float64)
Y[~Y.any(axis=1), 0] = 1
X_NEW, OUTPUTS_NEW = _eighths((N_NEW, 4), 3), _eighths((N_NEW, Q), 4)
Y_NEW = (np.random.default_rng(5).random((N_NEW, Q)) < 0.5).astype(np.float64)
TABLES = {
    "X": X,
    "y": Y,
    "Y": Y,
    "outputs": OUTPUTS,
    "X_new": X_NEW,
    "outputs_new": OUTPUTS_NEW,
    "Y_new": Y_NEW,
    "Y_true": Y,
    "Y_pred": np.roll(Y, 1, axis=0),
    "scores": OUTPUTS,
    "labels": Y,
    "y_new": Y_NEW,
    "p_values": (np.arange(N) + 1) / 16,
    "score_list": np.arange(N) / 8,
    "contains": np.arange(N) % 3 > 0,
    "sizes": np.arange(N) % 5,
    "folds": np.arange(N) % 4,
    "groups": np.arange(N) // 2,
    "sureness": np.arange(N) / 16,
    "right": np.arange(N) % 4 > 0,
    "new_sureness": np.arange(N_NEW) / 4,
    "group_list": np.arange(N) % 2,
    "sample_weight": 1 + np.arange(N) % 3,
}
WHOLE = ("folds", "groups", "group_list")
"""Tables of names, which may be refused or read in another way where they are no whole numbers."""
TABLES = {
    name: np.asarray(values, dtype=None if name in WHOLE else np.float64)
    for name, values in TABLES.items()
}


def knn():
    return labelsure.MLkNNClassifier(2)


def worst(outputs, labelset):
    """For FunctionMeasure."""
    return np.abs(outputs - labelset).max(axis=1)


def first_is_high(X):
    """For ByObject, of any form of X."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    return rows[:, 0] > 0.5


# --- conformal
# ----------------------------------------------------------------------------------------------------
def fit_and_predict(kind, ask="predict_labelsets"):
    """A classifier made, fitted and asked in one call."""

    def run(X, y, X_new, label_names=None, groups=None, sample_weight=None, **parameters):
        fit_params = {} if sample_weight is None else {"sample_weight": sample_weight}
        fit_params |= {} if groups is None else {"groups": groups}
        model = kind(**parameters)
        model = model.fit(X, y, label_names=label_names, **fit_params)
        return getattr(model, ask)(X_new)

    return run


XY = ("X", "y", "X_new")
common = {
    "estimator": knn(),
    "measure": m.PowerMeasure(),
    "empty": "auto",
    "smoothed": False,
    "constraints": None,
    "on_violation": "refuse",
    "random_state": 0,
    "n_jobs": None,
    "label_names": None,
}
learning = {"learner": True, "objects": ("X", "X_new")}
call(
    "conformal.CrossConformalClassifier",
    fit_and_predict(c.CrossConformalClassifier),
    XY,
    **learning,
    given={**common, "cv": 2, "guarantee": "cross", "mondrian": None, "groups": None},
)
call(
    "conformal.InductiveConformalClassifier",
    fit_and_predict(c.InductiveConformalClassifier),
    XY,
    **learning,
    given={**common, "calibration_size": 0.5, "prefit": False, "mondrian": None, "weight": None},
)
call(
    "conformal.FullConformalClassifier",
    lambda X_new, **given: fit_and_predict(c.FullConformalClassifier)(X_new=X_new[:1], **given),
    ("X", "y"),
    **learning,
    given={**common, "max_fits": 10_000, "X_new": X_NEW},
    unlike=("n_jobs", "X_new"),
)
call(
    "conformal.LabelWiseConformalClassifier",
    fit_and_predict(c.LabelWiseConformalClassifier, "predict_labels"),
    XY,
    **learning,
    given={
        "estimator": knn(),
        "conditional": False,
        "calibration_size": 0.5,
        "cv": None,
        "prefit": False,
        "smoothed": False,
        "random_state": 0,
        "n_jobs": None,
        "label_names": None,
    },
)


@cache
def fitted(kind=c.InductiveConformalClassifier, **parameters):
    """A fitted predictor, made once."""
    given = {"measure": m.PowerMeasure()} if kind is not c.LabelWiseConformalClassifier else {}
    return kind(knn(), random_state=0, **given, **parameters).fit(
        X, Y, label_names=("sea", "city", "night")
    )


def cross():
    return fitted(c.CrossConformalClassifier, cv=2)


def smoothed():
    return fitted(calibration_size=0.5, smoothed=True)


def label_wise():
    return fitted(c.LabelWiseConformalClassifier, calibration_size=0.5)


def copy_of(model):
    """A model that may be changed."""
    import copy

    return copy.copy(model)


for kind in ("CrossConformalClassifier", "InductiveConformalClassifier"):
    model = cross if kind.startswith("Cross") else smoothed
    call(
        f"conformal.{kind}.predict",
        lambda X_new, model=model: model().predict(X_new),
        ("X_new",),
        **learning,
    )
    call(
        f"conformal.{kind}.predict_labelsets",
        lambda X_new, model=model: model().predict_labelsets(X_new),
        ("X_new",),
        **learning,
    )
    call(
        f"conformal.{kind}.nonconformity",
        lambda X_new, y_new, model=model: model().nonconformity(X_new, y_new),
        ("X_new", "y_new"),
        **learning,
    )
    call(
        f"conformal.{kind}.recalibrate",
        lambda X, y, X_new, model=model, **p: (
            model().recalibrate(X, y, **p).predict_labelsets(X_new)
        ),
        XY,
        **learning,
        given={
            "measure": m.LogLossMeasure(),
            "smoothed": False,
            "empty": "allow",
            "mondrian": None,
        },
    )
call(
    "conformal.InductiveConformalClassifier.update",
    lambda X, y, X_new: copy_of(smoothed()).update(X, y).predict_labelsets(X_new),
    XY,
    **learning,
)
call(
    "conformal.LabelWiseConformalClassifier.update",
    lambda X, y, X_new: copy_of(label_wise()).update(X, y).predict_labels(X_new),
    XY,
    **learning,
)
call(
    "conformal.LabelWiseConformalClassifier.predict",
    lambda X_new: label_wise().predict(X_new),
    ("X_new",),
    **learning,
)
call(
    "conformal.LabelWiseConformalClassifier.predict_labels",
    lambda X_new: label_wise().predict_labels(X_new),
    ("X_new",),
    **learning,
)
call(
    "conformal.FullConformalClassifier.n_fits",
    lambda n_objects: c.FullConformalClassifier(knn()).fit(X, Y).n_fits(n_objects),
    given={"n_objects": 2},
)
call(
    "conformal.prefit",
    lambda X, y, X_new, **p: (
        c.InductiveConformalClassifier(
            knn().fit(TABLES["X"], TABLES["y"]), prefit=True, random_state=0
        )
        .fit(X, y, **p)
        .predict_labelsets(X_new)
    ),
    XY,
    given={"training_labels": Y, "training_outputs": OUTPUTS, "label_names": None},
    **learning,
)
call(
    "conformal.weighted",
    fit_and_predict(c.InductiveConformalClassifier),
    (*XY, "groups"),
    **learning,
    given={
        "estimator": knn(),
        "measure": m.PowerMeasure(),
        "calibration_size": 0.5,
        "random_state": 0,
    },
)
call(
    "conformal.sample_weight",
    fit_and_predict(c.CrossConformalClassifier),
    (*XY, "sample_weight"),
    **learning,
    given={
        "estimator": MultiOutputClassifier(LogisticRegression()),
        "cv": 2,
        "measure": m.PowerMeasure(),
        "random_state": 0,
    },
)


def calibrate_and_predict(outputs, Y, outputs_new, **options):
    return c.calibrate_outputs(outputs, Y, **options).predict_labelsets(outputs_new)


OUT = ("outputs", "Y", "outputs_new")
choices = {
    "measure": m.PowerMeasure(),
    "default_output": 0.0,
    "X": None,
    "guarantee": "cross",
    "mondrian": None,
    "weight": None,
    "empty": "auto",
    "label_names": None,
    "smoothed": False,
    "constraints": None,
    "on_violation": "refuse",
    "random_state": 0,
    "n_jobs": None,
}
call(
    "conformal.calibrate_outputs",
    calibrate_and_predict,
    OUT,
    sparse=True,
    given={**choices, "folds": None, "training_labels": None, "training_outputs": None},
)
call(
    "conformal.calibrate_outputs with folds",
    lambda outputs, Y, outputs_new, folds, **p: c.calibrate_outputs(
        outputs, Y, folds=folds, **p
    ).predict_labelsets([outputs_new] * 4),
    (*OUT, "folds"),
    given=choices,
    sparse=True,
)
call(
    "conformal.calibrate_outputs, trained",
    lambda outputs, Y, outputs_new, labels, scores: calibrate_and_predict(
        outputs,
        Y,
        outputs_new,
        training_labels=labels,
        training_outputs=scores,
        measure=m.make_measure("mahalanobis+unseen"),
    ),
    (*OUT, "labels", "scores"),
)
call(
    "conformal.calibrate_labels",
    lambda outputs, Y, outputs_new, **p: c.calibrate_labels(outputs, Y, **p).predict_labels(
        outputs_new
    ),
    OUT,
    given={
        "folds": None,
        "conditional": False,
        "label_names": None,
        "smoothed": False,
        "random_state": 0,
    },
)


@cache
def outputs_predictor(**options):
    return c.calibrate_outputs(
        OUTPUTS, Y, random_state=0, label_names=("sea", "city", "night"), **options
    )


call(
    "conformal.OutputsPredictor.predict",
    lambda outputs_new: outputs_predictor().predict(outputs_new),
    ("outputs_new",),
    sparse=True,
)
call(
    "conformal.OutputsPredictor.predict_proba",
    lambda outputs_new: outputs_predictor().predict_proba(outputs_new),
    ("outputs_new",),
    sparse=True,
)
call(
    "conformal.OutputsPredictor.predict_labelsets",
    lambda outputs_new, X_new: outputs_predictor(smoothed=True).predict_labelsets(
        outputs_new, X_new
    ),
    ("outputs_new", "X_new"),
    sparse=True,
    objects=("X_new",),
)
call(
    "conformal.OutputsPredictor.nonconformity",
    lambda outputs_new, Y_new: outputs_predictor().nonconformity(outputs_new, Y_new),
    ("outputs_new", "Y_new"),
    sparse=True,
)
call(
    "conformal.OutputsPredictor.update",
    lambda outputs, Y, outputs_new: (
        copy_of(outputs_predictor()).update(outputs, Y).predict_labelsets(outputs_new)
    ),
    OUT,
    sparse=True,
)
call(
    "conformal.LabelWiseOutputsPredictor.predict_labels",
    lambda outputs_new: c.calibrate_labels(
        OUTPUTS, Y, smoothed=True, random_state=0
    ).predict_labels(outputs_new),
    ("outputs_new",),
)
call(
    "conformal.LabelWiseOutputsPredictor.update",
    lambda outputs, Y, outputs_new: (
        c.calibrate_labels(OUTPUTS, TABLES["Y"], random_state=0)
        .update(outputs, Y)
        .predict_labels(outputs_new)
    ),
    OUT,
)
call(
    "conformal.MultiLabelStratifiedKFold",
    lambda X, y, **p: [*c.MultiLabelStratifiedKFold(**p).split(X, y)],
    ("X", "y"),
    given={"n_splits": 3, "shuffle": True, "random_state": 0},
    objects=("X",),
)
for kind, argument in (("ByCardinality", {"at_most": 2}), ("ByLabel", {"label": 1})):
    call(
        f"conformal.{kind}",
        lambda X, y, X_new, kind=kind, **p: fit_and_predict(c.CrossConformalClassifier)(
            X,
            y,
            X_new,
            estimator=knn(),
            cv=2,
            mondrian=getattr(c, kind)(**p),
            measure=m.PowerMeasure(),
            random_state=0,
        ),
        XY,
        given=argument,
        **learning,
    )
call(
    "conformal.ByObject",
    lambda X, y, X_new, function: fit_and_predict(c.InductiveConformalClassifier)(
        X,
        y,
        X_new,
        estimator=knn(),
        mondrian=c.ByObject(function),
        measure=m.PowerMeasure(),
        random_state=0,
        calibration_size=0.5,
    ),
    XY,
    given={"function": first_is_high},
    **learning,
)
call("conformal.compile_kernels", lambda: len(c.compile_kernels.__doc__) > 0)

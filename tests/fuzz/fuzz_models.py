"""Strategies for whole models: predictors, learners, measures, guarantees, categories, constraints, and their data."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fuzz_answers import plain_answer
from fuzz_calls import first_is_high, worst
from fuzz_cases import forms_of
from fuzz_forms import FRAMES, MATRICES, plain
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from constraint_cases import random_constraints
from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PooledClassifier,
    RecalibratedClassifier,
    calibrate_labels,
    calibrate_outputs,
)
from labelsure._random import set_missing_seeds
from labelsure.conformal import GUARANTEES, ByCardinality, ByLabel, ByObject
from labelsure.measures import MEASURES, FunctionMeasure, make_measure

ODD_NAMES = [
    "",
    "sea",
    "x" * 3000,
    "\u00e9\u202e\U0001f600",
    "label_0",
    "0",
    "a,b",
    "p_value",
    "object",
    "size",
    "a\nb",
]
SLOW = {"auto", "posterior-forest", "forest"}
"""Measures that are not drawn: they train hundreds of trees, or try all others."""

LEARNERS = {
    "neighbours": lambda: MLkNNClassifier(2),
    "centres": lambda: MLRBFClassifier(centre_fraction=0.3),
    "logistic": lambda: MultiOutputClassifier(LogisticRegression()),
    "tree": lambda: DecisionTreeClassifier(max_depth=2),
    "pool": lambda: PooledClassifier([("a", MLkNNClassifier(2)), ("b", MLkNNClassifier(3))], cv=2),
    "recalibrated": lambda: RecalibratedClassifier(MLkNNClassifier(2), cv=2),
}
KINDS = (
    "outputs",
    "folds",
    "labels of outputs",
    "cross",
    "inductive",
    "prefit",
    "full",
    "label-wise",
)
FROM_OUTPUTS = KINDS[:3]
EXACT_X = {"neighbours", "pool", "recalibrated"}
"""Learners that read X as float64, whatever it comes as: others keep float32, or add up sparse rows in their order."""


@dataclass
class Configuration:
    """A model to be made, and its data as float64."""

    kind: str
    learner: str
    options: dict[str, Any]
    X: np.ndarray
    Y: np.ndarray
    X_new: np.ndarray
    level: float
    forms: dict[str, str] = field(default_factory=dict)

    def tables(self):
        """The data in their forms, and as plain arrays."""
        odd, usual = {}, {}
        for name, values in {"X": self.X, "Y": self.Y, "X_new": self.X_new}.items():
            form = forms_of(values)[self.forms[name]]
            odd[name], usual[name] = form.make(values), plain(values, form)
        return odd, usual

    def run(self, X, Y, X_new):
        """Make the model, ask it, and return the plain answer."""
        answer = self._ask(X, Y, X_new)
        return plain_answer(answer), plain_answer(answer.region(self.level))

    def _ask(self, X, Y, X_new):
        match self.kind:
            case "outputs":
                return calibrate_outputs(X, Y, **self.options).predict_labelsets(X_new)
            case "folds":
                folds = np.arange(len(self.Y)) % 2
                return calibrate_outputs(X, Y, folds=folds, **self.options).predict_labelsets(
                    [X_new, X_new]
                )
            case "labels of outputs":
                return calibrate_labels(X, Y, **self.options).predict_labels(X_new)
        made = {"cross": CrossConformalClassifier, "full": FullConformalClassifier,
                "label-wise": LabelWiseConformalClassifier}.get(self.kind, InductiveConformalClassifier)  # fmt: skip
        learner = LEARNERS[self.learner]()
        if self.kind == "prefit":
            set_missing_seeds(learner, 0).fit(
                self.X, self.Y.astype(int)
            )  # the same learner for each form
        names = self.options.get("label_names")
        options = {name: value for name, value in self.options.items() if name != "label_names"}
        model = made(learner, **options).fit(X, Y, label_names=names)
        return (
            model.predict_labels(X_new)
            if self.kind == "label-wise"
            else model.predict_labelsets(X_new)
        )


@st.composite
def measures(draw):
    """Any measure: by its name in the registry, a sum of several, or a function of one's own."""
    words = sorted(
        name for name, word in MEASURES.items() if word.role == "measure" and name not in SLOW
    )
    penalties = sorted(
        name for name, word in MEASURES.items() if word.role in ("penalty", "option")
    )
    if draw(st.integers(0, 9)) == 0:
        return FunctionMeasure(worst)
    added = draw(st.lists(st.sampled_from(penalties), max_size=2, unique=True))
    return "+".join([draw(st.sampled_from(words)), *added])


@st.composite
def configurations(draw):
    """Any model that can be asked for: some are refused."""
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n, q = draw(st.sampled_from([1, 2, 9, 16])), draw(st.sampled_from([1, 2, 3, 3, 4]))
    n_features = q if kind in FROM_OUTPUTS else draw(st.sampled_from([1, 4]))
    X, X_new = (
        rng.integers(0, 9, (rows, n_features)) / 8 for rows in (n, draw(st.sampled_from([0, 1, 3])))
    )
    Y = (rng.random((n, q)) < draw(st.sampled_from([0.0, 0.5, 1.0]))).astype(np.float64)
    options = {"random_state": 0, "smoothed": draw(st.booleans())}
    if draw(st.booleans()):
        options["label_names"] = draw(st.lists(st.sampled_from(ODD_NAMES), min_size=q, max_size=q))
    if kind in ("label-wise", "labels of outputs"):
        options["conditional"] = draw(st.booleans())
    else:
        options["measure"] = draw(measures())
        options["empty"] = draw(st.sampled_from(["auto", "allow", "exclude"]))
        if draw(st.booleans()):
            options["constraints"] = random_constraints(rng, q)
            options["on_violation"] = draw(st.sampled_from(["refuse", "drop"]))
    if kind in ("cross", "folds"):
        options["guarantee"] = draw(st.sampled_from(["cross", *GUARANTEES]))
    if kind in ("cross", "inductive", "prefit", "outputs", "folds") and draw(st.booleans()):
        categories = [
            ByCardinality(2),
            ByLabel(0),
            ByObject(first_is_high),
            "cardinality",
            0,
            q - 1,
        ]
        options["mondrian"] = draw(st.sampled_from(categories))
    if kind == "cross":
        options["cv"] = draw(st.sampled_from([2, 3]))
    if kind in ("inductive", "prefit") and draw(st.integers(0, 4)) == 0:
        options["weight"] = weigh
    if kind == "prefit":
        options["prefit"] = True
    if isinstance(options.get("measure"), str):
        options["measure"] = safe_measure(options["measure"])
    both = Y.min(axis=0).max() < Y.max(axis=0).min()
    learners = sorted(
        {*LEARNERS} - (set() if kind != "prefit" or both else {"logistic"})
    )  # which takes no one class
    made = Configuration(
        kind,
        draw(st.sampled_from(learners)),
        options,
        X,
        Y,
        X_new,
        draw(st.sampled_from([0.01, 0.2, 0.5])),
    )
    made.forms = {
        name: draw(st.sampled_from(usable_forms(made, name))) for name in ("X", "Y", "X_new")
    }
    return made


def usable_forms(made, name):
    """The forms that must give the answer for plain arrays."""
    values = getattr(made, name)
    forms = {one: form for one, form in forms_of(values).items() if form.verdict == "same"}
    exact = made.kind in FROM_OUTPUTS or made.learner in EXACT_X
    if name != "Y" and not exact:
        return ["plain", "Fortran", "read-only", "big-endian", "lists", "strided"]
    sparse = (
        {*MATRICES} if name != "Y" and made.kind in FROM_OUTPUTS else set()
    )  # not every measure takes them
    of_labels = name == "Y" or made.kind in FROM_OUTPUTS
    other_names = {*FRAMES} if "label_names" in made.options and of_labels else set()  # are refused
    listed = (
        {"lists", "tuples", "list of arrays"} if len(values) == 0 else set()
    )  # which have no columns then
    return sorted({*forms} - {"matrix"} - sparse - other_names - listed)


def safe_measure(name):
    """The measure of a name; small where it has trees."""
    try:
        measure = make_measure(name)
    except ValueError:
        return name  # refused by the predictor in the same words
    small = {key: 2 for key in measure.get_params() if key.endswith("n_estimators")}
    return measure.set_params(**small)


def weigh(X):
    """Weights of objects in any form."""
    return 0.5 + first_is_high(X)

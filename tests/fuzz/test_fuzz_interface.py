"""Every public call, with odd tables and odd values: a right answer, or an error in words.

Here a few hundred calls, always the same in CI; ``make validity`` makes tens of thousands
(``LABELSURE_FUZZ_CALLS``).
"""

import importlib
import inspect
import os
from dataclasses import is_dataclass
from enum import Enum
from importlib.util import find_spec

import numpy as np
import pytest
from fuzz_calls import (
    BASES,
    CALLS,
    HELD,
    NOT_CALLED,
    OUTPUTS,
    ROOMS,
    Y,
    first_is_high,
    logistic,
    weigh,
)
from fuzz_forms import ARRAYS, FRAMES, MATRICES, NEEDED, fingerprint, plain
from fuzz_junk import ODD_TABLES, VALUES
from fuzz_rules import Broken, Refusal, describe, outcome_of, same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labelsure import (
    MLRBFClassifier,
    calibrate_labels,
    calibrate_outputs,
    control_cover,
    control_precision,
    control_recall,
)
from labelsure.conformal import GUARANTEES, ByCardinality, ByLabel, ByObject
from labelsure.engine import AtLeast, AtMost, Exclude, Implies
from labelsure.measures import MEASURES, make_measure

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = int(os.environ.get("LABELSURE_FUZZ_CALLS", "40000"))
"""About how many calls the long run makes in all."""

FEW = settings(
    derandomize=True,
    max_examples=40,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
MANY = settings(FEW, max_examples=max(LONG // 24, 1), derandomize=False)

REFUSED_ANYWAY = {
    "conformal.CrossConformalClassifier.update", "datasets.load_dataset", "model_file.load_model",
    "model_file.open_model", "model_file.read_manifest",
}  # fmt: skip
"""Calls that are refused with the arguments that are given here."""

LAST_DIGITS = ("paper.MLRBFClassifier",)
"""Learners whose last digits depend on the order in which sparse entries reach them."""

NAMES_OF_GROUPS = ("folds", "groups")
"""Tables that may hold anything, or must hold whole numbers."""

MEASURED = ("p_values", "sizes", "scores")
"""Tables in which truth values are a mistake, such as a mask for what it was made from."""

TRUTHS = ("bool", "object of bools", "object of several")

SLOW = {"auto", "posterior-forest", "forest"}
WORDS = {role: [name for name, word in MEASURES.items() if word.role == role and name not in SLOW]
         for role in ("measure", "penalty")}  # fmt: skip
CHOICES = {
    "conditional": [False, True],
    "constraints": [AtMost(1, [0, 1]), [Implies(0, 1), AtLeast(1, [0, 1, 2])], Exclude([1, 2])],
    "cv": [2, 3],
    "empty_labelset": ["auto", "allow", "exclude"],
    "estimator": [logistic(), MLRBFClassifier(centre_fraction=0.3)],
    "guarantee": ["cross", *GUARANTEES],
    "label_names": [("", "x" * 3000, "\u00e9\u202e\U0001f600"), ("p_value", "a,b", "a\nb")],
    "measure": [make_measure(word) for word in WORDS["measure"]]
    + [make_measure(f"power:2+{word}") for word in WORDS["penalty"]],
    "mondrian": [ByCardinality(2), ByLabel(0), ByObject(first_is_high), "cardinality", 2],
    "on_violation": ["refuse", "drop"],
    "smoothed": [False, True],
    "weight": [weigh],
}
"""Valid values of parameters: whole configurations are drawn from them."""


def forms_of(values):
    """Return the forms in which a table can be brought, by name."""
    forms = ARRAYS | (MATRICES | FRAMES if values.ndim == 2 else {})
    needed = {name: NEEDED.get(name.split(",")[0].split()[0], "numpy") for name in forms}
    return {name: form for name, form in forms.items() if find_spec(needed[name]) is not None}


def ask(name, /, **changes):
    """Return what a call answers to changed arguments, which must stay as they are."""
    call = CALLS[name]
    before = {argument: fingerprint(value) for argument, value in changes.items()}
    answer = outcome_of(
        lambda: call.answer(**changes),
        learner="X" in call.tables or name == "measures.ForestMeasure",
        indexing=name.endswith(("__getitem__", "__contains__")),
    )
    for argument, value in changes.items():
        if fingerprint(value) != before[argument]:
            raise Broken(f"{argument} was changed: {describe(value)}")
    return answer


def verdict_on(table, form_name, form):
    """Return whether a form must be read like the plain array ("same"), refused, or either."""
    if table in NAMES_OF_GROUPS or (table in MEASURED and form_name in TRUTHS):
        return "either"
    if table == "X" and form_name in ("masked", "list of masked"):
        return "refused"
    if (table == "X" and form.verdict == "refused") or form_name in MATRICES:
        return "either" if table == "X" or form.verdict == "same" else form.verdict
    return form.verdict


def check_forms(draw, name):
    """Raise Broken where odd forms have another answer than plain arrays, or a wrong refusal."""
    call = CALLS[name]
    choosable = sorted({*CHOICES} & {*call.arguments})
    chosen = (
        draw(st.lists(st.sampled_from(choosable), max_size=4, unique=True)) if choosable else []
    )
    options = {choice: draw(st.sampled_from(CHOICES[choice]), label=choice) for choice in chosen}
    odd, usual, verdicts = {}, {}, {}
    for table in draw(st.lists(st.sampled_from(call.tables), min_size=1, max_size=2, unique=True)):
        values = call.arguments[table]
        form_name = draw(st.sampled_from(sorted(forms_of(values))), label=f"form of {table}")
        form = forms_of(values)[form_name]
        odd[table], usual[table] = form.make(values), plain(values, form).astype(values.dtype)
        renamed = "label_names" in options and form_name in FRAMES
        verdicts[table] = "either" if renamed else verdict_on(table, form_name, form)
    answer = ask(name, **odd, **options)
    if isinstance(answer, Refusal):
        if {*verdicts.values()} == {"same"}:
            expected = ask(name, **usual, **options)
            assert isinstance(expected, Refusal), f"refused: {answer.message[:300]}"
        return
    unused = name == "conformal.MultiLabelStratifiedKFold"  # which takes the rows of any X
    assert "refused" not in verdicts.values() or unused, f"taken: {verdicts}"
    if "either" in [verdicts.get(table) for table in ("X", *NAMES_OF_GROUPS)]:
        return  # dates and texts are features as the learner reads them, and names as they are
    expected = ask(name, **usual, **options)
    exact = name not in LAST_DIGITS and not isinstance(options.get("estimator"), MLRBFClassifier)
    assert same(answer, expected) or not exact, f"{describe(answer)}, not {describe(expected)}"


def check_tables(draw, name):
    """Ask with one or two tables of odd contents or shapes."""
    call = CALLS[name]
    tables = draw(st.lists(st.sampled_from(call.tables), min_size=1, max_size=2, unique=True))
    odd = {table: ODD_TABLES[draw(st.sampled_from(sorted(ODD_TABLES)))] for table in tables}
    ask(name, **{table: change(call.arguments[table]) for table, change in odd.items()})


def check_values(draw, name):
    """Ask with one or two odd values."""
    others = CALLS[name].others
    changed = draw(st.lists(st.sampled_from(others), min_size=1, max_size=2, unique=True))
    ask(name, **{other: VALUES[draw(st.sampled_from(sorted(VALUES)))] for other in changed})


WITH_TABLES = sorted(name for name, call in CALLS.items() if call.tables)
WITH_VALUES = sorted(name for name, call in CALLS.items() if call.others)
CHECKS = {
    "forms": (check_forms, WITH_TABLES),
    "tables": (check_tables, WITH_TABLES),
    "values": (check_values, WITH_VALUES),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_call_gives_the_same_answer_twice(name):
    first = ask(name)
    assert isinstance(first, Refusal) == (name in REFUSED_ANYWAY), first
    assert same(first, ask(name))


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("part", range(2))
@FEW
@given(data=st.data())
def test_odd_arguments_are_answered_or_refused_in_words(kind, part, data):
    check, names = CHECKS[kind]
    check(data.draw, data.draw(st.sampled_from(names[part::2])))


@pytest.mark.validity
@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("part", range(8))
@MANY
@given(data=st.data())
def test_many_odd_arguments_are_answered_or_refused_in_words(kind, part, data):
    check, names = CHECKS[kind]
    check(data.draw, data.draw(st.sampled_from(names[part::8])))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_callable_is_fuzzed_or_a_result(room):
    public = importlib.import_module(f"labelsure.{room}")
    for name in public.__all__:
        what = getattr(public, name)
        result = inspect.isclass(what) and (
            is_dataclass(what) or issubclass(what, tuple | Exception | Enum)
        )
        known = f"{room}.{name}" in {*CALLS, *HELD} or name in NOT_CALLED or what in BASES
        assert known or result or not callable(what), name


@pytest.mark.parametrize("n_labels", [1, 1000])
def test_one_label_and_a_thousand_are_answered(n_labels):
    rng = np.random.default_rng(0)
    outputs = rng.integers(0, 9, (12, n_labels)) / 8
    Y = (rng.random(outputs.shape) < outputs / 100).astype(int)
    Y[:, 0] = np.arange(12) % 2
    names = ["x" * 2000 + str(j) for j in range(n_labels)]
    pred = calibrate_outputs(outputs, Y, label_names=names).predict_labelsets(outputs[:2])
    assert np.isfinite(pred.confidence).all()
    assert np.isfinite(pred.credibility).all()
    assert len(pred.summary(0.2)) == 2
    assert np.isfinite(calibrate_labels(outputs, Y).predict_labels(outputs[:2]).p_values).all()
    for control in (control_recall, control_precision, control_cover):
        assert control(outputs, Y).predict(outputs[:2]).shape == (2, n_labels)


@pytest.mark.parametrize("shape", [(5, 0), (0, 3), (0, 0)], ids=str)
@pytest.mark.parametrize(
    "control",
    [calibrate_outputs, calibrate_labels, control_recall, control_precision, control_cover],
)
def test_no_labels_and_no_examples_are_refused(control, shape):
    empty = np.empty(shape)
    assert isinstance(outcome_of(lambda: control(empty, empty)), Refusal)
    assert not isinstance(outcome_of(lambda: repr(control(OUTPUTS, Y))), Refusal)

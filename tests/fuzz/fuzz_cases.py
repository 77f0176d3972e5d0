"""Strategies: a call with one or two of its arguments in another form, of another kind, or of other values."""

import os
from importlib.util import find_spec

import fuzz_more_calls  # noqa: F401 - adds its calls
from fuzz_calls import CALLS, WHOLE
from fuzz_forms import ARRAYS, FRAMES, MATRICES, NEEDED, fingerprint, plain
from fuzz_junk import ODD_TABLES, VALUES
from fuzz_rules import Broken, Refusal, describe, outcome_of, same
from hypothesis import strategies as st

LONG = int(os.environ.get("LABELSURE_FUZZ_CALLS", "40000"))
"""About how many calls the long run makes in all."""

REFUSED_ANYWAY = {
    "model_file.load_model", "model_file.open_model", "model_file.read_manifest", "datasets.load_dataset",
}  # fmt: skip
"""Calls that are refused with the arguments that are given here: there is no such file."""

LAST_DIGITS = ("paper.MLRBFClassifier",)
"""Learners whose last digits depend on the order in which sparse entries reach them."""


MEASURED = ("p_values", "sizes", "score_list")
"""Tables in which truth values are a mistake, such as of a mask for what it was made from, and are refused."""

TRUTHS = ("bool", "object of bools", "object of several")
"""Forms with truth values in them."""


def installed(name):
    """Whether the package that a form is of is there."""
    return find_spec(NEEDED.get(name.split(",")[0].split()[0], "numpy")) is not None


def forms_of(values):
    """The forms in which a table can be brought, by name."""
    forms = ARRAYS | (MATRICES | FRAMES if values.ndim == 2 else {})
    return {name: form for name, form in forms.items() if installed(name)}


def names_with(what):
    """The names of the calls that have tables, or other arguments."""
    if what == "tables":
        return sorted(name for name, call in CALLS.items() if call.tables)
    return sorted(
        name for name, call in CALLS.items() if {*call.arguments} - {*call.tables, *call.unlike}
    )


def ask(name, /, **changes):
    """Return what a call answers to changed arguments, which must stay as they are."""
    call = CALLS[name]
    before = {argument: fingerprint(value) for argument, value in changes.items()}
    answer = outcome_of(
        lambda: call.answer(**changes),
        learner=call.learner,
        indexing=name.endswith(("__getitem__", "__contains__")),
    )
    for argument, value in changes.items():
        if fingerprint(value) != before[argument]:
            raise Broken(f"{argument} was changed: {describe(value)}")
    return answer


@st.composite
def formed(draw, name):
    """Tables of a call in other forms: the arguments, those of plain arrays, and the verdicts."""
    call = CALLS[name]
    chosen = draw(st.lists(st.sampled_from(call.tables), min_size=1, max_size=2, unique=True))
    odd, usual, verdicts = {}, {}, {}
    for table in chosen:
        values = call.arguments[table]
        form_name = draw(st.sampled_from(sorted(forms_of(values))), label=f"form of {table}")
        form = forms_of(values)[form_name]
        odd[table], usual[table] = form.make(values), plain(values, form).astype(values.dtype)
        verdicts[table] = verdict_on(call, table, form_name, form)
    return odd, usual, verdicts


def verdict_on(call, table, form_name, form):
    """Whether a form must be read like the plain array ("same"), refused, or either."""
    if table in WHOLE:
        return "either"  # names of groups may be anything, and numbers of folds must be whole
    if table in MEASURED and form_name in TRUTHS:
        return "either"
    if table in call.objects:
        masked = form_name in ("masked", "list of masked")
        return (
            "refused"
            if masked
            else "either"
            if form.verdict == "refused" or form_name == "matrix"
            else form.verdict
        )
    if (
        form_name in MATRICES
        and form_name != "matrix"
        and not call.sparse
        and form.verdict == "same"
    ):
        return "either"
    return form.verdict


def check_forms(name, odd, usual, verdicts):
    """Raise Broken where the answer for odd forms is neither that for plain arrays nor a refusal that is due."""
    answer = ask(name, **odd)
    if isinstance(answer, Refusal):
        if {*verdicts.values()} == {"same"} and not isinstance(ask(name, **usual), Refusal):
            raise Broken(f"refused: {answer.message[:300]}")
        return
    if "refused" in verdicts.values() and name not in UNUSED:
        raise Broken(f"taken: {verdicts}")
    if any(
        verdict == "either" and table in CALLS[name].objects for table, verdict in verdicts.items()
    ):
        return  # dates and texts are features as the learner reads them
    expected = ask(name, **usual)
    if not same(answer, expected) and not (name in LAST_DIGITS and isinstance(expected, tuple)):
        raise Broken(
            f"another answer than for plain arrays: {describe(answer)}, not {describe(expected)}"
        )


UNUSED = {"measures.ForestMeasure"}
"""Calls that do not look at all of their tables."""


@st.composite
def odd_tables(draw, name):
    """Arguments with one or two tables of odd values or shapes."""
    call = CALLS[name]
    chosen = draw(st.lists(st.sampled_from(call.tables), min_size=1, max_size=2, unique=True))
    return {
        table: ODD_TABLES[draw(st.sampled_from(sorted(ODD_TABLES)))](call.arguments[table])
        for table in chosen
    }


@st.composite
def odd_values(draw, name):
    """Arguments with one or two odd values."""
    call = CALLS[name]
    free = sorted({*call.arguments} - {*call.tables, *call.unlike})
    chosen = draw(st.lists(st.sampled_from(free), min_size=1, max_size=2, unique=True))
    return {argument: VALUES[draw(st.sampled_from(sorted(VALUES)))] for argument in chosen}

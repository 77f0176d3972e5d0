"""Every public call, with odd tables and odd values: an answer that is right, or an error that says what is wrong.

Here a few hundred calls, always the same in CI; ``make validity`` makes tens of thousands
(``LABELSURE_FUZZ_CALLS``).
"""

import importlib
import inspect

import fuzz_cases as cases
import pytest
from fuzz_calls import CALLS
from fuzz_covered import METHODS, METHODS_WITHOUT, REASONS
from fuzz_rules import Refusal, same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import labelsure

pytestmark = pytest.mark.filterwarnings("ignore")
WITH_TABLES, WITH_VALUES = cases.names_with("tables"), cases.names_with("values")
FEW = settings(
    derandomize=True,
    max_examples=40,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
MANY = settings(
    max_examples=max(cases.LONG // 24, 1),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    derandomize=False,
)
ROOMS = sorted({*labelsure.__dir__()} & {*labelsure._HOME} - {"cli"})


def check_formed(data, name):
    cases.check_forms(name, *data.draw(cases.formed(name)))


def check_odd_tables(data, name):
    cases.ask(name, **data.draw(cases.odd_tables(name)))


def check_odd_values(data, name):
    cases.ask(name, **data.draw(cases.odd_values(name)))


CHECKS = {
    "forms": (check_formed, WITH_TABLES),
    "tables": (check_odd_tables, WITH_TABLES),
    "values": (check_odd_values, WITH_VALUES),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_call_gives_the_same_answer_twice(name):
    first = cases.ask(name)
    assert isinstance(first, Refusal) == (name in cases.REFUSED_ANYWAY), first
    assert same(first, cases.ask(name))


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("part", range(2))
@FEW
@given(data=st.data())
def test_odd_arguments_are_answered_or_refused_in_words(kind, part, data):
    check, names = CHECKS[kind]
    check(data, data.draw(st.sampled_from(names[part::2])))


@pytest.mark.validity
@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("part", range(8))
@MANY
@given(data=st.data())
def test_many_odd_arguments_are_answered_or_refused_in_words(kind, part, data):
    check, names = CHECKS[kind]
    check(data, data.draw(st.sampled_from(names[part::8])))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_callable_is_fuzzed_or_says_why_not(room):
    public = importlib.import_module(f"labelsure.{room}")
    called = {name.split(".")[1] for name in CALLS if name.startswith(f"{room}.")}
    callables = {name for name in public.__all__ if callable(getattr(public, name))}
    assert not callables - called - {*REASONS[room]}, (
        "without a call in tests/fuzz and without a reason"
    )
    assert not {*REASONS[room]} - {*public.__all__}, "reasons for names that are gone"


@pytest.mark.parametrize("name", METHODS)
def test_every_public_method_of_what_users_hold_is_fuzzed(name):
    room, kind = name.split(".")
    held = getattr(importlib.import_module(f"labelsure.{room}"), kind)
    methods = {
        f"{name}.{method}"
        for method, _ in inspect.getmembers(held, inspect.isfunction)
        if method[0] != "_"
    }
    assert not methods - {*CALLS} - {*METHODS_WITHOUT}

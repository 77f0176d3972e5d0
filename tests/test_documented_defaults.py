"""Docstrings name the defaults of parameters and fields; these are what is really taken."""

import ast
import importlib
import inspect
import re

import pytest

import labelsure

ROOMS = sorted({*labelsure._HOME} - {"batches", "datasets", "model_file", "plots", "report"})
DOCUMENTED = re.compile(r"^ *(\w+(?:, \w+)*) : .*\bdefault=(.+)$", re.MULTILINE)


def documented(what):
    """The defaults in a docstring, by the name of the parameter."""
    for names, value in DOCUMENTED.findall(inspect.getdoc(what) or ""):
        for name in names.split(", "):
            yield name, ast.literal_eval(value)


def public(room):
    """The public classes and functions of a room, and the public methods of its classes."""
    module = importlib.import_module(f"labelsure.{room}")
    for name in module.__all__:
        what = getattr(module, name)
        if inspect.isclass(what) or inspect.isfunction(what):
            yield name, what
        for key, method in inspect.getmembers(what, inspect.isfunction):
            if key[0] != "_" and method.__module__.startswith("labelsure"):
                yield f"{name}.{key}", method


@pytest.mark.parametrize("room", ROOMS)
def test_documented_defaults_are_those_taken(room):
    for name, what in public(room):
        parameters = inspect.signature(what).parameters
        for key, value in documented(what):
            taken = parameters[key].default if key in parameters else getattr(what, key)
            same = taken == value and isinstance(taken, bool) == isinstance(value, bool)
            assert same, f"{name}: {key}={taken!r}, documented {value!r}"


def test_predictors_share_the_defaults_of_the_cross_conformal_one():
    """Where they say "see CrossConformalClassifier" and nothing of a default."""
    shared = dict(documented(labelsure.CrossConformalClassifier))
    for name, what in public("conformal"):
        own = dict(documented(what))
        for key, parameter in inspect.signature(what).parameters.items():
            if key in shared and key not in own and parameter.default is not parameter.empty:
                assert parameter.default == shared[key], f"{name}: {key}"

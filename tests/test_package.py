"""The package as a whole: what importing it costs, and what it offers."""

import subprocess
import sys

import pytest

import labelsure

HEAVY = ("numba", "matplotlib", "pooch", "pandas", "sklearn.model_selection", "sklearn.cluster",
         "sklearn.neighbors", "sklearn.decomposition", "scipy.optimize", "river")  # fmt: skip


def modules_after(statement):
    """The modules that a fresh interpreter has loaded after this statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    return set(output.split())


def test_import_labelsure_imports_nothing_heavy():
    loaded = modules_after("import labelsure")
    assert not loaded & {*HEAVY, "sklearn", "scipy", "numpy", "joblib", "tqdm"}


def test_importing_everything_adds_nothing_heavy_to_sklearn():
    """scikit-learn itself imports pandas where it is installed; that is not counted."""
    everything = ", ".join(name for name in labelsure.__all__ if name != "__version__")
    loaded = modules_after(f"from labelsure import {everything}\nimport labelsure.metrics")
    assert not (loaded - modules_after("import sklearn")) & set(HEAVY)


def test_every_public_name_is_there_and_documented():
    for name in labelsure.__all__:
        value = getattr(labelsure, name)
        assert name == "__version__" or value.__doc__
        assert name in dir(labelsure)
    with pytest.raises(AttributeError, match="module 'labelsure' has no attribute 'nothing'"):
        labelsure.nothing  # noqa: B018

"""Settings of every test, and what tests that need data or the network go through."""

import os
import signal
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from labelsure._start_up import START_UP
from labelsure.datasets import load_dataset

# No deadline: the first call of a kernel compiles it. In CI the examples are always the same. `make
# validity` tries more of them; uncompiled kernels are to be reached in every branch.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
QUICK = 100 if os.environ.get("NUMBA_DISABLE_JIT") else 25
settings.register_profile("labelsure", max_examples=QUICK, derandomize="CI" in os.environ, **COMMON)
settings.register_profile("validity", max_examples=300, **COMMON)
settings.load_profile("labelsure")

# Searching every module for doctests would import all files called conftest under one name.
collect_ignore_glob = ["*conftest.py"]

# A shell has what it starts in the background ignore Ctrl-C, and so do the commands that tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA_FIXTURES = {"mulan_folder", "load_mulan"}


def pytest_configure(config):
    """Try more examples where slow checks are asked for."""
    if config.option.markexpr == "validity":
        settings.load_profile("validity")


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(config, items):
    """Mark tests that read Mulan's files: `make test` first runs all without them, then these.

    Where slow checks are asked for, what Hypothesis finds examples for is one of them: it has more
    to try.
    """
    for item in items:
        if DATA_FIXTURES & {*getattr(item, "fixturenames", ())}:
            item.add_marker("data")
        found = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
        if found and config.option.markexpr == "validity":
            item.add_marker("validity")


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Refuse connections to other machines: a test that tries to download fails."""
    connect = socket.socket.connect

    def connect_here(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise RuntimeError(
                f"A test tried to reach {address}. Tests use files that are there, or a server"
                f" here."
            )
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_here)
        yield


@pytest.fixture(scope="session", autouse=True)
def kernels_first():
    """Use kernels from the first query on: else this would depend on the order of tests."""
    START_UP.end()


@pytest.fixture(scope="session")
def mulan_folder():
    """The folder with the seven benchmark sets."""
    folder = os.environ.get("LABELSURE_DATA", "")
    if not folder or not Path(folder, "scene.xml").is_file():
        pytest.skip("LABELSURE_DATA does not name a folder with the Mulan data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def load_mulan(request):
    """Load a benchmark set; all but yeast, which is on PyPI, need the folder of Mulan's files."""

    def load(name):
        if name != "yeast":
            request.getfixturevalue("mulan_folder")
        return load_dataset(name, download=False)

    return load

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Runner = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> str:
    """The installed command, beside the interpreter that runs the tests."""
    found = shutil.which("labelsure", path=str(Path(sys.executable).parent))
    assert found is not None, "the command labelsure is not installed beside the interpreter"
    return found


@pytest.fixture(scope="session")
def offline(tmp_path_factory) -> dict[str, str]:
    """An environment without data folders, without a cache, and with a server that answers nothing."""
    environment = {name: value for name, value in os.environ.items() if name != "LABELSURE_DATA"}
    cache = str(tmp_path_factory.mktemp("cache"))
    return environment | {
        "LABELSURE_MIRROR": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        "XDG_CACHE_HOME": cache,
    }


@pytest.fixture(scope="session")
def run(command, offline) -> Runner:
    """Run the installed command offline and return what it printed and its exit code."""

    def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *words], env=offline | environment, capture_output=True, text=True, check=False)

    return run_command

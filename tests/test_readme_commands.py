"""The README's path on the command line, verbatim, from a table to a report."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from labelsure.cli import main

README = Path(__file__).parents[1] / "README.md"
MARK = "<!-- run by tests/test_readme_commands.py -->\n```sh\n(.*?)```"


@pytest.fixture(scope="module")
def commands():
    (block,) = re.findall(MARK, README.read_text(encoding="utf-8"), re.S)
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def knows(command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    return stopped.value.code == 0


def test_readme_shows_every_step(commands):
    assert all(words[0] == "labelsure" for words in commands)
    steps = [words[1] for words in commands]
    assert list(dict.fromkeys(steps)) == ["datasets", "fit", "predict", "evaluate", "report", "explain"]


def test_readme_commands_run_one_after_the_other(commands, tmp_path):
    pytest.importorskip("river", reason="yeast comes with the extra yeast")
    pytest.importorskip("pyarrow", reason="tables need the extra tables")
    pytest.importorskip("skops", reason="model files need the extra models")
    if not knows("fit"):
        pytest.skip("this version of labelsure has no command for one's own tables")
    printed = {}
    for words in commands:
        program = [sys.executable, "-m", "labelsure", *words[1:]]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
        printed[words[1]] = done.stdout
    assert (tmp_path / "answers.csv").read_text(encoding="utf-8").count("\n") == 1 + 917
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "90" in printed["evaluate"]
    assert "possible" in printed["explain"]

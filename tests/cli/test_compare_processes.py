"""``labelsure compare`` in several processes: the same numbers, and quiet when interrupted."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tiny_data import write_tiny

from labelsure.cli._compare_results import read_results


@pytest.fixture
def tiny(tmp_path):
    write_tiny(tmp_path, split=53)
    return tmp_path


@pytest.mark.validity
def test_the_number_of_jobs_changes_nothing(tiny, run):
    words = ["tiny", "--learners", "ml-rbf", "--measures", "power", "signed-oof", "--folds", "3", "--resplits", "1"]
    found = []
    for n_jobs in ("1", "2"):
        out = tiny / f"{n_jobs}.json"
        words_of_run = ["compare", *words, "--guarantees", "cross", "exact", "--jobs", n_jobs, "--json", str(out)]
        result = run(*words_of_run, LABELSURE_DATA=str(tiny))
        assert (result.returncode, result.stderr) == (0, "")
        found.append({key: cell["figures"] | {"seconds": None} for key, cell in read_results(out).cells.items()})
    assert len(found[0]) == 6  # and the baseline
    assert found[0] == found[1]


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise on Windows")
def test_ctrl_c_ends_the_installed_command_quietly_and_leaves_whole_files(tiny, command, offline):
    out = tiny / "out.json"
    words = [command, "compare", "tiny", "--learners", "random-forest", "--folds", "3", "--resplits", "500"]
    environment = offline | {"LABELSURE_DATA": str(tiny)}
    with subprocess.Popen(
        [*words, "--json", str(out), "--jobs", "2"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        printed, errors = process.communicate()
    assert (process.returncode, printed, errors) == (130, "", "")
    assert len(read_results(out).cells) >= 1
    assert not list(tiny.glob(".*"))

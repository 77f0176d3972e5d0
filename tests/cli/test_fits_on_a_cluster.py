"""``labelsure fit --scheduler``: the same model, and one line where it cannot go on."""

import json
import sys
import threading
from functools import partial

import numpy as np
import pytest
from made_up_tables import LABELS

from dask_deaths import Patient, commands_of_dask, wait_until
from labelsure.cli import main
from labelsure.cli._learners import RECIPES, Recipe

pytest.importorskip("distributed", reason="the extra dask is not installed")


def test_fit_on_a_cluster_saves_the_same_model(tickets, cluster, tmp_path, capsys):
    from labelsure import load_model

    words = ["fit", str(tickets / "train.csv"), "--labels", ",".join(LABELS), "--learner", "logistic"]
    words += ["--measure", "log-loss", "--folds", "3", "--scheduler", cluster.scheduler_address]
    assert main([*words, "--model", str(tmp_path / "there.labelsure")]) == 0
    assert "Saved to" in capsys.readouterr().out
    here, there = (load_model(path) for path in (tickets / "m.labelsure", tmp_path / "there.labelsure"))
    for one, other in zip(here.calibrator_.folds, there.calibrator_.folds, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_a_scheduler_that_nobody_is_at_is_one_line_before_any_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labelsure.cli._scheduler.SECONDS_TO_CONNECT", 0.5)
    assert main(["fit", "no.csv", "--model", "m.labelsure", "--scheduler", "tcp://127.0.0.1:9"]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert "no Dask scheduler answers" in printed.err


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise on Windows")
def test_a_scheduler_that_is_killed_is_one_line_and_no_model(tickets, tmp_path, monkeypatch, capsys):
    begun = tmp_path / "begun"
    monkeypatch.setitem(RECIPES, "ml-knn", Recipe(partial(Patient, str(begun))))
    words = ["fit", str(tickets / "train.csv"), "--labels", ",".join(LABELS), "--learner", "knn", "--folds", "3"]
    with commands_of_dask(tmp_path) as (scheduler, _):
        address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
        killer = threading.Thread(target=lambda: (wait_until(begun.exists), scheduler.kill()))
        killer.start()
        assert main([*words, "--scheduler", address, "--model", str(tmp_path / "m.labelsure")]) == 1
        killer.join()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert "The Dask scheduler at tcp:" in line or "the Dask scheduler at tcp:" in line
    assert not (tmp_path / "m.labelsure").exists()

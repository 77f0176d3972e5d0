"""``labelsure compare --scheduler`` and ``labelsure fit --scheduler``: the same results, also where processes die."""

import json
import os
import signal
import sys
import threading
from functools import partial

import numpy as np
import pytest
from made_up_tables import LABELS
from tiny_data import write_tiny

from dask_clusters import local_cluster
from dask_deaths import Deadly, Patient, commands_of_dask, wait_until
from labelsure.cli import main
from labelsure.cli._compare_results import read_results
from labelsure.cli._learners import RECIPES, Recipe

pytest.importorskip("distributed", reason="the extra dask is not installed")
killing = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise on Windows")

FEW = ["--measures", "power", "signed-oof", "--folds", "3", "--resplits", "1"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    write_tiny(tmp_path, split=53)
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    return tmp_path


def cells_of(path):
    cells = read_results(path).cells
    return {key: cell["figures"] | {"seconds": None} for key, cell in cells.items()}


def compare(path, *words):
    return main(["compare", "tiny", *FEW, *words, "--json", str(path)])


@pytest.mark.parametrize("n_jobs", ["1", "-1"])
def test_compare_on_a_cluster_gives_the_same_numbers(n_jobs, tiny, cluster):
    fits = []
    cluster.scheduler.add_plugin(_Noting(fits), name="noting")
    words = ["--learners", "ml-rbf", "--guarantees", "cross", "inductive", "--jobs", n_jobs]
    assert compare(tiny / "here.json", *words) == 0
    assert not fits
    assert compare(tiny / "there.json", *words, "--scheduler", cluster.scheduler_address) == 0
    cluster.scheduler.remove_plugin("noting")
    assert fits
    assert cells_of(tiny / "here.json") == cells_of(tiny / "there.json")


class _Noting:
    """A scheduler's plugin that notes the tasks that fit folds."""

    def __init__(self, noted):
        self.noted = noted

    def transition(self, key, *_step, **_more):
        if str(key).startswith("fitting_folds-"):
            self.noted.append(key)

    def __getattr__(self, _):
        return lambda *_args, **_kwargs: None


def test_fit_on_a_cluster_saves_the_same_model(tickets, cluster, tmp_path, capsys):
    from labelsure import load_model

    words = ["fit", str(tickets / "train.csv"), "--labels", ",".join(LABELS), "--learner", "logistic"]
    words += ["--measure", "log-loss", "--folds", "3", "--scheduler", cluster.scheduler_address]
    assert main([*words, "--model", str(tmp_path / "there.labelsure")]) == 0
    assert "Saved to" in capsys.readouterr().out
    here, there = (load_model(path) for path in (tickets / "m.labelsure", tmp_path / "there.labelsure"))
    for one, other in zip(here.calibrator_.folds, there.calibrator_.folds, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize(
    "words", [["compare", "tiny"], ["fit", "no.csv", "--model", "m.labelsure"]], ids=["compare", "fit"]
)
def test_a_scheduler_that_nobody_is_at_is_one_line_before_any_work(words, tiny, monkeypatch, capsys):
    monkeypatch.chdir(tiny)
    monkeypatch.setattr("labelsure.cli._scheduler.SECONDS_TO_CONNECT", 0.5)
    assert main([*words, "--scheduler", "tcp://127.0.0.1:9"]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert "no Dask scheduler answers" in printed.err


@pytest.mark.validity
@killing
def test_compare_goes_on_where_a_worker_is_killed(tiny):
    words = ["--learners", "random-forest"]
    with local_cluster(2) as cluster:

        def busy():
            workers = list(cluster.scheduler.workers.values())
            return [one for one in workers if any(task.key.startswith("fitting_folds-") for task in one.processing)]

        def kill():
            nanny = next(
                each for each in cluster.workers.values() if each.worker_address == wait_until(busy)[0].address
            )
            os.kill(nanny.pid, signal.SIGKILL)
            killed.append(nanny.pid)

        killed = []
        killer = threading.Thread(target=kill)
        killer.start()
        assert compare(tiny / "there.json", *words, "--scheduler", cluster.scheduler_address) == 0
        killer.join()
    assert killed
    assert compare(tiny / "here.json", *words) == 0
    assert cells_of(tiny / "here.json") == cells_of(tiny / "there.json")


@killing
def test_compare_says_what_is_kept_where_workers_die_again_and_again(tiny, monkeypatch, capsys):
    import dask

    monkeypatch.setitem(RECIPES, "ml-knn", Recipe(Deadly))
    learners = ["--learners", "ml-rbf", "ml-knn"]
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), local_cluster(2) as cluster:
        assert compare(tiny / "out.json", *learners, "--scheduler", cluster.scheduler_address) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert "While fitting folds, job" in line
    assert line.endswith(f"Finished cells are kept in {tiny / 'out.json'}: give the same command again to go on.")
    assert {row.learner for row, _ in cells_of(tiny / "out.json")} == {"ml-rbf"}


@killing
def test_compare_keeps_finished_cells_where_the_scheduler_is_killed(tiny, monkeypatch, capsys):
    out, begun = tiny / "out.json", tiny / "begun"
    monkeypatch.setitem(RECIPES, "ml-knn", Recipe(partial(Patient, str(begun))))
    with commands_of_dask(tiny) as (scheduler, _):
        address = json.loads((tiny / "scheduler.json").read_text())["address"]
        killer = threading.Thread(target=lambda: (wait_until(begun.exists), scheduler.kill()))
        killer.start()
        assert compare(out, "--learners", "ml-rbf", "ml-knn", "--scheduler", address) == 1
        killer.join()
    (line,) = capsys.readouterr().err.splitlines()
    assert "The Dask scheduler at tcp:" in line
    assert line.endswith(f"Finished cells are kept in {out}: give the same command again to go on.")
    assert {row.learner for row, _ in cells_of(out)} == {"ml-rbf"}

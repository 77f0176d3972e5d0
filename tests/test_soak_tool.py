"""What ``make soak`` does, in a few seconds, and what it would call a leak."""

import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
tool = runpy.run_path(str(ROOT / "tools" / "soak.py"))
Sample, judge, digest = tool["Sample"], tool["judge"], tool["digest"]
MEGABYTE = 10**6

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")


@pytest.fixture
def short(monkeypatch):
    """Rounds of what takes no other process, and needs no package that may be missing."""
    names = ("fit_here", "fit_and_go_on", "predict_in_batches", "predict_in_threads", "update", "bad_input")
    monkeypatch.setitem(tool["soak"].__globals__, "TASKS", tuple(tool[name] for name in names))
    monkeypatch.setitem(tool["soak"].__globals__, "N_SETS", 1)
    return tool["main"]


def test_two_rounds_give_the_same_answers(short, capsys):
    assert short(["--rounds", "2", "--no-dask"]) == 0
    printed = capsys.readouterr().out
    assert "2 rounds of 6 tasks, every answer the first one to the last bit" in printed
    assert "memory was not judged" in printed


def test_an_answer_that_changes_fails(short, capsys, monkeypatch):
    drawn = iter(range(100))
    monkeypatch.setitem(tool["soak"].__globals__, "TASKS", (lambda _: np.array([next(drawn)]),))
    assert short(["--rounds", "2", "--no-dask"]) == 1
    assert "answers otherwise in round 1 than it first did" in capsys.readouterr().out


def samples(memory, *, files=lambda _: 20, threads=lambda _: 4):
    return [Sample(10.0 * i, int(memory(i)), 0, 0, files(i), threads(i)) for i in range(60)]


NOISE = np.random.default_rng(0).normal(size=60) * 5 * MEGABYTE


def test_memory_that_warms_up_wobbles_and_peaks_passes():
    def memory(i):
        return 400 * MEGABYTE + 100 * MEGABYTE * (1 - 0.8**i) + NOISE[i] + (i == 50) * 300 * MEGABYTE

    assert judge(samples(memory)) == []


def test_memory_that_grows_fails():
    (wrong,) = judge(samples(lambda i: 500 * MEGABYTE + NOISE[i] + i * MEGABYTE))  # 29 MB in the second half
    assert wrong.startswith("memory grew by ")
    assert judge(samples(lambda i: 500 * MEGABYTE + NOISE[i] / 50 + 0.2 * i * MEGABYTE)) == []  # less than 2 %


def test_files_and_threads_that_stay_open_fail():
    (wrong,) = judge(samples(lambda _: MEGABYTE, files=lambda i: 20 + i // 10))
    assert wrong.startswith("files that are open grew by 2.")
    assert len(judge(samples(lambda _: MEGABYTE, threads=lambda i: 4 + i // 12))) == 1


@pytest.mark.parametrize("step", [35, 45, 55])
def test_a_pool_that_gets_one_more_once_passes(step):
    assert judge(samples(lambda _: MEGABYTE, files=lambda i: 20 + (i >= step), threads=lambda i: 4 + (i >= step))) == []


def test_digests_tell_every_bit_apart():
    table = np.array([0.1, 0.2])
    others = [np.array([0.1, np.nextafter(0.2, 1)]), table.astype(np.float32), table[:, None], [table, b""]]
    assert len({digest(value) for value in [table, *others]}) == 5
    assert digest(table.copy()) == digest(table)

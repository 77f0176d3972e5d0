"""``labelsure predict --scheduler``: the same bytes as without, in order, and finished parts are kept."""

import shutil

import pytest

from labelsure._core.memory import KeptResults
from labelsure.cli import main

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture
def here(tickets, tmp_path, monkeypatch):
    for name in ("test.csv", "m.labelsure"):
        shutil.copy(tickets / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = ["predict", "m.labelsure", "test.csv", "--batch", "7", "--jobs", "1"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_made_on_a_cluster_is_the_same_to_the_byte(here, cluster, ending):
    assert main([*WORDS, "--keep", "plan", "-o", f"here.{ending}"]) == 0
    there = ["--scheduler", cluster.scheduler_address, "-o", f"there.{ending}"]
    assert main([*WORDS, "--keep", "plan", *there]) == 0
    assert (here / f"there.{ending}").read_bytes() == (here / f"here.{ending}").read_bytes()


def test_what_is_printed_is_the_same(here, cluster, capsys):
    assert main(WORDS) == 0
    expected = capsys.readouterr().out
    assert main([*WORDS, "--scheduler", cluster.scheduler_address]) == 0
    assert capsys.readouterr().out == expected


def number_of(key):
    """Which batch a result is of."""
    return int(key.rsplit(" ", 1)[1])


def test_parts_are_kept_when_a_cluster_fails_and_need_none_to_go_on(here, cluster, monkeypatch, capsys):
    written = KeptResults.write

    def fail_at_third(kept, key, content):
        if number_of(key) == 3:
            raise KeyboardInterrupt
        written(kept, key, content)

    assert main([*WORDS, "-o", "whole.csv"]) == 0
    monkeypatch.setattr(KeptResults, "write", fail_at_third)
    assert main([*WORDS, "-o", "out.csv", "--scheduler", cluster.scheduler_address]) == 130
    assert "21 finished rows are kept" in capsys.readouterr().err
    numbers = []
    monkeypatch.setattr(KeptResults, "write", lambda *args: numbers.append(number_of(args[1])) or written(*args))
    assert main([*WORDS, "-o", "out.csv"]) == 0
    assert numbers == [3, 4, 5, 6, 7]
    assert (here / "out.csv").read_bytes() == (here / "whole.csv").read_bytes()


def test_nobody_at_the_address_is_one_line_and_nothing_is_lost(here, monkeypatch, capsys):
    from labelsure.cli import _scheduler

    monkeypatch.setattr(_scheduler, "SECONDS_TO_CONNECT", 0.5)
    (here / "out.csv").write_text("what was here before")
    assert main([*WORDS, "-o", "out.csv", "--scheduler", "tcp://127.0.0.1:9"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("labelsure: error: no Dask scheduler answers at tcp://127.0.0.1:9 (")
    assert (here / "out.csv").read_text() == "what was here before"
    assert sorted(path.name for path in here.iterdir()) == ["m.labelsure", "out.csv", "test.csv"]

import os
import sys
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from labelsure.cli._arguments import count, jobs, output_file


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("25", 25)])
def test_count_reads_numbers_from_1(text, number):
    assert count(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "ten"])
def test_count_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="expected"):
        count(text)


@pytest.mark.parametrize(("text", "number"), [("-1", -1), ("-2", -2), ("4", 4)])
def test_jobs_reads_numbers_as_joblib_does(text, number):
    assert jobs(text) == number


@pytest.mark.parametrize("text", ["0", "all"])
def test_jobs_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="expected"):
        jobs(text)


def test_output_file_may_be_new_or_old(tmp_path):
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    old.write_text("{}")
    assert [output_file(str(path)) for path in (new, old)] == [new.resolve(), old.resolve()]
    assert not new.exists()


def test_output_file_without_a_folder_is_in_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output_file("out.json") == Path.cwd() / "out.json"


def test_output_file_refuses_a_folder_a_device_and_a_missing_folder(tmp_path):
    with pytest.raises(ArgumentTypeError, match="expected a file"):
        output_file(str(tmp_path))
    with pytest.raises(ArgumentTypeError, match="there is no folder"):
        output_file(str(tmp_path / "missing" / "out.json"))
    with pytest.raises(ArgumentTypeError, match="expected a file"):
        output_file(os.devnull)


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root may write anywhere, and Windows folders have no such mode",
)
def test_output_file_refuses_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ArgumentTypeError, match="may not be written"):
            output_file(str(tmp_path / "out.json"))
    finally:
        tmp_path.chmod(0o700)


def test_output_file_asks_whether_the_folder_may_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArgumentTypeError, match="may not be written"):
        output_file(str(tmp_path / "out.json"))

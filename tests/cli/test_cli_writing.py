import os

import pytest

from labelsure._errors import CommandError
from labelsure.cli._writing import write_whole


def test_write_whole_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    write_whole(path, "new: \N{GREEK SMALL LETTER LAMDA}\n")
    assert path.read_text(encoding="utf-8") == "new: \N{GREEK SMALL LETTER LAMDA}\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_write_whole_keeps_the_old_file_when_writing_fails(tmp_path, monkeypatch, failing):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.json"
    path.write_text("old")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(
        CommandError, match=r"out\.json could not be written: No space left on device"
    ):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_write_whole_into_a_folder_that_is_gone_is_a_command_error(tmp_path):
    with pytest.raises(CommandError, match="could not be written"):
        write_whole(tmp_path / "gone" / "out.json", "new")

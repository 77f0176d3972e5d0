import subprocess
import sys

import pytest

from labelsure._files import fcntl, whole_file, whole_place


def test_whole_file_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"]
)
def test_whole_file_keeps_the_old_file_where_writing_fails(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(type(error)), whole_file(path) as file:
        file.write(b"half of it")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from pathlib import Path
from labelsure._files import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(fcntl is None, reason="there are no locks that end with a process")
def test_next_writer_clears_what_a_killed_one_left_but_not_what_is_being_written(tmp_path):
    path = tmp_path / "[a]*.txt"  # no pattern
    other = tmp_path / ".other.txt.0123.part"
    other.write_text("of another file")
    with whole_place(path) as unfinished:
        unfinished.write_text("slow")
        assert (
            subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == -9
        )
        assert len(list(tmp_path.glob("*.part"))) == 3
        with whole_file(path) as file:
            file.write(b"quick")
        assert sorted(tmp_path.iterdir()) == sorted([other, path, unfinished])
    assert path.read_text() == "slow"
    assert sorted(tmp_path.iterdir()) == sorted([other, path])

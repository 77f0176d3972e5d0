"""Unfinished work beside an output, in a folder that others can write to as well."""

import os

import pytest

from labelsure._errors import CommandError
from labelsure.cli._kept import kept_beside

posix = pytest.mark.skipif(os.name != "posix", reason="owners and permission bits of POSIX")


def begin(output):
    """Finish one part of an output, and be interrupted; return the folder."""
    with pytest.raises(KeyboardInterrupt), kept_beside(output, "part") as kept:
        kept.write("first", b"finished")
        raise KeyboardInterrupt
    return kept.folder


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out.csv"


def test_parts_are_for_the_user_alone_and_go_on(output, capsys):
    folder = begin(output)
    assert "interrupted. 1 part is kept in" in capsys.readouterr().err
    with kept_beside(output, "part") as again:
        assert again.read("first") == b"finished"
        assert again.read("of other work") is None
        (path,) = folder.rglob("output.pkl")
        if os.name == "posix":
            assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    assert not folder.exists()


def to_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@posix
@pytest.mark.parametrize("change", [lambda folder: folder.chmod(0o770), lambda folder: folder.chmod(0o707), to_link],
                         ids=["group", "everybody", "link"])  # fmt: skip
def test_folders_that_others_can_write_to_and_links_are_refused(output, change):
    folder = begin(output)
    change(folder)
    with (
        pytest.raises(CommandError, match="must be a folder that is yours"),
        kept_beside(output, "part"),
    ):
        pass
    assert len(list(folder.rglob("output.pkl"))) == 1  # nothing was deleted


@posix
def test_folders_of_another_user_are_refused(output, monkeypatch):
    folder = begin(output)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with (
        pytest.raises(CommandError, match="must be a folder that is yours"),
        kept_beside(output, "part"),
    ):
        pass

"""Unfinished parts beside an output, in a folder that others can write to as well."""

import os

import pytest

from labelsure.cli._errors import CommandError
from labelsure.cli._parts import KEY, Parts

WORK = {"model": "a", "data": "b"}


@pytest.fixture
def begun(tmp_path):
    """An output with one part finished."""
    parts = Parts(tmp_path / "out.csv", WORK)
    parts.write(0, b"finished")
    return parts


def test_parts_are_for_the_user_alone_and_go_on(begun):
    again = Parts(begun.output, WORK)
    assert again.resumed
    assert again.find(0) == b"finished"
    if os.name == "posix":
        assert begun.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name != "posix", reason="permission bits of POSIX")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_parts_that_others_could_have_written_are_thrown_away(begun, mode):
    begun.folder.chmod(mode)
    again = Parts(begun.output, WORK)
    assert (again.resumed, again.thrown_away) == (False, True)
    assert again.find(0) is None


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_parts_of_another_user_are_thrown_away(begun, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: begun.folder.stat().st_uid + 1)
    assert Parts(begun.output, WORK).thrown_away


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("work", [WORK, {"other": "work"}], ids=["the same work", "other work"])
def test_a_link_in_place_of_the_folder_is_not_followed(begun, tmp_path, work):
    elsewhere = tmp_path / "elsewhere"
    begun.folder.rename(elsewhere)
    begun.folder.symlink_to(elsewhere)
    with pytest.raises(CommandError, match="could not be written"):
        Parts(begun.output, work)
    assert sorted(file.name for file in elsewhere.iterdir()) == ["0000000", KEY]

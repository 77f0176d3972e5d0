"""What ``make wheel`` would refuse: archives that lack something, or have something too much."""

import io
import runpy
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
tool = runpy.run_path(str(ROOT / "tools" / "try_wheel.py"))


def metadata(**changes):
    message = Message()
    fields = (
        dict.fromkeys(tool["NEEDED"], "given")
        | {"Description-Content-Type": "text/markdown"}
        | changes
    )
    for key, value in fields.items():
        if value is not None:
            message[key] = value
    message.set_payload("# labelsure\n")
    return message


def test_metadata_that_say_everything_pass():
    tool["check_metadata"](metadata())


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"Requires-Python": None}, "metadata lack"),
        ({"Description-Content-Type": "text/plain"}, "not marked as Markdown"),
        ({"Summary": "x" * 600}, "one short line"),
    ],
    ids=["missing", "plain", "long"],
)
def test_metadata_that_lack_something_are_refused(changes, complaint):
    with pytest.raises(SystemExit, match=complaint):
        tool["check_metadata"](metadata(**changes))


def test_wheel_without_the_marker_of_types_is_refused(tmp_path):
    path = tmp_path / "labelsure-0.1.0-py3-none-any.whl"
    sources = [
        one
        for one in (ROOT / "src" / "labelsure").rglob("*")
        if one.is_file() and "__pycache__" not in one.parts
    ]
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("labelsure-0.1.0.dist-info/METADATA", metadata().as_string())
        wheel.writestr(
            "labelsure-0.1.0.dist-info/entry_points.txt", "labelsure = labelsure.cli:main"
        )
        for source in sources:
            if source.name != "py.typed":
                wheel.writestr(source.relative_to(ROOT / "src").as_posix(), "")
    with pytest.raises(SystemExit, match=r"differ in \['labelsure/py.typed'\]"):
        tool["look_into_wheel"](path)


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(["README.md"], "lacks"), ([*tool["IN_SDIST"], "docs/generated/page.rst"], "generated files")],
    ids=["lacking", "generated"],
)
def test_sdist_that_is_not_the_sources_is_refused(tmp_path, names, complaint):
    path = tmp_path / "labelsure-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as sdist:
        for name in names:
            sdist.addfile(tarfile.TarInfo(f"labelsure-0.1.0/{name}"), io.BytesIO())
    with pytest.raises(SystemExit, match=complaint):
        tool["look_into_sdist"](path)

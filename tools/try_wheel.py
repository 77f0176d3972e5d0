"""Build wheel and sdist, look into both, and try the wheel as a user would who has nothing else.

``make wheel`` runs this. The archives are left in dist/. The wheel is installed into a virtual
environment of its own, away from the sources: the console command answers, types are marked,
package data came along, a model fits and predicts. ``--no-install`` only builds and looks.
"""

import argparse
import email
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"

NEEDED = (
    "Name",
    "Version",
    "Summary",
    "License-Expression",
    "License-File",
    "Requires-Python",
    "Author",
)
"""What the metadata must say."""

IN_SDIST = (
    "Makefile",
    "README.md",
    "LICENSE",
    "pyproject.toml",
    "src/labelsure/py.typed",
    "tests/conftest.py",
)
"""Some of what it takes to build and test from the sdist."""

TRIAL = """
from importlib.resources import files

import labelsure
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

assert "site-packages" in labelsure.__file__, labelsure.__file__
assert files("labelsure").joinpath("py.typed").is_file()
assert files("labelsure.paper").joinpath("paper_tables.json").is_file()
X, Y = make_multilabel_classification(120, n_classes=3, random_state=0)
model = labelsure.InductiveConformalClassifier(OneVsRestClassifier(LogisticRegression(max_iter=1000)), random_state=0)
region = model.fit(X[:100], Y[:100]).predict_labelsets(X[100:]).region(0.1)
assert region.sizes.shape == (20,) and 0 < region.sizes.mean() < 8, region.sizes
print(f"labelsure {labelsure.__version__}: {region.sizes.mean():.2f} of 8 labelsets in a region")
"""


def main() -> None:
    """Build, look, install, try."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--no-install", action="store_true", help="only build the archives and look into them"
    )
    options = parser.parse_args()
    wheel, sdist = build()
    look_into_wheel(wheel)
    look_into_sdist(sdist)
    if not options.no_install:
        try_out(wheel)
    print(f"{wheel.relative_to(ROOT)} and {sdist.relative_to(ROOT)} are fine")


def build() -> tuple[Path, Path]:
    """Return wheel and sdist, built anew; the wheel is built from the sdist, as on the package index."""
    for old in DIST.glob("labelsure-*"):
        old.unlink()
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)],
        check=True,
        stdout=sys.stderr,
    )
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def look_into_wheel(path: Path) -> None:
    """Check the metadata, and that all of src/labelsure is in the wheel and nothing else."""
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (place,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        check_metadata(email.message_from_bytes(wheel.read(place)))
        (points,) = (
            name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")
        )
        expect(
            "labelsure = labelsure.cli:main" in wheel.read(points).decode(),
            "the wheel has no command labelsure",
        )
    package = ROOT / "src" / "labelsure"
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in package.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in {".nbi", ".nbc"}
    }
    expect(names == sources, f"wheel and src/labelsure differ in {sorted(names ^ sources)}")


def check_metadata(metadata: Message) -> None:
    """Check what the package index checks, without asking it."""
    missing = [key for key in NEEDED if not metadata[key]]
    expect(not missing, f"metadata lack {missing}")
    expect(
        metadata["Description-Content-Type"] == "text/markdown",
        "the description is not marked as Markdown",
    )
    description = metadata.get_payload()
    expect(
        isinstance(description, str) and description.startswith("# labelsure"),
        "the description is not the README",
    )
    expect(
        "\n" not in metadata["Summary"] and len(metadata["Summary"]) <= 512,
        "the summary is not one short line",
    )


def look_into_sdist(path: Path) -> None:
    """Check that the sdist has what it takes to build and test, and nothing that was generated."""
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    missing = [name for name in IN_SDIST if name not in names]
    expect(not missing, f"the sdist lacks {missing}")
    generated = [
        name
        for name in names
        if name.startswith(("docs/generated", "build", ".venv")) or "/.numba" in name
    ]
    expect(not generated, f"the sdist has generated files: {generated[:5]}")


def try_out(wheel: Path) -> None:
    """Install the wheel and nothing else of ours, far from the sources, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        scripts = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        clean = {
            key: value
            for key, value in os.environ.items()
            if key not in {"PYTHONPATH", "NUMBA_CACHE_DIR"}
        }
        environment = clean | {"NUMBA_CACHE_DIR": str(place / "numba")}

        def run(*words: str) -> str:
            done = subprocess.run(
                words, cwd=place, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            return done.stdout

        run(
            str(scripts / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            str(wheel),
        )
        version = wheel.name.split("-")[1]
        expect(
            run(str(scripts / "labelsure"), "--version").split() == ["labelsure", version],
            "wrong version",
        )
        run(str(scripts / "labelsure"), "--help")
        print(run(str(scripts / "python"), "-c", TRIAL).strip())


def expect(holds: bool, otherwise: str) -> None:
    """Stop with a message unless something holds."""
    if not holds:
        raise SystemExit(f"error: {otherwise}")


if __name__ == "__main__":
    main()

"""Build wheel and sdist, and try the wheel as a user would who has nothing else: ``make wheel``.

The archives are left in dist/. The wheel must hold all of src/labelsure; it is installed into a
virtual environment of its own, away from the sources: the console command answers, types are
marked, a model fits and predicts.
"""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TRIAL = """
from importlib.resources import files

import labelsure
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

assert "site-packages" in labelsure.__file__, labelsure.__file__
assert files("labelsure").joinpath("py.typed").is_file()
X, Y = make_multilabel_classification(120, n_classes=3, random_state=0)
learner = OneVsRestClassifier(LogisticRegression(max_iter=1000))
model = labelsure.InductiveConformalClassifier(learner, random_state=0).fit(X[:100], Y[:100])
region = model.predict_labelsets(X[100:]).region(0.1)
assert region.sizes.shape == (20,) and 0 < region.sizes.mean() < 8, region.sizes
print(f"labelsure {labelsure.__version__}: {region.sizes.mean():.2f} of 8 labelsets in a region")
"""


def build() -> Path:
    """Return the wheel, built anew from the sdist, as on the package index."""
    for old in DIST.glob("labelsure-*"):
        old.unlink()
    command = [sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def look_into(wheel: Path) -> None:
    """Check that all of src/labelsure is in the wheel and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    paths = [path for path in (source / "labelsure").rglob("*") if path.is_file()]
    expected = {
        path.relative_to(source).as_posix() for path in paths if "__pycache__" not in path.parts
    }
    if names != expected:
        raise SystemExit(f"error: wheel and src/labelsure differ in {sorted(names ^ expected)}")


def try_out(wheel: Path) -> None:
    """Install the wheel and nothing else of ours, far from the sources, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        scripts = Path(folder) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["NUMBA_CACHE_DIR"] = str(Path(folder) / "numba")
        for command in (
            ["python", "-m", "pip", "install", "--quiet", str(wheel)],
            ["labelsure", "--version"],
            ["python", "-c", TRIAL],
        ):
            program = str(scripts / command[0])
            subprocess.run([program, *command[1:]], cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    wheel = build()
    look_into(wheel)
    try_out(wheel)

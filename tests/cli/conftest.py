import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Runner = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> str:
    """The installed command, beside the interpreter that runs the tests."""
    found = shutil.which("labelsure", path=str(Path(sys.executable).parent))
    assert found is not None, "the command labelsure is not installed beside the interpreter"
    return found


@pytest.fixture(scope="session")
def offline(tmp_path_factory) -> dict[str, str]:
    """An environment without data folders or a cache, and with a server that never answers."""
    environment = {name: value for name, value in os.environ.items() if name != "LABELSURE_DATA"}
    environment["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    return environment | {"LABELSURE_MIRROR": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}


@pytest.fixture(scope="session")
def run(command, offline) -> Runner:
    """Run the installed command offline and return what it printed and its exit code."""

    def run_command(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        piped = {"capture_output": True, "text": True, "env": offline} | options
        return subprocess.run([command, *words], check=False, **piped)

    return run_command


@pytest.fixture(scope="session")
def tickets(tmp_path_factory) -> Path:
    """A folder with train.csv, test.csv and a model fitted on the first of them."""
    pytest.importorskip("pyarrow", reason="CSV is read by pyarrow")
    from commands import FAST, LABELS_OPTION, call
    from made_up_tables import make_tickets, write_csv

    folder = tmp_path_factory.mktemp("tickets")
    write_csv(folder / "train.csv", make_tickets(120))
    write_csv(folder / "test.csv", make_tickets(50, seed=1))
    fit = f"fit {folder}/train.csv {LABELS_OPTION} --model {folder}/m.labelsure {FAST}"
    assert call(fit) == 0
    return folder


@pytest.fixture
def here(tickets, tmp_path, monkeypatch) -> Path:
    """The current folder, with the tables and the model of ``tickets``."""
    for name in ("train.csv", "test.csv", "m.labelsure"):
        shutil.copy(tickets / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Torn(NamedTuple):
    """A folder with tables and a model that may not predict the most plausible labelset."""

    folder: Path
    model: Any
    X: Any
    Y: Any


@pytest.fixture(scope="session")
def torn_files(tmp_path_factory) -> Torn:
    pytest.importorskip("pyarrow", reason="CSV is read by pyarrow")
    import numpy as np
    from commands import FAST, LABELS_OPTION, call
    from made_up_tables import LABELS, make_tickets, write_csv

    from labelsure.datasets import TableSchema, open_table
    from labelsure.model_file import open_model, save_model

    folder = tmp_path_factory.mktemp("torn")
    for name, n_rows, seed in (("train.csv", 120, 0), ("test.csv", 50, 1)):
        # labels that exclude each other
        only = np.random.default_rng(seed).choice(LABELS, n_rows)
        columns = make_tickets(n_rows, seed=seed)
        for i, label in enumerate(only):
            if label == "urgent" and float(columns["age"][i] or 0) > 40:
                columns["size"][i] = f"9{columns['size'][i]}"
        labels = {label: [str(int(one == label)) for one in only] for label in LABELS}
        write_csv(folder / name, columns | labels)
    file = folder / "m.labelsure"
    fit = f"fit {folder}/train.csv {LABELS_OPTION} --model {file} {FAST} --measure posterior"
    assert call(fit) == 0
    opened = open_model(file)
    for fold in opened.model.calibrator_.folds:
        # as if training had shown that the learner's own labels are better
        fold.measure.labels_are_better_ = True
    save_model(opened.model, file, table=opened.table)
    schema = TableSchema.from_json(opened.table)
    rows = open_table(folder / "test.csv", schema, labels=True).read()
    return Torn(folder, opened.model, rows.X, rows.Y)


@pytest.fixture
def torn(torn_files, tmp_path, monkeypatch) -> Torn:
    """The same files, in the current folder."""
    for name in ("train.csv", "test.csv", "m.labelsure"):
        shutil.copy(torn_files.folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return torn_files._replace(folder=tmp_path)

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
    """An environment without data folders, without a cache, and with a server that answers nothing."""
    environment = {name: value for name, value in os.environ.items() if name != "LABELSURE_DATA"}
    cache = str(tmp_path_factory.mktemp("cache"))
    return environment | {
        "LABELSURE_MIRROR": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        "XDG_CACHE_HOME": cache,
    }


@pytest.fixture(scope="session")
def run(command, offline) -> Runner:
    """Run the installed command offline and return what it printed and its exit code."""

    def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *words],
            env=offline | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run_command


FAST = ("--learner", "logistic", "--measure", "log-loss", "--folds", "3", "--jobs", "1")


@pytest.fixture(scope="session")
def tickets(tmp_path_factory) -> Path:
    """A folder with train.csv, test.csv and a model fitted on the first of them."""
    pytest.importorskip("pyarrow", reason="CSV is read by pyarrow")
    from made_up_tables import LABELS, make_tickets, write_csv

    from labelsure.cli import main

    folder = tmp_path_factory.mktemp("tickets")
    write_csv(folder / "train.csv", make_tickets(120))
    write_csv(folder / "test.csv", make_tickets(50, seed=1))
    words = [
        "fit",
        str(folder / "train.csv"),
        "--labels",
        ",".join(LABELS),
        "--model",
        str(folder / "m.labelsure"),
    ]
    assert main([*words, *FAST]) == 0
    return folder


class Torn(NamedTuple):
    """A folder with tables and a model whose ``predict`` is not always the most plausible labelset, and test rows."""

    folder: Path
    model: Any
    X: Any
    Y: Any


@pytest.fixture(scope="session")
def torn(tickets, tmp_path_factory) -> Torn:
    import numpy as np
    from made_up_tables import LABELS, make_tickets, write_csv

    from labelsure.cli import main
    from labelsure.datasets import TableSchema, open_table
    from labelsure.model_file import open_model, save_model

    folder = tmp_path_factory.mktemp("torn")
    for name, n_rows, seed in (("train.csv", 120, 0), ("test.csv", 50, 1)):
        only = np.random.default_rng(seed).choice(
            LABELS, n_rows
        )  # of labels that shut each other out
        columns = make_tickets(n_rows, seed=seed)
        sure = [
            name == "urgent" and float(age or 0) > 40
            for name, age in zip(only, columns["age"], strict=True)
        ]
        columns["size"] = [
            f"9{size}" if on else size for size, on in zip(columns["size"], sure, strict=True)
        ]
        write_csv(
            folder / name,
            columns | {label: [str(int(one == label)) for one in only] for label in LABELS},
        )
    words = [
        "fit",
        str(folder / "train.csv"),
        "--labels",
        ",".join(LABELS),
        "--model",
        str(folder / "m.labelsure"),
    ]
    assert main([*words, *FAST, "--measure", "posterior"]) == 0
    opened = open_model(folder / "m.labelsure")
    for fold in opened.model.calibrator_.folds:
        fold.measure.labels_are_better_ = (
            True  # as where training shows that the learner's own labels are better
        )
    save_model(opened.model, folder / "m.labelsure", table=opened.table)
    batch = open_table(folder / "test.csv", TableSchema.from_json(opened.table), labels=True).read()
    return Torn(folder, opened.model, batch.X, batch.Y)

"""What does it cost to keep a model in a file, against pickle?"""

import pickle
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._answers import Table
from benchmarks._figures import Figure
from benchmarks._measuring import fastest, in_new_process, peak_growth

TITLE = "Model files"
METHOD = (
    "Cross-conformal predictors on made-up data: the pool of `table_pool()` on 300 rows and 4"
    " labels (3 folds), forests of 100 trees on 330 rows and 100 labels (10 folds), logistic"
    " regression on 600 rows and 100 labels (10 folds), nearest neighbours on 5000 rows of 200"
    " numbers (5 folds). Least seconds of the processor of `save_model` and `load_model`; memory is"
    " by how much the resident memory of the process grew while saving. The baseline is pickle,"
    " which is neither checked nor safe to load."
)
MODELS = ("pool", "forests", "logistic", "neighbours")
REPEATS = 3


def measure() -> list[Figure | Table]:
    """Return size, seconds and memory for each model."""
    found = {name: in_new_process(_measure, name) for name in MODELS}
    ratios = [
        figure
        for name, one in found.items()
        for figure in (
            Figure(f"{name}: file over pickle", one["file"] / one["pickle"], "x"),
            Figure(
                f"{name}: memory for saving over pickle's size", one["memory"] / one["pickle"], "x"
            ),
        )
    ]
    columns = [
        "model",
        "pickle, MB",
        "file, MB",
        "pickle, s",
        "save, s",
        "unpickle, s",
        "load, s",
        "memory to save, MB",
    ]
    rows = [
        [name, one["pickle"] / 1e6, one["file"] / 1e6, one["pickle it"], one["save"],
         one["unpickle it"], one["load"], one["memory"] / 1e6]
        for name, one in found.items()
    ]  # fmt: skip
    return [*ratios, Table("What a file takes", columns, rows)]


def _make(name: str) -> Any:
    from sklearn.datasets import make_multilabel_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.neighbors import KNeighborsClassifier

    from labelsure import CrossConformalClassifier, table_pool

    learner, shape, n_folds = {
        "pool": (table_pool(random_state=0), (300, 12, 4), 3),
        "forests": (RandomForestClassifier(100, random_state=0), (330, 40, 100), 10),
        "logistic": (OneVsRestClassifier(LogisticRegression()), (600, 40, 100), 10),
        "neighbours": (KNeighborsClassifier(), (5000, 200, 8), 5),
    }[name]
    n_rows, n_features, n_labels = shape
    X, Y = make_multilabel_classification(
        n_rows, n_features, n_classes=n_labels, n_labels=3, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CrossConformalClassifier(learner, cv=n_folds, random_state=0).fit(X, Y)


def _measure(name: str) -> dict[str, float]:
    """Return bytes and seconds for a model."""
    from labelsure import load_model, save_model

    model = _make(name)
    with TemporaryDirectory() as folder:
        path, pickled = Path(folder) / "model.labelsure", Path(folder) / "model.pickle"
        save_model(model, path)  # imports what it needs
        _, memory = peak_growth(lambda: save_model(model, path))
        ways = {
            "save": lambda: save_model(model, path),
            "load": lambda: load_model(path),
            "pickle it": lambda: pickled.write_bytes(pickle.dumps(model)),
            "unpickle it": lambda: pickle.loads(pickled.read_bytes()),
        }
        seconds = fastest(ways, repeats=REPEATS, clock=time.process_time)
        return {
            **seconds,
            "memory": memory,
            "file": path.stat().st_size,
            "pickle": pickled.stat().st_size,
        }

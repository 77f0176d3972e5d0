"""Are labels that somebody got wrong found, beside cleanlab?"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from labelsure import CrossConformalClassifier, find_label_errors
from labelsure.learners import outputs_of

TITLE = "Doubtful labels"
PACKAGES = ("cleanlab",)
SETS = ("emotions", "scene", "yeast", "birds")
BY_MORE = {"scene": 0.1, "yeast": 0.1}
SEEDS = (1, 2)
N_ROWS = 1500
METHOD = (
    f"The first {N_ROWS} rows of each set, of three in ten of which one label, chosen at random, is"
    " flipped. All methods judge the same outputs of extra trees (100, at least 2 examples in a"
    " leaf) in 5 folds, each row by the model that has not seen it: `find_label_errors` by the"
    " largest gain of a flip, cleanlab by `get_label_quality_scores` of its multi-label filter, and"
    " the least output of a given label. Average precision of finding the rows, and the single"
    f" labels, with a flip; mean over {len(SEEDS)} seeds."
)

Array = np.ndarray[Any, Any]


def measure() -> list[Figure | Table]:
    """Return the average precision of finding wrong rows and labels, and the gain over cleanlab."""
    if find_spec("cleanlab") is None:
        raise NotMeasuredError('cleanlab not installed: pip install -e ".[rivals]".')
    figures: list[Figure | Table] = []
    rows = []
    for name in SETS:
        found = np.mean([list(precisions(name, seed).values()) for seed in SEEDS], axis=0)
        rows.append([name, *(float(value) for value in found)])
        ahead = f"{name}: rows found, average precision above cleanlab's"
        figures.append(
            Figure(ahead, float(found[0] - found[1]), "", at_least=BY_MORE.get(name, 0.0))
        )
    columns = [
        "set",
        "labelsure, rows",
        "cleanlab, rows",
        "least output, rows",
        "labelsure, labels",
        "output, labels",
    ]
    return [*figures, Table("Average precision of finding wrong labels", columns, rows)]


def precisions(name: str, seed: int) -> dict[str, float]:
    """Return the average precision of each way to find wrong rows and labels."""
    from cleanlab.multilabel_classification import get_label_quality_scores

    X, Y = first_rows(name)
    flips = random_flips(Y, np.random.default_rng(seed))
    given = Y ^ flips
    trees = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=seed)
    model = CrossConformalClassifier(trees, cv=5, random_state=seed, n_jobs=-1).fit(X, given)
    gains = find_label_errors(model, X, given).gains
    outputs = np.empty(given.shape)
    for rows, fitted in zip(model.fold_indices_, model.models_, strict=True):
        outputs[rows] = outputs_of(fitted, X[rows], given.shape[1])
    quality = get_label_quality_scores([np.flatnonzero(row).tolist() for row in given], outputs)
    doubt = np.abs(given - outputs)
    wrong = flips.any(axis=1)
    precision: Callable[..., Any] = average_precision_score
    return {
        "rows": float(precision(wrong, gains.max(axis=1))),
        "cleanlab": float(precision(wrong, -quality)),
        "least output": float(precision(wrong, doubt.max(axis=1))),
        "labels": float(precision(flips.ravel(), gains.ravel())),
        "output": float(precision(flips.ravel(), doubt.ravel())),
    }


def first_rows(name: str) -> tuple[Array, Array]:
    """Return the objects and labels of a set, training and test, up to the number used."""
    data = load_if_there(name)
    X = np.concatenate([np.asarray(data.X_train), np.asarray(data.X_test)])[:N_ROWS]
    return X, np.concatenate([data.Y_train, data.Y_test])[:N_ROWS].astype(int)


def random_flips(Y: Array, rng: np.random.Generator) -> Array:
    """Return which labels are flipped: of three rows in ten one label, chosen at random."""
    flips = np.zeros(Y.shape, dtype=int)
    rows = np.flatnonzero(rng.random(len(Y)) < 0.3)
    flips[rows, rng.integers(Y.shape[1], size=len(rows))] = 1
    return flips

"""Measure learners, measures and guarantees over random resplits, with results cached in a file."""
# ruff: noqa: T201 - a command prints

import json
from math import log2
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from experiments._plan import BASELINE, Run
from labelsure import CrossConformalClassifier, InductiveConformalClassifier, load_dataset
from labelsure._random import set_missing_seeds
from labelsure.cli._learners import RECIPES
from labelsure.learners import fit_base
from labelsure.measures import MANY_LABELS, make_measure
from labelsure.metrics import error_rate, mean_region_size

LEVELS = ("80", "90", "95")
"""Confidence in percent."""


def measure_run(run: Run, path: Path, folder: Path) -> None:
    """Measure the cells of a run that the file does not have yet, and write it after each.

    Parameters
    ----------
    run : Run
        What to measure.
    path : Path
        The results file; it is whole at all times.
    folder : Path
        Where fitted folds are kept, so that all measures share a learner's.
    """
    data = load_dataset(run.dataset)
    X, Y = one_hot(data), data.Y.astype(np.int8)
    n_train, n_test = min(data.n_train, run.train or data.n_train), len(Y) - data.n_train
    document: dict[str, Any] = {
        "settings": {"folds": run.folds, "confidence": list(LEVELS)},
        "datasets": {
            run.dataset: {
                "n_objects": len(Y),
                "n_labels": Y.shape[1],
                "n_train": n_train,
                "n_test": n_test,
            }
        },
        "cells": [],
    }
    if path.exists():
        document = json.loads(path.read_text(encoding="utf-8"))
    names = ("learner", "measure", "guarantee", "resplit")
    kept = {tuple(cell[name] for name in names) for cell in document["cells"]}
    for key in [key for key in run.cells() if key not in kept]:
        order = np.random.default_rng(key[3]).permutation(len(Y))
        train, test = order[:n_train], order[n_train : n_train + n_test]
        cell = measure_cell(run, key, (X[train], Y[train]), (X[test], Y[test]), folder)
        document["cells"].append(
            {"dataset": run.dataset, **dict(zip(names, key, strict=True)), **cell}
        )
        write_results(path, document)
        print(path.stem, *key, flush=True)


def measure_cell(
    run: Run,
    key: tuple[str, str, str, int],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    folder: Path,
) -> dict[str, Any]:
    """Return the figures of a learner, measure, guarantee and resplit, or why there are none."""
    name, measure, guarantee, resplit = key
    learner = make_learner(name, train[0])
    given: dict[str, Any] = {
        "measure": make_measure(measure),
        "random_state": resplit,
        "n_jobs": -1,
    }
    model: Any = CrossConformalClassifier(learner, cv=run.folds, memory=folder, **given)
    if guarantee == "inductive":
        model = InductiveConformalClassifier(learner, memory=folder, **given)
    else:
        model.set_params(guarantee=guarantee)
    try:
        model.fit(*train)
    except ValueError as error:  # what a measure says to data that it is not for
        return {"refused": str(error)}
    X, Y = test
    predictions = model.predict_labelsets(X)
    figures: dict[str, Any] = {}
    for level in LEVELS:
        significance = round(1 - int(level) / 100, 2)
        region = predictions[: run.objects].region(significance, size_precision=0.1)
        missed = 100 * error_rate(predictions.region(significance).contains(Y))
        sizes = (
            logarithms(region)
            if Y.shape[1] > MANY_LABELS
            else {"sizes": mean_region_size(region.sizes)}
        )
        for figure, value in {"errors": missed, **sizes}.items():
            figures.setdefault(figure, {})[level] = value
    alone = fit_base(set_missing_seeds(clone(learner), resplit), *train)
    own = np.tile(train[1][0], (len(Y), 1))  # right for labels that are constant in training
    if alone.estimator is not None:
        own[:, alone.learned] = alone.estimator.predict(X)
    figures |= {**accuracies(Y, model.predict(X)), "learner": accuracies(Y, own)}
    return {"figures": figures}


def accuracies(Y: Any, predicted: Any) -> dict[str, float]:
    """Return how good predicted labelsets are."""
    macro_f = f1_score(Y, predicted, average="macro", zero_division=0)
    return {"subset_accuracy": accuracy_score(Y, predicted), "macro_f": macro_f}


def logarithms(region: Any) -> dict[str, float]:
    """Return median and mean of log2 of the sizes, an empty region counted as one labelset."""
    bits = [log2(max(size.value, 1)) for size in region.size_estimates]
    return {"log2_sizes": median(bits), "log2_mean": fmean(bits)}


def make_learner(name: str, X: Any) -> Any:
    """Return an unfitted classifier by its name on the command line, for features as they are."""
    recipe, is_sparse = RECIPES[name], sparse.issparse(X)
    if name == BASELINE[0] or (name == "pool" and not is_sparse):
        return recipe.make()
    gaps = np.isnan(X.data if is_sparse else X).any()
    scalers: dict[str, Any] = {"none": [], "unit": [MinMaxScaler()], "standard": [StandardScaler()]}
    scaler = [MaxAbsScaler()] if is_sparse and scalers[recipe.scaling] else scalers[recipe.scaling]
    dense = FunctionTransformer(sparse.csr_matrix.toarray, accept_sparse=True)
    imputer = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
    return make_pipeline(
        *imputer,
        *scaler,
        *([dense] if is_sparse and not recipe.takes_sparse else []),
        recipe.make(),
    )


def one_hot(data: Any) -> Any:
    """Return the numeric features, then one 0/1 column per value of each nominal feature."""
    if not data.categories:
        return data.X
    nominal = [data.feature_names.index(name) for name in data.categories]
    others = [j for j in range(len(data.feature_names)) if j not in set(nominal)]
    codes = [sorted(set(codes.values())) for codes in data.categories.values()]
    values = data.X[:, nominal].toarray() if sparse.issparse(data.X) else data.X[:, nominal]
    columns = OneHotEncoder(categories=codes, handle_unknown="ignore").fit_transform(values)
    X = sparse.hstack([data.X[:, others], columns], format="csr")
    return X if sparse.issparse(data.X) else X.toarray()


def write_results(path: Path, document: dict[str, Any]) -> None:
    """Write the file with a cell on each line; the old one stays until the new one is whole."""
    head = json.dumps(
        {name: value for name, value in document.items() if name != "cells"}, indent=1
    )
    cells = ",\n".join(f"  {json.dumps(cell)}" for cell in document["cells"])
    new = path.with_suffix(".new")
    new.write_text(
        f'{head.removesuffix("}").rstrip()},\n "cells": [\n{cells}\n ]\n}}\n', encoding="utf-8"
    )
    new.replace(path)

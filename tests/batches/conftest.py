"""Small models that draw and a table with numbers, categories, gaps and an id."""

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from labelsure import CrossConformalClassifier, InductiveConformalClassifier

pd = pytest.importorskip("pandas", reason="tables of pandas")
pa = pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")

NAMES = ("bug", "billing", "urgent")
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MODELS = {
    "cross": CrossConformalClassifier(TREE, cv=3, random_state=0),
    "exact": CrossConformalClassifier(TREE, cv=3, guarantee="exact", random_state=0),
    "smoothed": InductiveConformalClassifier(
        TREE, smoothed=True, empty_labelset="allow", random_state=0
    ),
}


class Fitted(NamedTuple):
    """Models by name, new rows, and a file with its schema and rows for it."""

    models: dict
    rows: object
    file: object
    tickets: object


def tickets_frame(n_rows, seed):
    rng = np.random.default_rng(seed)
    age, plan = (
        rng.normal(40, 10, n_rows).round(1),
        rng.choice(["free", "team", "firm"], n_rows).astype(object),
    )
    age[rng.random(n_rows) < 0.1], plan[rng.random(n_rows) < 0.1] = np.nan, None
    labels = np.column_stack([age > 40, plan == "firm", rng.random(n_rows) < 0.4]).astype(int)
    return pd.DataFrame({"id": np.arange(n_rows), "age": age, "plan": plan}), labels


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    from labelsure.cli import main

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 5, size=(110, 3)).astype(float), columns=["a", "b", "c"])
    Y = pd.DataFrame((X.to_numpy() + rng.normal(size=(110, 3)) > 2).astype(int), columns=NAMES)
    models = {name: model.fit(X[:80], Y[:80]) for name, model in MODELS.items()}
    folder = tmp_path_factory.mktemp("tickets")
    table, labels = tickets_frame(90, seed=0)
    table.drop(columns="id").join(pd.DataFrame(labels, columns=NAMES)).to_csv(
        folder / "train.csv", index=False
    )
    path = folder / "m.labelsure"
    words = f"fit {folder}/train.csv --labels {','.join(NAMES)} --model {path} --learner logistic"
    words += " --measure log-loss --folds 3 --jobs 1 --guarantee exact"
    assert main(words.split()) == 0
    return Fitted(models, X[80:].reset_index(drop=True), path, tickets_frame(40, seed=1)[0])

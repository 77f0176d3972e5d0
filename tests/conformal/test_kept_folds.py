"""``memory``: finished folds are kept, found again, and change nothing."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecallController,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5))
Y = (X @ RNG.normal(size=(5, 3)) + RNG.normal(size=(90, 3)) > 0).astype(int)
NEW = RNG.normal(size=(20, 5))
LOGISTIC = MultiOutputClassifier(LogisticRegression())

MODELS = {
    "cross": (CrossConformalClassifier(LOGISTIC, cv=5, guarantee="exact", random_state=0), 10),
    "inductive": (InductiveConformalClassifier(LOGISTIC, random_state=0), 1),
    "pool": (
        CrossConformalClassifier(
            PooledClassifier([("a", LOGISTIC), ("b", MLkNNClassifier(5))]), cv=5, random_state=0
        ),
        10,
    ),
    "label-wise": (
        LabelWiseConformalClassifier(MLkNNClassifier(5), cv=4, smoothed=True, random_state=0),
        4,
    ),
    "recall": (RecallController(LOGISTIC, cv=4, target=0.7, random_state=0), 4),
}


def answers(model):
    if isinstance(model, RecallController):
        return model.predict(NEW)
    if isinstance(model, LabelWiseConformalClassifier):
        return model.predict_labels(NEW).p_values
    return np.column_stack(
        [model.predict_labelsets(NEW).p_values(), model.predict_labelsets(NEW).region(0.2).sizes]
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:The calibration examples")
def test_kept_folds_change_nothing(name, tmp_path, monkeypatch):
    model, n_fits = MODELS[name]
    alone = answers(clone(model).fit(X, Y))
    first = clone(model).set_params(memory=tmp_path / "kept").fit(X, Y)
    entries = sorted((tmp_path / "kept").rglob("output.pkl"))
    assert len(entries) == n_fits
    for path in entries[::2]:  # as if it had been killed
        path.unlink()
    again = clone(model).set_params(memory=str(tmp_path / "kept")).fit(X, Y)
    assert sorted((tmp_path / "kept").rglob("output.pkl")) == entries
    monkeypatch.setattr("labelsure.conformal._models.fit_model", None)  # nothing is fitted any more
    kept = clone(model).set_params(memory=tmp_path / "kept").fit(X, Y)
    for found in (first, again, kept):
        assert answers(found).tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    "change",
    [
        {"random_state": 1},
        {"cv": 6},
        {"estimator": MultiOutputClassifier(LogisticRegression(C=0.5))},
        {"X": X + 1e-12},
        {"Y": 1 - Y},
        {"sample_weight": np.linspace(1, 2, len(X))},
    ],
    ids=["seed", "folds", "learner", "objects", "labels", "weights"],
)
def test_folds_of_other_work_are_not_used(change, tmp_path):
    change = dict(change)
    objects, labels = change.pop("X", X), change.pop("Y", Y)
    given = {"sample_weight": change.pop("sample_weight")} if "sample_weight" in change else {}
    model = CrossConformalClassifier(LOGISTIC, cv=5, random_state=0)
    clone(model).set_params(memory=tmp_path / "kept").fit(X, Y)
    found = (
        clone(model).set_params(memory=tmp_path / "kept", **change).fit(objects, labels, **given)
    )
    alone = clone(model).set_params(**change).fit(objects, labels, **given)
    assert answers(found).tobytes() == answers(alone).tobytes()


def test_wrong_memory_is_refused_before_anything_is_fitted(tmp_path):
    with pytest.raises(ValueError, match=r"memory must be the name of a folder, a path, .* got 3"):
        CrossConformalClassifier(LOGISTIC, cv=3, memory=3).fit(X, Y)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ValueError, match="nobody else can write to"):
        InductiveConformalClassifier(LOGISTIC, memory=tmp_path / "open").fit(X, Y)

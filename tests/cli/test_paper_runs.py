"""The settings of the runs behind the tables."""

import importlib.util

import numpy as np
import pytest

from labelsure import (
    BPMLLClassifier,
    CrossConformalClassifier,
    MLkNNClassifier,
    MLNBClassifier,
    MLRBFClassifier,
)
from labelsure._errors import CommandError
from labelsure.cli import _reproduce
from labelsure.cli._reproduce import ROWS, load_paper_dataset, make_learner
from labelsure.datasets import Dataset
from labelsure.paper._tables import DATASETS, paper_tables


def test_rows_are_the_papers_and_one_more():
    assert [row for row in ROWS if row != "BP-MLL shuffled"] == list(
        paper_tables()["single_predictions"]["scene"]
    )


@pytest.mark.parametrize(
    ("row", "penalty"), [("ML-RBF CCP lambda=0", 0.0), ("ML-RBF CCP lambda=1", 1.0)]
)
def test_conformal_rows_have_the_papers_settings(row, penalty):
    model = make_learner(row, n_folds=12, seed=3)
    assert isinstance(model, CrossConformalClassifier)
    assert isinstance(model.estimator, MLRBFClassifier)
    assert (model.measure.d, model.measure.pair_penalty) == (4, penalty)
    assert (model.cv, model.empty_labelset) == (12, "exclude")
    assert (model.smoothed, model.random_state) == (False, 3)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("ML-RBF", MLRBFClassifier(random_state=3)),
        ("BP-MLL", BPMLLClassifier(shuffle=False, random_state=3)),
        ("BP-MLL shuffled", BPMLLClassifier(shuffle=True, random_state=3)),
        ("ML-kNN", MLkNNClassifier()),
        ("ML-NB", MLNBClassifier(random_state=3)),
    ],
)
def test_other_rows_have_default_settings(row, expected):
    model = make_learner(row, n_folds=12, seed=3)
    assert type(model) is type(expected)
    assert model.get_params() == expected.get_params()


def test_folds_are_the_papers():
    assert tuple(DATASETS) == _reproduce.NAMES
    assert {name: dataset.n_folds for name, dataset in DATASETS.items()} == {
        "scene": 12,
        "yeast": 15,
    }


@pytest.mark.skipif(
    importlib.util.find_spec("river") is None, reason="yeast comes from the package river"
)
def test_features_are_scaled_on_the_training_file(monkeypatch):
    monkeypatch.delenv("LABELSURE_DATA", raising=False)
    data = load_paper_dataset("yeast")
    np.testing.assert_allclose(data.X_train.min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X_train.max(axis=0), 1, atol=1e-12)
    assert data.X_test.min() < 0
    assert data.X_test.max() > 1
    assert data.name == "yeast"


@pytest.mark.parametrize("n_train", [0, 1, 2])
def test_another_split_is_refused(monkeypatch, n_train):
    data = Dataset(
        "scene",
        [[0.0], [1.0]],
        [[1, 0], [0, 1]],
        ["f"],
        ["a", "b"],
        n_train,
        source="here/scene.arff",
    )
    monkeypatch.setattr("labelsure.datasets.load_dataset", lambda _: data)
    with pytest.raises(CommandError, match=r"1211 training and 1196 test .* here/scene\.arff"):
        load_paper_dataset("scene")

"""The experiment about measure="auto": models are fitted once, and the table compares what it says."""

from dataclasses import asdict

import numpy as np
import pytest
from experiments import auto
from experiments.auto import PLAN, Remembering, Setting, figure_of, rivals, table
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

from labelsure import AutoMeasure, CrossConformalClassifier
from labelsure.datasets import available_datasets


def cell(measure, mean, *, error=0.1, resplit=0, learner="ml-rbf", measured=100):
    setting = asdict(Setting("scene", learner, 10, 2, measured))
    sizes = {"0.1": {"mean": mean, "mean_log2": np.log2(mean)}}
    return {**setting, "measure": measure, "resplit": resplit, "sizes": sizes, "errors": {"0.1": error}}


@pytest.fixture
def one_setting(monkeypatch):
    monkeypatch.setattr(auto, "PLAN", [Setting("scene", "ml-rbf", 10, 2, 100)])


def test_plan_names_data_sets_that_there_are():
    assert {setting.dataset for setting in PLAN} <= set(available_datasets())
    assert len({setting.dataset for setting in PLAN}) == 7


@pytest.mark.parametrize("n_labels", [6, 45])
def test_rivals_have_names_of_their_own(n_labels):
    names = [repr(measure) for measure in rivals(n_labels)]
    assert len(set(names)) == len(names)
    assert names[:2] == ["'auto'", "AutoMeasure(significance=0.1)"]


def test_table_compares_with_the_best_measure_named_beforehand(one_setting):
    cells = [
        *(cell("A()", mean, resplit=r) for r, mean in enumerate((4.0, 6.0))),
        *(cell("B()", mean, resplit=r) for r, mean in enumerate((2.0, 10.0))),
        *(cell("'auto'", mean, resplit=r, error=0.1 * r) for r, mean in enumerate((5.0, 5.5))),
        *(cell("AutoMeasure(significance=0.1)", 4.0, resplit=r) for r in range(2)),
        cell("C()", 1.0),  # of one split only
        *(cell("D()", 1.0, resplit=r, learner="logistic") for r in range(2)),
        *(cell("E()", 1.0, resplit=r, measured=50) for r in range(2)),
    ]
    assert table(cells)[2:] == ["| scene | ml-rbf | A() | 5 | 5.25 | 0.050 | 1.050 | 4 | 0.100 | 0.800 |"]


def test_sizes_of_many_labels_are_compared_by_logarithms():
    cells = [{"sizes": {"0.1": {"mean_log2": bits}}} for bits in (3.0, 5.0)]
    assert figure_of(cells) == 16.0


def test_models_are_fitted_once(monkeypatch):
    fits = []

    class Counting(KNeighborsClassifier):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    monkeypatch.setattr(Remembering, "memory", {})
    X, Y = make_multilabel_classification(40, n_features=4, n_classes=3, random_state=0)
    models = [
        CrossConformalClassifier(base, measure=AutoMeasure([auto.LogLossMeasure()]), cv=3, random_state=0).fit(X, Y)
        for base in (Remembering(Counting(3)), Remembering(Counting(3)), KNeighborsClassifier(3))
    ]
    assert len(fits) == 3 * (1 + 5)
    tables = [model.predict_labelsets(X[:5]).p_values() for model in models]
    np.testing.assert_array_equal(tables[0], tables[2])
    np.testing.assert_array_equal(tables[1], tables[2])

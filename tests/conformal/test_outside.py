"""Predictions in the tables that users hold, and what models show of themselves."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsure import (
    CoverController,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    RecallController,
    ReviewSelector,
)
from labelsure.measures import PowerMeasure

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAMES, FEATURES = ["sea", "city", "night"], list("abcde")
X, Y = make_multilabel_classification(n_samples=110, n_features=5, n_classes=3, random_state=0)
LEARNER = OneVsRestClassifier(LogisticRegression())
INDEX = pandas.Index([f"photo {i}" for i in range(110)])


def tables(library):
    if library == "pandas":
        return pandas.DataFrame(X, columns=FEATURES, index=INDEX), pandas.DataFrame(
            Y, columns=NAMES, index=INDEX
        )
    return polars.DataFrame(X, schema=FEATURES), polars.DataFrame(Y, schema=NAMES)


MODELS = {
    "cross": CrossConformalClassifier(LEARNER, measure=PowerMeasure(), cv=3, random_state=0),
    "exact": CrossConformalClassifier(
        LEARNER, measure=PowerMeasure(), cv=3, guarantee="exact", random_state=0
    ),
    "default": CrossConformalClassifier(LEARNER, cv=3, random_state=0),
    "inductive": InductiveConformalClassifier(
        LEARNER, measure=PowerMeasure(), smoothed=True, random_state=0
    ),
    "label-wise": LabelWiseConformalClassifier(LEARNER, cv=3, smoothed=True, random_state=0),
    "full": FullConformalClassifier(MLkNNClassifier(), smoothed=True, random_state=0),
    "recall": RecallController(LEARNER, random_state=0),
    "cover": CoverController(LEARNER, random_state=0),
}


@pytest.fixture(scope="module")
def fitted():
    return {
        name: clone(model).fit(X[:100], Y[:100], label_names=NAMES)
        for name, model in MODELS.items()
    }


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", MODELS)
def test_tables_in_give_the_answers_of_arrays(fitted, name, library):
    tx, ty = tables(library)
    model = clone(MODELS[name]).fit(tx[:100], ty[:100])
    assert model.label_names_ == tuple(NAMES)
    np.testing.assert_array_equal(model.predict(tx[100:]), fitted[name].predict(X[100:]))
    ask = "predict_labels" if name == "label-wise" else "predict_labelsets"
    if hasattr(model, ask):
        ours, theirs = (
            getattr(*who)(new)
            for who, new in (((model, ask), tx[100:]), ((fitted[name], ask), X[100:]))
        )
        np.testing.assert_array_equal(ours.region(0.3).sizes, theirs.region(0.3).sizes)
        np.testing.assert_array_equal(
            ours.region(0.3).contains(ty[100:]), theirs.region(0.3).contains(Y[100:])
        )
        assert type(ours.to_frame()).__module__.startswith(library)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", MODELS)
def test_set_output_makes_predictions_tables(fitted, name, library):
    tx, _ = tables(library)
    model = fitted[name]
    expected = model.predict(X[100:])
    frame = model.set_output(predict=library).predict(
        tx[100:] if hasattr(model, "feature_names_in_") else X[100:]
    )
    model.set_output(predict="default")
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == NAMES
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    assert isinstance(model.predict(X[100:]), np.ndarray)


def test_set_output_survives_clone_pipelines_and_searches():
    tx, ty = tables("pandas")
    model = clone(MODELS["cross"]).set_output(predict="pandas")
    assert isinstance(clone(model).fit(tx[:60], ty[:60]).predict(tx[100:]), pandas.DataFrame)
    pipeline = (
        make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit(tx[:60], ty[:60])
    )
    assert list(pipeline.predict(tx[100:]).columns) == NAMES
    search = GridSearchCV(model, {"estimator__estimator__C": [0.1, 1.0]}, cv=2).fit(
        tx[:60], ty[:60]
    )
    assert isinstance(search.predict(tx[100:]), pandas.DataFrame)


def test_set_output_refuses_what_it_does_not_know_and_keeps_what_was_set():
    model = clone(MODELS["cross"]).set_output(predict="pandas")
    with pytest.raises(
        ValueError, match="predict must be one of 'default', 'pandas', 'polars', got 'numpy'"
    ):
        model.set_output(predict="numpy")
    assert isinstance(model.set_output().fit(X[:60], Y[:60]).predict(X[100:]), pandas.DataFrame)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_selections_come_as_tables(library):
    tx, ty = tables(library)
    model = clone(MODELS["inductive"]).set_params(smoothed=False).set_output(predict=library)
    selector = ReviewSelector(model.fit(tx[:60], ty[:60])).calibrate(tx[60:100], ty[60:100])
    selection = selector.select(tx[100:], alpha=0.5)
    frame = selection.to_frame()
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == [*NAMES, "accepted", "p_value", "sureness"]
    assert list(frame["accepted"]) == selection.accepted.tolist()
    if library == "pandas":
        assert frame.index.equals(INDEX[100:])
        assert selection.to_frame(library="polars").columns[0] == "object"


@pytest.mark.parametrize("name", MODELS)
def test_diagrams_of_fitted_models_say_what_is_promised(fitted, name):
    model = fitted[name]
    shown = model._repr_html_()
    assert shown.startswith("<style>")
    assert "sk-top-container" in shown
    assert "Fitted on 3 labels" in shown
    assert "Fitted on 3 labels" in model._repr_mimebundle_()["text/html"]
    if name in ("cross", "exact", "default", "inductive"):
        assert (
            "A region at significance 0.05 misses the true labelset with probability at most"
            in shown
        )
    unfitted = MODELS[name]._repr_html_()
    assert "sk-top-container" in unfitted
    assert "Fitted on 3 labels" not in unfitted

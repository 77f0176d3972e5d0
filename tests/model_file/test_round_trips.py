"""Loaded predictors give the bits of saved ones: every predictor, measure and guarantee."""

import warnings

import numpy as np
import pandas as pd
import pytest
from model_cases import NEW, TRAIN, X, Y
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from labelsure import (
    ByCardinality,
    CoverController,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    PrecisionController,
    RecallController,
    ReviewSelector,
    calibrate_labels,
    calibrate_outputs,
    control_cover,
    control_recall,
    load_model,
    save_model,
)
from labelsure.conformal import GUARANTEES
from labelsure.engine import Allowed, AtLeast, AtMost, Exactly, Exclude, Hierarchy, Implies
from labelsure.measures import MEASURES, Need, make_measure
from labelsure.model_file import ModelFileError


class FunctionOfTable(TransformerMixin, BaseEstimator):
    """Numbers from a table with texts."""

    def fit(self, table, y=None):  # noqa: ARG002
        return self

    def transform(self, table):
        return np.column_stack([table[list("abc")], table["kind"] == "x", table["large"]]).astype(
            float
        )

    def __sklearn_is_fitted__(self):
        return True


NAMES = [
    word if entry.role in ("measure", "recipe") else f"log-loss+{word}"
    for word, entry in MEASURES.items()
    if word != "pairs"
]
NAMES.append("power+pairs")
LEARNER = MLkNNClassifier(4)


def measure_of(name):
    """Return the measure with a name, its forests small."""
    measure = make_measure(name)
    return measure.set_params(n_estimators=3) if "n_estimators" in measure.get_params() else measure


def answers_of(model, objects=X[NEW]):
    """Return all that a predictor of labelsets says about some objects."""
    predictions = model.predict_labelsets(objects)
    answers = [predictions.p_values(), predictions.labelsets, predictions.confidence]
    answers += [predictions.credibility, predictions.label_p_values]
    answers += [str(predictions.guarantee.proved_by)]
    for level in (0.1, 0.3):
        region = predictions.region(level)
        answers += [region.inner, region.outer, region.statement]
        answers += [[int(size) for size in region.sizes]]
    return answers


def assert_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))


@pytest.fixture
def again(tmp_path):
    """Return a function that saves and loads."""

    def save_and_load(model, **options):
        path = tmp_path / "model.labelsure"
        save_model(model, path, **options)
        return load_model(path, **options)

    return save_and_load


@pytest.mark.parametrize("name", NAMES)
def test_cross_predictors_answer_the_same_under_every_guarantee(again, name):
    model = CrossConformalClassifier(LEARNER, measure=measure_of(name), cv=3, random_state=0).fit(
        X[TRAIN], Y[TRAIN]
    )
    for guarantee in GUARANTEES:
        counted = model.recalibrate(X[TRAIN], Y[TRAIN], guarantee=guarantee)
        loaded = again(counted)
        assert_same(answers_of(loaded), answers_of(counted))
        assert_same([loaded.nonconformity(X[NEW], Y[NEW])], [counted.nonconformity(X[NEW], Y[NEW])])
        assert_same([loaded.predict(X[NEW])], [counted.predict(X[NEW])])
    assert repr(loaded) == repr(counted)
    assert str(loaded.measure_choices_) == str(counted.measure_choices_)


@pytest.mark.parametrize("name", NAMES)
def test_inductive_predictors_answer_the_same(again, name):
    measure = measure_of(name)
    model = InductiveConformalClassifier(
        LEARNER, measure=measure, smoothed=True, random_state=0
    ).fit(X[TRAIN], Y[TRAIN])
    assert_same(answers_of(again(model)), answers_of(model))
    # and can be calibrated further
    assert_same(
        answers_of(again(model).update(X[NEW], Y[NEW])), answers_of(model.update(X[NEW], Y[NEW]))
    )


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if "oof" not in name and "posterior" not in name and name != "auto"],
)
def test_full_predictors_answer_the_same(again, name):
    measure = measure_of(name)
    assert Need.OUT_OF_FOLD_OUTPUTS not in measure.needs
    if Need.FEATURES in measure.needs:
        measure.set_params(n_estimators=1)
    model = FullConformalClassifier(MLkNNClassifier(2), measure=measure, random_state=0).fit(
        X[:12], Y[:12]
    )
    assert_same(answers_of(again(model), X[NEW][:1]), answers_of(model, X[NEW][:1]))


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_predictors_on_outputs_answer_the_same(again, guarantee):
    outputs = np.random.default_rng(0).random((60, 3))
    model = calibrate_outputs(
        outputs, Y[TRAIN], folds=np.arange(60) % 3, guarantee=guarantee, random_state=0
    )
    new = np.stack([outputs[:6], outputs[6:12], outputs[12:18]])
    assert_same(answers_of(again(model), new), answers_of(model, new))


def test_sparse_outputs_answer_the_same(again):
    outputs = sparse.csr_matrix(np.random.default_rng(0).random((60, 3)) * (0.8 * Y[TRAIN] + 0.1))
    model = calibrate_outputs(
        outputs, Y[TRAIN], training_labels=Y[TRAIN], default_output=0.01, random_state=0
    )
    sizes = [
        predictor.predict_labelsets(outputs[:5]).region(0.1).sizes
        for predictor in (again(model), model)
    ]
    assert [int(size) for size in sizes[0]] == [int(size) for size in sizes[1]]


@pytest.mark.parametrize(
    "options",
    [
        {"mondrian": "cardinality"},
        {"mondrian": ByCardinality(at_most=2)},
        {"mondrian": 1},
        {"empty_labelset": "exclude"},
        {"constraints": [Implies(0, [0]), AtMost(3, [0, 1, 2]), AtLeast(0, [0, 1])]},
        {"constraints": Allowed(np.unique(Y, axis=0))},
        {"constraints": Allowed([{0}, {1, 2}]), "on_violation": "drop"},
        {
            "constraints": [Exclude([0, 1]), Hierarchy({0: 1}), Exactly(1, [0, 2])],
            "on_violation": "drop",
        },
        {"random_state": np.random.RandomState(1)},
        {"calibration_size": 20, "n_jobs": 2},
    ],
    ids=" ".join,
)
def test_options_answer_the_same(again, options):
    model = InductiveConformalClassifier(LEARNER, **{"random_state": 0, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X[TRAIN], Y[TRAIN])
    assert_same(answers_of(again(model)), answers_of(model))


@pytest.mark.parametrize(
    "options", [{}, {"cv": 3}, {"conditional": True}, {"cv": 3, "smoothed": True}], ids=str
)
def test_label_wise_predictors_answer_the_same(again, options):
    labels = Y[TRAIN].astype(float)
    labels[3, 1] = np.nan
    model = LabelWiseConformalClassifier(LEARNER, random_state=0, **options).fit(X[TRAIN], labels)
    for one, other in [(again(model).predict_labels(X[NEW]), model.predict_labels(X[NEW]))]:
        assert_same([one.p_values, one.labels], [other.p_values, other.labels])
        assert (
            one.region(0.2, per_label=True).statement == other.region(0.2, per_label=True).statement
        )


def test_label_wise_predictors_on_outputs_answer_the_same(again):
    outputs = np.random.default_rng(0).random((60, 3))
    model = calibrate_labels(
        outputs, Y[TRAIN], smoothed=True, random_state=0, label_names=["a", "b", "c"]
    )
    loaded = again(model)
    assert loaded.label_names == ("a", "b", "c")
    assert_same(
        [loaded.predict_labels(outputs[:9]).p_values], [model.predict_labels(outputs[:9]).p_values]
    )


@pytest.mark.parametrize(
    "controller",
    [
        RecallController(LEARNER, random_state=0),
        RecallController(LEARNER, random_state=0, cv=3),
        RecallController(LEARNER, random_state=0, cv=3, merge="any"),
        PrecisionController(LEARNER, target=0.4, random_state=0),
        CoverController(LEARNER, target=0.6, form="chance", random_state=0),
    ],
    ids=lambda controller: repr(controller).replace("\n", " "),
)
def test_controllers_answer_the_same(again, controller):
    model = controller.fit(X[TRAIN], Y[TRAIN])
    loaded = again(model)
    assert_same([loaded.predict(X[NEW])], [model.predict(X[NEW])])
    assert loaded.statement_ == model.statement_


def test_rules_for_outputs_answer_the_same(again):
    outputs = np.random.default_rng(0).random((60, 3))
    for model in (
        control_recall(outputs, Y[TRAIN], target=0.6),
        control_cover(outputs, Y[TRAIN], target=0.6),
    ):
        assert_same([again(model).predict(outputs)], [model.predict(outputs)])
        assert again(model) == model


def test_selectors_answer_the_same(again):
    model = InductiveConformalClassifier(LEARNER, random_state=0).fit(X[TRAIN], Y[TRAIN])
    for options in ({}, {"label": 1}, {"at_most": 1, "sureness": "outputs"}):
        selector = ReviewSelector(model, **options).calibrate(X[NEW], Y[NEW])
        one, other = (
            selection.select(X[NEW], alpha=0.4) for selection in (again(selector), selector)
        )
        assert_same(
            [one.accepted, one.p_values, one.sureness],
            [other.accepted, other.p_values, other.sureness],
        )
        assert one.statement == other.statement


def test_groups_answer_the_same(again):
    groups = np.arange(60) // 2
    model = CrossConformalClassifier(LEARNER, cv=3, random_state=0).fit(
        X[TRAIN], Y[TRAIN], groups=groups
    )
    assert_same(answers_of(again(model)), answers_of(model))


def test_names_of_labels_and_features_are_kept(again):
    objects, labels = (
        pd.DataFrame(X, columns=list("abcde")),
        pd.DataFrame(Y, columns=["sea", "city", "sky"]),
    )
    model = CrossConformalClassifier(LEARNER, cv=3, random_state=0).fit(
        objects[TRAIN], labels[TRAIN]
    )
    loaded = again(model)
    assert loaded.label_names_ == ("sea", "city", "sky")
    assert_same([loaded.feature_names_in_], [model.feature_names_in_])
    assert_same(answers_of(loaded, objects[NEW]), answers_of(model, objects[NEW]))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(objects[NEW].rename(columns={"a": "z"}))


def test_full_predictors_keep_tables(again):
    table = pd.DataFrame(X[:14, :3], columns=list("abc")).assign(
        kind=["x", "y"] * 7, large=X[:14, 0] > 9
    )
    learner = make_pipeline(FunctionOfTable(), MLkNNClassifier(2))
    model = FullConformalClassifier(learner, measure=make_measure("power"), random_state=0).fit(
        table[:12], Y[:12]
    )
    trusted = {"trusted": [FunctionOfTable]}
    loaded = again(model, **trusted)
    pd.testing.assert_frame_equal(loaded.X_, model.X_)
    assert_same(answers_of(loaded, table[12:]), answers_of(model, table[12:]))
    model.X_ = model.X_.assign(kind=pd.Categorical(model.X_["kind"]))
    with pytest.raises(ModelFileError, match="a column 'kind' of category cannot be kept"):
        again(model, **trusted)


def test_unknown_labels_answer_the_same(again):
    labels = Y[TRAIN].astype(float)
    labels[5, 0] = np.nan
    model = CrossConformalClassifier(LEARNER, cv=3, random_state=0).fit(X[TRAIN], labels)
    assert_same(answers_of(again(model)), answers_of(model))

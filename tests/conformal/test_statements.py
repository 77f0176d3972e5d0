"""Every printed sentence: the bound, the conditions, and whether the level can be reached."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from counting import without_addresses
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MultiLabelStratifiedKFold,
    calibrate_outputs,
)
from labelsure.conformal._guarantees import (
    NOT_BY_LABELS,
    PROVED_BY,
    bound_by_size,
    bound_by_tournament,
)
from labelsure.measures import PowerMeasure

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

DRAWS = "on average over the draws, one per object and the same for equal objects"
ANY, SYMMETRIC = ["any learner"], ["a learner that does not depend on the order of examples"]
WITH_LABELS = " examples with at least one label each"
SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=30)
LEVELS = st.fractions(Fraction(0), Fraction(1), max_denominator=50)


class Slopes(ClassifierMixin, BaseEstimator):
    """Outputs are the features; there is nothing to learn."""

    def fit(self, X, Y):  # noqa: ARG002
        self.classes_ = [np.array([0, 1])] * Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, :2]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    return X, (rng.random(X.shape) < X).astype(int)


def statement(model, data, level=0.1):
    X, Y = data
    return model.fit(X, Y).predict_labelsets(X[:2]).region(level).statement


def promised(sentence):
    """Return the bound that a sentence names."""
    return float(re.search(r"with probability at most ([\d.e-]+),", sentence)[1])


def cross(**options):
    return CrossConformalClassifier(Slopes(), random_state=0, **({"cv": 4} | options))


def inductive(**options):
    return InductiveConformalClassifier(Slopes(), calibration_size=30, random_state=0, **options)


@given(LEVELS, SIZES)
def test_bound_by_tournament_is_the_best_over_sizes_of_folds(level, sizes):
    n = sum(sizes)
    bounds = [(2 * level * (n + 1) + m - 2) / ((sizes.count(m) + 1) * m) for m in sizes]
    assert bound_by_tournament(float(level), sizes) == pytest.approx(
        float(min(bounds)), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize(
    ("n_folds", "learners"),
    [(4, ANY * 3), (30, SYMMETRIC * 3), (60, SYMMETRIC * 3), (7, SYMMETRIC + ANY * 2)],
)
def test_cross_sentence_names_the_smaller_bound_and_whom_it_is_for(data, n_folds, learners):
    """The smaller of the two bounds, and so the condition on the learner, depends on the level."""
    X, Y = data
    model = cross(cv=n_folds, measure=PowerMeasure()).fit(X, Y)
    sizes = model.calibrator_.sizes
    for level, learner in zip((0.02, 0.1, 0.2), learners, strict=True):
        sentence = model.predict_labelsets(X[:2]).region(level).statement
        bounds = [bound_by_size(level, sizes), bound_by_tournament(level, sizes)]
        assert (bounds[1] < bounds[0]) == (learner in SYMMETRIC)
        assert promised(sentence) == pytest.approx(min(bounds), abs=1e-3)
        of_whom = f"60 exchangeable examples in {n_folds} folds {NOT_BY_LABELS}, and {learner}"
        for part in (of_whom, "Barber", "Papadopoulos 2014"):
            assert part in sentence


def test_exact_promises_the_level_under_its_conditions(data):
    for empty in ("auto", "allow", "exclude"):
        sentence = statement(cross(guarantee="exact", empty_labelset=empty), data)
        assert promised(sentence) == 0.1
        assert f"({PROVED_BY['exact']})" in sentence
        assert DRAWS in sentence
        assert NOT_BY_LABELS in sentence
        assert (WITH_LABELS in sentence) == (empty == "exclude")
        assert "learner" not in sentence  # each fold's p-value is an inductive one, for any learner


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("empty", ["auto", "allow", "exclude"])
def test_inductive_full_and_cross_sentences_name_their_conditions(data, smoothed, empty):
    X, Y = data
    options = {"smoothed": smoothed, "empty_labelset": empty}
    full = FullConformalClassifier(Slopes(), random_state=0, **options)
    sentences = {
        "inductive": statement(inductive(**options), data),
        "full": statement(full, (X[:12], Y[:12])),
        "cross": statement(cross(**options), data),
        "outputs": calibrate_outputs(X, Y, **options, random_state=0)
        .predict_labelsets(X[:2])
        .region(0.1)
        .statement,
    }
    for name, sentence in sentences.items():
        assert promised(sentence) == (
            0.1 if name != "cross" else pytest.approx(bound_by_size(0.1, [15] * 4), abs=1e-3)
        )
        assert "exchangeable examples" in sentence
        assert (DRAWS in sentence) == smoothed
        assert (WITH_LABELS in sentence) == (empty == "exclude")
        assert ("on average over the examples' random order" in sentence) == (name == "full")


def test_excluding_the_empty_labelset_says_of_examples_that_they_have_labels(data):
    """Not of learners, of draws or of categories."""
    sentences = [
        statement(model, data)
        for model in (
            cross(empty_labelset="exclude"),
            cross(empty_labelset="exclude", smoothed=True),
            cross(empty_labelset="exclude", guarantee="exact"),
            cross(empty_labelset="exclude", mondrian=0),
            inductive(empty_labelset="exclude"),
            inductive(empty_labelset="exclude", weight=lambda X: 1 + X[:, 0]),
        )
    ]
    for sentence in sentences:
        assert sentence.count(WITH_LABELS) == 1
        assert re.search(
            r"for (60 )?(exchangeable|independent) examples with at least one label each( in|,|"
            r" \()",
            sentence,
        )
    assert (
        f"60 exchangeable examples with at least one label each in 4 folds {NOT_BY_LABELS}, and"
        in sentences[0]
    )


def test_weighted_sentence_names_labels_that_stay_and_true_ratios(data):
    sentence = statement(inductive(weight=lambda X: 1 + X[:, 0]), data)
    for part in (
        "at most 0.1,",
        "labels that depend on the object as they did",
        "true ratios",
        "Tibshirani",
    ):
        assert part in sentence


@pytest.mark.parametrize(
    "mondrian", ["cardinality", 0, lambda X: X[:, 0] > 0.5], ids=["cardinality", "label", "object"]
)
@pytest.mark.parametrize("smoothed", [False, True])
def test_sentences_within_categories_promise_what_is_proven_of_the_smallest(
    data, mondrian, smoothed
):
    X, Y = data
    sentence = statement(inductive(mondrian=mondrian, smoothed=smoothed), data)
    assert promised(sentence) == 0.1
    assert "within each category" in sentence
    assert (DRAWS in sentence) == smoothed
    model = cross(mondrian=mondrian, smoothed=smoothed)
    sentence = statement(model, data)
    category = {"cardinality": Y.sum(axis=1), 0: Y[:, 0]}.get(mondrian, X[:, 0] > 0.5)
    counts = [
        [int((category[rows] == one).sum()) for rows in model.fold_indices_]
        for one in np.unique(category)
    ]
    bounds = [bound_by_size(0.1, [n for n in of_category if n]) for of_category in counts]
    assert promised(sentence) == pytest.approx(max(bounds), abs=1e-3)
    assert f"the smallest has {min(map(sum, counts))} examples" in sentence
    assert (DRAWS in sentence) == smoothed


@pytest.mark.parametrize("guarantee", ["cross", "exact"])
@pytest.mark.parametrize("mondrian", [None, "cardinality"])
def test_statements_about_stratified_folds_say_that_nothing_is_proven_of_them(
    data, guarantee, mondrian
):
    """Chosen by their labels, so not exchangeable with new ones: 55 % missed at 0.5."""
    model = cross(cv=MultiLabelStratifiedKFold(4), guarantee=guarantee, mondrian=mondrian)
    assert NOT_BY_LABELS in statement(model, data)
    labels = LabelWiseConformalClassifier(Slopes(), cv=MultiLabelStratifiedKFold(4)).fit(*data)
    assert NOT_BY_LABELS in labels.predict_labels(data[0][:2]).region(0.1).statement
    folds = np.arange(60) % 4
    outputs = calibrate_outputs(*data, folds=folds, guarantee=guarantee).predict_labelsets(
        [data[0][:2]] * 4
    )
    assert NOT_BY_LABELS in outputs.region(0.1).statement
    region = model.predict_labelsets(data[0][:2]).region(0.1)
    assert NOT_BY_LABELS in region._repr_html_()


def limit_of(n_examples, level):
    return (
        f"With {n_examples} calibration examples every labelset is in every region below"
        f" significance {level:g}: the level asked for cannot be reached."
    )


@pytest.mark.parametrize(
    ("model", "n_examples", "least"),
    [
        (inductive(), 30, Fraction(1, 31)),
        (cross(), 60, Fraction(1, 61)),
        (inductive(mondrian=lambda X: X[:, 0] > 0.5), 30, None),
        (cross(mondrian=lambda X: X[:, 0] > 0.5), 60, None),
    ],
    ids=without_addresses,
)
def test_levels_that_cannot_be_reached_say_so_warn_and_hold_everything(
    data, model, n_examples, least
):
    X, Y = data
    pred = model.fit(X, Y).predict_labelsets(X)
    if least is None:
        right = X[:, 0] > 0.5
        in_largest = max(sum(int(right[rows].sum()) for rows in model.fold_indices_),
                         sum(int((~right[rows]).sum())
                             for rows in model.fold_indices_))  # fmt: skip
        least = Fraction(1, in_largest + 1)
    below = float(least) * 0.999
    with pytest.warns(UserWarning, match="cannot be reached"):
        region = pred.region(below)
    assert region.statement.endswith(limit_of(n_examples, float(least)))
    assert all(region.contains(labelset).all() for labelset in pred.candidates())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reached = pred.region(float(least) * 1.001)
    assert "cannot be reached" not in reached.statement


def test_folds_that_share_models_promise_the_bound_by_size_alone(data):
    """Symmetric in folds; the models for the default measure's outputs leave out whole groups."""
    sentence = statement(cross(cv=30), data)
    assert promised(sentence) == pytest.approx(bound_by_size(0.1, [2] * 30), abs=1e-3)
    assert "in 30 folds that were not chosen by their labels, and any learner" in sentence

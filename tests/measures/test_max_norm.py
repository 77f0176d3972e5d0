"""The largest error, against a transcription of its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from labelsure import (
    ByCardinality,
    ByLabel,
    ByObject,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    calibrate_outputs,
)
from labelsure.labelsets import AtMost, Fold, FoldEngine, decode
from labelsure.measures import (
    AutoMeasure,
    FunctionMeasure,
    HammingPenalty,
    MaxNormMeasure,
    Need,
    PowerMeasure,
    UnseenPenalty,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1, 1e-300, 1 - 2**-53]) | st.floats(0, 1)


@given(st.integers(1, 5).flatmap(lambda q: arrays(np.float64, (2, q), elements=OUTPUTS)))
def test_scores_equal_formula(outputs):
    n_labels = outputs.shape[1]
    measure = MaxNormMeasure().fit(np.empty((0, n_labels)))
    energy = measure.energy(outputs)
    for labelset in decode(np.arange(2**n_labels), n_labels):
        expected = [max(abs(t - o) for t, o in zip(labelset.tolist(), row, strict=True)) for row in outputs.tolist()]
        scores = energy.scores(np.tile(labelset, (2, 1))) * 2.0**-measure.exponent_
        assert np.abs(scores - expected).max() <= 2.0**-measure.exponent_


@pytest.mark.parametrize("n_labels", [3, 9])  # with and without high labels in tables
def test_predictions_equal_a_direct_count(n_labels):
    rng = np.random.default_rng(n_labels)
    Y = (rng.random((40, n_labels)) < 0.4).astype(int)
    outputs = np.round(np.clip(0.5 * Y + 0.5 * rng.random(Y.shape), 0, 1) * 16) / 16
    new = np.round(rng.random((2, n_labels)) * 16) / 16
    pred = calibrate_outputs(outputs, Y, measure=MaxNormMeasure(), empty="allow").predict_labelsets(new)
    calibration = np.abs(Y - outputs).max(axis=1)
    labelsets = decode(np.arange(2**n_labels), n_labels)
    for i, row in enumerate(new):
        own = np.abs(labelsets - row).max(axis=1)
        p_values = ((calibration >= own[:, None]).sum(axis=1) + 1) / 41
        assert pred.p_values()[i].tolist() == p_values.tolist()
        assert pred.credibility[i] == p_values.max()
        assert pred.region(0.2).sizes[i] == (p_values > 0.2).sum()
        members = labelsets[p_values > 0.2]
        assert pred.region(0.2).inner[i].tolist() == members.all(axis=0).tolist()
        assert pred.region(0.2).outer[i].tolist() == members.any(axis=0).tolist()


def test_nothing_is_needed_of_training():
    measure = MaxNormMeasure()
    assert measure.needs == Need.NOTHING
    assert measure.get_params() == {}
    assert isinstance(clone(measure), MaxNormMeasure)


def largest_error(outputs, labelset):
    return np.abs(labelset - outputs).max(axis=1)


LISTED = FunctionMeasure(largest_error, largest=1.0)
"""The same measure as a function of one's own, whose labelsets are listed."""


def some_data(n_labels, n_folds, seed):
    rng = np.random.default_rng(seed)
    Y = (rng.random((60, n_labels)) < 0.4).astype(int)
    noise = rng.normal(0, 0.25, (n_folds, 64, n_labels))
    truth = np.vstack([Y, rng.integers(0, 2, (4, n_labels))])
    outputs = np.round(np.clip(0.25 + 0.5 * truth + noise, 0, 1) * 32) / 32
    fold_of = np.arange(60) % n_folds
    return outputs[fold_of, np.arange(60)], Y, outputs[:, 60:], fold_of


OPTIONS = [
    {},
    {"smoothed": True, "random_state": 0},
    {"empty": "exclude"},
    {"guarantee": "exact", "random_state": 0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("n_labels", [4, 10])
def test_answers_are_those_of_listing_to_the_bit(options, n_labels):
    outputs, Y, new, fold_of = some_data(n_labels, 4, seed=n_labels)
    searched, listed = (
        calibrate_outputs(outputs, Y, folds=fold_of, measure=measure, **{"empty": "allow"} | options).predict_labelsets(
            new
        )
        for measure in (MaxNormMeasure(), LISTED)
    )
    for question in (
        lambda pred: pred.p_values(),
        lambda pred: pred.top(20).labelsets,
        lambda pred: pred.top(20).p_values,
        lambda pred: pred.label_p_values,
        lambda pred: pred.rank_labels(),
        lambda pred: pred.p_value(Y[:4]),
        lambda pred: pred.region(0.2).sizes,
        lambda pred: pred.region(0.1).inner,
        lambda pred: pred.region(0.1).outer,
        lambda pred: pred.region(0.1).contains(Y[:4]),
        lambda pred: pred.region(0.2)[1].members().labelsets,
        lambda pred: pred.region(0.2)[1].members(limit=3).labelsets,
        lambda pred: pred[[2, 0]].region(0.2)[0].members().labelsets,
    ):
        assert np.array_equal(question(searched), question(listed))


@pytest.mark.parametrize("penalty", [HammingPenalty(0.5), UnseenPenalty(0.2), PowerMeasure()], ids=repr)
def test_sums_are_those_of_listing(penalty):
    outputs, Y, new, fold_of = some_data(9, 3, seed=5)
    searched, listed = (
        calibrate_outputs(outputs, Y, folds=fold_of, measure=measure + clone(penalty)).predict_labelsets(new)
        for measure in (MaxNormMeasure(), clone(LISTED))
    )
    assert np.array_equal(searched.p_values(), listed.p_values())
    assert np.array_equal(searched.top(5).labelsets, listed.top(5).labelsets)
    assert np.array_equal(searched.region(0.1).sizes, listed.region(0.1).sizes)


@pytest.mark.parametrize(
    "taxonomy",
    [ByCardinality(at_most=3), ByLabel(2), ByObject(lambda X: X[:, 0] > 0)],
    ids=lambda taxonomy: type(taxonomy).__name__,
)
@pytest.mark.parametrize("n_labels", [4, 9])
def test_categories_are_those_of_listing(taxonomy, n_labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(80, n_labels)) > 0.3).astype(int)
    searched, listed = (
        CrossConformalClassifier(
            MLkNNClassifier(5), measure=measure, cv=3, mondrian=taxonomy, empty="allow", random_state=0
        )
        .fit(X[:70], Y[:70])
        .predict_labelsets(X[70:])
        for measure in (MaxNormMeasure(), LISTED)
    )
    assert np.array_equal(searched.p_values(), listed.p_values())
    assert np.array_equal(searched.top(9).labelsets, listed.top(9).labelsets)
    assert np.array_equal(searched.label_p_values, listed.label_p_values)
    assert np.array_equal(searched.region(0.3).sizes, listed.region(0.3).sizes)


def test_weights_are_those_of_listing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, 9)) + rng.normal(size=(80, 9)) > 0.3).astype(int)
    options = {"weight": lambda X: np.exp(X[:, 0]), "empty": "allow", "random_state": 0}
    searched, listed = (
        InductiveConformalClassifier(MLkNNClassifier(5), measure=measure, **options)
        .fit(X[:70], Y[:70])
        .predict_labelsets(X[70:])
        for measure in (MaxNormMeasure(), LISTED)
    )
    assert np.array_equal(searched.top(9).labelsets, listed.top(9).labelsets)
    assert np.array_equal(searched.p_values(), listed.p_values())
    assert np.array_equal(searched.region(0.3).sizes, listed.region(0.3).sizes)


def test_folds_may_have_other_measures_beside_it():
    """As where each fold chooses its own."""
    outputs, Y, new, _ = some_data(9, 2, seed=1)
    measures = [measure.fit(Y) for measure in (MaxNormMeasure(), clone(LISTED), PowerMeasure())]
    folds = [Fold(np.sort(one.energy(outputs).scores(Y)), one.energy(new[0])) for one in measures]
    mixed, listed = (FoldEngine([folds[k], folds[2]], allow_empty=True) for k in (0, 1))
    assert np.array_equal(mixed.p_value_table(), listed.p_value_table())
    assert np.array_equal(mixed.top(9).labelsets, listed.top(9).labelsets)


@pytest.mark.parametrize("measure", [MaxNormMeasure(), UnseenPenalty() + MaxNormMeasure()], ids=repr)
def test_more_than_24_labels_are_refused_before_anything_is_fitted(measure):
    Y = np.random.default_rng(0).integers(0, 2, (30, 25))
    for ask in (
        lambda: calibrate_outputs(np.full((30, 25), 0.5), Y, measure=measure, training_labels=Y),
        lambda: CrossConformalClassifier(None, measure=measure).fit(np.zeros((30, 2)), Y),
        lambda: CrossConformalClassifier(None, measure=AutoMeasure([measure])).fit(np.zeros((30, 2)), Y),
        lambda: InductiveConformalClassifier(None, measure=measure, constraints=AtMost(25, range(25))).fit(Y, Y),
    ):
        with pytest.raises(
            ValueError, match=r"MaxNormMeasure\(\) is a maximum .* up to 24 labels, got 25 labels.*PowerMeasure\(d=8\)"
        ):
            ask()

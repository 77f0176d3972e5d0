"""What a user reads off predictions, against brute force over all labelsets."""

import pickle

import numpy as np
import pytest

from fold_strategies import weighing_of
from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.engine._rows import ROW_BYTES
from labelsure.measures._energy import Energy
from labelsure.predictions import LabelsetPredictions


def random_predictions(
    n_objects=6, n_labels=3, *, n_calibration=19, allow_empty=True, seed=0, draws=None, **options
):
    """Predictions of two folds with many ties; scores wide enough for regions of every size."""
    rng = np.random.default_rng(seed)
    folds = []
    for size in (n_calibration // 2, n_calibration - n_calibration // 2):
        energy = Energy(
            rng.integers(0, 6, size=n_objects), rng.integers(-4, 5, size=(n_objects, n_labels))
        )
        folds.append(Fold(np.sort(rng.integers(-4, 9, size=size)), energy))
    weighing = weighing_of(folds, draws)
    return LabelsetPredictions(
        FoldEngine(folds, allow_empty=allow_empty, weighing=weighing, **options)
    )


@pytest.mark.parametrize("smoothed", [False, True])
def test_results_are_the_same_for_any_number_of_threads(smoothed):
    draws = np.random.default_rng(3).integers(1, DRAW_UNIT, size=600) if smoothed else None
    one, *others = (random_predictions(600, 10, draws=draws, n_jobs=jobs) for jobs in (1, 2, -1))
    assert 2 * ROW_BYTES < 600 * 4 * 2**10  # three blocks
    for other in others:
        assert np.array_equal(one[::20].label_p_values, other[::20].label_p_values)
        assert np.array_equal(one.rank_labels(method="mass"), other.rank_labels(method="mass"))
        assert np.array_equal(one.p_values(), other.p_values())
        assert np.array_equal(one.labelsets, other.labelsets)
        assert np.array_equal(one.confidence, other.confidence)
        assert np.array_equal(one.credibility, other.credibility)
        assert np.array_equal(one.region(0.3).sizes, other.region(0.3).sizes)


INDICES = [
    slice(1, 4),
    slice(None, None, -2),
    [4, 4, 0],
    np.array([True, False, True, False, False, True]),
    -1,
    np.int64(2),
    [],
    ...,
]


@pytest.mark.parametrize("objects", INDICES, ids=repr)
def test_getitem_keeps_the_chosen_objects(objects):
    draws = np.random.default_rng(5).integers(1, DRAW_UNIT, size=6)
    pred = random_predictions(draws=draws)
    chosen = np.atleast_1d(np.arange(6)[objects])
    part = pred[objects]
    assert len(part) == len(chosen)
    assert np.array_equal(part.p_values(), pred.p_values()[chosen])
    assert np.array_equal(part.labelsets, pred.labelsets[chosen])
    assert np.array_equal(part.confidence, pred.confidence[chosen])
    assert np.array_equal(part.region(0.2).sizes, pred.region(0.2).sizes[chosen])
    assert part.label_names == pred.label_names


@pytest.mark.parametrize(
    "objects", [6, -7, [0, 6], [True, False], None, [[0, 1]], True, 1.0, "all"], ids=repr
)
def test_getitem_refuses_what_does_not_choose_objects(objects):
    with pytest.raises(IndexError):
        random_predictions()[objects]


@pytest.mark.parametrize("allow_empty", [True, False])
def test_no_objects_give_empty_answers(allow_empty):
    pred = random_predictions(allow_empty=allow_empty)[:0]
    assert len(pred) == 0
    assert pred.labelsets.shape == (0, 3)
    assert pred.confidence.shape == pred.credibility.shape == (0,)
    assert pred.p_values().shape == (0, 8 if allow_empty else 7)
    assert pred.p_value(np.empty((0, 3))).shape == (0,)
    assert pred.to_frame().shape == (0, 5)
    assert pred.top(2).labelsets.shape == (0, 2, 3)
    assert pred.top(2).p_values.shape == (0, 2)
    assert pred.label_p_values.shape == (0, 3, 2)
    assert pred.rank_labels().shape == pred.rank_labels(method="mass").shape == (0, 3)
    for force_nonempty in (True, False):
        region = pred.region(0.1, force_nonempty=force_nonempty)
        assert region.sizes.shape == (0,)
        assert region.contains(np.empty((0, 3))).shape == (0,)
        assert region.inner.shape == region.outer.shape == (0, 3)
        assert list(region) == []


@pytest.mark.parametrize("n_labels", [25, 70, 1000])
def test_predictions_work_for_any_number_of_labels(n_labels):
    """One score decides: each label on costs or saves one, and calibration scores are 0 to 9."""
    rng = np.random.default_rng(n_labels)
    best = rng.integers(0, 2, size=(3, n_labels))
    # the score is the number of labels that differ
    energy = Energy(best.sum(axis=1), np.where(best, -1, 1))
    pred = LabelsetPredictions(FoldEngine([Fold(np.sort(np.arange(10)), energy)], allow_empty=True))
    assert np.array_equal(pred.labelsets, best)
    assert pred.credibility.tolist() == [1.0] * 3
    assert pred.confidence.tolist() == pytest.approx([1 / 11] * 3)
    assert np.array_equal(pred.rank_labels() > 0, best == 1)
    assert pred.label_p_values.max(axis=2).min() == 1.0
    assert pred.label_p_values.min(axis=2).tolist() == [[10 / 11] * n_labels] * 3
    region = pred.region(9.5 / 11)  # scores 0 and 1
    assert region.sizes.tolist() == [1 + n_labels] * 3
    assert not region.inner.any()
    assert region.outer.all()
    assert np.array_equal(pred.region(10 / 11).inner, best == 1)
    assert np.array_equal(pred.region(10 / 11).outer, best == 1)
    top = pred.top(3)
    assert top.p_values.tolist() == [[1.0, 10 / 11, 10 / 11]] * 3
    assert (top.labelsets != best[:, None]).sum(axis=2).tolist() == [[0, 1, 1]] * 3


def test_p_values_respect_max_memory():
    pred = random_predictions(n_objects=6, n_labels=3)
    assert pred.p_values(max_memory=6 * 8 * 8).shape == (6, 8)
    with pytest.raises(ValueError, match=r"take 384 bytes, more than max_memory=383 bytes. Ask"):
        pred.p_values(max_memory=6 * 8 * 8 - 1)
    with pytest.raises(ValueError, match="table of candidates"):
        pred.candidates(max_memory=10)
    for bad in ("4 GB", -1, 1e9, None):
        with pytest.raises(ValueError, match="max_memory must be a whole number of at least 0"):
            pred.p_values(max_memory=bad)


def test_repr_and_pickle():
    pred = random_predictions()
    assert repr(pred) == "LabelsetPredictions(6 objects, 3 labels)"
    assert repr(pred[0]) == "LabelsetPredictions(1 object, 3 labels)"
    copy = pickle.loads(pickle.dumps(pred))
    assert np.array_equal(copy.p_values(), pred.p_values())
    assert np.array_equal(pickle.loads(pickle.dumps(pred)).labelsets, pred.labelsets)
    many = random_predictions(2, 70)
    # and once more, after a search
    assert np.array_equal(pickle.loads(pickle.dumps(many)).labelsets, many.labelsets)
    assert np.array_equal(pickle.loads(pickle.dumps(many)).confidence, many.confidence)


@pytest.mark.parametrize(("n_labels", "certain"), [(9, True), (90, False)])
def test_coupled_pairs_are_answered_within_budgets_and_answers_say_what_is_certain(
    n_labels, certain
):
    """Pair costs of both signs, as large as those of labels: with 90 no search can finish."""
    rng = np.random.default_rng(0)
    folds = []
    for _ in range(3):
        energy = Energy(
            np.array([0]),
            *(rng.normal(0, 2**24, size=(m, n_labels)).astype(np.int64) for m in (1, n_labels)),
        )
        scores = energy.scores(
            rng.integers(0, 2, size=(60, n_labels)), objects=np.zeros(60, dtype=np.int64)
        )
        folds.append(Fold(np.sort(scores - n_labels * 2**24), energy))
    options = EngineOptions(table_labels=0, best_budget=2000)
    pred = LabelsetPredictions(FoldEngine(folds, allow_empty=True, options=options))
    top = pred.top(5)
    assert top.certain.tolist() == pred.certain.tolist() == [certain]
    assert top.p_values[0, 0] == pred.credibility[0]
    assert (pred.p_value(top.labelsets[0, 0]) == top.p_values[0, 0]).all()
    # at least that, whatever a stopped search has missed
    for labelset, p_value in zip(top.labelsets[0], top.p_values[0], strict=True):
        assert (pred.label_p_values[0, np.arange(n_labels), labelset] >= p_value).all()


def test_bad_arguments_are_named():
    pred = random_predictions()
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        pred.top(0)
    with pytest.raises(ValueError, match="method must be one of 'difference', 'mass'"):
        pred.rank_labels(method="sum")
    with pytest.raises(ValueError, match="the predictions and index must have the same number of"):
        LabelsetPredictions(pred._engine, index=np.arange(2))
    for ask in (pred.p_value, pred.region(0.1).contains):
        with pytest.raises(ValueError, match="must have the same number of rows, got 6 and 5"):
            ask(np.zeros((5, 3)))
        with pytest.raises(ValueError, match="Y must have 3 columns, one per label, got 2"):
            ask(np.zeros((6, 2)))

"""The ten criteria of efficiency, against their definitions in exact arithmetic on every labelset."""

from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import codes_of, rank_all
from fold_strategies import fold_lists, full_energies, smoothing, weighing_of
from labelsure import metrics
from labelsure._random import DRAW_UNIT
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.measures._energy import Energy
from labelsure.predictions import LabelsetPredictions


def exact_p_values(folds, i, *, allow_empty, draws):
    """Return the p-value of every candidate of object ``i`` as a fraction, by code."""
    denominator = sum(len(fold.calibration) for fold in folds) + 1
    draw = None if draws is None else int(draws[i])
    ranked = rank_all(folds, i, allow_empty=allow_empty, draw=draw)
    unit = 1 if draws is None else DRAW_UNIT
    numerators = zip(ranked.codes.tolist(), ranked.numerators.tolist(), strict=True)
    return {code: Fraction(numerator, denominator * unit) for code, numerator in numerators}


def criteria_of_object(p_values, true_code, levels):
    """Return the ten criteria of one object as METHODS.md words them."""
    everyone = sorted(p_values.values(), reverse=True)
    false = [p for code, p in p_values.items() if code != true_code]
    regions = [{code for code, p in p_values.items() if p > level} for level in levels]
    return {
        "S": sum(everyone),
        "N": [len(region) for region in regions],
        "U": everyone[1] if len(everyone) > 1 else 0,
        "F": sum(everyone) - everyone[0],
        "M": [len(region) > 1 for region in regions],
        "E": [max(len(region) - 1, 0) for region in regions],
        "OU": max(false, default=0),
        "OF": sum(false),
        "OM": [len(region - {true_code}) > 0 for region in regions],
        "OE": [len(region - {true_code}) for region in regions],
    }


def expected_criteria(folds, Y, levels, *, allow_empty, draws):
    one_by_one = [
        criteria_of_object(
            exact_p_values(folds, i, allow_empty=allow_empty, draws=draws), code, levels
        )
        for i, code in enumerate(codes_of(Y))
    ]
    return {
        name: np.mean([np.array(one[name], dtype=float) for one in one_by_one], axis=0)
        for name in one_by_one[0]
    }


def assert_criteria(predictions, Y, levels, expected):
    summary = metrics.efficiency_criteria(Y, predictions, significance=levels)
    assert summary.significance == tuple(map(float, levels))
    for name, value in expected.items():
        assert np.asarray(getattr(summary, name)) == pytest.approx(value, rel=1e-12, abs=1e-15), (
            name
        )


@settings(max_examples=40)
@given(data=st.data(), folds=fold_lists(kind=full_energies), allow_empty=st.booleans())
def test_criteria_are_those_of_the_definitions(data, folds, allow_empty):
    """Ties, zeros, smoothed and not, with and without the empty labelset; levels on and between grid points."""
    n_objects, n_labels = folds[0].energy.n_objects, folds[0].energy.n_labels
    draws = data.draw(smoothing(n_objects))
    Y = data.draw(arrays(np.int8, (n_objects, n_labels), elements=st.integers(0, 1)))
    denominator = sum(len(fold.calibration) for fold in folds) + 1
    on_grid = st.integers(1, denominator - 1).map(lambda k: k / denominator)
    levels = data.draw(
        st.lists(on_grid | st.sampled_from([0.05, 0.1, 0.37]), min_size=1, max_size=3, unique=True)
    )
    predictions = LabelsetPredictions(
        FoldEngine(folds, allow_empty=allow_empty, weighing=weighing_of(folds, draws))
    )
    exact_levels = [Fraction(str(level)).limit_denominator(10**9) for level in levels]
    assert_criteria(
        predictions,
        Y,
        levels,
        expected_criteria(folds, Y, exact_levels, allow_empty=allow_empty, draws=draws),
    )


@pytest.mark.parametrize("allow_empty", [False, True])
def test_criteria_by_search_are_those_of_the_definitions(allow_empty):
    """Ten labels: more than are answered by table without being asked."""
    rng = np.random.default_rng(5)
    folds = [
        Fold(
            np.sort(rng.integers(-4, 20, size=30)),
            Energy(rng.integers(0, 9, 6), rng.integers(-3, 6, (6, 10))),
        )
        for _ in range(3)
    ]
    Y = np.concatenate(
        [np.zeros((1, 10), dtype=int), rng.integers(0, 2, (2, 10)), np.zeros((3, 10), dtype=int)]
    )
    predictions = LabelsetPredictions(FoldEngine(folds, allow_empty=allow_empty))
    Y[3:5] = predictions.top(2).labelsets[[3, 4], [0, 1]]
    levels = [0.05, Fraction(30, 91), 0.6]
    assert_criteria(
        predictions,
        Y,
        levels,
        expected_criteria(folds, Y, levels, allow_empty=allow_empty, draws=None),
    )


def predictions_by_flips(n_objects, n_labels, *, allow_empty=True, options=None):
    """The labelset without labels is best; with l = n_labels, h labels have the p-value 1 - h / (n_labels + 1)."""
    energy = Energy(
        np.zeros(n_objects, dtype=np.int64), np.ones((n_objects, n_labels), dtype=np.int64)
    )
    fold = Fold(np.sort(np.arange(n_labels)), energy)
    return LabelsetPredictions(FoldEngine([fold], allow_empty=allow_empty, options=options))


def test_largest_false_p_value_of_ties_is_the_tied_one():
    """Both single labels have p = 2/3: whichever is true, the other is as plausible."""
    predictions = predictions_by_flips(2, 2, allow_empty=False)
    criteria = metrics.efficiency_criteria([[1, 0], [0, 1]], predictions)
    assert pytest.approx((2 / 3, 2 / 3, 1.0)) == (criteria.OU, criteria.U, criteria.F)


def test_all_candidates_are_false_where_the_truth_is_no_candidate():
    predictions = predictions_by_flips(1, 2, allow_empty=False)
    criteria = metrics.efficiency_criteria([[0, 0]], predictions, 0.1)
    assert (criteria.S, predictions.credibility[0]) == (criteria.OF, criteria.OU)
    assert criteria.OE == criteria.N == (3.0,)


def test_criteria_of_a_single_candidate():
    """One label and no empty labelset: nothing but {label} is possible, with p = 1/2."""
    criteria = metrics.efficiency_criteria(
        [[1], [0]], predictions_by_flips(2, 1, allow_empty=False), (0.4, 0.6)
    )
    assert (criteria.S, criteria.U, criteria.F) == (0.5, 0.0, 0.0)
    assert (criteria.OU, criteria.OF) == (0.25, 0.25)
    assert (criteria.N, criteria.M, criteria.E) == ((1.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    assert (criteria.OM, criteria.OE) == ((0.5, 0.0), (0.5, 0.0))


def test_criteria_work_for_more_labels_than_can_be_listed():
    """60 labels; region {at most one flip}: 61 labelsets."""
    predictions, level = predictions_by_flips(2, 60), 1 - 1.5 / 61
    Y = np.zeros((2, 60), dtype=int)
    Y[1, :5] = 1  # not in the region
    criteria = metrics.efficiency_criteria(Y, predictions, level)
    assert (criteria.S, criteria.F, criteria.OF) == (None, None, None)
    figures = asdict(criteria)
    assert figures["U"] == pytest.approx(60 / 61)
    assert figures["OU"] == pytest.approx((60 / 61 + 1) / 2)
    assert (criteria.N, criteria.M, criteria.E) == ((61.0,), (1.0,), (60.0,))
    assert (criteria.OM, criteria.OE, criteria.n_estimated) == ((1.0,), (60.5,), (0,))


def test_criteria_take_estimated_sizes_by_their_value():
    predictions, Y = (
        predictions_by_flips(2, 80, options=EngineOptions(count_budget=1000)),
        np.zeros((2, 80), dtype=int),
    )
    sizes = [size.value for size in predictions.region(0.5, bits=0.1).size_estimates]
    criteria = metrics.efficiency_criteria(Y, predictions, [0.5, 1 - 1.5 / 81])
    assert criteria.n_estimated == (2, 0)
    assert list(criteria.N) == pytest.approx([np.mean(sizes), 81.0])
    assert list(criteria.OE) == list(criteria.E) == pytest.approx([np.mean(sizes) - 1, 80.0])
    assert criteria.N[0] == pytest.approx(2**79, rel=0.2)
    assert criteria.M == criteria.OM == (1.0, 1.0)
    assert str(criteria).splitlines()[-1].split() == ["estimated", "2", "0"]
    assert str(criteria).splitlines()[1].split() == ["S", "-"]


def test_criteria_are_printed_by_name_and_level():
    text = str(
        metrics.efficiency_criteria([[0, 0]], predictions_by_flips(1, 2), (0.1, 0.5))
    ).splitlines()
    assert text[0].split() == ["significance", "any", "0.1", "0.5"]
    assert [line.split() for line in text[1:3]] == [["S", "2.667"], ["N", "4", "3"]]
    assert [line.split()[0] for line in text[1:]] == [
        "S",
        "N",
        "U",
        "F",
        "M",
        "E",
        "OU",
        "OF",
        "OM",
        "OE",
    ]


TRUTH = np.array([[0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (TRUTH, "predictions must be what predict_labelsets returns, got a ndarray"),
        (None, "got a NoneType"),
        (
            predictions_by_flips(2, 2)[[]],
            "predictions must be of at least one object to evaluate, got none",
        ),
    ],
    ids=["labels", "none", "no objects"],
)
def test_criteria_refuse_what_is_no_prediction(predictions, message):
    with pytest.raises(ValueError, match=message):
        metrics.efficiency_criteria(TRUTH, predictions)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (TRUTH[:1], "the predictions and Y_true must have the same number of rows, got 2 and 1"),
        (TRUTH[:, :1], "Y_true must have 2 columns, one per label, got 1"),
        (TRUTH + 1, "Y_true must hold only 0 and 1, got 2"),
        (None, "Y_true is required"),
    ],
    ids=["rows", "columns", "values", "none"],
)
def test_criteria_refuse_bad_truth(Y, message):
    with pytest.raises(ValueError, match=message):
        metrics.efficiency_criteria(Y, predictions_by_flips(2, 2))


def test_criteria_take_labels_by_name():
    function = metrics.efficiency_criteria
    engine = predictions_by_flips(2, 2)._engine
    named = LabelsetPredictions(engine, label_names=["sea", "city"])
    truth = pd.DataFrame([[1, 0], [0, 1]], columns=["sea", "city"])
    expected = function(truth.to_numpy(), named)
    assert function(truth, named) == function(truth[["city", "sea"]], named) == expected
    with pytest.raises(ValueError, match="got 2 columns without 'city'"):
        function(truth.rename(columns={"city": "town"}), named)
    made_up = pd.DataFrame(truth.to_numpy(), columns=["label_0", "label_1"])
    assert function(made_up[["label_1", "label_0"]], LabelsetPredictions(engine)) == expected
    assert function(truth, LabelsetPredictions(engine)) == expected


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ((), "significance must hold at least one level, got none"),
        ((0.1, 1 - 0.9), "significance must hold different levels, got 0.09999999999999998 twice"),
        ((0.1, 0.0), "significance must be a number strictly between 0 and 1, got 0.0"),
        ("0.05", "significance must be a number strictly between 0 and 1, got '0.05'"),
        (None, "significance must be a number strictly between 0 and 1, got None"),
    ],
)
def test_efficiency_criteria_refuse_bad_levels(levels, message):
    with pytest.raises(ValueError, match=message):
        metrics.efficiency_criteria(TRUTH, predictions_by_flips(2, 2), levels)


def test_levels_in_single_precision_are_read_as_printed():
    predictions = predictions_by_flips(1, 9)  # p-values k/10
    levels = np.array([0.1, 0.3], dtype=np.float32)
    criteria = metrics.efficiency_criteria(np.zeros((1, 9)), predictions, levels)
    assert criteria.significance == (0.1, 0.3)
    assert criteria.N == metrics.efficiency_criteria(np.zeros((1, 9)), predictions, (0.1, 0.3)).N

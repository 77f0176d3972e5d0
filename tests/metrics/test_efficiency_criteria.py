"""The ten efficiency criteria, against their definitions in exact arithmetic."""

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
    """Ties, zeros, smoothed or not, with and without the empty labelset; all kinds of levels."""
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


def predictions_by_flips(n_objects, n_labels, *, allow_empty=True, options=None):
    """The empty labelset is best; with l = n_labels, h labels have p = 1 - h / (n_labels + 1)."""
    energy = Energy(
        np.zeros(n_objects, dtype=np.int64), np.ones((n_objects, n_labels), dtype=np.int64)
    )
    fold = Fold(np.sort(np.arange(n_labels)), energy)
    return LabelsetPredictions(FoldEngine([fold], allow_empty=allow_empty, options=options))


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
    sizes = [size.value for size in predictions.region(0.5, size_precision=0.1).size_estimates]
    criteria = metrics.efficiency_criteria(Y, predictions, [0.5, 1 - 1.5 / 81])
    assert criteria.n_estimated == (2, 0)
    assert list(criteria.N) == pytest.approx([np.mean(sizes), 81.0])
    assert list(criteria.OE) == list(criteria.E) == pytest.approx([np.mean(sizes) - 1, 80.0])
    assert criteria.N[0] == pytest.approx(2**79, rel=0.2)
    assert criteria.M == criteria.OM == (1.0, 1.0)
    assert str(criteria).splitlines()[-1].split() == ["estimated", "2", "0"]
    assert str(criteria).splitlines()[1].split() == ["S", "-"]


TRUTH = np.array([[0, 0], [1, 0]])
PREDICTIONS = predictions_by_flips(2, 2)


@pytest.mark.parametrize(
    ("truth", "predictions", "levels", "message"),
    [
        (TRUTH, TRUTH, 0.1, "predictions must be what predict_labelsets returns, got a ndarray"),
        (TRUTH, PREDICTIONS[[]], 0.1, "predictions must be of at least one object, got none"),
        (TRUTH[:1], PREDICTIONS, 0.1, "must have the same number of rows, got 2 and 1"),
        (TRUTH[:, :1], PREDICTIONS, 0.1, "Y_true must have 2 columns, one per label, got 1"),
        (TRUTH, PREDICTIONS, (), "significance must hold at least one level, got none"),
        (TRUTH, PREDICTIONS, (0.1, 1 - 0.9), "significance must hold different levels, got"),
        (TRUTH, PREDICTIONS, (0.1, 0.0), "significance must be a number strictly between"),
    ],
)
def test_bad_input_is_named(truth, predictions, levels, message):
    with pytest.raises(ValueError, match=message):
        metrics.efficiency_criteria(truth, predictions, levels)


def test_criteria_take_labels_by_name():
    named = LabelsetPredictions(PREDICTIONS._engine, label_names=["sea", "city"])
    truth = pd.DataFrame([[1, 0], [0, 1]], columns=["sea", "city"])
    expected = metrics.efficiency_criteria(truth.to_numpy(), named)
    assert metrics.efficiency_criteria(truth[["city", "sea"]], named) == expected
    with pytest.raises(ValueError, match="got 2 columns without 'city'"):
        metrics.efficiency_criteria(truth.rename(columns={"city": "town"}), named)

"""Regions, against brute force over all labelsets."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labelset_reference
from fold_strategies import fold_lists, smoothing, weighing_of
from labelsure import calibrate_labels, calibrate_outputs
from labelsure.engine._fold_engine import FoldEngine, StoredEngine
from labelsure.engine._weighing import Weighing
from labelsure.predictions import Guarantee, LabelsetPredictions
from labelsure.predictions._guarantee import as_promised

LEVELS = st.sampled_from([0.1, 0.2, 0.25, 0.5, 0.75]) | st.integers(1, 999).map(lambda k: k / 1000)
"""Multiples of 1/1000: floats compare like fractions with p-values of small denominators."""


OUTPUTS = np.random.default_rng(0).random((60, 2))
LABELS = (np.random.default_rng(1).random(OUTPUTS.shape) < OUTPUTS).astype(int)
DOORS = {
    "labelsets": calibrate_outputs(OUTPUTS, LABELS).predict_labelsets(OUTPUTS[:9]),
    "label by label": calibrate_labels(OUTPUTS, LABELS).predict_labels(OUTPUTS[:9]),
}


@pytest.mark.parametrize("pred", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize(
    ("confidence", "significance"), [(0.9, 0.1), (0.95, 0.05), (np.float32(0.7), 0.3), (0.2, 0.8)]
)
@pytest.mark.filterwarnings("ignore:region")
def test_region_at_a_confidence_is_that_at_one_minus_it(pred, confidence, significance):
    region, same = pred.region(confidence=confidence), pred.region(significance)
    assert (region.significance, repr(region)) == (significance, repr(same))
    assert region.possible_values.tolist() == same.possible_values.tolist()
    assert region.statement == same.statement


@pytest.mark.parametrize("pred", DOORS.values(), ids=DOORS)
def test_region_takes_one_of_significance_and_confidence(pred):
    with pytest.raises(ValueError, match=r"either significance or confidence, got neither.*pass"):
        pred.region()
    with pytest.raises(ValueError, match=r"got significance=0\.1 and confidence=0\.9\. For 95 %"):
        pred.region(0.1, confidence=0.9)
    for wrong in (0, 1, 90, "0.9", True, np.nan):
        with pytest.raises(ValueError, match=r"confidence must be a number strictly between 0"):
            pred.region(confidence=wrong)


@pytest.mark.parametrize("pred", DOORS.values(), ids=DOORS)
def test_region_warns_where_a_confidence_was_passed_as_significance(pred):
    meant = (
        r"region\(0\.9\) accepts errors for 90 % of the objects.* ask for region\(confidence=0\.9\)"
    )
    with pytest.warns(UserWarning, match=meant) as caught:
        pred.region(0.9)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pred.region(0.5)
        assert pred.region(confidence=0.1).significance == 0.9


def predictions_with_counts(counts, *, n_calibration, allow_empty=True):
    """Predictions with the p-values (counts + 1) / (n_calibration + 1) by row; ties by code."""
    counts = np.asarray(counts, dtype=np.int32)
    scores = np.zeros(counts.shape, dtype=np.int64)
    weighing = Weighing.plain(n_calibration, len(counts))
    engine = StoredEngine(counts, counts, scores, weighing, allow_empty=allow_empty)
    return LabelsetPredictions(engine)


@pytest.mark.parametrize("force_nonempty", [False, True])
@given(st.data(), fold_lists(labels=(1, 4), folds=(1, 3)), st.booleans(), LEVELS)
def test_region_equals_brute_force(force_nonempty, data, folds, allow_empty, level):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    pred = LabelsetPredictions(
        FoldEngine(folds, allow_empty=allow_empty, weighing=weighing_of(folds, draws))
    )
    region = pred.region(level, force_nonempty=force_nonempty)
    table, candidates = pred.p_values(), pred.candidates()
    inside = table > level
    for i, one in enumerate(region):
        if force_nonempty and not inside[i].any():
            inside[i] = (candidates == pred.labelsets[i]).all(axis=1)
        totals = [
            sum(labelset_reference.score(fold, i, labelset) for fold in folds)
            for labelset in candidates
        ]
        members = np.flatnonzero(inside[i]).tolist()
        members.sort(key=lambda c, i=i, totals=totals: (-table[i, c], totals[c], c))
        assert one.members().labelsets.tolist() == candidates[members].tolist()
        assert one.members().p_values.tolist() == table[i, members].tolist()
        assert one.size == region.sizes[i] == len(members)
        assert [labelset.tolist() in one for labelset in candidates] == inside[i].tolist()
        assert sorted(labelset.tolist() for labelset in one) == sorted(candidates[members].tolist())
        assert region.outer[i].tolist() == candidates[members].any(axis=0).tolist()
        assert (
            region.inner[i].tolist()
            == (candidates[members].all(axis=0) & (len(members) > 0)).tolist()
        )
    for c, labelset in enumerate(candidates):
        assert region.contains(np.tile(labelset, (len(pred), 1))).tolist() == inside[:, c].tolist()


def tenths():
    """Ten objects with p-values 1/10 ... 10/10, one labelset each; exactly the usual levels."""
    return predictions_with_counts(np.arange(10)[:, None].repeat(2, axis=1), n_calibration=9)


@pytest.mark.parametrize("tenth", range(1, 10))
def test_region_excludes_p_values_equal_to_significance(tenth):
    sizes = [0] * tenth + [2] * (10 - tenth)
    for level in (
        tenth / 10,
        1 - (10 - tenth) / 10,
        1 - (1 - tenth / 10),
        sum([0.1] * tenth),
        Fraction(tenth, 10),
    ):
        assert tenths().region(level).sizes.tolist() == sizes, repr(level)
        assert tenths().region(level).contains(np.ones((10, 1))).tolist() == [
            size > 0 for size in sizes
        ]
    for level in (
        np.float32(tenth) / np.float32(10),
        np.float16(tenth / 10),
        np.float64(tenth / 10),
    ):
        assert tenths().region(level).sizes.tolist() == sizes, repr(level)
    assert tenths().region(tenth / 10 - 1e-9).sizes.tolist() == [0] * (tenth - 1) + [2] * (
        11 - tenth
    )
    assert tenths().region(tenth / 10 + 1e-9).sizes.tolist() == sizes


def two_labels():
    """An object with p-values 1/5, 4/5, 3/5, 4/5 for {}, {0}, {1}, {0, 1}; another, only 1/5."""
    return predictions_with_counts([[0, 3, 2, 3], [0, 0, 0, 0]], n_calibration=4)


def test_region_members_come_in_order_up_to_a_limit():
    one = two_labels().region(0.1)[0]
    ordered = [[1, 0], [1, 1], [0, 1], [0, 0]]
    assert one.members().labelsets.tolist() == ordered
    for limit in (0, 1, 3, 4, 99):
        assert one.members(limit=limit).labelsets.tolist() == ordered[:limit]
        assert one.members(limit=limit).p_values.tolist() == [0.8, 0.8, 0.6, 0.2][:limit]
    for bad in (-1, 1.5, "3", True):
        with pytest.raises(ValueError, match="limit must be a whole number of at least 0"):
            one.members(limit=bad)


def test_force_nonempty_adds_exactly_the_top_labelset_to_empty_regions():
    pred = two_labels()
    assert pred.region(0.2).sizes.tolist() == [3, 0]
    forced = pred.region(0.2, force_nonempty=True)
    assert forced.sizes.tolist() == [3, 1]
    assert forced[1].members().labelsets.tolist() == pred.labelsets[[1]].tolist() == [[0, 0]]
    assert forced[1].members().p_values.tolist() == [0.2]
    assert forced.contains([[0, 0], [0, 0]]).tolist() == [False, True]
    assert forced.contains([[0, 1], [0, 1]]).tolist() == [True, False]
    assert [0, 0] in forced[1]
    assert [1, 0] not in forced[1]


def test_region_is_indexed_like_a_sequence():
    region = two_labels().region(0.2)
    assert len(region) == 2
    assert [one.size for one in region] == [3, 0]
    assert region[-2].size == region[np.int64(0)].size == 3
    for bad in (2, -3):
        with pytest.raises(IndexError, match=f"There are 2 objects, got index {bad}"):
            region[bad]
    for bad in (0.5, "0", None):
        with pytest.raises(TypeError):
            region[bad]


def test_region_at_a_level_that_cannot_be_reached_warns():
    """Four calibration examples: no p-value is below 1/5, so nothing is excluded below that."""
    few = Guarantee(
        "x", as_promised, "luck", "somebody", vacuous_below=Fraction(1, 5), n_calibration=4
    )
    pred = LabelsetPredictions(two_labels()._engine, guarantee=few)
    with pytest.warns(UserWarning, match="With 4 calibration examples every labelset .* below"):
        region = pred.region(0.1)
    assert region.sizes.tolist() == [4, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pred.region(0.2).sizes.tolist() == [3, 0]
        assert region[:1].sizes.tolist() == [4]  # said once is enough

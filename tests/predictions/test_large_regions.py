"""Regions of far more labelsets than memory has bytes: iterated, limited, sized, never listed."""

import tracemalloc
from itertools import islice
from math import log2

import numpy as np
import pytest

from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.measures._energy import Energy
from labelsure.predictions import LabelsetPredictions


def predictions_by_distance(n_labels, n_objects=2, *, n_folds=1, allow_empty=True, **options):
    """Return predictions whose scores are Hamming distances from a labelset, and that labelset.

    Calibration scores are 0, 1, ..., so the p-value of h differing labels is 1 - h / (l + 1) with
    one fold.
    """
    best = np.random.default_rng(n_labels).integers(0, 2, size=(n_objects, n_labels))
    energy = Energy(best.sum(axis=1), np.where(best, -1, 1))
    folds = [Fold(np.sort(np.arange(n_labels)), energy)] * n_folds
    return LabelsetPredictions(FoldEngine(folds, allow_empty=allow_empty, **options)), best


@pytest.mark.parametrize("n_folds", [1, 10])
def test_huge_regions_are_iterated_lazily(n_folds):
    """Of the 2^100 labelsets, all but a few are members; ten are asked for."""
    pred, best = predictions_by_distance(100, n_folds=n_folds)
    region = pred.region(0.05)
    first = np.array(list(islice(region[1], 10)))
    assert first.shape == (10, 100)
    assert len({labelset.tobytes() for labelset in first}) == 10
    assert all(labelset in region[1] for labelset in first)
    assert first[0].tolist() == best[1].tolist()


def test_iteration_takes_no_more_memory_for_more_members():
    pred, _ = predictions_by_distance(100)
    members = iter(pred.region(0.05)[0])
    next(members)
    tracemalloc.start()
    seen = sum(1 for _ in islice(members, 40_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == 40_000
    # 40 000 labelsets would take 4 MB in one-byte numbers alone, and more on their way
    assert peak < 4 * 2**20


def test_lists_too_long_for_memory_are_refused():
    pred, best = predictions_by_distance(100, options=EngineOptions(list_bytes=124 * 1000))
    for region in (pred.region(0.05), pred.region(1 - 2.5 / 101)):  # 2^100 members, and 5051
        with pytest.raises(ValueError, match=r"more than 1000 labelsets, too"):
            region[0].members()
        listed = region[0].members(limit=5).labelsets
        assert listed[0].tolist() == best[0].tolist()
        assert (listed != best[0]).sum(axis=1).tolist() == [0, 1, 1, 1, 1]
        assert region[0].members(limit=5).p_values.tolist() == pytest.approx(
            [1.0] + [100 / 101] * 4
        )
    assert len(pred.region(1 - 1.5 / 101)[0].members().labelsets) == 101


def test_sizes_are_whole_numbers_or_estimates():
    pred, _ = predictions_by_distance(100)
    counted = pred.region(1 - 2.5 / 101)
    assert counted.sizes.dtype == np.int64
    assert counted.sizes.tolist() == [1 + 100 + 100 * 99 // 2] * 2
    assert type(counted[0].size) is int
    for size in counted.size_estimates:
        assert size.value == size.low == size.high == size.at_least == size.at_most == 5051
    pred, _ = predictions_by_distance(100, options=EngineOptions(count_budget=1000))
    estimated = pred.region(0.5)
    assert estimated.sizes.dtype == np.float64
    assert estimated.sizes.tolist() == [float(size.value) for size in estimated.size_estimates]
    assert type(estimated[1].size) is int
    assert estimated[1].size == pred.region(0.5)[1].size == estimated.size_estimates[1].value
    for size in estimated.size_estimates:
        assert size.at_least <= size.low <= 2**99 * 1.1
        assert size.high >= 2**99 * 0.9
        assert log2(size.value / size.low) <= 1
        assert log2(size.high / size.value) <= 1
    for size in pred.region(0.5, size_precision=0.1).size_estimates:
        assert str(size) == "2^99.1 (+-0.1)"  # half of all labelsets and those with 50 flips
    forced = pred.region(0.5, force_nonempty=True)
    assert forced.size_estimates == estimated.size_estimates


@pytest.mark.parametrize("n_labels", [5, 70])
def test_empty_regions_of_any_number_of_labels(n_labels):
    best = np.random.default_rng(n_labels).integers(0, 2, size=(2, n_labels))
    energy = Energy(best.sum(axis=1) + 100, np.where(best, -1, 1))
    engine = FoldEngine([Fold(np.sort(np.arange(9)), energy)], allow_empty=True)
    pred = LabelsetPredictions(engine)
    region = pred.region(0.5)
    assert region.sizes.tolist() == [0, 0]
    assert list(region[0]) == []
    assert (
        region[0].members().labelsets.shape
        == region[0].members(limit=3).labelsets.shape
        == (0, n_labels)
    )
    assert region[0].members().p_values.shape == (0,)
    assert not region.inner.any()
    assert not region.outer.any()
    forced = pred.region(0.5, force_nonempty=True)
    assert forced.sizes.tolist() == [1, 1]
    assert [labelset.tolist() for labelset in forced[1]] == [best[1].tolist()]
    assert (
        forced[1].members().labelsets.tolist()
        == forced[1].members(limit=3).labelsets.tolist()
        == [best[1].tolist()]
    )
    assert forced[1].members(limit=0).labelsets.shape == (0, n_labels)
    assert forced[1].members().p_values.tolist() == [0.1]
    assert np.array_equal(forced.inner, best == 1)
    assert np.array_equal(forced.outer, best == 1)
    assert forced.contains(best).all()


@pytest.mark.parametrize("n_labels", [14, 159, 2000])
def test_sizes_are_numbers_for_any_number_of_labels(n_labels):
    """Two regions of all labelsets, an empty one, a single labelset: means, order, logarithms."""
    start = np.array([0, 0, 10 * n_labels, 0])
    unary = np.ones((4, n_labels), dtype=np.int64)
    unary[3] = 10 * n_labels
    fold = Fold(np.sort(np.full(9, n_labels)), Energy(start, unary))
    region = LabelsetPredictions(FoldEngine([fold], allow_empty=True)).region(0.5)
    everything = 2.0**n_labels if n_labels < 1024 else np.inf
    assert region.sizes.dtype == (np.int64 if n_labels == 14 else np.float64)
    assert region.sizes.tolist() == [everything, everything, 0, 1]
    assert region.sizes.mean() == (2 * everything + 1) / 4
    assert (region.sizes > 10).tolist() == [True, True, False, False]
    assert np.sort(region.sizes).tolist() == [0, 1, everything, everything]
    assert region.sizes.max() == everything
    with np.errstate(divide="ignore"):
        assert np.log2(region.sizes)[:2].tolist() == [np.log2(everything)] * 2
    assert region.log2_sizes.tolist() == [n_labels, n_labels, -np.inf, 0]
    assert [size.value for size in region.size_estimates] == [2**n_labels, 2**n_labels, 0, 1]
    assert [one.size for one in region] == [2**n_labels, 2**n_labels, 0, 1]
    forced = LabelsetPredictions(FoldEngine([fold], allow_empty=True)).region(
        0.5, force_nonempty=True
    )
    assert forced.sizes.tolist() == [everything, everything, 1, 1]
    assert forced.log2_sizes.tolist() == [n_labels, n_labels, 0, 0]
    assert [forced[2].size, forced[:3][2].size, forced.size_estimates[2].at_least] == [1, 1, 1]

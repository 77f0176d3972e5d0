"""The kernels of the GPU, compiled for the processor, give what the table gives; so they do on a GPU, where one is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from fold_strategies import calibrations, energies, overrides, penalties
from host_device import make_device
from labelsure._random import DRAW_UNIT
from labelsure.engine._backends import NumbaTable
from labelsure.engine._device_table import DeviceTable
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Discounts, Energy, SquareRoot
from labelsure.measures._labelset_bits import decode

N_LABELS, N_FOLDS = 5, 2

KINDS = ("plain", "smoothed", "weighed")

PARTS = {
    "labels": (),
    "pairs": ("pairs",),
    "own pairs": ("own pairs",),
    "penalties": ("pairs", "penalty"),
    "roots": ("own pairs", "link", "penalty"),
    "overrides": ("overrides",),
    "discounts": ("discounts",),
}


@st.composite
def energies_with(draw, parts, n_objects):
    energy = draw(energies(n_objects, N_LABELS))
    shape = (n_objects, N_LABELS, N_LABELS) if "own pairs" in parts else (N_LABELS, N_LABELS)
    pairwise = draw(arrays(np.int64, shape, elements=st.integers(-9, 9))) if "pairs" in " ".join(parts) else None
    codes = np.array([1, 6, 31])
    return replace(
        energy,
        pairwise=pairwise,
        link=SquareRoot(3) if "link" in parts else None,
        penalty=draw(penalties(N_LABELS)) if "penalty" in parts else None,
        overrides=draw(overrides(n_objects, N_LABELS)) if "overrides" in parts else None,
        discounts=Discounts(decode(codes, N_LABELS), codes) if "discounts" in parts else None,
    )


@st.composite
def weighings(draw, kind, folds):
    n_objects, sizes = folds[0].energy.n_objects, [len(fold.calibration) for fold in folds]
    numbers = lambda shape, *bounds: draw(arrays(np.int64, shape, elements=st.integers(*bounds)))  # noqa: E731
    if kind == "plain":
        return Weighing.plain(sum(sizes), n_objects)
    if kind == "smoothed":
        return Weighing.smoothed(sum(sizes), numbers(n_objects, 1, DRAW_UNIT))
    weights = np.sort(numbers((N_FOLDS, max(sizes) + 1), 0, 50), axis=1)
    return Weighing.ruled(weights, numbers(n_objects, -5, 5), 7)


def same_answers(folds, weighing, first_code, device, n_best, smallest, constraints=None):
    own = FoldArrays(folds)
    common = (own.n_objects, own.n_labels, first_code, own.total_scores, own, weighing)
    here = NumbaTable(*common, constraints=constraints)
    there = DeviceTable(*common, constraints=constraints, device=device)
    everyone = np.arange(own.n_objects)
    assert there.numerators(everyone[:0]).shape == (0, 2**own.n_labels)
    assert np.array_equal(there.numerators(everyone), here.numerators(everyone))
    least = np.full(own.n_objects, smallest)
    assert np.array_equal(there.sizes(everyone, least), here.sizes(everyone, least))
    assert np.array_equal(there.label_maxima(everyone), here.label_maxima(everyone))
    for mine, theirs in zip(here.best(everyone, n_best), there.best(everyone, n_best), strict=True):
        assert np.array_equal(mine, theirs)
    return here, there


@pytest.fixture(params=["host", "small host", "cuda"])
def device(request):
    return make_device(request.param)


CASES = [
    *(("labels", kind) for kind in KINDS),
    ("pairs", "plain"),
    ("own pairs", "smoothed"),
    ("penalties", "weighed"),
    ("roots", "plain"),
    ("roots", "weighed"),
    ("overrides", "plain"),
    ("overrides", "smoothed"),
    ("discounts", "plain"),
]


@pytest.mark.parametrize("device", ["host", "cuda"], indirect=True)  # each case is compiled: the small host later
@pytest.mark.parametrize(("parts", "kind"), CASES)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_device_table_equals_table(parts, kind, device, data):
    n_objects = data.draw(st.integers(1, 3))
    drawn = [data.draw(energies_with(PARTS[parts], n_objects)) for _ in range(N_FOLDS)]
    folds = [Fold(data.draw(calibrations(energy)), energy) for energy in drawn]
    weighing = data.draw(weighings(kind, folds))
    bounds = (data.draw(st.integers(0, 1)), device, data.draw(st.integers(1, 4)), data.draw(st.integers(-5, 20)))
    same_answers(folds, weighing, *bounds)


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_device_table_equals_slow_reference(device, data):
    drawn = [data.draw(energies_with(("pairs",), 2)) for _ in range(N_FOLDS)]
    folds = [Fold(data.draw(calibrations(energy)), energy) for energy in drawn]
    own = FoldArrays(folds)
    weighing = Weighing.plain(sum(map(len, own.calibrations)), 2)
    table = DeviceTable(2, N_LABELS, 0, own.total_scores, own, weighing, device=device)
    assert np.array_equal(table.numerators(np.arange(2)), labelset_reference.count_table(folds) + 1)
    codes, numerators = table.best(np.arange(2), 3)
    for i in range(2):
        best = labelset_reference.ranked(folds, i, allow_empty=True)[:3]
        assert [*zip(numerators[i], codes[i], strict=True)] == [(one[0], one[2]) for one in best]


def random_folds(n_objects, n_labels, n_folds=N_FOLDS, n_calibration=9, largest=20):
    rng = np.random.default_rng(0)
    return [
        Fold(
            np.sort(rng.integers(0, largest, n_calibration)),
            Energy(rng.integers(0, 9, n_objects), rng.integers(-9, 9, (n_objects, n_labels))),
        )
        for _ in range(n_folds)
    ]


def test_device_table_leaves_out_what_constraints_forbid(device):
    at_most_two = LabelsetRules(N_LABELS, (Inequality(frozenset(range(N_LABELS)), frozenset(), 2),))
    _, there = same_answers(random_folds(3, N_LABELS), Weighing.plain(18, 3), 1, device, 4, 3, at_most_two)
    rows = there.numerators(np.arange(3))
    assert np.array_equal(np.flatnonzero(rows[0]), [code for code in range(1, 32) if code.bit_count() <= 2])


@pytest.mark.parametrize("n_labels", [1, 2, 9])
def test_device_table_of_few_and_many_labels_equals_table(device, n_labels):
    """More labels than a thread goes through, and than a piece has; fewer than a block has threads."""
    same_answers(random_folds(5, n_labels), Weighing.plain(18, 5), 0, device, 3, 3)


def test_device_table_of_many_folds_equals_table(device):
    same_answers(random_folds(2, N_LABELS, n_folds=19), Weighing.plain(19 * 9, 2), 0, device, 3, 40)


def test_device_table_finds_many_scores_in_one_bucket(device):
    """One far away stretches the buckets, so that all others share one; they need more memory than is fast."""
    folds = random_folds(2, N_LABELS, n_calibration=900, largest=60)
    folds = [Fold(np.append(fold.calibration, 2**49), fold.energy) for fold in folds]
    same_answers(folds, Weighing.plain(1802, 2), 0, device, 3, 40)


def test_device_table_answers_about_any_objects(device):
    folds, chosen = random_folds(6, N_LABELS), np.array([4, 1, 1, 5])
    here, there = same_answers(folds, Weighing.plain(18, 6), 0, device, 2, 3)
    assert np.array_equal(there.numerators(chosen), here.numerators(chosen))
    assert there.sizes(chosen[:0], chosen[:0]).shape == (0,)


def test_device_table_of_a_rule_below_zero_equals_table(device):
    weights = np.tile(np.arange(10), (N_FOLDS, 1))
    same_answers(random_folds(3, N_LABELS), Weighing.ruled(weights, np.full(3, -50), 7), 1, device, 2, -45)

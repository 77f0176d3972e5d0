"""What a report counts at its levels is what predictions and metrics say, each asked by itself."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from report_cases import cross_predictions, some_predictions

from labelsure.conformal import GUARANTEES
from labelsure.metrics import (
    calibration_curve,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    size_histogram,
)
from labelsure.predictions import NoGuarantee
from labelsure.report._acceptance import ALPHAS, accept
from labelsure.report._facts import Facts
from labelsure.report._levels import COARSE, FINE, Levels, count_labelsets
from labelsure.report._subject import check_subject
from three_errors import assert_at_most


def facts_of(predictions, labels=None, groups=None):
    return Facts.gather(check_subject(predictions, labels, None, groups, None))


@pytest.fixture(scope="module")
def counted():
    predictions, labels = some_predictions()
    groups = {"site": np.where(np.arange(len(labels)) % 3 == 0, "north", "south")}
    return predictions, labels, groups, facts_of(predictions, labels, groups)


@pytest.mark.parametrize(
    "options", [{}, {"smoothed": True, "random_state": 0}], ids=["plain", "smoothed"]
)
def test_sizes_at_all_levels_are_those_of_regions(options):
    predictions, _ = some_predictions(n_objects=12, **options)
    levels = Levels.offered(predictions)
    sizes = count_labelsets(predictions, levels.significances)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, significance in enumerate(levels.significances):
            assert sizes[place].tolist() == predictions.region(significance).sizes.tolist()


@pytest.mark.parametrize("per_mille", [10, 500, 800, 901, 950, 990])
def test_codes_tell_what_is_in_each_region(counted, per_mille):
    predictions, labels, _, facts = counted
    place = facts.levels.per_mille.index(per_mille)
    region = predictions.region((1000 - per_mille) / 1000)
    assert ((place >= facts.objects.labels) == region.possible_values).all()
    assert ((place >= facts.objects.truth) == region.contains(labels)).all()
    for rank in range(3):
        own = region.contains(facts.objects.best.labelsets[:, rank])
        assert ((place >= facts.objects.top[:, rank]) == own).all()


@pytest.mark.parametrize("per_mille", [500, 800, 950, 990])
def test_counts_are_those_of_the_metrics(counted, per_mille):
    predictions, labels, groups, facts = counted
    place, region = (
        facts.levels.per_mille.index(per_mille),
        predictions.region((1000 - per_mille) / 1000),
    )
    contains = region.contains(labels)
    histogram = size_histogram(region.sizes, max_size=2**5)
    assert facts.counts.sizes[place].tolist() == [histogram.n_empty, *histogram.counts]
    assert facts.counts.covered[place] == contains.sum()
    assert facts.counts.single_right[place] == (contains & (region.sizes == 1)).sum()
    ruled_out = ~region.outer & (region.sizes > 0)[:, None]
    said = [
        region.inner,
        region.undecided,
        ruled_out,
        region.inner & (labels == 0),
        ruled_out & (labels == 1),
    ]
    assert facts.counts.labels[place].T.tolist() == [what.sum(axis=0).tolist() for what in said]
    site, by_cardinality, by_label, by_size = facts.counts.groups
    expected = [
        (site, coverage_by_group(contains, groups["site"])),
        (by_cardinality, coverage_by_group(contains, labels.sum(axis=1))),
        (by_label, coverage_by_label(contains, labels)),
        (by_size, coverage_by_size(contains, region.sizes)),
    ]
    for group, table in expected:
        used = group.n_objects[place] > 0
        assert group.n_objects[place][used].tolist() == table.n_objects.tolist()
        assert group.n_covered[place][used].tolist() == table.n_covered.tolist()
        for limit, exact in zip(group.limits, (table.low, table.high), strict=True):
            assert limit[place][used] == pytest.approx(exact, abs=6e-5)


def test_calibration_is_the_curve_of_the_metrics(counted):
    predictions, labels, _, facts = counted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = calibration_curve(labels, predictions, facts.levels.significances)
    assert [point["covered"] for point in facts.calibration] == pytest.approx(1 - curve.error_rate)
    assert [point["low"] for point in facts.calibration] == pytest.approx(1 - curve.high, abs=1e-5)
    assert [point["high"] for point in facts.calibration] == pytest.approx(1 - curve.low, abs=1e-5)


def members(codes, place, nested):
    return place >= codes if nested else (codes >> place & 1) == 1


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.filterwarnings("ignore:With .* calibration examples")
def test_regions_of_every_guarantee_are_told_exactly(guarantee):
    predictions, labels = cross_predictions(guarantee=guarantee)
    facts = facts_of(predictions, labels)
    assert facts.levels.per_mille == (FINE if predictions.nested else COARSE)
    assert facts.counts.size_kind == "counted"
    for per_mille in (500, 800, 950):
        place, region = (
            facts.levels.per_mille.index(per_mille),
            predictions.region((1000 - per_mille) / 1000),
        )
        assert (
            members(facts.objects.labels, place, predictions.nested) == region.possible_values
        ).all()
        assert (
            members(facts.objects.truth, place, predictions.nested) == region.contains(labels)
        ).all()
        assert facts.objects.sizes[place].tolist() == region.sizes.tolist()


def test_sizes_that_would_take_too_long_are_bounded_by_what_is_open(monkeypatch):
    monkeypatch.setattr("labelsure.report._levels.MOST_P_VALUES", 2**24)
    predictions, _ = some_predictions(n_objects=3, n_labels=26, n_calibration=40)
    facts = facts_of(predictions)
    assert (facts.levels.sizes, facts.counts.size_kind, facts.levels.per_mille) == (
        "bound",
        "bounded",
        COARSE,
    )
    place = COARSE.index(900)
    assert (
        facts.objects.sizes[place].tolist()
        == (2.0 ** predictions.region(0.1).undecided.sum(axis=1)).tolist()
    )


def test_sizes_that_are_not_counted_are_called_estimates():
    predictions, labels = some_predictions(n_objects=2, n_labels=32, n_calibration=100)
    facts = facts_of(predictions, labels)
    assert (facts.levels.sizes, facts.counts.size_kind, facts.levels.per_mille) == (
        "search",
        "estimated",
        COARSE,
    )
    assert (
        facts.objects.sizes[COARSE.index(950)].tolist() == predictions.region(0.05).sizes.tolist()
    )


def test_many_objects_are_counted_at_fewer_levels_and_listed_in_part(monkeypatch):
    monkeypatch.setattr("labelsure.report._levels.MOST_OBJECTS", 30)
    monkeypatch.setattr("labelsure.report._objects.MOST_OBJECTS", 30)
    predictions, labels = some_predictions()
    facts = facts_of(predictions, labels)
    assert (facts.levels.per_mille, facts.levels.sizes) == (COARSE, "table")
    assert facts.objects.chosen.tolist() == list(range(0, 70, 3))
    place = COARSE.index(900)
    assert facts.counts.covered[place] == predictions.region(0.1).contains(labels).sum()
    assert facts.objects.sizes[place].tolist() == predictions.region(0.1).sizes[::3].tolist()


def test_report_starts_at_a_level_that_can_be_reached():
    predictions, labels = some_predictions(n_objects=5, n_calibration=12)
    facts = facts_of(predictions, labels)
    assert facts.levels.per_mille[facts.start] == 900
    words = facts.words[facts.levels.per_mille.index(950)]
    assert words.verdict == "95 % is out of reach"
    assert "12 calibration examples" in words.promise


def test_verdict_follows_the_counts():
    predictions, labels = some_predictions()
    place = FINE.index(900)
    kept = facts_of(predictions, labels).words[place]
    broken = facts_of(predictions, 1 - labels).words[place]
    assert (kept.status, broken.status) == ("kept", "broken")
    covered = int(predictions.region(0.1).contains(labels).sum())
    assert f"of {covered} of {len(labels)} objects" in kept.promise
    assert "at 90 % confidence misses" in kept.statement


@pytest.mark.parametrize(("n_calibration", "status"), [(20, "below"), (5000, "broken")])
def test_few_calibration_examples_excuse_more(n_calibration, status):
    """38 of 50 at 90 % is less than asked for; with 20 calibration examples that is no sign of a broken promise."""
    predictions, _ = some_predictions(n_objects=50, n_calibration=n_calibration)
    region, labels = predictions.region(0.1), predictions.labelsets.copy()
    candidates = predictions.candidates()
    for i in range(12):
        labels[i] = next(labelset for labelset in candidates if labelset not in region[i])
    assert facts_of(predictions, labels).words[FINE.index(900)].status == status


def test_nothing_is_promised_where_nothing_is_proven():
    predictions, labels = some_predictions()
    unknown = replace(predictions, guarantee=NoGuarantee("p-values of unknown origin"))
    place = FINE.index(900)
    assert facts_of(unknown, labels).words[place].status == "kept"
    words = facts_of(unknown, 1 - labels).words[place]
    assert (words.status, words.statement) == (
        "below",
        "Nothing is proven about p-values of unknown origin.",
    )
    assert words.promise.endswith("Nothing is proven about these predictions.")
    assert {point["proven"] for point in facts_of(unknown, labels).calibration} == {None}


def test_one_half_is_decided_about_with_the_other():
    rng = np.random.default_rng(0)
    confidence = np.round(rng.random(601), 2)
    right = rng.random(601) < confidence**0.2
    acceptance = accept(confidence, right)
    n_accepted = acceptance.accepted.sum(axis=1)
    assert acceptance.decided.sum() == 300
    assert not acceptance.accepted[:, ~acceptance.decided].any()
    assert 0 < n_accepted[1] < n_accepted[2] < n_accepted[3] <= 300
    assert (acceptance.accepted[:-1] <= acceptance.accepted[1:]).all()
    assert acceptance.rows[3] == (0.2, n_accepted[3], (acceptance.accepted[3] & ~right).sum())
    assert (acceptance.codes <= np.arange(4)[:, None]).tolist() == acceptance.accepted.tolist()


@pytest.mark.validity
def test_share_of_wrong_ones_among_the_accepted_is_what_the_table_says():
    """Both halves pooled have .107 wrong at .1, sixteen standard errors above it."""

    def share_wrong(rng):
        confidence = rng.random(400)
        right = rng.random(400) < 0.6 + 0.4 * confidence
        return [wrong / max(accepted, 1) for _, accepted, wrong in accept(confidence, right).rows]

    assert_at_most(ALPHAS, share_wrong, 2000, seed=1)


def test_a_single_object_has_no_other_half():
    assert accept(np.array([0.9]), np.array([True])) is None

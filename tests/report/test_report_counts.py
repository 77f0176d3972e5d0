"""What the numbers of a report are at each level: those of predictions, metrics and selection."""

from dataclasses import replace

import numpy as np
import pytest
from report_cases import (
    COARSE,
    FINE,
    cross_predictions,
    draw,
    facts_of,
    members,
    page_of,
    some_predictions,
)
from sklearn.metrics import f1_score

from labelsure import calibrate_outputs
from labelsure.conformal import GUARANTEES
from labelsure.metrics import (
    answers_needed,
    calibration_curve,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    size_histogram,
)
from labelsure.predictions import NoGuarantee
from labelsure.report._singles import ALPHAS, accept
from three_errors import assert_at_most

pytestmark = pytest.mark.filterwarnings("ignore:With .* calibration examples", "ignore:region")


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    predictions, labels = some_predictions()
    groups = {"site": np.where(np.arange(len(labels)) % 3 == 0, "north", "south")}
    facts = facts_of(tmp_path_factory.mktemp("report"), predictions, labels, groups=groups)
    return predictions, labels, groups, facts


@pytest.mark.parametrize("case", ["smoothed", *GUARANTEES])
def test_regions_are_those_of_predictions(tmp_path, case):
    if case == "smoothed":
        predictions, labels = some_predictions(n_objects=12, smoothed=True, random_state=0)
    else:
        predictions, labels = cross_predictions(guarantee=case)
    facts, top = facts_of(tmp_path, predictions, labels), predictions.top(3).labelsets
    assert facts.perMille == [*(FINE if predictions.nested else COARSE)]
    assert (facts.sizeKind, facts.nested) == ("counted", predictions.nested)
    for per_mille in facts.perMille:
        region = predictions.region(significance=(1000 - per_mille) / 1000)
        assert (members(facts, facts.labelCodes, per_mille) == region.possible_values).all()
        assert (members(facts, facts.truthCodes, per_mille) == region.contains(labels)).all()
        in_top = [region.contains(top[:, rank]) for rank in range(3)]
        assert (members(facts, facts.topCodes, per_mille) == np.transpose(in_top)).all()
        assert (facts.sizes[facts.perMille.index(per_mille)] == region.sizes).all()


@pytest.mark.parametrize("per_mille", [500, 800, 950, 990])
def test_counts_are_those_of_the_metrics(counted, per_mille):
    predictions, labels, groups, facts = counted
    place, region = (
        FINE.index(per_mille),
        predictions.region(significance=(1000 - per_mille) / 1000),
    )
    contains = region.contains(labels)
    histogram = size_histogram(region.sizes, max_size=2**5)
    assert facts.sizeCounts[place] == [histogram.n_empty, *histogram.counts]
    ruled_out = ~region.outer & (region.sizes > 0)[:, None]
    said = [region.inner, region.undecided, ruled_out]
    said += [region.inner & (labels == 0), ruled_out & (labels == 1)]
    assert np.transpose(facts.labelCounts[place]).tolist() == np.sum(said, axis=1).tolist()
    words = facts.words[place]
    assert f"held the true labelset of {contains.sum()} of 70 objects" in words["promise"]
    single = region.sizes == 1
    assert words["acceptance"].startswith(f"{single.sum()} of 70 objects ha")
    if single.any():
        assert f"is the true one for {(contains & single).sum()} of them" in words["acceptance"]
    assert words["median"] == f"{np.median(region.sizes):g}"
    assert words["open"] == f"{region.undecided.sum(axis=1).mean():.1f} of 5"
    assert words["empty"] == str((region.sizes == 0).sum())
    expected = {
        "site": coverage_by_group(contains, groups["site"]),
        "number of true labels": coverage_by_group(contains, labels.sum(axis=1)),
        "label": coverage_by_label(contains, labels),
        "size of region": coverage_by_size(contains, region.sizes),
    }
    assert [group["by"] for group in facts.groups] == list(expected)
    for group, table in zip(facts.groups, expected.values(), strict=True):
        shown = np.transpose([group[key][place] for key in ("objects", "covered", "low", "high")])
        counts = np.transpose([table.n_objects, table.n_covered, table.low, table.high])
        assert shown[shown[:, 0] > 0] == pytest.approx(counts, abs=6e-5)


def test_calibration_is_the_curve_of_the_metrics(counted):
    predictions, labels, _, facts = counted
    curve = calibration_curve(labels, predictions, (1000 - np.array(FINE)) / 1000)
    shown = [[point[key] for point in facts.calibration] for key in ("covered", "low", "high")]
    expected = [1 - curve.error_rate, 1 - curve.high, 1 - curve.low]
    assert np.array(shown) == pytest.approx(np.array(expected), abs=1e-5)


def test_sizes_that_would_take_too_long_are_bounded_by_what_is_open(tmp_path, monkeypatch):
    monkeypatch.setattr("labelsure.report._counts.MOST_P_VALUES", 2**24)
    predictions, _ = some_predictions(n_objects=3, n_labels=26, n_calibration=40)
    facts = facts_of(tmp_path, predictions)
    assert (facts.sizeKind, facts.perMille) == ("bounded", [*COARSE])
    bounds = 2.0 ** predictions.region(0.1).undecided.sum(axis=1)
    assert facts.sizes[COARSE.index(900)].tolist() == bounds.tolist()


def test_sizes_that_are_not_counted_are_called_estimates(tmp_path):
    predictions, labels = some_predictions(n_objects=2, n_labels=32, n_calibration=100)
    facts = facts_of(tmp_path, predictions, labels)
    assert (facts.sizeKind, facts.perMille) == ("estimated", [*COARSE])
    sizes = predictions.region(0.05).sizes
    assert facts.sizes[COARSE.index(950)].tolist() == sizes.tolist()


def test_many_objects_are_counted_at_fewer_levels_and_listed_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr("labelsure.report._counts.MOST_OBJECTS_FINE", 30)
    monkeypatch.setattr("labelsure.report._counts.MOST_OBJECTS_SHOWN", 30)
    predictions, labels = some_predictions()
    facts = facts_of(tmp_path, predictions, labels)
    assert (facts.perMille, facts.sizeKind) == ([*COARSE], "counted")
    assert facts.names == [str(i) for i in range(0, 70, 3)]
    place, region = COARSE.index(900), predictions.region(0.1)
    covered = region.contains(labels).sum()
    assert f"held the true labelset of {covered} of 70 objects" in facts.words[place]["promise"]
    assert facts.sizes[place].tolist() == region.sizes[::3].tolist()


def test_report_starts_at_a_level_that_can_be_reached(tmp_path):
    facts = facts_of(tmp_path, *some_predictions(n_objects=5, n_calibration=12))
    assert facts.perMille[facts.start] == 900
    words = facts.words[FINE.index(950)]
    assert words["verdict"] == "95 % is out of reach"
    assert "12 calibration examples" in words["promise"]


def test_verdict_follows_the_counts(tmp_path):
    predictions, labels = some_predictions()
    words = [
        facts_of(tmp_path, predictions, Y).words[FINE.index(900)] for Y in (labels, 1 - labels)
    ]
    assert [of["status"] for of in words] == ["kept", "broken"]
    assert "at 90 % confidence misses" in words[0]["statement"]


@pytest.mark.parametrize(("n_calibration", "status"), [(20, "below"), (5000, "broken")])
def test_few_calibration_examples_excuse_more(tmp_path, n_calibration, status):
    """38 of 50 at 90 % is low; with 20 calibration examples that is not a broken promise."""
    predictions, _ = some_predictions(n_objects=50, n_calibration=n_calibration)
    region, labels = predictions.region(0.1), predictions.labelsets.copy()
    candidates = predictions.candidates()
    for i in range(12):
        labels[i] = next(labelset for labelset in candidates if labelset not in region[i])
    assert facts_of(tmp_path, predictions, labels).words[FINE.index(900)]["status"] == status


def test_nothing_is_promised_where_nothing_is_proven(tmp_path):
    predictions, labels = some_predictions()
    unknown = replace(predictions, guarantee=NoGuarantee("p-values of unknown origin"))
    place = FINE.index(900)
    assert facts_of(tmp_path, unknown, labels).words[place]["status"] == "kept"
    facts = facts_of(tmp_path, unknown, 1 - labels)
    assert facts.words[place]["status"] == "below"
    assert facts.words[place]["statement"] == "Nothing is proven about p-values of unknown origin."
    assert facts.words[place]["promise"].endswith("Nothing is proven about these predictions.")
    assert {point["proven"] for point in facts.calibration} == {None}


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
    assert (acceptance.codes <= np.arange(4)[:, None]).tolist() == acceptance.accepted.tolist()


@pytest.mark.validity
def test_share_of_wrong_ones_among_the_accepted_is_what_the_table_says():
    """Both halves pooled have .107 wrong at .1, sixteen standard errors above it."""

    def share_wrong(rng):
        confidence = rng.random(400)
        found = accept(confidence, rng.random(400) < 0.6 + 0.4 * confidence)
        return [(row & found.wrong).sum() / max(row.sum(), 1) for row in found.accepted]

    assert_at_most(ALPHAS, share_wrong, 2000, seed=1)


def test_a_fixed_sample_of_100_objects_is_asked_about(tmp_path):
    predictions, Y = some_predictions(n_objects=250)
    rows = np.sort(np.random.default_rng(0).permutation(250)[:100])
    region, wide = (predictions[rows].region(significance) for significance in (0.05, 0.02))
    settled = answers_needed(region, Y[rows], certain=False, labelset_cost=np.inf)
    certain = answers_needed(wide, Y[rows])
    assert (
        "What a person has to answer, mean of 100 of 250 objects drawn with a fixed seed: settled"
        f" at 95 %: {settled.labels.mean():.1f} of 5 labels; certain: {certain.labels.mean():.1f}"
        f" labels and {certain.labelsets.mean():.1f} labelsets per object."
    ) in page_of(tmp_path, predictions, Y)


@pytest.mark.parametrize(("n_objects", "n_labels"), [(100, 14), (3, 61), (5, 5)])
def test_nothing_is_asked_where_regions_are_too_large_or_the_truth_is_not_known(
    tmp_path, n_objects, n_labels
):
    predictions, Y = some_predictions(n_objects, n_labels, n_calibration=15)
    page = page_of(tmp_path, predictions, None if n_labels == 5 else Y)
    assert "What a person has to answer" not in page
    assert "What wrapping did" not in page


@pytest.mark.parametrize("labels_only", [False, True])
def test_report_compares_probabilities_with_those_of_the_learner(tmp_path, labels_only):
    outputs, Y = draw(70, seed=2)
    predictions = calibrate_outputs(*draw(150, seed=1)).predict_labelsets(outputs)
    at_half = (outputs > 0.5).astype(int)
    page = page_of(tmp_path, predictions, Y, alone=at_half if labels_only else outputs)
    ours, alone = (np.mean((p - Y) ** 2) for p in (predictions.probabilities, outputs))
    macros = [f1_score(Y, labels, average="macro") for labels in (predictions.labelsets, at_half)]
    said = (
        f"Brier score {ours:.3f} (learner alone {alone:.3f});"
        f" macro F {macros[0]:.3f} ({macros[1]:.3f})."
    )
    assert (f"What wrapping did: {said}" in page) == (not labels_only)

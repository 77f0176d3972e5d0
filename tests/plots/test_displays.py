"""Displays draw what predictions say; looked at is the data of what is drawn, not its pixels."""

import subprocess
import sys

import numpy as np
import pytest

from labelsure import CrossConformalClassifier, MLkNNClassifier, calibrate_labels, calibrate_outputs
from labelsure.measures import PowerMeasure
from labelsure.metrics import calibration_curve
from labelsure.plots import (
    CalibrationDisplay,
    ConfidenceDisplay,
    LabelDisplay,
    LabelsetDisplay,
    RegionSizeDisplay,
    write_labelset,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

NAMES = ["sea", "city", "night"]
RNG = np.random.default_rng(0)
OUTPUTS = RNG.random((200, 3))
Y = (RNG.random((200, 3)) < OUTPUTS).astype(int)
TRUTH = Y[150:]


@pytest.fixture(scope="module")
def predictions():
    return calibrate_outputs(OUTPUTS[:150], Y[:150], label_names=NAMES).predict_labelsets(
        OUTPUTS[150:]
    )


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def every_display(predictions):
    return [
        CalibrationDisplay.from_predictions(TRUTH, predictions, [0.1, 0.2]),
        RegionSizeDisplay.from_predictions(predictions),
        LabelsetDisplay.from_predictions(predictions),
        ConfidenceDisplay.from_predictions(predictions),
        LabelDisplay.from_predictions(predictions),
        LabelDisplay.from_predictions(predictions, 3),
    ]


def test_displays_know_where_they_are_drawn_and_can_be_drawn_again(predictions):
    for display in every_display(predictions):
        assert display.ax_.figure is display.figure_
        assert display.ax_.get_xlabel()
        figure, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert (display.ax_, display.figure_) == (ax, figure)
        assert ax.has_data()


def test_calibration_display_draws_errors_and_bands(predictions):
    levels = [0.05, 0.1, 0.3, 0.6]
    display = CalibrationDisplay.from_predictions(
        TRUTH, predictions, levels, coverage_level=0.9, name="ours"
    )
    curve = calibration_curve(TRUTH, predictions, levels, coverage_level=0.9)
    assert display.line_.get_xdata().tolist() == levels
    assert display.line_.get_ydata().tolist() == curve.error_rate.tolist()
    for band, (low, high) in (
        (display.band_, (curve.low, curve.high)),
        (display.wide_band_, curve.simultaneous_band),
    ):
        corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
        assert {
            *zip(levels, low.tolist(), strict=True),
            *zip(levels, high.tolist(), strict=True),
        } <= corners
    assert (curve.simultaneous_band[0] < curve.low).any()
    assert (curve.simultaneous_band[1] > curve.high).all()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["ours", "90 %, all levels at once", "90 %, each level", "diagonal"]
    assert display.bound_line_ is None  # an inductive predictor proves what was asked for


def test_calibration_display_draws_what_is_proven():
    model = CrossConformalClassifier(
        MLkNNClassifier(), measure=PowerMeasure(), cv=3, random_state=0
    )
    predictions = model.fit(OUTPUTS[:60], Y[:60]).predict_labelsets(OUTPUTS[150:])
    display = CalibrationDisplay.from_predictions(TRUTH, predictions, [0.1, 0.9])
    bound = predictions.guarantee.error_bound
    assert display.bound_line_.get_ydata().tolist() == [bound(0.1), 1.0]
    assert bound(0.1) > 0.1


def test_simultaneous_band_covers_all_levels_at_once():
    """False alarms in at most 5 % of many repetitions; 30 of 200 would come once in 10^7."""
    rng = np.random.default_rng(1)
    levels = np.arange(1, 20) / 20
    n_outside = {"each": 0, "all": 0}
    for _ in range(200):
        errors = (rng.random(100)[:, None] <= levels).mean(axis=0)
        curve = _curve(levels, errors, 100)
        low, high = curve.simultaneous_band
        n_outside["all"] += bool(((levels < low) | (levels > high)).any())
        n_outside["each"] += bool(((levels < curve.low) | (levels > curve.high)).any())
    assert n_outside["all"] < 30 < n_outside["each"]


def _curve(levels, errors, n):
    from labelsure.metrics import CalibrationCurve
    from labelsure.metrics._coverage import clopper_pearson

    n_errors = np.round(errors * n).astype(np.int64)
    return CalibrationCurve(
        levels, errors, *clopper_pearson(n_errors, np.full_like(n_errors, n), 0.95), 0.95, n
    )


def test_size_display_draws_shares_of_objects(predictions):
    display = RegionSizeDisplay.from_predictions(predictions, significance=(0.05, 0.7))
    for level, line in zip((0.05, 0.7), display.lines_, strict=True):
        sizes = predictions.region(level).sizes
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        for size in range(1, 9):
            assert y[x <= np.log2(size)].max(initial=0.0) == pytest.approx(np.mean(sizes <= size))
        assert y[x < 0].max(initial=0.0) == pytest.approx(np.mean(sizes == 0))
    ticks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert (predictions.region(0.7).sizes == 0).any()
    assert ticks[0] == "empty"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "95 % confidence",
        "30 % confidence",
    ]


def test_size_display_says_nothing_of_empty_regions_where_there_are_none(predictions):
    display = RegionSizeDisplay.from_predictions(predictions, significance=0.01)
    assert "empty" not in [tick.get_text() for tick in display.ax_.get_xticklabels()]


def test_labelset_display_draws_p_values_and_marks_region_and_truth(predictions):
    i = int(np.flatnonzero((predictions.labelsets == TRUTH).all(axis=1))[0])
    display = LabelsetDisplay.from_predictions(
        predictions, i, significance=0.3, top=6, Y_true=TRUTH
    )
    top = predictions[[i]].top(6)
    assert [bar.get_width() for bar in display.bars_] == top.p_values[0].tolist()
    ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    on = [
        [name for name, value in zip(NAMES, row, strict=True) if value] for row in top.labelsets[0]
    ]
    assert ticks == [write_labelset(labels) for labels in on]
    inside = top.p_values[0] > 0.3
    assert [bar.get_hatch() == "" for bar in display.bars_] == inside.tolist()
    assert display.level_line_.get_xdata()[0] == 0.3
    assert [text.get_text().endswith("true") for text in display.ax_.texts] == [True] + [False] * 5
    assert f"{int(predictions.region(0.3).sizes[i])} labelset" in display.ax_.get_title(loc="left")
    assert LabelsetDisplay.from_predictions(predictions, -1).summary.name == 49


def test_names_with_dollars_are_no_formulas_and_long_ones_leave_room(recwarn):
    names = ["costs $_$ a lot", "$1 to $2", *(f"{'long ' * 10}{j}" for j in range(4))]
    outputs = RNG.random((60, 6))
    some = calibrate_outputs(outputs[:40], (outputs[:40] > 0.4).astype(int), label_names=names)
    display = LabelsetDisplay.from_predictions(some.predict_labelsets(np.full((1, 6), 0.9)))
    others = [
        LabelDisplay.from_predictions(some.predict_labelsets(outputs[40:]), i) for i in (None, 0)
    ]
    for one in (display, *others):
        one.figure_.canvas.draw()  # where formulas would be read, and axes without room given up
    assert [str(warning.message) for warning in recwarn] == []
    assert others[0].ax_.get_yticklabels()[0].get_text() == r"costs \$_\$ a lot"
    assert max(len(tick.get_text()) for tick in display.ax_.get_yticklabels()) < 80


def test_confidence_display_tells_right_from_wrong(predictions):
    display = ConfidenceDisplay.from_predictions(predictions, TRUTH)
    right = (predictions.labelsets == TRUTH).all(axis=1)
    both = np.column_stack([predictions.confidence, predictions.credibility])
    assert display.points_["right"].get_offsets().tolist() == both[right].tolist()
    assert display.points_["wrong"].get_offsets().tolist() == both[~right].tolist()
    plain = ConfidenceDisplay.from_predictions(predictions)
    assert plain.points_["all"].get_offsets().tolist() == both.tolist()
    assert plain.ax_.get_legend() is None


def test_label_display_draws_shares_of_decisions(predictions):
    display = LabelDisplay.from_predictions(predictions, significance=0.7)
    region = predictions.region(0.7)
    for word, names in (
        ("sure", region.sure),
        ("possible", region.possible),
        ("ruled out", region.ruled_out),
    ):
        drawn = [bar.get_width() for bar in display.bars_[word]]
        assert drawn == pytest.approx([np.mean([name in of for of in names]) for name in NAMES])
    empty = np.mean(region.sizes == 0)
    assert [bar.get_width() for bar in display.bars_["neither"]] == pytest.approx([empty] * 3)
    ends = [bar.get_x() + bar.get_width() for bar in display.bars_["neither"]]
    assert ends == pytest.approx([1.0] * 3)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == NAMES
    assert "neither" not in LabelDisplay.from_predictions(predictions, significance=0.01).bars_


def test_label_display_draws_p_values_of_one_object(predictions):
    display = LabelDisplay.from_predictions(predictions, 3, significance=0.1)
    assert display.off_.get_offsets()[:, 0].tolist() == predictions.label_p_values[3, :, 0].tolist()
    assert display.on_.get_offsets()[:, 0].tolist() == predictions.label_p_values[3, :, 1].tolist()
    assert display.level_line_.get_xdata()[0] == 0.1


def test_label_display_takes_label_wise_predictions():
    predictions = calibrate_labels(OUTPUTS[:150], Y[:150], label_names=NAMES).predict_labels(
        OUTPUTS[150:]
    )
    display = LabelDisplay.from_predictions(predictions, significance=0.2)
    assert [bar.get_width() for bar in display.bars_["sure"]] == pytest.approx(
        predictions.region(0.2).inner.mean(axis=0)
    )
    one = LabelDisplay.from_predictions(predictions, 5)
    assert one.on_.get_offsets()[:, 0].tolist() == predictions.p_values[5, :, 1].tolist()


def test_displays_pass_on_how_to_draw(predictions):
    assert (
        CalibrationDisplay.from_predictions(
            TRUTH, predictions, [0.1, 0.2], color="red"
        ).line_.get_color()
        == "red"
    )
    assert (
        RegionSizeDisplay.from_predictions(predictions, linewidth=3).lines_[0].get_linewidth() == 3
    )
    assert (
        ConfidenceDisplay.from_predictions(predictions, alpha=0.1).points_["all"].get_alpha() == 0.1
    )
    assert (
        LabelDisplay.from_predictions(predictions, height=0.5).bars_["sure"][0].get_height() == 0.5
    )
    assert LabelsetDisplay.from_predictions(predictions, height=0.5).bars_[0].get_height() == 0.5


@pytest.mark.parametrize(
    "display", [RegionSizeDisplay, LabelsetDisplay, ConfidenceDisplay, LabelDisplay]
)
def test_displays_refuse_what_are_no_predictions(display, predictions):
    with pytest.raises(ValueError, match=r"predictions must be what predict_labelsets.* returns"):
        display.from_predictions(TRUTH)
    with pytest.raises(ValueError, match="at least one object, got none"):
        display.from_predictions(predictions[:0])


def test_displays_refuse_levels_objects_and_truth_that_do_not_fit(predictions):
    for display in (RegionSizeDisplay, LabelsetDisplay, LabelDisplay):
        with pytest.raises(ValueError, match="strictly between 0 and 1, got 95"):
            display.from_predictions(predictions, significance=95)
    with pytest.raises(ValueError, match="at least one level"):
        RegionSizeDisplay.from_predictions(predictions, significance=())
    for display in (LabelsetDisplay, LabelDisplay):
        with pytest.raises(IndexError, match="There are 50 objects, got index 50"):
            display.from_predictions(predictions, 50)
    with pytest.raises(ValueError, match="must have the same number of rows, got 50 and 3"):
        ConfidenceDisplay.from_predictions(predictions, TRUTH[:3])
    with pytest.raises(ValueError, match="predictions must be what predict_labelsets returns"):
        CalibrationDisplay.from_predictions(predictions, TRUTH)
    assert plt.get_fignums() == []


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, labelsure.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

"""The file: whole, small, the same each time, safe whatever objects and labels are called, and refused at the door."""

import io
import re
import sys
from html import escape

import numpy as np
import pytest
from report_cases import EVIL, LABELS, cross_predictions, draw, names_of, some_predictions

from labelsure import _parallel, calibrate_outputs
from labelsure.report import write_report
from labelsure.report._assets import read_asset


@pytest.fixture(scope="module")
def case():
    return some_predictions(n_objects=20)


@pytest.fixture(scope="module")
def page(case, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert (
        write_report(path, *case, objects=names_of(20), groups={EVIL: [EVIL] * 20}, title=EVIL)
        == path
    )
    return path.read_text(encoding="utf-8")


def test_report_of_5000_objects_and_14_labels_takes_less_than_2_megabytes(tmp_path):
    predictor = calibrate_outputs(*draw(1500, 14, seed=1))
    outputs, labels = draw(5000, 14, seed=2)
    random = np.random.default_rng(0)
    names = [random.bytes(16).hex() for _ in range(5000)]  # nothing that deflates well
    groups = {"site": np.arange(5000) % 12, "sex": np.arange(5000) % 2}
    path = write_report(
        tmp_path / "a.html",
        predictor.predict_labelsets(outputs),
        labels,
        objects=names,
        groups=groups,
    )
    assert path.stat().st_size < 2_000_000


def test_long_reports_show_how_far_they_are_on_a_terminal(case, tmp_path, monkeypatch):
    monkeypatch.setattr(_parallel, "SECONDS_BEFORE_SHOWN", 0)
    for is_terminal in (True, False):
        watched = io.StringIO()
        monkeypatch.setattr(
            watched, "isatty", lambda is_terminal=is_terminal: is_terminal, raising=False
        )
        monkeypatch.setattr(sys, "stderr", watched)
        write_report(tmp_path / "a.html", *case)
        shown = [
            name for name in ("counting labelsets", "regions, levels") if name in watched.getvalue()
        ]
        assert len(shown) == (2 if is_terminal else 0)


def test_report_needs_nothing_from_elsewhere(page):
    assert "://" not in page
    assert (
        re.findall(r"<(?:link|iframe|img|object|embed)\b|<script[^>]* src|@import|url\(", page)
        == []
    )
    assert "default-src 'none'" in page


def test_names_of_objects_labels_and_titles_are_text(page):
    assert EVIL not in page
    assert LABELS[3] not in page
    for name in (EVIL, LABELS[1], LABELS[3]):
        assert escape(name) in page
    assert page.count("<script") == 3  # the data, the library, the page's own


def test_report_is_the_same_for_the_same_input(case, page, tmp_path):
    again = write_report(
        tmp_path / "again.html", *case, objects=names_of(20), groups={EVIL: [EVIL] * 20}, title=EVIL
    )
    assert again.read_text(encoding="utf-8") == page


def test_licences_travel_with_the_library(page):
    licences = read_asset("vega/LICENSES.txt")
    assert licences in page
    for line in (
        "University of Washington Interactive Data Lab",
        "Mike Bostock",
        "BSD-3-Clause",
        "ISC",
        "MIT",
    ):
        assert line in licences


def test_every_figure_has_words_and_a_table(page):
    figures = re.findall(
        r'<div class="figure" id="figure-(\w+)" role="img" aria-label="[^"]{20,}"', page
    )
    assert figures == ["calibration", "sizes", "confidence", "credibility", "groups"]
    assert [name for name in figures if f'<table id="table-{name}' not in page] == []


def test_every_part_is_there(page):
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == (
        [
            "answer",
            "single",
            "calibration",
            "sizes",
            "plausibility",
            "labels",
            "groups",
            "accept",
            "hardest",
            "browser",
            "words",
        ]
    )


def test_report_names_the_condition_of_folds(tmp_path):
    page = write_report(tmp_path / "report.html", *cross_predictions()).read_text(encoding="utf-8")
    assert (
        "exchangeable examples in folds that were not chosen by their labels, on average over the"
        " draws" in page
    )


def test_report_without_truth_leaves_out_what_needs_it(case, tmp_path):
    page = write_report(tmp_path / "report.html", case[0]).read_text(encoding="utf-8")
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == [
        "answer",
        "sizes",
        "plausibility",
        "labels",
        "accept",
        "hardest",
        "browser",
        "words",
    ]
    assert "true labels not known" in page
    assert "Not known: these objects come without their true labels" in page


def test_names_come_from_the_index_of_a_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    outputs, labels = draw(6)
    frame = pandas.DataFrame(outputs, index=[f"row {i}" for i in "abcdef"])
    predictions = calibrate_outputs(*draw(50, seed=1)).predict_labelsets(frame)
    groups = pandas.DataFrame({"site": list("xxyyzz")})
    page = write_report(tmp_path / "r.html", predictions, labels, groups=groups).read_text(
        encoding="utf-8"
    )
    assert "row c" in page
    assert "by site" in page


def test_a_group_that_pandas_does_not_know_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    predictions, _ = some_predictions(n_objects=2)
    groups = pandas.DataFrame({"site": pandas.array(["x", None], dtype="string")})
    with pytest.raises(ValueError, match="got <NA> for object 1"):
        write_report(tmp_path / "r.html", predictions, groups=groups)


def test_one_object_and_one_label_are_enough(tmp_path):
    predictions, labels = some_predictions(n_objects=1, n_labels=1)
    page = write_report(tmp_path / "one.html", predictions, labels).read_text(encoding="utf-8")
    assert "1 object, 1 label," in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [[0, 1]]}, "predictions must be LabelsetPredictions, got list"),
        (
            {"Y": np.zeros((19, 5))},
            "the predictions and Y must have the same number of rows, got 20 and 19",
        ),
        ({"Y": np.full((20, 5), 2)}, "Y must hold only 0 and 1"),
        ({"Y": np.zeros((20, 4))}, "Y must have 5 columns"),
        ({"objects": "abc"}, "objects must hold one name per object"),
        ({"objects": ["a", "b"]}, "must have the same number of rows, got 20 and 2"),
        ({"groups": ["x"] * 20}, "groups must be a dict or a DataFrame"),
        ({"groups": {"site": ["x"] * 19}}, "groups\\['site'\\] must have the same number of rows"),
        ({"groups": {"site": [["x"]] * 20}}, "groups\\['site'\\] must have shape"),
        ({"groups": {"site": [None] + ["x"] * 19}}, "got None for object 0"),
        ({"groups": {"site": [float("nan")] + [1.0] * 19}}, "got nan for object 0"),
        ({"title": 7}, "title must be a text or None, got 7"),
    ],
)
def test_bad_input_is_refused_and_the_old_file_kept(case, tmp_path, arguments, message):
    path = tmp_path / "report.html"
    path.write_text("old")
    given = {"predictions": case[0], "Y": case[1], **arguments}
    with pytest.raises(ValueError, match=message):
        write_report(path, **given)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_too_many_groups_are_refused(tmp_path):
    predictions, _ = some_predictions(n_objects=120)
    with pytest.raises(ValueError, match="at most 100 different values, got 120"):
        write_report(tmp_path / "r.html", predictions, groups={"age": np.linspace(0, 1, 120)})


@pytest.mark.parametrize(
    ("name", "message"), [("", "got the folder"), ("none/r.html", "does not exist"), (3, "got 3")]
)
def test_a_place_that_cannot_be_written_to_is_refused(case, tmp_path, name, message):
    with pytest.raises(ValueError, match=message):
        write_report(name if name == 3 else tmp_path / name, case[0])


def test_a_report_that_cannot_be_finished_leaves_the_old_one(case, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(path, case[0])
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def contrast(one, other):
    """The contrast of two colours as WCAG 2 defines it."""
    linear = [
        [
            value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
            for value in colour
        ]
        for colour in (
            [int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            for hexadecimal in (one, other)
        )
    ]
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in linear)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag_aa_in_light_and_dark():
    schemes = re.findall(r":root \{(.*?)\}", read_asset("report.css"), re.S)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", scheme))
        pairs = [
            (text, paper)
            for text in ("ink", "soft", "accent", "good", "warn", "bad")
            for paper in ("paper", "wash")
        ]
        pairs.append(("on-accent", "accent"))
        assert {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs
                if contrast(colours[pair[0]], colours[pair[1]]) < 4.5} == {}  # fmt: skip

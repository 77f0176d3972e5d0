"""The file: complete, small, reproducible, safe for any names, and refused for bad input."""

import io
import re
import sys
from html import escape

import numpy as np
import pytest
from report_cases import EVIL, LABELS, cross_predictions, draw, names_of, page_of, some_predictions

from labelsure import _parallel, calibrate_outputs
from labelsure.report import write_report
from labelsure.report._page import read_asset

OPTIONS = {"objects": names_of(20), "groups": {EVIL: [EVIL] * 20}, "title": EVIL}


@pytest.fixture(scope="module")
def case():
    return some_predictions(n_objects=20)


@pytest.fixture(scope="module")
def page(case, tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("report"), *case, **OPTIONS)


def test_report_of_5000_objects_and_14_labels_takes_less_than_2_megabytes(tmp_path):
    outputs, labels = draw(5000, 14, seed=2)
    predictions = calibrate_outputs(*draw(1500, 14, seed=1)).predict_labelsets(outputs)
    random = np.random.default_rng(0)
    names = [random.bytes(16).hex() for _ in range(5000)]  # which do not compress well
    groups = {"site": np.arange(5000) % 12, "sex": np.arange(5000) % 2}
    page = page_of(tmp_path, predictions, labels, objects=names, groups=groups)
    assert len(page.encode()) < 2_000_000


def test_long_reports_show_progress_on_a_terminal(case, tmp_path, monkeypatch):
    monkeypatch.setattr(_parallel, "SECONDS_BEFORE_SHOWN", 0)
    for is_terminal in (True, False):
        watched = io.StringIO()
        watched.isatty = lambda value=is_terminal: value
        monkeypatch.setattr(sys, "stderr", watched)
        write_report(tmp_path / "a.html", *case)
        for name in ("counting labelsets", "regions, levels"):
            assert (name in watched.getvalue()) == is_terminal


def test_report_fetches_nothing(page):
    assert "://" not in page
    fetching = r"<(?:link|iframe|img|object|embed)\b|<script[^>]* src|@import|url\("
    assert re.findall(fetching, page) == []
    assert "default-src 'none'" in page


def test_names_of_objects_labels_and_titles_are_text(page):
    assert EVIL not in page
    assert LABELS[3] not in page
    for name in (EVIL, LABELS[1], LABELS[3]):
        assert escape(name) in page
    assert page.count("<script") == 3  # the data, the library, the page's own


def test_report_is_the_same_for_the_same_input(case, page, tmp_path):
    assert page_of(tmp_path, *case, **OPTIONS) == page


def test_licences_travel_with_the_library(page):
    for line in ("University of Washington", "Mike Bostock", "BSD-3-Clause", "ISC", "MIT"):
        assert line in page


def test_every_figure_has_words_and_a_table(page):
    described = r'<div class="figure" id="figure-(\w+)" role="img" aria-label="[^"]{20,}"'
    figures = re.findall(described, page)
    assert figures == ["calibration", "sizes", "confidence", "credibility", "groups"]
    assert [name for name in figures if f'<table id="table-{name}' not in page] == []


def sections_of(page):
    return " ".join(re.findall(r'<section id="(\w+)"', page))


def test_report_without_truth_leaves_out_what_needs_it(case, page, tmp_path):
    assert sections_of(page) == (
        "answer single calibration sizes plausibility labels groups accept hardest browser words"
    )
    page = page_of(tmp_path, case[0])
    assert sections_of(page) == "answer sizes plausibility labels accept hardest browser words"
    assert "true labels not known" in page
    assert "Not known: these objects come without their true labels" in page
    assert "accepted ones, the truth must be known" in page


def test_report_names_the_condition_of_folds(tmp_path):
    said = "exchangeable examples in folds that were not chosen by their labels, on average over"
    assert said in page_of(tmp_path, *cross_predictions())


def test_names_come_from_the_index_of_a_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    outputs, labels = draw(6)
    frame = pandas.DataFrame(outputs, index=[f"row {i}" for i in "abcdef"])
    predictions = calibrate_outputs(*draw(50, seed=1)).predict_labelsets(frame)
    groups = pandas.DataFrame({"site": list("xxyyzz")})
    page = page_of(tmp_path, predictions, labels, groups=groups)
    assert "row c" in page
    assert "by site" in page
    groups = pandas.DataFrame({"site": pandas.array([*"xxyyz", None], dtype="string")})
    with pytest.raises(ValueError, match="got <NA> for object 5"):
        write_report(tmp_path / "r.html", predictions, groups=groups)


def test_one_object_and_one_label_are_enough(tmp_path):
    page = page_of(tmp_path, *some_predictions(n_objects=1, n_labels=1))
    assert "1 object, 1 label," in page
    assert "the truth of several objects must be known" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [[0, 1]]}, "predictions must be LabelsetPredictions, got list"),
        ({"Y": np.zeros((19, 5))}, "predictions and Y must have the same number of rows"),
        ({"Y": np.full((20, 5), 2)}, "Y must hold only 0 and 1"),
        ({"Y": np.zeros((20, 4))}, "Y must have 5 columns"),
        ({"alone": np.full((20, 5), 2.0)}, "alone"),
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
def test_a_path_that_cannot_be_written_to_is_refused(case, tmp_path, name, message):
    with pytest.raises(ValueError, match=message):
        write_report(name if name == 3 else tmp_path / name, case[0])


def test_a_report_that_cannot_be_finished_leaves_the_old_one(case, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(path, case[0])
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def luminance(colour):
    """The relative luminance of a colour as WCAG 2 defines it."""
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_contrast_is_that_of_wcag_aa_in_light_and_dark():
    schemes = re.findall(r":root \{(.*?)\}", read_asset("report.css"), re.S)
    assert len(schemes) == 2
    texts = ("ink", "soft", "accent", "good", "warn", "bad")
    pairs = [(text, paper) for text in texts for paper in ("paper", "wash")]
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", scheme))
        for pair in [*pairs, ("on-accent", "accent")]:
            low, high = sorted(luminance(colours[name]) for name in pair)
            assert (high + 0.05) / (low + 0.05) >= 4.5, pair

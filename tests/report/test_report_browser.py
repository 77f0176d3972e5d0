"""A report in a real browser: it shows what Python computes at each level, and is usable."""

import re

import numpy as np
import pytest
from report_cases import (
    COARSE,
    EVIL,
    FINE,
    LABELS,
    cross_predictions,
    facts_of,
    names_of,
    some_predictions,
)
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from labelsure import calibrate_outputs
from labelsure.report import write_report

PHONE = {"viewport": {"width": 375, "height": 812}}
N_OBJECTS = 70
SITES = np.where(np.arange(N_OBJECTS) % 3 == 0, "north", "south")


@pytest.fixture(scope="module")
def case():
    return some_predictions(N_OBJECTS)


@pytest.fixture(scope="module")
def file(case, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    options = {"objects": names_of(N_OBJECTS), "groups": {"site": SITES}, "title": "Photographs"}
    return write_report(path, *case, **options)


@pytest.fixture
def page(open_page, file):
    return open_page(file)


def go_to(page, per_mille, levels=FINE):
    """Move the slider as a hand would: its value, and the event that tells so."""
    place = levels.index(per_mille)
    page.locator("#level").evaluate(
        "(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", place
    )


def said(page, what):
    return page.locator(f"[data-say={what}]").first.inner_text()


def rows(page, table):
    """Return the cells of a table's body, whole numbers as such."""
    cells = page.locator(f"#{table} tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    return [
        [int(c.replace(",", "")) if re.fullmatch(r"[\d,]+", c) else c for c in row] for row in cells
    ]


def percent(text):
    return float(text.removesuffix(" %"))


def test_predicted_labels_are_those_that_are_given(open_page, case, tmp_path):
    predictions, labels = case
    predicted, alone = 1 - labels, np.ones_like(labels)
    page = open_page(
        write_report(tmp_path / "r.html", predictions, labels, predicted=predicted, alone=alone)
    )
    assert [row[2] for row in rows(page, "table-labels")] == predicted.sum(axis=0).tolist()
    first = ", ".join(np.array(LABELS)[predicted[0] == 1]) or "no label"
    assert page.locator("#objects summary span").first.inner_text() == first
    shown = {row[0]: row[1:] for row in rows(page, "table-single")}
    single = {"learner alone": alone, "predicted labels": predicted}
    single["most plausible labelset"] = predictions.labelsets
    assert list(shown) == list(single)
    for name, answers in single.items():
        figures = [hamming_loss(labels, answers)]
        for average in ("micro", "macro"):
            figures.append(f1_score(labels, answers, average=average, zero_division=0))
        exact = f"{100 * accuracy_score(labels, answers):.1f} %"
        assert shown[name] == [exact, *(f"{figure:.4f}" for figure in figures)]
    page.locator("#show").select_option("wrong")
    assert page.locator("#found").inner_text() == f"{N_OBJECTS} of {N_OBJECTS} objects"


def test_page_follows_the_level(page, case, tmp_path):
    """The facts of each level, which test_report_counts compares with predictions and metrics."""
    facts = facts_of(tmp_path, *case, groups={"site": SITES})
    for per_mille in (500, 800, 901, 950, 990):
        go_to(page, per_mille)
        place = FINE.index(per_mille)
        assert page.locator("#level-shown").inner_text() == f"{per_mille / 10:g} %"
        words = facts.words[place]
        assert {what: said(page, what) for what in words if what != "status"} == {
            what: sentence for what, sentence in words.items() if what != "status"
        }
        assert words["status"] in page.locator("#verdict-card").get_attribute("class")
        counts = facts.sizeCounts[place]
        assert [row[1] for row in rows(page, "table-sizes")] == [counts[b] for b in facts.shownBins]
        bars = page.locator("#figure-sizes .layer_1_marks text").all_text_contents()
        assert [int(bar) for bar in bars] == [count for count in counts if count]
        totals = zip(LABELS, facts.labelTrue, facts.labelPredicted, strict=True)
        labels = [[*row, *of] for row, of in zip(totals, facts.labelCounts[place], strict=True)]
        assert rows(page, "table-labels") == labels
        for number, group in enumerate(facts.groups):
            counted = zip(
                group["names"], group["objects"][place], group["covered"][place], strict=True
            )
            shown = [row[:3] for row in rows(page, f"table-groups-{number}")]
            assert [[str(name), *of] for name, *of in shown] == [[*of] for of in counted if of[1]]


def check_object(item, i, region, labels, top, truth_p_values):
    """Compare what an opened object shows with its region."""
    for kind, members in (("sure", region.inner), ("possible", region.undecided)):
        names = [name for name, on in zip(LABELS, members[i], strict=True) if on]
        assert item.locator(f".chip.{kind}").all_inner_texts() == names
    assert item.locator(".chip.out").count() == (~region.outer[i] & (region.sizes[i] > 0)).sum()
    size = int(region.sizes[i])
    assert item.locator(".size").inner_text() == f"{size} labelset{'' if size == 1 else 's'}"
    is_in = "in the region." if region.contains(labels)[i] else "not in the region."
    said = f", p-value {truth_p_values[i]:.4f}; {is_in}"
    assert item.locator(".body").inner_text().count(said) == 1
    expected = []
    for rank in range(3):
        member = region.contains(top.labelsets[:, rank])[i]
        expected += [f"{top.p_values[i, rank]:.4f}", "yes" if member else "no"]
    assert item.locator("tbody tr td").all_inner_texts() == expected


def test_objects_show_their_regions(page, case):
    predictions, labels = case
    shown = labels, predictions.top(3), predictions.p_value(labels)
    for i in range(6):
        page.locator(f"details[data-object='{i}'] summary").click()
        page.locator(f"details[data-object='{i}'] .body").wait_for()
    for per_mille in (600, 950):
        go_to(page, per_mille)
        region = predictions.region(significance=(1000 - per_mille) / 1000)
        for i in range(6):
            check_object(page.locator(f"details[data-object='{i}']"), i, region, *shown)


def test_search_finds_names_and_labels(page, case):
    predictions, labels = case
    found = page.locator("#found")
    assert found.inner_text() == f"{N_OBJECTS} of {N_OBJECTS} objects"
    page.locator("#search").fill("PHOTO 01")
    assert found.inner_text() == f"10 of {N_OBJECTS} objects"
    names = [f"photo 01{i}" for i in range(10)]
    assert page.locator("#objects summary b").all_inner_texts() == names
    page.locator("#search").fill("nothing like this")
    assert found.inner_text() == f"0 of {N_OBJECTS} objects"
    page.locator("#search").fill("")
    page.locator("#label").select_option(label="city")
    go_to(page, 800)
    region = predictions.region(0.2)
    ruled_out = ~region.outer[:, 2] & (region.sizes > 0)
    expected = {"sure": region.inner[:, 2], "possible": region.undecided[:, 2], "out": ruled_out}
    expected |= {"true": labels[:, 2] == 1, "predicted": predictions.labelsets[:, 2] == 1}
    for state, members in expected.items():
        page.locator("#state").select_option(state)
        assert found.inner_text() == f"{members.sum()} of {N_OBJECTS} objects"
    page.locator("#label").select_option(label="any label")
    page.locator("#state").select_option("sure")
    n_sure = region.inner.any(axis=1).sum()
    assert 0 < n_sure < N_OBJECTS
    assert found.inner_text() == f"{n_sure} of {N_OBJECTS} objects"


def test_objects_can_be_chosen_and_put_in_order(page, case):
    predictions, labels = case
    go_to(page, 700)
    region, found = predictions.region(0.3), page.locator("#found")
    wrong = (predictions.labelsets != labels).any(axis=1)
    kinds = {"single": region.sizes == 1, "empty": region.sizes == 0}
    kinds |= {"missed": ~region.contains(labels), "wrong": wrong}
    for kind, members in kinds.items():
        page.locator("#show").select_option(kind)
        assert found.inner_text() == f"{members.sum()} of {N_OBJECTS} objects"
    page.locator("#show").select_option("all")
    names = names_of(N_OBJECTS)
    # p-values travel in units of 1 / 10 000, which is finer than they are: equal ones stay in the
    # order of the data
    orders = {"credibility": predictions.credibility, "truth": predictions.p_value(labels)}
    for word, numbers in orders.items():
        page.locator("#order").select_option(word)
        order = np.argsort(numbers, kind="stable")[:20]
        assert page.locator("#objects summary b").all_inner_texts() == [names[i] for i in order]


def test_buttons_show_the_objects_that_they_speak_of(page, case):
    page.locator("#search").fill("photo 01")
    go_to(page, 600)
    page.get_by_role("button", name="Show the objects with one labelset left").click()
    n_single = (case[0].region(0.4).sizes == 1).sum()
    assert n_single > 0
    assert page.locator("#found").inner_text() == f"{n_single} of {N_OBJECTS} objects"
    assert page.evaluate("document.activeElement.id") == "show"


def test_accepted_objects_shown_are_those_of_the_table(open_page, tmp_path):
    rng = np.random.default_rng(0)
    outputs = rng.choice([0.02, 0.98, 0.6], p=[0.4, 0.4, 0.2], size=(270, 2))
    labels = (rng.random(outputs.shape) < outputs).astype(int)
    predictions = calibrate_outputs(outputs[:150], labels[:150]).predict_labelsets(outputs[150:])
    page = open_page(write_report(tmp_path / "report.html", predictions, labels[150:]))
    counts = {row[0]: row[1] for row in rows(page, "table-accepted")}
    assert 0 < counts["20 %"] <= 60
    for level, n_accepted in counts.items():
        button = page.get_by_role("button", name=f"Show those at {level}", exact=True)
        assert button.count() == (n_accepted > 0)
        if n_accepted:
            button.click()
            assert page.locator("#found").inner_text() == f"{n_accepted} of 120 objects"


def test_pages_turn(page):
    assert page.locator("#page").inner_text() == "page 1 of 4"
    page.locator("#next").click()
    assert page.locator("#objects summary b").first.inner_text() == "photo 020"
    page.locator("#previous").click()
    assert page.locator("#previous").is_disabled()


def test_keyboard_is_enough(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#level").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#level-shown").inner_text() == "95.1 %"
    page.keyboard.press("Home")
    assert page.locator("#level-shown").inner_text() == "1 %"
    page.keyboard.press("End")
    assert page.locator("#level-shown").inner_text() == "99.9 %"
    assert page.locator("#level").get_attribute("aria-valuetext") == "99.9 %"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first of the usual levels
    assert page.locator("#level-shown").inner_text() == "80 %"
    style = "getComputedStyle(document.activeElement)"
    assert page.evaluate(f"[{style}.outlineStyle, {style}.outlineWidth]") == ["solid", "3px"]
    page.locator("#objects summary").first.focus()
    page.keyboard.press("Enter")
    page.locator("#objects details[open] .body").wait_for()


def test_labels_are_sorted_by_any_column(page):
    column = page.locator("#table-labels thead button", has_text="predicted")
    for order, reverse in (("descending", True), ("ascending", False)):
        column.press("Enter")
        assert page.locator("#table-labels th[aria-sort]").get_attribute("aria-sort") == order
        predicted = [row[2] for row in rows(page, "table-labels")]
        assert predicted == sorted(predicted, reverse=reverse)
    page.locator("#table-labels thead button", has_text="label").first.click()
    go_to(page, 700)
    assert [row[0] for row in rows(page, "table-labels")] == sorted(LABELS, key=str.lower)


def test_figures_are_drawn_and_follow_the_level(page):
    for name in ("calibration", "sizes", "confidence", "credibility", "groups"):
        assert page.locator(f"#figure-{name} svg").is_visible()
    dot = page.locator("#figure-calibration .mark-symbol path")
    before = dot.get_attribute("transform")
    go_to(page, 500)
    moved = "([d, old]) => d.getAttribute('transform') !== old"
    page.wait_for_function(moved, arg=[dot.element_handle(), before])
    page.locator("#grouping").select_option(label="label")
    five = "document.querySelectorAll('#figure-groups .mark-symbol path').length === 5"
    page.wait_for_function(five)


def test_axes_of_counts_have_whole_numbers(open_page, case, tmp_path):
    predictions, labels = case
    page = open_page(write_report(tmp_path / "r.html", predictions[:1], labels[:1]))
    for name in ("sizes", "confidence"):
        ticks = page.locator(f"#figure-{name} .role-axis-label text").all_text_contents()
        assert ticks[-3:] == ["0", "", "1"]


def test_figure_of_many_groups_shows_the_worst(open_page, case, tmp_path):
    predictions, labels = case
    missed_last = ~predictions.region(0.05).contains(labels)
    order = np.argsort(missed_last, kind="stable")
    wards = np.empty(N_OBJECTS, dtype=int)
    wards[order] = np.arange(N_OBJECTS) * 60 // N_OBJECTS
    page = open_page(write_report(tmp_path / "r.html", predictions, labels, groups={"ward": wards}))
    assert page.locator("#figure-groups .mark-symbol path").count() == 40
    assert page.locator("#groups-note").is_visible()
    missed = {row[0] for row in rows(page, "table-groups-0") if percent(row[5]) < 100}
    shown = page.locator("#figure-groups .role-axis-label text").all_text_contents()
    assert 0 < len(missed) < 20 < min(missed)
    assert {str(ward) for ward in missed} <= {*shown}
    page.locator("#grouping").select_option(label="label")
    assert not page.locator("#groups-note").is_visible()


def test_names_cannot_run(page):
    page.locator("#objects summary").first.click()
    go_to(page, 800)
    assert page.evaluate("window.pwned") is None
    assert page.locator("#objects summary b").first.inner_text() == EVIL
    assert page.locator("#label option").nth(4).inner_text() == LABELS[3]


def test_phone_needs_no_scrolling_sideways(open_page, file):
    page = open_page(file, **PHONE)
    page.locator("#objects summary").first.click()
    for details in page.locator("details.behind summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    inside = "e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= 375; }"
    assert page.locator("#level").evaluate(inside)
    assert page.locator(".presets").evaluate(inside)


def test_wide_tables_can_be_reached_by_keyboard_where_they_scroll(open_page, file):
    wide = open_page(file, viewport={"width": 1200, "height": 900})
    narrow = open_page(file, **PHONE)
    box = ".scroll:has(> #table-labels)"
    assert wide.locator(box).get_attribute("tabindex") is None
    assert narrow.locator(box).get_attribute("tabindex") == "0"


def test_report_prints(page):
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 2
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert page.locator("#figure-calibration svg").is_visible()
    assert page.locator("#grouping").is_visible()  # or nobody knows what the groups are
    assert page.locator("#page").is_visible()  # nor that there are more objects
    assert not page.locator("#next").is_visible()


def test_without_javascript_the_tables_are_there(open_page, file, case):
    predictions, labels = case
    page = open_page(file, wait="#words", java_script_enabled=False)
    assert page.locator("noscript p").first.is_visible()
    assert not page.locator("#controls").is_visible()
    contains = predictions.region(0.05).contains(labels)
    assert percent(said(page, "coverage")) == round(100 * contains.mean(), 1)
    assert page.locator("#table-labels tbody tr").count() == 5
    page.locator("#sizes details summary").click()
    assert page.locator("#table-sizes").is_visible()


def test_tables_are_the_same_before_and_after_the_script(open_page, file):
    still, moving = open_page(file, wait="#words", java_script_enabled=False), open_page(file)
    tables = ["table-sizes", "table-labels", *(f"table-groups-{g}" for g in range(4))]
    for table in tables:
        before, after = (page.locator(f"#{table} tbody").text_content() for page in (still, moving))
        assert before.replace("\n", "") == after


def test_dark_pages_are_dark(open_page, file):
    page = open_page(file, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 30)"


def test_report_without_truth_works(open_page, case, tmp_path):
    page = open_page(write_report(tmp_path / "new.html", case[0]))
    go_to(page, 900)
    assert page.locator("#calibration, #groups").count() == 0
    region = case[0].region(0.1)
    assert [row[2] for row in rows(page, "table-labels")] == region.inner.sum(axis=0).tolist()
    page.locator("#objects summary").first.click()
    page.locator("#objects .body").wait_for()
    assert "Truth" not in page.locator("#objects .body").inner_text()
    go_to(page, 10)
    page.locator("#show").select_option("empty")
    n_empty = (case[0].region(0.99).sizes == 0).sum()
    assert page.locator("#found").inner_text() == f"{n_empty} of {N_OBJECTS} objects"
    page.locator("#objects details:not([open]) summary").first.click()
    page.get_by_text("No labelset is left at this level").first.wait_for()


def test_old_browsers_are_told_so(open_page, file):
    page = open_page(
        file, wait="#trouble:not([hidden])", before="delete window.DecompressionStream"
    )
    assert "too old" in page.locator("#trouble").inner_text()
    assert not page.locator("#controls").is_visible()


def test_regions_made_anew_for_each_level_are_shown(open_page, tmp_path):
    predictions, labels = cross_predictions(n_objects=20)
    page = open_page(write_report(tmp_path / "exact.html", predictions, labels))
    for per_mille in COARSE:
        go_to(page, per_mille, COARSE)
        region = predictions.region(significance=(1000 - per_mille) / 1000)
        sizes = page.locator("#objects .size").all_inner_texts()
        assert [int(size.split()[-2]) for size in sizes] == region.sizes.tolist()
        page.locator("#show").select_option("missed")
        missed = int((~region.contains(labels)).sum())
        assert page.locator("#found").inner_text() == f"{missed} of 20 objects"
        page.locator("#show").select_option("all")
    words = page.locator("#words").inner_text()
    assert "a rule made for each level" in words
    assert "above 5 %" not in words


def test_many_labels_are_shown(open_page, tmp_path, monkeypatch):
    monkeypatch.setattr("labelsure.report._counts.MOST_P_VALUES", 2**24)
    predictions, labels = some_predictions(n_objects=4, n_labels=26, n_calibration=40)
    page = open_page(write_report(tmp_path / "many.html", predictions, labels))
    go_to(page, 800, COARSE)
    region = predictions.region(0.2)
    page.locator("#objects summary").first.click()
    page.locator("#objects .body").wait_for()
    assert page.locator("#objects .chip.possible").count() == region.undecided[0].sum()
    predicted = np.array(predictions.label_names)[predictions.labelsets[0] == 1]
    assert max(np.flatnonzero(predictions.labelsets[0])) > 16
    assert page.locator("#objects summary span").first.inner_text() == ", ".join(predicted)
    assert "upper bounds" in page.locator("#sizes").inner_text()

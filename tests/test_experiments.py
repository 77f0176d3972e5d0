"""The experiments: their plan is one that the command understands, and the page says what the results say."""

import math

import pytest
from experiments import __main__ as command
from experiments._default import find_worse
from experiments._findings import (
    LOG_LOSS,
    find_smallest,
    judge_auto,
    judge_default,
    judge_guarantees,
    judge_measures,
)
from experiments._page import FREQUENT, RATIOS, write_page
from experiments._plan import NEW_FEW_LABELS, NEW_MANY_LABELS, PLAN
from experiments._rows import LEVELS, best, best_rival, read_rows

from labelsure.cli import _main
from labelsure.datasets import available_datasets
from labelsure.measures import default_candidates, make_measure


def line(measure, sizes, *, learner="ml-rbf", guarantee="cross", errors=(5.0, 10.0, 20.0), dataset="scene", **changes):
    """Return a row of a results file, with figures at 95, 90 and 80 %, the same in resplits 0 and 1."""
    means = {
        "errors": dict(zip(LEVELS, errors, strict=True)),
        "sizes": dict(zip(LEVELS, sizes, strict=True)),
        "S": 3.0,
        "OF": 2.0,
        "subset_accuracy": 0.5,
        "seconds": {"fit": 1.0, "answer": 0.1},
    }
    sds = {"sizes": dict.fromkeys(LEVELS, 0.25)}
    row = {"dataset": dataset, "learner": learner, "measure": measure, "guarantee": guarantee}
    return {**row, "resplits": [0, 1], "means": means, "sds": sds, "refused": None, **changes}


BASELINE_LINE = line("frequency", (7.0, 6.0, 5.0), learner="none")


def document(*lines, dataset="scene", n_test=400, n_sized=None):
    about = {"n_objects": 900, "n_labels": 6, "n_train": 500, "n_test": n_test, "n_sized": n_sized or n_test}
    names = ("dataset", "learner", "measure", "guarantee")
    cells = [
        {name: row[name] for name in names} | {"resplit": resplit, "figures": row["means"]}
        for row in lines
        for resplit in row["resplits"]
    ]
    return {"settings": {"folds": 12}, "datasets": {dataset: about}, "rows": list(lines), "cells": cells}


def logarithmic(measure, sizes, *, open_by=0.0):
    """Return a row with medians of log2, the means of log2 one higher."""
    row = line(measure, sizes)
    del row["means"]["sizes"], row["means"]["S"], row["means"]["OF"]
    row["means"] |= {"log2_sizes": dict(zip(LEVELS, sizes, strict=True))}
    row["means"] |= {"log2_low": dict(zip(LEVELS, sizes, strict=True))}
    row["means"] |= {"log2_high": {level: size + open_by for level, size in zip(LEVELS, sizes, strict=True)}}
    row["means"] |= {"log2_mean": {level: size + 1 for level, size in zip(LEVELS, sizes, strict=True)}}
    return row


def by_resplit(measure, sizes, **names):
    """Return rows of a file and its cells: mean sizes at 90 % by number of the resplit."""
    row = line(measure, (9.0, sum(sizes.values()) / len(sizes), 1.0), **names) | {"resplits": sorted(sizes)}
    cells = [
        {key: row[key] for key in ("dataset", "learner", "measure", "guarantee")}
        | {"resplit": resplit, "figures": row["means"] | {"sizes": {"95": 9.0, "90": size, "80": 1.0}}}
        for resplit, size in sizes.items()
    ]
    return row, cells


def rows_of(*lines):
    whole = document(*(row for row, _ in lines))
    whole["datasets"] |= {row["dataset"]: whole["datasets"]["scene"] for row, _ in lines}
    return read_rows(whole | {"cells": [cell for _, cells in lines for cell in cells]})


def test_best_is_the_smallest_at_90_percent():
    rows = read_rows(document(line("power", (5.0, 3.0, 1.0)), line("signed", (6.0, 2.5, 2.0))))
    assert best(rows).measure == "signed"
    assert best([]) is None


def test_best_can_be_that_of_some_resplits():
    rows = rows_of(by_resplit("power", {0: 2.0, 1: 9.0}), by_resplit("signed", {0: 3.0, 1: 3.0, 2: 1.0}))
    assert [best(rows, resplits).measure for resplits in ([0], [1], [0, 1])] == ["power", "signed", "signed"]
    assert rows[0].size() == 5.5


def test_rivals_have_all_resplits_of_a_row():
    rows = rows_of(
        by_resplit("power", {0: 5.0, 1: 5.0}), by_resplit("forest", {0: 1.0}), by_resplit("prior", {0: 9.0, 1: 0.9})
    )
    assert [best_rival(row, rows).measure for row in rows] == ["prior", "forest", "prior"]
    assert best_rival(rows[0], rows[1:2]) is None


def test_sizes_of_many_labels_are_geometric_means():
    (row,) = read_rows(document(logarithmic("power", (9.0, 3.0, 1.0))))
    assert row.size() == 2.0**4
    assert row.sizes == (9.0, 3.0, 1.0)


def test_best_leaves_out_sizes_that_are_open():
    rows = read_rows(document(logarithmic("power", (9.0, 3.0, 1.0), open_by=20), logarithmic("signed", (9, 5, 1))))
    assert best(rows).measure == "signed"


def test_auto_is_compared_on_resplits_that_all_have():
    lines = [
        by_resplit("power", {0: 2.0, 1: 2.0, 2: 90.0}),
        by_resplit("signed", {0: 1.0, 1: 4.0, 2: 4.0}),
        by_resplit("auto", {0: 2.0, 1: 2.4}),
        by_resplit("prior", {0: 1.0, 2: 1.0}),
        by_resplit("forest", {0: 1.0, 1: 1.0}, learner="logistic"),
        by_resplit("forest", {0: 1.0, 1: 1.0}, guarantee="exact"),
    ]
    (found,) = judge_auto(rows_of(*lines))
    assert found.fixed.measure == "power"
    assert found.ratio == pytest.approx(2.2 / 2.0)


def test_measures_are_judged_by_ratios_to_the_best_of_each_learner_and_set():
    lines = [
        *(by_resplit("power", {0: 2.0}), by_resplit("prior", {0: 4.0}), by_resplit("auto", {0: 1.0})),
        *(by_resplit(name, {0: size}, learner="logistic") for name, size in (("power", 27.0), ("prior", 3.0))),
        *(by_resplit(name, {0: 5.0}, dataset="yeast") for name in ("power", "prior", "forest", "pairs")),
        by_resplit("pairs", {0: 3.0}, learner="logistic"),
    ]
    pairs, prior, power = judge_measures(rows_of(*lines))
    assert (prior.measure, power.measure) == ("prior", "power")
    assert pairs.ratios == {("scene", "logistic"): 1.0, ("yeast", "ml-rbf"): 1.0}  # forest is not on all data sets
    assert prior.ratios == {("scene", "ml-rbf"): 2.0, ("scene", "logistic"): 1.0, ("yeast", "ml-rbf"): 1.0}
    assert power.mean == pytest.approx(9 ** (1 / 3))
    assert power.worst == ("scene", "logistic")


def test_rows_that_were_refused_are_left_out():
    assert read_rows(document(line("max-norm", (1, 1, 1), resplits=[], refused="too many labels"))) == []


@pytest.mark.parametrize(("over", "valid"), [(-10.0, True), (0.0, True), (1.99, True), (2.01, False)])
def test_errors_may_be_two_binomial_deviations_above_nominal(over, valid):
    error = 100 * (0.1 + over * math.sqrt(0.1 * 0.9 / 400))
    (row,) = read_rows(document(line("power", (5, 3, 1), errors=(5.0, error, 20.0))))
    assert row.is_valid("90") == valid
    assert row.is_valid("95")


def test_smallest_regions_are_those_at_90_percent_of_the_measures_with_most_resplits():
    lines = [
        line("forest", (1.0, 1.0, 1.0), resplits=[0]),
        *(line("signed+hp", (3.2, 2.1, 1.4)), line("power", (3.1, 2.2, 1.3)), line("auto", (1.0, 0.5, 0.2))),
        line("forest", (2.0, 0.9, 1.1), learner="svm"),
    ]
    with_ml_rbf, of_all = find_smallest(read_rows(document(*lines)))
    assert (with_ml_rbf.row.measure, of_all.row.learner) == ("signed+hp", "svm")
    page = write_page({"scene": document(*lines)})
    assert "| scene | ML-RBF | ml-rbf, signed+hp | 2 | 3.20 / 2.10 / 1.40 | 5.0 / 10.0 / 20.0 |" in page
    assert "| scene | any learner | svm, forest | 2 | 2.00 / 0.90 / 1.10 | 5.0 / 10.0 / 20.0 |" in page


def test_guarantees_are_compared_on_resplits_that_both_have():
    lines = [
        *(by_resplit("power", {0: 2.0, 1: 4.0, 2: 90.0}), by_resplit("power", {0: 3.0, 1: 6.0}, guarantee="exact")),
        by_resplit("power", {7: 1.0}, guarantee="inductive"),
    ]
    (found,) = judge_guarantees(rows_of(*lines))
    assert found.row.guarantee == "exact"
    assert found.ratios == [1.0, 1.5, 1.0]


def test_page_shows_what_guarantees_cost():
    lines = [line("power", (5, 3, 1)), line("power", (10, 4.5, 2), guarantee="inductive")]
    page = write_page({"scene": document(*lines)})
    assert "| guarantee | scene, power |" in page
    assert "| inductive | 2.00 / 1.50 / 2.00 |" in page
    assert "those of the paper's p-value" not in page
    page = write_page({"scene": document(line("power", (5, 3, 1)), line("power", (9, 4.5, 2), guarantee="exact"))})
    assert '`guarantee="exact"` at 90 and 80 % are 1.50 to 2.00 times as large' in page


def test_log_loss_is_judged_by_the_variant_for_the_number_of_labels():
    few, many = [line(name, (9.0, 4.0, 2.0)) for name in LOG_LOSS.values()]
    for row, ratio in ((few, 1.0), (many, 2.0)):
        row["means"]["sizes"]["90"] = 4.0 * ratio
    found = {one.measure: one.mean for one in judge_measures(read_rows(document(few, many)))}
    assert found["log loss and frequencies"] == found[LOG_LOSS["few labels"]] == 1.0
    few, many = [logarithmic(name, (9.0, bits, 2.0)) for name, bits in zip(LOG_LOSS.values(), (4.0, 5.0), strict=True)]
    found = {one.measure: one.mean for one in judge_measures(read_rows(document(few, many)))}
    assert found["log loss and frequencies"] == found[LOG_LOSS["more than 20 labels"]] == 2.0


def test_page_shows_a_matrix_of_measures_and_learners():
    lines = [
        line("power", (5.14, 3.0, 1.63), errors=(5.0, 10.0, 25.0)),
        line("signed", (3.09, 2.1, 1.4)),
        line("signed-oof", (123.4, 50.0, 12.3), learner="ml-knn"),
    ]
    page = write_page({"scene": document(*lines)})
    assert "| measure | ml-rbf | ml-knn |" in page
    assert "| power | 5.14 / 3.00 / 1.63 |  |" in page
    assert "| signed | **3.09 / 2.10 / 1.40** | **123 / 50.0 / 12.3** |" in page
    assert "| power | 5.0 / 10.0 / 25.0* |  |" in page
    assert "1 of 9 errors are more than two binomial standard deviations above nominal." in page
    assert "- scene, ml-rbf, power, cross: 25.00 % at 80 %" in page
    assert "6 labels, 900 objects: 500 train, 400 test, 2 resplits, 12 folds." in page


def test_page_compares_auto_with_the_best_fixed_measure():
    lines = [line("power", (5.0, 3.0, 1.6)), line("signed", (3.0, 2.0, 1.4)), line("auto", (3.2, 2.1, 1.4))]
    page = write_page({"scene": document(*lines)})
    assert "| scene | ml-rbf | 2 | signed | 1.05 | 5.0 / 10.0 / 20.0 |" in page
    assert "are 1.05 to 1.05 times as large as those of the best of these, in 1 cases" in page


def test_page_compares_measures_over_sets_and_learners():
    lines = [line("power", (5.0, 3.0, 1.6)), line("prior", (3.0, 2.0, 1.4))]
    lines += [line("power", (5.0, 3.0, 1.6), learner="svm"), line("prior", (9.0, 6.0, 1.4), learner="svm")]
    page = write_page({"scene": document(*lines)})
    assert "| power | 2 | 1.22 | 1.50 | scene, ml-rbf |\n| prior | 2 | 1.41 | 2.00 | scene, svm |" in page
    assert "power is smallest on average and least bad where it is worst: 1.22 times" in page
    lines += [line("prior", (2.0, 1.0, 1.0), learner="logistic"), line("power", (2.0, 1.8, 1.0), learner="logistic")]
    lines += [line("prior", (2.0, 1.0, 1.0), learner="ml-knn"), line("power", (2.0, 1.9, 1.0), learner="ml-knn")]
    page = write_page({"scene": document(*lines)})
    assert "prior is smallest on average: 1.19 times" in page
    assert "power is least bad where it is worst: " in page


def test_default_is_judged_on_the_resplits_of_the_posterior():
    lines = [
        by_resplit("posterior", {0: 1.0, 1: 2.0}, learner="pool"),
        by_resplit("log-loss+prior", {0: 2.0, 1: 2.0, 2: 90.0}, learner="pool"),
        by_resplit("log-loss+prior", {0: 9.0, 1: 9.0}),
        by_resplit("posterior", {0: 1.0, 1: 2.0}, learner="pool", dataset="yeast"),
    ]
    (found,) = judge_default(rows_of(*lines))
    assert (found.posterior.dataset, found.ratios) == ("scene", [1.0, 0.75, 1.0])


def test_pool_is_no_learner_to_judge_measures_by():
    lines = [by_resplit("power", {0: 2.0}), by_resplit("power", {0: 9.0}, learner="pool")]
    (found,) = judge_measures(rows_of(*lines, by_resplit("posterior", {0: 1.0}, learner="pool")))
    assert found.ratios == {("scene", "ml-rbf"): 1.0}


def test_page_shows_the_pool_in_a_section_of_its_own_where_it_was_measured():
    posterior = line("posterior", (2.3, 1.6, 1.1), learner="pool")
    log_loss = line("log-loss+prior", (4.6, 2.0, 1.1), learner="pool")
    others = {"scene": document(line("power", (5, 3, 1)), BASELINE_LINE)}
    page = write_page({"pool-scene": document(posterior, log_loss, BASELINE_LINE), **others})
    assert page.count("## The recommended pool") == 1
    assert "## pool-scene" not in page
    assert page.count(f"| scene | {FREQUENT} | 2 | 7.00 / 6.00 / 5.00 | 5.0 / 10.0 / 20.0 | 0.500 |") == 1
    assert "| scene | `table_pool()`, posterior | 2 | 2.30 / 1.60 / 1.10 | 5.0 / 10.0 / 20.0 | 0.500 |" in page
    assert "- scene: 0.50 / 0.80 / 1.00, on 2 resplits" in page
    assert "| scene | any learner | pool, posterior | 2 |" in page
    assert "## The recommended pool" not in write_page(others)
    assert RATIOS not in write_page({"pool-scene": document(posterior)})


def test_baseline_is_in_every_table_of_sizes_and_no_measure_to_rank():
    lines = [
        line("power", (9, 8, 7)),
        line("power", (9, 8, 8), learner="svm"),
        line("power", (9, 9, 9), guarantee="exact"),
    ]
    page = write_page({"scene": document(*lines, BASELINE_LINE, BASELINE_LINE | {"guarantee": "exact"})})
    sizes, errors = "7.00 / 6.00 / 5.00", "5.0 / 10.0 / 20.0"
    for row in (
        f"| scene | no learner | {FREQUENT} | 2 | {sizes} | {errors} |",
        f"| scene | frequency | 6.80 / 5.90 / 5.30 | {sizes} | 0.25 / 0.25 / 0.25 |",
        f"| {FREQUENT} | {sizes} | {sizes} |",
        f"| {FREQUENT} | {errors} | {errors} |",
        f"| none | frequency | {sizes} | {errors} | 3.00 | 2.00 | 0.500 | 1.00 | 0.10 |",
        f"| none | exact | 2 | {sizes} | {errors} |",
    ):
        assert page.count(row) == 1, row
    assert "| scene | any learner | ml-rbf, power | 2 |" in page
    assert "| frequency | 1 |" not in page
    assert "Guarantees, frequency" not in page


def new_lines(*, labels=(1.3, 1.4, 1.5), accuracy=0.5, macro_f=0.4):
    """Return what a run of the default measure has, with one learner."""
    ours, learner, truth = labels
    alone = {"subset_accuracy": 0.5, "macro_f": 0.4, "n_labels": learner, "n_true_labels": truth}
    lines = [
        *(line("posterior", (5, 3, 1)), line("log-loss+prior", (5, 4, 1)), line("auto", (5, 2.1, 1))),
        *(line("small-posterior-forest", (5, 2, 1)), line("frequency", (7, 6, 5), learner="none")),
    ]
    for one in lines:
        judged = {"subset_accuracy": accuracy, "macro_f": macro_f, "n_labels": ours, "n_true_labels": truth}
        one["means"] |= judged | {"learner": alone}
    return lines


def test_page_shows_the_default_measure_in_a_section_of_its_own():
    older = document(line("power", (5, 3, 1)), line("auto", (5, 9, 1)))
    page = write_page({"scene": older, "new-scene": document(*new_lines())})
    assert "## new-scene" not in page
    sizes = "5.00 / 3.00 / 1.00 | 5.00 / 4.00 / 1.00 | 7.00 / 6.00 / 5.00"
    assert f"| scene | ml-rbf | 2 | {sizes} | 0.75 | 5.0 / 10.0 / 20.0 | 5.0 / 10.0 / 20.0 |" in page
    assert "over 1 pairs of data set and learner is 0.75, at most 0.75 (scene, ml-rbf)." in page
    assert "- ml-rbf: 0.75, at most 0.75 (scene, ml-rbf)" in page
    assert "| scene | ml-rbf | 2 | small-posterior-forest | 1.05 | 5.0 / 10.0 / 20.0 |" in page
    assert "| scene | ml-rbf | 2 | power | 3.00 | 5.0 / 10.0 / 20.0 |" in page  # auto as it was
    assert "| scene | ml-rbf | 0.500 | 0.500 | 0.400 | 0.400 | 1.30 / 1.40 / 1.50 | - |" in page
    assert "`predict` is worse than the learner in 0 of 1 cases." in page
    assert "## The default measure" not in write_page({"scene": older})


@pytest.mark.parametrize(
    ("changes", "worse"),
    [
        ({}, []),
        ({"accuracy": 0.491, "macro_f": 0.391}, []),
        ({"accuracy": 0.489}, ["subset accuracy"]),
        ({"macro_f": 0.389}, ["macro F"]),
        ({"labels": (0.8, 0.9, 1.0)}, ["number of labels"]),
        ({"labels": (0.8, 0.84, 1.0)}, []),
        ({"labels": (1.2, 1.1, 1.0)}, ["number of labels"]),
    ],
)
def test_predict_may_be_a_little_worse_than_the_learner(changes, worse):
    row, *_ = read_rows(document(*new_lines(**changes)))
    assert find_worse(row) == worse


def test_default_is_compared_with_log_loss_of_the_number_of_labels():
    rows = read_rows(document(*(logarithmic(name, (9, bits, 1)) for name, bits in (
        ("posterior", 3), ("log-loss+prior", 9), ("log-loss+unseen:3", 4)))))  # fmt: skip
    assert [one.ratio for one in judge_default(rows)] == [0.5]


def test_page_says_how_many_objects_were_sized():
    page = write_page({"scene": document(line("power", (5, 3, 1)), n_sized=100)})
    assert "500 train, 400 test (regions sized for 100), 2 resplits, 12 folds." in page
    assert "## What was run\n\nML-RBF has the most resplits" in page


def test_page_shows_guarantees_apart():
    lines = [line("power", (5, 3, 1)), line("power", (7, 4, 2), guarantee="inductive")]
    page = write_page({"scene": document(*lines)})
    assert "Guarantees, power:" in page
    assert "| ml-rbf | inductive | 2 | 7.00 / 4.00 / 2.00 | 5.0 / 10.0 / 20.0 |" in page


def test_page_marks_sizes_that_are_open():
    page = write_page({"scene": document(logarithmic("power", (20.0, 15.0, 9.0), open_by=0.6))})
    assert "~20.0 / ~15.0 / ~9.00" in page


@pytest.mark.parametrize("name", PLAN)
def test_plan_is_understood_by_the_command(name):
    for run in PLAN[name]:
        options = _main._parser().parse_args(["compare", *run.words()])
        assert options.datasets == [run.dataset]
        assert (options.resplits, options.folds) == (run.resplits, run.folds)
        assert (options.train, options.objects) == (run.train, run.objects)
        assert options.measures == list(run.measures)


def test_runs_of_one_file_can_be_kept_together():
    for runs in PLAN.values():
        assert len({(run.dataset, run.folds, run.train, run.objects) for run in runs}) == 1


def test_plan_has_the_measures_that_auto_chooses_from():
    for n_labels, names in ((6, NEW_FEW_LABELS), (45, NEW_MANY_LABELS)):
        candidates = {repr(one) for one in default_candidates(n_labels)}
        assert candidates == {repr(make_measure(name)) for name in names if name not in (*LOG_LOSS.values(), "auto")}
        assert set(LOG_LOSS.values()) & set(names) == {names[0]}


def test_plan_runs_the_default_measure_on_the_seven_sets_with_three_learners():
    runs = {name.removeprefix("new-"): runs for name, runs in PLAN.items() if name.startswith("new-")}
    assert runs.keys() == set(available_datasets())
    for name, (run,) in runs.items():
        assert (run.dataset, len(set(run.learners))) == (name, 3)


def test_plan_covers_the_seven_sets_and_five_learners():
    learners = {"ml-rbf", "ml-knn", "logistic", "random-forest", "gradient-boosting"}
    covered = {(run.dataset, learner) for runs in PLAN.values() for run in runs for learner in run.learners}
    assert covered >= {(name, learner) for name in available_datasets() for learner in learners}


def test_runs_stop_at_the_first_failure(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(command, "labelsure", lambda words: seen.append(words) or 130)
    monkeypatch.setattr(command, "HERE", tmp_path)
    assert command.run("yeast") == 130
    assert seen == [["compare", *PLAN["yeast"][0].words(), "--json", str(tmp_path / "results" / "yeast.json")]]


def test_page_is_that_of_the_kept_results():
    if not command.PAGE.exists():
        pytest.skip("there are no results yet")
    assert command.PAGE.read_text(encoding="utf-8") == command.page(), "run python -m experiments --write-docs"


def test_page_says_what_is_still_to_be_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "HERE", tmp_path)
    planned = {cell for run in PLAN["enron"] for cell in run.cells()}
    assert command.missing("enron", None) == planned
    kept = [dict(zip(("learner", "measure", "guarantee", "resplit"), cell, strict=True)) for cell in planned]
    assert command.missing("enron", {"cells": kept[1:]}) == {tuple(kept[0].values())}
    n_cells = sum(len(set().union(*(run.cells() for run in runs))) for runs in PLAN.values())
    assert f"Unfinished: {n_cells} cells" in command.page()
    assert "Unfinished" not in write_page({"scene": document(line("power", (5, 3, 1)))})

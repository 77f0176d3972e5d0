"""``labelsure compare`` end to end on tiny data: the same numbers as the public API, resumed, in parallel."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from tiny_data import write_tiny

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, calibrate_outputs, conformal
from labelsure._core.randomness import set_missing_seeds
from labelsure.cli import _compare_runs, main
from labelsure.cli._arguments import BASELINE, GUARANTEES, LEARNERS
from labelsure.cli._compare import ADDED, FIRST
from labelsure.cli._compare_cells import _logarithms, judge
from labelsure.cli._compare_data import PooledData, Resplit
from labelsure.cli._compare_models import predict_alone
from labelsure.cli._compare_results import Results, Row, read_results
from labelsure.cli._learners import make_learner
from labelsure.datasets import load_dataset
from labelsure.labelsets import RegionSize
from labelsure.measures import default_candidates, make_measure
from labelsure.metrics import error_rate, f1_macro, mean_region_size, subset_accuracy


def compare(folder, *words, json_file="out.json"):
    """Run the command in this process and return what it wrote, by row and resplit, but for seconds and baseline."""
    path = folder / json_file
    assert main(["compare", *words, "--jobs", "1", "--json", str(path)]) == 0
    return {(row, number): figures for (row, number), figures in figures_in(path).items() if row[1:3] != BASELINE}


def figures_in(path):
    cells = read_results(path).cells
    return {key: {k: v for k, v in cell["figures"].items() if k != "seconds"} for key, cell in cells.items()}


def direct(folder, row, number, *, n_folds, levels=("80", "90", "95"), n_sized=None):
    """Return the figures of one cell, computed with the public API alone."""
    data = load_dataset(row.dataset, data_home=folder)
    order = np.random.default_rng(number).permutation(len(data.Y))
    train, test = order[: data.n_train], order[data.n_train :]
    learner, settings = (
        make_learner(row.learner, data.X),
        {"measure": make_measure(row.measure), "random_state": number},
    )
    if row.guarantee == "inductive":
        model = InductiveConformalClassifier(learner, **settings)
    else:
        model = CrossConformalClassifier(learner, cv=n_folds, guarantee=row.guarantee, **settings)
    predictions = model.fit(data.X[train], data.Y[train]).predict_labelsets(data.X[test])
    regions = {level: predictions.region(1 - float(level) / 100) for level in levels}
    figures = {
        "errors": {level: 100 * error_rate(region.contains(data.Y[test])) for level, region in regions.items()},
        "sizes": {level: mean_region_size(region.sizes[:n_sized]) for level, region in regions.items()},
        "empty": {level: 100 * float(np.mean(region.sizes[:n_sized] == 0)) for level, region in regions.items()},
        **of_labelsets(model.predict(data.X[test]), data.Y[test]),
        "learner": of_labelsets(
            set_missing_seeds(clone(learner), number).fit(data.X[train], data.Y[train]).predict(data.X[test]),
            data.Y[test],
        ),
    }
    if not row.guarantee.startswith("exact"):
        table = predictions.p_values()
        sums = table.sum(axis=1)
        false = sums - predictions.p_value(data.Y[test])
        figures |= {"S": sums[:n_sized].mean(), "OF": false[:n_sized].mean()}
    return figures


def of_labelsets(predicted, Y):
    return {
        "subset_accuracy": subset_accuracy(Y, predicted),
        "macro_f": f1_macro(Y, predicted),
        "n_labels": predicted.sum() / len(Y),
        "n_true_labels": Y.sum() / len(Y),
    }


def approximately(figures):
    return {key: pytest.approx(value, rel=1e-12) for key, value in figures.items()}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A folder with a set of 53 training and 27 test objects: 53 is no multiple of the number of folds."""
    write_tiny(tmp_path, split=53)
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_guarantees_give_the_figures_of_the_public_api(tiny, guarantee):
    words = ["tiny", "--learners", "ml-rbf", "--measures", "power", "--guarantees", guarantee]
    found = compare(tiny, *words, "--folds", "4", "--resplits", "2")
    assert list(found) == [(Row("tiny", "ml-rbf", "power", guarantee), number) for number in (0, 1)]
    for (row, number), figures in found.items():
        assert figures == approximately(direct(tiny, row, number, n_folds=4))


def test_measures_give_the_figures_of_the_public_api(tiny):
    measures = [*(name for name in FIRST if name != "frequency"), "power+pairs", "log-loss+unseen:1", "signed+hp"]
    words = ["tiny", "--learners", "ml-knn", "--measures", *measures, "--guarantees", "cross", "inductive"]
    found = compare(tiny, *words, "--folds", "3", "--resplits", "1")
    assert len(found) == 2 * len(measures)
    for (row, number), figures in found.items():
        assert figures == approximately(direct(tiny, row, number, n_folds=3)), row
    chosen = {
        row: cell["chosen"] for (row, _), cell in read_results(tiny / "out.json").cells.items() if "chosen" in cell
    }
    assert {(row.measure, row.guarantee): sum(counts.values()) for row, counts in chosen.items()} == {
        ("auto", "cross"): 3,
        ("auto", "inductive"): 1,
    }
    assert set().union(*chosen.values()) <= {repr(candidate) for candidate in default_candidates(3)}


def test_other_levels_and_sizes_are_kept_with_the_results(tiny):
    words = ["tiny", "--measures", "power", "--confidence", "99.5", "70", "--train", "30"]
    ((row, _), figures), *_ = compare(tiny, *words, "--folds", "2", "--resplits", "1").items()
    assert list(figures["errors"]) == list(figures["sizes"]) == ["99.5", "70"]
    assert row == ("tiny", "ml-rbf", "power", "cross")
    kept = json.loads((tiny / "out.json").read_text())
    assert (kept["datasets"]["tiny"]["n_train"], kept["datasets"]["tiny"]["n_test"]) == (30, 27)
    assert kept["settings"] == {"folds": 2, "confidence": ["99.5", "70"]}
    assert kept["learners"]["tiny"]["ml-rbf"].startswith("Pipeline(steps=[('minmaxscaler'")


def test_objects_limit_what_is_sized_and_nothing_else(tiny):
    words = ["tiny", "--learners", "ml-knn", "--measures", "power", "--folds", "3", "--resplits", "1"]
    ((row, number), all_sized), *_ = compare(tiny, *words, json_file="all.json").items()
    (some_sized,) = compare(tiny, *words, "--objects", "9").values()
    for name in ("errors", "subset_accuracy"):
        assert some_sized[name] == all_sized[name]
    nine = direct(tiny, row, number, n_folds=3, n_sized=9)
    for name in ("sizes", "S", "OF", "empty"):
        assert some_sized[name] == pytest.approx(nine[name], rel=1e-12)
        assert name == "empty" or some_sized[name] != all_sized[name]
    assert json.loads((tiny / "out.json").read_text())["datasets"]["tiny"]["n_sized"] == 9


def test_many_labels_are_judged_by_the_median_logarithm(tmp_path, capsys):
    write_tiny(tmp_path, "wide", n_labels=21, n_objects=60)
    words = [str(tmp_path / "wide.arff"), "--learners", "ml-knn", "--measures", "power", "--folds", "2"]
    (figures,) = compare(tmp_path, *words, "--resplits", "1", "--confidence", "50").values()
    assert {name for name in figures if name.startswith("log2")} == {
        "log2_sizes", "log2_mean", "log2_low", "log2_high"
    }  # fmt: skip
    assert not {"sizes", "S", "OF"} & set(figures)
    data = load_dataset("wide", data_home=tmp_path)
    order = np.random.default_rng(0).permutation(60)
    model = CrossConformalClassifier(
        make_learner("ml-knn", data.X), measure=make_measure("power"), cv=2, random_state=0
    )
    region = model.fit(data.X[order[:40]], data.Y[order[:40]]).predict_labelsets(data.X[order[40:]]).region(0.5)
    sizes = [max(int(size), 1) for size in region.sizes]
    assert figures["log2_sizes"]["50"] == pytest.approx(np.median(np.log2(sizes)))
    assert figures["log2_mean"]["50"] == pytest.approx(np.mean(np.log2(sizes)))
    assert "log2 N 50 %" in capsys.readouterr().out


def test_judging_counts_an_empty_region_as_one_labelset():
    Y = np.random.default_rng(0).integers(0, 2, (30, 21))
    predictions = calibrate_outputs(Y, Y).predict_labelsets(np.full((3, 21), 0.5))  # stranger than all examples
    figures = judge(predictions, np.ones((3, 21), dtype=np.int8), ["50"], n_sized=3, p_values=True)
    assert figures["empty"] == {"50": 100.0}
    assert figures["log2_sizes"] == {"50": 0.0}
    assert figures["errors"] == {"50": 100.0}


@pytest.mark.parametrize("asked", [["--measures", "power"], ["--measures", "frequency", "power"]])
def test_baseline_is_in_every_table_once_whatever_the_learners(tiny, capsys, asked):
    words = ["tiny", "--learners", "ml-knn", "logistic", *asked, "--guarantees", "cross", "inductive"]
    compare(tiny, *words, "--folds", "4", "--resplits", "2")
    found = {key: figures for key, figures in figures_in(tiny / "out.json").items() if key[0].measure == "frequency"}
    assert set(found) == {
        (Row("tiny", *BASELINE, guarantee), number) for guarantee in ("cross", "inductive") for number in (0, 1)
    }
    for (row, number), figures in found.items():
        assert figures == approximately(direct(tiny, row, number, n_folds=4))
    assert len(re.findall(r"^\| none +\| frequency", capsys.readouterr().out, re.M)) == 2


def test_baseline_does_not_look_at_outputs(tiny):
    row = Row("tiny", "ml-knn", "frequency", "cross")
    baseline, other = (direct(tiny, one, 0, n_folds=4) for one in (row._replace(learner="none"), row))
    assert {**baseline, "learner": None} == {**other, "learner": None}


def test_learner_alone_is_right_about_labels_that_are_constant_in_training():
    X, Y = np.array([[-9.0], [9.0]] * 10), np.array([[1, 0, 0], [1, 1, 0]] * 10, dtype=np.int8)
    resplit = Resplit(X, Y, X[:5], Y[:5])
    assert predict_alone(MultiOutputClassifier(LogisticRegression()), resplit).tolist() == Y[:5].tolist()
    assert (
        predict_alone(MultiOutputClassifier(LogisticRegression()), Resplit(X, Y[:, ::2], X[:5], Y[:5, ::2])).tolist()
        == [[1, 0]] * 5
    )


def counted(size):
    return RegionSize(size, size, size, coverage_level=1.0, at_least=size, at_most=size)


def test_logarithms_of_estimates_come_with_their_interval():
    estimate = RegionSize(value=2**20, low=2**18, high=2**25, coverage_level=0.99, at_least=4, at_most=2**30)
    assert _logarithms([counted(1), estimate, counted(2**30)]) == {
        "log2_sizes": 20.0,
        "log2_low": 18.0,
        "log2_high": 25.0,
        "log2_mean": pytest.approx((0 + 20 + 30) / 3),
        "estimated": pytest.approx(100 / 3),
    }
    assert _logarithms([counted(0), counted(1), counted(2**2000)])["log2_sizes"] == 0.0
    assert _logarithms([counted(8), counted(2**2000)])["log2_high"] == (3 + 2000) / 2


def test_a_measure_that_cannot_be_used_is_reported_and_the_others_go_on(tmp_path, capsys):
    write_tiny(tmp_path, "wide", n_labels=13, n_objects=60)
    out = tmp_path / "out.json"
    words = [str(tmp_path / "wide.arff"), "--learners", "ml-knn", "--measures", "max-norm+hp", "power", "--folds", "2"]
    assert main(["compare", *words, "--resplits", "1", "--jobs", "1", "--json", str(out)]) == 0
    by_measure = {row.measure: cell for (row, _), cell in read_results(out).cells.items()}
    assert "12 labels" in by_measure["max-norm+hp"]["refused"]
    assert "figures" in by_measure["power"]
    assert "ml-knn, max-norm+hp, cross: not measured." in capsys.readouterr().out


WORDS = [
    *("tiny", "--learners", "ml-knn", "logistic", "--measures", "power", "signed-oof", "--folds", "3"),
    *("--guarantees", "cross", "exact", "inductive", "--resplits", "1"),
]
N_CELLS = (2 * 2 + 1) * 3


def test_an_interrupted_run_is_gone_on_with(tiny, monkeypatch):
    compare(tiny, *WORDS, json_file="whole.json")
    whole = figures_in(tiny / "whole.json")
    assert len(whole) == N_CELLS
    measured = []
    add = Results.add

    def add_and_stop(self, row, number, cell):
        add(self, row, number, cell)
        measured.append((row, number))
        if len(measured) in (1, 5, 10):
            raise KeyboardInterrupt

    monkeypatch.setattr(Results, "add", add_and_stop)
    out = tiny / "out.json"
    codes = []
    for n_kept in (1, 5, 10, N_CELLS):
        codes.append(main(["compare", *WORDS, "--jobs", "1", "--json", str(out)]))
        assert len(figures_in(out)) == n_kept
    assert codes == [130, 130, 130, 0]
    assert len(measured) == len(set(measured)) == N_CELLS
    assert figures_in(out) == whole
    assert not list(tiny.glob(".*"))


def test_a_finished_run_fits_nothing_again(tiny, monkeypatch, capsys):
    first = compare(tiny, *WORDS)
    before = (tiny / "out.json").read_bytes()
    printed = capsys.readouterr().out

    def fail(*arguments, **options):
        raise AssertionError("fitted again")

    monkeypatch.setattr(_compare_runs, "learn", fail)
    assert compare(tiny, *WORDS) == first
    assert (tiny / "out.json").read_bytes() == before
    assert capsys.readouterr().out == printed


def test_a_learner_is_called_the_same_in_every_process():
    data = PooledData("tiny", sparse.csr_matrix(np.eye(3)), np.eye(3, dtype=np.int8), 2, 1, 1)
    terms = _compare_runs.Plan([data], list(LEARNERS), ["power"], ["cross"], ["90"], 1, 2).terms()
    assert "_to_dense" in terms["learners"]["tiny"]["gradient-boosting"]
    assert "0x" not in json.dumps(terms["learners"])  # the address of a function


def test_more_of_everything_is_added_to_what_there_is(tiny):
    shared = ["--folds", "3", "--learners", "ml-knn"]
    compare(tiny, "tiny", *shared, "--measures", "power", "--resplits", "1")
    before = read_results(tiny / "out.json").cells
    found = compare(tiny, "tiny", *shared, "--measures", "log-loss", "power", "--resplits", "2")
    assert len(found) == 4
    key = next(iter(before))
    assert read_results(tiny / "out.json").cells[key] == before[key]  # seconds too


def test_models_are_fitted_once_for_all_measures_and_guarantees(tiny, monkeypatch):
    fits = []
    fit = conformal.fit_models

    def record(learner, X, Y, splits, **options):
        fits.extend(len(split.train) for split in splits if not isinstance(learner, DummyClassifier))
        return fit(learner, X, Y, splits, **options)

    monkeypatch.setattr(conformal, "fit_models", record)
    words = ["--learners", "ml-knn", "--measures", "power", "log-loss", "signed", "--folds", "4", "--resplits", "1"]
    compare(tiny, "tiny", *words, "--guarantees", "cross", "exact", "inductive")
    # 4 folds of 53 examples, and 70 % for the inductive predictor
    assert sorted(fits) == [37, 39, 40, 40, 40]


def test_json_markdown_and_screen_agree(tiny, capsys):
    table = tiny / "out.md"
    compare(tiny, *WORDS, "--resplits", "2", "--markdown", str(table))
    printed = capsys.readouterr().out
    assert printed == table.read_text()
    rows = {tuple(row[name] for name in ("learner", "measure", "guarantee")): row for row in kept_rows(tiny)}
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line[:1] == "|"]
    head, _, *body = lines
    assert {tuple(line[:3]) for line in body} == set(rows)
    for line in body:
        shown = dict(zip(head, line, strict=True))
        row = rows[tuple(line[:3])]
        for level in ("80", "90", "95"):
            assert (
                shown[f"error {level} %"] == f"{row['means']['errors'][level]:.2f} ({row['sds']['errors'][level]:.2f})"
            )
            assert numbers(shown[f"N {level} %"]) == pytest.approx(
                [row["means"]["sizes"][level], row["sds"]["sizes"][level]], abs=0.05
            )
        assert numbers(shown["acc."])[0] == pytest.approx(row["means"]["subset_accuracy"], abs=0.0005)


def kept_rows(folder):
    return json.loads((folder / "out.json").read_text())["rows"]


def numbers(text):
    return [float(number) for number in re.findall(r"[\d.]+", text)]


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (["tiny", "--learners", "tree"], ["the learners are ml-rbf", "gradient-boosting", "got 'tree'"]),
        (["tiny", "--measures", "entropy"], ["The measures are power", "log-loss", "got 'entropy'"]),
        (["tiny", "--measures", "power+x"], ["can be added to a measure are pairs", "got 'x' in 'power+x'"]),
        (["tiny", "--guarantees", "full"], ["the guarantees are cross", "inductive", "got 'full'"]),
        (["tiny", "--confidence", "105"], ["confidence in percent between 0 and 100", "'105'"]),
        (["tiny", "--resplits", "0"], ["expected at least 1"]),
        (["tiny", "--train-share", "0"], ["between 0 and 100"]),
        (["tiny", "--json", "no/such/folder/x.json"], ["there is no folder"]),
        ([], ["required: dataset"]),
    ],
)
def test_wrong_words_exit_with_2_and_list_the_choices(capsys, words, messages):
    with pytest.raises(SystemExit) as exit_:
        main(["compare", *words])
    assert exit_.value.code == 2
    errors = capsys.readouterr().err
    assert [message for message in messages if message not in errors] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none"], "'none' is not a data set labelsure knows"),
        (
            ["tiny", "--folds", "54"],
            "--folds must lie between 2 and the number of training objects, 53 of tiny, got 54",
        ),
        (["tiny", "--folds", "1"], "--folds must lie between 2"),
        (["tiny", "tiny-train.arff"], "the data sets must have different names, got tiny twice"),
    ],
)
def test_what_cannot_be_done_exits_with_1_and_says_why(tiny, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tiny)
    assert main(["compare", *words]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_a_file_with_other_settings_is_refused(tiny, capsys):
    words = ["tiny", "--learners", "ml-knn", "--measures", "power", "--resplits", "1"]
    compare(tiny, *words, "--folds", "3")
    before = (tiny / "out.json").read_bytes()
    assert main(["compare", *words, "--folds", "4", "--json", str(tiny / "out.json")]) == 1
    assert "another settings folds: 3 there, 4 in this run" in capsys.readouterr().err
    assert (tiny / "out.json").read_bytes() == before


def test_help_lists_the_words(run):
    shown = re.sub(r"-\n\s*", "-", run("compare", "--help").stdout)  # words may be cut at a hyphen
    for word in (*FIRST, *ADDED, *GUARANTEES, "gradient-boosting", "unseen", "--objects", "--json", "power:2+pairs"):
        assert word in shown

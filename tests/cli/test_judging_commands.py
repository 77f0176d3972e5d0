"""The commands that judge, explain and show: evaluate, explain, report, check, datasets."""

import csv
import json
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import LABELS_OPTION, call
from made_up_tables import LABELS, make_tickets, read_csv, write_csv
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from labelsure import metrics
from labelsure.datasets import TableSchema, infer_schema, load_dataset, open_table
from labelsure.model_file import open_model, save_model

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")

EVALUATE = "evaluate m.labelsure test.csv --json e.json"


@pytest.fixture
def answered(here):
    """The model's predictions for the test table, and its labels."""
    opened = open_model(here / "m.labelsure")
    schema = TableSchema.from_json(opened.table)
    rows = open_table(here / "test.csv", schema, labels=True).read()
    return opened.model.predict_labelsets(rows.X), rows.Y


@pytest.fixture
def evaluate(capsys):
    """Run evaluate; return what it printed and wrote."""

    def run(options=""):
        assert call(f"{EVALUATE} {options}") == 0
        return capsys.readouterr().out, json.loads(Path("e.json").read_text("utf-8"))

    return run


def test_evaluate_says_what_the_metrics_say(answered, evaluate):
    predictions, Y = answered
    printed, written = evaluate("--confidence 80 90")
    region, level = predictions.region(0.1), written["levels"]["90"]
    assert list(written["levels"]) == ["80", "90"]
    assert level["coverage"] == 1 - metrics.error_rate(region.contains(Y))
    assert level["low"] < level["coverage"] < level["high"]
    assert level["mean_size"] == pytest.approx(region.sizes.mean())
    assert level["empty"] == np.mean(region.sizes == 0)
    for name in ("confidence", "credibility"):
        assert written[name] == pytest.approx(getattr(predictions, name).mean())
    rows = {row["label"]: row for row in written["labels"]}
    assert [rows[name]["objects"] for name in LABELS] == Y.sum(axis=0).tolist()
    assert rows["bug"]["sure_wrong"] == np.sum(region.inner[:, 0] & (Y[:, 0] == 0))
    assert f"{100 * level['coverage']:.1f} %" in printed
    assert "Labels as predicted, and sure and ruled out at 90 %" in printed


def test_evaluate_shows_the_learner_alone_beside_answers_for_each_metric(torn, evaluate):
    printed, written = evaluate()
    fitted = [model.estimator.predict_proba(torn.X) for model in torn.model.models_]
    outputs = np.mean(fitted, axis=0)
    expected = {"learner_alone": outputs > 0.5}
    for metric in ("exact match", "hamming", "f1"):
        model = copy(torn.model).set_params(predict_for=metric)
        expected[metric.replace(" ", "_")] = model.predict(torn.X)
    expected["predict"] = torn.model.predict(torn.X)
    assert list(written["single"]) == list(expected)
    lines = printed.partition("single answer ")[2].splitlines()
    for place, (name, labels) in enumerate(expected.items(), start=1):
        p = outputs if name == "learner_alone" else torn.model.predict_proba(torn.X)
        pair = torn.Y, labels.astype(int)
        assert written["single"][name] == {
            "subset_accuracy": accuracy_score(*pair),
            "hamming_loss": hamming_loss(*pair),
            "f1_macro": f1_score(*pair, average="macro"),
            "f1_micro": f1_score(*pair, average="micro"),
            "brier_score": pytest.approx(np.mean((p - torn.Y) ** 2)),
        }
        if name != "predict":
            shown = [f"{value:.4f}" for value in [*written["single"][name].values()][1:]]
            assert lines[place].split()[-5:] == ["%", *shown]
    predicted = [row["predicted"] for row in written["labels"]]
    assert predicted == expected["predict"].sum(axis=0).tolist()


@pytest.mark.parametrize("metric", ["auto", "f1", "exact-match"])
def test_evaluate_marks_the_answers_that_labels_are(torn, evaluate, metric):
    printed, written = evaluate("" if metric == "auto" else f"--predict-for {metric}")
    marked = "learner alone" if metric == "auto" else metric
    (line,) = [line for line in printed.splitlines() if " * " in line]
    assert line.startswith(f"{marked} * ")
    assert f"* Labels (--predict-for {metric}): " in printed
    better = "training showed them to be better than the most plausible labelset"
    assert (better in printed) == (metric == "auto")
    assert written["predict_is"] == marked.replace(" ", "_").replace("-", "_")
    model = copy(torn.model).set_params(predict_for=written["predict_for"])
    predicted = [row["predicted"] for row in written["labels"]]
    assert predicted == model.predict(torn.X).sum(axis=0).tolist()


def test_evaluate_shows_labels_apart_if_some_of_them_are_no_candidates(torn, evaluate):
    model = copy(torn.model).set_params(empty_labelset="exclude")
    choices = replace(model.calibrator_.choices, empty_labelset="exclude")
    model.calibrator_ = replace(model.calibrator_, choices=choices)
    assert not np.array_equal(model.predict(torn.X), torn.model.predict(torn.X))
    save_model(model, "m.labelsure", table=open_model("m.labelsure").table)
    (line,) = [line for line in evaluate()[0].splitlines() if " * " in line]
    exact = accuracy_score(torn.Y, model.predict(torn.X))
    assert line.split()[:4] == ["labels", "*", f"{100 * exact:.1f}", "%"]


def test_evaluate_and_report_say_what_wrapping_did(torn, evaluate):
    printed, written = evaluate("--predict-for f1")
    ours, alone = written["single"]["f1"], written["single"]["learner_alone"]
    briers = f"Brier score {ours['brier_score']:.3f} (learner alone {alone['brier_score']:.3f})"
    said = f"What wrapping did: {briers}; macro F {ours['f1_macro']:.3f} ({alone['f1_macro']:.3f})."
    assert f"\n{said}\n" in printed
    assert call("report m.labelsure test.csv -o p.html --predict-for f1") == 0
    assert f"<p>{said}</p>" in (torn.folder / "p.html").read_text(encoding="utf-8")
    printed, _ = evaluate("--predict-for hamming")
    assert f" With --predict-for f1 macro F is {ours['f1_macro']:.3f}.\n" in printed


def test_evaluate_says_what_a_person_has_to_answer(torn, evaluate):
    printed, written = evaluate("--confidence 90 70")
    predictions = torn.model.predict_labelsets(torn.X)
    labels_only = {"certain": False, "labelset_cost": np.inf}
    settled = metrics.answers_needed(predictions.region(0.3), torn.Y, **labels_only)
    certain = metrics.answers_needed(predictions.region(0.1), torn.Y)
    assert (
        "What a person has to answer, mean of all 50 objects: settled at 70 %:"
        f" {settled.labels.mean():.1f} of 3 labels; certain: {certain.labels.mean():.1f} labels and"
        f" {certain.labelsets.mean():.1f} labelsets per object."
    ) in printed
    found = written["answers_of_a_person"]
    assert (found["n_sampled"], found["settled_at"], found["certain_from"]) == (50, 70, 90)
    assert found["settled_labels"] == settled.labels.mean()


def test_explain_names_the_most_plausible_labelset_beside_the_labels(torn, capsys):
    labels = torn.model.predict(torn.X)
    most_plausible = torn.model.predict_labelsets(torn.X).labelsets
    for differs in (False, True):
        row = int(np.flatnonzero((labels != most_plausible).any(axis=1) == differs)[0])
        assert call(f"explain m.labelsure test.csv --row {row + 1}") == 0
        first = capsys.readouterr().out.splitlines()[0]
        names = [np.array(LABELS)[of[row] == 1] for of in (labels, most_plausible)]
        told, best = (", ".join(of) or "no label" for of in names)
        assert first.startswith(f"Row {row + 1}: {told}")
        assert ("which is the most plausible labelset" in first) == (not differs)
        assert (f"The most plausible labelset is another: {best} (" in first) == differs


def test_explain_says_what_is_predicted_and_why(answered, capsys):
    predictions, Y = answered[0][16:17], answered[1][16:17]
    assert call("explain m.labelsure test.csv --row 17") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Row 17: ")
    assert f"credibility {predictions.credibility[0]:.3g})" in printed
    total = next(line for line in printed.splitlines() if line.startswith("all"))
    _, n_examples, n_stranger, _ = total.split()
    share = (int(n_stranger) + 1) / (int(n_examples) + 1)
    assert share == pytest.approx(predictions.credibility[0])
    assert f"That labelset has the p-value {predictions.p_value(Y)[0]:.4g}" in printed


def test_explain_says_why_credibility_is_low(here, capsys):
    odd = {"age": ["-9000"], "plan": ["free"], "size": ["90000"]}
    write_csv(here / "test.csv", odd)
    assert call("explain m.labelsure test.csv --row 1 --confidence 80") == 0
    printed = capsys.readouterr().out
    assert "The file says" not in printed
    assert "Credibility" in printed


def test_report_is_a_page_with_the_rows(here, capsys):
    report = "report m.labelsure test.csv -o page.html"
    assert call(f"{report} --group plan --title 'Tickets of May'") == 0
    assert "Tickets of May" in (here / "page.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith("page.html: 50 rows, ")
    columns = make_tickets(20, seed=1)
    write_csv(here / "test.csv", {name: columns[name] for name in ("age", "plan", "size")})
    assert call(f"{report} --name plan") == 0
    assert "does not have all labels" in capsys.readouterr().err


CHECK = f"{LABELS_OPTION} --learner logistic --jobs 1 -o found.csv"


@pytest.fixture
def doubtful(here):
    """A table whose first label is wrong in every third row, beside a larger one that is right."""
    write_csv(here / "good.csv", make_tickets(200))
    tickets = make_tickets(60, seed=1)
    for row in range(0, 60, 3):
        tickets["bug"][row] = str(1 - int(tickets["bug"][row]))
    write_csv(here / "doubtful.csv", tickets)
    return here


def test_check_writes_doubtful_labels_in_order(doubtful, capsys):
    assert call(f"check doubtful.csv {CHECK}") == 0
    rows = read_csv(doubtful / "found.csv")
    gains = [float(row["gain"]) for row in rows]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0
    assert list(rows[0]) == ["row", "label", "given", "gain", "better"]
    assert all((row["label"] in row["better"].split(";")) == (row["given"] == "0") for row in rows)
    said = capsys.readouterr().out
    assert "without a level" in said
    assert "add --trusted FILE" in said


def test_check_with_trusted_rows_flags_rows_and_says_beforehand_what_it_takes(doubtful, capsys):
    assert call(f"check doubtful.csv {CHECK} --trusted good.csv --level 0.3") == 0
    rows = read_csv(doubtful / "found.csv")
    flagged = {int(row["row"]) for row in rows if row["flagged"] == "1"}
    assert sum((row - 1) % 3 == 0 for row in flagged) > len(flagged) / 2 > 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("200 trusted rows, 100 of them calibrate: at level 0.3")
    assert "at most 0.3" in last


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("good.csv --trusted cli/../good.csv", "must not be the trusted ones"),
        ("good.csv --trusted doubtful.csv --level 0.01", "60 trusted rows"),
    ],
)
def test_trusted_rows_that_cannot_serve_are_refused_before_anything_is_fitted(
    doubtful, capsys, words, message
):
    (doubtful / "cli").mkdir()
    assert call(f"check {words} {CHECK}") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (doubtful / "found.csv").exists()


def test_datasets_are_listed_and_described(capsys):
    assert call("datasets") == 0
    names = ["bibtex", "birds", "emotions", "enron", "medical", "scene", "yeast"]
    assert capsys.readouterr().out.split() == names
    assert call("datasets yeast") == 0
    assert "2417 objects" in capsys.readouterr().out


@pytest.mark.parametrize("file", ["yeast.csv", "yeast.parquet"])
def test_datasets_are_written_as_they_are(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    data = load_dataset("yeast")
    assert call(f"datasets yeast --part test -o {file}") == 0
    rows = open_table(file, infer_schema(file, ["Class*"]), labels=True).read()
    assert np.array_equal(rows.X, data.X_test)
    assert np.array_equal(rows.Y, data.Y_test)


def test_nominal_values_and_gaps_of_a_data_set_are_written_as_words(tmp_path, monkeypatch):
    attributes = "@attribute a numeric\n@attribute b {red,blue}\n@attribute l {0,1}\n"
    (tmp_path / "mine.arff").write_text(f"@relation x\n{attributes}@data\n?,blue,1\n2,?,0\n")
    (tmp_path / "mine.xml").write_text('<labels><label name="l"/></labels>')
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    assert call(f"datasets mine -o {tmp_path}/mine.csv") == 0
    with (tmp_path / "mine.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a", "b", "l"], ["", "blue", "1"], ["2.0", "", "0"]]

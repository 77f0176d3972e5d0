"""The commands that judge, explain and show: evaluate, explain, report, datasets; ``python -m labelsure``."""

import csv
import json
import subprocess
import sys
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from made_up_tables import LABELS, make_tickets, write_csv
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from labelsure import metrics
from labelsure.cli import main
from labelsure.datasets import TableSchema, load_dataset, open_table

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")


@pytest.fixture(scope="module")
def answered(tickets):
    """The model's predictions for the test table, and its labels."""
    from labelsure.model_file import open_model

    opened = open_model(tickets / "m.labelsure")
    batch = open_table(
        tickets / "test.csv", TableSchema.from_json(opened.table), labels=True
    ).read()
    return opened.model, batch.X, batch.Y


def test_evaluate_says_what_the_metrics_say(tickets, answered, tmp_path, capsys):
    model, X, Y = answered
    words = [
        "evaluate",
        str(tickets / "m.labelsure"),
        str(tickets / "test.csv"),
        "--json",
        str(tmp_path / "e.json"),
    ]
    assert main([*words, "--confidence", "80", "90"]) == 0
    printed, kept = capsys.readouterr().out, json.loads((tmp_path / "e.json").read_text())
    predictions = model.predict_labelsets(X)
    region = predictions.region(0.1)
    level = kept["levels"]["90"]
    assert list(kept["levels"]) == ["80", "90"]
    assert level["coverage"] == 1 - metrics.error_rate(region.contains(Y))
    assert level["low"] < level["coverage"] < level["high"]
    assert level["mean_size"] == pytest.approx(region.sizes.mean())
    assert level["empty"] == np.mean(region.sizes == 0)
    for name in ("confidence", "credibility"):
        assert kept[name] == pytest.approx(getattr(predictions, name).mean())
    rows = {row["label"]: row for row in kept["labels"]}
    assert [rows[name]["objects"] for name in LABELS] == Y.sum(axis=0).tolist()
    assert rows["bug"]["sure_wrong"] == np.sum(region.inner[:, 0] & (Y[:, 0] == 0))
    assert f"{100 * level['coverage']:.1f} %" in printed
    assert "Labels as predicted, and sure and ruled out at 90 %" in printed


@pytest.fixture
def evaluated(torn, tmp_path, capsys):
    """Run evaluate on the torn model; return what it printed and wrote."""

    def evaluate(*options):
        words = [
            "evaluate",
            str(torn.folder / "m.labelsure"),
            str(torn.folder / "test.csv"),
            *options,
        ]
        assert main([*words, "--json", str(tmp_path / "e.json")]) == 0
        return capsys.readouterr().out, json.loads((tmp_path / "e.json").read_text())

    return evaluate


def test_evaluate_shows_the_learner_alone_beside_answers_for_each_metric(torn, evaluated):
    printed, kept = evaluated()
    outputs = np.mean(
        [model.estimator.predict_proba(torn.X) for model in torn.model.models_], axis=0
    )
    expected = {"learner_alone": outputs > 0.5}
    for metric in ("exact match", "hamming", "f1"):
        model = copy(torn.model).set_params(predict_for=metric)
        expected[metric.replace(" ", "_")] = model.predict(torn.X)
    expected["predict"] = torn.model.predict(torn.X)
    assert list(kept["single"]) == list(expected)
    lines = printed.partition("single answer ")[2].splitlines()
    for place, (name, labels) in enumerate(expected.items(), start=1):
        found = dict(kept["single"][name])
        p = outputs if name == "learner_alone" else torn.model.predict_proba(torn.X)
        assert found.pop("brier_score") == pytest.approx(np.mean((p - torn.Y) ** 2))
        pair = torn.Y, labels.astype(int)
        assert found == {
            "subset_accuracy": accuracy_score(*pair),
            "hamming_loss": hamming_loss(*pair),
            "f1_macro": f1_score(*pair, average="macro"),
            "f1_micro": f1_score(*pair, average="micro"),
        }
        if name != "predict":
            shown = list(kept["single"][name].values())[1:]
            assert lines[place].split()[-5:] == ["%", *(f"{value:.4f}" for value in shown)]
    assert [row["predicted"] for row in kept["labels"]] == expected["predict"].sum(axis=0).tolist()


@pytest.mark.parametrize("options", [(), ("--predict-for", "f1"), ("--predict-for", "exact-match")])
def test_evaluate_marks_the_answers_that_labels_are(torn, evaluated, options):
    printed, kept = evaluated(*options)
    marked = options[-1] if options else "learner alone"
    (line,) = [line for line in printed.splitlines() if " * " in line]
    assert line.startswith(f"{marked} * ")
    said = f"* Labels (--predict-for {options[-1] if options else 'auto'}): "
    assert said in printed
    assert ("training showed them to be better than the most plausible labelset" in printed) == (
        not options
    )
    assert kept["predict_is"] == marked.replace(" ", "_").replace("-", "_")
    model = copy(torn.model).set_params(predict_for=kept["predict_for"])
    assert [row["predicted"] for row in kept["labels"]] == model.predict(torn.X).sum(
        axis=0
    ).tolist()


def test_evaluate_shows_labels_apart_where_some_of_them_are_no_candidates(tmp_path, torn, capsys):
    from labelsure.model_file import open_model, save_model

    model = copy(torn.model).set_params(empty="exclude")
    model.calibrator_ = replace(
        model.calibrator_, choices=replace(model.calibrator_.choices, empty="exclude")
    )
    assert not np.array_equal(model.predict(torn.X), torn.model.predict(torn.X))
    path = tmp_path / "m.labelsure"
    save_model(model, path, table=open_model(torn.folder / "m.labelsure").table)
    assert main(["evaluate", str(path), str(torn.folder / "test.csv")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if " * " in line]
    exact = accuracy_score(torn.Y, model.predict(torn.X))
    assert line.split()[:4] == ["labels", "*", f"{100 * exact:.1f}", "%"]


def test_evaluate_and_report_say_what_wrapping_did(torn, evaluated, tmp_path):
    printed, kept = evaluated("--predict-for", "f1")
    single = kept["single"]
    said = (
        f"What wrapping did: Brier score {single['f1']['brier_score']:.3f} (learner alone"
        f" {single['learner_alone']['brier_score']:.3f}); macro F {single['f1']['f1_macro']:.3f}"
        f" ({single['learner_alone']['f1_macro']:.3f})."
    )
    assert f"\n{said}\n" in printed
    words = [
        "report",
        str(torn.folder / "m.labelsure"),
        str(torn.folder / "test.csv"),
        "-o",
        str(tmp_path / "p.html"),
    ]
    assert main([*words, "--predict-for", "f1"]) == 0
    assert f"<p>{said}</p>" in (tmp_path / "p.html").read_text(encoding="utf-8")
    printed, _ = evaluated("--predict-for", "hamming")
    assert f" With --predict-for f1 macro F is {single['f1']['f1_macro']:.3f}.\n" in printed


def test_evaluate_says_what_a_person_has_to_answer(torn, evaluated):
    printed, kept = evaluated("--confidence", "90", "70")
    predictions = torn.model.predict_labelsets(torn.X)
    settled = metrics.answers_needed(
        predictions.region(0.3), torn.Y, certain=False, labelset_cost=np.inf
    )
    certain = metrics.answers_needed(predictions.region(0.1), torn.Y)
    assert (
        f"What a person has to answer, mean of all 50 objects: settled at 70 %:"
        f" {settled.labels.mean():.1f} of 3"
        f" labels; certain: {certain.labels.mean():.1f} labels and {certain.labelsets.mean():.1f}"
        f" labelsets per object."
    ) in printed
    found = kept["answers_of_a_person"]
    assert (found["n_sampled"], found["settled_at"], found["certain_from"]) == (50, 70, 90)
    assert found["settled_labels"] == settled.labels.mean()


def test_explain_names_the_most_plausible_labelset_beside_the_labels(torn, capsys):
    labels, most_plausible = (
        torn.model.predict(torn.X),
        torn.model.predict_labelsets(torn.X).labelsets,
    )
    for differs in (False, True):
        row = int(np.flatnonzero((labels != most_plausible).any(axis=1) == differs)[0])
        words = [
            "explain",
            str(torn.folder / "m.labelsure"),
            str(torn.folder / "test.csv"),
            "--row",
            str(row + 1),
        ]
        assert main(words) == 0
        first = capsys.readouterr().out.splitlines()[0]
        told, best = (
            ", ".join(np.array(LABELS)[own[row] == 1]) or "no label"
            for own in (labels, most_plausible)
        )
        assert first.startswith(f"Row {row + 1}: {told}")
        assert ("which is the most plausible labelset" in first) == (not differs)
        assert (f"The most plausible labelset is another: {best} (" in first) == differs


def test_explain_says_what_is_predicted_and_why(tickets, answered, capsys):
    model, X, Y = answered
    assert (
        main(["explain", str(tickets / "m.labelsure"), str(tickets / "test.csv"), "--row", "17"])
        == 0
    )
    printed = capsys.readouterr().out
    predictions = model.predict_labelsets(X[16:17])
    assert printed.startswith("Row 17: ")
    assert f"credibility {predictions.credibility[0]:.3g})" in printed
    total = next(line for line in printed.splitlines() if line.startswith("all"))
    _, n_examples, n_stranger, _ = total.split()
    assert (int(n_stranger) + 1) / (int(n_examples) + 1) == pytest.approx(
        predictions.credibility[0]
    )
    assert f"That labelset has the p-value {predictions.p_value(Y[16:17])[0]:.4g}" in printed


def test_explain_says_why_credibility_is_low(tickets, tmp_path, capsys):
    columns = make_tickets(3) | {"age": ["-9000", "40", "50"], "size": ["90000", "1", "1"]}
    path = tmp_path / "odd.csv"
    write_csv(path, {name: cells for name, cells in columns.items() if name not in LABELS})
    assert (
        main(
            ["explain", str(tickets / "m.labelsure"), str(path), "--row", "1", "--confidence", "80"]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "The file says" not in printed
    assert "Credibility" in printed


def test_report_is_a_page_with_the_rows(tickets, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = [
        "report",
        str(tickets / "m.labelsure"),
        str(tickets / "test.csv"),
        "-o",
        str(page),
        "--group",
        "plan",
    ]
    assert main([*words, "--title", "Tickets of May"]) == 0
    assert "Tickets of May" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith("page.html: 50 rows, ")


def test_report_without_labels_shows_predictions(tickets, tmp_path, capsys):
    columns = make_tickets(20, seed=1)
    path = write_csv(
        tmp_path / "new.csv", {name: columns[name] for name in ("age", "plan", "size")}
    )
    words = [
        "report",
        str(tickets / "m.labelsure"),
        str(path),
        "-o",
        str(tmp_path / "page.html"),
        "--name",
        "plan",
    ]
    assert main(words) == 0
    assert "does not have all labels" in capsys.readouterr().err


def test_datasets_are_listed_and_described(capsys):
    assert main(["datasets"]) == 0
    assert capsys.readouterr().out.split() == [
        "bibtex",
        "birds",
        "emotions",
        "enron",
        "medical",
        "scene",
        "yeast",
    ]
    assert main(["datasets", "yeast"]) == 0
    assert "2417 objects" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_datasets_are_written_as_they_are(tmp_path, ending):
    data, path = load_dataset("yeast"), tmp_path / f"yeast.{ending}"
    assert main(["datasets", "yeast", "--part", "test", "-o", str(path)]) == 0
    from labelsure.datasets import infer_schema

    batch = open_table(path, infer_schema(path, ["Class*"]), labels=True).read()
    assert np.array_equal(batch.X, data.X_test)
    assert np.array_equal(batch.Y, data.Y_test)


def test_nominal_values_and_gaps_of_a_data_set_are_written_as_words(tmp_path, monkeypatch):
    text = "@relation x\n@attribute a numeric\n@attribute b {red,blue}\n@attribute l {0,1}\n@data\n?,blue,1\n2,?,0\n"
    (tmp_path / "mine.arff").write_text(text)
    (tmp_path / "mine.xml").write_text('<labels><label name="l"/></labels>')
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    assert main(["datasets", "mine", "-o", str(tmp_path / "mine.csv")]) == 0
    with (tmp_path / "mine.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a", "b", "l"], ["", "blue", "1"], ["2.0", "", "0"]]


def test_python_dash_m_is_the_command(offline):
    program = [sys.executable, "-m", "labelsure", "--version"]
    result = subprocess.run(program, env=offline, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.split()[0]) == (0, "labelsure")

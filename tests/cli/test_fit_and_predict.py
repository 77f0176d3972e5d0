"""From a user's table to answers: the same as in Python, whatever the format, order or batches."""

import json
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from commands import FAST, LABELS_OPTION, call
from made_up_tables import LABELS, make_tickets, read_csv, write_csv
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, load_model, save_model
from labelsure.cli._learners import make_table_learner
from labelsure.datasets import Column, TableSchema, infer_schema, open_table
from labelsure.learners import fit_base, outputs_of
from labelsure.model_file import open_model
from labelsure.paper import MLkNNClassifier

pa = pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NEW = "--model new.labelsure"
PREDICT = "predict m.labelsure test.csv -o"
FORMULAS = ["=1+1", "+49 30 1234", "-5", "@home", "\t=1", 'a "quoted", cell']


def predict(words="", output="out.csv"):
    """Predict test.csv and return the rows of the output."""
    assert call(f"{PREDICT} {output} {words}") == 0
    if output.endswith(".csv"):
        return read_csv(Path(output))
    if output.endswith(".jsonl"):
        return [json.loads(line) for line in Path(output).read_text("utf-8").splitlines()]
    return parquet.read_table(output).to_pylist()


def in_words(labelsets):
    return [";".join(np.array(LABELS)[np.asarray(labelset) == 1]) for labelset in labelsets]


def test_answers_are_those_of_the_model_in_python(here):
    rows, opened = predict(), open_model("m.labelsure")
    schema = TableSchema.from_json(opened.table)
    assert schema == infer_schema("train.csv", LABELS)
    table = open_table("test.csv", schema).read()
    predictions = opened.model.predict_labelsets(table.X)
    region, top = predictions.region(0.05), predictions.top(2)
    expected = {"labels": in_words(opened.model.predict(table.X)), "sure": in_words(region.inner)}
    expected |= {"top1": in_words(predictions.labelsets), "row": map(str, range(1, 51))}
    expected |= {"n_labelsets": map(str, region.sizes)}
    for name, cells in expected.items():
        assert [row[name] for row in rows] == [*cells], name
    numbers = {"confidence": predictions.confidence, "credibility": predictions.credibility}
    for name, values in (numbers | {"top2_p": top.p_values[:, 1]}).items():
        assert [float(row[name]) for row in rows] == pytest.approx(values.tolist(), rel=1e-5)


@pytest.mark.parametrize("metric", ["saved", "auto", "exact-match", "hamming", "f1"])
def test_labels_are_what_predict_answers_for_a_metric_and_nothing_else_changes(torn, metric):
    saved = predict()
    rows = saved if metric == "saved" else predict(f"--predict-for {metric}", "named.csv")
    model = copy(torn.model)
    if metric != "saved":
        model.set_params(predict_for=metric.replace("-", " "))
    assert [row["labels"] for row in rows] == in_words(model.predict(torn.X))
    most_plausible = in_words(model.predict_labelsets(torn.X).labelsets)
    assert [row["top1"] for row in rows] == most_plausible
    assert ([row["labels"] for row in saved] != most_plausible) or metric != "saved"
    assert [row | {"labels": ""} for row in rows] == [row | {"labels": ""} for row in saved]


def test_fit_keeps_the_metric_in_the_model_and_says_what_labels_are(torn, capsys):
    fit = f"fit train.csv {LABELS_OPTION} {FAST} --measure posterior --model m.labelsure"
    assert call(fit) == 0
    said = "Labels (--predict-for auto): the most plausible labelset; training did not show"
    assert said in capsys.readouterr().out
    assert call(f"{fit} --predict-for f1") == 0
    said = "--predict-for f1): each label whose probability is above the label's own threshold.\n"
    assert said in capsys.readouterr().out
    assert load_model("m.labelsure").predict_for == "f1"
    model = copy(torn.model).set_params(predict_for="f1")
    assert [row["labels"] for row in predict()] == in_words(model.predict(torn.X))


def test_columns_are_as_documented(here):
    columns = (
        "row plan labels confidence credibility sure possible ruled_out"
        " n_labelsets top1 top1_p note"
    )
    assert list(predict("--top 1 --keep plan")[0]) == columns.split()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("guarantee", ["cross", "exact"])
def test_answers_do_not_depend_on_batches_with_draws_either(here, ending, guarantee):
    fit = f"fit train.csv {LABELS_OPTION} --model m.labelsure {FAST} --guarantee {guarantee}"
    assert call(fit) == 0
    assert predict("--batch 1000", f"a.{ending}") == predict("--batch 7", f"b.{ending}")


def test_formats_say_the_same(here, capsys):
    rows, objects, table = (
        predict("--keep plan", f"a.{ending}") for ending in ("csv", "jsonl", "parquet")
    )
    assert objects == table
    for row, answer in zip(rows, objects, strict=True):
        assert row["labels"] == ";".join(answer["labels"])
        assert row["plan"] == (answer["plan"] or "")
        assert float(row["top1_p"]) == pytest.approx(answer["top1_p"], rel=1e-5)
    capsys.readouterr()
    assert call("predict m.labelsure test.csv --keep plan") == 0
    assert capsys.readouterr().out == (here / "a.csv").read_text()


def test_reordered_and_extra_columns_change_nothing_but_a_note(here, capsys):
    expected, columns = predict(), make_tickets(50, seed=1)
    capsys.readouterr()
    write_csv(here / "test.csv", {"id": ["x"] * 50} | {k: columns[k] for k in reversed(columns)})
    assert predict() == expected
    said = "labelsure: note: test.csv: 1 column ('id') not used by the model, ignored."
    assert capsys.readouterr().err.splitlines() == [said]


def test_parquet_in_is_the_same_as_csv_in(here):
    columns, cells = make_tickets(50, seed=1), {}
    for name in ("age", "size"):
        cells[name] = [float(cell) if cell else None for cell in columns[name]]
    cells["plan"] = pa.array([cell or None for cell in columns["plan"]]).dictionary_encode()
    parquet.write_table(pa.table(cells), "test.parquet")
    assert call("predict m.labelsure test.parquet -o b.csv") == 0
    assert predict() == read_csv(here / "b.csv")


def test_unseen_categories_are_noted_and_count_as_missing(here, capsys):
    columns = make_tickets(5, seed=1) | {"plan": ["golden", "free", "golden", "", "team"]}
    write_csv(here / "test.csv", columns)
    predict()
    (line,) = capsys.readouterr().err.splitlines()
    assert "column 'plan': 2 cells hold values never seen in training, treated as" in line


def test_kept_cells_are_what_they_were_even_if_a_spreadsheet_takes_them_for_formulas(here):
    write_csv(here / "test.csv", {"id": FORMULAS, **make_tickets(len(FORMULAS), seed=1)})
    assert [row["id"] for row in predict("--keep id")] == FORMULAS


def test_fit_says_what_it_does_with_columns(here, capsys):
    (here / "labels.txt").write_text("bug\n\nbilling\nurgent\n")
    odd = {"ticket": [f"T{i}" for i in range(60)], "day": ["2024-05-17"] * 60}
    write_csv(here / "train.csv", make_tickets(60) | odd)
    assert call(f"fit train.csv --labels-from labels.txt {FAST} {NEW}") == 0
    captured = capsys.readouterr()
    for said in (
        "60 rows, 3 columns to learn from, 3 labels",
        "2 numeric columns ('age', 'size'): gaps filled with the median",
        "1 categorical column ('plan'): one feature per value",
        "Learner logistic: logistic regression per label.",
        "Measure log-loss, guarantee cross, 3 folds, seed 0.",
        "At 95 % confidence: A region at significance 0.05 misses the true labelset with",
        "Saved to",
    ):
        assert said in captured.out
    (line,) = [line for line in captured.err.splitlines() if "left out" in line]
    said = "train.csv: left out columns 'day' (dates such as '2024-05-17'), 'ticket' ("
    assert line.startswith(f"labelsure: note: {said}")


@pytest.mark.parametrize("learner", ["forest", "boosting", "knn", "svm", "none"])
def test_learners_have_short_names_and_take_tables(here, learner):
    columns = f"--labels bug,billing --drop urgent --learner {learner} --folds 2"
    assert call(f"fit train.csv {FAST} {columns} --model m.labelsure") == 0
    assert len(predict()) == 50


def schema_of(X):
    columns = tuple(Column(f"x{j}", "numeric") for j in range(X.shape[1]))
    return TableSchema(columns, ("a", "b"))


def test_learners_scale_features_as_the_paper_did():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) * [1, 1000, 1]
    Y = (X[:, [0, 2]] > 0.5).astype(int)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    expected = outputs_of(fit_base(MLkNNClassifier(), scaled, Y), scaled, 2)
    learner = make_table_learner("ml-knn", schema_of(X))
    assert np.array_equal(outputs_of(fit_base(learner, X, Y), X, 2), expected)


def test_text_and_names_in_one_column_are_learned(here):
    rng = np.random.default_rng(0)
    topics = [[name for name in ("printer", "invoice") if rng.random() < 0.5] for _ in range(60)]
    titles = [
        f"please help with the {' '.join(names)} number {i}" for i, names in enumerate(topics)
    ]
    write_csv(here / "test.csv", {"title": titles, "topics": ["|".join(names) for names in topics]})
    fit = "fit test.csv --labels topics --separator '|' --text title --model m.labelsure"
    assert call(f"{fit} {FAST}") == 0
    labels = [set(row["labels"].split("|")) - {""} for row in predict()]
    assert np.mean([names == set(true) for names, true in zip(labels, topics, strict=True)]) > 0.9


@pytest.mark.parametrize("learner", ["logistic", "boosting"])
def test_sparse_files_are_learned(here, learner):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        on = np.flatnonzero(rng.random(2) < 0.5)
        features = " ".join(f"{100 + j}:{1 + rng.random():.2f}" for j in on)
        lines.append(f"{','.join(map(str, on))} 99:1 {features}")
    (here / "t.svm").write_text("\n".join(lines))
    assert call(f"fit t.svm --model m.labelsure {FAST} --learner {learner}") == 0
    assert call("predict m.labelsure t.svm -o out.csv") == 0
    labels = [row["labels"].replace(";", ",") for row in read_csv(here / "out.csv")]
    right = [line.split(" ")[0] == said for line, said in zip(lines, labels, strict=True)]
    assert np.mean(right) > 0.8


def test_labels_are_separated_by_what_is_in_none_of_their_names(here):
    train = make_tickets(60)
    train["a;b"] = train.pop("bug")
    write_csv(here / "test.csv", train)
    fit = "fit test.csv --labels 'a;b,billing,urgent' --model m.labelsure"
    assert call(f"{fit} {FAST}") == 0
    names = {name for row in predict() for name in row["labels"].split("|")}
    assert names - {""} == {"a;b", "billing", "urgent"}


def test_rows_that_a_learner_refuses_are_an_error_of_one_line(here, capsys):
    """A model made in Python, whose learner takes no gaps."""
    train = {name: cells for name, cells in make_tickets(60).items() if name in LABELS}
    train["size"] = [str(j) for j in range(60)]
    write_csv(here / "train.csv", train)
    schema = infer_schema("train.csv", LABELS)
    rows = open_table("train.csv", schema, labels=True).read()
    learner = OneVsRestClassifier(LogisticRegression())
    model = CrossConformalClassifier(learner, cv=3, random_state=0).fit(rows.X, rows.Y)
    save_model(model, "m.labelsure", table=schema.to_json())
    write_csv(here / "test.csv", train | {"size": ["", *train["size"][1:]]})
    messages = {
        f"{PREDICT} out.csv": "rows 1 to 60 cannot be predicted",
        "evaluate m.labelsure test.csv": "the model cannot predict these rows",
    }
    for words, message in messages.items():
        assert call(words) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"labelsure: error: {message}: ")
    assert sorted(path.name for path in here.iterdir()) == ["m.labelsure", "test.csv", "train.csv"]


def test_labels_without_variation_are_fitted_and_noted_in_one_line(here, capsys):
    """Predicted as in training, and evaluated and explained like others if they vary elsewhere."""
    same = {"never": ["0"] * 90, "nor this": ["0"] * 90, "always": ["1"] * 90}
    write_csv(here / "train.csv", make_tickets(90) | same)
    write_csv(here / "test.csv", make_tickets(50, seed=1) | dict.fromkeys(same, ["0", "1"] * 25))
    labels = "'bug,billing,urgent,never,nor this,always' --measure posterior"
    assert call(f"fit train.csv {FAST} --model m.labelsure --labels {labels}") == 0
    noted = [line for line in capsys.readouterr().err.splitlines() if "note: " in line]
    assert noted == [  # and nothing of scikit-learn's about the same labels
        "labelsure: note: train.csv: 3 labels without variation: 'never', 'nor this' in no row;"
        " 'always' in every row. Nothing can be learned about that, so it is predicted as it is"
        " here."
    ]
    for row in predict():
        assert {*same} & {*row["labels"].split(";")} == {"always"}
    assert call("evaluate m.labelsure test.csv --json e.json") == 0
    rows = {row["label"]: row for row in json.loads((here / "e.json").read_text())["labels"]}
    counts = [(rows[name]["objects"], rows[name]["predicted"]) for name in same]
    assert counts == [(25, 0), (25, 0), (25, 50)]
    assert call("explain m.labelsure test.csv --row 2") == 0
    assert call("report m.labelsure test.csv -o r.html") == 0


def test_labels_that_vary_in_too_few_rows_are_still_warned_of(here, capsys):
    rare = {"never": ["0"] * 90, "rare": ["1"] + ["0"] * 89}
    write_csv(here / "train.csv", make_tickets(90) | rare)
    assert call(f"fit train.csv {LABELS_OPTION},never,rare {FAST} {NEW}") == 0
    assert "Label not 4 is present in all training examples" in capsys.readouterr().err

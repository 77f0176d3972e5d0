"""From a table of one's own to answers: the same as from Python, whatever the format, the order and the batches."""

import json
from copy import copy

import numpy as np
import pytest
from made_up_tables import LABELS, make_tickets, read_csv, write_csv
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, load_model, save_model
from labelsure.cli import main
from labelsure.datasets import TableSchema, infer_schema, open_table

pa = pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FAST = ("--learner", "logistic", "--measure", "log-loss", "--folds", "3", "--jobs", "1")


def predict(folder, *words, data="test.csv", output="out.csv"):
    assert (
        main(
            ["predict", str(folder / "m.labelsure"), str(folder / data), "-o", str(output), *words]
        )
        == 0
    )
    return output


def in_words(labelsets):
    return [
        ";".join(name for name, on in zip(LABELS, labelset, strict=True) if on)
        for labelset in labelsets
    ]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.csv"


def test_answers_are_those_of_the_model_in_python(tickets, out):
    from labelsure.model_file import open_model

    rows = read_csv(predict(tickets, output=out))
    opened = open_model(tickets / "m.labelsure")
    table = open_table(tickets / "test.csv", TableSchema.from_json(opened.table)).read()
    predictions = opened.model.predict_labelsets(table.X)
    assert [row["labels"] for row in rows] == in_words(opened.model.predict(table.X))
    assert [row["top1"] for row in rows] == in_words(predictions.labelsets)
    region = predictions.region(0.05)
    assert [int(row["n_labelsets"]) for row in rows] == region.sizes.tolist()
    assert [row["sure"] for row in rows] == [
        ";".join(name for name, on in zip(LABELS, inner, strict=True) if on)
        for inner in region.inner
    ]
    for name in ("confidence", "credibility"):
        assert [float(row[name]) for row in rows] == pytest.approx(
            getattr(predictions, name).tolist(), rel=1e-5
        )
    assert [float(row["top2_p"]) for row in rows] == pytest.approx(
        predictions.top(2).p_values[:, 1].tolist(), rel=1e-5
    )
    assert [int(row["row"]) for row in rows] == list(range(1, 51))


def test_labels_are_what_predict_answers_and_top1_the_most_plausible_labelset(torn, out):
    model, X = torn.model, torn.X
    rows = read_csv(predict(torn.folder, output=out))
    labels, most_plausible = model.predict(X), model.predict_labelsets(X).labelsets
    assert (labels != most_plausible).any()
    assert [row["labels"] for row in rows] == in_words(labels)
    assert [row["top1"] for row in rows] == in_words(most_plausible)


@pytest.mark.parametrize("metric", ["auto", "exact-match", "hamming", "f1"])
def test_labels_are_for_the_metric_that_is_named_and_nothing_else_changes(torn, tmp_path, metric):
    rows = read_csv(predict(torn.folder, "--predict-for", metric, output=tmp_path / "named.csv"))
    model = copy(torn.model).set_params(predict_for=metric.replace("-", " "))
    assert [row["labels"] for row in rows] == in_words(model.predict(torn.X))
    saved = read_csv(predict(torn.folder, output=tmp_path / "saved.csv"))
    assert [row | {"labels": ""} for row in rows] == [row | {"labels": ""} for row in saved]


def test_fit_keeps_the_metric_in_the_model_and_says_what_labels_are(torn, tmp_path, capsys):
    words = [
        "fit",
        str(torn.folder / "train.csv"),
        "--labels",
        ",".join(LABELS),
        *FAST,
        "--measure",
        "posterior",
    ]
    said = {
        "auto": "the most plausible labelset; training did not show the learner's own labels to"
        " be better.",
        "f1": "each label whose probability is above the label's own threshold.",
    }
    for metric, labels in said.items():
        given = [] if metric == "auto" else ["--predict-for", metric]
        assert main([*words, "--model", str(tmp_path / "m.labelsure"), *given]) == 0
        assert f"Labels (--predict-for {metric}): {labels}\n" in capsys.readouterr().out
    assert load_model(tmp_path / "m.labelsure").predict_for == "f1"
    rows = read_csv(predict(tmp_path, data=torn.folder / "test.csv", output=tmp_path / "out.csv"))
    assert [row["labels"] for row in rows] == in_words(
        copy(torn.model).set_params(predict_for="f1").predict(torn.X)
    )


def test_columns_are_as_documented(tickets, out):
    assert list(read_csv(predict(tickets, "--top", "1", "--keep", "plan", output=out))[0]) == [
        "row", "plan", "labels", "confidence", "credibility", "sure", "possible", "ruled_out", "n_labelsets", "top1",
        "top1_p", "note",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("guarantee", ["cross", "exact"])
def test_answers_do_not_depend_on_batches_with_draws_either(tickets, tmp_path, ending, guarantee):
    model = tmp_path / "m.labelsure"
    words = ["fit", str(tickets / "train.csv"), "--labels", ",".join(LABELS), "--model", str(model)]
    assert main([*words, *FAST, "--guarantee", guarantee]) == 0
    contents = []
    for batch in ("1000", "7"):
        out = tmp_path / f"{batch}.{ending}"
        assert (
            main(
                ["predict", str(model), str(tickets / "test.csv"), "-o", str(out), "--batch", batch]
            )
            == 0
        )
        contents.append(
            parquet.read_table(out).to_pylist() if ending == "parquet" else out.read_bytes()
        )
    assert contents[0] == contents[1]


def test_formats_say_the_same(tickets, tmp_path):
    rows = read_csv(predict(tickets, "--keep", "plan", output=tmp_path / "a.csv"))
    lines = predict(tickets, "--keep", "plan", output=tmp_path / "a.jsonl").read_text().splitlines()
    objects = [json.loads(line) for line in lines]
    table = parquet.read_table(
        predict(tickets, "--keep", "plan", output=tmp_path / "a.parquet")
    ).to_pylist()
    assert objects == table
    for row, found in zip(rows, objects, strict=True):
        assert row["labels"] == ";".join(found["labels"])
        assert row["plan"] == (found["plan"] or "")
        assert float(row["top1_p"]) == pytest.approx(found["top1_p"], rel=1e-5)


def test_without_an_output_csv_is_printed(tickets, out, capsys):
    predict(tickets, output=out)
    capsys.readouterr()
    assert main(["predict", str(tickets / "m.labelsure"), str(tickets / "test.csv")]) == 0
    assert capsys.readouterr().out == out.read_text()


def test_reordered_and_extra_columns_change_nothing_but_a_note(tickets, tmp_path, capsys):
    expected = predict(tickets, output=tmp_path / "a.csv").read_text()
    capsys.readouterr()
    columns = make_tickets(50, seed=1)
    shuffled = {"id": ["x"] * 50} | {name: columns[name] for name in reversed(columns)}
    write_csv(tmp_path / "b.csv", shuffled)
    assert (
        main(
            [
                "predict",
                str(tickets / "m.labelsure"),
                str(tmp_path / "b.csv"),
                "-o",
                str(tmp_path / "c.csv"),
            ]
        )
        == 0
    )
    assert (tmp_path / "c.csv").read_text() == expected
    assert capsys.readouterr().err.splitlines() == [
        f"labelsure: note: {tmp_path / 'b.csv'}: 1 column ('id') not used by the model, ignored."
    ]


def test_parquet_in_is_the_same_as_csv_in(tickets, tmp_path):
    columns = make_tickets(50, seed=1)
    numbers = {
        name: [float(cell) if cell else None for cell in columns[name]] for name in ("age", "size")
    }
    table = pa.table(
        numbers | {"plan": pa.array([cell or None for cell in columns["plan"]]).dictionary_encode()}
    )
    parquet.write_table(table, tmp_path / "test.parquet")
    outs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    predict(tickets, output=outs[0])
    assert (
        main(
            [
                "predict",
                str(tickets / "m.labelsure"),
                str(tmp_path / "test.parquet"),
                "-o",
                str(outs[1]),
            ]
        )
        == 0
    )
    assert outs[0].read_text() == outs[1].read_text()


def test_unseen_categories_are_noted_and_count_as_none(tickets, tmp_path, capsys):
    columns = make_tickets(5, seed=1) | {"plan": ["golden", "free", "golden", "", "team"]}
    path = write_csv(tmp_path / "new.csv", columns)
    assert (
        main(["predict", str(tickets / "m.labelsure"), str(path), "-o", str(tmp_path / "out.csv")])
        == 0
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "column 'plan': 2 cells hold values never seen in training, taken for rare or for none."
    )


def test_fit_says_what_it_does_with_columns(tickets, tmp_path, capsys):
    words = [
        "fit",
        str(tickets / "train.csv"),
        "--labels-from",
        str(tmp_path / "labels.txt"),
        *FAST,
    ]
    (tmp_path / "labels.txt").write_text("bug\n\nbilling\nurgent\n")
    assert main([*words, "--model", str(tmp_path / "m.labelsure")]) == 0
    printed = capsys.readouterr().out
    for said in (
        "120 rows, 3 columns to learn from, 3 labels",
        "2 numeric columns ('age', 'size'): gaps filled with the median",
        "1 categorical column ('plan'): one feature per value",
        "Learner logistic: logistic regression per label.",
        "Measure log-loss, guarantee cross, 3 folds, seed 0.",
        "At 95 % confidence: A region at significance 0.05 misses the true labelset with"
        " probability at most",
        "Saved to",
    ):
        assert said in printed


@pytest.mark.parametrize("learner", ["forest", "boosting", "knn", "svm", "none"])
def test_learners_have_short_names_and_take_tables(tickets, tmp_path, learner):
    model = tmp_path / "m.labelsure"
    words = [
        "fit",
        str(tickets / "train.csv"),
        "--labels",
        "bug,billing",
        "--drop",
        "urgent",
        "--model",
        str(model),
    ]
    assert main([*words, *FAST, "--learner", learner, "--folds", "2"]) == 0
    assert (
        main(["predict", str(model), str(tickets / "test.csv"), "-o", str(tmp_path / "out.csv")])
        == 0
    )
    assert len(read_csv(tmp_path / "out.csv")) == 50


def test_text_and_names_in_one_column_are_learned(tmp_path):
    rng = np.random.default_rng(0)
    topics = [[name for name in ("printer", "invoice") if rng.random() < 0.5] for _ in range(60)]
    columns = {
        "title": [
            " ".join(["please help with the", *names, f"number {i}"])
            for i, names in enumerate(topics)
        ],
        "topics": ["|".join(names) for names in topics],
    }
    path, model = write_csv(tmp_path / "t.csv", columns), tmp_path / "m.labelsure"
    words = [
        "fit",
        str(path),
        "--labels",
        "topics",
        "--separator",
        "|",
        "--text",
        "title",
        "--model",
        str(model),
    ]
    assert main([*words, *FAST]) == 0
    assert main(["predict", str(model), str(path), "-o", str(tmp_path / "out.csv")]) == 0
    found = [set(row["labels"].split("|")) - {""} for row in read_csv(tmp_path / "out.csv")]
    assert np.mean([names == set(true) for names, true in zip(found, topics, strict=True)]) > 0.9


def test_sparse_files_are_learned(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        on = rng.random(2) < 0.5
        labels = ",".join(str(j) for j in np.flatnonzero(on))
        lines.append(
            f"{labels} 99:1 "
            + " ".join(f"{100 + j}:{1 + rng.random():.2f}" for j in np.flatnonzero(on))
        )
    (tmp_path / "t.svm").write_text("\n".join(lines))
    for learner in ("logistic", "boosting"):
        model = tmp_path / f"{learner}.labelsure"
        assert (
            main(
                ["fit", str(tmp_path / "t.svm"), "--model", str(model), *FAST, "--learner", learner]
            )
            == 0
        )
        assert (
            main(["predict", str(model), str(tmp_path / "t.svm"), "-o", str(tmp_path / "out.csv")])
            == 0
        )
        found = [row["labels"].replace(";", ",") for row in read_csv(tmp_path / "out.csv")]
        assert (
            np.mean(
                [line.split(" ")[0] == labels for line, labels in zip(lines, found, strict=True)]
            )
            > 0.8
        )


def test_the_schema_in_the_file_is_that_of_the_table(tickets):
    from labelsure.model_file import open_model

    schema = TableSchema.from_json(open_model(tickets / "m.labelsure").table)
    assert schema == infer_schema(tickets / "train.csv", LABELS)


def test_labels_are_separated_by_what_is_in_none_of_their_names(tmp_path, out):
    train = make_tickets(60)
    train["a;b"] = train.pop("bug")
    write_csv(tmp_path / "test.csv", train)
    words = ["fit", str(tmp_path / "test.csv"), "--labels", "a;b,billing,urgent", *FAST]
    assert main([*words, "--model", str(tmp_path / "m.labelsure")]) == 0
    found = {
        name for row in read_csv(predict(tmp_path, output=out)) for name in row["labels"].split("|")
    }
    assert found - {""} == {"a;b", "billing", "urgent"}


def test_rows_that_a_learner_refuses_are_an_error_of_one_line(tmp_path, out, capsys):
    """A model made in Python, whose learner takes no gaps."""
    train = {name: cells for name, cells in make_tickets(60).items() if name in ("size", *LABELS)}
    train["size"] = [str(j) for j in range(60)]
    path = write_csv(tmp_path / "train.csv", train)
    schema = infer_schema(path, LABELS)
    rows = open_table(path, schema, labels=True).read()
    learner = OneVsRestClassifier(LogisticRegression())
    model = CrossConformalClassifier(learner, cv=3, random_state=0).fit(rows.X, rows.Y)
    save_model(model, tmp_path / "m.labelsure", table=schema.to_json())
    write_csv(tmp_path / "test.csv", train | {"size": ["", *train["size"][1:]]})
    for command in (["predict", "-o", str(out)], ["evaluate"]):
        assert (
            main(
                [
                    command[0],
                    str(tmp_path / "m.labelsure"),
                    str(tmp_path / "test.csv"),
                    *command[1:],
                ]
            )
            == 1
        )
        (line,) = capsys.readouterr().err.splitlines()
        rows = (
            "rows 1 to 60 cannot be predicted"
            if command[0] == "predict"
            else "the model cannot predict these rows"
        )
        assert line.startswith(f"labelsure: error: {rows}: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.labelsure",
        "test.csv",
        "train.csv",
    ]


def test_labels_without_variation_are_fitted_and_noted_in_one_line(tmp_path, out, capsys):
    """Predicted as in training, and judged, shown and explained like all others where they vary in other rows."""
    same = {"never": ["0"] * 90, "nor this": ["0"] * 90, "always": ["1"] * 90}
    path = write_csv(tmp_path / "train.csv", make_tickets(90) | same)
    write_csv(
        tmp_path / "test.csv", make_tickets(50, seed=1) | {name: ["0", "1"] * 25 for name in same}
    )
    model, test = str(tmp_path / "m.labelsure"), str(tmp_path / "test.csv")
    words = [
        "fit",
        str(path),
        "--labels",
        ",".join([*LABELS, *same]),
        *FAST,
        "--measure",
        "posterior",
    ]
    assert main([*words, "--model", model]) == 0
    noted = [
        line
        for line in capsys.readouterr().err.splitlines()
        if line.startswith("labelsure: note: ")
    ]
    assert noted == [  # and nothing of scikit-learn's about the same labels
        f"labelsure: note: {path}: 3 labels without variation: 'never', 'nor this' in no row;"
        f" 'always' in every row."
        " Nothing can be learned about that, so it is predicted as it is here."
    ]
    for row in read_csv(predict(tmp_path, output=out)):
        assert {"never", "nor this", "always"} & set(row["labels"].split(";")) == {"always"}
    assert main(["evaluate", model, test, "--json", str(tmp_path / "e.json")]) == 0
    rows = {row["label"]: row for row in json.loads((tmp_path / "e.json").read_text())["labels"]}
    assert [(rows[name]["objects"], rows[name]["predicted"]) for name in same] == [
        (25, 0),
        (25, 0),
        (25, 50),
    ]
    assert main(["explain", model, test, "--row", "2"]) == 0
    assert main(["report", model, test, "-o", str(tmp_path / "r.html")]) == 0


def test_labels_that_vary_in_too_few_rows_are_still_warned_of(tmp_path, capsys):
    rare = {"never": ["0"] * 90, "rare": ["1"] + ["0"] * 89}
    path = write_csv(tmp_path / "train.csv", make_tickets(90) | rare)
    words = ["fit", str(path), "--labels", ",".join([*LABELS, *rare]), *FAST]
    assert main([*words, "--model", str(tmp_path / "m.labelsure")]) == 0
    assert "Label not 4 is present in all training examples" in capsys.readouterr().err


def test_identifiers_and_dates_are_left_out_and_noted_in_one_line(tmp_path, capsys):
    odd = {"ticket": [f"T{i}" for i in range(60)], "day": ["2024-05-17"] * 60}
    path = write_csv(tmp_path / "train.csv", make_tickets(60) | odd)
    words = [
        "fit",
        str(path),
        "--labels",
        ",".join(LABELS),
        *FAST,
        "--model",
        str(tmp_path / "m.labelsure"),
    ]
    assert main(words) == 0
    captured = capsys.readouterr()
    (line,) = [line for line in captured.err.splitlines() if "left out" in line]
    assert line.startswith(
        f"labelsure: note: {path}: left out columns 'day' (dates such as '2024-05-17'), 'ticket' ("
    )
    assert "3 columns to learn from" in captured.out

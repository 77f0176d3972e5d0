"""A table in, a table of answers out, of the same library, with a schema known beforehand."""

import pickle
import shutil
from copy import copy

import numpy as np
import pytest
from scipy import sparse

from labelsure import LabelWiseConformalClassifier, batches, calibrate_outputs, save_model
from labelsure._errors import BatchError
from labelsure.batches import TablePredictor
from labelsure.datasets import TableSchema, open_table
from labelsure.model_file import ModelFileError, open_model

pd = pytest.importorskip("pandas", reason="tables of pandas")
pa = pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")


def kinds_of(table):
    """Return a pandas table in every kind that there is."""
    pl = pytest.importorskip("polars", reason="tables of polars")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    return {
        "pandas": table,
        "polars": pl.from_arrow(arrow),
        "pyarrow": arrow,
        "batch": arrow.to_batches()[0],
    }


def in_rows(answers):
    """Return answers of any kind as rows of Python's own values, labels as lists."""
    if isinstance(answers, pd.DataFrame):
        cells = {
            name: [
                list(cell) if isinstance(cell, tuple) else None if pd.isna(cell) else cell
                for cell in column
            ]
            for name, column in answers.items()
        }
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return answers.to_pylist() if hasattr(answers, "to_pylist") else answers.to_dicts()


def test_answers_are_the_summaries_of_the_model(fitted):
    model = fitted.models["cross"]
    found = TablePredictor(model, significance=0.2, top=10)(fitted.rows)
    names, summaries = model.label_names_, model.predict_labelsets(fitted.rows).summary(0.2, top=10)
    for answer, summary, labels in zip(
        in_rows(found), summaries, model.predict(fitted.rows).tolist(), strict=True
    ):
        assert answer["labels"] == [name for name, on in zip(names, labels, strict=True) if on]
        for name in ("sure", "possible", "ruled_out"):
            assert answer[name] == list(getattr(summary, name))
        assert (answer["confidence"], answer["credibility"]) == (
            summary.confidence,
            summary.credibility,
        )
        assert (answer["n_labelsets"], answer["note"]) == (
            int(summary.n_labelsets),
            summary.note or None,
        )
        top = [(list(one.labels), one.p_value) for one in summary.top]
        top += [(None, None)] * (10 - len(top))
        assert [(answer[f"top{k}"], answer[f"top{k}_p"]) for k in range(1, 11)] == top


@pytest.mark.parametrize("metric", ["exact match", "hamming", "f1"])
def test_labels_are_for_the_metric_of_the_model(fitted, metric):
    model = copy(fitted.models["cross"]).set_params(predict_for=metric)
    expected = [
        [name for name, on in zip(model.label_names_, labels, strict=True) if on]
        for labels in model.predict(fitted.rows).tolist()
    ]
    assert [answer["labels"] for answer in in_rows(TablePredictor(model)(fitted.rows))] == expected


@pytest.mark.parametrize("source", ["memory", "file"])
def test_answers_are_of_the_kind_of_the_table_and_say_the_same(fitted, source):
    table = fitted.rows.assign(id=np.arange(30)) if source == "memory" else fitted.tickets
    predictor = TablePredictor(
        fitted.models["exact"] if source == "memory" else fitted.file, keep={"id": "int64"}
    )
    kinds = kinds_of(table)
    answers = {kind: predictor(one) for kind, one in kinds.items()}
    assert [type(answers[kind]) for kind in kinds] == [type(one) for one in kinds.values()]
    assert len({repr(in_rows(one)) for one in answers.values()}) == 1
    assert in_rows(answers["pandas"])[3]["id"] == 3


@pytest.mark.parametrize("source", ["memory", "file"])
def test_columns_and_types_are_known_beforehand_and_are_those_of_no_rows(fitted, source):
    table = (
        fitted.rows.assign(id=np.arange(30), name="x")
        if source == "memory"
        else fitted.tickets.assign(name="x")
    )
    model = fitted.models["cross"] if source == "memory" else fitted.file
    predictor = TablePredictor(model, top=10, keep={"id": "int64", "name": "string"})
    pl = pytest.importorskip("polars", reason="tables of polars")
    for kind, one in kinds_of(table).items():
        none = predictor.schema.empty_table()
        expected = {
            "pandas": none.to_pandas().dtypes.to_dict(),
            "polars": pl.from_arrow(none).schema,
        }
        for answers in (predictor(one), predictor(one[:0] if kind != "batch" else one.slice(0, 0))):
            found = answers.dtypes.to_dict() if kind == "pandas" else answers.schema
            assert found == expected.get(kind, predictor.schema)
    assert len(predictor(table[:0])) == 0


def test_index_of_pandas_is_kept(fitted):
    predictor, named = (
        TablePredictor(fitted.models["cross"]),
        fitted.rows.set_axis([f"row {i}" for i in range(30)]),
    )
    assert predictor(named).index.tolist() == named.index.tolist()
    assert predictor(named[:0]).index.dtype == named.index.dtype
    shuffled = named.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(predictor(shuffled), predictor(named).loc[shuffled.index])


def test_arrays_are_answered_in_pandas_and_columns_can_be_named(fitted):
    X, rows = fitted.rows.to_numpy(), fitted.rows
    model = pickle.loads(pickle.dumps(fitted.models["smoothed"]))
    del model.feature_names_in_
    predictor = TablePredictor(model, columns=["a", "b", "c"], keep=["id"])
    expected = TablePredictor(model)(X)
    assert list(expected.index) == list(range(30))
    for form in (X.tolist(), sparse.csr_array(X), rows):
        pd.testing.assert_frame_equal(TablePredictor(model)(form), expected)
    found = predictor(rows[["b", "a", "c"]].assign(id="x"))
    pd.testing.assert_frame_equal(found.drop(columns="id"), expected)
    with pytest.raises(BatchError, match="no column 'id' to keep"):
        predictor(X)


def test_a_file_is_answered_for_as_the_command_line_does(fitted):
    opened = open_model(fitted.file)
    X = open_table(fitted.tickets, TableSchema.from_json(opened.table)).read().X
    assert np.isnan(X).any()
    found = TablePredictor(fitted.file, keep=["plan"])(
        fitted.tickets.assign(age=fitted.tickets["age"].astype(str))
    )
    pd.testing.assert_frame_equal(
        found.drop(columns="plan"), TablePredictor(opened.model)(X), check_index_type=False
    )
    assert found["plan"].isna().tolist() == fitted.tickets["plan"].isna().tolist()


def test_a_file_is_read_once_in_a_process_and_only_its_path_is_pickled(fitted, monkeypatch):
    opened, path = [], fitted.file.with_name("again.labelsure")
    shutil.copy(fitted.file, path)
    real = batches.open_model
    monkeypatch.setattr(
        batches, "open_model", lambda *args, **kwargs: opened.append(args) or real(*args, **kwargs)
    )
    predictor = TablePredictor(path)
    pickled = pickle.dumps(predictor)
    assert len(pickled) < 2000
    expected = predictor(fitted.tickets)
    pd.testing.assert_frame_equal(pickle.loads(pickled)(fitted.tickets), expected)
    pd.testing.assert_frame_equal(TablePredictor(path)(fitted.tickets), expected)
    assert len(opened) == 1
    save_model(fitted.models["cross"], path)
    other = TablePredictor(path)
    assert len(other(fitted.rows)) == 30
    batches._read_once.cache_clear()
    with pytest.raises(BatchError, match="another file than it was"):
        predictor(fitted.tickets)


def test_ready_made_outputs_are_taken_by_the_names_of_labels(tmp_path):
    outputs, Y = (
        np.random.default_rng(0).random((40, 2)),
        np.random.default_rng(1).integers(0, 2, (40, 2)),
    )
    model = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    save_model(model, tmp_path / "m.labelsure")
    table = pd.DataFrame(outputs[:5], columns=["sea", "city"])
    expected = TablePredictor(model)(outputs[:5])
    for one in (model, tmp_path / "m.labelsure"):
        pd.testing.assert_frame_equal(
            TablePredictor(one)(table[["city", "sea"]].assign(id=1)), expected
        )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (slice(3, 4), "row 'row 3' cannot"),
        (slice(3, 7), "the 4 rows from 'row 3' to 'row 6' cannot"),
    ],
    ids=["one", "several"],
)
def test_a_table_that_fails_says_which_rows(fitted, rows, said):
    table = fitted.rows.set_axis([f"row {i}" for i in range(30)])[rows]
    with pytest.raises(BatchError, match=said) as caught:
        TablePredictor(fitted.models["cross"])(table.assign(b="x"))
    assert isinstance(caught.value.__cause__, ValueError)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_a_cell_that_is_not_as_the_schema_says_is_named(fitted):
    table = fitted.tickets.assign(age=["12"] * 4 + ["old"] + ["13"] * 35)
    with pytest.raises(
        BatchError, match=r"rows from 0 to 39 .*row 5, column 'age': expected a number, got 'old'"
    ):
        TablePredictor(fitted.file)(table)
    mixed = table.assign(plan=[1, "free"] * 20)
    with pytest.raises(BatchError, match="of several types"):
        TablePredictor(fitted.file)(mixed.assign(age=1.0))
    with pytest.raises(BatchError, match="lacks the column 'age'"):
        TablePredictor(fitted.file)(fitted.tickets.drop(columns="age"))
    with pytest.raises(BatchError, match=r"lacks 1 of the 3 columns .* 'b'"):
        TablePredictor(fitted.models["cross"])(fitted.rows[["a", "c"]])


def test_whole_numbers_with_gaps_are_floats_in_pandas_and_null_elsewhere(fitted):
    table = fitted.rows.assign(id=[1.0, np.nan] * 15)
    predictor = TablePredictor(fitted.models["cross"], keep={"id": "int64"})
    np.testing.assert_array_equal(predictor(table)["id"], table["id"])
    assert predictor(pa.Table.from_pandas(table)).column("id").null_count == 15


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"keep": "id"}, TypeError, r"got the text 'id'. Pass \['id'\]"),
        ({"keep": ["note"]}, ValueError, "have a column 'note' of their own"),
        ({"significance": 2}, ValueError, "significance"),
        ({"top": -1}, ValueError, "top"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_options_are_refused_at_once(fitted, options, error, said):
    with pytest.raises(error, match=said):
        TablePredictor(fitted.models["cross"], **options)


def test_models_without_labelsets_are_refused_at_once(fitted, tmp_path):
    from sklearn.base import clone

    label_wise = LabelWiseConformalClassifier(fitted.models["cross"].estimator, random_state=0)
    label_wise.fit(fitted.rows, (fitted.rows > 2).astype(int))
    with pytest.raises(TypeError, match=r"with predict_labelsets.* got a LabelWise"):
        TablePredictor(label_wise)
    with pytest.raises(TypeError, match="not: call fit first"):
        TablePredictor(clone(fitted.models["cross"]))
    outputs, Y = (
        np.random.default_rng(0).random((2, 20, 2)),
        np.random.default_rng(1).integers(0, 2, (20, 2)),
    )
    folds = calibrate_outputs(outputs[0], Y, folds=np.arange(20) % 2)
    with pytest.raises(TypeError, match="outputs in folds"):
        TablePredictor(folds)
    with pytest.raises(ModelFileError, match="No such file"):
        TablePredictor(tmp_path / "none.labelsure")
    save_model(label_wise, tmp_path / "l.labelsure")
    with pytest.raises(TypeError, match=r"with predict_labelsets.* got a LabelWise"):
        TablePredictor(tmp_path / "l.labelsure")


@pytest.mark.parametrize("source", ["memory", "file"])
def test_a_schema_is_used_where_the_model_has_none(fitted, tmp_path, source):
    opened = open_model(fitted.file)
    model, schema = opened.model, TableSchema.from_json(opened.table)
    if source == "file":
        save_model(model, tmp_path / "bare.labelsure")
        model = tmp_path / "bare.labelsure"
    found = TablePredictor(model, schema=schema)(fitted.tickets)
    pd.testing.assert_frame_equal(found, TablePredictor(fitted.file)(fitted.tickets))


def test_a_schema_of_another_model_is_refused(fitted, tmp_path):
    save_model(
        fitted.models["cross"], tmp_path / "m.labelsure", table=open_model(fitted.file).table
    )
    with pytest.raises(ModelFileError, match="description of another table"):
        TablePredictor(tmp_path / "m.labelsure")


def test_more_labelsets_than_64_bits_hold_are_floats():
    outputs = np.full((1, 1100), 0.5)
    model = calibrate_outputs(outputs, np.ones((1, 1100), dtype=int))
    predictor = TablePredictor(model, significance=0.4, top=0)
    assert predictor.schema.field("n_labelsets").type == pa.float64()
    found = predictor(outputs)
    assert found["n_labelsets"].tolist() == [np.inf]

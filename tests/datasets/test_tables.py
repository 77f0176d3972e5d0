"""Tables in four formats: types from the schema, columns by name, errors with row and column."""

import json

import numpy as np
import pytest
from scipy import sparse

from labelsure.datasets import Column, DatasetError, TableSchema, infer_schema, open_table

pa = pytest.importorskip("pyarrow", reason="CSV and Parquet are read by pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = "age,plan,bug,urgent\n40.5,free,1,0\n,team,0,1\n39,,1,1\n"


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path, schema, **options):
    return open_table(path, schema, **options).read()


def test_csv_has_numbers_categories_gaps_and_labels(tmp_path):
    path = write(tmp_path, TEXT)
    schema = infer_schema(path, ["bug", "urgent"])
    assert schema.columns == (
        Column("age", "numeric"),
        Column("plan", "categorical", ("free", "team")),
    )
    table = read(path, schema, labels=True)
    np.testing.assert_array_equal(table.X, [[40.5, 0], [np.nan, 1], [39, np.nan]])
    assert table.Y.tolist() == [[1, 0], [0, 1], [1, 1]]


def as_parquet(folder):
    plan = pa.array(["free", "team", None]).dictionary_encode()
    columns = {
        "urgent": [False, True, True],
        "plan": plan,
        "bug": [1, 0, 1],
        "age": [40.5, None, 39],
    }
    parquet.write_table(pa.table(columns), folder / "table.parquet")
    return folder / "table.parquet"


def as_arff(folder):
    text = """@relation x
@attribute age numeric
@attribute plan {team,free}
@attribute bug {0,1}
@attribute urgent {1,0}
@data
40.5,free,1,0
% a comment
?,team,0,1
39,?,1,1"""
    return write(folder, text, "table.arff")


@pytest.mark.parametrize("make", [as_parquet, as_arff])
def test_other_formats_say_the_same_as_csv(tmp_path, make):
    path, other = write(tmp_path, TEXT), make(tmp_path)
    schema = infer_schema(path, ["bug", "urgent"])
    assert {*infer_schema(other, ["bug", "urgent"]).columns} == {*schema.columns}
    first, second = (read(file, schema, labels=True) for file in (path, other))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.Y, second.Y)


def test_labels_of_arff_are_those_of_the_xml_beside_it(tmp_path):
    text = "@relation x\n@attribute a numeric\n@attribute l {0,1}\n@data\n1,0\n2,1\n"
    write(tmp_path, '<labels><label name="l"/></labels>', "x.xml")
    for name in ("x.arff", "x-train.arff"):
        assert infer_schema(write(tmp_path, text, name)).label_names == ("l",)


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_rows_do_not_depend_on_the_size_of_batches(tmp_path, size):
    path = write(tmp_path, TEXT)
    schema = infer_schema(path, ["bug", "urgent"])
    whole = read(path, schema, labels=True, keep=["plan"])
    parts = list(open_table(path, schema, labels=True, keep=["plan"], batch_size=size))
    assert [part.start for part in parts] == list(range(0, 3, size))
    np.testing.assert_array_equal(np.vstack([part.X for part in parts]), whole.X)
    np.testing.assert_array_equal(np.vstack([part.Y for part in parts]), whole.Y)
    assert [cell for part in parts for cell in part.kept["plan"]] == ["free", "team", None]


def test_types_never_change_from_one_chunk_to_the_next(tmp_path):
    """Leading zeros for 200 000 cells; pandas would read 1 for 001."""
    cells = [f"{i % 7:03d}" for i in range(200_000)]
    path = write(
        tmp_path,
        "code,value,l\n" + "".join(f"{cell},{i},{i % 2}\n" for i, cell in enumerate(cells)),
    )
    schema = infer_schema(path, ["l"])
    assert schema.columns == (
        Column("code", "categorical", tuple(f"{i:03d}" for i in range(7))),
        Column("value", "numeric"),
    )
    table = read(path, schema)
    assert np.array_equal(table.X[:, 0], np.arange(200_000) % 7)
    assert np.array_equal(table.X[:, 1], np.arange(200_000))


def test_reordered_and_extra_columns_change_nothing(tmp_path):
    schema = infer_schema(write(tmp_path, TEXT), ["bug", "urgent"])
    other = write(
        tmp_path, "id,urgent,plan,age,bug\n7,0,free,40.5,1\n8,1,team,,0\n9,1,,39,1\n", "other.csv"
    )
    table = open_table(other, schema, labels=True)
    assert table.ignored == ("id",)
    np.testing.assert_array_equal(table.read().X, read(write(tmp_path, TEXT), schema).X)


def test_categories_that_were_never_seen_are_counted(tmp_path):
    schema = infer_schema(write(tmp_path, TEXT), ["bug", "urgent"])
    table = open_table(
        write(tmp_path, "age,plan\n1,firm\n2,free\n3,golden\n", "new.csv"), schema, batch_size=1
    )
    assert [batch.X[0, 1] for batch in table] == [-1.0, 0.0, -1.0]
    assert table.unseen == {"plan": 2}


def test_names_in_one_column_are_labels(tmp_path):
    path = write(tmp_path, "a,topics\n1,sea; night\n2,\n3,city\n")
    schema = infer_schema(path, ["topics"], separator=";")
    assert schema.label_names == ("city", "night", "sea")
    assert read(path, schema, labels=True).Y.tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    with pytest.raises(
        DatasetError, match="row 1, column 'topics': 'lake' is not a label that the model knows"
    ):
        read(write(tmp_path, "a,topics\n1,sea;lake\n", "new.csv"), schema, labels=True)


def test_names_may_be_a_list_in_parquet(tmp_path):
    parquet.write_table(
        pa.table({"a": [1.0, 2.0], "topics": [["sea", "night"], []]}), tmp_path / "t.parquet"
    )
    schema = infer_schema(tmp_path / "t.parquet", ["topics"], separator=";")
    assert read(tmp_path / "t.parquet", schema, labels=True).Y.tolist() == [[1, 1], [0, 0]]


def test_numbers_too_large_are_named_in_sparse_rows_too(tmp_path):
    path = write(tmp_path, "1,2 1:0.5 7:2\n1 1:1 3:-1e308\n", "t.libsvm")
    with pytest.raises(
        DatasetError, match=r"row 2, column 'f3': expected a finite number, .*, got -1e\+308"
    ):
        read(path, infer_schema(path))


def test_libsvm_stays_sparse_and_has_its_labels_on_every_line(tmp_path):
    path = write(tmp_path, "10,2 1:0.5 7000000:2 # two labels\n1:1\n2 3:4\n", "t.libsvm")
    schema = infer_schema(path)
    assert (schema.label_names, [column.name for column in schema.columns]) == (
        ("2", "10"),
        ["f1", "f3", "f7000000"],
    )
    table = read(path, schema, labels=True)
    assert sparse.issparse(table.X)
    assert table.X.toarray().tolist() == [[0.5, 0, 2], [1, 0, 0], [0, 4, 0]]
    assert table.Y.tolist() == [[1, 1], [0, 0], [1, 0]]
    new = open_table(write(tmp_path, "1:2 4:9\n", "new.svm"), schema)
    assert new.read().X.toarray().tolist() == [[2, 0, 0]]
    assert new.ignored == ("f4",)


@pytest.mark.parametrize(
    "line",
    ["1 3", "1 3:x", "1 3:1 3:2", "1 3:1 2:2", "1 -3:1", "sea 3:1", "1,,2 3:1", "1 9999999999:1"],
)
def test_wrong_rows_of_libsvm_are_named(tmp_path, line):
    path = write(tmp_path, f"# head\n\n1 1:2\n2 3:4\n{line}\n1 3:4\n", "t.libsvm")
    with pytest.raises(DatasetError, match=r"t\.libsvm, row 3: .* Expected numbers of labels"):
        infer_schema(path)


def test_sparse_arff_stays_sparse_with_categories_too(tmp_path):
    head = "@relation x\n@attribute a numeric\n@attribute b {p,q,r}\n@attribute l {0,1}\n@data\n"
    path = write(tmp_path, head + "{0 1.5, 1 q, 2 1}\n{}\n{1 r}\n{0 ?, 1 ?}", "t.arff")
    schema = infer_schema(path, ["l"])
    table = read(path, schema, labels=True, batch_size=3)
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), [[1.5, 1], [0, 0], [0, 2], [np.nan, np.nan]])
    assert table.Y.ravel().tolist() == [1, 0, 0, 0]
    dense = TableSchema(schema.columns, schema.label_names)
    np.testing.assert_array_equal(read(path, dense).X, table.X.toarray())
    csv = write(tmp_path, "a,b\n1.5,q\n0,p\n0,r\n,\n", "t.csv")
    np.testing.assert_array_equal(read(csv, schema).X.toarray(), table.X.toarray())


def test_text_columns_are_texts(tmp_path):
    path = write(tmp_path, 'a,title,l\n1,"My ""printer"",\nit burns",1\n2,,0\n')
    schema = infer_schema(path, ["l"], text=["title"])
    assert read(path, schema).X.tolist() == [[1.0, 'My "printer",\nit burns'], [2.0, ""]]
    # learned from a sparse file
    mixed = TableSchema(schema.columns, schema.label_names, sparse=True)
    assert read(path, mixed).X.tolist() == read(path, schema).X.tolist()


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_a_byte_order_mark_are_understood(tmp_path, delimiter):
    path = write(tmp_path, "\ufeff" + TEXT.replace(",", delimiter))
    assert infer_schema(path, ["bug", "urgent"]) == infer_schema(
        write(tmp_path, TEXT, "b.csv"), ["bug", "urgent"]
    )


def test_delimiters_in_names_and_names_of_two_lines_are_understood(tmp_path):
    path = write(
        tmp_path,
        'size;"town, city, village";"plan\nof it";old, new;l\n1;Ulm;free;2,x;0\n2;Rom;team;3,y;1\n',
    )
    schema = infer_schema(path, ["l"])
    assert [column.name for column in schema.columns] == [
        "size",
        "town, city, village",
        "plan\nof it",
        "old, new",
    ]
    assert read(path, schema).X.tolist() == [[1, 1, 0, 0], [2, 0, 1, 1]]
    with path.open("a") as file:
        file.write("\n3;Rom;team;3,y\n")
    with pytest.raises(
        DatasetError, match="row 3: expected 5 cells, one per column, got 4 in '3;Rom;team;3,y'"
    ):
        read(path, schema)


def test_booleans_are_the_same_category_however_they_are_spelled(tmp_path):
    schema = infer_schema(write(tmp_path, "a,l\nTRUE,1\nFalse,0\n"), ["l"])
    parquet.write_table(pa.table({"a": [True, False]}), tmp_path / "b.parquet")
    assert read(tmp_path / "b.parquet", schema).X.tolist() == [[1], [0]]
    assert read(write(tmp_path, "a,l\nTrue,1\nfalse,0\n"), schema).X.tolist() == [[1], [0]]


def test_patterns_choose_labels_and_columns(tmp_path):
    path = write(tmp_path, "x1,x2,label_a,label_b,old_1\n1,2,0,1,3\n4,5,1,0,6\n")
    schema = infer_schema(path, ["label_*"], drop=["old_?"])
    assert schema.label_names == ("label_a", "label_b")
    assert [column.name for column in schema.columns] == ["x1", "x2"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"columns": [{"name": "a", "kind": "date", "categories": []}]},
        {"columns": [{"kind": "numeric", "categories": []}]},
        {"columns": [{"name": "a", "kind": "numeric", "categories": []}] * 2},
        {"columns": [{"name": 3, "kind": "numeric", "categories": []}]},
        {"label_names": "sea"},
        {"names_in": 3},
        {"sparse": "yes"},
    ],
)
def test_a_damaged_description_is_refused(change):
    schema = TableSchema((Column("a", "numeric"), Column("b", "categorical", ("p", "q"))), ("l",))
    good = json.loads(json.dumps(schema.to_json()))
    assert TableSchema.from_json(good) == schema
    with pytest.raises(DatasetError, match="description of a table"):
        TableSchema.from_json(good | change)


BAD = {
    "decimal commas": ("a;l\n1,5;0\n2,5;1\n", {"labels": ["l"]}, "expected a number, got '1,5'"),
    "nothing but dates": (
        "a,l\n2024-02-01,0\n2024-03-01,1\n", {"labels": ["l"]},
        "no features are left but column 'a' (dates such as '2024-02-01')",
    ),
    "several columns of texts": (
        "a,b,l\n" + "".join(f"say {i},and {i},1\n" for i in range(60)), {"labels": ["l"]},
        "columns 'a' (60 different values, such as 'say 0'), 'b' (60 different values, such as 'and"
        " 0'): too many",
    ),
    "several slips among numbers": (
        "a,b,l\n1,2,0\n2,x,1\n3,4,1\ny,6,0\n", {"labels": ["l"]}, "(--categorical a,b; categorical="
                                                                  " in Python)"
    ),
    "a quote in the names that never ends": ('"a' + 200_000 * "x", {}, "line 1: names of columns"
                                                                       " cannot be read"),
    "a quote in a cell that never ends": (
        'a,l\n1,0\n"' + 200_000 * "x", {"labels": ["l"]}, "row 2: expected 2 cells"
    ),
    "a column without a name": ("a,\n1,2\n", {}, "column 2: the column has no name"),
    "two columns of names": (
        TEXT, {"labels": ["bug", "plan"], "separator": ";"}, "in one column, got 2"
    ),
    "an empty separator": (TEXT, {"labels": ["plan"], "separator": ""}, "at least one character"),
    "a label like a column": (
        "sea,topics\n1,sea\n", {"labels": ["topics"], "separator": ";"}, "'sea' is both a label and"
                                                                         " a column"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_file_is_said(tmp_path, name):
    text, options, message = BAD[name]
    path = write(tmp_path, text)
    with pytest.raises(DatasetError) as caught:
        infer_schema(path, **options)
    assert message in str(caught.value)
    assert "separator" in options or str(path) in str(caught.value)


def test_columns_of_wrong_labels_are_named_together(tmp_path):
    path = write(tmp_path, "a,l,m,n\n1,1,0,1\n2,2,0,x\n")
    with pytest.raises(
        DatasetError,
        match=r"row 2, column 'l': a label must be 0 or 1, got '2'.* Look at 'n' as well",
    ):
        read(path, infer_schema(path, ["l", "m", "n"]), labels=True)


@pytest.mark.parametrize(
    ("cells", "example"),
    [
        (["sea", "sea|night", ""], r"row 2, .* --separator '\|' .* this one has 'sea' and 'night'"),
        (["", "sea", "night"], "row 2, .* --separator ';' .* this one has 'sea'"),
        (
            ["sea, sky; night", "sea"],
            "row 1, .* --separator ';' .* this one has 'sea, sky' and 'night'",
        ),
    ],
)
def test_a_forgotten_separator_is_advised_with_an_example(tmp_path, cells, example):
    path = write(tmp_path, "a,l\n" + "".join(f'2024-01-01,"{cell}"\n' for cell in cells))
    with pytest.raises(DatasetError, match=example):
        infer_schema(path, ["l"])


def identified(n_rows, cell):
    return "id,day,size,l\n" + "".join(
        f"{cell(i)},2024-01-{1 + i % 28:02},{i / 3},1\n" for i in range(n_rows)
    )


def test_identifiers_and_dates_are_left_out_with_one_warning(tmp_path):
    path = write(tmp_path, identified(60, lambda i: f"T-{i}"))
    with pytest.warns(
        UserWarning, match=r"left out columns 'day' \(dates.*'id' \(a different word"
    ) as caught:
        schema = infer_schema(path, ["l"])
    assert [column.name for column in schema.columns] == ["size"]
    assert len(caught) == 1


def test_columns_that_are_named_are_kept_whatever_they_look_like(tmp_path):
    path = write(tmp_path, identified(60, lambda i: f"T-{i}"))
    schema = infer_schema(path, ["l"], text=["id"], categorical=["day"])
    assert [(column.name, column.kind) for column in schema.columns] == [
        ("id", "text"), ("day", "categorical"), ("size", "numeric")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("n_rows", "cell", "kind"),
    [
        (60, lambda i: i, "numeric"),  # a number is a feature, whatever it counts
        (50, lambda i: f"T-{i}", "categorical"),  # so few values are categories
        (60, lambda i: f"T-{i // 2}", "categorical"),  # which some rows share
    ],
)
def test_what_may_be_more_than_an_identifier_is_kept(tmp_path, n_rows, cell, kind):
    path = write(tmp_path, identified(n_rows, cell))
    schema = infer_schema(path, ["l"], drop=["day"])
    assert (schema.columns[0].name, schema.columns[0].kind) == ("id", kind)


@pytest.mark.parametrize("cell", [lambda i: f"please help {i}", lambda i: f"T-{max(i, 1)}"])
def test_texts_and_words_that_come_twice_are_not_left_out_in_silence(tmp_path, cell):
    path = write(tmp_path, identified(60, cell))
    with pytest.raises(DatasetError, match=r"column 'id' \(\d\d different values"):
        infer_schema(path, ["l"], drop=["day"])


def test_types_that_cannot_be_read_are_refused(tmp_path):
    from datetime import date

    parquet.write_table(
        pa.table({"when": [date(2024, 1, 1)], "many": [[1, 2]], "l": [1]}), tmp_path / "t.parquet"
    )
    with pytest.raises(DatasetError, match=r"no features are left but column 'when' \(dates\)"):
        infer_schema(tmp_path / "t.parquet", ["l"], drop=["many"])
    assert infer_schema(tmp_path / "t.parquet", ["l"], drop=["many"], categorical=["when"]).of_kind(
        "categorical"
    )
    with pytest.raises(DatasetError, match=r"column 'many' \(cells of type list.*cannot be read"):
        infer_schema(tmp_path / "t.parquet", ["l"], drop=["when"])


@pytest.mark.parametrize(
    ("name", "module"), [("t.csv", "pyarrow.csv"), ("t.parquet", "pyarrow.parquet")]
)
def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch, name, module):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        DatasetError, match=r'needs the package \'pyarrow\'.*pip install "labelsure\[cli\]"'
    ):
        infer_schema(write(tmp_path, TEXT, name))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_in_memory_is_read_as_its_file_is(tmp_path, library):
    pa = pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")
    pytest.importorskip(library)
    path = tmp_path / "t.csv"
    path.write_text("size,place,sea\n1.5,coast,1\nNA,town,0\n,,1\n")
    schema = infer_schema(path, ["sea"])
    columns = {"place": ["coast", "town", None], "size": [1.5, None, None], "sea": [1, 0, 1]}
    made = pa.table(columns)
    table = {
        "pandas": made.to_pandas,
        "polars": lambda: pytest.importorskip("polars").from_arrow(made),
    }
    expected = open_table(path, schema, labels=True).read()
    found = open_table(
        table.get(library, lambda: made)(), schema, labels=True, keep=["place"], batch_size=2
    )
    assert (found.n_rows, [batch.n_rows for batch in found]) == (3, [2, 1])
    batch = found.read()
    np.testing.assert_array_equal(batch.X, expected.X)
    np.testing.assert_array_equal(batch.Y, expected.Y)
    assert batch.kept["place"].tolist() == ["coast", "town", None]
    with pytest.raises(DatasetError, match="a table in memory is read by a schema, got none"):
        open_table(made)

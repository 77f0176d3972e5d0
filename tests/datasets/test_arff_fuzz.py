"""Any file gives data or a DatasetError; a valid one gives what was written."""

import math
import re
import string
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelsure.datasets import Dataset, DatasetError, read_mulan

# The deadline is no measure of speed but how a hang shows.
patient = settings(deadline=timedelta(seconds=10), suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "toy.arff"

    def read(content: bytes, labels) -> Dataset:
        path.write_bytes(content)
        return read_mulan(path, labels)

    return read


# --- valid files: what is meant, and how it is written


@st.composite
def tables(draw):
    """Draw columns (name, declared values or None, is label) and rows of texts or None."""
    text = st.text(st.characters(codec="utf-8"), max_size=6)
    words = st.text(
        st.sampled_from(string.ascii_letters + string.digits + "-/;._:$#!'é"),
        min_size=1,
        max_size=4,
    )
    names = draw(st.lists(text | words, min_size=2, max_size=6, unique=True))
    numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-9, 9).map(
        str
    )
    columns, cells = [], []
    n_labels = draw(st.integers(1, len(names) - 1))
    label_names = set(draw(st.permutations(names))[:n_labels])
    for name in names:
        is_label = name in label_names
        kinds = (
            [None, ["0", "1"], ["1", "0"]]
            if is_label
            else [None, ["0", "1"], ["7", "-2", "1e1"], "draw"]
        )
        values = draw(st.sampled_from(kinds))
        if values == "draw":
            values = draw(st.lists(text | words, min_size=1, max_size=4, unique=True))
        column = st.sampled_from(values or ["0", "1"]) if values or is_label else numbers
        columns.append((name, values, is_label))
        cells.append(column if is_label else column | st.none())
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=5))
    return columns, rows


def meaning(columns, rows):
    """Return X and Y as they must be read."""
    table = [
        [number(values, cell) for (_, values, _), cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    labels = [place for place, (_, _, is_label) in enumerate(columns) if is_label]
    features = [place for place in range(len(columns)) if place not in labels]
    return np.array(table)[:, features], np.array(table)[:, labels]


def number(values, cell):
    if cell is None:
        return math.nan
    if values is None:
        return float(cell)
    plain = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    if all(
        re.fullmatch(plain, value, re.ASCII) and abs(float(value)) < math.inf for value in values
    ):
        numbers = [float(value) for value in values]
        if len(set(numbers)) == len(numbers):
            return float(cell)
    return float(values.index(cell))


@st.composite
def writings(draw, columns, rows):
    """Write a table as ARFF in one of the many ways."""
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    blank = st.sampled_from(["", " ", "\t", " \t "])
    noise = st.lists(st.sampled_from(["", "  ", "% comment", "\t% 'quote", "%@data"]), max_size=2)

    def cased(word):
        return draw(st.sampled_from([word, word.upper(), word.title(), word.swapcase()]))

    def quoted(text):
        if re.fullmatch(r"[^\x00-\x20,{}%'\"?@][^\x00-\x20,{}%]*", text) and draw(st.booleans()):
            return text
        mark = draw(st.sampled_from("'\""))
        text = (
            text.replace("\\", "\\\\")
            .replace("\n", "\\n")
            .replace("\r", "\\r")
            .replace(mark, "\\" + mark)
        )
        return mark + (text.replace("\t", "\\t") if draw(st.booleans()) else text) + mark

    def cell(value):
        return "?" if value is None else quoted(value)

    def comma():
        return draw(blank) + "," + draw(blank)

    lines = [*draw(noise), f"@{cased('relation')} 'toy'"]
    for name, values, _ in columns:
        kind = draw(st.sampled_from([cased("numeric"), cased("real"), cased("integer")]))
        if values is not None:
            kind = "{" + draw(blank) + comma().join(map(quoted, values)) + draw(blank) + "}"
        lines += [
            *draw(noise),
            f"{draw(blank)}@{cased('attribute')} {quoted(name)}\t{kind}{draw(blank)}",
        ]
    lines += [f"@{cased('data')}{draw(blank)}", *draw(noise)]
    is_sparse = draw(st.booleans())
    for row in rows:
        if is_sparse:
            entries = []
            for place, ((_, values, _), value) in enumerate(zip(columns, row, strict=True)):
                is_default = (
                    value == values[0] if values else value is not None and float(value) == 0
                )
                if not is_default or draw(st.booleans()):
                    entries.append(f"{place}{draw(blank)} {cell(value)}")
            lines.append(
                "{" + draw(blank) + comma().join(draw(st.permutations(entries))) + draw(blank) + "}"
            )
        else:
            lines.append(draw(blank) + comma().join(map(cell, row)) + draw(blank))
        lines += draw(noise)
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig"]))), is_sparse


@st.composite
def valid_files(draw):
    columns, rows = draw(tables())
    content, is_sparse = draw(writings(columns, rows))
    return columns, rows, content, is_sparse


@patient
@given(valid_files())
def test_valid_file_is_read_as_it_was_meant(read, file):
    columns, rows, content, is_sparse = file
    names = [name for name, _, is_label in columns if is_label]
    data = read(content, names[::-1])
    X, Y = meaning(columns, rows)
    assert sparse.issparse(data.X) == is_sparse
    assert np.array_equal(data.X.toarray() if is_sparse else data.X, X, equal_nan=True)
    assert np.array_equal(data.Y, Y)
    assert data.label_names == tuple(names)
    assert data.feature_names == tuple(name for name, _, is_label in columns if not is_label)


# --- broken files


@st.composite
def mutated_files(draw):
    columns, _, content, _ = draw(valid_files())
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 8))
        insert = draw(
            st.binary(max_size=3)
            | st.sampled_from([b"{", b"}", b"'", b"\\", b",", b"\n", b"?", b"%", b"@data"])
        )
        content[start : start + length] = insert
    return [name for name, _, is_label in columns if is_label], bytes(content)


def check_data_or_error(read, content, labels):
    try:
        data = read(content, labels)
    except DatasetError as error:
        assert re.search(r"toy\.arff(, (row \d+ \()?line \d+|: )", str(error))
        assert "line 0" not in str(error)
    else:
        assert data.X.shape == (data.n_train, len(data.feature_names))
        assert data.Y.shape == (data.n_train, len(labels))
        assert set(data.label_names) == set(labels)


@patient
@given(mutated_files())
def test_mutated_file_gives_data_or_a_dataset_error(read, file):
    labels, content = file
    check_data_or_error(read, content, labels)


@patient
@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_random_file_gives_data_or_a_dataset_error(read, content):
    check_data_or_error(read, content, ["a"])

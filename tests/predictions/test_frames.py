"""Tables of pandas and polars from columns."""

import numpy as np
import pytest

from labelsure._checks import library_of, row_index_of
from labelsure.predictions._frames import choose_library, make_frame, make_long_frame, name_columns
from labelsure.predictions._show import html_table

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


def test_library_is_recognised():
    assert library_of(pandas.DataFrame()) == library_of(pandas.Index([1])) == "pandas"
    assert library_of(polars.DataFrame()) == library_of(polars.Series([1])) == "polars"
    assert library_of(np.zeros(1)) is library_of([1]) is library_of(None) is None


def test_library_follows_the_index_unless_named():
    assert choose_library(None, polars.Series([0])) == "polars"
    assert choose_library(None, pandas.Index([0])) == choose_library(None, None) == "pandas"
    assert choose_library("polars", pandas.Index([0])) == "polars"
    with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars', got 'arrow'"):
        choose_library("arrow", None)


def test_rows_of_polars_are_numbered_and_those_of_pandas_keep_their_names():
    assert row_index_of(polars.DataFrame({"object": [5, 6]})).to_list() == [0, 1]
    assert row_index_of(pandas.DataFrame({"a": [5, 6]}, index=["x", "y"])).tolist() == ["x", "y"]
    assert row_index_of(np.zeros((2, 2))) is None


def test_frames_keep_an_index_and_polars_makes_it_columns():
    index = pandas.Index(["x", "y"], name="photo")
    columns = {
        "sea": np.array([1, 0], dtype=np.int8),
        "words": np.array(["sure", None], dtype=object),
    }
    assert make_frame(columns, index=index).index.equals(index)
    other = make_frame(columns, index=index, library="polars")
    assert other.columns == ["photo", "sea", "words"]
    assert other["photo"].to_list() == ["x", "y"]
    assert other["words"].to_list() == ["sure", None]
    assert other.schema["sea"] == polars.Int8
    assert make_frame(columns, index=polars.Series([4, 7])).columns == ["sea", "words"]
    assert make_frame(columns, index=polars.Series([4, 7]), library="pandas").index.tolist() == [
        0,
        1,
    ]


def test_names_of_an_index_that_are_taken_become_object():
    index = pandas.Index(["x"], name="sea")
    assert make_frame({"sea": [1]}, index=index, library="polars").columns == ["object", "sea"]
    levels = pandas.MultiIndex.from_tuples([("x", 1)], names=["day", None])
    assert make_frame({"sea": [1]}, index=levels, library="polars").columns == [
        "day",
        "object_1",
        "sea",
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_long_frames_have_a_row_per_object_and_label(library):
    table = np.arange(6).reshape(3, 2)
    levels = pandas.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["day", "n"])
    frame = make_long_frame(
        {"value": table}, label_names=["sea", "city"], index=levels, library=library
    )
    rows = (
        frame.reset_index().to_numpy().tolist()
        if library == "pandas"
        else [list(row) for row in frame.rows()]
    )
    assert rows == [
        ["x", 1, "sea", 0],
        ["x", 1, "city", 1],
        ["x", 2, "sea", 2],
        ["x", 2, "city", 3],
        ["y", 1, "sea", 4],
        ["y", 1, "city", 5],
    ]
    assert (
        len(make_long_frame({"value": table[:0]}, label_names=["sea", "city"], library=library))
        == 0
    )


def test_columns_that_clash_are_refused():
    with pytest.raises(
        ValueError, match="to_frame has a column 'size' of its own beside that of the label"
    ):
        name_columns(["size"], {"size": 1}, "")
    assert name_columns(["size"], {"size": 1}, "is_") == ["is_size"]


def test_tables_in_notebooks_are_escaped():
    shown = html_table({"<b>": ["<script>alert(1)</script>", "a & b"]}, n_more=3)
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "a &amp; b" in shown
    assert "... and 3 more." in shown

import math
import re

import numpy as np
import pytest
from scipy import sparse

from labelsure.datasets import DatasetError, read_mulan

HEAD = """@relation toy
@attribute x numeric
@attribute y {red,green,blue}
@attribute a {0,1}
@attribute b {0,1}
@data
"""


def test_reader_understands_case_comments_quotes_tabs_and_line_ends(read_text):
    data = read_text(
        "\ufeff% a comment\r\n@RELATION 'toy: -C 2'\r\n\r\n"
        '  @Attribute\t"odd {name}, 100%"\tREAL % trailing\r\n'
        "@attribute 'it\\'s' Integer\r\n@attribute don't { 'dark blue' , \"light\\tred\""
        " }\r\n@attribute a{0,1}\r\n@attribute b { 1, 0 }\r\n@DATA % now the rows\r\n% a comment"
        " among the rows\r\n1.5, 2, 'dark blue',0,1\r\n\r\n"
        '-1e-3\t3\t"light\\tred"\t1\t0 % tabs\r\n'
        "?,?,?,1,0"
    )
    assert data.feature_names == ("odd {name}, 100%", "it's", "don't")
    assert data.categories == {"don't": {"dark blue": 0.0, "light\tred": 1.0}}
    assert np.array_equal(data.X, [[1.5, 2, 0], [-0.001, 3, 1], [math.nan] * 3], equal_nan=True)
    assert data.Y.tolist() == [[0, 1], [1, 0], [1, 0]]


def test_reader_does_not_split_lines_at_other_unicode_line_ends(read_text):
    data = read_text(
        "@attribute 'n\u2028\x85\x0c' numeric\n@attribute a {0,1}\n@data\n1,1\n", ["a"]
    )
    assert data.feature_names == ("n\u2028\x85\x0c",)


def test_reader_falls_back_to_latin1(read_text):
    data = read_text(
        "@attribute 'Größe\xa0x' numeric\n@attribute a {0,1}\n@data\n1,1\n".encode("latin-1"), ["a"]
    )
    assert data.feature_names == ("Größe\xa0x",)


def test_sparse_rows_omit_zero_or_the_first_declared_value(read_text):
    data = read_text(
        "@attribute x numeric\n@attribute n {7,3}\n@attribute c {no,yes}\n@attribute a"
        " {1,0}\n@attribute b {0,1}\n@data\n{}\n{ 0 2.5 , 1 3, 2 yes, 3 0, 4 1 }\n{4 '1', 0 ?}\n{0"
        " 0}\n"
    )
    assert isinstance(data.X, sparse.csr_matrix)
    expected = [[0, 7, 0], [2.5, 3, 1], [math.nan, 7, 0], [0, 7, 0]]
    assert np.array_equal(data.X.toarray(), expected, equal_nan=True)
    assert data.Y.tolist() == [[1, 0], [0, 1], [1, 1], [1, 0]]


def test_dense_rows_may_stand_among_sparse_ones(read_text):
    data = read_text(HEAD + "{0 5}\n7,blue,1,1\n")
    assert data.X.toarray().tolist() == [[5, 0], [7, 2]]
    assert data.Y.tolist() == [[0, 0], [1, 1]]


def test_labels_may_be_numeric(read_text):
    data = read_text(
        "@attribute a real\n@attribute x real\n@attribute b numeric\n@data\n1,5,0\n0.0,6,1.0\n{2"
        " 1}\n"
    )
    assert data.Y.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert data.feature_names == ("x",)


def test_nominal_values_that_are_equal_numbers_become_places(read_text):
    data = read_text("@attribute x {1,1.0,2}\n@attribute a {0,1}\n@data\n1,0\n1.0,0\n2,1\n", ["a"])
    assert data.X.ravel().tolist() == [0, 1, 2]


def test_quoted_question_mark_is_a_value_and_not_missing(read_text):
    data = read_text("@attribute x {'?',b}\n@attribute a {0,1}\n@data\n'?',0\n?,1\n", ["a"])
    assert np.array_equal(data.X.ravel(), [0, math.nan], equal_nan=True)


def test_huge_numbers_are_read_and_those_beyond_float64_refused(read_text):
    head = "@attribute x real\n@attribute y real\n@attribute a {0,1}\n@data\n"
    assert read_text(head + "1.5e308,1.5e308,1\n", ["a"]).X.tolist() == [[1.5e308, 1.5e308]]
    assert read_text(head + "{0 1.5e308,1 1.5e308}\n", ["a"]).X.toarray().tolist() == [
        [1.5e308, 1.5e308]
    ]
    for row in ("1,1e309,0", "{1 -1e309}"):
        with pytest.raises(DatasetError, match=r"'y' must be a finite number, got '-?1e309'"):
            read_text(head + row + "\n", ["a"])


SPARSE = (
    "must be {index value, .* different indices from 0 to 3, got '{.* weights are not supported"
)
BAD_ROWS = {
    "1,red,0": "expected 4 values, one per attribute, got 3",
    "1,dark red,0,1": "got 5",
    "1,,0,1": "expected values between commas or blanks, got '1 , , 0 , 1'",
    "1,red,0,": r"Write \? for a missing value",
    "abc,red,0,1": "'x' must be a finite number, got 'abc'",
    "1_0,red,0,1": "must be a finite number, got '1_0'",
    "\u0661,red,0,1": "must be a finite number",
    "inf,red,0,1": "must be a finite number, got 'inf'",
    "1e999,red,0,1": "must be a finite number, got '1e999'",
    "'',red,0,1": "must be a finite number, got ''",
    "1,RED,0,1": "'y' must be one of 'red, green, blue', got 'RED'",
    "1,red,?,1": r"label 'a' must be 0 or 1, got nothing \(\?\)",
    "1,red,2,1": "'a' must be one of '0, 1', got '2'",
    "1,'red,0,1": "a quote is not closed",
    "1,red,0,1 {5}": "weights of rows are not supported",
    "{0 1,2 1": SPARSE,
    "{0 1,2 1}, {5}": SPARSE,
    "{4 1}": SPARSE,
    "{-1 1}": SPARSE,
    "{99999999999999999999 1}": SPARSE,
    "{2 1,2 0}": SPARSE,
    "{2 1,}": SPARSE,
    "{2}": SPARSE,
    "{0 1 2 1}": SPARSE,
    "{0, 1 2 1}": SPARSE,
    "{0 {1}}": SPARSE,
    "{0 1e999}": "must be a finite number",
    "{1 pink}": "must be one of",
    "{2 ?}": "label 'a' must be 0 or 1",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_bad_row_17_is_named_with_file_line_and_remedy(read_text, row):
    good = "1,red,0,1\n"
    text = HEAD + "% comment\n" + good * 16 + row + "\n" + good
    with pytest.raises(DatasetError) as caught:
        read_text(text)
    message = str(caught.value)
    assert re.search(r"toy\.arff, row 17 \(line 24\): ", message)
    assert re.search(BAD_ROWS[row], message)


BAD_HEADS = {
    "": (1, "ends before @data"),
    "@relation toy\n@attribute x numeric\n": (2, "ends before @data"),
    "@relation toy\n@data\n1\n": (2, "@data after the attributes"),
    "<html>\n": (1, "expected @relation"),
    "@attributes x numeric\n@data\n": (1, "expected @relation"),
    "@attribute x\n@data\n": (1, "needs a name and a type"),
    "@attribute {0,1}\n@data\n": (1, "needs a name and a type"),
    "@attribute my name numeric\n@data\n": (
        1,
        "got 'name numeric'.* quote a name that contains blanks",
    ),
    "@attribute x date 'yyyy'\n@data\n": (
        1,
        "got 'date 'yyyy''|got \"date 'yyyy'\".*Remove or convert",
    ),
    "@attribute 50%off numeric\n@data\n": (1, "needs a name and a type.*%"),
    "@attribute x numeric {2}\n@data\n": (1, "must be numeric, real, integer"),
    "@attribute x {a,b} c\n@data\n": (1, "must be numeric, real, integer"),
    "@attribute x {a,{b}}\n@data\n": (1, "quote values with braces"),
    "@attribute x {a,b,}\n@data\n": (1, "got 'a , b ,'"),
    "@attribute x {}\n@data\n": (1, "different values between its braces"),
    "@attribute x {a,b,'a'}\n@data\n": (1, "different values between its braces"),
    "@attribute 'x numeric\n@data\n": (1, "a quote is not closed"),
    "@attribute x real\n\n@attribute 'x' real\n@data\n": (3, "'x' is declared a second time"),
    "@attribute x real\n@data 1\n": (2, "alone on its line"),
}


@pytest.mark.parametrize("head", BAD_HEADS)
def test_bad_head_is_named_with_file_and_line(read_text, head):
    line, problem = BAD_HEADS[head]
    with pytest.raises(DatasetError, match=rf"toy\.arff, line {line}: .*{problem}"):
        read_text(head)


def test_file_without_rows_is_reported_as_truncated(read_text):
    with pytest.raises(DatasetError, match=r"toy\.arff: no rows follow @data.*truncated"):
        read_text(HEAD + "% nothing\n")


def test_label_missing_from_the_arff_is_named(read_text, tmp_path):
    xml = tmp_path / "toy.xml"
    xml.write_text('<labels>\n<label name="a"/>\n<label name="bb"/>\n</labels>')
    with pytest.raises(
        DatasetError, match=r"toy\.arff: no attribute is called 'bb', .*Did you mean 'b'\?"
    ):
        read_text(HEAD + "1,red,0,1\n", xml)


@pytest.mark.parametrize("labels", [[], ["a", "a"], ["a", 3], [None]])
def test_bad_list_of_labels_is_refused(read_text, labels):
    with pytest.raises(DatasetError, match="a list of different names, got"):
        read_text(HEAD + "1,red,0,1\n", labels)


@pytest.mark.parametrize(
    ("declared", "shown"), [("{red,green}", "'red, green'"), ("{0,0.0}", r"'0, 0\.0'")]
)
def test_label_with_other_values_than_zero_and_one_is_refused(read_text, declared, shown):
    with pytest.raises(
        DatasetError, match=f"attribute 'a', .* values 0 and 1, but declares {shown}"
    ):
        read_text(f"@attribute x real\n@attribute a {declared}\n@data\n1,0\n", ["a"])


def test_file_with_labels_only_is_refused(read_text):
    with pytest.raises(DatasetError, match="no features are left"):
        read_text("@attribute a {0,1}\n@data\n1\n", ["a"])


@pytest.mark.parametrize("path", ["nowhere.arff", "null\0byte.arff", "."])
def test_unreadable_file_is_a_dataset_error(tmp_path, path):
    with pytest.raises(DatasetError, match=r"cannot be read: .*Check the path"):
        read_mulan(tmp_path / path, ["a"])


def test_hostile_lines_take_linear_time(read_text):
    long = 50_000
    rows = [
        "1" * long + "x,red,0,1",
        "'" * long,
        "\\'" * long,
        "'" + "\\'" * long,
        "{" * long,
        "{0 1," * long,
    ]
    for row in [*rows, "," * long, "1 " * long]:
        with pytest.raises(DatasetError):
            read_text(HEAD + row + "\n")
    with pytest.raises(DatasetError):
        read_text("@attribute " + "x{" * long + "\n@data\n")

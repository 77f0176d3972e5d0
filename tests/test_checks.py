"""Checks at the door: what passes, and every message."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelsure._checks import (
    check_choice,
    check_count,
    check_label_matrix,
    check_label_names,
    check_number,
    check_outputs,
    check_same_length,
    check_significance,
    label_names_of,
    n_rows,
    read_labels,
    row_index_of,
)

EXPECTED = [[1, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize(
    "Y",
    [
        EXPECTED,
        tuple(map(tuple, EXPECTED)),
        np.array(EXPECTED),
        np.array(EXPECTED, dtype=bool),
        np.array(EXPECTED, dtype=np.float32),
        np.array(EXPECTED, dtype=np.uint64),
        np.array(EXPECTED, dtype=object),
        np.array([[True, 0, Decimal(1)], [np.False_, 0.0, np.int8(1)]], dtype=object),
        np.asfortranarray(EXPECTED),
        np.array(EXPECTED)[:, ::-1][:, ::-1],
        [[True, False, True], [0, 0.0, 1.0]],
        sparse.csr_matrix(EXPECTED),
        sparse.csc_array(EXPECTED),
        sparse.lil_matrix(EXPECTED),
        sparse.coo_array(np.array(EXPECTED, dtype=bool)),
    ],
    ids=lambda Y: f"{type(Y).__name__}-{getattr(Y, 'dtype', '')}",
)
def test_check_label_matrix_accepts(Y):
    checked = check_label_matrix(Y)
    assert checked.dtype == np.int8
    assert checked.flags.c_contiguous
    assert checked.tolist() == EXPECTED


@pytest.mark.parametrize(
    "dtype", ["int64", "float64", "bool", "Int64", "boolean", "Float64", "object", "category"]
)
def test_check_label_matrix_accepts_frames(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(EXPECTED, columns=["a", "b", "c"]).astype(dtype)
    assert check_label_matrix(frame).tolist() == EXPECTED
    mixed = frame.astype({"a": "Int64", "b": "bool"})
    assert check_label_matrix(mixed).tolist() == EXPECTED


def test_check_label_matrix_accepts_sparse_frames():
    pandas = pytest.importorskip("pandas")
    assert (
        check_label_matrix(pandas.DataFrame(EXPECTED).astype("Sparse[int8]")).tolist() == EXPECTED
    )


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "object"])
def test_check_label_matrix_refuses_missing_values_in_frames(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None], dtype=dtype), "b": [0, 1]})
    with pytest.raises(
        ValueError, match=r"Y must hold only 0 and 1, got (<NA>|nan|None) in row 1, column 0\."
    ):
        check_label_matrix(frame)


def test_check_label_matrix_copies():
    Y = np.array([[1, 0]], dtype=np.int8)
    check_label_matrix(Y)[0, 0] = 0
    assert Y.tolist() == [[1, 0]]


def test_check_label_matrix_accepts_no_rows():
    assert check_label_matrix(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (None, r"Y is required: pass a label matrix of shape \(n_objects, n_labels\), got None"),
        (
            [1, 0],
            r"Y must be a label matrix .* got an array of shape"
            r" \(2,\).*MultiLabelBinarizer.*Y.reshape\(-1, 1\)",
        ),
        (1, r"got an array of shape \(\)"),
        ([], r"got an array of shape \(0,\)"),
        (np.zeros((2, 2, 2)), r"got an array of shape \(2, 2, 2\)"),
        ([{"a"}, {"b"}], r"got an array of shape \(2,\)"),
        (np.zeros((3, 0)), r"Y must have at least one label \(column\), got shape \(3, 0\)"),
        (
            [[1, 0], [1]],
            "Y must be a rectangular label matrix .* got rows of different"
            " length.*MultiLabelBinarizer",
        ),
        (
            [[1, 2]],
            "Y must hold only 0 and 1, got 2 in row 0, column 1. Encode .*MultiLabelBinarizer",
        ),
        ([[1, 0], [-1, 0]], "got -1 in row 1, column 0"),
        ([[0, 0.5]], "got 0.5 in row 0, column 1"),
        ([[0, np.nan]], "got nan in row 0, column 1"),
        ([[0, np.inf]], "got inf in row 0, column 1"),
        ([[0, None]], "got None in row 0, column 1"),
        ([["0", "1"]], "got '0' in row 0, column 0"),
        ([["beach", "sea"]], "got 'beach' in row 0, column 0"),
        (np.array([["1", 0]], dtype=object), "got '1' in row 0, column 0"),
        (np.array([[b"1"]]), "got b'1' in row 0, column 0"),
        (
            np.array([["2020-01-01"]], dtype="datetime64[D]"),
            r"got np.datetime64\('2020-01-01'\) in row 0",
        ),
        (
            np.array([[1]], dtype="timedelta64[D]"),
            r"got np.timedelta64\(1,'D'\) in row 0, column 0",
        ),
        (
            np.array([[1]], dtype="timedelta64[ns]"),
            r"got np.timedelta64\(1,'ns'\) in row 0, column 0",
        ),
        (
            np.array([[np.timedelta64(1, "D")]], dtype=object),
            r"got np.timedelta64\(1,'D'\) in row 0, column 0",
        ),
        (np.zeros((1, 1), dtype="i4,i4"), r"got \(0, 0\) in row 0, column 0"),
        (np.array([[0, 1j]]), r"got 0j in row 0, column 0"),
        (np.array([[1 + 0j]], dtype=object), r"got \(1\+0j\) in row 0, column 0"),
        (
            np.ma.array([[0, 1], [1, 0]], mask=[[0, 0], [1, 0]]),
            "got a masked entry in row 1, column 0",
        ),
        (
            [np.ma.array([0, 1]), np.ma.array([1, 0], mask=[0, 1])],
            "got a masked entry in row 1, column 1",
        ),
        (np.empty((0, 2), dtype="U1"), "got an array of type <U1"),
        (sparse.csr_matrix([[0, 3]]), "got 3 in row 0, column 1"),
    ],
    ids=repr,
)
def test_check_label_matrix_refuses(Y, message):
    with pytest.raises(ValueError, match=message):
        check_label_matrix(Y)


def test_check_label_matrix_refuses_nested_arrays():
    Y = np.empty((1, 2), dtype=object)
    Y[0, 0], Y[0, 1] = np.array([0, 1]), 1
    with pytest.raises(
        ValueError, match=r"Y must hold only 0 and 1, got array\(\[0, 1\]\) in row 0, column 0"
    ):
        check_label_matrix(Y)


def test_check_label_matrix_names_the_argument_and_the_columns_required():
    with pytest.raises(
        ValueError, match="training_labels must have 3 columns, one per label, got 2"
    ):
        check_label_matrix([[0, 1]], name="training_labels", n_labels=3)
    assert check_label_matrix([[0, 1]], n_labels=2).shape == (1, 2)


def test_label_names_are_those_of_a_frame():
    pandas = pytest.importorskip("pandas")
    assert label_names_of(pandas.DataFrame([[0, 1]], columns=["sea", 7])) == ("sea", "7")
    for without in (np.zeros((1, 2)), [[0, 1]], sparse.csr_array([[0, 1]]), None):
        assert label_names_of(without) is None


NAMES = ("beach", "sea", "city")


class PolarsLike:
    """A table with what polars' DataFrame has: a list of columns, columns by a list of names, an array."""

    def __init__(self, columns):
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, names):
        return PolarsLike({name: self._columns[name] for name in names})

    def __array__(self, dtype=None, copy=None):
        return np.column_stack(list(self._columns.values())).astype(dtype)


def test_check_label_matrix_takes_the_columns_of_a_table_by_name():
    pandas = pytest.importorskip("pandas")
    order = ["city", "beach", "sea"]
    frame = pandas.DataFrame(EXPECTED, columns=NAMES)[order]
    table = PolarsLike({name: frame[name].to_numpy() for name in order})
    for Y in (frame, table):
        assert check_label_matrix(Y, label_names=NAMES).tolist() == EXPECTED
        assert check_label_matrix(Y).tolist() == frame.to_numpy().tolist()


def test_check_label_matrix_takes_what_has_no_names_by_position():
    pandas = pytest.importorskip("pandas")
    for Y in (EXPECTED, sparse.csr_array(EXPECTED), pandas.DataFrame(EXPECTED)):
        assert check_label_matrix(Y, label_names=NAMES).tolist() == EXPECTED
    named = pandas.DataFrame(EXPECTED, columns=NAMES)
    assert check_label_matrix(named, label_names=["0", "1", "2"]).tolist() == EXPECTED
    turned = pandas.DataFrame(EXPECTED)[[2, 0, 1]]
    assert check_label_matrix(turned, label_names=["0", "1", "2"]).tolist() == EXPECTED


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ["beach", "sea", "town"],
            "must have the 3 labels as columns, in any order, got 3 columns without 'city'",
        ),
        (["beach", "sea"], "got 2 columns without 'city'.*The labels are 'beach', 'sea', 'city'"),
        (["beach", "sea", "city", "town"], "got 4 columns with 'town'.*array without names"),
        (["beach", "sea", "sea"], "got 3 columns without 'city'"),
        (["beach", "sea", "city", "sea"], "got 4 columns"),
    ],
    ids=str,
)
def test_check_label_matrix_refuses_other_names(columns, message):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=message):
        check_label_matrix(pandas.DataFrame(0, index=[0], columns=columns), label_names=NAMES)


def test_read_labels_takes_the_names_given_then_those_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1]], columns=["sea", 7])
    assert read_labels(frame, None)[1] == ("sea", "7")
    assert read_labels(frame, np.array(["a", "b"]))[1] == ("a", "b")
    assert read_labels([[0, 1]], None)[1] is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["sea", "city", "sea"],
            "Label names must differ, got 'sea' for the labels 0 and 2. Rename",
        ),
        ([7, "7", "city"], "Label names must differ, got '7' for the labels 0 and 1"),
        (["sea", "city"], "label_names must name the 3 labels, got 2 names"),
        ("sea", "label_names must be a sequence of 3 names, got the string 'sea'"),
    ],
    ids=str,
)
def test_check_label_names_refuses(names, message):
    with pytest.raises(ValueError, match=message):
        check_label_names(names, 3)
    with pytest.raises(ValueError, match=message):
        read_labels(EXPECTED, names)


def test_read_labels_refuses_a_frame_with_a_column_twice():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(
        ValueError, match="Label names must differ, got 'sea' for the labels 0 and 1"
    ):
        read_labels(pandas.DataFrame([[0, 1]], columns=["sea", "sea"]), None)


def test_row_index_is_that_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0], [1]], index=["x", "y"])
    assert row_index_of(frame).tolist() == row_index_of(frame[0]).tolist() == ["x", "y"]
    for without in ([[0]], np.zeros((1, 2)), sparse.csr_array([[0]]), None):
        assert row_index_of(without) is None


PLAIN = [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64, object]
ODD = [
    np.complex64,
    "datetime64[ns]",
    "datetime64[D]",
    "timedelta64[ns]",
    "timedelta64[s]",
    "U3",
    "S3",
]
ZEROS_AND_ONES = arrays(
    np.int8, st.tuples(st.integers(1, 3), st.integers(1, 4)), elements=st.integers(0, 1)
)


@given(ZEROS_AND_ONES, st.sampled_from(PLAIN), st.booleans())
def test_checks_give_the_same_for_every_type_of_numbers(Y, dtype, as_list):
    given_as = Y.astype(dtype).tolist() if as_list else Y.astype(dtype)
    assert np.array_equal(check_label_matrix(given_as), Y)
    assert np.array_equal(check_outputs(given_as), Y)
    unmasked = np.ma.array(Y.astype(dtype), mask=np.zeros(Y.shape, dtype=bool))
    assert np.array_equal(check_label_matrix(unmasked), Y)
    assert np.array_equal(check_outputs(unmasked), Y)


@given(ZEROS_AND_ONES, st.sampled_from(ODD), st.booleans(), st.data())
def test_checks_refuse_every_type_that_is_no_number(Y, dtype, one_by_one, data):
    odd = Y.astype(np.int64).astype(dtype)
    if one_by_one:
        places = np.ndindex(Y.shape)
        which = data.draw(st.sampled_from(list(places)))
        mixed = Y.astype(object)
        mixed[which] = odd[which]
        odd = mixed
    masked = np.ma.array(Y, mask=data.draw(arrays(bool, Y.shape).filter(np.any)))
    for check in (check_label_matrix, check_outputs):
        for refused in (odd, masked):
            with pytest.raises(
                ValueError, match=r"(must hold only 0 and 1|must be a dense array of numbers).* got"
            ):
                check(refused)


def test_n_rows_of_anything_with_rows():
    pandas = pytest.importorskip("pandas")
    for X in (
        np.zeros((3, 2)),
        sparse.csr_array((3, 2)),
        pandas.DataFrame(np.zeros((3, 2))),
        ["a", "b", "c"],
        range(3),
    ):
        assert n_rows(X) == 3


def test_check_same_length():
    check_same_length([1, 2], np.zeros((2, 5)))
    with pytest.raises(
        ValueError, match=r"X and Y must have the same number of rows, got 2 and 3\. Each row"
    ):
        check_same_length([1, 2], np.zeros((3, 5)))
    with pytest.raises(
        ValueError, match="outputs and labels must have the same number of rows, got 1 and 0"
    ):
        check_same_length([1], [], names=("outputs", "labels"))


def test_check_outputs_accepts():
    pandas = pytest.importorskip("pandas")
    expected = [[0.0, 0.25], [1.0, 0.5]]
    for outputs in (
        expected,
        np.array(expected, dtype=np.float32),
        np.asfortranarray(expected),
        pandas.DataFrame(expected),
        np.array(expected, dtype=object),
    ):
        checked = check_outputs(outputs, n_labels=2)
        assert checked.dtype == np.float64
        assert checked.flags.c_contiguous
        assert checked.tolist() == expected
    assert check_outputs([[True, False]]).tolist() == [[1.0, 0.0]]
    assert check_outputs(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([0.5], r"outputs must have shape \(n_objects, n_labels\), got \(1,\)"),
        (0.5, r"outputs must have shape \(n_objects, n_labels\), got \(\)"),
        (None, r"outputs must be a dense array of numbers .* got a NoneType with None"),
        (
            [[0.5, 2.0]],
            "outputs must lie between 0 and 1, got 2.0 in row 0, column 1. .*scipy.special.expit",
        ),
        ([[-1e-9]], "got -1e-09 in row 0, column 0"),
        ([[0.5], [np.nan]], "got nan in row 1, column 0"),
        ([[np.inf]], "got inf in row 0, column 0"),
        ([[None]], "got a list with None in row 0, column 0"),
        (
            [["high"]],
            "outputs must be a dense array of numbers .* got a list with 'high' in row 0, column 0",
        ),
        ([[0.5, "0.5"]], "got a list with '0.5' in row 0, column 0"),
        (np.array([[0.5, "0.5"]], dtype=object), "got a ndarray with '0.5' in row 0, column 1"),
        ([[b"1"]], "got a list with b'1' in row 0, column 0"),
        ([[0.5 + 0j]], r"got a list with \(0.5\+0j\) in row 0, column 0"),
        (np.array([[1]], dtype="datetime64[ns]"), "got a ndarray with np.datetime64"),
        (
            np.ma.array([[0.5, 0.2]], mask=[[0, 1]]),
            "got a MaskedArray with a masked entry in row 0, column 1",
        ),
        (
            [[10**400]],
            "outputs must be a dense array of numbers .* got a list that numpy cannot read",
        ),
        ([[1e300]], "outputs must lie between 0 and 1, got 1e\\+300"),
        (
            [[0.5], [0.5, 0.5]],
            "outputs must be a dense array of numbers .* got a list .*inhomogeneous",
        ),
        (
            sparse.csr_array([[0.5, 0.0]]),
            "outputs must be a dense array of numbers .* got a csr_array",
        ),
        ({"a": 1}, "outputs must be a dense array of numbers .* got a dict"),
    ],
    ids=repr,
)
def test_check_outputs_refuses(outputs, message):
    with pytest.raises(ValueError, match=message):
        check_outputs(outputs)


def test_check_outputs_names_the_argument_and_the_columns_required():
    with pytest.raises(ValueError, match=r"mine must have shape \(n_objects, 3\), got \(1, 2\)"):
        check_outputs([[0.5, 0.5]], name="mine", n_labels=3)


@pytest.mark.parametrize("percent", range(1, 100))
def test_check_significance_reads_decimals_and_their_complements_alike(percent):
    expected = Fraction(percent, 100)
    level, confidence = percent / 100, (100 - percent) / 100
    for same in (
        level,
        1 - confidence,
        1 - (1 - level),
        np.float64(level),
        np.float32(level),
        expected,
    ):
        assert check_significance(same) == expected


@given(st.integers(2, 10_000), st.data())
def test_check_significance_recovers_fractions(denominator, data):
    fraction = Fraction(data.draw(st.integers(1, denominator - 1)), denominator)
    level = fraction.numerator / fraction.denominator
    assert (
        check_significance(level)
        == check_significance(1 - (1 - level))
        == check_significance(fraction)
        == fraction
    )


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_check_significance_stays_inside_and_near(level):
    fraction = check_significance(level)
    assert 0 < fraction < 1
    assert abs(fraction - Fraction(level)) <= Fraction(1, 10**9)


@pytest.mark.parametrize(
    "level",
    [
        0,
        1,
        0.0,
        1.0,
        -1,
        95,
        "95",
        "0.05",
        True,
        False,
        np.True_,
        np.nan,
        np.inf,
        None,
        [0.1],
        1j,
        10**400,
    ],
    ids=lambda level: repr(level)[:12],
)
def test_check_significance_refuses(level):
    message = "significance must be a number strictly between 0 and 1, got .*For 95 % confidence pass significance=0.05"
    with pytest.raises(ValueError, match=message):
        check_significance(level)


def test_check_choice():
    assert check_choice("auto", ("auto", "allow"), name="empty") == "auto"
    for bad in ("Auto", None, 1, ["auto"], np.array(["auto", "allow"])):
        with pytest.raises(ValueError, match="empty must be one of 'auto', 'allow', got "):
            check_choice(bad, ("auto", "allow"), name="empty")


def test_check_number_accepts():
    for good in (2, 2.0, np.float32(2), np.int8(2), Fraction(2)):
        checked = check_number(good, name="d", above=1, at_least=2)
        assert checked == 2.0
        assert type(checked) is float


@pytest.mark.parametrize("bad", ["1", None, True, np.nan, np.inf, -np.inf, 1j, [1], Decimal(3)])
def test_check_number_refuses_what_is_no_finite_number(bad):
    with pytest.raises(ValueError, match="d must be a finite number, got "):
        check_number(bad, name="d")


def test_check_number_names_its_bound():
    with pytest.raises(ValueError, match="d must be a finite number above 0, got 0"):
        check_number(0, name="d", above=0)
    with pytest.raises(ValueError, match=r"d must be a finite number of at least 0\.5, got 0\.25"):
        check_number(0.25, name="d", at_least=0.5)
    assert check_number(0.5, name="d", at_least=0.5) == 0.5


def test_check_count():
    for good in (3, np.int64(3), np.uint8(3)):
        assert type(check_count(good, name="cv", at_least=3)) is int
    for bad in (2, 3.0, "3", None, True, np.nan):
        with pytest.raises(ValueError, match="cv must be a whole number of at least 3, got "):
            check_count(bad, name="cv", at_least=3)

"""Checks at the door: what passes, and every message."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelsure._checks import check_label_matrix, check_outputs, check_significance, read_labels

EXPECTED = [[1, 0, 1], [0, 0, 1]]
NAMES = ("beach", "sea", "city")


@pytest.mark.parametrize(
    "Y",
    [
        tuple(map(tuple, EXPECTED)),
        np.array(EXPECTED, dtype=np.uint64),
        np.array([[True, 0, Decimal(1)], [np.False_, 0.0, np.int8(1)]], dtype=object),
        np.asfortranarray(EXPECTED),
        np.array(EXPECTED)[:, ::-1][:, ::-1],
        [[True, False, True], [0, 0.0, 1.0]],
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
    "dtype", ["int64", "bool", "Int64", "boolean", "Float64", "object", "category", "Sparse[int8]"]
)
def test_check_label_matrix_accepts_frames_without_gaps(dtype):
    pandas = pytest.importorskip("pandas")
    assert check_label_matrix(pandas.DataFrame(EXPECTED).astype(dtype)).tolist() == EXPECTED
    if dtype in ("Int64", "boolean", "Float64", "object"):
        gap = pandas.DataFrame({"a": pandas.array([1, None], dtype=dtype), "b": [0, 1]})
        with pytest.raises(
            ValueError, match=r"Y must hold only 0 and 1, got .* in row 1, column 0"
        ):
            check_label_matrix(gap)


def object_array(cell):
    array = np.empty((1, 2), dtype=object)
    array[0, 0], array[0, 1] = cell, 1
    return array


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (None, r"Y is required: pass a label matrix of shape \(n_objects, n_labels\), got None"),
        ([1, 0], r"Y must be a label matrix .* got an array of shape \(2,\).*Y.reshape\(-1, 1\)"),
        (1, r"got an array of shape \(\)"),
        (np.zeros((2, 2, 2)), r"got an array of shape \(2, 2, 2\)"),
        ([{"a"}, {"b"}], r"got an array of shape \(2,\)"),
        (np.zeros((3, 0)), r"Y must have at least one label \(column\), got shape \(3, 0\)"),
        ([[1, 0], [1]], "Y must be a rectangular label matrix .* got rows of different length"),
        ([[1, 2]], "Y must hold only 0 and 1, got 2 in row 0, column 1. Encode .*LabelBinarizer"),
        ([[1, 0], [-1, 0]], "got -1 in row 1, column 0"),
        ([[0, 0.5]], "got 0.5 in row 0, column 1"),
        ([[0, np.nan]], "got nan in row 0, column 1"),
        ([[0, None]], "got None in row 0, column 1"),
        ([["beach", "sea"]], "got 'beach' in row 0, column 0"),
        (np.array([["1", 0]], dtype=object), "got '1' in row 0, column 0"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "got np.datetime64.* in row 0"),
        (object_array(np.timedelta64(1, "D")), r"got np.timedelta64\(1,'D'\) in row 0, column 0"),
        (object_array(np.array([0, 1])), r"got array\(\[0, 1\]\) in row 0, column 0"),
        (np.zeros((1, 1), dtype="i4,i4"), r"got \(0, 0\) in row 0, column 0"),
        (np.array([[1 + 0j]], dtype=object), r"got \(1\+0j\) in row 0, column 0"),
        (np.ma.array([[0, 1], [1, 0]], mask=[[0, 0], [1, 0]]), "a masked entry in row 1, column 0"),
        ([np.ma.array([0, 1]), np.ma.array([1, 0], mask=[0, 1])], "a masked entry in row 1, col"),
        (np.empty((0, 2), dtype="U1"), "got an array of type <U1"),
        (sparse.csr_matrix([[0, 3]]), "got 3 in row 0, column 1"),
    ],
    ids=repr,
)
def test_check_label_matrix_refuses(Y, message):
    with pytest.raises(ValueError, match=message):
        check_label_matrix(Y)


def test_check_label_matrix_takes_the_columns_of_a_table_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(EXPECTED, columns=NAMES)[["city", "beach", "sea"]]
    for Y in (frame, pytest.importorskip("polars").from_pandas(frame)):
        assert check_label_matrix(Y, label_names=NAMES).tolist() == EXPECTED
        assert check_label_matrix(Y).tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["beach", "sea", "town"], "must have the 3 labels .* got 3 columns without 'city'"),
        (["beach", "sea"], "got 2 columns without 'city'.*The labels are 'beach', 'sea', 'city'"),
        (["beach", "sea", "city", "town"], "got 4 columns with 'town'.*array without names"),
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
    with pytest.raises(ValueError, match="Label names must differ, got 'sea' for the labels 0 and"):
        read_labels(pandas.DataFrame([[0, 1]], columns=["sea", "sea"]), None)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["sea", "city", "sea"], "Label names must differ, got 'sea' for the labels 0 and 2. Ren"),
        ([7, "7", "city"], "Label names must differ, got '7' for the labels 0 and 1"),
        (["sea", "city"], "label_names must name the 3 labels, got 2 names"),
        ("sea", "label_names must be a sequence of 3 names, got the string 'sea'"),
    ],
    ids=str,
)
def test_read_labels_refuses_names(names, message):
    with pytest.raises(ValueError, match=message):
        read_labels(EXPECTED, names)


PLAIN = [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64, object]
ODD = [np.complex64, "datetime64[ns]", "datetime64[D]", "timedelta64[ns]", "U3", "S3"]
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 4))
ZEROS_AND_ONES = arrays(np.int8, SHAPES, elements=st.integers(0, 1))


@given(ZEROS_AND_ONES, st.sampled_from(PLAIN), st.booleans())
def test_checks_give_the_same_for_every_type_of_numbers(Y, dtype, as_list):
    given_as = Y.astype(dtype).tolist() if as_list else Y.astype(dtype)
    unmasked = np.ma.array(Y.astype(dtype), mask=np.zeros(Y.shape, dtype=bool))
    for check in (check_label_matrix, check_outputs):
        assert np.array_equal(check(given_as), Y)
        assert np.array_equal(check(unmasked), Y)


@given(ZEROS_AND_ONES, st.sampled_from(ODD), st.booleans(), st.data())
def test_checks_refuse_every_type_that_is_no_number(Y, dtype, single, data):
    odd = Y.astype(np.int64).astype(dtype)
    if single:
        cell = data.draw(st.sampled_from(list(np.ndindex(Y.shape))))
        mixed = Y.astype(object)
        mixed[cell] = odd[cell]
        odd = mixed
    masked = np.ma.array(Y, mask=data.draw(arrays(bool, Y.shape).filter(np.any)))
    message = r"(must hold only 0 and 1|must be a dense array of numbers).* got"
    for check in (check_label_matrix, check_outputs):
        for refused in (odd, masked):
            with pytest.raises(ValueError, match=message):
                check(refused)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([0.5], r"outputs must have shape \(n_objects, n_labels\), got \(1,\)"),
        (None, r"outputs must be a dense array of numbers .* got a NoneType with None"),
        ([[0.5, 2.0]], "outputs must lie between 0 and 1, got 2.0 in row 0, column 1. .*expit"),
        ([[-1e-9]], "got -1e-09 in row 0, column 0"),
        ([[0.5], [np.nan]], "got nan in row 1, column 0"),
        ([["high"]], "outputs must be a dense array of numbers .* got a list with 'high' in row 0"),
        (np.array([[0.5, "0.5"]], dtype=object), "got a ndarray with '0.5' in row 0, column 1"),
        ([[b"1"]], "got a list with b'1' in row 0, column 0"),
        ([[0.5 + 0j]], r"got a list with \(0.5\+0j\) in row 0, column 0"),
        (np.array([[1]], dtype="datetime64[ns]"), "got a ndarray with np.datetime64"),
        ([[10**400]], "must be a dense array of numbers .* got a list that numpy cannot read"),
        ([[0.5], [0.5, 0.5]], "must be a dense array of numbers .* got a list .*inhomogeneous"),
        (sparse.csr_array([[0.5, 0.0]]), "must be a dense array of numbers .* got a csr_array"),
        ({"a": 1}, "outputs must be a dense array of numbers .* got a dict"),
    ],
    ids=repr,
)
def test_check_outputs_refuses(outputs, message):
    with pytest.raises(ValueError, match=message):
        check_outputs(outputs)


def test_check_significance_reads_decimals_and_their_complements_alike():
    for percent in range(1, 100):
        level, confidence = percent / 100, (100 - percent) / 100
        for same in (level, 1 - confidence, 1 - (1 - level), np.float32(level)):
            assert check_significance(same) == Fraction(percent, 100)


@given(st.integers(2, 10_000), st.data())
def test_check_significance_recovers_fractions(denominator, data):
    fraction = Fraction(data.draw(st.integers(1, denominator - 1)), denominator)
    level = fraction.numerator / fraction.denominator
    for same in (level, 1 - (1 - level), fraction):
        assert check_significance(same) == fraction


@pytest.mark.parametrize(
    "level",
    [0, 1.0, -1, 95, "0.05", True, np.nan, np.inf, None, [0.1], 1j, 10**400],
    ids=lambda level: repr(level)[:12],
)
def test_check_significance_refuses(level):
    message = "significance must be a number strictly between 0 and 1, got .*pass significance=0.05"
    with pytest.raises(ValueError, match=message):
        check_significance(level)

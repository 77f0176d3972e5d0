"""Labelsets as input: a row per object, one for all, by names; label names in all arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsure import calibrate_outputs
from labelsure.predictions._batch import check_labelsets

NAMES = ("sea", "beach", "city", "field")


def predict(n_objects=300, *, names=NAMES):
    """Predictions from outputs equal to the true probabilities, and labels; 0 is commonest."""
    rng = np.random.default_rng(0)
    outputs = rng.random((100 + n_objects, 4)) ** np.array([0.2, 1.0, 2.0, 5.0])
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    predictor = calibrate_outputs(outputs[:100], Y[:100], label_names=names)
    return predictor.predict_labelsets(outputs[100:]), Y[100:]


@given(st.permutations(NAMES))
def test_labels_in_another_column_order_are_taken_by_name(order):
    pandas = pytest.importorskip("pandas")
    pred, Y = predict(20)
    region = pred.region(0.2)
    frame = pandas.DataFrame(Y, columns=NAMES)
    assert np.array_equal(pred.p_value(frame[order]), pred.p_value(Y))
    assert np.array_equal(region.contains(frame[order]), region.contains(Y))
    for i in range(3):
        assert (frame[order].iloc[i] in region[i]) == (Y[i] in region[i])
        assert np.array_equal(pred.p_value(frame[order].iloc[i]), pred.p_value(Y[i]))


@pytest.mark.parametrize("ask", ["p_value", "contains", "in"])
def test_tables_with_other_labels_are_refused(ask):
    pandas = pytest.importorskip("pandas")
    pred, Y = predict(5)
    frame = pandas.DataFrame(Y, columns=["sea", "beach", "city", "wood"])
    with pytest.raises(ValueError, match=r"in any order, got 4 columns without 'field'.*The"):
        if ask == "in":
            frame.iloc[0] in pred.region(0.1)[0]  # noqa: B015
        else:
            (pred.p_value if ask == "p_value" else pred.region(0.1).contains)(frame)


def test_tables_are_taken_by_position_where_only_one_side_has_names():
    pandas = pytest.importorskip("pandas")
    pred, Y = predict(5)
    nameless, _ = predict(5, names=None)
    expected = pred.p_value(Y).tolist()
    assert pred.p_value(pandas.DataFrame(Y)).tolist() == expected
    assert nameless.p_value(pandas.DataFrame(Y, columns=NAMES)).tolist() == expected
    assert nameless[:5].p_value(pandas.DataFrame(Y, columns=NAMES)).tolist() == expected
    made_up = pandas.DataFrame(Y, columns=nameless.label_names)
    assert nameless.p_value(made_up[made_up.columns[::-1]]).tolist() == expected


@pytest.mark.parametrize(
    "labelset",
    [
        [1, 0, 1, 0],
        (True, False, True, False),
        np.array([1.0, 0, 1, 0]),
        np.array([1, 0, 1, 0], dtype=object),
        {"sea", "city"},
        frozenset({"sea", "city"}),
        ["city", "sea"],
        ("sea", "city"),
        np.array(["sea", "city"]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_one_labelset_is_asked_for_all_objects(labelset):
    pred, _ = predict(6)
    rows = np.tile([1, 0, 1, 0], (6, 1))
    assert np.array_equal(pred.p_value(labelset), pred.p_value(rows))
    assert np.array_equal(pred.region(0.3).contains(labelset), pred.region(0.3).contains(rows))
    assert [labelset in one for one in pred.region(0.3)] == pred.region(0.3).contains(rows).tolist()
    assert pred[:0].p_value(labelset).shape == (0,)


@pytest.mark.parametrize(
    ("labelset", "message"),
    [
        ({"see"}, "Y must name labels, got 'see'. The labels are 'sea', 'beach', 'city', 'field'."),
        (["sea", "see"], "Y must name labels, got 'see'"),
        ({0, 1}, "Y must name labels, got 0"),
        ("sea", r"Y must be zeros and ones or a set of label names, got 'sea'. Pass \['sea'\]"),
        ([1, 0, 1], "Y must have 4 columns, one per label, got 3"),
        ([1, 0, 2, 0], "Y must hold only 0 and 1, got 2 in row 0, column 2"),
        ([1, 0, np.nan, 0], "got nan"),
        (np.ma.array([1, 0, 1, 0], mask=[0, 0, 1, 0]), "got a masked entry in row 0, column 2"),
        (np.array([], dtype=float), "Y must have at least one label"),
        (["sea", 1], "Y must be a label matrix"),
        ([{"sea"}, {"city"}], "Y must be a label matrix"),
        ([[1, 0], [1]], "got rows of different length"),
        (None, "Y is required"),
        (sparse.csr_array([[1, 0, 1, 0]]), "the predictions and Y must have the same number of"),
    ],
    ids=repr,
)
def test_labelsets_that_are_none_are_refused(labelset, message):
    with pytest.raises(ValueError, match=message):
        check_labelsets(labelset, n_objects=2, label_names=NAMES)

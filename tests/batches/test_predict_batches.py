"""Batches: the same bits however rows are cut, in order, read only when needed."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsure._errors import BatchError
from labelsure.batches import TablePredictor, predict_batches

pd = pytest.importorskip("pandas", reason="tables of pandas")
pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")


def cut(table, places):
    return [table[start:stop] for start, stop in pairwise([0, *sorted(places), len(table)])]


@pytest.mark.parametrize("name", ["cross", "exact", "smoothed", "file"])
@settings(max_examples=6)
@given(data=st.data())
def test_answers_do_not_depend_on_how_rows_are_cut(fitted, name, data):
    model, rows = (
        (fitted.file, fitted.tickets) if name == "file" else (fitted.models[name], fitted.rows)
    )
    expected = TablePredictor(model, significance=0.3)(rows)
    places = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    found = list(predict_batches(model, cut(rows, places), significance=0.3))
    pd.testing.assert_frame_equal(pd.concat(found), expected, check_exact=True)


def test_batches_are_taken_only_when_answers_are_asked_for(fitted):
    taken = []

    def batches():
        for number in range(5):
            taken.append(number)
            yield fitted.rows[number : number + 1]

    answers = predict_batches(fitted.models["cross"], batches())
    assert taken == []
    next(answers)
    next(answers)
    assert taken == [0, 1]


def test_a_batch_that_fails_is_named_and_those_before_it_are_there(fitted):
    batches = cut(fitted.rows, [10, 20])
    answers = predict_batches(
        fitted.models["cross"], [batches[0], batches[1].assign(a="x"), batches[2]]
    )
    assert len(next(answers)) == 10
    with pytest.raises(
        BatchError, match=r"^batch 1 \(rows 10 to 19, both counted from 0\) cannot be predicted: "
    ):
        next(answers)


def test_an_error_of_the_iterator_is_its_own(fitted):
    def batches():
        yield fitted.rows[:1]
        raise OSError("the disk is gone")

    answers = predict_batches(fitted.models["cross"], batches())
    next(answers)
    with pytest.raises(OSError, match="the disk is gone"):
        next(answers)


def test_wrong_options_are_refused_before_anything_is_taken(fitted):
    with pytest.raises(ValueError, match="significance"):
        predict_batches(fitted.models["cross"], iter([]), significance=0)
    assert list(predict_batches(fitted.models["cross"], [])) == []


def test_arrays_come_out_as_tables(fitted):
    X = fitted.rows.to_numpy()
    model = pickle.loads(pickle.dumps(fitted.models["smoothed"]))
    found = pd.concat(predict_batches(model, [X[:7], X[7:]]), ignore_index=True)
    pd.testing.assert_frame_equal(found, TablePredictor(model)(fitted.rows), check_exact=True)
    assert np.isfinite(found["top1_p"]).all()

"""What calls have in common is found by identity, and put back where it was."""

import pickle

import numpy as np
from scipy import sparse

from labelsure._core.cluster import Common, _divide, _do

X, OTHER = np.arange(1000.0), np.arange(5.0)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def times(self, values, *, plus=0):
        return self.factor * values.sum() + plus


def answers(calls):
    common, private = _divide(calls)
    done = _do(lambda number, function, args, kwargs: (number, function(*args, **kwargs)), common, pickled(private))
    return common, private, [answer for _, answer in sorted(done)]


def pickled(private):
    return pickle.dumps(list(enumerate(private)))


def test_calls_divided_and_put_together_again_return_the_same():
    double = Scale(2)
    calls = [(double.times, (X,), {"plus": k}) for k in range(3)] + [(Scale(3).times, (OTHER,), {}), (max, (1, 2), {})]
    common, private, found = answers(calls)
    assert found == [function(*args, **kwargs) for function, args, kwargs in calls]
    assert [*map(id, common.objects)] == [id(double), id(X)]
    assert len(pickle.dumps(private[:3])) < X.nbytes / 4


def test_what_is_in_one_call_only_stays_in_it():
    common, private = _divide([(sum, (X,), {}), (sum, (OTHER,), {})])
    assert common.objects == []
    assert private[0][1][0] is X


def test_equal_numbers_and_texts_are_not_in_common():
    common, _ = _divide([(max, (5, 7), {"key": None}), (max, (5, 7), {"key": None})])
    assert common.objects == []


def test_bytes_of_sparse_data_are_counted():
    matrix = sparse.random_array((300, 300), density=0.5, format="csr", random_state=0)
    assert Common([matrix]).__sizeof__() > matrix.data.nbytes + matrix.indices.nbytes

"""Draws belong to objects: alone, in a batch, in any container, in any process.

Tests of uniformity compare counts with their expectation by a chi-square test. All seeds are fixed;
with other ones each comparison fails a perfect generator with probability 1e-6.
"""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import chisquare
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import SGDClassifier

from labelsure._random import (
    DRAW_UNIT,
    MERGING,
    SMOOTHING,
    draw_order,
    draw_uniforms,
    object_keys,
    set_missing_seeds,
)

FALSE_ALARM = 1e-6
NUMBERS = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(0, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, np.inf, np.nan]),
)


def test_set_missing_seeds_reaches_nested_estimators_and_keeps_the_users_own():
    estimator = set_missing_seeds(BaggingClassifier(SGDClassifier()), 5)
    assert estimator.random_state == estimator.estimator.random_state == 5
    estimator = set_missing_seeds(
        BaggingClassifier(SGDClassifier(random_state=0), random_state=None), 5
    )
    assert (estimator.random_state, estimator.estimator.random_state) == (5, 0)


@given(NUMBERS)
def test_keys_do_not_depend_on_the_container(X):
    keys = object_keys(X)
    assert keys.dtype == np.uint64
    forms = [
        np.asfortranarray(X),
        X.astype(object),
        X.tolist(),
        list(X),
        pd.DataFrame(X),
        pd.DataFrame(X, columns=["same"] * X.shape[1]),
        pd.DataFrame(X, dtype=object),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
    ]
    for form in forms:
        assert object_keys(form).tolist() == keys.tolist()
    for i, row in enumerate(X):
        assert object_keys(row[None]).tolist() == [keys[i]]
        assert object_keys([row.tolist()]).tolist() == [keys[i]]


def test_keys_of_unequal_rows_differ():
    """Rows of 0, 1, 2 in five columns, and in fewer columns with zeros in other places."""
    X = np.array(list(itertools.product([0, 1, 2], repeat=5)))
    assert len(set(object_keys(X).tolist())) == 3**5
    moved = np.roll(X, 1, axis=1)
    assert (object_keys(moved) == object_keys(X)).sum() == 3  # rows of one number only


def test_keys_of_a_row_do_not_depend_on_the_rows_beside_it():
    """In a list rows may be of any type: texts, numbers, lists of tokens."""
    rows = [
        "12",
        "abc",
        "nan",
        ["a"],
        ["a", "b"],
        [1.5, "a"],
        [1, 2, 3],
        np.array([1.0, 2.0]),
        {"word": 2},
        b"raw",
        None,
    ]
    together = object_keys(rows).tolist()
    assert together == [int(object_keys([row])[0]) for row in rows]
    assert len(set(together)) == len(rows)
    assert object_keys(["12", "13"]).tolist() == [
        int(object_keys([row])[0]) for row in ("12", "13")
    ]


def test_keys_of_frames_with_words_dates_and_gaps():
    frame = pd.DataFrame({
        "size": [1.5, 2.0, np.nan],
        "colour": ["red", None, "blue"],
        "kind": pd.Categorical(["x", "y", "x"]),
        "day": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
    })  # fmt: skip
    keys = object_keys(frame)
    assert len(set(keys.tolist())) == 3
    assert [int(object_keys(frame.iloc[[i]])[0]) for i in range(3)] == keys.tolist()
    assert object_keys(frame.iloc[::-1]).tolist() == keys[::-1].tolist()
    assert (object_keys(frame.assign(colour="green")) != keys).all()


@pytest.mark.parametrize("default", [0.0, 0.125, 0.5])
def test_keys_of_sparse_rows_with_a_default_are_those_of_dense_ones(default):
    rng = np.random.default_rng(0)
    dense = rng.choice([default, 0.0, 0.125, 1.0], size=(20, 6))
    stored = (dense != default) | (rng.random(dense.shape) < 0.3)
    matrix = sparse.csr_array((dense[stored], np.nonzero(stored)), shape=dense.shape)
    assert object_keys(matrix, default=default).tolist() == object_keys(dense).tolist()
    twice = sparse.coo_array(([0.5, 0.5], ([0, 0], [1, 1])), shape=(1, 3))
    assert object_keys(twice).tolist() == object_keys([[0.0, 1.0, 0.0]]).tolist()


def test_draws_are_the_same_in_another_process():
    """With another seed for Python's own hashes."""
    code = """
import json, numpy as np, pandas as pd
from labelsure._random import draw_order, draw_uniforms, object_keys
frame = pd.DataFrame({"size": [1.5, 2.0], "colour": ["red", "blue"]})
for objects in (frame, ["a rose", "12"], np.eye(2)):
    keys = object_keys(objects)
    uniforms, order = draw_uniforms(7, 1, keys), draw_order(7, objects[:1], 9)
    print(json.dumps([keys.tolist(), uniforms.tolist(), order.tolist()]))
"""
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    command = [sys.executable, "-c", code]
    printed = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        for environment in environments
    ]
    assert printed[0] == printed[1]
    keys, draws, order = json.loads(printed[0].splitlines()[2])
    assert keys == object_keys(np.eye(2)).tolist()
    assert draws == draw_uniforms(7, 1, object_keys(np.eye(2))).tolist()
    assert order == draw_order(7, np.eye(2)[:1], 9).tolist()


FAMILIES = {
    "normal": lambda rng: rng.normal(size=(20_000, 3)),
    "one small whole number": lambda _: np.arange(20_000.0)[:, None],
    "small whole numbers": lambda _: np.array(
        list(itertools.product(range(12), repeat=4)), dtype=float
    ),
    "zeros and ones": lambda _: np.array(list(itertools.product([0.0, 1.0], repeat=14))),
    "one-hot rows": lambda _: sparse.eye_array(20_000, format="csr"),
    "hundredths": lambda _: np.array(list(itertools.product(np.arange(101) / 100, repeat=2))),
}


def assert_uniform(draws, n_bins=64):
    """Refuse counts in equal bins that uniform draws show with probability at most FALSE_ALARM."""
    counts = np.bincount((draws - 1) * n_bins // DRAW_UNIT, minlength=n_bins)
    assert chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_draws_of_different_objects_are_uniform(family, seed):
    keys = object_keys(FAMILIES[family](np.random.default_rng(0)))
    assert len(np.unique(keys)) == len(keys)
    for stream in (SMOOTHING, MERGING):
        draws = draw_uniforms(seed, stream, keys)
        assert draws.min() >= 1
        assert draws.max() <= DRAW_UNIT
        assert_uniform(draws)
        assert_uniform(draws % (DRAW_UNIT // 64) * 64 + 1)  # the lower bits too


@pytest.mark.parametrize("x", [[0.0, 0.0], [1.0, 0.0], [0.3, -7.5]], ids=str)
def test_draws_of_one_object_are_uniform_over_seeds(x):
    """What is proven holds on average over the seed: neighbouring seeds must do."""
    draws = np.array(
        [draw_uniforms(seed, SMOOTHING, object_keys([x]))[0] for seed in range(10_000)]
    )
    assert_uniform(draws)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            lambda keys: draw_uniforms(0, SMOOTHING, keys),
            lambda keys: draw_uniforms(0, MERGING, keys),
        ),
        (
            lambda keys: draw_uniforms(0, SMOOTHING, keys),
            lambda keys: draw_uniforms(1, SMOOTHING, keys),
        ),
        (
            lambda keys: draw_uniforms(0, SMOOTHING, keys),
            lambda keys: draw_uniforms(0, SMOOTHING, np.roll(keys, 1)),
        ),
    ],
    ids=["streams", "seeds", "neighbours"],
)
def test_draws_say_nothing_about_each_other(first, second):
    """Pairs of draws fall into 16 x 16 equal squares as independent ones do."""
    keys = object_keys(np.arange(40_000.0)[:, None])
    squares = (first(keys) - 1) * 16 // DRAW_UNIT * 16 + (second(keys) - 1) * 16 // DRAW_UNIT
    assert chisquare(np.bincount(squares, minlength=256)).pvalue > FALSE_ALARM

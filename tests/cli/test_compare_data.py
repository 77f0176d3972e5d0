"""The data of ``labelsure compare``: pooled, split again, one 0/1 column per nominal value."""

import numpy as np
import pytest
from scipy import sparse
from tiny_data import write_tiny

from labelsure.cli import _compare_data
from labelsure.cli._compare_data import PooledData, load_pooled
from labelsure.cli._errors import CommandError
from labelsure.datasets import Dataset


def test_sizes_are_those_of_the_sets_own_split(tmp_path, monkeypatch):
    X, Y = write_tiny(tmp_path, split=50)
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    for word in ("tiny", str(tmp_path / "tiny-train.arff"), str(tmp_path / "tiny-test.arff")):
        data = load_pooled(word, train_share=10)
        assert (data.name, data.n_train, data.n_test) == ("tiny", 50, 30)
        assert np.array_equal(data.X, X)
        assert np.array_equal(data.Y, Y)


def test_sizes_without_a_split_are_a_share(tmp_path):
    write_tiny(tmp_path)
    data = load_pooled(str(tmp_path / "tiny.arff"), train_share=70)
    assert (data.n_train, data.n_test, data.n_sized) == (56, 24, 24)


def test_sizes_can_be_limited(tmp_path):
    write_tiny(tmp_path, split=50)
    data = load_pooled(str(tmp_path / "tiny-train.arff"), train_share=70, max_train=20, max_sized=7)
    assert (data.n_train, data.n_test, data.n_sized) == (20, 30, 7)
    assert [len(part) for part in data.resplit(0)] == [20, 20, 30, 30]


def test_resplits_draw_from_all_objects_without_repetition(tmp_path):
    X, Y = write_tiny(tmp_path, split=50)
    data = load_pooled(str(tmp_path / "tiny-train.arff"), train_share=70)
    first, again, second = data.resplit(0), data.resplit(0), data.resplit(1)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.X_train, second.X_train)
    for part in (first, second):
        together = np.hstack([np.vstack([part.X_train, part.X_test]), np.vstack([part.Y_train, part.Y_test])])
        assert sorted(map(tuple, together)) == sorted(map(tuple, np.hstack([X, Y])))
    order = np.random.default_rng(1).permutation(80)
    assert np.array_equal(second.Y_train, Y[order[:50]])
    assert np.array_equal(second.X_test, X[order[50:]])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("no-such-set", "not a data set labelsure knows"),
        ("none.arff", r"none\.xml"),
        ("none-train.arff", "none"),
    ],
)
def test_what_cannot_be_read_is_a_command_error(tmp_path, monkeypatch, word, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message):
        load_pooled(word, train_share=70)


def test_a_part_without_objects_is_refused(tmp_path):
    write_tiny(tmp_path, n_objects=3)
    with pytest.raises(CommandError, match=r"its 3 are split into 3 and 0\. Choose another --train-share"):
        load_pooled(str(tmp_path / "tiny.arff"), train_share=90)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_nominal_features_become_columns(monkeypatch, is_sparse):
    X = np.array([[1.5, 2.0, 0.0], [2.5, 7.0, 1.0], [3.5, np.nan, 1.0]])
    data = Dataset(
        "nominal",
        sparse.csr_matrix(X) if is_sparse else X,
        [[1], [0], [1]],
        ["size", "place", "colour"],
        ["a"],
        2,
        categories={"place": {"2": 2.0, "7": 7.0, "9": 9.0}, "colour": {"red": 0.0, "blue": 1.0}},
    )
    monkeypatch.setattr(_compare_data, "load_dataset", lambda _: data)
    X = load_pooled("nominal", train_share=70).X
    assert sparse.issparse(X) == is_sparse
    dense = X.toarray() if is_sparse else X
    assert dense.tolist() == [[1.5, 1, 0, 0, 1, 0], [2.5, 0, 1, 0, 0, 1], [3.5, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_description_notices_other_data(is_sparse):
    X, Y = np.arange(6.0).reshape(3, 2), np.array([[1, 0], [0, 0], [1, 1]], dtype=np.int8)

    def describe(X, Y, n_train=2):
        return PooledData("x", sparse.csr_matrix(X) if is_sparse else X, Y, n_train, 1, 1).describe()

    kept = describe(X, Y)
    assert kept | {"sha256": ""} == {
        "n_objects": 3, "n_features": 2, "n_labels": 2, "labels_per_object": 1.0, "n_train": 2, "n_test": 1,
        "n_sized": 1, "sha256": "",
    }  # fmt: skip
    assert describe(X.copy(), Y.copy()) == kept
    assert describe(X, Y, n_train=1)["sha256"] == kept["sha256"]
    assert describe(X + 1e-9 * (X == 5), Y)["sha256"] != kept["sha256"]
    assert describe(X, 1 - Y)["sha256"] != kept["sha256"]

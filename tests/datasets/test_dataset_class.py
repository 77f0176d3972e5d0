import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from labelsure.datasets import Dataset


def make(**changes):
    parts = {
        "name": "toy",
        "X": np.arange(6.0).reshape(3, 2),
        "Y": np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]]),
        "feature_names": ("f", "g"),
        "label_names": ("a", "b", "c"),
        "n_train": 2,
    }
    return Dataset(**(parts | changes))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_parts_of_a_dataset_are_its_first_and_last_rows(form):
    data = make(X=form(np.arange(6.0).reshape(3, 2)))
    dense = [
        part.toarray() if sparse.issparse(part) else part for part in (data.X_train, data.X_test)
    ]
    assert [part.tolist() for part in dense] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert (data.Y_train.tolist(), data.Y_test.tolist()) == ([[1, 0, 1], [0, 0, 0]], [[1, 1, 1]])
    assert (data.train.tolist(), data.test.tolist()) == ([0, 1], [2])
    assert data.Y.dtype == np.int64


def test_one_vs_rest_tells_more_than_127_labels_of_a_dataset_apart():
    """label_binarize numbers labels in the dtype of Y, and int8 ends at 127."""
    n_labels = 140
    Y = np.eye(n_labels, dtype=np.int8) | np.eye(n_labels, k=-1, dtype=np.int8)
    names = tuple(f"l{j}" for j in range(n_labels))
    data = make(X=np.eye(n_labels), Y=Y, feature_names=names, label_names=names, n_train=n_labels)
    model = OneVsRestClassifier(DecisionTreeClassifier(random_state=0)).fit(
        data.X_train, data.Y_train
    )
    np.testing.assert_array_equal(model.predict(data.X), Y)


def test_repr_tells_size_split_and_density():
    assert (
        repr(make())
        == "<Dataset 'toy': 3 objects (2 train, 1 test), 2 features, 3 labels, 1.67 labels per"
        " object>"
    )
    assert "2 sparse features" in repr(make(X=sparse.csr_matrix(np.ones((3, 2)))))
    empty = make(X=np.empty((0, 2)), Y=np.empty((0, 3)), n_train=0)
    assert "0 objects" in repr(empty)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"X": np.ones((2, 2))}, "same number of rows, got 2 and 3"),
        ({"X": np.ones(3)}, "one column per name"),
        ({"feature_names": ("f",)}, "1 feature names"),
        ({"label_names": ("a",)}, "1 label names"),
        ({"Y": np.full((3, 3), 2)}, "Y must hold only 0 and 1"),
        ({"n_train": 4}, "between 0 and the number of rows, 3, got 4"),
        ({"n_train": -1}, "n_train"),
    ],
)
def test_dataset_refuses_parts_that_do_not_fit(changes, problem):
    with pytest.raises(ValueError, match=problem):
        make(**changes)

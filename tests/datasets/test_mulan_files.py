"""The seven benchmark sets, compared with their README and with independent readers."""

import importlib.util
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.io import arff

from labelsure.datasets import DatasetError, _load, available_datasets, load_dataset
from labelsure.datasets._load import SHA256

# name: features, labels, training rows, test rows, as in the README beside the data
TABLE = {
    "scene": (294, 6, 1211, 1196),
    "yeast": (103, 14, 1500, 917),
    "emotions": (72, 6, 391, 202),
    "birds": (260, 19, 322, 323),
    "enron": (1001, 53, 1123, 579),
    "medical": (1449, 45, 333, 645),
    "bibtex": (1836, 159, 4880, 2515),
}
DENSE = ("scene", "yeast", "emotions", "birds")


@pytest.fixture(scope="module")
def load(mulan_folder):
    loaded = {}

    def get(name):
        if name not in loaded:
            loaded[name] = load_dataset(name, data_home=mulan_folder, download=False)
        return loaded[name]

    return get


def test_available_datasets_are_those_of_the_readme():
    assert sorted(available_datasets()) == sorted(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_benchmark_set_has_the_size_its_readme_states(load, name):
    data = load(name)
    n_features, n_labels, n_train, n_test = TABLE[name]
    assert (data.X_train.shape, data.X_test.shape) == ((n_train, n_features), (n_test, n_features))
    assert (data.Y_train.shape, data.Y_test.shape) == ((n_train, n_labels), (n_test, n_labels))
    assert data.X.dtype == np.float64
    assert data.Y.dtype == np.int64
    assert sparse.issparse(data.X) == (name not in DENSE)
    assert len(set(data.feature_names)) == n_features


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("part", ["train", "test"])
def test_dense_values_equal_those_scipy_reads(load, mulan_folder, name, part):
    data = load(name)
    rows, _ = arff.loadarff(mulan_folder / f"{name}-{part}.arff")
    expected = np.array([[float(value) for value in row] for row in rows.tolist()])
    rows = slice(None, data.n_train) if part == "train" else slice(data.n_train, None)
    # in these files the labels are the last columns
    assert np.array_equal(np.hstack([data.X, data.Y])[rows], expected)


@pytest.mark.parametrize("name", [name for name in TABLE if name not in DENSE])
@pytest.mark.parametrize("part", ["train", "test"])
def test_sparse_values_equal_a_naive_reading(load, mulan_folder, name, part):
    data = load(name)
    rows = re.findall(
        r"^\{(.*)\}", (mulan_folder / f"{name}-{part}.arff").read_text(), flags=re.MULTILINE
    )
    expected = np.zeros((len(rows), data.X.shape[1] + data.Y.shape[1]))
    for row, entries in zip(expected, rows, strict=True):
        for index, value in re.findall(r"(\d+) (\d+)", entries):
            row[int(index)] = float(value)
    X, Y = (data.X_train, data.Y_train) if part == "train" else (data.X_test, data.Y_test)
    # the labels are the last columns but in enron's, where the names tell
    labels = _label_columns(mulan_folder / f"{name}-{part}.arff", data.label_names)
    features = np.setdiff1d(np.arange(expected.shape[1]), labels)
    assert np.array_equal(X.toarray(), expected[:, features])
    assert np.array_equal(Y, expected[:, labels])


def _label_columns(path, label_names):
    names = re.findall(r"^@attribute (\S+) ", path.read_text(), flags=re.MULTILINE)
    return [names.index(label) for label in label_names]


def test_sparse_features_use_small_indices_sorted_and_without_zeros(load):
    X = load("bibtex").X
    assert X.indices.dtype == np.int32  # liblinear refuses others
    assert X.has_sorted_indices
    assert np.all(X.data != 0)


def test_yeast_labels_follow_the_arff_and_not_the_xml(load, mulan_folder):
    expected = tuple(f"Class{number}" for number in range(1, 15))
    assert load("yeast").label_names == expected
    assert tuple(re.findall(r'name="(\w+)"', (mulan_folder / "yeast.xml").read_text())) != expected


def test_birds_has_escaped_label_names_empty_rows_and_a_category(load):
    data = load("birds")
    assert {"Swainson's Thrush", "Stellar's Jay", "Brown Creeper"} <= set(data.label_names)
    assert np.any(data.Y.sum(axis=1) == 0)
    assert list(data.categories) == ["location"]
    location = data.X[:, data.feature_names.index("location")]
    assert set(location) <= {2, 10, 1, 7, 5, 4, 17, 15, 16, 8, 13, 11}
    assert data.categories["location"]["17"] == 17


def test_yeast_from_river_equals_the_arff_files_bit_for_bit(load):
    if importlib.util.find_spec("river") is None:
        pytest.skip("river is not installed")
    ours, theirs = load("yeast"), _load.yeast_from_river()
    assert ours.X.tobytes() == theirs.X.tobytes()
    assert np.array_equal(ours.Y, theirs.Y)
    assert (ours.feature_names, ours.label_names) == (theirs.feature_names, theirs.label_names)
    assert ours.n_train == theirs.n_train


def test_registry_holds_the_checksums_beside_the_data(mulan_folder):
    lines = (mulan_folder / "SHA256SUMS").read_text().splitlines()
    published = {file: digest for digest, file in map(str.split, lines)}
    assert published == SHA256


@pytest.mark.parametrize("name", ["scene", "birds", "medical"])
def test_truncated_benchmark_file_is_an_error_or_ends_with_a_whole_row(
    load, mulan_folder, read_text, name
):
    content = (mulan_folder / f"{name}-train.arff").read_bytes()
    whole = load(name)
    n_errors = 0
    for cut in np.random.default_rng(0).integers(0, len(content), 25):
        try:
            data = read_text(content[:cut], mulan_folder / f"{name}.xml")
        except DatasetError as error:
            n_errors += 1
            assert re.search(r"toy\.arff.*(line \d+|no attribute is called)", str(error))
        else:
            assert abs(data.X - whole.X[: data.n_train]).sum() == 0
    assert n_errors >= 20

"""The data of ``labelsure compare``: sets by name or file, pooled and split again at random."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

from labelsure._core.types import LabelMatrix, MatrixLike
from labelsure.cli._errors import CommandError
from labelsure.datasets import (
    ENDINGS,
    READERS,
    Dataset,
    DatasetError,
    infer_schema,
    load_dataset,
    open_table,
    read_file,
)


class Resplit(NamedTuple):
    """One random split of the pooled objects."""

    X_train: MatrixLike
    Y_train: LabelMatrix
    X_test: MatrixLike
    Y_test: LabelMatrix


@dataclass(frozen=True, eq=False)
class PooledData:
    """A data set without its split, and the sizes of the parts that it is split into at random.

    Attributes
    ----------
    name : str
        What it is called.
    X : array or csr matrix of shape (n, n_features)
        Its features, nominal ones as one 0/1 column per value.
    Y : array of shape (n, q)
        Its labels.
    n_train, n_test : int
        How many objects train and calibrate, and how many test; the others are left out.
    n_sized : int
        How many of the test objects, the first ones, have the sizes of their regions measured.
    """

    name: str
    X: Any
    Y: LabelMatrix
    n_train: int
    n_test: int
    n_sized: int

    def resplit(self, number: int) -> Resplit:
        """Return a random split; ``number`` is the seed of numpy's ``default_rng``."""
        order = np.random.default_rng(number).permutation(len(self.Y))
        train, test = order[: self.n_train], order[self.n_train : self.n_train + self.n_test]
        return Resplit(self.X[train], self.Y[train], self.X[test], self.Y[test])

    def describe(self) -> dict[str, Any]:
        """Return what results are kept with: sizes, and a digest by which other data of the same name are noticed."""
        return {
            "n_objects": len(self.Y),
            "n_features": int(self.X.shape[1]),
            "n_labels": int(self.Y.shape[1]),
            "labels_per_object": float(self.Y.sum() / len(self.Y)),
            "n_train": self.n_train,
            "n_test": self.n_test,
            "n_sized": self.n_sized,
            "sha256": _digest(self.X, self.Y),
        }


def load_pooled(
    word: str,
    *,
    train_share: float,
    max_train: int | None = None,
    max_sized: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> PooledData:
    """Return the data set with a name, or in a file.

    Parameters
    ----------
    word : str
        A name that :func:`labelsure.datasets.load_dataset` knows, the path of a CSV, Parquet or libsvm file, or that of
        an ARFF file: ``x.arff`` beside ``x.xml``, or ``x-train.arff`` beside ``x-test.arff`` and ``x.xml``.
    train_share : float
        The percentage of the objects that train where the set has no split of its own to take the sizes from.
    max_train, max_sized : int or None
        At most this many objects train, and this many of those that test have their regions sized.
    columns : mapping or None
        Which columns of a table are labels, and the like: arguments of :func:`labelsure.datasets.infer_schema`.

    Raises
    ------
    CommandError
        If there is no such data set, it cannot be read, or is too small.
    """
    try:
        data = _load(word, columns or {})
    except DatasetError as error:
        raise CommandError(str(error)) from error
    n_objects = len(data.Y)
    n_train = data.n_train if 0 < data.n_train < n_objects else round(n_objects * train_share / 100)
    n_test = n_objects - n_train
    if min(n_train, n_test) < 1:
        raise CommandError(
            f"{data.name} must have objects to train with and objects to test, but its {n_objects} are split into"
            f" {n_train} and {n_test}. Choose another --train-share, or more data."
        )
    return PooledData(
        data.name,
        _one_hot(data),
        data.Y.astype(np.int8),
        n_train=n_train if max_train is None else min(n_train, max_train),
        n_test=n_test,
        n_sized=n_test if max_sized is None else min(n_test, max_sized),
    )


def _load(word: str, columns: Mapping[str, Any]) -> Dataset:
    path = Path(word).expanduser()
    ending = path.suffix.lower()
    if ending in ENDINGS and (ending not in READERS or columns.get("labels")):
        return _load_table(path, columns)
    if ending not in READERS:
        return load_dataset(word)
    for part in ("-train", "-test"):
        if path.stem.endswith(part):
            return load_dataset(path.stem.removesuffix(part), data_home=path.parent, download=False)
    return read_file(path, path.with_suffix(".xml"))


def _load_table(path: Path, columns: Mapping[str, Any]) -> Dataset:
    """Return all rows of a table, none of which is set apart for testing."""
    schema = infer_schema(path, **columns)
    if not schema.label_names:
        raise CommandError(f"{path}: no labels. Name their columns with --labels a,b,c or --labels-from FILE.")
    batch = open_table(path, schema, labels=True).read()
    labels: Any = batch.Y  # there, because they were asked for
    return Dataset(
        path.stem,
        batch.X,
        labels,
        tuple(column.name for column in schema.columns),
        schema.label_names,
        n_train=batch.n_rows,
        categories={
            column.name: {value: float(code) for code, value in enumerate(column.categories)}
            for column in schema.columns
            if column.kind == "categorical"
        },
        source=str(path),
    )


def _one_hot(data: Dataset) -> Any:
    """Return the features with one 0/1 column for each declared value of each nominal one, after all the others."""
    if not data.categories:
        return data.X
    nominal = [data.feature_names.index(name) for name in data.categories]
    others = [j for j in range(len(data.feature_names)) if j not in set(nominal)]
    X: Any = data.X
    is_sparse = sparse.issparse(X)
    values = X[:, nominal].toarray() if is_sparse else X[:, nominal]
    codes = [sorted(set(codes.values())) for codes in data.categories.values()]
    # handle_unknown: a missing value has none of the columns on
    columns = OneHotEncoder(categories=codes, handle_unknown="ignore", sparse_output=is_sparse).fit_transform(values)
    if is_sparse:
        return sparse.hstack([X[:, others], columns], format="csr")
    return np.hstack([X[:, others], columns])


def _digest(X: Any, Y: LabelMatrix) -> str:
    digest = hashlib.sha256(repr((X.shape, Y.shape)).encode())
    parts = (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)) if sparse.issparse(X) else (X,)
    for part in (*parts, Y):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

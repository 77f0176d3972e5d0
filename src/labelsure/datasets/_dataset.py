"""What a user holds: features, labels, their names and the standard split."""
# ruff: noqa: N802 - X_train and its kin are the names the field uses

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from labelsure._checks import IntArray, check_label_matrix, check_same_length, plural, quote
from labelsure._errors import DatasetError, import_optional
from labelsure.datasets._arff import parse_number

Features: TypeAlias = Any
"""An array of float64, or a csr_matrix of them."""


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A multi-label data set with its standard split into training and test part.

    Parameters
    ----------
    name : str
        What it is called.
    X : ndarray or csr_matrix of shape (n_objects, n_features)
        Features as float64, the training part first; sparse if the file is. Missing values are NaN.
    Y : ndarray of shape (n_objects, n_labels)
        Zeros and ones as int64: row i holds the labels of object i.
    feature_names, label_names : sequence of str
        The names of the columns, in the order of the columns of the file.
    n_train : int
        The first ``n_train`` rows are the training part, the others the test part.
    categories : mapping
        For each nominal feature with other values than 0 and 1, the number that stands in ``X`` for
        each value.
    source : str
        Where it was read from.

    Attributes
    ----------
    train, test : ndarray of int
        The rows of the two parts.
    X_train, Y_train, X_test, Y_test : ndarray or csr_matrix
        The two parts themselves.

    Notes
    -----
    A nominal feature becomes one column of numbers: its values themselves where they are all
    numbers, else their places in the declaration, counted from 0. Learners that take numbers
    literally want such a category one-hot encoded: ``OneHotEncoder`` on
    ``[data.feature_names.index(name) for name in data.categories]``.

    Examples
    --------
    >>> data = Dataset("tiny", X=[[0.5], [1.5], [2.5]], Y=[[1, 0], [0, 0], [1, 1]],
    ...                feature_names=["size"], label_names=["a", "b"], n_train=2)
    >>> data
    <Dataset 'tiny': 3 objects (2 train, 1 test), 1 feature, 2 labels, 1.00 labels per object>
    >>> data.X_test.tolist(), data.Y_test.tolist()
    ([[2.5]], [[1, 1]])
    """

    name: str
    X: Features
    Y: IntArray
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    n_train: int
    categories: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        make = sparse.csr_matrix if sparse.issparse(self.X) else np.asarray
        X = make(self.X, dtype=np.float64)
        # scikit-learn's label_binarize casts labels' numbers to the type of Y: beyond 127, int8
        # mixes labels up
        Y = check_label_matrix(self.Y).astype(np.int64)
        check_same_length(X, Y)
        features, labels = tuple(self.feature_names), tuple(self.label_names)
        if X.ndim != 2 or (X.shape[1], Y.shape[1]) != (len(features), len(labels)):
            raise ValueError(
                f"X and Y must have one column per name, got X of shape {X.shape} with"
                f" {len(features)} feature names and Y of shape {Y.shape} with {len(labels)} label"
                " names."
            )
        if not 0 <= self.n_train <= Y.shape[0]:
            raise ValueError(
                f"n_train must lie between 0 and the number of rows, {Y.shape[0]}, got"
                f" {self.n_train}."
            )
        checked = {"X": X, "Y": Y, "feature_names": features, "label_names": labels}
        for attribute, value in checked.items():
            object.__setattr__(self, attribute, value)

    @property
    def train(self) -> IntArray:
        """The rows of the training part."""
        return np.arange(self.n_train)

    @property
    def test(self) -> IntArray:
        """The rows of the test part."""
        return np.arange(self.n_train, self.Y.shape[0])

    @property
    def X_train(self) -> Features:
        """The features of the training part."""
        return self.X[: self.n_train]

    @property
    def X_test(self) -> Features:
        """The features of the test part."""
        return self.X[self.n_train :]

    @property
    def Y_train(self) -> IntArray:
        """The labels of the training part."""
        return self.Y[: self.n_train]

    @property
    def Y_test(self) -> IntArray:
        """The labels of the test part."""
        return self.Y[self.n_train :]

    def to_frames(self) -> tuple[Any, Any]:
        """Return features and labels of all objects as two pandas DataFrames, columns named.

        Examples
        --------
        >>> names = {"feature_names": ["size"], "label_names": ["a", "b"]}
        >>> data = Dataset("tiny", X=[[0.5]], Y=[[1, 0]], n_train=1, **names)
        >>> X, Y = data.to_frames()
        >>> list(Y.columns)
        ['a', 'b']
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frames")
        is_sparse = sparse.issparse(self.X)
        make = pandas.DataFrame.sparse.from_spmatrix if is_sparse else pandas.DataFrame
        features = make(self.X, columns=list(self.feature_names))
        return features, pandas.DataFrame(self.Y, columns=list(self.label_names))

    def __repr__(self) -> str:
        n_objects, n_labels = self.Y.shape
        density = self.Y.sum() / max(n_objects, 1)
        kind = "sparse " if sparse.issparse(self.X) else ""
        return (
            f"<Dataset {self.name!r}: {plural(n_objects, 'object')} ({self.n_train} train,"
            f" {n_objects - self.n_train} test),"
            f" {plural(len(self.feature_names), f'{kind}feature')},"
            f" {plural(n_labels, 'label')}, {density:.2f} labels per object>"
        )


def join_split(name: str, train: Dataset, test: Dataset) -> Dataset:
    """Return the data set whose training part is ``train`` and whose test part is ``test``.

    Raises
    ------
    DatasetError
        If the two do not have the same columns.
    """
    for what, ours, theirs in (
        ("feature", train.feature_names, test.feature_names),
        ("label", train.label_names, test.label_names),
    ):
        for place, pair in enumerate(zip_longest(ours, theirs), start=1):
            if pair[0] != pair[1]:
                a, b = ("no more" if name is None else quote(name) for name in pair)
                raise DatasetError(
                    f"{train.source} and {test.source} must declare the same attributes in the same"
                    f" order, but {what} {place} is {a} in the first and {b} in the second. Bring"
                    " the two files from the same source."
                )
    is_sparse = sparse.issparse(train.X) or sparse.issparse(test.X)
    X = (sparse.vstack if is_sparse else np.vstack)([train.X, test.X])
    return Dataset(
        name=name,
        X=X,
        Y=np.vstack([train.Y, test.Y]),
        feature_names=train.feature_names,
        label_names=train.label_names,
        n_train=train.Y.shape[0],
        categories=_join_categories(train, test),
        source=f"{train.source}, {test.source}",
    )


def _join_categories(train: Dataset, test: Dataset) -> dict[str, dict[str, float]]:
    """Merge the codes of nominal features, which must mean the same in both files."""
    joined: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys([*train.categories, *test.categories]):
        ours, theirs = (dict(part.categories.get(name, {})) for part in (train, test))
        if not _codes_agree(ours, theirs):
            raise DatasetError(
                f"{train.source} and {test.source} must declare the values of attribute"
                f" {quote(name)} in the same order, got {quote(', '.join(ours))} and"
                f" {quote(', '.join(theirs))}. Use one declaration in both."
            )
        joined[name] = ours | theirs
    return joined


def _codes_agree(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    """Tell whether a value has one code, and a code one value, in both files.

    Numbers that stand for themselves agree with anything, also with a file that declares the
    attribute numeric.
    """
    codes = ours | theirs
    if all(parse_number(value) == code for value, code in codes.items()):
        return True
    one_code = all(codes[value] == code for value, code in ours.items())
    return bool(ours) and bool(theirs) and one_code and len(set(codes.values())) == len(codes)

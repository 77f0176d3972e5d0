"""From the columns of a table to features that learners take: numbers, categories, texts."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from labelsure._checks import check_choice
from labelsure.learners._pool import PooledClassifier

MIN_FREQUENCY = 5
"""Categories seen less often are one: there is too little to learn about each of them."""

MOST_WORDS = 5000
MOST_DENSE_WORDS = 1000
"""Words that texts become features of, the most frequent ones; fewer where features must be dense."""


def table_pipeline(
    numeric: Sequence[Any],
    categorical: Sequence[Any],
    text: Sequence[Any],
    learner: Any,
    *,
    scaling: str = "standard",
    dense: bool = True,
    sparse_input: bool = False,
) -> Any:
    """Return a classifier for tables: columns are prepared by their kind, then the learner learns.

    - numeric: the median for missing values, a feature that says where they were missing, scaling;
    - categorical: one feature per category, those that are rare together; unknown ones count as
      rare or, where none is rare, as no category at all;
    - text: TF-IDF of the most frequent words.

    Everything is learned by ``fit``, so within a conformal predictor from each fold's training part
    alone.

    Parameters
    ----------
    numeric, categorical, text : sequences of int or str
        Columns by position, or by name for DataFrames.
    learner : classifier
        Any multi-label classifier. A :class:`PooledClassifier` stays one, with the preparation
        inside its members, so that the folds of a conformal predictor can share their models.
        Members of :func:`table_pool` fill in missing numbers and scale by themselves.
    scaling : {"standard", "unit", "none"}, default="standard"
        Numbers with mean 0 and variance 1, between 0 and 1, or as they are.
    dense : bool, default=True
        Whether the learner wants dense features.
    sparse_input : bool, default=False
        Whether ``X`` is a sparse matrix: its zeros then stay where they are.

    Returns
    -------
    Pipeline, PooledClassifier or the learner
        Unfitted. The learner itself where it is a pool and all columns are dense numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import MLkNNClassifier
    >>> from labelsure.learners import table_pipeline
    >>> X = np.array([[1.5, 0.0], [np.nan, 1.0], [0.5, 1.0]] * 5)  # a number, and a category by its code
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]] * 5)
    >>> model = table_pipeline([0], [1], [], MLkNNClassifier(3), scaling="unit").fit(X, Y)
    >>> model[0].transform(X[:2]).tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.5, 1.0, 0.0, 1.0]]
    """
    from sklearn.pipeline import Pipeline

    check_choice(scaling, ("standard", "unit", "none"), name="scaling")
    if not isinstance(learner, PooledClassifier):
        columns = _prepare(
            numeric, categorical, text, _number_steps(scaling, sparse_input), dense, sparse_input
        )
        return Pipeline([("columns", columns), ("learner", learner)])
    if not (categorical or text or sparse_input):
        return learner
    columns = _prepare(numeric, categorical, text, "passthrough", True, sparse_input)
    members = [
        (name, Pipeline([("columns", clone(columns)), ("learner", member)]))
        for name, member in learner.estimators
    ]
    pool: Any = clone(learner)
    return pool.set_params(estimators=members)


def _prepare(
    numeric: Sequence[Any],
    categorical: Sequence[Any],
    text: Sequence[Any],
    number_steps: Any,
    dense: bool,
    sparse_input: bool,
) -> Any:
    """Return what prepares the columns, side by side."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    from labelsure.learners._table_members import DenseFeatures

    one_hot = OneHotEncoder(
        min_frequency=MIN_FREQUENCY, handle_unknown="infrequent_if_exist", sparse_output=not dense
    )
    parts: list[tuple[str, Any, Any]] = []
    if numeric:
        parts.append(("numbers", number_steps, list(numeric)))
    if categorical:
        encoder = (
            Pipeline([("dense", DenseFeatures()), ("one_hot", one_hot)])
            if sparse_input
            else one_hot
        )
        parts.append(("categories", encoder, list(categorical)))
    for place, column in enumerate(text):
        n_words = MOST_DENSE_WORDS if dense else MOST_WORDS
        words = TfidfVectorizer(max_features=n_words, sublinear_tf=True, strip_accents="unicode")
        parts.append((f"text_{place}", words, column))
    return ColumnTransformer(parts, sparse_threshold=0.0 if dense else 1.0)


def _number_steps(scaling: str, sparse_input: bool) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    scalers = {"standard": StandardScaler(), "unit": MinMaxScaler(), "none": "passthrough"}
    scaler = (
        MaxAbsScaler() if sparse_input and scaling != "none" else scalers[scaling]
    )  # moved zeros would fill it
    return Pipeline([("missing", imputer), ("scale", scaler)])

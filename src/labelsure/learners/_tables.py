"""Learners for tables: the default, a pool with nothing to tune, and the preparation of columns."""

from collections.abc import Sequence
from typing import Any

from sklearn import config_context
from sklearn.base import clone

from labelsure._checks import check_choice
from labelsure.learners._pool import PooledClassifier

MIN_FREQUENCY = 5
"""Categories seen less often are one: there is too little to learn about each of them."""

MOST_WORDS = 5000
MOST_DENSE_WORDS = 1000
"""The most frequent words that texts become features of; fewer if features must be dense."""

# The four err in different ways, which is what a pool lives on: averaged deep trees, additive
# shallow trees, a smooth function of distances, and a local one. Parameters were compared by the
# likelihood of labelsets given pooled out-of-fold outputs, on training parts of scene, yeast,
# emotions and birds; the pool's weights make up for the rest.
N_TREES = 300  # chance moves an output by 0.03 at most (one standard error of a share of 300)
BOOSTING = {
    "max_iter": 200,
    "learning_rate": 0.06,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.1,  # per split: trees differ more, which pays as in forests
    "max_bins": 31,  # coarse steps are enough for small trees; time grows with their number
    "early_stopping": False,  # it would hold out a tenth of the rows, another one for every seed
}
N_COMPONENTS = 1000  # of the kernel: exact below as many rows; time grows with their square
ALPHA = 0.03  # of ridge regression on the kernel's features: rows have a length of at most 1
N_NEIGHBOURS = 10


def default_learner() -> Any:
    """Return the learner for ``estimator=None``: a logistic regression per label, scaled features.

    Missing values (NaN) become the feature's median, and a further feature says where they were.
    Sparse rows stay sparse: they are scaled without centring.

    Returns
    -------
    Pipeline
        Unfitted.

    Examples
    --------
    >>> from labelsure.learners._tables import default_learner
    >>> model = default_learner().fit([[1.0], [float("nan")], [3.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[2.0]]).tolist()
    [[1, 1]]
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import Pipeline

    from labelsure.learners._table_members import ScaledFeatures

    labels = MultiOutputClassifier(LogisticRegression(max_iter=1000))
    steps = [("imputer", _make_imputer()), ("scaler", ScaledFeatures()), ("labels", labels)]
    return Pipeline(steps)


def resolve_learner(estimator: Any) -> Any:
    """Return the classifier itself, the default for None."""
    return default_learner() if estimator is None else estimator


def _make_imputer() -> Any:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def table_pool(*, random_state: Any = None, n_jobs: int | None = None) -> PooledClassifier:
    """Return the pool that labelsure recommends for tables of numbers, with nothing to tune.

    Members are 300 extremely randomised trees for all labels at once, histogram gradient boosting
    per label, and, after imputing and scaling, ridge regression on Nystroem's features of a
    Gaussian kernel and the ten nearest neighbours. Missing values (NaN) and features on different
    scales are fine; encode texts and categories first. Rows must be dense.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        For the members and the inner folds.
    n_jobs : int or None, default=None
        Processes that fit members and folds.

    Returns
    -------
    PooledClassifier
        Unfitted; ``set_params(boosting__labels__estimator__max_iter=50)`` and the like change it.
        All members take ``sample_weight``, also by metadata routing.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure.learners import table_pool
    >>> X, Y = make_multilabel_classification(n_samples=60, n_classes=2, random_state=0)
    >>> pool = table_pool(random_state=0).set_params(cv=2, trees__n_estimators=10)
    >>> pool.fit(X, Y).predict_proba(X[:1]).shape
    (1, 2)
    """
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import Pipeline

    from labelsure.learners._table_members import (
        FilledFeatures,
        KernelFeatures,
        NeighbourClassifier,
        RidgeProbabilities,
    )

    trees = ExtraTreesClassifier(N_TREES)
    boosting = HistGradientBoostingClassifier(**BOOSTING)
    ridge = RidgeProbabilities(ALPHA)
    neighbours = NeighbourClassifier(N_NEIGHBOURS)
    # requests are kept, and count for those who turn it on
    with config_context(enable_metadata_routing=True):
        for learner in (trees, boosting, ridge, neighbours):
            learner.set_fit_request(sample_weight=True)
    boosted = Pipeline([("filled", FilledFeatures()), ("labels", MultiOutputClassifier(boosting))])
    kernel = [("features", KernelFeatures(n_components=N_COMPONENTS)), ("labels", ridge)]
    members = [
        ("trees", trees),
        ("boosting", boosted),
        ("kernel", _on_one_scale(kernel)),
        ("neighbours", _on_one_scale([("labels", neighbours)])),
    ]
    return PooledClassifier(members, random_state=random_state, n_jobs=n_jobs)


def _on_one_scale(steps: list[tuple[str, Any]]) -> Any:
    """Return these steps after imputing and scaling."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
    return Pipeline([("imputer", _make_imputer()), ("scaler", scaler), *steps])


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
    >>> X = np.array([[1.5, 0.0], [np.nan, 1.0], [0.5, 1.0]] * 5)  # a number, a category's code
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
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    scalers = {"standard": StandardScaler(), "unit": MinMaxScaler(), "none": "passthrough"}
    # centring would fill a sparse matrix
    scaler = MaxAbsScaler() if sparse_input and scaling != "none" else scalers[scaling]
    return Pipeline([("missing", _make_imputer()), ("scale", scaler)])

"""The learners of ``labelsure compare``: classifiers by name, each with the preparation its features need."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from labelsure._core.types import MatrixLike
from labelsure.estimators import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier, table_pool

N_TREES = 200

BOOSTING = {"max_iter": 50, "max_leaf_nodes": 15, "max_bins": 63}
"""Half of scikit-learn's iterations and leaves, a quarter of its bins: its own take hours with many labels."""


def make_learner(name: str, X: MatrixLike) -> Any:
    """Return an unfitted classifier for features like ``X``, every random_state in it None.

    Whatever it learns about the features, their ranges and what stands in for missing values, it learns from what it
    is fitted on, anew in every fold.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    X : array or sparse matrix of shape (n, n_features)
        Looked at only for being sparse and for missing values.

    Examples
    --------
    >>> make_learner("ml-knn", np.array([[0.5, np.nan]]))[0]
    SimpleImputer(keep_empty_features=True, strategy='median')
    """
    if name == "none":
        return DummyClassifier()
    is_sparse = sparse.issparse(X)
    if name == "pool" and not is_sparse:
        return table_pool()  # by itself: folds share what they learn the members' weights from
    has_gaps = bool(np.isnan(X.data if is_sparse else X).any())
    imputer = [SimpleImputer(strategy="median", keep_empty_features=True)] if has_gaps else []
    dense = [FunctionTransformer(_to_dense, accept_sparse=True)] if is_sparse else []
    # moving the zeros of a sparse matrix would fill it
    unit, standard = (MaxAbsScaler() if is_sparse else scaler for scaler in (MinMaxScaler(), StandardScaler()))
    steps = {
        "ml-rbf": [unit, MLRBFClassifier()],
        "ml-knn": [unit, MLkNNClassifier()],
        "bp-mll": [unit, BPMLLClassifier()],
        "ml-nb": [unit, MLNBClassifier()],
        "logistic": [standard, OneVsRestClassifier(LogisticRegression(solver="liblinear", max_iter=1000))],
        "random-forest": [RandomForestClassifier(N_TREES)],
        "extra-trees": [ExtraTreesClassifier(N_TREES)],
        "gradient-boosting": [*dense, OneVsRestClassifier(HistGradientBoostingClassifier(**BOOSTING))],
        "svm": [standard, OneVsRestClassifier(SVC())],
        "pool": [*dense, table_pool()],
    }
    return make_pipeline(*imputer, *steps[name])


def _to_dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X

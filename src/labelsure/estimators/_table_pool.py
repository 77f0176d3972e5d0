"""A ready-made pool for tables: trees, boosting and a kernel machine, with nothing to tune."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.validation import validate_data

from labelsure._core.types import BoolArray, FloatArray
from labelsure.estimators._pool import PooledClassifier

# The three err in different ways, which is what a pool lives on: averaged deep trees, additive shallow trees, and a
# smooth function of distances. Parameters were compared by the log-likelihood of out-of-fold outputs on training parts
# of scene and yeast, and by log loss on those of emotions and birds; the pool's weights make up for the rest.
N_TREES = 300  # chance moves an output by 0.03 at most (one standard error of a share of 300)
BOOSTING = {
    "max_iter": 200,
    "learning_rate": 0.06,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.1,  # at every split: trees differ more, which pays as it does in forests, above all on scene
    "max_bins": 31,  # coarse steps are enough for small trees; time grows with their number
    "early_stopping": False,  # it would hold out a tenth of the rows, another one for every seed
}
N_COMPONENTS = 1000  # of the kernel: exact below as many rows; time grows with their square
KERNEL_C = 10.0  # of logistic regression on the kernel's features, which are small: rows have a length of 1 at most


class FilledFeatures(TransformerMixin, BaseEstimator):
    """Zeros in features without a single known value, which histograms cannot be made of; all else as it is."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Look for features that are missing everywhere."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.unknown_: BoolArray = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features, those that were missing everywhere as zeros."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return np.where(self.unknown_, 0.0, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class KernelFeatures(Nystroem):
    """Nystroem's features with at most as many components as there are rows, without a warning about it."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose rows to compare with, see :class:`sklearn.kernel_approximation.Nystroem`."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="n_components > n_samples")
            super().fit(X, y)
        return self


def table_pool(*, random_state: Any = None, n_jobs: int | None = None) -> PooledClassifier:
    """Return the pool that labelsure recommends for tables of numbers to those who have no learner of their own.

    Members are 300 extremely randomised trees for all labels at once, histogram gradient boosting per label, and
    logistic regression on Nystroem's features of a Gaussian kernel after imputing and scaling. Missing values (NaN)
    and features on different scales are fine; encode texts and categories first. Rows must be dense.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        For the members and the inner folds.
    n_jobs : int or None, default=None
        Processes that fit members and folds.

    Returns
    -------
    PooledClassifier
        Unfitted; ``set_params(boosting__labels__estimator__max_iter=50)`` and the like change it. All members take
        ``sample_weight``, also by metadata routing.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure.estimators import table_pool
    >>> X, Y = make_multilabel_classification(n_samples=60, n_classes=2, random_state=0)
    >>> pool = table_pool(random_state=0).set_params(cv=2, trees__n_estimators=10)
    >>> pool.fit(X, Y).predict_proba(X[:1]).shape
    (1, 2)
    """
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    trees = ExtraTreesClassifier(N_TREES)
    boosting = HistGradientBoostingClassifier(**BOOSTING)
    linear = LogisticRegression(C=KERNEL_C, max_iter=1000)
    with config_context(enable_metadata_routing=True):  # requests are kept, and count for those who turn it on
        for learner in (trees, boosting, linear):
            learner.set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
    boosted = Pipeline([("filled", FilledFeatures()), ("labels", MultiOutputClassifier(boosting))])
    kernel = Pipeline(
        [
            ("imputer", SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)),
            ("scaler", scaler),
            ("features", KernelFeatures(n_components=N_COMPONENTS)),
            ("labels", MultiOutputClassifier(linear)),
        ]
    )
    members = [("trees", trees), ("boosting", boosted), ("kernel", kernel)]
    return PooledClassifier(members, random_state=random_state, n_jobs=n_jobs)

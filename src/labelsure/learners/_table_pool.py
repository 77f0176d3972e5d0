"""A ready-made pool for tables: trees, boosting, a kernel machine and neighbours, with nothing to tune."""

from typing import Any

from sklearn import config_context

from labelsure.learners._pool import PooledClassifier

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
    "max_features": 0.1,  # at every split: trees differ more, which pays as it does in forests, above all on scene
    "max_bins": 31,  # coarse steps are enough for small trees; time grows with their number
    "early_stopping": False,  # it would hold out a tenth of the rows, another one for every seed
}
N_COMPONENTS = 1000  # of the kernel: exact below as many rows; time grows with their square
ALPHA = 0.03  # of ridge regression on the kernel's features, which are small: rows have a length of 1 at most
N_NEIGHBOURS = 10


def table_pool(*, random_state: Any = None, n_jobs: int | None = None) -> PooledClassifier:
    """Return the pool that labelsure recommends for tables of numbers to those who have no learner of their own.

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
    with config_context(
        enable_metadata_routing=True
    ):  # requests are kept, and count for those who turn it on
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
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
    return Pipeline([("imputer", imputer), ("scaler", scaler), *steps])

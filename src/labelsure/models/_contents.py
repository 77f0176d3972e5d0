"""Contents that compiled code of scikit-learn uses without a look: the usual damage is refused; no list is complete.

numpy says so where an index or a shape is wrong. Trees, neighbours, kernel machines and products of sparse matrices do
not. The rules for trees are those of scikit-learn's pull request 34558.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelsure.models._archive import ModelFileError
from labelsure.models._forests import are_trees, depths_of

METRICS = ("chebyshev", "cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "minkowski", "sqeuclidean")
MOST_CATEGORIES = 256

FOREST = "sklearn.ensemble._forest.BaseForest"
BOOSTING = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting"


def is_rebuilt(thing: Any) -> bool:
    """Tell whether something is left out of files and built anew: a tree that neighbours are looked for in."""
    return type(thing).__module__ in ("sklearn.neighbors._kd_tree", "sklearn.neighbors._ball_tree")


def is_a(thing: Any, base: str) -> bool:
    """Tell whether an object's class comes from one with this full name, which need not be imported for that.

    Examples
    --------
    >>> is_a(3, "builtins.object")
    True
    """
    return any(f"{cls.__module__}.{cls.__name__}" == base for cls in type(thing).__mro__)


def check_content(thing: Any) -> None:
    """Raise ModelFileError where compiled code would read outside of an object's arrays; build its search tree anew."""
    for base, check in CHECKS.items():
        if is_a(thing, base):
            try:
                fine = check(thing)
            except Exception as error:  # attributes that are missing or of other types: anything may be there
                raise ModelFileError(f"a {type(thing).__name__} is damaged, or cannot be kept: {error}") from error
            if not fine:
                raise ModelFileError(f"a {type(thing).__name__} is damaged: its parts do not go together")


def _check_tree(tree: Any) -> bool:
    if tree.node_count != tree.capacity or tree.node_count < 1:
        return False
    left, right = tree.children_left, tree.children_right
    leaf, sizes = left == -1, np.array([tree.node_count])
    fine = are_trees(left, right, leaf, tree.feature, sizes, tree.n_features) and bool((right[leaf] == -1).all())
    return fine and tree.max_depth >= depths_of(left, right, leaf, sizes)[0]


def _check_decision_tree(model: Any) -> bool:
    tree = getattr(model, "tree_", None)
    return tree is None or bool(tree.n_features == model.n_features_in_ and tree.n_outputs == model.n_outputs_)


def _check_forest(model: Any) -> bool:
    return all(
        tree.n_features_in_ == model.n_features_in_ and tree.tree_.n_outputs == model.n_outputs_
        for tree in getattr(model, "estimators_", [])
    )


def _check_boosting(model: Any) -> bool:
    if not hasattr(model, "_predictors"):
        return True
    mapper, n_features = model._bin_mapper, model.n_features_in_
    categorical, thresholds = np.asarray(mapper.is_categorical_), mapper.bin_thresholds_
    if categorical.shape != (n_features,) or len(thresholds) != n_features or categorical.dtype != np.uint8:
        return False
    for own in (np.asarray(thresholds[j]) for j in np.flatnonzero(categorical)):
        if not ((own >= 0) & (own < MOST_CATEGORIES)).all():
            return False
    for nodes in (predictor.nodes for iteration in model._predictors for predictor in iteration):
        inner = nodes[nodes["is_leaf"] == 0]
        if not (inner["feature_idx"] < n_features).all():
            return False
        if not categorical[inner["feature_idx"][inner["is_categorical"] != 0]].all():
            return False
    return True


def _check_neighbours(model: Any) -> bool:
    if not hasattr(model, "_fit_X"):
        return True
    rows, params = model._fit_X, dict(model.effective_metric_params_)
    if rows.ndim != 2 or rows.dtype not in (np.float32, np.float64):
        return False
    shape = (model.n_samples_fit_, model.n_features_in_)
    known = model.effective_metric_ in METRICS and model.metric in METRICS and set(params) <= {"p"}
    if not known or rows.shape != shape or not 0 < model.n_neighbors <= rows.shape[0]:
        return False
    if hasattr(model, "classes_") and not _check_classes(model):
        return False
    _grow(model, params)
    return True


def _check_classes(model: Any) -> bool:
    labels = model._y.reshape(model.n_samples_fit_, -1)
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    most = np.array([len(own) for own in classes])
    return labels.dtype.kind == "i" and len(most) == labels.shape[1] and bool(((labels >= 0) & (labels < most)).all())


def _grow(model: Any, params: dict[str, Any]) -> None:
    """Build the search tree as scikit-learn's fit does."""
    from sklearn.neighbors import BallTree, KDTree

    model._tree = None
    kinds = {"kd_tree": KDTree, "ball_tree": BallTree}
    if model._fit_method in kinds:
        grow = kinds[model._fit_method]
        model._tree = grow(model._fit_X, int(model.leaf_size), metric=model.effective_metric_, **params)


def _check_kernel_machine(model: Any) -> bool:
    if not hasattr(model, "support_vectors_"):
        return True
    vectors, n_support = model.support_vectors_, model._n_support
    if model._sparse or model.kernel not in ("linear", "poly", "rbf", "sigmoid"):
        raise ValueError("only machines with a kernel by name, fitted on dense rows, can be kept")
    n_classes, n_pairs = len(n_support), len(n_support) * (len(n_support) - 1) // 2
    floats = (vectors, model._dual_coef_, model._intercept_, model._probA, model._probB)
    shapes = (
        vectors.shape == (int(n_support.sum()), model.n_features_in_)
        and model._dual_coef_.shape == (n_classes - 1, len(vectors))
        and model._intercept_.shape == (n_pairs,)
        and model.support_.shape == (len(vectors),)
        and tuple(model.shape_fit_)[1] == model.n_features_in_
        and all(part.shape in ((0,), (n_pairs,)) for part in (model._probA, model._probB))
        and len(model.classes_) == n_classes
    )
    types = all(part.dtype == np.float64 for part in floats) and {n_support.dtype, model.support_.dtype} == {
        np.dtype(np.int32)
    }
    return shapes and types and bool((n_support >= 0).all()) and n_classes > 1


def _check_vocabulary(model: Any) -> bool:
    words = getattr(model, "vocabulary_", None)
    return words is None or sorted(map(int, words.values())) == list(range(len(words)))


def _check_encoder(model: Any) -> bool:
    """Check what a sparse matrix of categories is made from: no column may lie outside of it."""
    if not hasattr(model, "_n_features_outs"):
        return True
    nothing = [None] * len(model.categories_)
    mappings = groups = nothing
    if model._infrequent_enabled:
        mappings, groups = model._default_to_infrequent_mappings, model._infrequent_indices
    dropped = nothing if model._drop_idx_after_grouping is None else model._drop_idx_after_grouping
    for known, own, rare, drop, n_columns in zip(
        model.categories_, mappings, groups, dropped, model._n_features_outs, strict=True
    ):
        n_values = len(known)
        if not _are_in_order(known):
            return False
        if own is not None or rare is not None:
            n_values = int(own.max()) + 1
            if own.dtype.kind != "i" or own.shape != (len(known),) or own.min() < 0 or not len(rare):
                return False
        if n_columns != n_values - (drop is not None) or (drop is not None and not 0 <= int(drop) < n_values):
            return False
    return True


def _are_in_order(categories: Any) -> bool:
    """Tell whether numbers ascend: places of others would be looked for by halves, and found outside."""
    if categories.dtype.kind in "OUS":
        return True  # looked up one by one
    return bool((np.diff(categories[~np.isnan(categories)].astype(np.float64)) > 0).all())


def _check_vectorizer(model: Any) -> bool:
    if model.input != "content":
        raise ValueError("its texts are names of files, and models read no files")
    return True


def _check_cache(model: Any) -> bool:
    if getattr(model, "memory", None) is not None:
        raise ValueError("its cache holds pickles, set_params(memory=None) before saving")
    return True


CHECKS: dict[str, Callable[[Any], bool]] = {
    "sklearn.tree._tree.Tree": _check_tree,
    "sklearn.tree._classes.BaseDecisionTree": _check_decision_tree,
    FOREST: _check_forest,
    BOOSTING: _check_boosting,
    "sklearn.neighbors._base.NeighborsBase": _check_neighbours,
    "sklearn.svm._base.BaseLibSVM": _check_kernel_machine,
    "sklearn.feature_extraction.text._VectorizerMixin": _check_vectorizer,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.preprocessing._encoders.OneHotEncoder": _check_encoder,
    "sklearn.pipeline.Pipeline": _check_cache,
}
"""Base classes by full name, and what must hold for objects of them."""

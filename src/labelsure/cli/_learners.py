"""Classifiers by name, each with the preparation that the columns of a table need."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from labelsure.datasets import TableSchema
from labelsure.learners import table_pipeline, table_pool
from labelsure.learners._tables import MIN_FREQUENCY, MOST_DENSE_WORDS, MOST_WORDS
from labelsure.paper import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier

N_TREES = 200

BOOSTING = {"max_iter": 50, "max_leaf_nodes": 15, "max_bins": 63}
"""Half of scikit-learn's iterations and leaves, a quarter of its bins: its own take hours with many labels."""


class Recipe(NamedTuple):
    """How to make a classifier, how its features are scaled, whether they may be sparse, and it be saved then."""

    make: Callable[[], Any]
    scaling: str = "none"
    takes_sparse: bool = True
    saved_sparse: bool = True


RECIPES = {
    "ml-rbf": Recipe(MLRBFClassifier, "unit"),
    "ml-knn": Recipe(MLkNNClassifier, "unit"),
    "bp-mll": Recipe(BPMLLClassifier, "unit"),
    "ml-nb": Recipe(MLNBClassifier, "unit"),
    "logistic": Recipe(
        lambda: OneVsRestClassifier(LogisticRegression(solver="liblinear", max_iter=1000)),
        "standard",
    ),
    "random-forest": Recipe(lambda: RandomForestClassifier(N_TREES)),
    "extra-trees": Recipe(lambda: ExtraTreesClassifier(N_TREES)),
    "gradient-boosting": Recipe(
        lambda: OneVsRestClassifier(HistGradientBoostingClassifier(**BOOSTING)), takes_sparse=False
    ),
    "svm": Recipe(lambda: OneVsRestClassifier(SVC()), "standard", saved_sparse=False),
    "pool": Recipe(table_pool, takes_sparse=False),
    "none": Recipe(DummyClassifier),
}
"""The learners of ``LEARNERS``."""


def make_table_learner(name: str, schema: TableSchema) -> Any:
    """Return an unfitted classifier for a table, every random_state in it None.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    schema : TableSchema
        What the columns of ``X`` are.

    Examples
    --------
    >>> from labelsure.datasets import Column
    >>> make_table_learner("logistic", TableSchema((Column("size", "numeric"),), ("sea",)))[-1]
    OneVsRestClassifier(estimator=LogisticRegression(max_iter=1000, solver='liblinear'))
    """
    recipe = RECIPES[name]
    if name == "none":
        return recipe.make()
    return table_pipeline(
        schema.of_kind("numeric"),
        schema.of_kind("categorical"),
        schema.of_kind("text"),
        recipe.make(),
        scaling=recipe.scaling,
        dense=_wants_dense(recipe, schema),
        sparse_input=schema.sparse,
    )


def describe_preparation(name: str, schema: TableSchema) -> dict[str, str]:
    """Return what is done to the columns of each kind before the learner sees them, in words.

    Examples
    --------
    >>> from labelsure.datasets import Column
    >>> describe_preparation("logistic", TableSchema((Column("size", "numeric"),)))["numeric"]
    'gaps filled with the median, a feature that says where they were, mean 0 and variance 1'
    """
    recipe = RECIPES[name]
    filled = "gaps filled with the median, a feature that says where they were"
    scaled = {"standard": ", mean 0 and variance 1", "unit": ", between 0 and 1", "none": ""}[
        recipe.scaling
    ]
    if schema.sparse and scaled:
        scaled = ", divided by the largest value"
    n_words = MOST_DENSE_WORDS if _wants_dense(recipe, schema) else MOST_WORDS
    by_members = "as they are; members of the pool that need it fill gaps and scale"
    return {
        "numeric": by_members if name == "pool" else filled + scaled,
        "categorical": f"one feature per value, those seen less than {MIN_FREQUENCY} times"
        f" together",
        "text": f"TF-IDF of the {n_words} most frequent words",
    }


def _wants_dense(recipe: Recipe, schema: TableSchema) -> bool:
    """Tell whether features are to be dense: where they have to, and where sparse ones would save nothing."""
    may_be_sparse = recipe.takes_sparse and recipe.saved_sparse
    return not (may_be_sparse and (schema.sparse or schema.of_kind("text")))

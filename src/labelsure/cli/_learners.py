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
# half of scikit-learn's iterations and leaves, a quarter of its bins: its defaults take hours with
# many labels
BOOSTING = {"max_iter": 50, "max_leaf_nodes": 15, "max_bins": 63}
SCALED = {"standard": ", mean 0 and variance 1", "unit": ", between 0 and 1", "none": ""}


class Recipe(NamedTuple):
    """How to build a classifier, how features are scaled, and whether they may be sparse."""

    make: Callable[[], Any]
    scaling: str = "none"
    takes_sparse: bool = True
    saved_sparse: bool = True

    def is_dense(self, schema: TableSchema) -> bool:
        """Tell whether features must be dense, or sparse ones would save nothing."""
        may_be_sparse = self.takes_sparse and self.saved_sparse
        return not (may_be_sparse and (schema.sparse or schema.of_kind("text")))


# of the learners in arguments.LEARNERS
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
    columns = (schema.of_kind(kind) for kind in ("numeric", "categorical", "text"))
    numeric, categorical, text = columns
    options = {"dense": recipe.is_dense(schema), "sparse_input": schema.sparse}
    learner, scaling = recipe.make(), recipe.scaling
    return table_pipeline(numeric, categorical, text, learner, scaling=scaling, **options)


def describe_preparation(name: str, schema: TableSchema) -> dict[str, str]:
    """Return what is done to the columns of each kind before the learner sees them, in words.

    Examples
    --------
    >>> from labelsure.datasets import Column
    >>> describe_preparation("logistic", TableSchema((Column("size", "numeric"),)))["numeric"]
    'gaps filled with the median, a feature that says where they were, mean 0 and variance 1'
    """
    recipe = RECIPES[name]
    scaled = SCALED[recipe.scaling]
    if schema.sparse and scaled:
        scaled = ", divided by the largest value"
    n_words = MOST_DENSE_WORDS if recipe.is_dense(schema) else MOST_WORDS
    numeric = f"gaps filled with the median, a feature that says where they were{scaled}"
    if name == "pool":
        numeric = "as they are; members of the pool that need it fill gaps and scale"
    return {
        "numeric": numeric,
        "categorical": (
            f"one feature per value, those seen less than {MIN_FREQUENCY} times together"
        ),
        "text": f"TF-IDF of the {n_words} most frequent words",
    }

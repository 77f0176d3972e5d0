"""The configurations whose answers are on record, and the data and the learner that they are made from.

Everything is arithmetic of our own on small whole numbers: outputs are sixteenths, full of ties, and no library's
version can move them.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

N_FEATURES, N_NEW, N_FOLDS = 5, 5, 4
STEPS = np.array([0, 1, 1, 4, 11, 14, 15, 16])  # the output, in sixteenths, for each value of a feature


class Configuration(NamedTuple):
    """One predictor on one set of data."""

    kind: str  # cross, cross-lists, inductive, prefit, outputs, outputs-folds, sparse, sparse-folds, full
    measure: str = "power"
    guarantee: str = "cross"
    mondrian: str = "none"
    weighted: bool = False
    smoothed: bool = False
    n_labels: int = 4
    empty: str = "allow"
    empties: bool = True  # whether the data hold examples without labels
    seed: int = 0
    n_examples: int = 48

    @property
    def name(self):
        """What it is called in the record: the fields that are not as usual."""
        usual = Configuration(self.kind)
        parts = [f"{field}={value}" for field, value in self._asdict().items() if value != getattr(usual, field)]
        return " ".join([self.kind, *parts])


class Arithmetic(ClassifierMixin, BaseEstimator):
    """A learner of exact outputs: a step function of one feature per label, shifted by a count of the training part."""

    def fit(self, X, Y):  # noqa: ARG002
        """Learn one small shift per label; the order of the examples does not matter."""
        self.shift_ = np.asarray(Y, dtype=np.int64).sum(axis=0) % 3 - 1
        self.classes_ = [np.array([0, 1]) for _ in self.shift_]
        return self

    def predict_proba(self, X):
        """Return sixteenths."""
        values = np.asarray(X, dtype=np.int64)[:, np.arange(len(self.shift_)) % N_FEATURES]
        values = (values + np.arange(len(self.shift_)) // N_FEATURES) % len(STEPS)
        return np.clip(STEPS[values] + self.shift_, 0, 16) / 16


def make_data(configuration):
    """Return training objects and labels, new objects and labelsets to ask about, all small whole numbers."""
    n_labels = configuration.n_labels
    rng = np.random.RandomState(1000 * configuration.seed + n_labels)
    X = rng.randint(0, len(STEPS), size=(configuration.n_examples + N_NEW, N_FEATURES))
    values = (X[:, np.arange(n_labels) % N_FEATURES] + np.arange(n_labels) // N_FEATURES) % len(STEPS)
    Y = (values >= 4) ^ (rng.randint(0, n_labels + 4, size=values.shape) == 0)
    Y = Y.astype(np.int8)
    if configuration.empties:
        Y[rng.permutation(len(Y))[: len(Y) // 4]] = 0
    bare = ~Y.any(axis=1)
    if not configuration.empties:
        Y[bare, 0] = 1
    return X[:-N_NEW], Y[:-N_NEW], X[-N_NEW:], Y[-N_NEW:]


def make_folds(configuration):
    """Return the fold number of each example."""
    return np.arange(configuration.n_examples) * 7 % configuration.n_examples % N_FOLDS


MEASURES = (
    "power",
    "power2-pairs",
    "log-loss",
    "mahalanobis",
    "mahalanobis-unsigned",
    "max-norm",
    "function",
    "label-wise",
    "prior",
    "default",
    "log-loss+unseen",
    "power+hamming",
    "power+cardinality",
    "mahalanobis+hamming",
    "power-pairs+cardinality+unseen",
    "max-norm+hamming",
    "log-loss+prior-uniform",
    "auto",
)
FOREST = ("forest", "forest+unseen", "auto-default")  # these follow scikit-learn's trees
LISTING = ("function",)  # for few labels
KINDS_WITHOUT_TRAINING = ("prefit", "outputs", "sparse")
SPARSE_MEASURES = ("power", "power2-pairs", "log-loss")


def _allowed(one):  # noqa: PLR0911
    if one.measure in LISTING and one.n_labels > 9:
        return False
    if (
        one.measure.startswith("max-norm")
        and (one.measure != "max-norm" or one.mondrian != "none")
        and one.n_labels > 9
    ):
        return False  # refused: every labelset is scored one by one
    if one.measure == "mahalanobis" and (one.mondrian == "label" or one.n_labels > 22):
        return False  # the first is refused, the second takes minutes
    if one.measure in ("power2-pairs", "power+hamming") and one.n_labels > 22 and one.kind == "cross":
        return False  # seconds each
    if one.kind == "full":
        return one.measure not in ("auto", "auto-default", "default") and one.n_labels <= 4
    if one.measure in ("forest", "forest+unseen", "auto-default"):
        return one.kind in ("cross", "inductive")
    return True


def _listed():  # noqa: PLR0912
    C = Configuration
    for measure in MEASURES:
        for kind in ("cross", "inductive"):
            for n_labels in (1, 4, 9):
                yield C(kind, measure, n_labels=n_labels, empty="auto")
        for n_labels in (2, 6, 14):
            yield C("cross-lists", measure, n_labels=n_labels, empty="exclude", empties=False, seed=1)
        yield C("outputs-folds", measure, n_labels=4, seed=2)
        yield C("prefit", measure, n_labels=6, seed=3)
        yield C("outputs", measure, n_labels=2, empty="exclude", empties=False, seed=4)
        yield C("full", measure, n_labels=2, empty="auto", n_examples=14)
    for measure in ("power", "default", "log-loss+unseen", "power2-pairs", "mahalanobis", "power+hamming", "max-norm"):
        for n_labels in (22, 40):
            yield C("cross", measure, n_labels=n_labels, empty="auto", seed=5)
            yield C("inductive", measure, n_labels=n_labels, seed=6)
    for kind in ("sparse", "sparse-folds"):
        for measure in SPARSE_MEASURES:
            for n_labels in (4, 14, 40):
                yield C(kind, measure, n_labels=n_labels, seed=7)
        yield C(kind, "power", n_labels=9, empty="exclude", empties=False, seed=8)
        yield C(kind, "power", n_labels=9, smoothed=True, seed=8)
    for guarantee in ("exact",):
        for measure in ("power", "default", "mahalanobis", "max-norm"):
            for n_labels in (4, 14):
                yield C("cross", measure, guarantee, n_labels=n_labels, empty="auto", seed=9, n_examples=80)
        yield C("outputs-folds", "power", guarantee, n_labels=9, seed=10, n_examples=80)
        yield C("cross-lists", "log-loss+unseen", guarantee, n_labels=18, seed=11, n_examples=80)
    for mondrian in ("cardinality", "at-most-2", "label", "function"):
        for measure in ("power", "default", "max-norm", "mahalanobis"):
            for kind in ("cross", "inductive"):
                for n_labels in (2, 6, 14):
                    yield C(kind, measure, mondrian=mondrian, n_labels=n_labels, seed=12, n_examples=60)
        yield C("inductive", "power", mondrian=mondrian, n_labels=18, seed=13, n_examples=60)
        yield C("cross", "power", mondrian=mondrian, n_labels=4, empty="auto", empties=False, seed=13)
    for measure in ("power", "default", "mahalanobis", "max-norm"):
        for n_labels in (2, 6, 14):
            yield C("inductive", measure, weighted=True, n_labels=n_labels, seed=14)
            yield C("prefit", measure, weighted=True, n_labels=n_labels, seed=15)
    for kind in ("cross", "inductive", "prefit", "outputs", "outputs-folds"):
        for n_labels in (2, 9, 14):
            yield C(kind, "power", smoothed=True, n_labels=n_labels, seed=16)
    yield C("full", "power", smoothed=True, n_labels=2, n_examples=14)
    for kind in ("cross", "inductive", "prefit", "outputs", "outputs-folds", "cross-lists"):
        for measure in ("power", "log-loss", "power2-pairs"):
            yield C(kind, measure, n_labels=4, empty="auto", empties=False, seed=17)
            yield C(kind, measure, n_labels=9, empty="exclude", empties=False, seed=18)
            yield C(kind, measure, n_labels=4, empty="auto", seed=18)
    for measure in FOREST:
        for n_labels in (4, 9):
            yield C("cross", measure, n_labels=n_labels, empty="auto", seed=19, n_examples=40)
            yield C("inductive", measure, n_labels=n_labels, empty="auto", seed=20)
    for kind in ("label-wise", "label-wise-cv", "label-wise-conditional", "label-wise-outputs", "label-wise-folds"):
        for n_labels in (1, 4, 14):
            yield C(kind, n_labels=n_labels, seed=21)
        yield C(kind, n_labels=4, smoothed=True, seed=22)


CONFIGURATIONS = {one.name: one for one in dict.fromkeys(_listed()) if _allowed(one)}

REGIONS = frozenset({"sizes", "contains", "members", "inner", "outer"})


def repaired(configuration, question):
    """Tell whether an answer is expected to differ from the recorded one because of a repair since."""
    label_wise = configuration.kind.startswith("label-wise")
    unknown_training = configuration.kind in KINDS_WITHOUT_TRAINING and configuration.empties
    empty = configuration.empty == "auto" and (unknown_training or not configuration.empties)
    return (
        configuration.smoothed
        or (configuration.guarantee == "exact" and question in REGIONS)
        or (empty and question not in ("p_value", "nonconformity"))
        or (label_wise and question in REGIONS)
        or (
            label_wise and configuration.kind != "label-wise-conditional" and question == "p_value"
        )  # no Bonferroni now
    )

"""Which runs make up the experiments.

ML-RBF has the most resplits and measures, above all on scene and yeast; other learners have fewer,
because they take longer. Measures that learn from outputs get them out of fold, except with ML-RBF.
On the three text sets there are no distances and no forests: their regions take long to search, and
they did not help in first trials. Enron has 5 folds, and the regions of 100 test objects are sized;
bibtex has 4, trains with 1000 objects instead of 4880, and the regions of 30 are sized. Penalties
for pairs are left out on bibtex, where some objects' best labelsets take minutes to find, and
``auto`` does not try them with that many labels either; on enron only logistic regression and
ML-RBF have them. Support vector machines are tried on scene and yeast alone.

The pool for tables, with the posterior and with log loss, is a run of its own, on scene and yeast.
So are, on every set, the default measure, log loss and frequencies, ``auto`` and the measures that
``auto`` chooses from, with logistic regression, random forests and gradient boosting (on bibtex
ML-kNN, where boosting takes hours). All other results, those of ``auto`` among them, are without
the posterior. The most frequent labelsets, whatever the object, are on the resplits of every run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

BASELINE = ("none", "frequency")
"""The learner and the measure of the most frequent labelsets, the same for every object."""

FAST = (
    *("power", "power+unseen:0.3", "power+prior:0.1"),
    *("log-loss", "log-loss+unseen:1", "log-loss+unseen:3", "log-loss+prior:0.5", "log-loss+prior"),
    *("log-loss:0.01+unseen:5", "log-loss:0.01+prior:0.25", "log-loss:0.01+prior:0.5"),
)
"""Measures of outputs and training labels alone, with regions that are searched fast."""

SHORT = (
    "power",
    "power+prior:0.1",
    "log-loss",
    "log-loss+unseen:3",
    "log-loss+prior:0.5",
    "log-loss+prior",
)
"""Some of them."""

COMMON = (*FAST, "power+pairs", "power+pairs+prior:0.1")
"""All measures of outputs and training labels alone."""

DEFAULTS = ("posterior", "log-loss+prior")
"""The default measure, and log loss with the frequencies of labelsets."""

NEW = ("posterior", "log-loss:0.01+unseen:1", "log-loss:0.01+prior:1", "auto")
"""Candidates of ``auto`` with more than 20 labels, with the default measure, and ``auto``."""

NEW_FEW_LABELS = ("log-loss+prior", "small-posterior-forest", *NEW)
NEW_MANY_LABELS = ("log-loss+unseen:3", *NEW)
"""The same with log loss and frequencies, and the candidates of ``auto`` with few labels."""

JOINT = ("signed-oof+hp", "label-wise-oof", "forest")
ML_RBF = ("mahalanobis", "mahalanobis+hp", "signed", "signed+hp", "label-wise", "forest")
TREES = ("random-forest", "gradient-boosting")
THREE = ("logistic", *TREES)
ALL_GUARANTEES = ("cross", "exact", "inductive")


@dataclass(frozen=True)
class Run:
    """Learners with measures and guarantees on a data set, over resplits 0, 1, ..."""

    dataset: str
    learners: Sequence[str]
    measures: Sequence[str]
    resplits: int
    folds: int
    guarantees: Sequence[str] = ("cross",)
    train: int | None = None
    objects: int | None = None

    def cells(self) -> list[tuple[str, str, str, int]]:
        """Return learner, measure, guarantee and resplit of every cell, baseline included."""
        pairs = dict.fromkeys([*product(self.learners, self.measures), BASELINE])
        rest = product(range(self.resplits), pairs, self.guarantees)
        return [(*pair, guarantee, resplit) for resplit, pair, guarantee in rest]


def _few_labels(
    dataset: str,
    *,
    folds: int,
    resplits: int,
    auto: tuple[int, int],
    others: int,
    trees: int,
    joint: Sequence[str],
) -> list[Run]:
    """Return the runs of a set with few labels.

    Parameters
    ----------
    resplits, others, trees : int
        Resplits of ML-RBF, of logistic regression and ML-kNN, and of trees.
    auto : pair of int
        Resplits of ``auto`` with ML-RBF and with logistic regression.
    joint : sequence of str
        What ML-RBF has beside ``COMMON``.
    """
    runs = [
        Run(dataset, ["ml-rbf"], (*COMMON, *joint), resplits, folds),
        Run(dataset, ["ml-rbf"], ["auto"], auto[0], folds),
        Run(dataset, ["logistic"], (*COMMON, *JOINT), others, folds),
        Run(dataset, ["logistic"], ["auto"], auto[1], folds),
        Run(dataset, ["ml-knn"], (*COMMON, *JOINT), others, folds),
        Run(dataset, TREES, (*COMMON, "forest"), trees, folds),
    ]
    return [run for run in runs if run.resplits > 0]


def _guarantees(dataset: str, *, folds: int, resplits: int) -> Run:
    """Return the run that compares guarantees."""
    return Run(
        dataset, ["ml-rbf"], ("power+pairs", "log-loss+prior:0.5"), resplits, folds, ALL_GUARANTEES
    )


def _many_labels(
    dataset: str,
    measures: Sequence[str],
    *,
    folds: int,
    resplits: int,
    train: int | None = None,
    objects: int | None = None,
) -> list[Run]:
    """Return the runs of a set with many labels.

    Parameters
    ----------
    measures : sequence of str
        Those of logistic regression and ML-RBF; others have ``SHORT``.
    """
    return [
        Run(
            dataset, ["logistic", "ml-rbf"], measures, resplits, folds, train=train, objects=objects
        ),
        Run(dataset, ["ml-knn", *TREES], SHORT, 1, folds, train=train, objects=objects),
    ]


def _with_baseline(runs: Sequence[Run]) -> list[Run]:
    """Return runs, preceded by the fast baseline on the same resplits and guarantees."""
    longest = {run.guarantees: run for run in sorted(runs, key=lambda run: run.resplits)}
    learner, measure = BASELINE
    return [
        *(replace(run, learners=[learner], measures=[measure]) for run in longest.values()),
        *runs,
    ]


OLDER: dict[str, list[Run]] = {
    "scene": [
        *_few_labels(
            "scene",
            folds=12,
            resplits=10,
            auto=(3, 1),
            others=1,
            trees=1,
            joint=(*ML_RBF, "forest+hp"),
        ),
        Run("scene", ["svm"], (*COMMON, "forest"), 1, 12),
        _guarantees("scene", folds=12, resplits=3),
    ],
    "yeast": [
        *_few_labels("yeast", folds=15, resplits=5, auto=(3, 1), others=1, trees=1, joint=ML_RBF),
        Run("yeast", ["ml-rbf"], ["forest+hp", "log-loss:0.01+prior:2"], 3, 15),
        Run("yeast", ["logistic"], ["log-loss:0.01+prior:2"], 1, 15),
        Run("yeast", ["svm"], (*COMMON, "forest"), 1, 15),
        _guarantees("yeast", folds=15, resplits=5),
    ],
    "emotions": [
        *_few_labels(
            "emotions",
            folds=10,
            resplits=5,
            auto=(3, 3),
            others=3,
            trees=1,
            joint=(*ML_RBF, "forest+hp"),
        ),
        _guarantees("emotions", folds=10, resplits=5),
    ],
    "birds": _few_labels(
        "birds",
        folds=10,
        resplits=2,
        auto=(2, 1),
        others=1,
        trees=1,
        joint=("signed+hp", "label-wise", "forest"),
    ),
    "medical": _many_labels("medical", (*COMMON, "auto"), folds=10, resplits=5),
    "enron": [
        *_many_labels("enron", (*COMMON, "auto"), folds=5, resplits=1, objects=100),
        Run("enron", ["ml-rbf"], (*FAST, "auto"), 5, 5, objects=100),
        Run("enron", ["logistic"], (*COMMON, "auto"), 3, 5, objects=100),
    ],
    "bibtex": _many_labels("bibtex", (*FAST, "auto"), folds=4, resplits=1, train=1000, objects=30),
}
"""The runs with many measures, by the name of the data set."""

PLAN: dict[str, list[Run]] = {
    "pool-scene": [Run("scene", ["pool"], DEFAULTS, 10, 12)],
    "pool-yeast": [Run("yeast", ["pool"], DEFAULTS, 5, 15)],
    "new-scene": [Run("scene", THREE, NEW_FEW_LABELS, 2, 12)],
    "new-yeast": [Run("yeast", THREE, NEW_FEW_LABELS, 2, 15)],
    "new-emotions": [Run("emotions", THREE, NEW_FEW_LABELS, 3, 10)],
    "new-birds": [Run("birds", THREE, NEW_FEW_LABELS, 2, 10)],
    "new-medical": [Run("medical", THREE, NEW_MANY_LABELS, 1, 10)],
    "new-enron": [Run("enron", THREE, NEW_MANY_LABELS, 1, 5, objects=100)],
    "new-bibtex": [
        Run(
            "bibtex",
            ("logistic", "random-forest", "ml-knn"),
            NEW_MANY_LABELS,
            1,
            4,
            train=1000,
            objects=30,
        )
    ],
    **{name: _with_baseline(runs) for name, runs in OLDER.items()},
}
"""The runs by the name of the file that their results are kept in."""

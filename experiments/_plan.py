"""Which runs of ``labelsure compare`` make up the experiments.

Learners, measures and numbers of objects were fixed after a look at single resplits of ML-RBF and logistic regression,
for what they cost and whether figures known from elsewhere come out, and before the other runs. Learners that know
their training examples nearly by heart (nearest neighbours, forests, boosting) get what a measure learns from outputs
out of fold, as the measures' documentation says; the others from their own outputs. Where a run would take more than
half an hour on two cores there are fewer objects or resplits, and trees have fewer resplits everywhere. On the three
text sets gradient boosting has no measures that need out-of-fold outputs: that is five more fits of 45 to 159 labels in
each fold. Mahalanobis distances of 53 and 159 labels are searched so slowly that they have files of their own, with few
objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

PAPER = ("power", "power+pairs")
LIKELIHOODS = ("log-loss", "log-loss+unseen:3", "log-loss+prior:0.5", "log-loss+prior", "forest", "forest+hp")
DISTANCES = ("mahalanobis", "mahalanobis+hp", "signed", "signed+hp")
OF_OUTPUTS = (*PAPER, *LIKELIHOODS)
"""Measures that learn nothing from outputs."""

CALM = ("ml-rbf", "logistic")
TREES = ("random-forest", "gradient-boosting")
ALL_GUARANTEES = ("cross", "exact", "exact-deterministic", "twice-mean", "e-mod", "eu-mod", "inductive")


@dataclass(frozen=True)
class Run:
    """One command line of ``labelsure compare``."""

    dataset: str
    learners: Sequence[str]
    measures: Sequence[str]
    resplits: int
    folds: int
    guarantees: Sequence[str] = ("cross",)
    train: int | None = None
    objects: int | None = None

    def words(self) -> list[str]:
        """Return the words after ``labelsure compare``."""
        lists = ("learners", "measures", "guarantees")
        words = [self.dataset, *(word for name in lists for word in (f"--{name}", *getattr(self, name)))]
        words += ["--resplits", str(self.resplits), "--folds", str(self.folds)]
        for name in ("train", "objects"):
            if getattr(self, name) is not None:
                words += [f"--{name}", str(getattr(self, name))]
        return words

    def cells(self) -> set[tuple[str, str, str, int]]:
        """Return learner, measure, guarantee and resplit of every cell."""
        return set(product(self.learners, self.measures, self.guarantees, range(self.resplits)))


def _out_of_fold(measures: Sequence[str]) -> tuple[str, ...]:
    """Return the measures with what they learn from outputs out of fold."""
    return tuple("+".join([f"{first}-oof", *rest]) for first, *rest in (name.split("+") for name in measures))


def _dense(dataset: str, *, folds: int, resplits: int, others: int, trees: int) -> list[Run]:
    """Return the runs of a set with few labels; ``others`` and ``trees`` are resplits of learners but ML-RBF."""
    learned = (*DISTANCES, "label-wise")
    calm, by_heart = (*OF_OUTPUTS, *learned), (*OF_OUTPUTS, *_out_of_fold(learned))
    return [
        Run(dataset, ["ml-rbf"], calm, resplits, folds),
        Run(dataset, ["ml-rbf"], ("power+pairs", "signed+hp"), resplits, folds, ALL_GUARANTEES),
        Run(dataset, ["logistic"], calm, others, folds),
        Run(dataset, ["ml-knn"], by_heart, others, folds),
        Run(dataset, TREES, by_heart, trees, folds),
    ]


def _text(
    dataset: str,
    *,
    learned: Sequence[str],
    resplits: int,
    boosted: int | None,
    train: int | None = None,
    objects: int | None = None,
) -> list[Run]:
    """Return the runs of a set with many labels; ``learned`` measures learn from outputs."""
    by_heart = (*OF_OUTPUTS, *_out_of_fold(learned))
    runs = [
        Run(dataset, CALM, (*OF_OUTPUTS, *learned), resplits, 10, train=train, objects=objects),
        Run(dataset, ["ml-rbf"], ("log-loss+unseen:3",), resplits, 10, ALL_GUARANTEES, train=train, objects=objects),
        Run(dataset, ["ml-knn"], by_heart, resplits, 10, train=train, objects=objects),
        Run(dataset, ["random-forest"], by_heart, 1, 10, train=train, objects=objects),
    ]
    if boosted is not None:
        runs.append(Run(dataset, ["gradient-boosting"], OF_OUTPUTS, boosted, 10, train=train, objects=objects))
    return runs


PLAN: dict[str, list[Run]] = {
    "scene": _dense("scene", folds=12, resplits=10, others=5, trees=2),
    "yeast": _dense("yeast", folds=15, resplits=5, others=3, trees=2),
    "emotions": _dense("emotions", folds=10, resplits=10, others=10, trees=5),
    "birds": _dense("birds", folds=10, resplits=5, others=3, trees=2),
    "medical": _text("medical", learned=("label-wise", *DISTANCES), resplits=3, boosted=2, objects=200),
    "enron": _text("enron", learned=("label-wise",), resplits=3, boosted=1, objects=100),
    "enron-distances": [Run("enron", CALM, DISTANCES, 1, 10, objects=20)],
    "bibtex": _text("bibtex", learned=("label-wise",), resplits=2, boosted=None, objects=60),
    "bibtex-boosting": [Run("bibtex", ["gradient-boosting"], OF_OUTPUTS, 1, 5, train=1000, objects=60)],
    "bibtex-distances": [Run("bibtex", CALM, DISTANCES, 1, 10, objects=10)],
}
"""The runs by the name of the file that their results are kept in."""

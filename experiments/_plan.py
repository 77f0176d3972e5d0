"""Which runs of ``labelsure compare`` make up the experiments.

Learners and measures were fixed before the runs. Learners that know their training examples nearly by heart (forests,
boosting, nearest neighbours) get covariances from out-of-fold outputs, as ``MahalanobisMeasure`` says; the others from
their own outputs. Where a learner would take more than half an hour on two cores, the runs have fewer objects or
resplits, as stated in each table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

PAPER = ("power", "power+pairs")
LIKELIHOODS = ("log-loss", "log-loss+unseen:3", "log-loss+prior", "forest")
DISTANCES = ("mahalanobis", "mahalanobis+hp", "signed", "signed+hp")
DISTANCES_OUT_OF_FOLD = ("mahalanobis-oof", "mahalanobis-oof+hp", "signed-oof", "signed-oof+hp")
CALM = ("ml-rbf", "logistic")
BY_HEART = ("ml-knn", "random-forest", "gradient-boosting")
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


def _standard(dataset: str, *, resplits: int, folds: int, slow: int | None = None) -> list[Run]:
    """Return the runs of a set that is small enough for everything; ``slow`` resplits for trees."""
    shared = (*PAPER, *LIKELIHOODS)
    return [
        Run(dataset, CALM, (*shared, *DISTANCES), resplits, folds),
        Run(dataset, ["ml-knn"], (*shared, *DISTANCES_OUT_OF_FOLD), resplits, folds),
        Run(
            dataset, ["random-forest", "gradient-boosting"], (*shared, *DISTANCES_OUT_OF_FOLD), slow or resplits, folds
        ),
        Run(dataset, ["ml-rbf"], ("power+pairs", "signed+hp"), resplits, folds, ALL_GUARANTEES),
    ]


PLAN: dict[str, list[Run]] = {
    "scene": _standard("scene", resplits=10, folds=12, slow=3),
    "yeast": _standard("yeast", resplits=5, folds=15, slow=2),
    "emotions": _standard("emotions", resplits=10, folds=10, slow=5),
    "birds": _standard("birds", resplits=5, folds=10, slow=2),
}
"""The runs by the name of the file that their results are kept in."""

"""Is ``measure="auto"`` as good as the best measure named beforehand?

``python -m experiments.auto`` splits each of seven data sets again at random, to its original sizes unless the plan
says fewer, and runs cross-conformal classifiers with every measure that auto chooses from, with some more, and with
auto itself: once choosing by three levels, as it does unless told otherwise, once by 90 % alone. Errors are those of
all test objects; sizes are of the first ones, as many as the plan says. With more than 20 labels regions are measured
at 90 % only. Results are kept in ``results/auto.json``, measure by measure: a run that was stopped goes on from there.
"""
# ruff: noqa: T201 - a command prints

import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from labelsure import CrossConformalClassifier, MLRBFClassifier, load_dataset
from labelsure.conformal import AutoMeasure, default_candidates
from labelsure.estimators import fit_base, outputs_of
from labelsure.measures import (
    ForestMeasure,
    HammingPenalty,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    Measure,
    UnseenPenalty,
)

RESULTS = Path(__file__).parent / "results" / "auto.json"
LEVELS = (0.05, 0.1, 0.2)
FEW_LABELS = 20


@dataclass(frozen=True)
class Setting:
    """One data set, learner and number of folds, and how many random splits, training and measured objects."""

    dataset: str
    learner: str
    folds: int
    resplits: int
    measured: int
    train: int | None = None


PLAN = [
    Setting("scene", "ml-rbf", 10, 2, 1196),
    Setting("scene", "logistic", 10, 1, 1196),
    Setting("yeast", "ml-rbf", 10, 2, 300),
    Setting("yeast", "logistic", 10, 1, 300),
    Setting("emotions", "ml-rbf", 10, 3, 202),
    Setting("emotions", "logistic", 10, 3, 202),
    Setting("birds", "ml-rbf", 10, 2, 120),
    Setting("birds", "logistic", 10, 2, 120),
    Setting("medical", "logistic", 10, 2, 200),
    Setting("enron", "logistic", 10, 1, 60),
    Setting("bibtex", "logistic", 5, 1, 60, train=2000),
]


class Remembering(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that is fitted on the same data only once, and asked about the same objects only once."""

    memory: dict[Any, Any] = {}  # noqa: RUF012 - what all copies share is the point

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: Any) -> "Remembering":
        """Fit, or remember."""
        self.n_labels_ = Y.shape[1]
        self.key_ = joblib.hash([repr(self.estimator), X, Y])
        if self.key_ not in self.memory:
            self.memory[self.key_] = fit_base(self.estimator, X, Y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return outputs between 0 and 1."""
        key = self.key_, joblib.hash(X)
        if key not in self.memory:
            self.memory[key] = outputs_of(self.memory[self.key_], X, self.n_labels_)
        return self.memory[key]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def make_learner(name: str, X: Any) -> Any:
    """Return an unfitted classifier with what it needs before it."""
    gaps = [] if sparse.issparse(X) or not np.isnan(X).any() else [SimpleImputer(strategy="median")]
    if name == "ml-rbf":
        steps = [MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler(), MLRBFClassifier()]
    else:
        scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
        steps = [scaler, OneVsRestClassifier(LogisticRegression(solver="liblinear", max_iter=1000))]
    return Remembering(make_pipeline(*gaps, *steps))


def rivals(n_labels: int) -> list[Measure | str]:
    """Return auto, by three levels and by one, what it chooses from, and more measures named beforehand."""
    measures: list[Measure | str] = ["auto", AutoMeasure(significance=0.1), *default_candidates(n_labels)]
    measures += [LogLossMeasure() + UnseenPenalty(3.0)]
    if n_labels <= FEW_LABELS:
        signed, absolute = MahalanobisMeasure(), MahalanobisMeasure("absolute")
        measures += [signed, signed + HammingPenalty(2.0), absolute, absolute + HammingPenalty(2.0)]
        measures += [ForestMeasure(), ForestMeasure() + HammingPenalty(2.0), LabelWiseCombination()]
    return measures


def split(setting: Setting, resplit: int) -> tuple[Any, Any, Any, Any]:
    """Return training and test objects and labels, drawn at random from the pooled set."""
    data = load_dataset(setting.dataset)
    stack = sparse.vstack if sparse.issparse(data.X_train) else np.vstack
    X, Y = stack([data.X_train, data.X_test]), np.vstack([data.Y_train, data.Y_test])
    X = X.tocsr() if sparse.issparse(X) else X
    order = np.random.default_rng(resplit).permutation(len(Y))
    train, test = order[: setting.train or len(data.Y_train)], order[len(data.Y_train) :]
    return X[train], Y[train], X[test], Y[test]


def run(setting: Setting, resplit: int, kept: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the results of one split, measure by measure, but for those that are kept already."""
    X, Y, X_test, Y_test = split(setting, resplit)
    Remembering.memory.clear()
    for measure in rivals(Y.shape[1]):
        if repr(measure) in kept:
            continue
        model = CrossConformalClassifier(
            make_learner(setting.learner, X), measure=measure, cv=setting.folds, random_state=resplit
        )
        start = time.perf_counter()
        model.fit(X, Y)
        fitted = time.perf_counter()
        predictions = model.predict_labelsets(X_test)
        result = {
            **asdict(setting),
            "resplit": resplit,
            "measure": repr(measure),
            "n_train": len(Y),
            "n_test": len(Y_test),
            "n_labels": Y.shape[1],
            "errors": {str(e): float(1 - predictions.region(e).contains(Y_test).mean()) for e in LEVELS},
            "sizes": sizes_of(predictions[np.arange(min(setting.measured, len(Y_test)))], Y.shape[1]),
            "chosen": None if model.measure_choices_ is None else dict(model.measure_choices_.counts),
        }
        yield result | {"seconds": {"fit": fitted - start, "answer": time.perf_counter() - fitted}}


def sizes_of(predictions: Any, n_labels: int) -> dict[str, dict[str, float]]:
    """Return figures about the sizes of regions: their mean where labels are few, else of their logarithms."""
    figures = {}
    for level in LEVELS if n_labels <= FEW_LABELS else (0.1,):
        sizes = predictions.region(level).sizes
        bits = np.log2([max(float(size), 1.0) for size in sizes])
        figures[str(level)] = {"mean_log2": float(bits.mean()), "median_log2": float(np.median(bits))}
        if n_labels <= FEW_LABELS:
            figures[str(level)]["mean"] = float(np.mean(sizes))
    return figures


def figure_of(cells: list[dict[str, Any]]) -> float:
    """Return what is compared at 90 %: the mean size over splits and objects, or 2 to the mean of its log2."""
    figures = [cell["sizes"]["0.1"] for cell in cells]
    if "mean" in figures[0]:
        return float(np.mean([figure["mean"] for figure in figures]))
    return float(2 ** np.mean([figure["mean_log2"] for figure in figures]))


def table(cells: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table: auto against the best measure named beforehand, at 90 %."""
    head = ["data", "learner", "best fixed", "size", "auto", "error", "ratio", "auto by 0.1", "error", "ratio"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for setting in PLAN:
        own: dict[str, list[dict[str, Any]]] = {}
        for cell in cells:
            if asdict(setting).items() <= cell.items():
                own.setdefault(cell["measure"], []).append(cell)
        sizes = {name: figure_of(part) for name, part in own.items() if len(part) == setting.resplits}
        fixed = {name: size for name, size in sizes.items() if "auto" not in name.lower()}
        if not fixed:
            continue
        best = min(fixed, key=fixed.__getitem__)
        row = [setting.dataset, setting.learner, best, f"{fixed[best]:.4g}"]
        for name in ("'auto'", repr(AutoMeasure(significance=0.1))):
            if name in sizes:
                error = np.mean([cell["errors"]["0.1"] for cell in own[name]])
                row += [f"{sizes[name]:.4g}", f"{error:.3f}", f"{sizes[name] / fixed[best]:.3f}"]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def keep(cells: list[dict[str, Any]]) -> None:
    """Write the results, whole or not at all."""
    RESULTS.parent.mkdir(exist_ok=True)
    partial = RESULTS.with_suffix(".part")
    partial.write_text(json.dumps(cells, indent=1) + "\n")
    partial.replace(RESULTS)


def main() -> None:
    """Run what is missing of the data sets named, or of all, and print the table."""
    cells = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    names = sys.argv[1:] or [setting.dataset for setting in PLAN]
    for setting in PLAN:
        for resplit in range(setting.resplits if setting.dataset in names else 0):
            key = asdict(setting) | {"resplit": resplit}
            kept = {cell["measure"] for cell in cells if key.items() <= cell.items()}
            for cell in run(setting, resplit, kept):
                cells.append(cell)
                keep(cells)
                seconds = sum(cell["seconds"].values())
                print(setting.dataset, setting.learner, resplit, cell["measure"], f"{seconds:.0f} s", flush=True)
    print("\n".join(table(cells)))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that a training part has never, or always
        main()

"""Are probabilities and answers for a metric better than the learner's own?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from labelsure import CrossConformalClassifier
from labelsure.learners import fit_base, outputs_of

TITLE = "Probabilities, and answers for a metric"
SETS = ("emotions", "scene", "yeast", "birds", "medical", "enron", "bibtex")
RESPLIT = ("emotions", "birds")
N_RESPLITS = 5
LEARNERS: dict[str, Any] = {
    "logistic": OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    "forest": RandomForestClassifier(100, random_state=0),
    "boosting": MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=60, random_state=0)),
}
CASES = tuple(
    f"{name}:{learner}"
    for name in SETS
    for learner in LEARNERS
    if (name, learner) != ("bibtex", "boosting")
)
ANSWERS = ("learner", "seen", "exact match", "hamming", "f1", "auto")
METRICS = ("macro F", "micro F", "exact match", "Hamming loss")
COLUMNS = (
    "case",
    "Brier, learner",
    "Brier, ours",
    *(f"{metric}, {who}" for metric in METRICS for who in ANSWERS),
)
CAPTION = "Brier score, and metrics of single answers"
METHOD = (
    f"The standard splits; of {' and '.join(RESPLIT)}, {N_RESPLITS} random splits of the same sizes"
    f" with seeds 0 to {N_RESPLITS - 1}, means. The learner alone is fitted on all training rows"
    " and answers what it finds more likely than not; it is wrapped by"
    " `CrossConformalClassifier(learner, cv=5)` with everything else at its default. Brier score of"
    " `predict_proba`, the mean over rows and labels; `seen` is the training labelset with the"
    " largest sum of its outputs' log likelihood and log frequency; the others are `predict_for`."
    " Gradient boosting is left out on bibtex, where it takes hours."
)
KEPT = Path(__file__).parent / "results" / "probabilities.json"

Array = np.ndarray[Any, Any]


def measure(only: Sequence[str] | None = None, n_jobs: int = 1) -> list[Figure | Table]:
    """Return the scores of all cases, saved ones unless measured again, and which bars are met.

    Parameters
    ----------
    only : sequence of str or None
        Cases to measure, ``set:learner`` each; None: all.
    n_jobs : int
        Processes; where there are more than cases, threads fit the folds of each.
    """
    cases = CASES if only is None else tuple(only)
    if unknown := set(cases) - set(CASES):
        raise NotMeasuredError(f"unknown case {min(unknown)}; there are {', '.join(CASES)}.")
    jobs = [(case, seed) for case in cases for seed in seeds_of(case)]
    outer = min(n_jobs, len(jobs))
    fit = delayed(scores_of)
    scores = Parallel(outer, verbose=10)(
        fit(case, seed, max(n_jobs // outer, 1)) for case, seed in jobs
    )
    rows = {row[0]: row[1:] for row in kept_rows()}
    for case in cases:
        rows[case] = np.mean(
            [one for (of, _), one in zip(jobs, scores, strict=True) if of == case], axis=0
        ).tolist()
    ordered = [[case, *rows[case]] for case in CASES if case in rows]
    return [*bars(np.array([row[1:] for row in ordered])), Table(CAPTION, COLUMNS, ordered)]


def kept_rows() -> list[list[Any]]:
    """Return the rows of the table that was measured before."""
    if not KEPT.exists():
        return []
    (table,) = json.loads(KEPT.read_text(encoding="utf-8"))["tables"]
    rows: list[list[Any]] = table["rows"]
    return rows


def bars(scores: Array) -> list[Figure]:
    """Return how many cases reach their targets; bars are shares of the available cases."""
    column = {name: scores[:, j] for j, name in enumerate(COLUMNS[1:])}
    own, seen, f1 = (column[f"macro F, {who}"] for who in ("learner", "seen", "f1"))
    n = len(scores)
    better = column["Brier, ours"] <= column["Brier, learner"]
    return [
        Figure(
            "Brier score at most the learner's",
            float(better.sum()),
            "cases",
            at_least=np.ceil(0.9 * n),
        ),
        Figure(
            'macro F of "f1" at least the learner\'s',
            float((f1 >= own).sum()),
            "cases",
            at_least=np.ceil(0.9 * n),
        ),
        Figure(
            'macro F of "f1" below the learner\'s at most',
            float((own - f1).max()),
            "",
            at_most=0.05,
        ),
        Figure(
            'macro F of "f1" at least the most probable seen labelset\'s',
            float((f1 >= seen).sum()),
            "cases",
            at_least=np.ceil(0.8 * n),
        ),
        Figure(
            'macro F of "f1" over the learner\'s, at most 2, geometric mean',
            float(np.exp(np.log(np.minimum(f1 / own, 2)).mean())),
            "x",
            at_least=1.1,
        ),
    ]


def seeds_of(case: str) -> list[int | None]:
    """Return the seeds of a case's random splits; None stands for the standard split."""
    return list(range(N_RESPLITS)) if case.split(":", maxsplit=1)[0] in RESPLIT else [None]


def scores_of(case: str, seed: int | None, n_jobs: int) -> list[float]:
    """Return the numbers of a row of the table, for one split."""
    name, learner = case.split(":")
    X, Y, X_new, Y_new = split_of(name, seed)
    fitted = fit_base(LEARNERS[learner], X, Y)
    outputs = outputs_of(fitted, X_new, Y.shape[1])
    model = CrossConformalClassifier(LEARNERS[learner], cv=5, random_state=0, n_jobs=n_jobs).fit(
        X, Y
    )
    answers = {"learner": outputs > 0.5, "seen": most_probable_seen(outputs, Y)}
    answers |= {who: model.set_params(predict_for=who).predict(X_new) for who in ANSWERS[2:]}
    brier = [float(((p - Y_new) ** 2).mean()) for p in (outputs, model.predict_proba(X_new))]
    judged = np.array([judge(Y_new, answers[who].astype(int)) for who in ANSWERS])
    return [*brier, *judged.T.ravel().tolist()]


def judge(Y: Array, answers: Array) -> list[float]:
    """Return the metrics of single answers."""
    macro, micro = (
        float(f1_score(Y, answers, average=kind, zero_division=0)) for kind in ("macro", "micro")
    )
    return [macro, micro, float((answers == Y).all(axis=1).mean()), float((answers != Y).mean())]


def most_probable_seen(outputs: Array, Y: Array) -> Array:
    """Return the training labelset with the largest product of its outputs and its frequency."""
    labelsets, counts = np.unique(Y, axis=0, return_counts=True)
    likely = np.clip(outputs, 1e-6, 1 - 1e-6)
    logs = np.log(likely) @ labelsets.T + np.log(1 - likely) @ (1 - labelsets.T) + np.log(counts)
    best: Array = labelsets[logs.argmax(axis=1)]
    return best


def split_of(name: str, seed: int | None) -> tuple[Array, Array, Array, Array]:
    """Return training objects, their labels, new objects and theirs."""
    data = load_if_there(name)
    X = np.concatenate([to_array(data.X_train), to_array(data.X_test)])
    Y = np.concatenate([data.Y_train, data.Y_test]).astype(int)
    n = len(data.Y_train)
    order = np.arange(len(Y)) if seed is None else np.random.default_rng(seed).permutation(len(Y))
    X, Y = X[order], Y[order]
    return X[:n], Y[:n], X[n:], Y[n:]


def to_array(X: Any) -> Array:
    """Return objects as an array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)

"""How much longer does it take to choose a measure than to be told one?"""

import time
from functools import partial

from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from benchmarks._measuring import fastest
from labelsure import CrossConformalClassifier
from labelsure.measures import make_measure

TITLE = "Choosing a measure"
METHOD = (
    'Fitting `CrossConformalClassifier` with `measure="auto"` on the 1500 training objects of'
    " yeast (14 labels), one-vs-rest logistic regression (liblinear) in 10 folds: against the"
    " default measure, which learns from out-of-fold outputs as `auto` does, and against log loss"
    " with a prior, which does not. Seconds of the processor on one thread, best of several"
    " interleaved runs, kernels compiled beforehand."
)
MEASURES = {
    "auto": "auto",
    "the default measure": None,
    "log loss with a prior": make_measure("log-loss+prior"),
}
N_FOLDS = 10
REPEATS = 3


def measure() -> list[Figure]:
    """Return the time of ``auto`` over that of measures named beforehand."""
    data = load_if_there("yeast")
    learner = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    models = {
        name: CrossConformalClassifier(learner, measure=one, cv=N_FOLDS, random_state=0, n_jobs=1)
        for name, one in MEASURES.items()
    }
    models["auto"].fit(data.X_train[:300], data.Y_train[:300])  # compiles
    work = {name: partial(model.fit, data.X_train, data.Y_train) for name, model in models.items()}
    seconds = fastest(work, repeats=REPEATS, clock=time.process_time)
    auto, default, former = seconds.values()
    return [
        Figure("auto against the default measure", auto / default, "x", at_most=3),
        Figure("auto against log loss with a prior", auto / former, "x"),
        *(Figure(f"fit with {name}", value, "s") for name, value in seconds.items()),
    ]

"""What does a pool cost beside its learners fitted one by one?"""

import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_multilabel_classification

from benchmarks._figures import Figure
from benchmarks._measuring import fastest
from labelsure import PooledClassifier, table_pool
from labelsure._parallel import one_thread
from labelsure.learners import fit_base

TITLE = "Pools"
METHOD = (
    "`table_pool` with 50 trees and 20 rounds of boosting on 600 made-up rows of 20 features and 6"
    " labels: fitting it with equal weights, and with weights learned in five inner folds, against"
    " fitting its members one by one on all rows. The inner folds are five fits on four fifths of"
    " the rows, so at least about five times the members is what learned weights cost; what the"
    " likelihood takes is shown as a share of the whole. CPU seconds on one thread, best of several"
    " interleaved runs."
)
REPEATS = 3

Array = np.ndarray[Any, Any]


def measure() -> list[Figure]:
    """Return the pool's time over that of its members."""
    X, Y = make_multilabel_classification(600, n_features=20, n_classes=6, random_state=0)
    small = {"trees__n_estimators": 50, "boosting__labels__estimator__max_iter": 20}
    pool = table_pool(random_state=0).set_params(**small)
    equal = table_pool(random_state=0).set_params(weights="equal", **small)
    logits = pool.fit(X, Y).member_outputs(X)
    work = {
        "members": partial(fit_one_by_one, pool, X, Y),
        "equal": partial(equal.fit, X, Y),
        "learned": partial(pool.fit, X, Y),
        "likelihood": partial(pool.learn_weights, logits, Y),
    }
    seconds = fastest(work, repeats=REPEATS, clock=time.process_time)
    return [
        Figure(
            "equal weights against the members",
            seconds["equal"] / seconds["members"],
            "x",
            at_most=1.2,
        ),
        Figure(
            "learned weights against the members",
            seconds["learned"] / seconds["members"],
            "x",
            at_most=6.5,
        ),
        Figure(
            "likelihood, share of learned weights",
            100 * seconds["likelihood"] / seconds["learned"],
            "%",
        ),
    ]


def fit_one_by_one(pool: PooledClassifier, X: Array, Y: Array) -> list[Any]:
    """Return the members, fitted without a pool."""
    with one_thread():
        return [fit_base(member, X, Y) for _, member in pool.estimators]

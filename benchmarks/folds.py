"""How fast are folds with like shares of every label?"""

from functools import partial
from typing import Any

import numpy as np
from tests.stratified_reference import assign_folds

from benchmarks._figures import Figure
from benchmarks._measuring import fastest
from labelsure import MultiLabelStratifiedKFold

TITLE = "Stratified folds"
METHOD = (
    "Ten folds by iterative stratification of made-up labels: 100 labels whose frequencies fall"
    " from one half to one in a thousand, drawn independently. `MultiLabelStratifiedKFold` as a"
    " user calls it, with checks and shuffling, against its slow twin in numpy and Python, which"
    " deals out the same rows one by one; both give the same folds. The spread is that of a label's"
    " number of examples over the folds, on average over the labels, against folds drawn at random."
    " Kernels compiled beforehand, best of several interleaved runs."
)
N_FOLDS, N_LABELS = 10, 100
N_ROWS, FEW_ROWS = 100_000, 5_000
REPEATS = 3

Array = np.ndarray[Any, Any]


def measure() -> list[Figure]:
    """Return the seconds of many rows, the ratio for fewer, and how even the folds are."""
    many, few = made_up_labels(N_ROWS), made_up_labels(FEW_ROWS)
    draws = np.zeros(len(few), dtype=np.int64)
    ours, twin = partial(folds_of, few, shuffle=False), partial(assign_folds, few, draws, N_FOLDS)
    if not np.array_equal(ours(), twin()):  # compiles as well
        raise RuntimeError(
            "Kernel and twin give different folds, so their speeds cannot be compared."
        )
    seconds = fastest({"ours": ours, "twin": twin}, repeats=REPEATS)
    of_many = fastest({"ours": partial(folds_of, many, random_state=0)}, repeats=REPEATS)["ours"]
    at_random = np.random.default_rng(0).permutation(N_ROWS) % N_FOLDS
    evenness = spread(many, at_random) / spread(many, folds_of(many, random_state=0))
    return [
        Figure(f"{N_ROWS} rows, {N_LABELS} labels", of_many, "s", at_most=5),
        Figure(
            f"{FEW_ROWS} rows: against the twin",
            seconds["twin"] / seconds["ours"],
            "x",
            at_least=20,
        ),
        Figure(f"{N_ROWS} rows: spread against random folds", evenness, "x", at_least=3),
    ]


def made_up_labels(n_rows: int) -> Array:
    """Return labels of many frequencies, some of them rare."""
    frequencies = np.geomspace(0.5, 0.001, N_LABELS)
    return (np.random.default_rng(0).random((n_rows, N_LABELS)) < frequencies).astype(np.int8)


def folds_of(Y: Array, **parameters: Any) -> Array:
    """Return the fold of every row."""
    folds = np.empty(len(Y), dtype=np.int64)
    for fold, (_, test) in enumerate(
        MultiLabelStratifiedKFold(N_FOLDS, **parameters).split(None, Y)
    ):
        folds[test] = fold
    return folds


def spread(Y: Array, folds: Array) -> float:
    """Return how much a label's number of examples differs between folds, on average."""
    counts = np.array(
        [Y[folds == fold].sum(axis=0, dtype=np.int64) for fold in range(folds.max() + 1)]
    )
    return float(np.ptp(counts, axis=0).mean())

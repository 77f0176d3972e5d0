"""Kernels compiled beforehand: every kind of question asked once, about made-up data."""

from typing import Any

import numpy as np

from labelsure._start_up import START_UP
from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._outputs import calibrate_outputs
from labelsure.conformal._stratified import MultiLabelStratifiedKFold
from labelsure.engine import Implies
from labelsure.measures import PowerMeasure
from labelsure.paper import BPMLLClassifier, MLNBClassifier
from labelsure.predictions import LabelsetPredictions

MOST_LISTED = 14
"""More labelsets than those of so many labels are not listed here."""

CASES: tuple[tuple[int, dict[str, Any]], ...] = (
    (8, {}),  # tables answer everything
    (14, {}),  # and some questions
    (30, {}),  # and none
    (30, {"guarantee": "exact"}),
    (30, {"constraints": Implies(0, 1)}),
    (30, {"measure": PowerMeasure(pair_penalty=1.0)}),
    (8, {"measure": PowerMeasure(pair_penalty=1.0), "constraints": Implies(0, 1)}),
)
"""Numbers of labels, and what else decides which kernels answer."""

LEARNERS = (
    BPMLLClassifier(n_epochs=1),
    MLNBClassifier(population_size=4, n_generations=1, n_folds=2),
)
"""Those that have kernels of their own."""


def compile_kernels() -> list[str]:
    """Compile the numba kernels that fit and predict, so that nothing has to be compiled later.

    numba compiles a kernel when it is first needed, and keeps the machine code beside the package,
    in the user's cache, or in the folder that the environment variable ``NUMBA_CACHE_DIR`` names.
    This asks every kind of question about made-up objects with few and with many labels, under the
    default measure, the paper's with a penalty for pairs, and a constraint, and fits the learners
    of this package that have kernels, on stratified folds. It takes about a minute; where
    everything is kept already, seconds. In a shell: ``labelsure compile``; on the workers of Dask:
    ``client.run(compile_kernels)``.

    Returns
    -------
    list of str
        The folders in which the machine code is kept; none where no folder could be written, so
        that the next process compiles again.

    Examples
    --------
    >>> from labelsure import compile_kernels
    >>> bool(compile_kernels())  # doctest: +SKIP
    True
    """
    from labelsure._compile import FOLDERS  # numba takes its time to import

    START_UP.end()
    rng = np.random.default_rng(0)
    for n_labels, options in CASES:
        outputs = rng.random((60, n_labels))
        Y = (rng.random(outputs.shape) < outputs).astype(np.int8)
        Y[:, 1] |= Y[:, 0]
        predictor = calibrate_outputs(outputs, Y, folds=np.arange(len(Y)) % 3, **options)
        _ask_everything(predictor.predict_labelsets(np.stack([outputs[:2]] * 3)))
    X = rng.random((60, 4))
    for learner in LEARNERS:
        folds = MultiLabelStratifiedKFold(2, shuffle=True, random_state=0)
        CrossConformalClassifier(learner, cv=folds, random_state=0, n_jobs=1).fit(
            X, (X[:, :3] > 0.5).astype(np.int8)
        )
    return sorted(FOLDERS)


def _ask_everything(predictions: LabelsetPredictions) -> None:
    n_labels, region = predictions.labelsets.shape[1], predictions.region(0.5)
    region.contains(predictions.top(5).labelsets[:, 0])
    region[0].members(limit=5)
    for name in ("sizes", "inner", "outer"):
        getattr(region, name)
    predictions.label_p_values  # noqa: B018 - asked for what it takes
    if n_labels <= MOST_LISTED:
        predictions.p_values()

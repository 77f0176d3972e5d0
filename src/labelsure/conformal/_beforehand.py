"""Kernels compiled beforehand: every kind of question asked once, about made-up data."""

from typing import Any

import numpy as np

from labelsure._core.kept_code import FOLDERS
from labelsure.conformal._outputs import calibrate_outputs
from labelsure.labelsets import Implies
from labelsure.measures import PowerMeasure
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


def compile_kernels() -> list[str]:
    """Compile what answers questions about labelsets, so that nobody waits for it later.

    numba compiles a kernel when it is first needed, and keeps the machine code beside the package, in the user's cache,
    or in the folder that the environment variable ``NUMBA_CACHE_DIR`` names. This asks every kind of question about
    made-up objects with few and with many labels, under the default measure, the paper's with a penalty for pairs, and
    a constraint. It takes about a minute; where everything is kept already, seconds. In a shell: ``labelsure compile``.

    Returns
    -------
    list of str
        The folders in which the machine code is kept; none where no folder could be written, so that the next process
        compiles again.

    Examples
    --------
    >>> from labelsure import compile_kernels
    >>> bool(compile_kernels())  # doctest: +SKIP
    True
    """
    rng = np.random.default_rng(0)
    for n_labels, options in CASES:
        outputs = rng.random((60, n_labels))
        Y = (rng.random(outputs.shape) < outputs).astype(np.int8)
        Y[:, 1] |= Y[:, 0]
        predictor = calibrate_outputs(outputs, Y, folds=np.arange(len(Y)) % 3, **options)
        _ask_everything(predictor.predict_labelsets(np.stack([outputs[:2]] * 3)))
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

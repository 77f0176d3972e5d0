"""Rows in numpy: every answer equals brute force and what kernels answer, and a process begins
with them.
"""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import codes_of
from constraint_cases import constrain
from fold_strategies import fold_lists, full_energies, smoothing, weighing_of
from labelsure._start_up import START_SECONDS, START_UP
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._numpy_rows import SCORE_SECONDS
from labelsure.engine._rows import CodeRows, FoldRows
from labelsure.measures._energy import Energy
from max_cases import random_max_case
from search_cases import assert_answers_equal_brute_force, random_case, seen_case

CASES = {
    "all kinds of energies": lambda seed: random_case(seed, labels=(1, 9), folds=(1, 8)),
    "labelsets seen": seen_case,
    "maxima": random_max_case,
    "constraints": lambda seed: constrain(
        random_case(seed, labels=(1, 8), folds=(1, 6)), np.random.default_rng([seed, 2])
    ),
}


@pytest.fixture
def start(monkeypatch):
    """Begin as a new process does."""
    monkeypatch.setattr(START_UP, "left", {})
    monkeypatch.setattr(START_UP, "seconds", START_SECONDS)
    return START_UP


def is_first(engine, n_objects):
    answers = engine.answers(n_objects)
    return isinstance(answers, FoldRows) and not answers.compiled


@pytest.mark.filterwarnings("ignore:region:UserWarning")
@pytest.mark.parametrize("kind", CASES)
def test_first_answers_equal_brute_force(kind, start):
    for seed in range(60):
        start.left = {}
        case = CASES[kind](seed)
        engine = case.engine()
        assert is_first(engine, 1) or engine.constraints.listed is not None
        assert_answers_equal_brute_force(case, seed)


@settings(max_examples=60)
@given(st.data(), fold_lists(labels=(1, 7)) | fold_lists(kind=full_energies), st.booleans())
def test_every_answer_of_rows_in_numpy_equals_that_of_the_kernels(data, folds, allow_empty):
    arrays, n_objects = FoldArrays(folds), folds[0].energy.n_objects
    weighing, everyone = weighing_of(folds, data.draw(smoothing(n_objects))), np.arange(n_objects)
    in_numpy, compiled = (
        FoldRows(arrays, weighing, 0 if allow_empty else 1, None, compiled=way)
        for way in (False, True)
    )
    rows = in_numpy.numerators(everyone)
    assert np.array_equal(rows, compiled.numerators(everyone))
    n_best = data.draw(st.integers(1, 9))
    found, expected = in_numpy.best(everyone, n_best), compiled.best(everyone, n_best)
    assert found.labelsets.tolist() == expected.labelsets.tolist()


NUMBERS = st.integers(0, 2)


@given(st.integers(1, 4), st.data(), st.booleans(), st.integers(1, 20))
def test_best_codes_are_the_first_of_all_sorted(n_labels, data, allow_empty, n_best):
    """By highest numerator, then by lowest total score, then by lowest code."""
    n_codes = 2**n_labels
    rows, totals = (
        np.array(data.draw(st.lists(NUMBERS, min_size=2 * n_codes, max_size=2 * n_codes))).reshape(
            2, n_codes
        )
        for _ in range(2)
    )
    first = int(not allow_empty)
    table = CodeRows(
        lambda objects: rows[objects],
        lambda Y, objects: totals[objects, codes_of(Y)],
        n_labels,
        first,
        None,
    )
    best = table.best(np.arange(2), n_best)
    for i in range(2):
        expected = sorted(
            range(first, n_codes), key=lambda code: (-rows[i, code], totals[i, code], code)
        )[:n_best]
        assert codes_of(best.labelsets[i, : len(expected)]) == expected
        assert best.numerators[i, : len(expected)].tolist() == rows[i, expected].tolist()


def engine_of(n_labels, n_objects):
    energy = Energy(
        np.zeros(n_objects, dtype=np.int64), np.ones((n_objects, n_labels), dtype=np.int64)
    )
    return FoldEngine([Fold(np.array([1, 2]), energy)], allow_empty=True)


def test_kernels_answer_once_rows_have_taken_their_time(start):
    few, many = engine_of(8, 1), engine_of(9, 1)
    n_objects = int(START_SECONDS / 2 / SCORE_SECONDS) >> 8
    assert [is_first(few, n_objects) for _ in range(3)] == [True, True, False]
    assert is_first(many, 1)  # by a search: its kernels are others
    assert not is_first(many, n_objects)
    assert not is_first(many, 1)  # what it waited for is there


def test_more_labels_are_left_to_kernels(start):
    assert is_first(engine_of(14, 1), 1)
    assert not is_first(engine_of(15, 1), 1)


FIRST_QUESTIONS = """
import sys
import numpy as np
from labelsure import calibrate_outputs

rng = np.random.default_rng(0)
for n_labels in (8, 14):
    outputs = rng.random((120, n_labels))
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    predictor = calibrate_outputs(outputs[:100], Y[:100], folds=np.arange(100) % 10)
    predictions = predictor.predict_labelsets(np.stack([outputs[100:]] * 10))
    predictions.labelsets, predictions.confidence
    predictions.credibility, predictions.label_p_values
    predictions.p_values(), predictions.probabilities
    region = predictions.region(0.1)
    region.sizes, region.inner, region.outer, region[0].members(limit=5), region.contains(Y[100:])
print("numba" in sys.modules)
"""


def test_small_questions_do_not_import_numba():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_QUESTIONS], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]

"""Kernels compiled beforehand: a process that comes later compiles nothing."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba.core.event")

COMPILE = """
from labelsure.conformal import _beforehand
_beforehand.CASES = [case for case in _beforehand.CASES if case[0] == 8]
_beforehand.LEARNERS = _beforehand.LEARNERS[-1:]
print(*_beforehand.compile_kernels(), sep="\\n")
"""
ASK = """
import numpy as np
from numba.core import event
from labelsure import MLNBClassifier, calibrate_outputs
from labelsure._start_up import START_UP

START_UP.end()  # numpy answers nothing
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
rng = np.random.default_rng(1)
outputs = rng.random((90, 6))
Y = (rng.random((90, 6)) < outputs).astype(int)
predictor = calibrate_outputs(outputs, Y, folds=np.arange(90) % 5)
predictions = predictor.predict_labelsets(np.stack([outputs[:7]] * 5))
predictions.labelsets, predictions.confidence, predictions.top(3)
predictions.label_p_values, predictions.p_values()
region = predictions.region(0.1)
region.sizes, region.inner, region.contains(Y[:7]), region[0].members()
MLNBClassifier(population_size=4, n_generations=1, n_folds=2).fit(outputs, Y)
print(len(compiled.buffer))
"""


def run(program, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.validity
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_a_later_process_compiles_nothing(tmp_path):
    assert int(run(ASK, tmp_path / "other")[0]) > 0
    folders = run(COMPILE, tmp_path / "cache")
    assert folders
    assert all(folder.startswith(str(tmp_path / "cache")) for folder in folders)
    assert run(ASK, tmp_path / "cache") == ["0"]

"""Ctrl-C in the middle of a search by several threads."""

import signal
import subprocess
import sys
import time

import pytest

SCRIPT = """
import numpy as np
from labelsure.measures._energy import Energy
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine

def search(n_objects, n_labels):
    rng = np.random.default_rng(0)
    pairwise = rng.integers(-(2**20), 2**20, size=(n_labels, n_labels))
    unary = rng.integers(-9, 9, size=(n_objects, n_labels))
    energy = Energy(np.zeros(n_objects, np.int64), unary, pairwise)
    fold = Fold(np.sort(np.arange(-(2**30), 0, 2**22)), energy)
    FoldEngine([fold], allow_empty=True, n_jobs=2).top(2)

search(2, 10)  # compiles
print("compiled", flush=True)
search(200, 120)  # pairs of any sign bind 120 labels together: that would take years
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise on Windows")
def test_ctrl_c_ends_a_search_in_threads():
    words = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "compiled\n"
            time.sleep(2)
            assert process.poll() is None, "there is nothing left to interrupt"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in errors
    assert "CancelledError" not in errors
    assert process.returncode != 0

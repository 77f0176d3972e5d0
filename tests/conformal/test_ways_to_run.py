"""Fitted predictors give identical results in all kinds of threads and processes, in any order."""

import json
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from ways_to_run import N_THREADS, answers

from labelsure import CrossConformalClassifier, InductiveConformalClassifier
from labelsure._compile import kernel

PROGRAM = Path(__file__).with_name("ways_to_run.py")
WAYS = ["first use", "threads", "nested threads", "spawn", "loky"]
POSIX_WAYS = ["fork", "forkserver"]


@pytest.fixture(scope="module")
def fitted():
    """Two predictors, which answer from tables and by randomised searches, with new objects."""
    rng = np.random.default_rng(7)
    X = rng.random((120, 6))
    Y = (rng.random((120, 20)) < X[:, np.arange(20) % 6]).astype(int)
    tables = CrossConformalClassifier(
        KNeighborsClassifier(algorithm="brute"), cv=3, smoothed=True, random_state=3, n_jobs=2
    )
    searches = InductiveConformalClassifier(
        MultiOutputClassifier(LogisticRegression()), smoothed=True, random_state=3, n_jobs=2
    )
    with parallel_config("threading"):  # starting processes would take longer
        return [tables.fit(X, Y[:, :5]), searches.fit(X, Y)], X[:9]


@pytest.fixture(scope="module")
def expected(fitted):
    return answers(*fitted)


@pytest.fixture(scope="module")
def found(fitted, tmp_path_factory):
    """What the program prints, once for all ways."""
    path = tmp_path_factory.mktemp("ways") / "fitted.pickle"
    path.write_bytes(pickle.dumps(fitted))
    # an OpenMP of two threads on whatever machine: what is forked must have had threads
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, PROGRAM, path],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", WAYS)
def test_answers_are_the_same_bits_in_every_way(found, expected, way):
    assert set(found[way]) == {expected}
    assert len(found[way]) == (N_THREADS if way in {"first use", "threads"} else 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("way", POSIX_WAYS)
def test_answers_are_the_same_bits_after_a_fork(found, expected, way):
    assert set(found[way]) == {expected}


def test_one_set_of_predictions_may_be_asked_by_many_threads_at_once(fitted):
    """What they have computed they remember, and none may see half of it."""
    predictors, X = fitted
    for predictor in predictors:
        alone, shared = predictor.predict_labelsets(X), predictor.predict_labelsets(X)
        barrier = threading.Barrier(N_THREADS)

        def ask(_, shared=shared, barrier=barrier):
            barrier.wait(120)
            return (
                shared.confidence,
                shared.label_p_values,
                shared.region(0.2).sizes,
                shared.top(2).labelsets,
            )

        with ThreadPoolExecutor(N_THREADS) as pool:
            for given in pool.map(ask, range(N_THREADS)):
                wanted = (
                    alone.confidence,
                    alone.label_p_values,
                    alone.region(0.2).sizes,
                    alone.top(2).labelsets,
                )
                assert all(np.array_equal(*pair) for pair in zip(given, wanted, strict=True))


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_a_kernel_is_compiled_once_by_the_first_of_many_threads():
    offset = 7  # held by the kernel, so that it is not kept on disk

    @kernel
    def add(numbers):
        total = offset
        for number in numbers:
            total += number
        return total

    barrier = threading.Barrier(N_THREADS)

    def ask(i):
        barrier.wait(120)
        return add(np.arange(i))

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert list(pool.map(ask, range(N_THREADS))) == [
            7 + i * (i - 1) // 2 for i in range(N_THREADS)
        ]
    assert len(add.signatures) == 1


FORK_WHILE_COMPILING = """
import os, signal, sys, threading
from numba.core import event
from labelsure._compile import kernel

@kernel
def twice(number):
    return number + number

class Pause(event.Listener):
    def on_start(self, _):
        compiling.set()
        may_go_on.wait(60)

    def on_end(self, _):
        pass

compiling, may_go_on = threading.Event(), threading.Event()
event.register("numba:compile", Pause())
other = threading.Thread(target=twice, args=(1,))
other.start()
compiling.wait(60)
threading.Timer(0.5, may_go_on.set).start()
child = os.fork()  # while the other thread holds the compiler's lock
if child == 0:
    signal.alarm(60)
    os._exit(int(twice(2.0)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_a_fork_waits_for_the_thread_that_compiles():
    command = [sys.executable, "-W", "ignore", "-c", FORK_WHILE_COMPILING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "4"

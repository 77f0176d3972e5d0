"""The same queries in all threads and processes: ``python ways_to_run.py PICKLE`` prints JSON.

A program of its own, because children that are spawned import it, and because the first use of
everything in a process is one of the ways. What the answers should be is computed by the test, in
one thread of another process.
"""

import hashlib
import json
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

N_THREADS = 8


def answers(predictors, X):
    """Return a digest of the bits of all kinds of answers of some predictors."""
    digest = hashlib.sha256()
    for predictor in predictors:
        predictions = predictor.predict_labelsets(X)
        region = predictions.region(0.2)
        for bits in (
            predictions.labelsets,
            predictions.confidence,
            predictions.credibility,
            predictions.label_p_values,
            predictions.top(3).p_values,
            region.sizes,
            region.outer,
        ):
            digest.update(np.ascontiguousarray(bits).tobytes())
    return digest.hexdigest()


def load_and_answer(path):
    """Answer from the pickle alone: for processes that share nothing with this one."""
    return answers(*pickle.loads(Path(path).read_bytes()))


def in_threads(question, *args):
    """Return what a question returns in several threads, all of which begin at once."""
    barrier = threading.Barrier(N_THREADS)

    def wait_and_ask(_):
        barrier.wait(120)
        return question(*args)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(wait_and_ask, range(N_THREADS)))


def in_fork(question, *args):
    """Return a query's result in a forked copy of this process, which is killed if it hangs."""
    import signal

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(240)
        os.write(writing, question(*args).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return [found or "the child hung or crashed"]


def in_child(method, question, path):
    """Return a query's result in a multiprocessing process, with pickled input and output."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.map_async(question, [path, path]).get(240)


def in_joblib(backend, question, *args):
    """Return what a question returns in two workers of joblib."""
    from joblib import Parallel, delayed

    return Parallel(n_jobs=2, backend=backend)(delayed(question)(*args) for _ in range(2))


def main(path):
    """Return the answers of each way."""
    found = {"first use": in_threads(load_and_answer, path)}
    predictors, X = pickle.loads(Path(path).read_bytes())
    found["threads"] = in_threads(answers, predictors, X)
    found["nested threads"] = in_joblib("threading", answers, predictors, X)
    if hasattr(os, "fork"):
        use_openmp(X)
        found["fork"] = in_fork(answers, predictors, X)
        found["forkserver"] = in_child("forkserver", load_and_answer, path)
    found["spawn"] = in_child("spawn", load_and_answer, path)
    found["loky"] = in_joblib("loky", answers, predictors, X)
    return found


def use_openmp(X):
    """Have threads of OpenMP and BLAS in this process, which a forked child will not have."""
    from sklearn.neighbors import KNeighborsClassifier

    many = np.repeat(X, 40, axis=0)
    KNeighborsClassifier(algorithm="brute").fit(many, np.arange(len(many)) % 2).predict(many)
    many @ many.T


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))

"""Fits under ``joblib.parallel_config("dask")``: the same to the last bit, with data that travel once."""

import os
import pickle
import threading
import warnings
from multiprocessing import parent_process

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_info

from dask_clusters import local_cluster
from labelsure import (
    AutoMeasure,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecallController,
)
from labelsure._core import running
from labelsure._core.running import count_threads, map_in_threads
from labelsure.measures import PowerMeasure

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

RNG = np.random.default_rng(0)
X = RNG.random((90, 4))
Y = (RNG.random((90, 3)) < X[:, :3]).astype(int)
LINEAR = OneVsRestClassifier(LogisticRegression())
POOL = PooledClassifier([("linear", LINEAR), ("near", MLkNNClassifier(5))], cv=3)


def models():
    given = {"measure": PowerMeasure(), "random_state": 0}
    return {
        "cross": CrossConformalClassifier(LINEAR, cv=5, random_state=0),
        "randomised": CrossConformalClassifier(LINEAR, cv=5, guarantee="exact", **given),
        "auto": CrossConformalClassifier(LINEAR, cv=3, measure=AutoMeasure(), random_state=0),
        "pool": CrossConformalClassifier(POOL, cv=3, random_state=0),
        "inductive": InductiveConformalClassifier(LINEAR, **given),
        "pool, inductive": InductiveConformalClassifier(POOL, random_state=0),
        "full": FullConformalClassifier(MLkNNClassifier(3), **given),
        "label-wise": LabelWiseConformalClassifier(LINEAR, cv=4, random_state=0),
        "controller": RecallController(LINEAR, cv=4, random_state=0),
    }


def answers_of(model, X=X, labels=Y):
    """What a model that is fitted says of a few objects."""
    model.fit(X, labels)
    if hasattr(model, "predict_labels"):
        return [model.predict_labels(X[:4]).p_values]
    if not hasattr(model, "predict_labelsets"):
        return [model.predict(X[:4])]
    predictions = model.predict_labelsets(X[:4])
    return [predictions.region(0.2).contains(codes) for codes in labels[:20]] + [predictions.labelsets]


def assert_the_same(name, client, *numbers):
    alone = answers_of(models()[name])
    addresses = sorted(client.ncores())
    for n_workers in numbers:
        with parallel_config("dask", client=client, workers=addresses[:n_workers]):
            together = answers_of(models()[name])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", models())
def test_fits_on_dask_are_the_same(name, client):
    assert_the_same(name, client, 3)


def test_fits_are_the_same_for_any_number_of_workers(client):
    assert_the_same("randomised", client, 1, 2, 3)


@pytest.mark.validity
@pytest.mark.parametrize("name", models())
def test_fits_of_all_kinds_are_the_same_for_any_number_of_workers(name, client):
    assert_the_same(name, client, 1, 2, 3)


def as_table(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


LARGE = np.random.default_rng(1).random((3000, 40))
LARGE_Y = (LARGE[:, :3] > 0.5).astype(np.int8)


@pytest.fixture
def seen(cluster):
    """What the scheduler knows at every step of a task: data that were sent, and how many bytes each task has."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Watcher(SchedulerPlugin):
        name = "watcher"
        sent, tasks = {}, {}

        def transition(self, key, start, *_step, **_more):
            if start == "released":  # a new task
                self.tasks[key] = len(pickle.dumps(cluster.scheduler.tasks[key].run_spec))
            for one in cluster.scheduler.tasks.values():
                if one.run_spec is None:
                    about = one.nbytes, len(one.who_has or ())
                    self.sent[one.key] = max(self.sent.get(one.key, about), about)

    cluster.scheduler.add_plugin(watcher := Watcher())
    yield watcher
    cluster.scheduler.remove_plugin("watcher")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, as_table], ids=["dense", "sparse", "table"])
def test_data_travel_once_to_each_worker(kind, client, seen):
    data = kind(LARGE)
    with parallel_config("dask", client=client):
        model = CrossConformalClassifier(LINEAR, cv=6, measure=PowerMeasure(), random_state=0).fit(data, LARGE_Y)
    assert len(model.calibrator_.folds) == 6
    ((n_bytes, n_copies),) = [about for key, about in seen.sent.items() if about[0] > LARGE.nbytes / 2]
    at_least = LARGE.nbytes + LARGE_Y.nbytes
    assert at_least <= n_bytes < 2 * at_least
    assert n_copies == 3
    fits = [n_bytes for key, n_bytes in seen.tasks.items() if key.startswith("fitting_folds-")]
    assert len(fits) == 6
    assert max(fits) < LARGE.nbytes / 10


class Curious(ClassifierMixin, BaseEstimator):
    """Outputs are where it was fitted, and how many threads and processes it had there."""

    def fit(self, _X, _y):
        processes = Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(3))
        blas = [library["num_threads"] for library in threadpool_info()]
        self.found_ = [os.getpid(), len({*processes, os.getpid()}), effective_n_jobs(-1), max(blas, default=1)]
        return self

    def predict_proba(self, X):
        return np.full((len(X), 3), 0.5)


def test_learners_on_workers_have_one_core_and_start_no_tasks(client, seen):
    with parallel_config("dask", client=client):
        model = CrossConformalClassifier(Curious(), cv=5, measure=PowerMeasure()).fit(X, Y)
    found = np.array([fold.estimator.found_ for fold in model.models_])
    assert os.getpid() not in found[:, 0]
    assert (found[:, 1:] == 1).all()
    assert sum(key.startswith("fitting_folds-") for key in seen.tasks) == 5
    assert {key.partition("-")[0] for key in seen.tasks} <= {"fitting_folds", "calibrating_folds"}


def test_one_job_and_n_jobs_1_stay_here(client, seen):
    with parallel_config("dask", client=client):
        for model in (
            InductiveConformalClassifier(Curious(), measure=PowerMeasure()),
            CrossConformalClassifier(Curious(), cv=3, measure=PowerMeasure(), n_jobs=1),
        ):
            model.fit(X, Y)
    assert not seen.tasks


@pytest.mark.parametrize("n_jobs", [None, -1, 100])
def test_threads_here_are_at_most_the_cores_here(n_jobs, client):
    lock, idents = threading.Lock(), set()

    def note(_):
        with lock:
            idents.add(threading.get_ident())

    with parallel_config("dask", client=client):
        assert count_threads(n_jobs) <= cpu_count()
        list(map_in_threads(note, range(200), n_jobs=n_jobs, description=""))
    assert len(idents) <= cpu_count()


def test_predictions_under_dask_are_made_here(client, seen):
    model = CrossConformalClassifier(LINEAR, cv=3, measure=PowerMeasure(), random_state=0, n_jobs=-1).fit(X, Y)
    alone = model.predict_labelsets(X).p_values()
    with parallel_config("dask", client=client):
        np.testing.assert_array_equal(model.predict_labelsets(X).p_values(), alone)
    assert not seen.tasks


class Warner(MLkNNClassifier):
    def fit(self, X, y):
        warnings.warn(f"{len(X)} examples", RuntimeWarning, stacklevel=2)
        warnings.warn("nobody cares", UserWarning, stacklevel=2)
        return super().fit(X, y)


def warnings_of_a_fit():
    with warnings.catch_warnings(record=True) as given:
        warnings.filterwarnings("ignore", message="nobody")
        CrossConformalClassifier(Warner(3), cv=4, measure=PowerMeasure(), random_state=0).fit(X[:50], Y[:50])
    return [str(warning.message) for warning in given]


def test_warnings_of_workers_are_one_line(client):
    alone = warnings_of_a_fit()
    assert len(alone) == 1
    with parallel_config("dask", client=client):
        assert warnings_of_a_fit() == alone


def test_errors_of_workers_are_errors_here(client):
    with parallel_config("dask", client=client), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(RuntimeWarning, match="examples"):
            CrossConformalClassifier(Warner(3), cv=4, measure=PowerMeasure()).fit(X, Y)
    assert not client.futures


def test_the_bar_moves_as_workers_finish(client, monkeypatch):
    steps = []

    def bar(iterable, *, description, total):
        for step in iterable:
            steps.append((description, total))
            yield step

    monkeypatch.setattr(running, "progress_bar", bar)
    with parallel_config("dask", client=client):
        CrossConformalClassifier(LINEAR, cv=4, measure=PowerMeasure()).fit(X, Y)
    assert steps.count(("fitting folds", 4)) == 4


def test_threads_of_one_process_are_a_cluster_too():
    """All workers have the process number of the one who asks, and warnings are shared."""
    alone, given = answers_of(models()["randomised"]), warnings_of_a_fit()
    with (
        local_cluster(2, processes=False, threads_per_worker=2, protocol="tcp://") as cluster,
        distributed.Client(cluster) as client,
        parallel_config("dask", client=client),
    ):
        together, given_together = answers_of(models()["randomised"]), warnings_of_a_fit()
    assert [line.partition(";")[0] for line in given_together] == [line.partition(";")[0] for line in given]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_fits_inside_a_task_leave_the_worker_to_others(client):
    """With one thread for each worker, all of them would wait for ever for each other."""
    alone = answers_of(models()["randomised"])
    tasks = [client.submit(fit_on_dask, pure=False) for _ in range(4)]
    for task in tasks:
        for one, other in zip(alone, task.result(timeout=120), strict=True):
            np.testing.assert_array_equal(one, other)


def fit_on_dask():
    assert parent_process() is not None
    with parallel_config("dask"):
        return answers_of(models()["randomised"])

"""A real Dask cluster gives the bits of a single process, also when workers die."""

import os
import signal
import sys
import warnings
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_info

import labelsure
from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
)
from labelsure._errors import BatchError
from labelsure.batches import TablePredictor
from labelsure.cli import main
from labelsure.measures import PowerMeasure

pd = pytest.importorskip("pandas", reason="tables of pandas")
pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

RNG = np.random.default_rng(0)
X = RNG.random((90, 4))
Y = (RNG.random((90, 3)) < X[:, :3]).astype(int)
LINEAR = OneVsRestClassifier(LogisticRegression())
POOL = PooledClassifier([("linear", LINEAR), ("near", MLkNNClassifier(5))], cv=3)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def answers_of(model):
    return model.fit(X, Y).predict_labelsets(X[:4]).p_values()


def crossed(learner, **options):
    return CrossConformalClassifier(
        learner, cv=4, measure=PowerMeasure(), random_state=0, **options
    )


@pytest.mark.parametrize(
    "model",
    [
        crossed(LINEAR, guarantee="exact"),
        CrossConformalClassifier(POOL, cv=3, random_state=0),
        InductiveConformalClassifier(POOL, random_state=0),
    ],
    ids=["exact", "pool", "inductive"],
)
def test_fits_are_the_same(model, client):
    alone = answers_of(model)
    with parallel_config("dask", client=client):
        np.testing.assert_array_equal(answers_of(model), alone)


class Deadly(MLkNNClassifier):
    """Kills its worker once for each file in a folder, and always without a folder."""

    def __init__(self, folder=None):
        super().__init__(3)
        self.folder = folder

    def fit(self, X, y):
        if parent_process() is not None and self._takes_a_life():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)

    def _takes_a_life(self):
        if self.folder is None:
            return True
        try:
            Path(self.folder, "life").unlink()
        except FileNotFoundError:
            return False
        return True


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise on Windows")
def test_folds_of_a_killed_worker_are_fitted_by_others(client, tmp_path):
    (tmp_path / "life").touch()
    before = {*client.run(os.getpid).values()}
    with parallel_config("dask", client=client):
        found = answers_of(crossed(Deadly(str(tmp_path))))
    client.wait_for_workers(2)
    assert before - {*client.run(os.getpid).values()}, "nobody was killed"
    np.testing.assert_array_equal(found, answers_of(crossed(MLkNNClassifier(3))))


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise on Windows")
def test_folds_that_kill_workers_again_and_again_are_an_error(client):
    """joblib's own loop would wait for ever."""
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    try:
        with (
            parallel_config("dask", client=client),
            pytest.raises(distributed.KilledWorker, match="workers died"),
        ):
            crossed(Deadly()).fit(X, Y)
    finally:
        client.run_on_scheduler(
            lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3)
        )
    client.wait_for_workers(2)


class Curious(ClassifierMixin, BaseEstimator):
    """Knows where it was fitted, and how many threads and processes it had there; warns."""

    def fit(self, X, _y):
        warnings.warn(f"{len(X)} examples", RuntimeWarning, stacklevel=2)
        warnings.warn("nobody cares", UserWarning, stacklevel=2)
        processes = Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(3))
        blas = [library["num_threads"] for library in threadpool_info()]
        self.found_ = [
            os.getpid(),
            len({*processes, os.getpid()}),
            effective_n_jobs(-1),
            max(blas, default=1),
        ]
        return self

    def predict_proba(self, X):
        return np.full((len(X), 3), 0.5)


def test_learners_on_workers_have_one_core_and_their_warnings_are_one_line(client):
    with parallel_config("dask", client=client), warnings.catch_warnings(record=True) as given:
        warnings.filterwarnings("ignore", message="nobody")
        model = crossed(Curious()).fit(X, Y)
    found = np.array([fold.estimator.found_ for fold in model.models_])
    assert os.getpid() not in found[:, 0]
    assert (found[:, 1:] == 1).all()
    (line,) = (str(warning.message) for warning in given)
    assert line.startswith("4 warnings while fitting folds")


def test_errors_of_workers_are_errors_here(client):
    with parallel_config("dask", client=client), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(RuntimeWarning, match="examples"):
            crossed(Curious()).fit(X, Y)


def test_n_jobs_1_stays_here(client):
    with parallel_config("dask", client=client), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = crossed(Curious(), n_jobs=1).fit(X, Y)
    assert {fold.estimator.found_[0] for fold in model.models_} == {os.getpid()}


def test_fits_inside_a_task_leave_the_worker_to_others(client):
    """With one thread for each worker, all of them would wait for ever for each other."""
    alone = answers_of(crossed(LINEAR))
    tasks = [client.submit(fit_on_dask, pure=False) for _ in range(3)]
    for task in tasks:
        np.testing.assert_array_equal(task.result(timeout=120), alone)


def fit_on_dask():
    with parallel_config("dask"):
        return answers_of(crossed(LINEAR))


@pytest.mark.parametrize("source", ["memory", "file"])
def test_map_partitions_gives_the_answers_of_one_call(fitted, client, source):
    dd = pytest.importorskip("dask.dataframe")
    model, rows = (
        (fitted.models["exact"], fitted.rows)
        if source == "memory"
        else (fitted.file, fitted.tickets)
    )
    predictor = TablePredictor(model, keep=["a"] if source == "memory" else {"id": "int64"})
    parts, meta = dd.from_pandas(rows, npartitions=4), predictor.schema.empty_table().to_pandas()
    answers = parts.map_partitions(predictor, meta=meta)
    found = client.compute(answers).result()
    pd.testing.assert_frame_equal(found, predictor(rows), check_exact=True)
    assert found.dtypes.to_dict() == answers.dtypes.to_dict()
    failing = parts.assign(**{rows.columns[1]: "x"}).map_partitions(predictor, meta=meta)
    with pytest.raises(BatchError, match=r"rows from 0 to .* cannot be predicted"):
        client.compute(failing.partitions[0]).result()


@pytest.fixture
def here(fitted, tmp_path, monkeypatch):
    """A folder with a table to predict and one to learn from."""
    monkeypatch.chdir(tmp_path)
    fitted.tickets.to_csv("new.csv", index=False)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    table.join(pd.DataFrame(Y, columns=["sea", "city", "night"])).to_csv("train.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_on_a_cluster_writes_the_same_bytes(here, fitted, cluster, ending):
    words = f"predict {fitted.file} new.csv --keep plan --batch 7 --jobs 1".split()
    assert main([*words, "-o", f"here.{ending}"]) == 0
    there = ["-o", f"there.{ending}", "--scheduler", cluster.scheduler_address]
    assert main([*words, *there]) == 0
    assert (here / f"there.{ending}").read_bytes() == (here / f"here.{ending}").read_bytes()


def test_fit_on_a_cluster_saves_the_same_model(here, cluster):
    words = "fit train.csv --labels sea,city,night --learner logistic --folds 3 --jobs 1"
    there = f" --model there.labelsure --scheduler {cluster.scheduler_address}"
    assert main(f"{words} --model here.labelsure".split()) == 0
    assert main(f"{words} {there}".split()) == 0
    one, other = (
        labelsure.load_model(f"{where}.labelsure").calibrator_.folds for where in ("here", "there")
    )
    for fold, again in zip(one, other, strict=True):
        np.testing.assert_array_equal(fold.scores, again.scores)


def error_of(capsys, *words):
    capsys.readouterr()
    assert main([*words]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    return line


def test_workers_of_another_version_are_refused(here, cluster, monkeypatch, capsys):
    monkeypatch.setattr("labelsure.cli._common.__version__", "0.0.1")
    words = f"fit train.csv --model m.labelsure --scheduler {cluster.scheduler_address}"
    line = error_of(capsys, *words.split())
    assert "has labelsure " in line
    assert "and there is 0.0.1 here; results could differ" in line


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_nobody_at_the_address_is_one_line_before_any_work(here, monkeypatch, capsys, address):
    monkeypatch.setattr("labelsure.cli._common.SECONDS_TO_CONNECT", 0.5)
    line = error_of(capsys, "fit", "train.csv", "--model", "m.labelsure", "--scheduler", address)
    assert f"no Dask scheduler answers at {address}" in line


def test_a_scheduler_that_goes_away_is_one_line_and_finished_rows_are_kept(
    here, fitted, monkeypatch, capsys
):
    from labelsure.cli._predict import Parts

    words = ["predict", str(fitted.file), "new.csv", "--batch", "1", "--jobs", "1", "-o"]
    assert main([*words, "whole.csv"]) == 0
    written, numbers = Parts.write, []
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address=":0", memory_limit=0
    ) as short_lived:

        def close_after_three(kept, *result):
            written(kept, *result)
            numbers.append(result)
            if len(numbers) == 3:
                short_lived.close()

        monkeypatch.setattr(Parts, "write", close_after_three)
        line = error_of(capsys, *words, "out.csv", "--scheduler", short_lived.scheduler_address)
    assert "the Dask cluster at tcp:" in line
    assert not (here / "out.csv").exists()
    finished = len(numbers)
    assert 3 <= finished < 40
    assert main([*words, "out.csv"]) == 0
    assert len(numbers) == 40
    assert (here / "out.csv").read_bytes() == (here / "whole.csv").read_bytes()

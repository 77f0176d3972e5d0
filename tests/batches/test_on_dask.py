"""Answers on a real Dask cluster: the same bits in the same order, few batches at a time, and workers that die."""

import os
import pickle
import signal
import time
from itertools import count, pairwise

import pytest

from dask_clusters import OTHER_NUMPY, local_cluster, worker_that_comes_later
from labelsure._core.versions import versions
from labelsure.batches import BatchError, TablePredictor, _workers, map_batches, predict_batches

pd = pytest.importorskip("pandas", reason="tables of pandas")
pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def cut(table, *places):
    return [table[start:stop] for start, stop in pairwise([0, *places, len(table)])]


@pytest.mark.parametrize("name", ["exact", "smoothed", "file"])
def test_answers_on_a_cluster_are_those_of_one_call(fitted, client, name):
    model, rows = (fitted.file, fitted.tickets) if name == "file" else (fitted.models[name], fitted.rows)
    found = list(predict_batches(model, cut(rows, 3, 4, 4, 11, 20), significance=0.3, client=client))
    assert [len(one) for one in found] == [3, 1, 0, 7, 9, len(rows) - 20]
    pd.testing.assert_frame_equal(pd.concat(found), TablePredictor(model, significance=0.3)(rows), check_exact=True)


@pytest.mark.parametrize("source", ["memory", "file"])
def test_map_partitions_takes_the_predictor_and_its_meta(fitted, client, source):
    dd = pytest.importorskip("dask.dataframe")
    model, rows = (fitted.models["exact"], fitted.rows) if source == "memory" else (fitted.file, fitted.tickets)
    predictor = TablePredictor(model, keep=["a"] if source == "memory" else {"id": "int64"})
    parts = dd.from_pandas(rows, npartitions=4)
    answers = parts.map_partitions(predictor, meta=predictor.meta)
    assert answers.npartitions == 4
    found = client.compute(answers).result()
    expected = predictor(rows)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert found.dtypes.to_dict() == answers.dtypes.to_dict()
    failing = parts.assign(**{rows.columns[1]: "x"}).map_partitions(predictor, meta=predictor.meta)
    with pytest.raises(BatchError, match=r"rows from 0 to .* cannot be predicted"):
        client.compute(failing.partitions[0]).result()


def test_the_model_of_a_file_is_in_no_task(fitted):
    dd = pytest.importorskip("dask.dataframe")
    predictor = TablePredictor(fitted.file)
    parts = dd.from_pandas(fitted.tickets[["age"]], npartitions=4)
    with_model = len(pickle.dumps(dict(parts.map_partitions(predictor, meta=predictor.meta).optimize().dask)))
    assert with_model < fitted.file.stat().st_size


def test_tokens_tell_predictors_apart_and_travel_with_them(fitted):
    from dask.base import tokenize

    one, other = (TablePredictor(fitted.file, top=top) for top in (1, 2))
    assert tokenize(one) != tokenize(other)
    assert tokenize(pickle.loads(pickle.dumps(one))) == tokenize(one)


def test_few_batches_are_under_way_and_nothing_is_left_behind(client):
    taken, most = [], 0

    def items():
        for number in range(30):
            taken.append(number)
            yield number

    for done, number in enumerate(map_batches(abs, items(), rows_of=str, client=client)):
        assert number == done
        most = max(most, len(taken) - done)
    n_threads = sum(client.nthreads().values())
    assert most <= _workers.PER_THREAD * n_threads
    assert plugins_of(client) == {()}


def plugins_of(client):
    """Return what we have left on workers."""
    names = client.run(lambda dask_worker: [name for name in dask_worker.plugins if name.startswith("labelsure-")])
    return set(map(tuple, names.values()))


def test_batches_that_nobody_waits_for_are_cancelled(client):
    answers = map_batches(abs, range(1000), rows_of=str, client=client)
    assert next(answers) == 0
    answers.close()
    left = client.run_on_scheduler
    deadline = time.monotonic() + 60
    while left(keys_left) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left(keys_left) == []


def keys_left(dask_scheduler):
    return [key for key in map(str, dask_scheduler.tasks) if key.startswith("labelsure-")]


def fail_at_five(number):
    if number == 5:
        raise ValueError("five is too much")
    return number


def test_a_batch_that_fails_on_a_worker_is_named_and_those_before_it_are_there(client):
    found = []
    with pytest.raises(BatchError, match=r"^row 5 cannot be predicted: five is too much$"):
        iter_into(found, map_batches(fail_at_five, range(9), rows_of="row {}".format, client=client))
    assert found == [0, 1, 2, 3, 4]


def iter_into(found, answers):
    for answer in answers:
        found.append(answer)


class DieOnce:
    """Kills the worker that it first works on item 3 for, as the kernel does when memory is short."""

    def __init__(self, model, marker):
        self.predictor, self.marker = TablePredictor(model), marker

    def __call__(self, numbered):
        number, batch = numbered
        if number == 3 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.predictor(batch)


class DieAtThree:
    """Kills every worker that works on 3, once the answers before it are there: a worker takes those along else."""

    def __init__(self, marker):
        self.marker = marker

    def __call__(self, number):
        if number == 3:
            deadline = time.monotonic() + 60
            while not self.marker.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
        return number


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are ended otherwise on Windows")
def test_a_killed_worker_costs_nothing_and_one_that_kills_all_is_named(fitted, tmp_path):
    with (
        local_cluster(1) as cluster,  # the next worker has nothing but what the scheduler knows
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        model = fitted.models["exact"]
        batches = list(enumerate(cut(fitted.rows, 5, 10, 15, 20, 25)))
        maker = DieOnce(model, tmp_path / "dead")
        found = list(map_batches(maker, batches, rows_of=str, client=client))
        assert (tmp_path / "dead").exists()
        pd.testing.assert_frame_equal(pd.concat(found), TablePredictor(model)(fitted.rows), check_exact=True)
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        there = tmp_path / "there"
        answers = map_batches(DieAtThree(there), range(9), rows_of="row {}".format, client=client)
        assert [next(answers) for _ in range(3)] == [0, 1, 2]
        there.touch()
        with pytest.raises(BatchError, match=r"^row 3 cannot be predicted: KilledWorker: "):
            next(answers)


def test_a_scheduler_that_is_gone_is_an_error_that_names_the_rows(fitted):
    with local_cluster(1, processes=False, protocol="tcp") as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        answers = map_batches(abs, range(1000), rows_of="row {}".format, client=client)
        assert next(answers) == 0
        cluster.close()
        with pytest.raises(BatchError, match=r"^row [1-9][0-9]* cannot be predicted: "):
            list(answers)
        client.close()


def test_an_asynchronous_client_is_refused():
    class Asynchronous:
        asynchronous = True

    with pytest.raises(ValueError, match="must not be asynchronous"):
        map_batches(abs, [], rows_of=str, client=Asynchronous())


def test_a_worker_of_another_version_is_refused(client, monkeypatch):
    ours = versions() | {"numba": "0.0.1"}
    monkeypatch.setattr(_workers, "versions", lambda: ours)
    with pytest.raises(RuntimeError, match=r"has numba .* and there is 0\.0\.1 here"):
        list(map_batches(abs, [1], rows_of=str, client=client))
    assert plugins_of(client) == {()}


def slowly(number):
    time.sleep(0.05)
    return number


def test_a_worker_of_other_versions_that_comes_later_is_refused(tmp_path):
    with local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        answers, found = map_batches(slowly, count(), rows_of="row {}".format, client=client), []
        assert next(answers) == 0
        with (
            worker_that_comes_later(cluster.scheduler_address, tmp_path, OTHER_NUMPY),
            pytest.raises(BatchError, match=r"^row \d+ cannot be predicted: ClusterError: worker tcp:") as error,
        ):
            iter_into(found, answers)
        assert " has numpy 0.1, and there is " in str(error.value)
        assert found == [*range(1, len(found) + 1)]
        assert plugins_of(client) == {()}
        assert [*map_batches(abs, range(3), rows_of=str, client=client)] == [0, 1, 2]


def test_a_cluster_without_workers_is_an_error_that_names_the_rows(monkeypatch):
    monkeypatch.setattr(_workers, "SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.setattr(_workers, "SECONDS_FOR_WORKERS", 0.3)
    with (
        local_cluster(0) as empty,
        distributed.Client(empty, set_as_default=False) as alone,
        pytest.raises(BatchError, match=r"1 cannot be predicted: ClusterError: there were no workers"),
    ):
        list(map_batches(abs, [1], rows_of=str, client=alone))


def raise_timeout(number):
    raise TimeoutError(f"{number} took too long")


def test_a_time_out_of_the_function_itself_is_not_waited_for(client):
    with pytest.raises(BatchError, match=r"1 cannot be predicted: TimeoutError: 1 took too long"):
        list(map_batches(raise_timeout, [1], rows_of=str, client=client))

"""Workers and schedulers that die or differ while models are fitted: the same result, or an error that says why."""

import os
import signal
import sys
import threading
from contextlib import ExitStack

import numpy as np
import pytest
from joblib import parallel_config

from dask_clusters import OTHER_NUMPY, local_cluster, worker_that_comes_later
from dask_deaths import Deadly, Patient, Pausing, commands_of_dask, wait_until
from labelsure import CrossConformalClassifier, MLkNNClassifier
from labelsure._core.cluster import ClusterError
from labelsure._core.memory import KeptResults
from labelsure.measures import PowerMeasure

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise on Windows")

RNG = np.random.default_rng(0)
X = RNG.random((60, 4))
Y = (RNG.random((60, 3)) < X[:, :3]).astype(int)


def p_values(learner, **options):
    model = CrossConformalClassifier(learner, cv=4, measure=PowerMeasure(), random_state=0, **options).fit(X, Y)
    return model.predict_labelsets(X[:4]).p_values()


@pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.validity), 2])
def test_folds_of_killed_workers_are_fitted_again(n_workers, tmp_path):
    """With the only worker there is, its copy of the data is lost too."""
    for life in range(2):
        (tmp_path / str(life)).touch()
    with local_cluster(n_workers) as cluster, distributed.Client(cluster) as client:
        before = {*client.run(os.getpid).values()}
        with parallel_config("dask", client=client):
            found = p_values(Deadly(str(tmp_path)))
        assert before - {*client.run(os.getpid).values()}, "nobody was killed"
    assert not [*tmp_path.iterdir()]
    np.testing.assert_array_equal(found, p_values(MLkNNClassifier(3)))


@pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.validity), 2])
def test_folds_that_kill_every_worker_are_named(n_workers):
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        local_cluster(n_workers) as cluster,
        distributed.Client(cluster) as client,
        parallel_config("dask", client=client),
        pytest.raises(
            ClusterError, match=r"While fitting folds, job \d of 4 was given up after 2 workers died"
        ) as error,
    ):
        p_values(Deadly())
    assert "memory" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cluster_without_workers_is_an_error_that_says_so():
    with (
        local_cluster(0) as cluster,
        distributed.Client(cluster) as client,
        parallel_config("dask", client=client, wait_for_workers_timeout=0.1),
        pytest.raises(ClusterError, match=r"While fitting folds, the Dask cluster at tcp:.* had no workers for 0 s"),
    ):
        p_values(MLkNNClassifier(3))


def test_a_client_that_has_given_up_is_an_error_that_says_so():
    """It no longer knows where the scheduler was."""
    with local_cluster(0) as cluster, distributed.Client(cluster) as client:
        client.close()
        with (
            parallel_config("dask", client=client),
            pytest.raises(ClusterError, match="The Dask scheduler went away while fitting folds"),
        ):
            p_values(MLkNNClassifier(3))


def test_a_scheduler_that_is_killed_is_an_error_at_once(tmp_path):
    begun = tmp_path / "begun"
    with (
        commands_of_dask(tmp_path) as (scheduler, _),
        distributed.Client(scheduler_file=str(tmp_path / "scheduler.json"), set_as_default=False) as client,
    ):

        def kill():
            wait_until(begun.exists)
            scheduler.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with (
            parallel_config("dask", client=client),
            pytest.raises(ClusterError, match=r"The Dask scheduler at tcp:.* went away while fitting folds"),
        ):
            p_values(Patient(str(begun)))
        killer.join()


class HalfDone:
    """Folds of which two are fitted and kept by the only worker there is, which then begins no other."""

    def __init__(self, folder):
        self.kept, self.fits = KeptResults(folder / "kept"), folder / "fits"
        self.fits.mkdir()
        self.undisturbed = p_values(MLkNNClassifier(3))

    def p_values(self):
        return p_values(Pausing(str(self.fits)), memory=self.kept.folder)

    def is_reached(self):
        return self.kept.count() >= 2

    def check_disk(self):
        """Two fits were begun, no third, and both are kept."""
        assert (len([*self.fits.iterdir()]), self.kept.count()) == (2, 2)

    def check_going_on(self):
        """The other two are fitted, no others, and the answers are those of an undisturbed run."""
        found = self.p_values()
        assert len([*self.fits.iterdir()]) == 4
        np.testing.assert_array_equal(found, self.undisturbed)


def test_a_scheduler_that_is_killed_between_two_fits_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE", "False")  # else Dask has the worker go on
    work, first, second = HalfDone(tmp_path), tmp_path / "first", tmp_path / "second"
    first.mkdir()
    with (
        commands_of_dask(first) as (scheduler, _),
        distributed.Client(scheduler_file=str(first / "scheduler.json"), set_as_default=False) as client,
    ):

        def kill():
            wait_until(work.is_reached)
            scheduler.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with (
            parallel_config("dask", client=client),
            pytest.raises(ClusterError, match=r"The Dask scheduler at tcp:.* went away while fitting folds"),
        ):
            work.p_values()
        killer.join()
        assert scheduler.wait() == -signal.SIGKILL
    work.check_disk()
    second.mkdir()
    with (
        commands_of_dask(second),
        distributed.Client(scheduler_file=str(second / "scheduler.json"), set_as_default=False) as client,
        parallel_config("dask", client=client),
    ):
        work.check_going_on()


def test_a_worker_of_other_versions_that_comes_later_is_refused(tmp_path):
    work, message = HalfDone(tmp_path), r"^worker tcp:.* has numpy 0\.1, and there is .* here; results could differ"
    with local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client, ExitStack() as later:

        def join():
            wait_until(work.is_reached)
            later.enter_context(worker_that_comes_later(cluster.scheduler_address, tmp_path, OTHER_NUMPY))

        joining = threading.Thread(target=join)
        joining.start()
        with parallel_config("dask", client=client), pytest.raises(ClusterError, match=message):
            work.p_values()
        joining.join()
    work.check_disk()
    work.check_going_on()

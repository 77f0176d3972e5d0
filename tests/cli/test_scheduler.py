"""``--scheduler``: one line where it cannot be reached, no Dask where it is not asked for."""

import subprocess
import sys
from argparse import ArgumentParser

import pytest

from dask_clusters import local_cluster
from labelsure._core.versions import versions
from labelsure.cli import _scheduler
from labelsure.cli._errors import CommandError
from labelsure.cli._scheduler import add_scheduler, connected

NOBODY = "tcp://127.0.0.1:9"


@pytest.fixture
def hasty(monkeypatch):
    """Nobody is waited for."""
    monkeypatch.setattr(_scheduler, "SECONDS_TO_CONNECT", 0.5)
    monkeypatch.setattr(_scheduler, "SECONDS_FOR_WORKERS", 0.5)


def test_scheduler_is_an_address_or_none():
    parser = ArgumentParser()
    add_scheduler(parser)
    assert parser.parse_args(["--scheduler", NOBODY]).scheduler == NOBODY
    assert parser.parse_args([]).scheduler is None


def test_without_an_address_there_is_no_client_and_no_dask():
    program = (
        "import sys\n"
        "from labelsure.cli._scheduler import connected\n"
        "with connected(None) as client: assert client is None\n"
        "assert not {'dask', 'distributed'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_missing_dask_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CommandError, match=r'pip install "labelsure\[dask\]"'), connected(NOBODY):
        pass


@pytest.mark.parametrize("address", [NOBODY, "nonsense", "gopher://127.0.0.1:70", "tls://127.0.0.1:9"])
def test_nobody_at_the_address_is_one_line_that_says_what_to_do(address, hasty):
    pytest.importorskip("distributed")
    with pytest.raises(CommandError, match="no Dask scheduler answers") as caught, connected(address):
        pass
    assert "dask scheduler" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cluster_without_workers_is_one_line_that_says_what_to_do(hasty):
    pytest.importorskip("distributed")
    with (
        local_cluster(0) as empty,
        pytest.raises(CommandError, match=r"has no workers.*`dask worker tcp:"),
        connected(empty.scheduler_address),
    ):
        pass


def test_other_versions_on_workers_are_refused(cluster, monkeypatch):
    ours = versions() | {"python": "2.7", "scikit-learn": "0.1"}
    monkeypatch.setattr(_scheduler, "versions", lambda: ours)
    with (
        pytest.raises(CommandError, match=r"^worker tcp:.* has scikit-learn .*, and there is 0\.1 here"),
        connected(cluster.scheduler_address),
    ):
        pass


def test_workers_without_labelsure_are_named(cluster, monkeypatch):
    monkeypatch.setattr(_scheduler, "find_difference", _missing)
    with (
        pytest.raises(CommandError, match=r"3 workers of .* cannot import labelsure, .* Install labelsure 0"),
        connected(cluster.scheduler_address),
    ):
        pass


def _missing(_ours):
    raise ModuleNotFoundError("No module named 'labelsure'")


def test_connected_yields_a_client_and_leaves_the_cluster_alone(cluster):
    with connected(cluster.scheduler_address) as client:
        assert client.submit(sum, [1, 2]).result() == 3
    assert client.status == "closed"
    assert len(cluster.scheduler_info["workers"]) == 3


def test_errors_inside_stay_what_they_are_while_the_scheduler_lives(cluster):
    with pytest.raises(ZeroDivisionError), connected(cluster.scheduler_address) as client:
        client.submit(divmod, 1, 0).result()


def test_a_scheduler_that_goes_away_is_one_line():
    pytest.importorskip("distributed")
    with (
        local_cluster(1) as short_lived,
        pytest.raises(CommandError, match="is gone"),
        connected(short_lived.scheduler_address) as client,
    ):
        waiting = client.submit(_wait_for_ever)
        short_lived.close()
        waiting.result()


def _wait_for_ever():
    import threading

    threading.Event().wait()

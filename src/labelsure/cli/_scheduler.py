"""``--scheduler``: a Dask cluster that a command works on instead of this machine's cores."""

import asyncio
import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labelsure._core.versions import find_difference, versions
from labelsure.cli._errors import CommandError
from labelsure.cli._models import counted

SECONDS_TO_CONNECT = 10.0
SECONDS_FOR_WORKERS = 60.0
"""Long enough for clusters that start workers only when there is work."""


def add_scheduler(parser: ArgumentParser) -> None:
    """Add the address of a Dask scheduler."""
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="work on the Dask cluster of this scheduler, such as tcp://host:8786; --jobs is for what stays here",
    )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connect to a Dask scheduler, and disconnect in the end.

    Parameters
    ----------
    address : str or None
        Such as tcp://host:8786; None for no cluster: Dask is not even imported.

    Yields
    ------
    distributed.Client or None
        With at least one worker, on all of which everything that numbers depend on has the version that it has here.

    Raises
    ------
    CommandError
        If there is no such client, or if its scheduler goes away inside.
    """
    if address is None:
        yield None
        return
    client = _connect(address)
    try:
        _check_workers(client, address)
        yield client
    except CommandError:
        raise
    except Exception as error:
        if client.status == "running":
            raise
        raise CommandError(
            f"the Dask scheduler at {address} is gone ({type(error).__name__}). Start it again with its workers, and"
            " repeat the command: whatever it had kept in files is still there."
        ) from error
    finally:
        client.close(timeout=SECONDS_TO_CONNECT)


@contextmanager
def fits_on(client: Any) -> Iterator[None]:
    """Have models fitted on a cluster inside, see :func:`labelsure._core.running.run_jobs`.

    Parameters
    ----------
    client : distributed.Client or None
        What :func:`connected` yields; None changes nothing.

    Raises
    ------
    CommandError
        If workers die again and again, none comes, or the scheduler goes away.
    """
    if client is None:
        yield
        return
    from joblib import parallel_config

    from labelsure._core.cluster import ClusterError

    try:
        with parallel_config(backend="dask", client=client):
            yield
    except ClusterError as error:
        raise CommandError(str(error)) from error


def _connect(address: str) -> Any:
    """Return a client, or say in one line why there is none."""
    from labelsure._core.optional import import_optional

    try:
        distributed = import_optional("distributed", extra="dask", purpose="--scheduler")
    except ImportError as error:
        raise CommandError(str(error)) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what the user can mend comes in one line, from us
    for name in ("client", "comm", "core"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    try:
        asyncio.run(_knock(distributed, address))
        return distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except Exception as error:  # what is raised depends on the protocol
        reason = " ".join(str(error).split()) or type(error).__name__
        raise CommandError(
            f"no Dask scheduler answers at {address} ({reason}). Start one with `dask scheduler`, which prints its"
            " address, and workers with `dask worker ADDRESS`."
        ) from error


async def _knock(distributed: Any, address: str) -> None:
    """Raise an error where nobody answers; a client that could not connect hangs when it is collected later."""
    security = distributed.Security()  # as Dask's settings say
    limits = {"timeout": SECONDS_TO_CONNECT, **security.get_connection_args("client")}
    comm = await distributed.comm.connect(distributed.comm.resolve_address(address), **limits)
    await comm.close()


def _check_workers(client: Any, address: str) -> None:
    """Raise CommandError where no worker comes, or one has other versions than there are here."""
    try:
        client.submit(abs, -1, pure=False).result(timeout=SECONDS_FOR_WORKERS)  # has workers started where none are
    except TimeoutError as error:
        raise CommandError(
            f"the Dask scheduler at {address} has no workers, or none with time for us within"
            f" {SECONDS_FOR_WORKERS:.0f} s. Start some with `dask worker {address}`."
        ) from error
    ours = versions()
    theirs = client.run(find_difference, ours, on_error="return")
    without = [worker for worker, found in theirs.items() if isinstance(found, BaseException)]
    if without:
        raise CommandError(
            f"{counted(len(without), 'worker')} of {address} cannot import labelsure, among them {without[0]}"
            f" ({theirs[without[0]]}). Install labelsure {ours['labelsure']} there."
        )
    for worker, found in theirs.items():
        if found is not None:
            raise CommandError(f"worker {worker} has {found}")

"""Tasks spread over a running Dask cluster; this package never starts one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from ngramscan.errors import InputError, RemoteUnavailable, WorkerLostError
from ngramscan.processes.pool import Done, Report, Watch, do_task

T = TypeVar("T")
R = TypeVar("R")

_CONNECT_S = 15
_LOOK_EVERY_S = 0.2


def run_on_cluster(
    work: Callable[[T, Report], R], tasks: Sequence[T], scheduler: str, watch: Watch
) -> Iterator[Done[R]]:
    """Do tasks on the Dask cluster of a scheduler, and yield each as it is done, in any order.

    `work` is a function of a module of this package, which the workers must have installed, too;
    its `Report` does nothing.

    An InputError says that Dask is not installed, a RemoteUnavailable that no scheduler answers at
    the address, or that it has no workers.
    """
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise InputError("--scheduler", "needs Dask: pip install 'ngramscan[cluster]'") from error
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]
            scheduler, timeout=_CONNECT_S, set_as_default=False
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise RemoteUnavailable(f"--scheduler {scheduler}: can't be reached") from error
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise RemoteUnavailable(f"--scheduler {scheduler}: it has no workers")
        numbers = range(len(tasks))
        # Keyed by task number, not by content: a result must count for one task only.
        keys = [f"ngramscan-{time.time_ns()}-{number}" for number in numbers]
        do = partial(do_task, work, report=_ignore)
        futures = client.map(do, numbers, tasks, key=keys)
        yield from _collect(client, dict(zip(futures, numbers, strict=True)), watch)


def _ignore(_amount: int) -> None:
    pass


def _collect(client: Any, futures: dict[Any, int], watch: Watch) -> Iterator[Done[Any]]:
    known = set(client.scheduler_info(n_workers=-1)["workers"])
    looked_at = time.monotonic()
    while futures:
        done = [future for future in futures if future.done()]
        for future in done:
            yield _done(future, futures.pop(future))
            future.release()
        if not done:
            time.sleep(_LOOK_EVERY_S)
        if not futures or time.monotonic() - looked_at > 5 * _LOOK_EVERY_S:
            # A worker that its nanny restarts has another address.
            present = set(client.scheduler_info(n_workers=-1)["workers"])
            for address in sorted(known - present):
                watch.notice(f"the worker {address} was lost; another does its tasks")
            known, looked_at = present, time.monotonic()


def _done(future: Any, number: int) -> Done[Any]:
    # It waits: a result that is lost with its worker is computed again.
    error = future.exception()
    if error is None:
        done: Done[Any] = future.result()
        return done
    if type(error).__name__ in {"KilledWorker", "CancelledError", "FutureCancelledError"}:
        lost = WorkerLostError(f"workers of the cluster were lost at the same task ({error})")
        return Done(number, None, lost)
    raise RuntimeError("a worker of the cluster failed") from error

"""Tasks spread over a running Dask cluster; this package never starts one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, TypeVar

from ngramscan.errors import InputError, RemoteRefused, RemoteUnavailable, WorkerLostError
from ngramscan.messages import OptionUse
from ngramscan.processes.pool import Done, Report, Watch, do_task

T = TypeVar("T")
R = TypeVar("R")

_CONNECT_S = 15
_LOOK_EVERY_S = 0.2
_OTHER_VERSION = ("deserialization", "Can't get attribute")


def run_on_cluster(
    work: Callable[[T, Report], R],
    tasks: Sequence[T],
    scheduler: str,
    watch: Watch,
    task_bytes: int = 0,
) -> Iterator[Done[R]]:
    """Do tasks on the Dask cluster of a scheduler, and yield each as it is done, in any order.

    `work` is a function of a module of this package, which the workers must have installed, too;
    its `Report` does nothing. Where this is left early, tasks that have not begun are cancelled.
    `task_bytes` is the memory that a task needs: a notice says where workers may have too little.

    An InputError says that Dask is not installed, a RemoteUnavailable that no scheduler answers at
    the address, that it was lost or that it has no workers, a RemoteRefused that the cluster has
    another version of this package.
    """
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise InputError(
            OptionUse("scheduler"), "needs Dask: pip install 'ngramscan[cluster]'"
        ) from error
    where = OptionUse("scheduler", scheduler)
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]
            scheduler, timeout=_CONNECT_S, set_as_default=False
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise RemoteUnavailable(where + ": can't be reached") from error
    numbers = range(len(tasks))
    # Keyed by task number, not by content: a result must count for one task only.
    keys = [f"ngramscan-{time.time_ns()}-{number}" for number in numbers]
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # it logs a traceback for each lost connection
    try:
        with client:
            workers = _workers(client)
            if not workers:
                raise RemoteUnavailable(where + ": it has no workers")
            _check_memory(workers, task_bytes, watch)
            do = partial(do_task, work, report=_ignore)
            futures = client.map(do, numbers, tasks, key=keys)
            yield from _collect(client, dict(zip(futures, numbers, strict=True)), watch, where)
    except (CancelledError, OSError) as error:
        raise RemoteUnavailable(where + ": the connection to it was lost") from error
    finally:
        log.setLevel(level)


def _workers(client: Any) -> dict[str, Any]:
    """Return the workers of a cluster by address."""
    workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return workers


def _ignore(_amount: int) -> None:
    pass


def _check_memory(workers: dict[str, Any], task_bytes: int, watch: Watch) -> None:
    """Say which worker has less memory than all of its threads need; Dask would kill it."""
    for address, worker in workers.items():
        threads, limit = worker["nthreads"], worker["memory_limit"]
        if limit and threads * task_bytes > limit:
            problem = f"it has {limit / 1e9:.3g} GB of memory for {threads} of --nthreads"
            need = f"each may need {task_bytes / 1e9:.3g} GB; fewer of them need less"
            watch.notice(f"the worker {address}: {problem}, and {need}")
            return


def _collect(
    client: Any, futures: dict[Any, int], watch: Watch, where: OptionUse
) -> Iterator[Done[Any]]:
    addresses = set(_workers(client))
    looked_at = time.monotonic()
    while futures:
        done = [future for future in futures if future.done()]
        for future in done:
            yield _done(future, futures.pop(future), where)
            future.release()
        if not done:
            time.sleep(_LOOK_EVERY_S)
        if not futures or time.monotonic() - looked_at > 5 * _LOOK_EVERY_S:
            # A worker that its nanny restarts has another address.
            current = set(_workers(client))
            for address in sorted(addresses - current):
                watch.notice(f"the worker {address} was lost; another does its tasks")
            addresses, looked_at = current, time.monotonic()


def _done(future: Any, number: int, where: OptionUse) -> Done[Any]:
    # It waits: a result that is lost with its worker is computed again.
    error = future.exception()
    if error is None:
        done: Done[Any] = future.result()
        return done
    if type(error).__name__ == "KilledWorker":
        problem = f"workers of the cluster were lost at the same task ({error})"
        hint = "if memory ran out, workers with --nthreads 1 need less"
        return Done(number, None, WorkerLostError(f"{problem}; {hint}"))
    if isinstance(error, ImportError) or any(words in str(error) for words in _OTHER_VERSION):
        problem = f"it or a worker can't load the task ({' '.join(str(error).split())})"
        cure = "install the same ngramscan, with the same extras, everywhere in the cluster"
        raise RemoteRefused(where + f": {problem}; {cure}") from error
    raise RuntimeError("a worker of the cluster failed") from error

"""Work on the pieces of a corpus, spread over processes of this machine or over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ngramscan.corpora import Piece
from ngramscan.errors import NgramscanError
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Done, Report, Watch, run_on_processes, usable_cores
from ngramscan.progress import Progress

TASK_BYTES = 32_000_000
LEAST_TASK_BYTES = 1_000_000
TASK_PIECES = 500
"""Small files are read many to a task, so that a task costs more than it takes to hand it out."""

TASKS_PER_WORKER = 8
"""At least, where there is enough to do: so none waits long for the last one."""

BYTES_PER_WORKER = 32_000_000
"""For less, another process costs more than it gains; unless it is asked for."""

CLUSTER_WORKERS = 32
"""For how many the work is divided on a cluster, where --workers does not say."""

T = TypeVar("T")
R = TypeVar("R")


class PieceRunner:
    """Does work on pieces, many small ones or a large one to a task.

    Parameters
    ----------
    workers : int
        Processes; 0: as many as there are cores and are worth it.
    scheduler : str or None
        The Dask scheduler of a cluster that does the work instead.
    progress : Progress
        Told of bytes read; of files where bytes are not known.
    """

    def __init__(self, workers: int, scheduler: str | None, progress: Progress) -> None:
        self._workers = workers
        self._scheduler = scheduler
        self._progress = progress

    def run(
        self,
        work: Callable[[T, Report], list[R | NgramscanError]],
        make_task: Callable[[Sequence[int]], T],
        pieces: Mapping[int, Piece],
    ) -> Iterator[tuple[int, R | NgramscanError]]:
        """Do the work and yield the result of each piece, or why there is none, in any order.

        Parameters
        ----------
        work : callable
            A function of a module, called elsewhere: returns a result per piece of its task.
        make_task : callable
            Returns the task for some pieces, which are given by number.
        pieces : mapping
            All pieces by number, in the order in which they follow each other.
        """
        sizes = [piece.size for piece in pieces.values()]
        size_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        unit = "files" if size_bytes is None else "bytes"
        self._progress.expect(len(pieces) if size_bytes is None else size_bytes, unit)
        workers = self._workers_for(size_bytes)
        bundles = _bundles(pieces, workers)
        for done in self._spread(work, [make_task(bundle) for bundle in bundles], unit, workers):
            bundle = bundles[done.task]
            if unit == "files":
                self._progress.advance(len(bundle), unit)
            if done.error is not None:
                yield from ((number, done.error) for number in bundle)
            else:
                yield from zip(bundle, done.result or [], strict=True)

    def _workers_for(self, size_bytes: int | None) -> int:
        """Return how many processes are worth it; far files of unknown size are worth one each."""
        if self._workers:
            return self._workers
        if self._scheduler:
            return CLUSTER_WORKERS
        return (
            usable_cores()
            if size_bytes is None
            else min(usable_cores(), 1 + size_bytes // BYTES_PER_WORKER)
        )

    def _spread(
        self, work: Callable[[T, Report], R], tasks: list[T], unit: str, workers: int
    ) -> Iterator[Done[R]]:
        def report(amount: int) -> None:
            if unit == "bytes":
                self._progress.advance(amount, unit)

        watch = Watch(report, self._progress.notice)
        if self._scheduler:
            return run_on_cluster(work, tasks, self._scheduler, watch)
        return run_on_processes(work, tasks, workers, watch)


def _bundles(pieces: Mapping[int, Piece], workers: int) -> list[list[int]]:
    """Group pieces that follow each other into tasks."""
    bundles: list[list[int]] = []
    total = sum(piece.size or 0 for piece in pieces.values())
    task_bytes = min(TASK_BYTES, max(LEAST_TASK_BYTES, total // (workers * TASKS_PER_WORKER)))
    size = 0
    for number, piece in pieces.items():
        piece_size = piece.size or task_bytes
        if not bundles or size + piece_size > task_bytes or len(bundles[-1]) == TASK_PIECES:
            bundles.append([])
            size = 0
        bundles[-1].append(number)
        size += piece_size
    return bundles

"""Work on the pieces of a corpus, over processes of this machine or over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ngramscan.corpora import BAD_FILES, Piece
from ngramscan.errors import BadFileError, CorpusError, NgramscanError
from ngramscan.indexes.scan.counting import (
    PieceExcerpts,
    PieceSources,
    Question,
    Sought,
    SourceQuestion,
    count_piece,
    count_sources,
    do_each,
    excerpt_piece,
)
from ngramscan.indexes.scan.kept import (
    KeptResults,
    is_possible,
    is_possible_by_source,
    may_be_passages,
)
from ngramscan.indexes.scan.passages import (
    PassageQuestion,
    PiecePassages,
    drop_worse,
    find_in_piece,
)
from ngramscan.journal import Journal
from ngramscan.matching import Counts
from ngramscan.messages import OptionUse, counted
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Report, Watch, run_on_processes, usable_cores
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
Result = TypeVar("Result", Counts, PieceExcerpts, PieceSources, PiecePassages)


@dataclass(frozen=True, slots=True)
class ScanRun:
    """How a corpus is scanned: its processes, its progress, and the journal of its counts."""

    name: str
    """The name of the corpus, for people."""
    progress: Progress
    journal: Journal | None
    """Keeps the counts of each piece."""
    refresh: bool
    """Count also what the journal has."""
    workers: int
    """Processes; 0: one per core, if the corpus is large enough."""
    scheduler: str | None
    """The Dask scheduler of a cluster that does the work instead."""
    skip_bad_files: bool = False
    """Leave out files that can't be read."""

    def count_workers(self, size_bytes: int | None) -> int:
        """Return how many processes to use; remote files of unknown size get one each."""
        if self.workers or self.scheduler:
            return self.workers or CLUSTER_WORKERS
        worth_it = usable_cores() if size_bytes is None else 1 + size_bytes // BYTES_PER_WORKER
        return min(usable_cores(), worth_it)


def run_on_pieces(
    run: ScanRun,
    pieces: Mapping[int, Piece],
    work: Callable[[T, Report], R],
    items: Mapping[int, T],
) -> Iterator[tuple[int, R | NgramscanError]]:
    """Do work on an item per piece, and yield each result, or why there is none, in any order.

    Pieces are numbered in the order in which they follow each other. The work is sent to each
    process once: a `partial` of a function of a module.
    """
    for done in _run_on_bundles(run, pieces, work, items):
        yield from done


def _run_on_bundles(
    run: ScanRun,
    pieces: Mapping[int, Piece],
    work: Callable[[T, Report], R],
    items: Mapping[int, T],
) -> Iterator[list[tuple[int, R | NgramscanError]]]:
    """Do the same, and yield the results of each task: many small pieces, or a large one."""
    sizes = [piece.size for piece in pieces.values()]
    size_bytes = None if None in sizes else sum(size or 0 for size in sizes)
    unit = "files" if size_bytes is None else "bytes"
    run.progress.expect(len(pieces) if size_bytes is None else size_bytes, unit)

    def report(amount: int) -> None:
        if unit == "bytes":
            run.progress.advance(amount, unit)

    workers = run.count_workers(size_bytes)
    bundles = _bundles(pieces, workers)
    tasks = [[items[number] for number in bundle] for bundle in bundles]
    do = partial(do_each, work)
    watch = Watch(report, run.progress.notice)
    done_tasks = (
        run_on_cluster(do, tasks, run.scheduler, watch)
        if run.scheduler
        else run_on_processes(do, tasks, workers, watch)
    )
    for done in done_tasks:
        bundle = bundles[done.task]
        if unit == "files":
            run.progress.advance(len(bundle), unit)
        if done.error is not None:
            yield [(number, done.error) for number in bundle]
        else:
            yield list(zip(bundle, done.result or [], strict=True))


def _bundles(pieces: Mapping[int, Piece], workers: int) -> list[list[int]]:
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


def count_pieces(run: ScanRun, pieces: Sequence[Piece], question: Question) -> list[Counts]:
    """Count in all pieces of a corpus, apart from those that the journal has."""
    results = KeptResults(run.journal, question, Counts, partial(is_possible, question))
    work = partial(count_piece, question=question)
    return _do_left(run, pieces, results, work, question.nothing)


def source_pieces(
    run: ScanRun, pieces: Sequence[Piece], sought: SourceQuestion
) -> list[PieceSources]:
    """Count by source in all pieces of a corpus, apart from those that the journal has."""
    results = KeptResults(run.journal, sought, PieceSources, partial(is_possible_by_source, sought))
    work = partial(count_sources, sought=sought)
    return _do_left(run, pieces, results, work, sought.nothing)


def excerpt_pieces(run: ScanRun, pieces: Sequence[Piece], sought: Sought) -> list[PieceExcerpts]:
    """Find what all pieces of a corpus may share with texts, or take it from the journal."""
    results = KeptResults(run.journal, sought, PieceExcerpts)
    work = partial(excerpt_piece, sought=sought)
    return _do_left(run, pieces, results, work, sought.nothing)


def passage_pieces(
    run: ScanRun, pieces: Sequence[Piece], question: PassageQuestion
) -> list[PiecePassages]:
    """Find passages in all pieces of a corpus, or take them from the journal.

    Only passages that are among the best of the corpus are in the results.
    """
    results = KeptResults(run.journal, question, PiecePassages, partial(may_be_passages, question))
    work = partial(find_in_piece, question=question)
    drop = partial(drop_worse, most=question.most)
    return _do_left(run, pieces, results, work, question.nothing, drop)


def _do_left(
    run: ScanRun,
    pieces: Sequence[Piece],
    stored_results: KeptResults[Result],
    work: Callable[[Piece, Report], Result],
    nothing: Callable[[dict[str, int]], Result],
    reduce: Callable[[Mapping[int, Result]], None] = lambda _: None,
) -> list[Result]:
    """Do work on the pieces without a result in the journal, and keep the new results.

    The first error is raised after all other pieces were done. `nothing` makes the result of a
    piece that is left out, with what was skipped. `reduce` takes from the results what others make
    needless.
    """
    results = {} if run.refresh else _journalled(run, pieces, stored_results)
    pending_pieces = {number: piece for number, piece in enumerate(pieces) if number not in results}
    errors: dict[int, NgramscanError] = {}
    for done in _run_on_bundles(run, pending_pieces, work, pending_pieces):
        new = {number: each for number, each in done if not isinstance(each, NgramscanError)}
        errors |= {number: each for number, each in done if isinstance(each, NgramscanError)}
        if run.journal is not None:
            for number in new:
                if pieces[number].identity:
                    run.progress.detail(_described(pieces[number]))
            stored_results.put([(pieces[number], result) for number, result in new.items()])
        results |= new
        reduce(results)
    if errors:
        error_by_file = _bad_files(run, pieces, errors)
        say_left_out(run, error_by_file.values())
        results |= _without_files(pieces, error_by_file, nothing)
    return [results[number] for number in range(len(pieces))]


def _bad_files(
    run: ScanRun, pieces: Sequence[Piece], errors: Mapping[int, NgramscanError]
) -> dict[str, BadFileError]:
    """Return the files to leave out, and why; any other error is raised."""
    left_out: dict[str, BadFileError] = {}
    others: list[NgramscanError] = []
    for number, error in errors.items():
        if run.skip_bad_files and isinstance(error, BadFileError):
            left_out[pieces[number].file.location] = error
        else:
            others.append(error)
    if others:
        raise with_cure(_first_of(others))
    return left_out


def _without_files(
    pieces: Sequence[Piece],
    locations: Collection[str],
    nothing: Callable[[dict[str, int]], Result],
) -> dict[int, Result]:
    """Return the results of all pieces of some files that are left out, each file counted once."""
    results: dict[int, Result] = {}
    counted_files = set[str]()
    for number, piece in enumerate(pieces):
        location = piece.file.location
        if location in locations:
            is_first = location not in counted_files
            results[number] = nothing({BAD_FILES: 1} if is_first else {})
            counted_files.add(location)
    return results


def say_left_out(run: ScanRun, errors: Iterable[BadFileError]) -> None:
    """Say how many files are left out, and what is wrong with the first."""
    messages = sorted(map(str, errors))
    if messages:
        amount = counted(len(messages), "file")
        first = messages[0] if len(messages) == 1 else f"the first: {messages[0]}"
        run.progress.notice(f"{run.name}: left out {amount} that can't be read: {first}")


def with_cure(error: NgramscanError) -> NgramscanError:
    """Return an error, with the option that leaves out a file that can't be read."""
    if not isinstance(error, BadFileError):
        return error
    cure = OptionUse("skip_bad_files") + " leaves out such files"
    return CorpusError(error.where, error.problem + "; " + cure)


def _described(piece: Piece) -> str:
    part = "" if piece.is_whole else f" from {piece.start} to {piece.stop}"
    return f"{piece.file.path}: read{part}"


def _journalled(
    run: ScanRun, pieces: Sequence[Piece], stored_results: KeptResults[Result]
) -> dict[int, Result]:
    n_unmarked = sum(not piece.identity for piece in pieces)
    if n_unmarked and run.journal is not None:
        run.progress.notice(
            f"{run.name}: results for {n_unmarked} of {len(pieces)} parts are not kept, as their"
            " server sends no ETag and no date, or they have just changed"
        )
    results, damaged = stored_results.get(pieces)
    if results:
        run.progress.notice(
            f"{run.name}: using cached results for {len(results)} of {len(pieces)} parts ("
            + OptionUse("refresh")
            + " to read again)"
        )
    if damaged:
        run.progress.notice(
            f"{run.name}: {damaged} counts in the journal are damaged; counted again"
        )
    return results


def _first_of(errors: list[NgramscanError]) -> NgramscanError:
    """Return the first error, by place, that says how many others there are."""
    others = {str(error) for error in errors}  # pieces of one file may say the same
    first = min(errors, key=str)
    if len(others) == 1 or not isinstance(first, CorpusError):
        return first
    problem = first.problem + f"; and {len(others) - 1} more can't be read"
    return type(first)(first.where, problem)

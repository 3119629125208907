"""`ngramscan index`: the indexes that can be asked, and local ones that are built and checked."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ngramscan.corpora import PythonCorpus, ReadOptions, open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.base import MAX_LINE, TIMEOUT_S, IndexOptions, QueryFailure
from ngramscan.indexes.catalog import CATALOG, DEFAULT_URL
from ngramscan.indexes.opening import open_indexes
from ngramscan.prevalence.missing import explained
from ngramscan.progress import SILENT, Progress
from ngramscan.report.command import Option, Result, command

if TYPE_CHECKING:
    from ngramscan.fm9.build import BuiltShard

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", re.ASCII)
PLAIN = (
    "all tables and some of the text; only --deep sees changed bits inside compressed blocks, and "
    "sampled positions that are possible but wrong"
)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One hosted index, as documented."""

    name: str
    alias: str
    corpus: str
    kind: str
    documents: int
    bytes: int
    """Of text."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The size of one index, and that it answered."""

    name: str
    documents: int | None
    bytes: int | None
    """Of text; None: unknown."""
    answered_in_s: float
    """Seconds for one question; for a corpus that is read, for reading all of it."""
    shards: int | None = None
    """Of a local index, as the next two."""
    index_bytes: int | None = None
    size_ratio: float | None = None
    """Bytes of the index over bytes of text."""


@dataclass(frozen=True, slots=True)
class BuildRow:
    """One shard of a new index."""

    shard: int
    documents: int
    bytes: int
    """Of documents, without what separates them."""
    index_bytes: int
    ratio: float | None
    """Bytes of the index per byte of documents; None: these are empty."""
    seconds: float
    """Of sorting, encoding and writing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: something wrong in an index."""

    shard: str
    file: str
    place: str
    """The field, entry, rank or document."""
    problem: str


@command
def index_list() -> Result:
    """List the hosted indexes: names, and sizes in bytes of text and documents.

    Returns
    -------
    DataFrame
        One row per index.

    Examples
    --------
    $ ngramscan index list --format csv
    """
    known = [IndexRow(i.name, i.alias, i.corpus, i.kind, i.documents, i.bytes) for i in CATALOG]
    return Result(known, IndexRow)


@command
def index_info(
    spec: str,
    *,
    api_url: Annotated[str, Option(metavar="URL", envvar="NGRAMSCAN_API_URL")] = DEFAULT_URL,
    concurrency: Annotated[int, Option(least=1)] = 4,
    rate: Annotated[float | None, Option(metavar="N", least=0)] = None,
    timeout_s: Annotated[float, Option(flags="--timeout", metavar="SECONDS", over=0)] = TIMEOUT_S,
    journal: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    text_field: Annotated[str, Option(metavar="NAME")] = "text",
    workers: Annotated[int | None, Option(least=1)] = None,
    scheduler: Annotated[str | None, Option(metavar="ADDRESS")] = None,
    sample_files: Annotated[str | int | None, Option(metavar="N|P%")] = None,
    seed: Annotated[int, Option(least=0)] = 1,
    limit_documents: Annotated[int | None, Option(least=1)] = None,
    exclude_source: Annotated[str | Sequence[str], Option(metavar="GLOB")] = (),
    skip_bad_lines: bool = False,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = MAX_LINE,
    ignore_case: bool = False,
    progress: Progress = SILENT,
) -> Result:
    """Tell the size of one index, and whether it answers.

    SPEC is as in `ngramscan count --index`. A corpus is read to the end for this.

    Parameters
    ----------
    spec : str
        As in `count`.
    api_url, concurrency, rate, timeout_s, journal, text_field, workers, scheduler : see count
    sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line : see count
    ignore_case, progress : see count

    Returns
    -------
    DataFrame
        One row per index: name, documents, bytes, seconds for one question, shards.

    Raises
    ------
    NgramscanError
        One of them does not answer.

    Examples
    --------
    $ ngramscan index info dclm
    $ ngramscan index info scan:shards/
    $ ngramscan index info fm9:my-index
    """
    options = IndexOptions(
        *(api_url, concurrency, rate, timeout_s, journal, True, text_field, workers, scheduler),
        *(sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line),
        ignore_case,
    )
    infos = []
    with open_indexes([spec], options, progress) as indexes:
        for index in indexes:
            started_at = time.perf_counter()
            for reply in index.counts(["the"]):
                if isinstance(reply, QueryFailure):
                    raise explained(reply.error)
            size, seconds = index.size(), round(time.perf_counter() - started_at, 3)
            ratio = size.index_bytes / size.bytes if size.index_bytes and size.bytes else None
            of_files = size.shards, size.index_bytes, ratio
            infos.append(IndexInfo(index.name, size.documents, size.bytes, seconds, *of_files))
    return Result(infos, IndexInfo)


@command
def index_build(
    corpus: str,
    output: Annotated[str | Path, Option(flags="-o --output", metavar="DIR")],
    *,
    shard_size: Annotated[str | int, Option(metavar="SIZE")] = "1GB",
    workers: Annotated[int, Option(least=1)] = 1,
    text_field: Annotated[str, Option(metavar="NAME")] = "text",
    exclude_source: Annotated[str | Sequence[str], Option(metavar="GLOB")] = (),
    skip_bad_lines: bool = False,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = MAX_LINE,
    progress: Progress = SILENT,
) -> Result:
    """Build a local index of a corpus, in the format of infini-gram-mini.

    CORPUS is a path, folder, glob or URL of files, as behind `scan:`, or `python`. The folder is
    there only when all is done. Prints the shards: documents, bytes of documents and of the index,
    and seconds of sorting and encoding.

    Parameters
    ----------
    corpus : str
        A path, folder, glob or URL of files, as behind `scan:`, or `python`.
    output : str or Path
        The folder of the index; new or empty.
    shard_size : str or int
        The most text in a shard, below 2.147GB: 500MB, or bytes. Sorting needs 5.2 times as much
        memory.
    workers : int
        Number of processes that sort shards; each needs memory for one.
    text_field, exclude_source, skip_bad_lines, max_line, progress : see count

    Returns
    -------
    DataFrame
        One row per shard: documents, bytes, bytes of the index, their ratio, seconds.

    Raises
    ------
    NgramscanError
        It can't be built; nothing is left then.

    Examples
    --------
    $ ngramscan index build shards/ -o my-index
    $ ngramscan index build 'crawl/*.jsonl.zst' -o my-index --shard-size 500MB --workers 4
    """
    try:
        from ngramscan.fm9.build import BuildOptions, build_index
    except ImportError as error:
        if error.name not in {"numba", "pydivsufsort"}:
            raise
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]' has it"
        raise InputError("ngramscan index build", problem) from error
    read = ReadOptions(
        text_field=text_field,
        skip_bad_lines=skip_bad_lines,
        exclude_sources=tuple(exclude_source),
        most_line_bytes=max_line * 1_000_000,
    )
    options = BuildOptions(read, parse_size(shard_size), workers)
    files = corpus.removeprefix("scan:")
    opened = PythonCorpus() if corpus == "python" else open_corpus(files, read.exclude_sources)
    built = build_index(opened, Path(output), options, progress)
    return Result([_row(shard) for shard in built], BuildRow)


def _row(built: BuiltShard) -> BuildRow:
    ratio = round(built.index_bytes / built.bytes, 3) if built.bytes else None
    sizes = (built.bytes, built.index_bytes)
    return BuildRow(built.shard, built.documents, *sizes, ratio, built.seconds)


def parse_size(text: str | int) -> int:
    """Return the bytes of a size like 500MB, 1.5GB or 1000; units are powers of 1000.

    Raises
    ------
    InputError
        It is none.
    """
    found = _SIZE.fullmatch(str(text).strip().upper())
    if found is None or found[2] not in _UNITS:
        raise InputError(f"--shard-size {text}", "a size like 500MB or 1GB was expected")
    return round(float(found[1]) * _UNITS[found[2]])


@command
def index_verify(
    directory: Annotated[str | Path, Option(metavar="DIR")],
    *,
    deep: bool = False,
    progress: Progress = SILENT,
) -> Result:
    """Check whether a local index is what it should be.

    DIR is a shard or a folder of shards. Prints what is wrong, with file and field; exit code 1
    where anything is.

    Parameters
    ----------
    directory : str or Path
        A shard, or a folder of shards.
    deep : bool
        Also walk through the whole text, so that every bit is checked; takes about as long as
        building it.
    progress : Progress
        Reports what was checked.

    Returns
    -------
    DataFrame
        One row per thing that is wrong: shard, file, place, problem; none where it is sound.

    Raises
    ------
    InputError
        The directory is no index.

    Examples
    --------
    $ ngramscan index verify my-index
    $ ngramscan index verify my-index --deep --format csv
    """
    try:
        # Slow to import, and of an extra.
        from ngramscan.fm9.checks import verify_shard
        from ngramscan.fm9.reader import shard_folders
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]'"
        raise InputError("ngramscan index verify", problem) from error
    findings = [
        Finding(str(folder), Path(found.file).name, found.place, found.problem)
        for folder in shard_folders(Path(directory))
        for found in verify_shard(folder, deep, progress)
    ]
    sound = f"{directory}: sound ({'every bit' if deep else PLAIN})"
    if findings:
        return Result(findings, Finding, exit_code=1)
    return Result([], Finding, [sound], print_table=lambda _: None)

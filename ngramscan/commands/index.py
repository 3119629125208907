"""`ngramscan index`: lists indexes, and builds and checks local ones."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from ngramscan.corpora import Corpus, PythonCorpus, open_corpus
from ngramscan.errors import InputError, needs_extra
from ngramscan.index_files.fm9.folders import planned_shards, shard_folders
from ngramscan.index_files.fm9.manifest import MANIFEST
from ngramscan.indexes.base import Index, QueryFailure
from ngramscan.indexes.catalog import INFINI_GRAM_MINI, PUBLISHED, IndexRow, all_indexes
from ngramscan.indexes.kinds import FM9, PYTHON, SCAN, TOKENS, index_folder, index_folders, kind_at
from ngramscan.indexes.opening import open_indexes, suggest_spec
from ngramscan.indexes.options import MATCH_OPTIONS, IndexOptions, ReadingOptions, parse_size
from ngramscan.indexes.sizes import IndexInfo, describe_index, describe_size
from ngramscan.indexes.specs import read_specs, spec_of_path
from ngramscan.messages import OptionUse
from ngramscan.prevalence.failures import with_offline_hint
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import Option, Result, RowTypes, Shared, command

if TYPE_CHECKING:
    from rich.console import Console

_DEEP = "--deep also finds changed bits "
_DEEP_FINDS = f"{_DEEP}inside compressed blocks, and sampled positions that are possible but wrong"
_DEEP_FINDS_TOKENS = f"{_DEEP}of tokens, pointers and metadata outside of the sample"


@command
def index_list(
    *,
    live: bool = False,
    api_url: Annotated[str, Option(metavar="URL", is_rare=True)] = INFINI_GRAM_MINI.url,
) -> Annotated[
    Result[Any],
    RowTypes("ngramscan.indexes.catalog.IndexRow", "ngramscan.indexes.listing.ListedIndexRow"),
]:
    """List the public indexes: names, and sizes in documents and in bytes or tokens of text.

    Services answer for some; the files of others are published. Those of `requester pays` are read
    with an account of AWS that pays for it. Sizes are documented by their authors, and nothing is
    requested. With `--live`, a service is asked which indexes it has now.

    Parameters
    ----------
    live : bool
        Ask infini-gram's service, or that of --api-url, for its list of indexes, and compare this
        with the catalog.
    api_url : see count

    Returns
    -------
    DataFrame
        One row per index; with `live`, name, status (`in both`, `not in the catalog`, `not
        listed`), spec, description, corpus and service.

    Examples
    --------
    $ ngramscan index list --format csv
    $ ngramscan index list --live
    """
    if live:
        return _list_live("" if api_url == INFINI_GRAM_MINI.url else api_url)
    # A value in the environment is meant for all commands.
    if api_url not in {INFINI_GRAM_MINI.url, os.environ.get("NGRAMSCAN_API_URL")}:
        raise InputError(OptionUse("api_url", api_url), "requires " + OptionUse("live"))

    def print_catalog(console: Console) -> None:
        from ngramscan.reporting.tables.index_list import print_catalog  # slow to import

        print_catalog(console)

    return Result([*all_indexes(), *PUBLISHED], IndexRow, print_table=print_catalog)


def _list_live(api_url: str) -> Result[Any]:
    """Return the list of a service; empty: of the public ones."""
    # Slow to import, and not needed to show the catalog.
    from ngramscan.indexes.listing import ListedIndexRow, describe_differences, list_live

    rows = list_live(IndexOptions(), api_url)

    def print_listed(console: Console) -> None:
        from ngramscan.reporting.tables.index_list import print_listed  # slow to import

        print_listed(console, rows)

    differences = describe_differences(rows)
    notices = [differences] if differences else []
    if not api_url:
        notices.append(f"{INFINI_GRAM_MINI.name} has no list of its indexes to ask for")
    return Result(rows, ListedIndexRow, notices, print_table=print_listed)


@command
def index_info(
    spec: Annotated[str, Option(is_spec=True)],
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(IndexOptions, without=("refresh", *MATCH_OPTIONS))],
) -> Result[IndexInfo]:
    """Show the size of one index, and check that it answers.

    SPEC is the same as for `ngramscan count --index`. A corpus is read to the end for this. If an
    index is not complete yet, its finished shards are shown, and the exit code is 1.

    Parameters
    ----------
    spec : str
        The index.
    progress : see count

    Returns
    -------
    DataFrame
        One row per index: name, documents, bytes or tokens, seconds for one query; of a local
        index also shards, bytes of its files, and the memory that querying and building it take.

    Examples
    --------
    $ ngramscan index info dclm
    $ ngramscan index info scan:shards/
    $ ngramscan index info my-index
    $ ngramscan index info tokens:my-tokens
    """
    index_options = IndexOptions(**options, refresh=True)
    notices, failures = [], []
    place = spec_of_path(next((each.place for each in read_specs([spec])), spec))
    folder = index_folder(place)
    planned = planned_shards(folder) if FM9.names(place) and folder.is_dir() else None
    opened: AbstractContextManager[Sequence[Index]] = open_indexes([spec], index_options, progress)
    if planned is not None:
        with needs_extra(OptionUse("index", place), "index"):
            from ngramscan.indexes.fm9 import open_fm9
        opened = nullcontext([open_fm9(folder, progress, allow_partial=True)])
    infos = []
    with opened as indexes:
        for index in indexes:
            source, started_at = "", time.perf_counter()
            for reply in index.counts(["the"]):
                if isinstance(reply, QueryFailure):
                    raise with_offline_hint(reply.error)
                source = reply.source
            # Three digits, as an index on this machine answers within microseconds.
            seconds, size = float(f"{time.perf_counter() - started_at:.3g}"), index.size()
            infos.append(describe_size(index.name, index.spec, size, seconds))
            if source == "scan" and size.bytes:
                notices.append(describe_index(index.name, size.bytes))
            if planned is not None:
                built = f"{size.shards} of {len(planned)} shards are built"
                failures.append(f"{folder}: incomplete: {built}")
    return Result(infos, IndexInfo, notices, failures)


@command
def index_build(
    corpus: Annotated[str, Option(is_spec=True)],
    output: Annotated[str | Path, Option(flags="-o --output", metavar="DIR", is_folder=True)],
    *,
    shard_size: Annotated[str | int | None, Option(metavar="SIZE")] = None,
    memory: Annotated[str | int | None, Option(metavar="SIZE")] = None,
    workers: Annotated[int, Option(least=1, envvar="")] = 1,
    tokenizer: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    index_version: Literal["4", "6"] | None = None,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(ReadingOptions)],
) -> Result[Any]:
    """Build a local index of a corpus, in the format of infini-gram-mini or of infini-gram.

    CORPUS is a file, folder, glob or URL, as after `scan:`, or `python`. All of it is read once to
    plan the shards; then each is built. After an interruption, the same command builds only the
    shards that are missing, and after the end it only says that the index is there. Prints one row
    per shard: documents, their bytes, bytes of the index, and seconds.

    `-o tokens:DIR` makes an index over tokens instead, in the format of infini-gram: one shard,
    sorted in memory. Without `--tokenizer`, its tokens are bytes.

    Parameters
    ----------
    corpus : str
        The files to index.
    output : str or Path
        Folder or URL of the index; new or empty. tokens:DIR: over tokens.
    shard_size : str or int
        Maximum text per shard: 500MB, or bytes. Building takes 5.2 bytes of memory per byte of
        text (9.4 from 2.147GB on).  [default: 1GB]
    memory : str or int
        Memory for all workers together, like 16GB; the size of shards follows from it.
    workers : int
        Number of shards that are built at the same time, where memory allows.
    tokenizer : str or Path
        SentencePiece model or tokenizer.json of an index over tokens, or a folder with one; without
        a tokenizer, tokens are bytes.
    index_version : str
        Version of infini-gram's format for an index over tokens: 4 or 6. They differ in the names
        of files; those of version 6 have no number.  [default: 4]
    progress : see count

    Returns
    -------
    DataFrame
        One row per shard: documents, bytes or tokens, bytes of the index, their ratio, seconds.

    Examples
    --------
    $ ngramscan index build shards/ -o my-index
    $ ngramscan index build 'crawl/*.jsonl.zst' -o crawl-index --memory 16GB --workers 4
    $ ngramscan index build corpus.jsonl -o tokens:my-tokens
    """
    reading_options = ReadingOptions(**options).for_corpus("", [])
    wanted = _Shards(shard_size, memory, workers)
    if TOKENS.names(str(output)):
        _refuse_for_tokens(wanted, reading_options)
        return _build_tokens(
            corpus, output, tokenizer, index_version or "4", reading_options, progress
        )
    for option, value in (("tokenizer", tokenizer), ("index_version", index_version)):
        if value is not None:
            spec = TOKENS.spec_of(output)
            problem = "only an index over tokens takes it: " + OptionUse("output", spec)
            raise InputError(OptionUse(option, value), problem)
    return _build(corpus, output, reading_options, wanted, progress)


@command
def index_add(
    corpus: Annotated[str, Option(is_spec=True)],
    directory: Annotated[str | Path, Option(metavar="DIR")],
    *,
    shard_size: Annotated[str | int | None, Option(metavar="SIZE")] = None,
    memory: Annotated[str | int | None, Option(metavar="SIZE")] = None,
    workers: Annotated[int, Option(least=1, envvar="")] = 1,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(ReadingOptions)],
) -> Result[Any]:
    """Add documents to an index, as new shards.

    CORPUS and DIR may be in either order. The shards that are there, and the numbers of their
    documents, stay as they are. Until all new ones are built, the index can't be queried; after an
    interruption, the same command resumes.

    Parameters
    ----------
    corpus : str
        The files to add.
    directory : str or Path
        Folder or URL of the index.
    shard_size, memory, workers : see index_build
    progress : see count

    Returns
    -------
    DataFrame
        One row per shard of the index, as of `index_build`; seconds only of new ones.

    Examples
    --------
    $ ngramscan index add corpus.jsonl my-index
    """
    if TOKENS.names(str(directory)):
        problem = "an index over tokens can't grow; build one of all documents in a new folder"
        raise InputError(str(directory), problem)
    if kind_at(corpus) is FM9 and kind_at(str(directory)) is SCAN:
        # The index was named first, as in other tools; as a corpus it would be refused.
        corpus, directory = str(directory), corpus
    wanted = _Shards(shard_size, memory, workers, is_adding=True)
    reading_options = ReadingOptions(**options).for_corpus("", [])
    return _build(corpus, directory, reading_options, wanted, progress)


class _Shards(NamedTuple):
    """How the shards of an index are built."""

    size: str | int | None
    memory: str | int | None
    workers: int
    is_adding: bool = False


def _build(
    corpus: str,
    place: str | Path,
    reading_options: ReadingOptions,
    wanted: _Shards,
    progress: Progress,
) -> Result[Any]:
    with needs_extra("ngramscan index build", "index"):
        from ngramscan.index_files.fm9.build import BuildOptions, BuildRow, build_index
    if wanted.size is not None and wanted.memory is not None:
        raise InputError(
            OptionUse("memory"),
            "it determines the size of shards; leave out " + OptionUse("shard_size"),
        )
    options = BuildOptions(
        shard_bytes=parse_size("1GB" if wanted.size is None else wanted.size),
        memory=None if wanted.memory is None else parse_size(wanted.memory, "memory"),
        workers=wanted.workers,
        scheduler=reading_options.scheduler,
        is_adding=wanted.is_adding,
    )
    place = FM9.place_in(str(place))
    target = place if "://" in place else index_folder(place)
    opened = _opened(corpus, reading_options)
    rows = build_index(opened, target, progress, reading_options.read, options)
    return Result(rows, BuildRow, [_next(FM9.spec_of(place))])


def _build_tokens(
    corpus: str,
    place: str | Path,
    tokenizer: str | Path | None,
    version: Literal["4", "6"],
    reading_options: ReadingOptions,
    progress: Progress,
) -> Result[Any]:
    with needs_extra("ngramscan index build", "tokens"):
        from ngramscan.index_files.tokens.build import TokenBuildRow, build_token_index
        from ngramscan.index_files.tokens.tokenizers import describe_choice, load_tokenizer
    folder = os.path.expanduser(TOKENS.place_in(str(place)))
    if not folder:
        raise InputError(str(place), "nothing after the colon; expected a folder")
    opened, opened_tokenizer = _opened(corpus, reading_options), load_tokenizer(tokenizer)
    if notice := describe_choice(tokenizer, opened_tokenizer):
        progress.notice(notice)
    try:
        rows = build_token_index(
            opened, folder, opened_tokenizer, reading_options.read, progress, version
        )
    except KeyboardInterrupt as error:
        error.add_note("nothing was kept.")
        raise
    file = f" --tokenizer {shlex.quote(str(tokenizer))}" if tokenizer else ""
    return Result(rows, TokenBuildRow, [_next(TOKENS.spec_of(folder)) + file])


def _next(spec: str) -> str:
    return f"to count in it: ngramscan count TEXT --index {shlex.quote(spec)}"


def _refuse_for_tokens(wanted: _Shards, reading_options: ReadingOptions) -> None:
    """Raise an InputError for an option of indexes in shards."""
    values = {
        "shard_size": wanted.size,
        "memory": wanted.memory,
        "scheduler": reading_options.scheduler,
        "workers": wanted.workers if wanted.workers > 1 else None,
    }
    for option, value in values.items():
        if value is not None:
            problem = "an index over tokens is built in one shard, by one process; leave it out"
            raise InputError(OptionUse(option, value), problem)


def _opened(corpus: str, reading_options: ReadingOptions) -> Corpus:
    files = SCAN.place_in(corpus)
    with suggest_spec(corpus, FM9.place_in(files), SCAN):
        if PYTHON.names(corpus):
            return PythonCorpus()
        return open_corpus(
            files,
            reading_options.read.exclude_sources,
            reading_options.input_format,
            reading_options.skip_unknown,
            reading_options.reader_pays,
        )


@command
def index_verify(
    directory: Annotated[str | Path, Option(metavar="DIR", is_spec=True)],
    *,
    deep: bool = False,
    progress: Progress = SILENT,
) -> Result[Any]:
    """Check a local index.

    DIR is a shard, a folder of shards, or an index over tokens, which may have several folders
    (tokens:DIR,DIR). The files are compared with the SHA-256 in manifest.json, which `ngramscan
    index build` writes for shards of bytes, and the tables with each other. Without a manifest,
    only `--deep` finds all changed bits, also those inside compressed blocks, and in tokens and
    pointers outside of the sample. Prints each problem with its file and field; if there is one, or
    a shard is missing, the exit code is 1.

    Parameters
    ----------
    directory : str or Path
        A shard, or a folder of shards.
    deep : bool
        Also decode the whole text, so that every bit is checked, without a manifest too. Takes 0.1
        to 0.3 s of processor time per MB of text, and 5 bytes of memory per byte of a shard's text.
    progress : Progress
        Reports the bytes checked.

    Returns
    -------
    DataFrame
        One row per problem: shard, file, place, problem; no row if no damage is found.

    Examples
    --------
    $ ngramscan index verify my-index
    $ ngramscan index verify my-index --deep --format csv
    """
    with needs_extra("ngramscan index verify", "index"):
        from ngramscan.index_files.findings import Finding
        from ngramscan.index_files.fm9.verify import verify_index
        from ngramscan.index_files.formats import is_token_folder
        from ngramscan.index_files.tokens.verify import verify_tokens
    if "://" in str(directory):
        problem = "verify reads all of an index: copy it to this machine, then verify the copy"
        raise InputError(str(directory), problem)
    folder, *others = index_folders(directory)
    is_of_tokens = is_token_folder(folder) or bool(others)
    check = verify_tokens if is_of_tokens else verify_index
    if findings := [
        each for checked in (folder, *others) for each in check(checked, deep, progress)
    ]:
        return Result(findings, Finding, exit_code=1)
    if is_of_tokens:
        plain = f"all offsets, and a sample of tables and metadata; {_DEEP_FINDS_TOKENS}"
        depth = "every position of every table" if deep else plain
        return Result(
            [], Finding, [f"{directory}: no damage found ({depth})"], print_table=lambda _: None
        )
    checks = ["every bit" if deep else "all tables, a sample of the text"]
    if all((shard / MANIFEST).is_file() for shard in shard_folders(folder)):
        checks.insert(0, "checksums of all files")
    else:
        checks += ([_DEEP_FINDS] if not deep else []) + ["no manifest.json to compare with"]
    sound = f"{directory}: no damage found ({'; '.join(checks)})"
    return Result([], Finding, [sound], print_table=lambda _: None)

"""`ngramscan index build`: a local index of a corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ngramscan.commands.access import MAX_LINE, line_bytes
from ngramscan.corpora import Corpus, PythonCorpus, ReadOptions, open_corpus
from ngramscan.errors import InputError
from ngramscan.output import several, strict_keywords, to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd

    from ngramscan.fm9.build import BuiltShard

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", re.ASCII)


class BuildSettings(TypedDict, total=False):
    """The options of the function that builds, as in the command."""

    shard_size: str | int
    workers: int
    text_field: str
    exclude_source: Sequence[str]
    skip_bad_lines: bool
    max_line: int


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


def index_build_rows(
    corpus_spec: str, output: str | Path, settings: BuildSettings, progress: Progress
) -> list[BuildRow]:
    """Build an index; return its shards.

    Raises
    ------
    InputError
        An option is wrong, the folder can't be written, or a library is not installed.
    CorpusError
        A document can't be read; no index is left then.
    """
    try:
        from ngramscan.fm9.build import BuildOptions, build_index
    except ImportError as error:
        if error.name not in {"numba", "pydivsufsort"}:
            raise
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]' has it"
        raise InputError("ngramscan index build", problem) from error
    read = ReadOptions(
        text_field=settings.get("text_field", "text"),
        skip_bad_lines=settings.get("skip_bad_lines", False),
        exclude_sources=tuple(settings.get("exclude_source", ())),
        most_line_bytes=line_bytes(settings.get("max_line", MAX_LINE)),
    )
    shard_bytes = parse_size(settings.get("shard_size", "1GB"))
    options = BuildOptions(read, shard_bytes, settings.get("workers", 1))
    corpus = _open(corpus_spec, read)
    return [_row(built) for built in build_index(corpus, Path(output), options, progress)]


def _open(spec: str, read: ReadOptions) -> Corpus:
    if spec == "python":
        return PythonCorpus()
    return open_corpus(spec.removeprefix("scan:"), read.exclude_sources)


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


@strict_keywords
def index_build(
    corpus_spec: str,
    output: str | Path,
    *,
    shard_size: str | int = "1GB",
    workers: int = 1,
    text_field: str = "text",
    exclude_source: str | Sequence[str] = (),
    skip_bad_lines: bool = False,
    max_line: int = MAX_LINE,
) -> pd.DataFrame:
    """Build an index and return its shards, as `ngramscan index build` does.

    Parameters
    ----------
    corpus_spec : str
        A path, folder, glob or URL of files, as behind `scan:`, or `python`.
    output : str or Path
        Folder of the index; new or empty.
    shard_size : str or int
        The most text in a shard, below 2.147 GB: `"500MB"`, or bytes. Sorting needs 5.2 times as
        much memory.
    workers : int
        Number of processes that sort shards; each needs memory for one.
    text_field : str
        Field of JSON lines, or column of Parquet files, that holds the text.
    exclude_source : str or sequence of str
        Leave out documents whose path, URL or id matches a glob.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.
    max_line : int
        The longest line of JSON, in MB; a longer one is an error.

    Returns
    -------
    DataFrame
        One row per shard: documents, bytes, bytes of the index, their ratio, seconds.

    Raises
    ------
    NgramscanError
        It can't be built; nothing is left then.
    """
    settings = BuildSettings(
        shard_size=shard_size,
        workers=workers,
        text_field=text_field,
        exclude_source=several(exclude_source),
        skip_bad_lines=skip_bad_lines,
        max_line=max_line,
    )
    return to_frame(index_build_rows(corpus_spec, output, settings, Silent()), BuildRow)

"""The one table of the formats of corpora, and of those that another tool has to convert."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ngramscan.corpora.arrow import FILE_START, read_arrow
from ngramscan.corpora.base import Batch, CorpusFile, Format, Piece, ReadOptions
from ngramscan.corpora.encodings import refuse_encoding
from ngramscan.corpora.jsonl import LIST_START, read_jsonl, split_jsonl
from ngramscan.corpora.parquet import read_parquet, split_parquet
from ngramscan.corpora.tables import read_table
from ngramscan.corpora.text import read_python, read_text
from ngramscan.corpora.warc import read_warc
from ngramscan.errors import CorpusError, InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.reading.compressions import packed_suffix
from ngramscan.reading.streams import unpacked_path

CURE = OptionUse("input_format") + " says it: jsonl, text, warc, parquet, arrow, csv or tsv"


def _as_one_piece(file: CorpusFile) -> list[Piece]:
    return [Piece(file, size=file.size)]


@dataclass(frozen=True)
class CorpusFormat:
    """How the files of a format are known, and how they are read."""

    name: Format
    suffixes: tuple[str, ...]
    """In small letters; that of a compression may follow."""
    start: re.Pattern[bytes] | None
    """The beginning of every file, behind white space; None: it may be anything."""
    read: Callable[[Piece, ReadOptions], Iterator[Batch]]
    split: Callable[[CorpusFile], list[Piece]] = _as_one_piece
    is_seekable: bool = False
    """It is read from its end, so not from a pipe, and not compressed as a whole."""
    title: str = ""
    """The name in messages."""


FORMATS = (
    CorpusFormat(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson", ".json"),
        start=re.compile(rb"\{|" + LIST_START.pattern),
        read=read_jsonl,
        split=split_jsonl,
        title="JSON",
    ),
    CorpusFormat(
        name="parquet",
        suffixes=(".parquet",),
        start=re.compile(rb"PAR1"),
        read=read_parquet,
        split=split_parquet,
        is_seekable=True,
        title="Parquet",
    ),
    CorpusFormat(
        name="arrow",
        suffixes=(".arrow", ".feather"),
        start=re.compile(re.escape(FILE_START) + rb"|\xff\xff\xff\xff"),
        read=read_arrow,
        is_seekable=True,
        title="Arrow",
    ),
    CorpusFormat(
        name="warc",
        suffixes=(".wet", ".warc"),
        start=re.compile(rb"WARC/"),
        read=read_warc,
        title="WARC",
    ),
    CorpusFormat(name="csv", suffixes=(".csv",), start=None, read=read_table, title="CSV"),
    CorpusFormat(name="tsv", suffixes=(".tsv",), start=None, read=read_table, title="TSV"),
    CorpusFormat(name="text", suffixes=(".txt",), start=None, read=read_text, title="text"),
    CorpusFormat(name="python", suffixes=(), start=None, read=read_python, title="Python"),
)
BY_NAME = {each.name: each for each in FORMATS}
_BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}


@dataclass(frozen=True)
class ForeignFormat:
    """A format that is not read, and the tool that converts it."""

    title: str
    suffixes: tuple[str, ...]
    start: re.Pattern[bytes] | None
    cure: str


FOREIGN = (
    ForeignFormat(
        title="XML of Wikipedia",
        suffixes=(".xml",),
        start=re.compile(rb"<mediawiki"),
        cure="WikiExtractor converts it: wikiextractor --json FILE -o FOLDER",
    ),
    ForeignFormat(
        title="ARC",
        suffixes=(".arc",),
        start=re.compile(rb"filedesc://"),
        cure="warcio converts it to WARC, from which the text is then extracted:"
        " warcio recompress FILE.arc.gz FILE.warc.gz",
    ),
    ForeignFormat("Brotli", (".br",), None, "brotli -d FILE decompresses it"),
    ForeignFormat(
        "a ZIP archive", (".zip",), re.compile(rb"PK\x03\x04"), "unzip FILE -d FOLDER unpacks it"
    ),
    ForeignFormat("a tar archive", (".tar", ".tgz"), None, "tar -xf FILE unpacks it"),
    ForeignFormat(
        "a 7z archive", (".7z",), re.compile(rb"7z\xbc\xaf\x27\x1c"), "7z x FILE unpacks it"
    ),
    ForeignFormat(
        "compressed by compress", (".z",), re.compile(rb"\x1f\x9d"), "uncompress FILE unpacks it"
    ),
    ForeignFormat(
        "an Excel sheet", (".xlsx", ".xls"), None, "save it as CSV, in UTF-8, and give that"
    ),
)


def format_of(path: str) -> Format | None:
    """Return the format that the name of a file says; None: it says none that is read."""
    stem, *ends = path.rpartition("/")[2].split(".")
    # Thousands of files have few suffixes, of which two count: that of a compression comes last.
    return _format_of_name(".".join(["name" if stem else "", *ends[-2:]]))


@lru_cache
def _format_of_name(path: str) -> Format | None:
    named = _BY_SUFFIX.get(unpacked_path(path).suffix.lower())
    if named is None or (named.is_seekable and packed_suffix(path)):
        return None
    return named.name


def why_unknown(path: str) -> Text:
    """Return why the name of a file says no format that is read, and what to do."""
    suffix = unpacked_path(path).suffix.lower()
    named = _BY_SUFFIX.get(suffix)
    if named is not None:
        return f"compressed {named.title} is not read as a whole; decompress it first"
    if foreign := next((each for each in FOREIGN if suffix in each.suffixes), None):
        return f"{foreign.title} is not read; {foreign.cure}"
    return f"unknown format: {suffix or 'no suffix'}; " + CURE


def format_in(head: bytes, where: str) -> Format:
    """Return the format that the first bytes of an input show, or raise an InputError."""
    refuse_foreign(head, where)
    for each in FORMATS:
        if each.start and each.start.match(head):
            return each.name
    try:
        refuse_encoding(head, where)
    except CorpusError as error:
        raise InputError(error.where, error.problem) from error
    n_other_bytes = len(head) - len(head.decode("utf-8", "ignore").encode())
    if b"\0" in head or n_other_bytes > 3:  # the last character may be cut
        raise InputError(where, "neither JSON lines, text nor WARC; " + CURE)
    return "text"


def refuse_foreign(head: bytes, where: str) -> None:
    """Raise an InputError for an input that begins as a format which is not read."""
    for foreign in FOREIGN:
        if foreign.start and foreign.start.match(head):
            raise InputError(where, f"{foreign.title} is not read; {foreign.cure}")


def refuse_misnamed(file: CorpusFile, head: bytes) -> None:
    """Raise a CorpusError where a file begins as one of another format than its own."""
    try:
        refuse_foreign(head, file.path)
    except InputError as error:
        raise CorpusError(error.where, error.problem) from error
    own = BY_NAME[file.format].start
    for each in FORMATS:
        is_other = each.name != file.format and each.start and each.start.match(head)
        may_be_text = own is None and each.name == "jsonl"  # braces may begin any text
        if is_other and not may_be_text and not (own and own.match(head)):
            problem = f"it is {each.title}, not {BY_NAME[file.format].title}"
            raise CorpusError(
                file.path, f"{problem}; give it with " + OptionUse("input_format", each.name)
            )

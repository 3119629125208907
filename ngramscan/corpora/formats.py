"""The list of the formats of corpora, and of those that another tool has to convert."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ngramscan.corpora.arrow import ARROW
from ngramscan.corpora.base import CorpusFile, Format
from ngramscan.corpora.encodings import refuse_encoding
from ngramscan.corpora.jsonl import JSONL
from ngramscan.corpora.parquet import PARQUET
from ngramscan.corpora.tables import CSV, TSV
from ngramscan.corpora.text import PYTHON, TEXT
from ngramscan.corpora.warc import WARC
from ngramscan.errors import CorpusError, InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.reading.compressions import packed_suffix
from ngramscan.reading.streams import unpacked_path

FORMATS = (JSONL, TEXT, WARC, PARQUET, ARROW, CSV, TSV, PYTHON)
BY_NAME = {form.name: form for form in FORMATS}
_BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
_NAMES = [form.name for form in FORMATS if form.suffixes]
CURE = OptionUse("input_format") + f" says it: {', '.join(_NAMES[:-1])} or {_NAMES[-1]}"


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
    """Return the format that the name of a file says; None if it names none that can be read."""
    stem, *ends = path.rpartition("/")[2].split(".")
    # Thousands of files have few suffixes. The last two count: a format, then a compression.
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
    for form in FORMATS:
        if form.start and form.start.match(head):
            return form.name
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
    expected = BY_NAME[file.format]
    if expected.start and expected.start.match(head):
        return
    for other in FORMATS:
        may_be_text = expected.start is None and other is JSONL  # braces may begin any text
        if other.start and other.start.match(head) and not may_be_text:
            problem = f"it is {other.title}, not {expected.title}"
            cure = OptionUse("input_format", other.name)
            raise CorpusError(file.path, f"{problem}; give it with " + cure)

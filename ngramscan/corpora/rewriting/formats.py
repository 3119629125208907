"""The formats whose files can be written without some records, and how each is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from ngramscan.corpora.base import CorpusFile, Format, ReadOptions
from ngramscan.corpora.formats import BY_NAME
from ngramscan.corpora.rewriting.json_lines import rewrite_jsonl
from ngramscan.corpora.rewriting.parquet_files import check_parquet, rewrite_parquet
from ngramscan.corpora.rewriting.removals import Removals, cut, refuse_left_over
from ngramscan.corpora.rewriting.tables import rewrite_table
from ngramscan.corpora.rewriting.warc_files import rewrite_warc
from ngramscan.corpora.streams import open_file, read_chunks
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.compressions import HEAD_BYTES, compression_of
from ngramscan.reading.streams import Chunks

ReportBytes = Callable[[int], None]
"""Takes note of bytes of a corpus that were read."""


@dataclass(frozen=True)
class Rewriter:
    """How files of one format are written without some records or passages."""

    write: Callable[[CorpusFile, BinaryIO, Removals, ReadOptions, ReportBytes], None]
    check: Callable[[CorpusFile, ReadOptions], None] = lambda _file, _read: None
    """Raises an InputError for a file of the format that can't be written again as it is."""
    has_one_document: bool = False
    """A file leaves with its document."""
    can_cut: bool = True
    """Passages can be removed from a text."""


def rewrite_text(
    file: CorpusFile, chunks: Chunks, removals: Removals, _read: ReadOptions
) -> Chunks:
    """Yield a text file without some passages."""
    refuse_left_over(removals, 1, file.path, "document")
    content, total = bytearray(), 0
    for chunk, consumed in chunks:
        content += chunk
        total += consumed
    ranges = removals[1].ranges
    assert ranges is not None
    yield cut(content.decode(), ranges, file.path).encode(), total


_Change = Callable[[CorpusFile, Chunks, Removals, ReadOptions], Chunks]


def _write_packed(
    file: CorpusFile,
    output: BinaryIO,
    removals: Removals,
    read_options: ReadOptions,
    report: ReportBytes,
    *,
    change: _Change,
    has_members: bool = False,
) -> None:
    """Write what a change makes of the content of a file, with the compression of the file.

    Each chunk is compressed as a member of its own, if the format `has_members`.
    """
    with open_file(file) as opened:
        compression = compression_of(file.path, opened.read(HEAD_BYTES))
    packer = compression.new_packer() if compression else None
    for chunk, consumed in change(file, _contents(file), removals, read_options):
        if packer is None or compression is None:
            output.write(chunk)
        elif not has_members:
            output.write(packer.compress(chunk))
        elif chunk:
            member = compression.new_packer()
            output.write(member.compress(chunk) + member.flush())
        report(consumed)
    if packer and not has_members:
        output.write(packer.flush())


def _contents(file: CorpusFile) -> Iterator[tuple[bytes, int]]:
    """Yield the decompressed content; bytes after compressed data leave."""
    return read_chunks(file, Counter())


REWRITERS: dict[Format, Rewriter] = {
    "jsonl": Rewriter(partial(_write_packed, change=rewrite_jsonl)),
    "csv": Rewriter(partial(_write_packed, change=partial(rewrite_table, delimiter=","))),
    "tsv": Rewriter(partial(_write_packed, change=partial(rewrite_table, delimiter="\t"))),
    "text": Rewriter(partial(_write_packed, change=rewrite_text), has_one_document=True),
    "warc": Rewriter(
        partial(_write_packed, change=rewrite_warc, has_members=True),
        can_cut=False,  # a record has its length, and may have digests
    ),
    "parquet": Rewriter(rewrite_parquet, check=check_parquet),
}
CURES: dict[Format, str] = {
    "arrow": "write it as Parquet first: datasets.load_from_disk(FOLDER).to_parquet(FILE)",
    "python": "give the files as a corpus of text",
}
"""The ways out for files of the other formats."""


def refuse_streams(files: Iterable[CorpusFile]) -> None:
    """Raise an InputError for a pipe, which has been read once it is searched."""
    stream = next((file for file in files if file.stream is not None), None)
    if stream is not None:
        raise InputError(stream.path, "a pipe can't be read again to copy it; give the files")


def rewriter_of(file: CorpusFile) -> Rewriter:
    """Return how a file is written; an InputError says that its format can't be."""
    refuse_streams([file])
    if file.format in REWRITERS:
        return REWRITERS[file.format]
    title = BY_NAME[file.format].title
    problem = f"{title} can't be written without some documents; {CURES[file.format]}, or "
    raise InputError(file.path, problem + OptionUse("exclude_source") + " leaves it out")

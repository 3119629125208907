"""A corpus → an index over tokens, byte for byte as infini-gram's builder makes it in one shard.

Documents are read and tokenized once. Sorting is in memory, so the index has one shard; a larger
corpus is for infini-gram's own builder, which sorts on disk.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
import pydivsufsort
from numpy.typing import NDArray

from ngramscan.corpora import Corpus, Piece, ReadOptions, describe_skipped, relative_names
from ngramscan.errors import InputError, as_input_error
from ngramscan.index_files.documents import IndexedDocument, read_documents
from ngramscan.index_files.formats import token_files
from ngramscan.index_files.places import publish
from ngramscan.index_files.sole_builder import locked_folder, new_folder
from ngramscan.index_files.sorting import memory_for
from ngramscan.index_files.tokens.layout import pointer_bytes_for
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import Tokenizer
from ngramscan.messages import counted
from ngramscan.processes.pool import usable_memory
from ngramscan.progress import Progress, format_bytes
from ngramscan.remote.stores import is_remote

BuiltVersion = Literal["4", "6"]
"""Versions of the format that can be built."""
_CHUNK = 1 << 22
_SUFFIXES: dict[BuiltVersion, str] = {"4": ".0", "6": ""}
"""Follow the names of the files of the only shard, which differ in nothing else."""
_OF_DOCUMENTS = ("tokenized", "offset", "metadata", "metaoff")
"""Files that hold the documents."""
_FILES = (*_OF_DOCUMENTS, "table", "unigram")
_NOT_EMPTY = "the folder is not empty; expected a new one"


class _ShardFiles(NamedTuple):
    """The files of the only shard."""

    folder: Path
    suffix: str
    """Follows the names of its files."""

    def path(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.folder / f"{name}{self.suffix}"


@dataclass(frozen=True, slots=True)
class TokenBuildRow:
    """One shard of an index over tokens."""

    shard: int
    documents: int
    tokens: int
    """Tokens of the documents, without separators."""
    index_bytes: int
    bytes_per_token: float | None
    """Bytes of the index per token; None if the documents are empty."""
    seconds: float | None
    """Seconds of reading, tokenizing, sorting and writing; None if it already existed."""


def width_for(tokenizer: Tokenizer) -> int:
    """Return the bytes of each token; the largest number of this width separates documents."""
    return next(width for width in (1, 2, 4) if tokenizer.vocabulary < 1 << 8 * width)


def build_token_index(
    corpus: Corpus,
    directory: str | Path,
    tokenizer: Tokenizer,
    read_options: ReadOptions,
    progress: Progress,
    version: BuiltVersion = "4",
) -> list[TokenBuildRow]:
    """Build the index of a corpus in a new or empty folder, which appears when it is complete.

    In version 6, its files have no number, as the folder is that of its only shard. A CorpusError
    names a document that can't be read. An InputError says that there is no document, that the
    folder can't be written or isn't empty, or that memory is short. Leftovers of a killed build of
    this folder are removed. If the folder already has the index of the same documents, there is
    only a notice.
    """
    started_at, folder = perf_counter(), _free_folder(directory, version)
    is_built = folder.is_dir() and any(folder.iterdir())
    for notice in corpus.notices:
        progress.notice(notice)
    width = width_for(tokenizer)
    with locked_folder(folder) as work, as_input_error(folder):
        built, existing = (_ShardFiles(each, _SUFFIXES[version]) for each in (work, folder))
        documents = _write_documents(
            built, _documents(corpus, read_options, progress), tokenizer, width
        )
        if not documents:
            raise InputError(corpus.name, "contains no documents")
        text_bytes = built.path("tokenized").stat().st_size
        if is_built:
            _refuse_other_index(built, existing, str(directory))
            progress.notice(f"{directory}: already built from these documents, with these tokens")
            return [_row(folder, documents, text_bytes // width, None)]
        progress.note(f"sorting {text_bytes // width:,} tokens")
        with _enough_memory(folder, text_bytes, width):
            tokenized = np.fromfile(built.path("tokenized"), np.uint8)
            _write_unigrams(built.path("unigram"), tokenized.view(f"<u{width}"), documents)
            sort_table(tokenized, width).tofile(built.path("table"))
        progress.note("")
        publish(work, str(folder), sorted(path.name for path in work.iterdir()))
    seconds = round(perf_counter() - started_at, 3)
    return [_row(folder, documents, text_bytes // width, seconds)]


def _row(folder: Path, documents: int, length: int, seconds: float | None) -> TokenBuildRow:
    """Return the row of an index; its length is in tokens, with separators."""
    tokens, index_bytes = length - documents, sum(size for _, size in token_files(folder))
    per_token = round(index_bytes / tokens, 3) if tokens else None
    return TokenBuildRow(0, documents, tokens, index_bytes, per_token, seconds)


def sort_table(tokenized: bytes | NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Return the bytes of the table, given those of the tokens.

    They are the positions of all tokens, sorted by suffix, compared by bytes; a shorter suffix
    comes before those that begin with it.
    """
    text = np.frombuffer(tokenized, np.uint8)
    # The library requires a writable array, but doesn't write to it.
    suffixes = pydivsufsort.divsufsort(text if text.flags.writeable else text.copy())
    table = np.empty((len(text) // width, pointer_bytes_for(len(text))), np.uint8)
    done = 0
    for start in range(0, len(suffixes), _CHUNK):
        part = suffixes[start : start + _CHUNK]
        aligned = part[part % width == 0].astype("<u8")
        rows = aligned.view(np.uint8).reshape(-1, 8)
        table[done : done + len(rows)] = rows[:, : table.shape[1]]
        done += len(rows)
    return table.reshape(-1)


def memory_to_sort(text_bytes: int, width: int) -> int:
    """Return the bytes of memory that `sort_table` takes, including the tokens."""
    return memory_for(text_bytes) + text_bytes // width * pointer_bytes_for(text_bytes)


def _free_folder(directory: str | Path, version: BuiltVersion) -> Path:
    """Return the folder for an index; an InputError says why it can't be used."""
    if is_remote(str(directory)):
        raise InputError(str(directory), "expected a folder of this machine")
    folder = Path(os.path.realpath(directory))
    if new_folder(folder, str(directory)):
        return folder
    names = {path.name for path in folder.iterdir()}
    for other_version, suffix in _SUFFIXES.items():
        if other_version != version and names and names <= {name + suffix for name in _FILES}:
            problem = f"the folder has an index in version {other_version} of the format"
            raise InputError(str(directory), f"{problem}; give a new folder, or delete this one")
    if not names <= {name + _SUFFIXES[version] for name in _FILES}:
        raise InputError(str(directory), _NOT_EMPTY)
    return folder


def _refuse_other_index(built: _ShardFiles, existing: _ShardFiles, directory: str) -> None:
    """Raise an InputError unless an index has exactly these documents, and all of its files.

    The order of the suffixes and the counts of the tokens follow from the documents.
    """
    if any(not _is_same_file(built.path(name), existing.path(name)) for name in _OF_DOCUMENTS):
        problem = "the folder has an index of other documents, or with other tokens"
        raise InputError(directory, f"{problem}; give a new folder, or delete this one")
    open_token_folder(existing.folder)
    if not (unigram := existing.path("unigram")).is_file():
        problem = f"the index there lacks {unigram.name}; delete it and build it again"
        raise InputError(directory, problem)


def _is_same_file(first: Path, second: Path) -> bool:
    return second.is_file() and cmp(first, second, shallow=False)


def _documents(
    corpus: Corpus, read_options: ReadOptions, progress: Progress
) -> Iterator[IndexedDocument]:
    """Yield all documents of a corpus."""
    skipped = Counter[str]()
    progress.expect(sum(file.size or 0 for file in corpus.files), "bytes read")
    for file, name in zip(corpus.files, relative_names(corpus), strict=True):
        for documents, batch in read_documents(Piece(file, size=file.size), name, 0, read_options):
            yield from documents
            skipped.update(batch.skipped)
            progress.advance(batch.consumed, "bytes read")
    if skipped:
        progress.notice(f"{corpus.name}: {describe_skipped(skipped)}")


def _write_documents(
    built: _ShardFiles, documents: Iterable[IndexedDocument], tokenizer: Tokenizer, width: int
) -> int:
    """Write tokens, metadata and the offsets of both; return the number of documents."""
    offsets, meta_offsets = array("Q"), array("Q")
    at = meta_at = 0
    separator = b"\xff" * width
    paths = built.path("tokenized"), built.path("metadata")
    with paths[0].open("wb") as tokens, paths[1].open("wb") as metadata:
        for _, text, line in documents:
            offsets.append(at)
            meta_offsets.append(meta_at)
            content: bytes | memoryview = text  # an index of bytes holds the text itself
            if width > 1:
                content = np.array(
                    tokenizer.of_document(str(text, "utf-8")), f"<u{width}"
                ).tobytes()
            at += tokens.write(separator) + tokens.write(content)
            meta_at += metadata.write(line)
    built.path("offset").write_bytes(offsets)
    built.path("metaoff").write_bytes(meta_offsets)
    return len(offsets)


def _write_unigrams(path: Path, tokens: NDArray[Any], documents: int) -> None:
    """Write the count of each token, the separator of documents last."""
    separator = np.iinfo(tokens.dtype).max
    counts = np.zeros(0, np.int64)
    for start in range(0, len(tokens), _CHUNK):
        part = tokens[start : start + _CHUNK]
        longer = np.bincount(part[part != separator], minlength=len(counts))
        longer[: len(counts)] += counts
        counts = longer
    lines = [f"{token} {counts[token]}\n" for token in np.flatnonzero(counts)]
    path.write_text("".join([*lines, f"{separator} {documents}\n"]))


@contextmanager
def _enough_memory(folder: Path, text_bytes: int, width: int) -> Iterator[None]:
    """Raise an InputError if sorting takes more memory than there is."""
    needed, available = memory_to_sort(text_bytes, width), usable_memory()
    problem = f"not enough memory: sorting {counted(text_bytes // width, 'token')} takes"
    problem += f" {format_bytes(needed)}"
    if available is not None and needed > available:
        raise InputError(str(folder), f"{problem}, and {format_bytes(available)} are available")
    try:
        yield
    except MemoryError as error:
        raise InputError(str(folder), problem) from error

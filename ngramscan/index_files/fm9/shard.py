"""One shard of a plan → its published files, complete and with a manifest."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.corpora import Piece, ReadOptions, has_changed
from ngramscan.errors import CorpusError, InputError, as_input_error
from ngramscan.index_files import places
from ngramscan.index_files.documents import IndexedDocument, SourceFile, read_documents
from ngramscan.index_files.fm9.layout import END, SEPARATOR
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    SHARD_FILES,
    ShardEntry,
    describe_shard,
    to_manifest,
)
from ngramscan.index_files.fm9.plan import ShardPlan
from ngramscan.index_files.fm9.writer import write_fm9
from ngramscan.index_files.sole_builder import working_folder
from ngramscan.index_files.sorting import memory_for
from ngramscan.messages import OptionUse
from ngramscan.processes.pool import Report
from ngramscan.progress import format_bytes

_BUFFER_BYTES = 1 << 20
_CHANGED = "has changed since the build began; delete the folder of the index and build it again"


class ShardTask(NamedTuple):
    """A shard to build: all that a process of a cluster needs to know."""

    place: str
    """The folder or URL of the index."""
    shard: ShardPlan
    files: Sequence[SourceFile]
    """The files of its documents."""
    read_options: ReadOptions
    built_from: str = ""
    """The digest of the plan, if this shard is the whole index."""


def build_shard(task: ShardTask, report: Report) -> tuple[ShardEntry, Mapping[str, float]]:
    """Build a shard and publish it, in a worker process; `report` gets bytes of its texts.

    Returns its entry, and the seconds of each step. A CorpusError says that the corpus is not the
    one that was planned, an InputError that the shard can't be written, or that memory is short.
    """
    shard = task.shard
    with working_folder(task.place, shard.folder) as work:
        started_at = perf_counter()
        with _enough_memory(work / "data.fm9", shard.sizes["data"]), as_input_error(work):
            text = _gather(task, work)
        seconds = {"read": perf_counter() - started_at}
        for name, size in shard.sizes.items():
            path = work / f"{name}.fm9"
            with _enough_memory(path, size), as_input_error(path):
                steps = write_fm9(text, path, report)
                if name == "data":
                    text = np.fromfile(work / "meta.text", np.uint8)
            seconds |= {step: seconds.get(step, 0) + spent for step, spent in steps.items()}
        with as_input_error(work):
            (work / "meta.text").unlink()
            entry = describe_shard(work, shard.documents, shard.bytes)
            (work / MANIFEST).write_bytes(to_manifest([entry], task.built_from))
        places.publish(work, places.join(task.place, shard.folder), SHARD_FILES)
    return entry, seconds


@contextmanager
def _enough_memory(path: Path, size: int) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        needed = f"{format_bytes(memory_for(size))} for {format_bytes(size)} of text"
        size_option, workers = OptionUse("shard_size"), OptionUse("workers")
        cure = "a smaller " + size_option + " or fewer " + workers + " need less"
        raise InputError(str(path), f"not enough memory: {needed}; " + cure) from error


def _gather(task: ShardTask, work: Path) -> NDArray[np.uint8]:
    """Return the text of a shard; write its metadata, and the offsets of both."""
    sizes = task.shard.sizes
    text = np.empty(sizes["data"], np.uint8)
    view = text.data
    at = meta_at = 0
    offsets, meta_offsets = array("Q"), array("Q")
    with (work / "meta.text").open("wb", _BUFFER_BYTES) as metadata:
        for document in _documents(task):
            end = at + 1 + len(document.text)
            if end >= len(text):
                break
            offsets.append(at)
            meta_offsets.append(meta_at)
            view[at] = SEPARATOR
            view[at + 1 : end] = memoryview(document.text).cast("B")
            metadata.write(document.metadata)
            at, meta_at = end, meta_at + len(document.metadata)
        view[at] = END
        metadata.write(bytes([END]))
    (work / "data_offset").write_bytes(offsets)
    (work / "meta_offset").write_bytes(meta_offsets)
    if (at + 1, meta_at + 1) != tuple(sizes.values()):
        raise CorpusError(task.files[0].file.path, f"or a file after it {_CHANGED}")
    return text


def _documents(task: ShardTask) -> Iterator[IndexedDocument]:
    """Yield as many documents as were planned, from the place where they begin."""
    shard, documents_left = task.shard, task.shard.documents
    start, lines, record = shard.start, shard.lines, shard.record
    for file, name in task.files:
        if has_changed(file):
            raise CorpusError(file.path, _CHANGED)
        stop = file.size if start and file.format == "jsonl" else None
        piece = Piece(file, start, stop)
        for documents, _ in read_documents(piece, name, lines, task.read_options):
            planned = [document for document in documents if document.record >= record][
                :documents_left
            ]
            yield from planned
            documents_left -= len(planned)
            if not documents_left:
                break
        if has_changed(file):
            raise CorpusError(file.path, _CHANGED)
        if not documents_left:
            return
        start, lines, record = 0, 0, 1

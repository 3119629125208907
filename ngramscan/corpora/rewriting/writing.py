"""A copy of the files of a corpus, without some of their records or passages."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ngramscan.corpora import Corpus, relative_names
from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.files import identified, matches_glob, refuse_changed
from ngramscan.corpora.formats import BY_NAME
from ngramscan.corpora.rewriting.clean_folder import CleanFolder, open_clean_folder
from ngramscan.corpora.rewriting.formats import (
    ReportBytes,
    Rewriter,
    refuse_streams,
    rewriter_of,
)
from ngramscan.corpora.rewriting.removals import Removals
from ngramscan.corpora.streams import open_file
from ngramscan.errors import CorpusError, InputError, reason_of
from ngramscan.remote.stores import is_remote

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file of a corpus, and its copy."""

    file: CorpusFile
    name: str
    """The path of the copy, relative to the folder."""
    change: Literal["copied", "rewritten", "left out"]
    size: int | None
    """Bytes of the copy; None: there is no copy."""


def write_without(
    corpus: Corpus,
    folder: Path,
    removals: Mapping[str, Removals],
    read_options: ReadOptions,
    report: ReportBytes = lambda _: None,
) -> list[WrittenFile]:
    """Write a copy of a corpus without some records or passages of texts.

    Files without removals are copied byte for byte, with their times and rights. In others, all
    records that stay are as they were, in the same format and compression. A run that was killed
    resumes with its next file, and the copy is the same as that of a run without a stop: nothing
    in a file depends on when it was written.

    Parameters
    ----------
    corpus : Corpus
        As it was opened before it was searched. Copied are its files, with documents that were not
        searched because of their source or as they have no text.
    folder : Path
        A new or empty folder, or one with an unfinished or finished run of the same job.
    removals : mapping of str to Removals
        By the `path` of the file, then by the number of the record in the whole file.
    read_options : ReadOptions
        How the corpus was read.
    report : callable
        It is called with the bytes of the corpus that were read, or that needn't be read again.

    Returns
    -------
    list of WrittenFile
        In the order of the corpus.

    Raises
    ------
    InputError
        The folder can't be used, or a format can't be written; nothing was written.
    CorpusError
        A file has changed since the corpus was opened, or has no such record. Files that were
        finished before stay, and their folder can be given again.
    """
    names = [os.path.normpath(name) for name in relative_names(corpus)]
    planned = {path: records for path, records in removals.items() if records}
    _refuse_unknown_files(planned, corpus)
    _refuse_names(corpus, names)
    refuse_streams(corpus.files)
    refuse_overlap(corpus, folder)
    for file in corpus.files:
        if file.path in planned:
            cuts = any(removal.ranges for removal in planned[file.path].values())
            refuse_unwritable([file], read_options, cuts=cuts)
    tasks = [
        _Task(file, name, planned.get(file.path, {}), read_options)
        for file, name in zip(identified(corpus.files), names, strict=True)
    ]
    written_names = {task.name for task in tasks if not task.is_left_out}
    with open_clean_folder(folder, _digest(tasks), written_names) as target:
        return [_write(task, target, report) for task in tasks]


def refuse_unwritable(
    files: Iterable[CorpusFile], read_options: ReadOptions, cuts: bool = False
) -> None:
    """Raise an InputError for the first file that can't be copied without some records.

    If passages are cut, the error may also be about these. Only the schemas of Parquet are read.
    """
    for file in files:
        rewriter = rewriter_of(file)
        if cuts and not rewriter.can_cut:
            title = BY_NAME[file.format].title
            problem = f"passages of {title} can't be cut, as a record says its length and digest"
            raise InputError(file.path, f"{problem}; remove whole documents")
        rewriter.check(file, read_options)


def refuse_overlap(corpus: Corpus, folder: Path) -> None:
    """Raise an InputError if a folder has files of a corpus, or would be read as a part of it."""
    place = os.path.realpath(folder)
    for path in _places_of(corpus.files):
        if Path(os.path.realpath(path)).is_relative_to(place):
            raise InputError(folder, f"the corpus is in it ({path}); name another folder")
    location = Path(corpus.location).expanduser()
    is_folder = bool(corpus.location) and location.is_dir()
    if is_folder and Path(place).is_relative_to(os.path.realpath(location)):
        problem = f"it is in the corpus ({corpus.location}), which would then have both"
        raise InputError(folder, f"{problem}; name a folder elsewhere")
    if not is_folder and glob.has_magic(corpus.location):
        names = relative_names(corpus)
        if any(matches_glob(corpus.location, folder / name) for name in names):
            problem = f"the corpus ({corpus.location}) would also have the files in it"
            raise InputError(folder, f"{problem}; name a folder elsewhere")


def _places_of(files: Iterable[CorpusFile]) -> Iterable[str]:
    """Return the folders of local files, and the files that are links."""
    paths = [file.path for file in files if not is_remote(file.path)]
    links = filter(os.path.islink, paths)
    return dict.fromkeys([os.path.dirname(path) for path in paths] + [*links])


def _refuse_unknown_files(removals: Mapping[str, Removals], corpus: Corpus) -> None:
    unknown = removals.keys() - {file.path for file in corpus.files}
    if unknown:
        raise InputError(min(unknown), "not a file of the corpus, so nothing can be removed of it")


def _refuse_names(corpus: Corpus, names: Sequence[str]) -> None:
    """Raise an InputError if two files would have one name, or a name leads out of the folder."""
    file_of: dict[str, CorpusFile] = {}
    for file, name in zip(corpus.files, names, strict=True):
        if ".." in name.split("/"):
            problem = "its path leads up, so that its place in a copy is not clear"
            raise InputError(file.path, f"{problem}; name it without `..`")
        other = file_of.setdefault(name, file)
        if other is not file:
            raise InputError(file.path, f"its copy would be that of {other.path}: {name}")


@dataclass(frozen=True, slots=True)
class _Task:
    """One file to be written."""

    file: CorpusFile
    name: str
    removals: Removals
    read_options: ReadOptions

    @property
    def rewriter(self) -> Rewriter | None:
        """Return how the file is changed; None: it is copied."""
        return rewriter_of(self.file) if self.removals else None

    @property
    def is_left_out(self) -> bool:
        """Tell whether the file has one document, which is removed."""
        has_one_document = self.rewriter is not None and self.rewriter.has_one_document
        return has_one_document and 1 in self.removals and self.removals[1].ranges is None

    @property
    def change(self) -> Literal["copied", "rewritten", "left out"]:
        """Return what becomes of the file."""
        if self.is_left_out:
            return "left out"
        return "rewritten" if self.removals else "copied"


def _digest(tasks: Sequence[_Task]) -> str:
    """Return what identifies a job: the files as they are, what is removed, how they are read."""
    digest = hashlib.sha256()
    for task in tasks:
        file = task.file
        removals = [(number, removal.ranges) for number, removal in sorted(task.removals.items())]
        marks = (task.name, file.path, file.format, file.size, file.stamp)
        digest.update(json.dumps([marks, removals, task.read_options.content]).encode() + b"\n")
    return digest.hexdigest()


def _write(task: _Task, target: CleanFolder, report: ReportBytes) -> WrittenFile:
    file = task.file
    refuse_changed(file)
    if task.is_left_out:
        report(file.size or 0)
        return WrittenFile(file, task.name, task.change, None)
    size = target.finished_size(task.name)
    if size is None:
        with target.new_file(task.name) as part:
            _fill(task, part, report)
            refuse_changed(file)
            size = part.stat().st_size
        target.finish(task.name, size)
    else:
        report(file.size or 0)
    return WrittenFile(file, task.name, task.change, size)


def _fill(task: _Task, part: Path, report: ReportBytes) -> None:
    """Write the content of a copy."""
    file = task.file
    with part.open("wb") as output:
        if task.rewriter is None:
            for block in _raw_blocks(file):
                output.write(block)
                report(len(block))
        else:
            task.rewriter.write(file, output, task.removals, task.read_options, report)
    if not is_remote(file.path):
        (shutil.copymode if task.removals else shutil.copystat)(file.path, part)


def _raw_blocks(file: CorpusFile) -> Iterator[bytes]:
    """Yield the bytes of a file as they are on disk."""
    size = 0
    with open_file(file) as source:
        try:
            while block := source.read(_BLOCK_BYTES):
                size += len(block)
                yield block
        except OSError as error:
            raise CorpusError(file.path, f"can't be read ({reason_of(error)})") from error
    if file.size is not None and size != file.size:
        problem = f"the file is truncated or changed: {size} of {file.size} bytes came"
        raise CorpusError(file.path, problem)

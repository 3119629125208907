"""Checks an index over tokens: its offsets, the order of its tables, its metadata.

This format has no manifest. But the table follows from the text, so each pointer can be checked
against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.findings import FileProblem, Finding, is_object
from ngramscan.index_files.mapped import unchanged
from ngramscan.index_files.tokens import kernels
from ngramscan.index_files.tokens.shard import TokenShard, open_token_folder
from ngramscan.progress import Progress

CHECKED = "pointers checked"
_SAMPLED_POINTERS = 20_000
_SAMPLED_LINES = 1_000
_AT_ONCE = 1 << 20
_COMPARED = 1_000
"""Compared length of suffixes, in tokens: twice the longest query of the service."""
_PROBLEMS = {
    kernels.OUTSIDE: "the pointer leads to no token",
    kernels.REPEATED: "its position is in the table twice",
    kernels.UNORDERED: "its text comes before that of the rank before",
}


def verify_tokens(directory: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return the first problem of each kind in each shard of an index; empty if it is sound.

    All offsets are checked, and a sample of the pointers and of the lines about documents, the same
    in each run. A deep check takes all of them, and a bit of memory for each token: after it, the
    counts of n-grams of up to 1,000 tokens are right for the text of the index. An InputError says
    that there is no index.
    """
    try:
        folder = open_token_folder(directory)
    except IndexFormatError as error:
        return [Finding(str(directory), Path(str(error.where)).name, "file", str(error.problem))]
    findings = []
    for shard in folder.shards:
        progress.expect(shard.tokens if deep else min(shard.tokens, _SAMPLED_POINTERS), CHECKED)
    for shard in folder.shards:
        for problem in _problems(shard, deep, progress):
            findings.append(Finding(f"{directory}, shard {shard.number}", *problem))
    return findings


def _problems(shard: TokenShard, deep: bool, progress: Progress) -> Iterator[FileProblem]:
    """Yield the first problem of each file."""
    checks: list[Callable[[], FileProblem | None]] = [
        partial(_check_offsets, shard),
        partial(_check_separators, shard, deep),
        partial(_check_table, shard, deep, progress),
        partial(_check_metadata, shard, deep),
    ]
    for check in checks:
        try:
            with unchanged(shard.files):
                problem = check() if shard.tokens else None
        except IndexFormatError as error:
            problem = Path(str(error.where)).name, "file", str(error.problem)
        if problem:
            yield problem


def _check_offsets(shard: TokenShard) -> FileProblem | None:
    """Check that all entries ascend, each to a separator."""
    entries, words, width = shard.offsets.numbers(), shard.words, np.uint64(shard.width)
    name, before = shard.offsets.path.name, -1
    for start in range(0, shard.documents, _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        invalid = np.flatnonzero((part >= np.uint64(shard.text.size)) | (part % width != 0))
        if invalid.size:
            return name, f"entry {start + invalid[0]}", "leads to no token"
        positions = (part // width).astype(np.int64)
        invalid = np.flatnonzero(words[positions] != shard.separator)
        if invalid.size:
            return name, f"entry {start + invalid[0]}", "leads to no separator"
        invalid = np.flatnonzero(np.diff(positions, prepend=before) <= 0)
        if invalid.size:
            return name, f"entry {start + invalid[0]}", "is not above the one before"
        before = positions[-1]
    return None


def _check_separators(shard: TokenShard, deep: bool) -> FileProblem | None:
    """Check that there are as many separators as documents; unless deep, by the table."""
    if deep:
        parts = range(0, shard.tokens, _AT_ONCE)
        words, separator = shard.words, shard.separator
        total = sum(int((words[at : at + _AT_ONCE] == separator).sum()) for at in parts)
        file = shard.text
    else:
        segments = np.zeros((1, 2), np.int64)
        ends = np.array([shard.width], np.int64)
        shard.find(np.full(shard.width, 0xFF, np.uint8), ends, segments)
        total, file = int(segments[0, 1] - segments[0, 0]), shard.table
    if total == shard.documents:
        return None
    expected = f"{shard.offsets.path.name} has {shard.documents:,} documents"
    return file.path.name, "separators", f"{total:,} separators, but {expected}"


def _check_table(shard: TokenShard, deep: bool, progress: Progress) -> FileProblem | None:
    """Check pointers, and whether each suffix comes before the next one."""
    seen_tokens = np.zeros(-(-shard.tokens // 8) if deep else 0, np.uint8)
    for ranks in _all_ranks(shard.tokens) if deep else [_sample(shard.tokens, _SAMPLED_POINTERS)]:
        text, table = shard.text.content, shard.table.content
        most = _COMPARED * shard.width
        rank, kind = kernels.check(text, table, shard.widths, ranks, seen_tokens, most)
        if rank != kernels.SOUND:
            return shard.table.path.name, f"rank {rank}", _PROBLEMS[kind]
        progress.advance(len(ranks), CHECKED)
    return None


def _all_ranks(ranks: int) -> Iterator[Integers]:
    for start in range(0, ranks, _AT_ONCE):
        yield np.arange(start, min(start + _AT_ONCE, ranks), dtype=np.int64)


def _sample(total: int, most: int) -> Integers:
    """Return a fixed sample of the numbers below a total, including the last one."""
    if total <= most:
        return np.arange(total, dtype=np.int64)
    sampled = np.random.default_rng(1).integers(0, total, most - 1)
    return np.unique(np.append(sampled, total - 1))


def _check_metadata(shard: TokenShard, deep: bool) -> FileProblem | None:
    """Check that each document has a line, and that these are JSON objects if the first one is."""
    if shard.metadata is None:
        return None
    lines, offsets = shard.metadata
    content, entries, before = lines.content, offsets.numbers(), -1
    for start in range(0, shard.documents, _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        outside = part >= np.uint64(lines.size)
        steps = np.diff(np.where(outside, 0, part).astype(np.int64), prepend=before)
        invalid = np.flatnonzero(outside | (steps <= 0))
        if invalid.size:
            problem = "is outside the file, or not above the one before"
            return offsets.path.name, f"entry {start + invalid[0]}", problem
        first = 1 if start == 0 else 0  # no line ends before the first one
        invalid = np.flatnonzero(content[part[first:] - np.uint64(1)] != ord("\n"))
        if invalid.size or (start == 0 and part[0] != 0):
            number = start + first + invalid[0] if invalid.size else 0
            return offsets.path.name, f"entry {number}", "is not the beginning of a line"
        before = int(part[-1])
    return _check_lines(shard, deep)


def _check_lines(shard: TokenShard, deep: bool) -> FileProblem | None:
    name, is_json = f"metadata.{shard.number}", shard.line(0).startswith("{")
    documents = shard.documents if deep else _SAMPLED_LINES
    for document in _sample(shard.documents, documents).tolist():
        line = shard.line(document)
        if "\n" in line or (is_json and not is_object(line.encode())):
            return name, f"document {document}", "not one line with a JSON object"
    return None

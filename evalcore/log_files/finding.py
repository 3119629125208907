"""Which files are logs, and of which tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evalcore.log_files.decoding import too_long, unreadable
from ngramscan.errors import InputError

_SUFFIXES = (".eval", ".json", ".jsonl")
_INSPECT_HEAD = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')
_RESULTS_HEAD = re.compile(rb'\s*\{\s*"results"\s*:')
_LIST_HEAD = re.compile(rb"\s*\[\s*\{")
_HEAD_BYTES = 4096
_LM_EVAL_FIELDS = {"doc_id", "filtered_resps"}
_SIMPLE_FIELDS = {"id", "correct"}
_SCORE_FIELDS = {"dataset", "model", "method", "id", "rule"}
"""What tells rows of scores from other files; where the value is missing, their reader says so."""

RESULTS = "results"
"""Not a log by itself: what lm-evaluation-harness says of a run, read with its samples."""


class Found(NamedTuple):
    """A log, and what reads it."""

    path: Path
    kind: str
    """One of inspect, lm-eval, own and simple."""


class Search(NamedTuple):
    """The logs that were found, and what was passed over."""

    logs: list[Found]
    notices: list[str]


_KINDS_BY_LAYOUT = {
    "auto": ("inspect", "lm-eval", "own", "simple"),
    "inspect": ("inspect",),
    "lm-eval": ("lm-eval",),
    "scores": ("own", "simple"),
}

_READABLE_IF_NAMED = ("inspect", "lm-eval")
"""Layouts whose files may begin otherwise, as after being rewritten by hand."""

_EXPECTED = {
    "auto": "a log of Inspect, samples of lm-evaluation-harness, or scores were",
    "inspect": "a log of Inspect was",
    "lm-eval": "samples of lm-evaluation-harness were",
    "scores": "scores were",
}


def find_logs(paths: Iterable[Path], layout: str, most_line_bytes: int) -> Search:
    """Return the logs among files and in folders, each once.

    Parameters
    ----------
    paths : iterable of Path
        A file must be a log; in folders and those in them, logs are looked for.
    layout : str
        One of `base.LAYOUTS`: of which tool.
    most_line_bytes : int
        Of the lines by which files are told apart.

    Raises
    ------
    InputError
        Nothing is there, a file is no log of that tool, or its first line is too long.
    """
    found: dict[Path, Found] = {}
    notices: list[str] = []
    for path in paths:
        if path.is_dir():
            search = _in_folder(path, layout, most_line_bytes)
        else:
            search = Search([_named(path, layout, most_line_bytes)], [])
        notices += search.notices
        for log in search.logs:
            found.setdefault(log.path.resolve(), log)
    return Search(list(found.values()), notices)


def _named(path: Path, layout: str, most: int) -> Found:
    if not path.exists():
        raise InputError(str(path), "no such file or folder")
    kind = recognise(path, most)
    if kind is None and layout in _READABLE_IF_NAMED:
        return Found(path, layout)
    if kind is None or kind not in _KINDS_BY_LAYOUT[layout]:
        raise InputError(str(path), f"{_described(kind)}; {_EXPECTED[layout]} expected")
    return Found(path, kind)


def _described(kind: str | None) -> str:
    if kind == RESULTS:
        return "results of lm-evaluation-harness without the samples, which are in files beside it"
    return "no log that is known" if kind is None else "a file of another layout"


def _in_folder(folder: Path, layout: str, most: int) -> Search:
    kinds = _KINDS_BY_LAYOUT[layout]
    files = sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file())
    known = {file: recognise(file, most) for file in files}
    logs = [Found(file, kind) for file, kind in known.items() if kind in kinds]
    if not logs:
        raise InputError(str(folder), "no logs there")
    others = [file for file, kind in known.items() if kind not in {*kinds, RESULTS}]
    if not others:
        return Search(logs, [])
    shown = ", ".join(str(file.relative_to(folder)) for file in others[:3])
    more = ", …" if len(others) > 3 else ""
    return Search(logs, [f"{folder}: not read, since they are no such logs: {shown}{more}"])


def recognise(path: Path, most: int) -> str | None:
    """Return what reads a file, told from its beginning; None: nothing does."""
    if path.suffix == ".eval":
        return "inspect"
    if path.suffix in {".csv", ".parquet"}:
        return "own"
    try:
        with path.open("rb") as file:
            head = file.readline(most + 2) if path.suffix == ".jsonl" else file.read(_HEAD_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(head.removesuffix(b"\n")) > most:
        raise too_long(f"{path}:1", most)
    return _of_line(head) if path.suffix == ".jsonl" else _of_head(head)


def _of_line(line: bytes) -> str | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    if fields.keys() >= _LM_EVAL_FIELDS:
        return "lm-eval"
    is_simple = fields.keys() >= _SIMPLE_FIELDS
    if fields.keys() >= _SCORE_FIELDS or (is_simple and fields.keys() & _SCORE_FIELDS > {"id"}):
        return "own"
    return "simple" if is_simple else None


def _of_head(head: bytes) -> str | None:
    if _INSPECT_HEAD.match(head):
        return "inspect"
    if _RESULTS_HEAD.match(head):
        return RESULTS
    if _LIST_HEAD.match(head) and all(f'"{name}"'.encode() in head for name in _SCORE_FIELDS):
        return "own"
    return None

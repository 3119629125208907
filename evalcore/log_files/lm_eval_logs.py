"""Logs of lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`.

A document has one row for every filter; a filter, or one of several metrics, is a rule. Rows have
neither errors nor stop reasons nor tokens: an empty reply may be a failed request, and a cut one
looks like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from evalcore.log_files.base import LogFile, LoggedScore, LogOptions, choose_subject
from evalcore.log_files.decoding import convert, decode, read_lines
from evalcore.log_files.failures import describe_failures, find_failure
from evalcore.log_files.lm_eval_runs import Run, read_run
from ngramscan.errors import InputError

NOTHING_EXTRACTED = "[invalid]"
"""What a filter writes where its pattern did not match."""

_NO_FILTER = "none"


class _Document(msgspec.Struct):
    """One row: a document after one filter."""

    doc_id: int | str
    filter: str
    metrics: list[str]
    resps: list[Any]
    filtered_resps: list[Any]
    doc: Any = None


@dataclass(frozen=True, slots=True)
class _Row:
    place: str
    document: _Document
    fields: Mapping[str, Any]
    """All of the line, the values of the metrics among them."""


def read_lm_eval(path: Path, options: LogOptions) -> LogFile:
    """Read the scores of a file of samples of lm-evaluation-harness.

    Parameters
    ----------
    path : Path
        The samples; what the file of results beside it says of the run is read too.
    options : LogOptions
        How it is read.

    Raises
    ------
    InputError
        A line is malformed, documents are missing, or a metric is no number from 0 to 1, or better
        when lower; says where.
    """
    rows = list(_rows(path, options.most_line_bytes))
    if not rows:
        raise InputError(str(path), "no rows in it; one per document and filter was expected")
    run = read_run(path, options.most_line_bytes)
    subject = choose_subject(path, options, run.task, run.model, run.method)
    subject = replace(subject, run=run.time or path.stem)
    documents = _refuse_cut(path, rows)
    has_ids = all(_own_id(row.document) is not None for row in rows)
    scores = [score for row in rows for score in _scores(row, run, options, has_ids)]
    return LogFile(
        path=path,
        rows=[score.row(subject, options.keeps_recorded) for score in scores],
        rules=list(dict.fromkeys(rule for row in rows for _, rule in _metrics(row.document))),
        notices=[
            *_describe_run(path, run, rows, documents, has_ids),
            *describe_failures(str(path), scores, options.keeps_recorded),
        ],
    )


def _rows(path: Path, most: int) -> Iterator[_Row]:
    for place, line in read_lines(path, most):
        fields = decode(place, line)
        yield _Row(place, convert(place, fields, _Document), fields)


def _refuse_cut(path: Path, rows: Sequence[_Row]) -> int:
    """Return the number of documents; all filters have the same ones, or the end is missing."""
    documents: dict[str, set[str]] = {}
    for row in rows:
        documents.setdefault(row.document.filter, set()).add(str(row.document.doc_id))
    most = max(len(ids) for ids in documents.values())
    for name, ids in documents.items():
        if len(ids) < most:
            raise InputError(
                str(path), f"filter {name} has {len(ids)} of {most} documents; the file is cut"
            )
    return most


def _own_id(document: _Document) -> str | None:
    """Return the id that the dataset gives a document."""
    found = document.doc.get("id") if isinstance(document.doc, dict) else None
    return None if isinstance(found, bool) or not isinstance(found, (str, int)) else str(found)


def _metrics(document: _Document) -> Iterator[tuple[str, str]]:
    """Yield each metric of a row, and the name of its rule."""
    for metric in document.metrics:
        if document.filter == _NO_FILTER:
            yield metric, metric
        elif len(document.metrics) == 1:
            yield metric, document.filter
        else:
            yield metric, f"{metric},{document.filter}"


def _scores(row: _Row, run: Run, options: LogOptions, has_ids: bool) -> Iterator[LoggedScore]:
    document = row.document
    answer = _answer(document)
    replies = _scored_replies(document, run)
    extracted = None if answer in replies else answer
    for metric, rule in _metrics(document):
        if not options.wants(rule):
            continue
        value = _value(row, metric, run)
        yield LoggedScore(
            id=(_own_id(document) if has_ids else None) or str(document.doc_id),
            epoch=None,
            rule=rule,
            value=value,
            recorded=f"{metric} {value:g}",
            answer=answer,
            failure=find_failure(None, None, replies, value, extracted),
            was_sought=document.filtered_resps == [NOTHING_EXTRACTED],
        )


def _value(row: _Row, metric: str, run: Run) -> float:
    value = row.fields.get(metric)
    if not isinstance(value, (bool, int, float)) or not 0 <= value <= 1:
        raise InputError(
            f"{row.place}: {metric} {value!r}",
            "a number from 0 to 1 was expected; --rule reads other scores",
        )
    if run.higher_is_better.get(metric) is False:
        raise InputError(
            f"{row.place}: {metric}", "less of it is better; --rule reads other scores"
        )
    return float(value)


def _answer(document: _Document) -> str | None:
    found = document.filtered_resps
    if len(found) != 1 or not isinstance(found[0], str) or found[0] == NOTHING_EXTRACTED:
        return None
    return found[0]


def _scored_replies(document: _Document, run: Run) -> list[str]:
    """Return the replies that a score is of: the first of several, unless the filter uses all.

    Where the model was not asked for text, but for how likely given texts are, there is none.
    """
    replies = document.resps[0] if len(document.resps) == 1 else None
    if not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies):
        return []
    return replies[:1] if run.takes_first(document.filter) else replies


def _describe_run(
    path: Path, run: Run, rows: Sequence[_Row], documents: int, has_ids: bool
) -> Iterator[str]:
    if run.documents is not None and documents < run.documents:
        yield f"{path}: {documents} of {run.documents} documents are in it"
    if not has_ids:
        yield (
            f"{path}: the dataset has no field 'id', so ids are positions; those of two runs are "
            "the same problems only where both read the same documents in the same order"
        )
    repeats = max(len(_all_replies(row.document)) for row in rows)
    if repeats > 1:
        taken = all(run.takes_first(row.document.filter) for row in rows)
        of = "of the first; the others are not scored" if taken else "of all together"
        yield f"{path}: documents have {repeats} replies and one score by each rule, {of}"


def _all_replies(document: _Document) -> list[Any]:
    generated = len(document.resps) == 1 and isinstance(document.resps[0], list)
    return document.resps[0] if generated else []

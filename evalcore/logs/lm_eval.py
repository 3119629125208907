"""Logs of lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`.

A document has one row for every filter; a filter, or one of several metrics, is a rule. Rows have
neither errors nor stop reasons nor tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evalcore.logs.log import Log, decode, find_failure, to_share
from ngramscan.errors import InputError

_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
_NOTHING_EXTRACTED = "[invalid]"
"""What a filter writes where its pattern did not match."""
_OF_ALL = ("majority_vote", "take_first_k")
"""Functions of filters that look at several replies to one document."""


class _Document(msgspec.Struct):
    """One row: a document after one filter."""

    doc_id: int | str
    filter: str
    metrics: list[str]
    resps: list[Any]
    filtered_resps: list[Any]
    doc: Any = None

    @property
    def own_id(self) -> str | None:
        """Return the id that the dataset gives the document."""
        found = self.doc.get("id") if isinstance(self.doc, dict) else None
        return None if isinstance(found, bool) or not isinstance(found, str | int) else str(found)

    @property
    def rules(self) -> list[str]:
        """Return the rule of each metric."""
        if self.filter == "none":
            return self.metrics
        alone = len(self.metrics) == 1
        return [self.filter if alone else f"{metric},{self.filter}" for metric in self.metrics]

    @property
    def replies(self) -> list[Any]:
        """Return all replies; none where the model was asked how likely given texts are."""
        is_reply = len(self.resps) == 1 and isinstance(self.resps[0], list)
        return self.resps[0] if is_reply else []


_Line = tuple[str, _Document, dict[str, Any]]
"""Place, document, and all fields, the values of the metrics among them."""


class _Filter(msgspec.Struct):
    name: str
    filter: list[dict[str, Any]] = []


class _Task(msgspec.Struct):
    metadata: dict[str, Any] | None = None
    filter_list: list[_Filter] | None = None


class _Results(msgspec.Struct):
    """What the file of results says of a run."""

    configs: dict[str, _Task] = {}
    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    numbers: dict[str, dict[str, int | None]] = msgspec.field(
        default_factory=dict, name="n-samples"
    )


def read_lm_eval(log: Log) -> None:
    """Read a file of samples, with what the file of results beside it says."""
    path = log.path
    lines = [
        (place, decode(place, line, _Document), decode(place, line, dict[str, Any]))
        for place, line in log.lines()
    ]
    documents = [document for _, document, _ in lines]
    if not documents:
        raise InputError(str(path), "no rows in it; one per document and filter was expected")
    named = _SAMPLES.fullmatch(path.name)
    task, time = named.groups() if named else ("", None)
    # Runs that were told to write to one file put its name in the place of `results`.
    beside = sorted(path.parent.glob(f"*_{time}.json"))[:1] if time else []
    results = log.read_json(beside[0], _Results) if beside else _Results()
    config = results.configs.get(task, _Task())
    method = (config.metadata or {}).get("method")
    method = None if method is None else str(method)
    log.set_names(time or path.stem, dataset=task, model=results.model_name, method=method)
    n_documents = _count(path, documents)
    has_ids = all(document.own_id is not None for document in documents)
    votes = {
        one.name
        for one in config.filter_list or ()
        if any(step.get("function") in _OF_ALL for step in one.filter)
    }
    for line in lines:
        id_ = line[1].own_id if has_ids else str(line[1].doc_id)
        _add_scores(log, line, id_, votes, results.higher_is_better.get(task, {}))
    planned = results.numbers.get(task, {}).get("effective") or 0
    if n_documents < planned:
        log.tell(f"{n_documents} of {planned} documents are in it")
    if not has_ids:
        log.tell(
            "the dataset has no field 'id', so ids are positions; those of two runs are the same "
            "problems only where both read the same documents in the same order"
        )
    repeats = max(len(document.replies) for document in documents)
    if repeats > 1:
        is_vote = any(document.filter in votes for document in documents)
        of = "of all together" if is_vote else "of the first; the others are not scored"
        log.tell(f"documents have {repeats} replies and one score by each rule, {of}")


def _count(path: Path, documents: Sequence[_Document]) -> int:
    """Return the number of documents; all filters have the same ones, or the end is missing."""
    ids: dict[str, set[str]] = {}
    for document in documents:
        ids.setdefault(document.filter, set()).add(str(document.doc_id))
    most = max(map(len, ids.values()))
    for name, found in ids.items():
        if len(found) < most:
            problem = f"filter {name} has {len(found)} of {most} documents; the file is truncated"
            raise InputError(str(path), problem)
    return most


def _add_scores(
    log: Log, line: _Line, id_: str | None, votes: set[str], goals: Mapping[str, bool | None]
) -> None:
    """Add one row per metric; a score is of the first reply, unless the filter looks at all."""
    place, document, fields = line
    found = document.filtered_resps[0] if len(document.filtered_resps) == 1 else None
    answer = found if isinstance(found, str) and found != _NOTHING_EXTRACTED else None
    replies = document.replies if all(isinstance(one, str) for one in document.replies) else []
    replies = replies if document.filter in votes else replies[:1]
    for metric, rule in zip(document.metrics, document.rules, strict=True):
        log.rules[rule] = True
        if log.options.wants(rule):
            if goals.get(metric) is False:
                problem = "less of it is better; --rule reads other scores"
                raise InputError(f"{place}: {metric}", problem)
            value = to_share(f"{place}: {metric} {fields.get(metric)!r}", fields.get(metric))
            row = {"id": id_, "epoch": None, "rule": rule, "value": value, "answer": answer}
            row["reason"] = f"recorded as {metric} {value:g}"
            failure = find_failure(None, replies, value, None if answer in replies else answer)
            log.add(row, failure, found == _NOTHING_EXTRACTED)

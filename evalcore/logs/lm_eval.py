"""Logs of lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`.

A document has one row for every filter; a filter, or one of several metrics, is a rule. Rows have
neither errors nor stop reasons nor tokens: an empty reply may be a failed request, and a cut one
looks like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evalcore.logs.files import convert, read_json, read_lines
from evalcore.logs.log import Log, LogOptions, find_failure
from ngramscan.errors import InputError

_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
_NOTHING_EXTRACTED = "[invalid]"
"""What a filter writes where its pattern did not match."""


class _Document(msgspec.Struct):
    """One row: a document after one filter. The values of the metrics are fields beside these."""

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


class _Step(msgspec.Struct):
    function: str


class _Filter(msgspec.Struct):
    name: str
    filter: list[_Step] = []


class _Task(msgspec.Struct):
    metadata: dict[str, Any] | None = None
    filter_list: list[_Filter] | None = None


class _Number(msgspec.Struct):
    effective: int


class _Results(msgspec.Struct):
    """What the file of results says of a run."""

    configs: dict[str, _Task] = {}
    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    numbers: dict[str, _Number] = msgspec.field(default_factory=dict, name="n-samples")


def read_lm_eval(path: Path, options: LogOptions) -> Log:
    """Read the scores of a file of samples, with what the file of results beside it says."""
    log, lines = Log(path, options), read_lines(path, options.most)
    rows = [(place, fields, convert(place, fields, _Document)) for place, fields in lines]
    if not rows:
        raise InputError(str(path), "no rows in it; one per document and filter was expected")
    documents = [document for _, _, document in rows]
    named = _SAMPLES.fullmatch(path.name)
    task, time = named.groups() if named else ("", None)
    # Runs that were told to write to one file put its name in the place of `results`.
    beside = sorted(path.parent.glob(f"*_{time}.json"))[:1] if time else []
    known = [convert(str(file), read_json(file, options.most), _Results) for file in beside]
    results = known[0] if known else _Results()
    config = results.configs.get(task, _Task())
    method = (config.metadata or {}).get("method")
    method = None if method is None else str(method)
    log.set_names(time or path.stem, dataset=task, model=results.model_name, method=method)
    log.rules = dict.fromkeys(rule for document in documents for rule in document.rules)
    of_all = {one.name for one in config.filter_list or () if _looks_at_all(one)}
    n_documents = _count(path, documents)
    has_ids = all(document.own_id is not None for document in documents)
    higher_is_better = results.higher_is_better.get(task, {})
    for place, fields, document in rows:
        for metric, rule in zip(document.metrics, document.rules, strict=True):
            if options.wants(rule):
                value = _value(place, metric, fields.get(metric), higher_is_better)
                id_ = (document.own_id if has_ids else None) or str(document.doc_id)
                row = {"id": id_, "epoch": None, "rule": rule, "value": value}
                _add(log, document, row | {"reason": f"recorded as {metric} {value:g}"}, of_all)
    planned = results.numbers.get(task)
    if planned and n_documents < planned.effective:
        log.tell(f"{n_documents} of {planned.effective} documents are in it")
    if not has_ids:
        log.tell(
            "the dataset has no field 'id', so ids are positions; those of two runs are the same "
            "problems only where both read the same documents in the same order"
        )
    repeats = max(len(document.replies) for document in documents)
    if repeats > 1:
        is_vote = any(document.filter in of_all for document in documents)
        of = "of all together" if is_vote else "of the first; the others are not scored"
        log.tell(f"documents have {repeats} replies and one score by each rule, {of}")
    log.tell_failures()
    return log


def _looks_at_all(one: _Filter) -> bool:
    """Tell whether a filter looks at several replies to one document."""
    return any(step.function in {"majority_vote", "take_first_k"} for step in one.filter)


def _count(path: Path, documents: Sequence[_Document]) -> int:
    """Return the number of documents; all filters have the same ones, or the end is missing."""
    ids: dict[str, set[str]] = {}
    for document in documents:
        ids.setdefault(document.filter, set()).add(str(document.doc_id))
    most = max(map(len, ids.values()))
    for name, found in ids.items():
        if len(found) < most:
            problem = f"filter {name} has {len(found)} of {most} documents; the file is cut"
            raise InputError(str(path), problem)
    return most


def _value(
    place: str, metric: str, value: Any, higher_is_better: Mapping[str, bool | None]
) -> float:
    if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
        problem = "a number from 0 to 1 was expected; --rule reads other scores"
        raise InputError(f"{place}: {metric} {value!r}", problem)
    if higher_is_better.get(metric) is False:
        raise InputError(f"{place}: {metric}", "less of it is better; --rule reads other scores")
    return float(value)


def _add(log: Log, document: _Document, row: dict[str, Any], of_all: set[str]) -> None:
    """Add a row of one metric; a score is of the first reply, unless the filter looks at all."""
    found = document.filtered_resps[0] if len(document.filtered_resps) == 1 else None
    answer = found if isinstance(found, str) and found != _NOTHING_EXTRACTED else None
    replies = document.replies if all(isinstance(one, str) for one in document.replies) else []
    replies = replies if document.filter in of_all else replies[:1]
    failure = find_failure(None, replies, row["value"], None if answer in replies else answer)
    log.add(row | {"answer": answer}, failure, found == _NOTHING_EXTRACTED)

"""Samples of lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`.

A document has one row for every filter; a filter, or one of several metrics, is a rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from evalcore.commands.logs.readers import Log, LogFile, Recorded, add_scores, decode, to_number
from evalcore.formats import JsonFields, hash_document
from evalcore.scores import ScoreRow, read_cluster
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.streams import unpacked_path
from ngramscan.reading.yaml_files import as_type

_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")

_ID_FIELDS = ("question_id", "id", "idx")
"""Fields of a dataset that name its documents; the first one with a value for each is taken."""


_NOT_METRICS = {
    "arguments",
    "doc",
    "doc_hash",
    "doc_id",
    "filter",
    "filtered_resps",
    "metrics",
    "place",
    "prompt_hash",
    "resps",
    "target",
    "target_hash",
}
"""Fields of a row other than its scores, for versions that do not list the scores."""


class _LmEvalDocument(msgspec.Struct):
    """A document after one filter; `fields` has all fields, including the values of metrics."""

    doc_id: int | str
    filter: str
    metrics: list[str]
    resps: list[Any]
    filtered_resps: list[Any]
    place: str
    fields: JsonFields

    @property
    def source(self) -> JsonFields:
        """Return the document as the dataset has it."""
        source = self.fields.get("doc")
        return source if isinstance(source, dict) else {}

    @property
    def hash(self) -> str | None:
        """Return the hash of the document, which older versions of the tool do not record."""
        recorded = self.fields.get("doc_hash")
        if isinstance(recorded, str) and recorded:
            return recorded
        if not (document := self.fields.get("doc")):
            return None
        text = json.dumps(document, indent=2, ensure_ascii=False)  # as later versions hash it
        return hash_document(text)

    def rule(self, metric: str) -> str:
        """Return the name of a score, as results have it."""
        if self.filter == "none":
            return metric
        return f"{metric},{self.filter}" if len(self.metrics) > 1 else self.filter

    def replies(self) -> list[str]:
        """Return all replies; none if the model only rated the likelihood of given texts."""
        replies = self.resps[0] if len(self.resps) == 1 and isinstance(self.resps[0], list) else []
        return replies if all(isinstance(reply, str) for reply in replies) else []


class _Filter(msgspec.Struct):
    name: str
    filter: list[JsonFields] = []


class _LmEvalTask(msgspec.Struct):
    metadata: JsonFields | None = None
    filter_list: list[_Filter] | None = None


class _LmEvalResults(msgspec.Struct):
    configs: dict[str, _LmEvalTask] = {}
    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    sizes: dict[str, dict[str, int | None]] = msgspec.field(default_factory=dict, name="n-samples")


def read_lm_eval(file: LogFile) -> Log:
    """Read a file of samples, and the file of results beside it."""
    log, path = Log(), file.path
    rows = [(place, decode(place, line, JsonFields)) for place, line in file.lines()]
    if not rows:
        raise InputError(path, "it is empty; expected one row per document and filter")
    named = _SAMPLES.fullmatch(unpacked_path(path).name)
    task, time = named.groups() if named else ("", None)
    # Runs that were told to write to one file put its name instead of `results`.
    beside = sorted(path.parent.glob(f"*_{time}.json"))[:1] if time else []
    results = file.read_json(beside[0], _LmEvalResults) if beside else _LmEvalResults()
    config, goals = results.configs.get(task, _LmEvalTask()), results.higher_is_better.get(task, {})
    documents = _read_documents(file, rows, [filter_.name for filter_ in config.filter_list or ()])
    run = time or unpacked_path(path).stem
    names = file.names(run, [config.metadata], dataset=task, model=results.model_name)
    of_all = ("majority_vote", "take_first_k")  # functions that look at several replies
    steps = [(chain.name, step) for chain in config.filter_list or () for step in chain.filter]
    votes = {name for name, step in steps if step.get("function") in of_all}
    ids = _ids(log, file, documents, results.sizes.get(task, {}).get("effective") or 0)
    log.rules = {document.rule(metric) for document in documents for metric in document.metrics}
    scores = list[Recorded]()
    for document, id_ in zip(documents, ids, strict=True):
        cluster = read_cluster(f"{document.place}: doc", document.source, file.cluster)
        names |= {"id": id_, "epoch": None, "hash": document.hash, "cluster": cluster}
        scores += _scores(file, document, names, document.filter in votes, goals)
    repeats = max(len(document.replies()) for document in documents)
    if repeats > 1:
        is_vote = any(document.filter in votes for document in documents)
        scored_replies = "of all together" if is_vote else "of the first; the others are not scored"
        log.notices.append(
            f"documents have {repeats} replies but one score per rule: that {scored_replies}"
        )
    add_scores(log, file, scores)
    return log


def _read_documents(
    file: LogFile, rows: Sequence[tuple[str, JsonFields]], filters: Sequence[str]
) -> list[_LmEvalDocument]:
    """Return the rows as documents; older versions name neither filters nor metrics.

    They write all documents after the first filter of the task, then all after the next one.
    """
    uses, documents = Counter[str](), list[_LmEvalDocument]()
    for place, fields in rows:
        document_fields = {**fields, "place": place, "fields": fields}
        if "filter" not in fields:
            doc_id = str(fields.get("doc_id"))
            document_fields["filter"] = str(uses[doc_id])
            uses[doc_id] += 1
        document_fields.setdefault("metrics", _metrics_in(fields))
        document = as_type(document_fields, _LmEvalDocument, place)
        if not document.metrics:
            raise InputError(place, "it has no score; expected a metric such as exact_match")
        documents.append(document)
    if uses:
        _name_filters(file, documents, filters or ["none"])
    return documents


def _metrics_in(fields: JsonFields) -> list[str]:
    """Return the fields of a row that are scores."""
    return [
        name
        for name, value in fields.items()
        if name not in _NOT_METRICS and (value is None or isinstance(value, int | float))
    ]


def _name_filters(
    file: LogFile, documents: Sequence[_LmEvalDocument], filters: Sequence[str]
) -> None:
    """Name the filters of rows, which are numbered so far, as the task has them."""
    numbers = {document.filter for document in documents}
    if len(numbers) == 1 and len(filters) != 1:
        filters = ["none"]
    if len(numbers) != len(filters):
        problem = f"{len(numbers)} rows per document, but the task has {len(filters)} filters"
        raise InputError(
            file.path, f"{problem}; keep the results_*.json of the run in the same folder"
        )
    for document in documents:
        document.filter = filters[int(document.filter)]


def _ids(log: Log, file: LogFile, documents: list[_LmEvalDocument], planned: int) -> list[str]:
    """Return the ids of documents; refuse a truncated file, or add a notice on missing ones."""
    pairs = dict.fromkeys((document.filter, str(document.doc_id)) for document in documents)
    sizes = Counter(name for name, _ in pairs)
    most = max(sizes.values())
    for name, size in sizes.items():
        if size < most:
            raise InputError(file.path, f"truncated: {size} of {most} documents of {name}")
    if most < planned:
        log.notices.append(f"it has {most} of {planned} documents")
    field = next((field for field in _ID_FIELDS if _is_id(documents, field)), None)
    if field is not None:
        return [str(document.source[field]) for document in documents]
    if any(document.hash is None for document in documents):
        meaning = "so ids are positions, which must mean the same in runs to compare"
        log.notices.append(f"no doc_hash, and no field {', '.join(_ID_FIELDS)} of ids, {meaning}")
    return [str(document.doc_id) for document in documents]


def _is_id(documents: list[_LmEvalDocument], field: str) -> bool:
    """Tell whether a field of the dataset has a name of its own for each document."""
    positions = dict[str, int | str]()
    for document in documents:
        value = document.source.get(field)
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            return False
        if positions.setdefault(str(value), document.doc_id) != document.doc_id:
            return False
    return True


def _scores(
    file: LogFile,
    document: _LmEvalDocument,
    names: JsonFields,
    is_vote: bool,
    goals: dict[str, bool | None],
) -> Iterator[Recorded]:
    """Yield one score per metric: that of the first reply, unless the filter reads all."""
    filtered_reply = document.filtered_resps[0] if len(document.filtered_resps) == 1 else None
    is_missed = (
        filtered_reply == "[invalid]"
    )  # what a filter writes where its pattern did not match
    answer = filtered_reply if isinstance(filtered_reply, str) and not is_missed else None
    replies = document.replies() if is_vote else document.replies()[:1]
    for metric in document.metrics:
        rule = document.rule(metric)
        if file.wants(rule):
            place, score = f"{document.place}: {metric}", document.fields.get(metric)
            if goals.get(metric) is False:
                raise InputError(
                    place, "lower is better; choose another score with " + OptionUse("rule")
                )
            if metric not in document.fields:
                raise InputError(
                    place, "the row lacks this score; choose another with " + OptionUse("rule")
                )
            value = to_number(f"{place} {score!r}", score, file.scale)
            reason = "no score" if value is None else f"recorded as {metric} {value:g}"
            row = ScoreRow(**names, rule=rule, value=value, answer=answer, reason=reason)
            yield Recorded(row, replies, is_missed)

"""Readers of each tool's files: score rows, tokens and notices."""

from __future__ import annotations

import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evalcore.records import Number
from evalcore.scores import NO_ANSWER, NOT_FOUND, UNKNOWN, ScoreRow
from ngramscan.errors import InputError
from ngramscan.reading.row_files import decoded
from ngramscan.reading.yaml_files import as_type

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_Kind = TypeVar("_Kind")
_NUMBERS = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
"""Correct, partly correct, incorrect, no answer, as Inspect's metrics read them, and its words."""
_UNKNOWN = {"error", "invalidated sample", "interrupted sample", "unscored sample"}
"""Failures that leave open what the model would have answered."""
_RULE = "refusal-phrases/1"  # a change of the phrases is a new version
_REFUSAL = re.compile(
    r"(?:(?:(?:i am|i'm) (?:very |so |really |truly )?sorry|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately|as an ai(?: language)?(?: model| assistant)?)[,.;:!]? *(?:but )?)?"
    r"(?:i (?:can ?not|can't|will not|won't|am unable to|am not able to|must decline to"
    r"|decline to|have to decline to|refuse to)|i'm (?:unable|not able) to) "
    r"(?:answer|assist|help|comply|fulfil|fulfill|provide|discuss|engage|participate|support"
    r"|continue with|do (?:this|that|so))\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """Number of tokens of one answer. None means not recorded, which is not 0."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    prompt_tokens: Number | None
    """Includes tokens from a cache."""
    completion_tokens: Number | None
    """Includes those of the reasoning."""
    reasoning_tokens: Number | None
    run: str | None = None


@dataclass(slots=True)
class Log:
    """A log: how to read it, and its rows."""

    path: Path
    given: Mapping[str, Any] = field(default_factory=dict)  # names that replace those of the log
    wanted: Sequence[str] = ()
    missing: str = "apart"
    max_line: int = 256
    names: dict[str, Any] = field(default_factory=dict)
    rules: dict[str, bool] = field(default_factory=dict)
    """Whether each rule ever records the answer that it scored; includes rules not read."""
    rows: list[ScoreRow] = field(default_factory=list)
    usage: list[UsageRow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    failures: set[tuple[str, int | None, str]] = field(default_factory=set)
    """Id, epoch and description of each failed sample."""

    def set_names(self, run: str | None, noted: Sequence[Any], **names: str | None) -> None:
        """Set the names of all rows; the method is in the first notes that name one."""
        methods = [str(one["method"]) for one in noted if (one or {}).get("method") is not None]
        names |= {"method": "".join(methods[:1]), **self.given}
        for name, said in names.items():
            if not said:
                raise InputError(str(self.path), f"it has no {name}; give it with --{name} NAME")
        self.names = {"run": run, **names}

    def wants(self, rule: str) -> bool:
        """Remember a rule of the log, and return whether to read its scores."""
        self.rules.setdefault(rule, False)
        return rule in (self.wanted or [rule])

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield each line that is not empty with its place."""
        with self.path.open("rb") as file:
            lines = iter(lambda: file.readline(self.max_line * 1_000_000 + 2), b"")
            for number, line in enumerate(lines, 1):
                self.refuse_long(f"{self.path}:{number}", len(line.removesuffix(b"\n")))
                if line.strip():
                    yield f"{self.path}:{number}", line

    def read_json(self, path: Path, kind: type[_Kind]) -> _Kind:
        """Return the value of a JSON file: this one, or one beside it."""
        self.refuse_long(str(path), path.stat().st_size)
        return decode(str(path), path.read_bytes(), kind)

    def refuse_long(self, place: str, length: int) -> None:
        """Raise an InputError if a line, sample or file of JSON is too long."""
        if length > self.max_line * 1_000_000:
            raise InputError(place, f"longer than {self.max_line} MB; see --max-line")

    def tell(self, notice: str) -> None:
        """Add a notice about the file."""
        self.notices.append(f"{self.path}: {notice}")

    def add(
        self, row: dict[str, Any], failure: tuple[str, str], replies: Sequence[str], is_sought: bool
    ) -> None:
        """Add a row as recorded, or without a value if the sample failed; `failure`: kind, reason.

        Replies are read only if they scored nothing, but a cut one is a failure whatever its score:
        leaving out only the wrong ones would favour the method that fails more often.
        """
        (kind, reason), value, answer, status = failure, row["value"], row["answer"], ""
        texts = [] if value else [_one_line(reply)[:1000] for reply in replies]
        plain = [text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower() for text in texts]
        if texts and not any(texts) and kind in {"", "cut reply", "stopped sample"}:
            kind, reason = "empty reply", f"no output, {reason}" if reason else "no output"
        elif texts and not kind and answer in {None, *replies} and all(map(_REFUSAL.match, plain)):
            kind, reason = "apparent refusal", f"looks like a refusal ({_RULE}): {texts[0][:80]}"
        elif value is None and not kind:
            kind, reason = "unscored sample", "not scored by the tool"
        if kind:
            scored = "scored above 0" if value else "scored as wrong"
            said = f"{kind} {'without a score' if value is None else scored}"
            self.failures.add((row["id"], row["epoch"], said))
            row["reason"] = f"{reason} ({row['reason']})"
            if value is None or self.missing == "apart":
                row["value"], status = None, UNKNOWN if kind in _UNKNOWN else NO_ANSWER
        elif is_sought and answer is None and value == 0:
            status = NOT_FOUND
        extraction = None if answer is None else row["rule"]
        self.rows.append(ScoreRow(**self.names, **row, extraction=extraction, status=status))

    def tell_failures(self) -> None:
        """Add a notice with the number of failures by kind and by recorded score."""
        n = Counter(what for *_, what in self.failures)
        listed = ", ".join(f"{what} ({n[what]})" for what in sorted(n))
        failed = len({(id_, epoch) for id_, epoch, _ in self.failures})
        samples = len({(row.id, row.epoch) for row in self.rows})
        kept = "scores are kept" if self.missing == "as-recorded" else "they have no value here"
        if n:
            self.tell(f"{failed} of {samples} samples are failures: {listed}; {kept}")


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def decode(place: str, content: bytes, kind: type[_Kind]) -> _Kind:
    """Return the value of a JSON text; fields that a structure lacks are left out."""
    with suppress(ValueError, RecursionError):
        content.decode()  # checks also what is left out
        return msgspec.json.decode(content, type=kind)
    return as_type(decoded(place, content), kind, place)  # knows NaN, which tools write


def _to_number(place: str, value: Any) -> float | None:
    """Return a score from 0 to 1; None if the tool has none, which it writes as null or NaN."""
    if isinstance(value, str):
        value = _NUMBERS.get(value, _NUMBERS.get(value.lower(), value))
        with suppress(ValueError):
            value = float(value)
    if value is None or str(value) == "nan":
        return None
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(place, "a number from 0 to 1 or C, P, I, N was expected; see --rule")
    return float(value)


# Inspect: `.eval`, a zip file with one member per sample, and `.json`. Only samples are read:
# summaries and reductions leave failed ones out, and hold means over epochs.

_DAMAGED = (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, zlib.error, ZstdError)
_CUTS = {"max_tokens": "cut at the token limit", "model_length": "cut at the model's context limit"}


class _Plan(msgspec.Struct, frozen=True):
    """How many samples there should be, as `dataset`, `config` and `results` say it."""

    sample_ids: list[str | int] | None = None
    epochs: int | None = None
    total_samples: int | None = None


class _Eval(msgspec.Struct):
    task: str
    model: str
    eval_id: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    created: str | None = None
    task_args: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    dataset: _Plan = _Plan()
    config: _Plan = _Plan()
    scorers: list[dict[str, Any]] | None = None


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Number | None = None
    input_tokens_cache_read: Number | None = None
    input_tokens_cache_write: Number | None = None
    output_tokens: Number | None = None
    reasoning_tokens: Number | None = None


class _Choice(msgspec.Struct, frozen=True):
    stop_reason: str | None = None
    message: dict[str, Any] = {}


class _Output(msgspec.Struct, frozen=True):
    choices: list[_Choice] = []
    completion: str | None = None
    error: str | None = None


class _Key(msgspec.Struct):
    id: str | int
    epoch: int = 1


class _Sample(_Key):
    output: _Output = _Output()
    scores: dict[str, dict[str, Any]] | None = None
    error: dict[str, Any] | None = None  # errors that a later attempt made good are elsewhere
    limit: dict[str, Any] | None = None
    invalidation: Any = None
    model_usage: dict[str, _Usage] | None = None

    def verdicts(self) -> dict[str, tuple[Any, str | None]]:
        """Return value and answer by rule; a score with several named values counts as several."""
        found = {}
        for scorer, score in (self.scores or {}).items():
            value, answer = score.get("value"), score.get("answer")
            several = value if isinstance(value, dict) else {"": value}
            for name, one in several.items():
                rule = f"{scorer}.{name}" if isinstance(value, dict) else scorer
                found[rule] = one, None if answer is None else str(answer)
        return found


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _Plan | None = None
    samples: list[_Sample] | None = None


def read_inspect(log: Log) -> None:
    """Read a log of Inspect, a zip file or JSON."""
    header = _read_zip(log) if log.path.suffix == ".eval" else log.read_json(log.path, _Header)
    about, ids, samples = header.eval, header.eval.dataset.sample_ids or [], header.samples or []
    if not samples:
        raise InputError(str(log.path), "it has no samples, so there is nothing to read")
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    run = about.eval_id or both or log.path.stem  # older logs have no eval_id
    with suppress(ValueError, OverflowError):  # with the time in front, runs can be sorted
        moment = datetime.fromisoformat(about.created or "")
        run = f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}_{run}"
    log.set_names(run, (about.metadata, about.task_args), dataset=about.task, model=about.model)
    # In the order of the benchmark; samples are logged in the order in which they end.
    place = {str(id_): number for number, id_ in enumerate(ids)}
    samples.sort(key=lambda one: (place.get(str(one.id), len(ids)), str(one.id), one.epoch))
    verdicts = [pair for sample in samples for pair in sample.verdicts().items()]
    for rule, (_, answer) in verdicts:
        log.rules[rule] = log.rules.get(rule, False) or answer is not None
    log.rules = log.rules or {str(one.get("name")): False for one in about.scorers or ()}
    epochs = about.config.epochs or 1
    is_repeated = epochs > 1 or len({sample.epoch for sample in samples}) > 1
    for sample in samples:
        key: dict[str, Any] = {"id": str(sample.id), "epoch": sample.epoch if is_repeated else None}
        _add_verdicts(log, sample, key)
        used = (sample.model_usage or {}).get(about.model, _Usage())  # a grader has its own
        cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        key["prompt_tokens"] = None if used.input_tokens is None else used.input_tokens + cached
        key |= {"completion_tokens": used.output_tokens, "reasoning_tokens": used.reasoning_tokens}
        log.usage.append(UsageRow(**log.names, **key))
    if header.status != "success":
        log.tell(f"the run did not succeed: its status is {header.status!r}")
    planned = header.results.total_samples if header.results else None
    planned = len(ids) * epochs if planned is None else planned
    if len(samples) < planned:
        log.tell(f"it has {len(samples)} of {planned} samples")
    values = [value for rule, (value, _) in verdicts if log.wants(rule)]
    for letter, meaning in (("P", "partly correct), read as 0.5"), ("N", "no answer), read as 0")):
        if n := values.count(letter):
            log.tell(f"scores {letter} ({meaning} as Inspect does: {n}")


def _read_zip(log: Log) -> _Header:
    header, samples, listed = None, [], list[_Key]()
    for place, name, content in _members(log):
        if name == "header.json":
            header = decode(place, content, _Header)
        elif name == "summaries.json":
            listed = decode(place, content, list[_Key])
        else:
            samples.append(decode(place, content, _Sample))
    there = {(str(one.id), one.epoch) for one in samples}
    if header is None:
        raise InputError(str(log.path), "it has no header.json, so it is incomplete; copy it again")
    if absent := [one for one in listed if (str(one.id), one.epoch) not in there]:
        named = f"it lacks sample {absent[0].id}, epoch {absent[0].epoch} of summaries.json"
        raise InputError(str(log.path), f"{named}, so it is incomplete; copy it again")
    header.samples = samples
    return header


def _members(log: Log) -> Iterator[tuple[str, str, bytes]]:
    place, problem = str(log.path), "not a .eval file of Inspect, or truncated; copy it again"
    try:
        with log.path.open("rb") as file:
            archive = zipfile.ZipFile(file)
            for name, member in archive.NameToInfo.items():
                if not re.fullmatch(r"header\.json|summaries\.json|samples/.*", name):
                    continue
                place, problem = f"{log.path}:{name}", "damaged"
                if member.compress_type not in {0, 8, 93}:  # stored, deflated, Zstandard
                    raise zipfile.BadZipFile("compressed by another method")
                log.refuse_long(place, max(member.file_size, member.compress_size))
                with archive.open(member) as opened:
                    # Python 3.14.0 would decompress all of a read at once, up to 537 MB.
                    content = b"".join(iter(partial(opened.read, 16384), b""))
                yield place, name, content
    except _DAMAGED as error:
        raise InputError(place, f"{problem} ({_one_line(error) or 'truncated'})") from error


def _add_verdicts(log: Log, sample: _Sample, key: dict[str, Any]) -> None:
    """Add one row per rule, even if an error left the sample without scores."""
    output, choice = sample.output, (sample.output.choices or [_Choice()])[0]
    error, stop = _one_line((sample.error or {}).get("message"))[:200], choice.stop_reason or ""
    limit = str(sample.limit.get("type")) if sample.limit else None
    refusal = output.error or (stop == "content_filter" and "stopped by a content filter")
    causes = (
        ("error", sample.error and f"error: {error}"),
        ("invalidated sample", sample.invalidation and "invalidated after the run"),
        ("interrupted sample", limit == "operator" and "stopped by the person who ran it"),
        ("refusal", refusal and f"refused: {_one_line(refusal)[:200]}"),
        ("cut reply", _CUTS.get(stop)),
        ("stopped sample", limit and f"stopped at its {limit} limit"),
    )
    failure = next(((kind, reason) for kind, reason in causes if reason), ("", ""))
    is_text = bool(output.choices) and not choice.message.get("tool_calls")
    replies = [output.completion or ""] if is_text else []
    verdicts = sample.verdicts()
    for rule in filter(log.wants, log.rules):
        value, answer = verdicts.get(rule, (None, None))
        place = f"{log.path}: sample {sample.id}, epoch {sample.epoch}, {rule} {value!r}"
        reason = f"recorded as {value}" if rule in verdicts else "no score"
        row = {"rule": rule, "value": _to_number(place, value), "answer": answer, "reason": reason}
        log.add(key | row, failure, replies, is_text and (log.rules[rule] or value == "N"))


# lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`. A document has
# one row for every filter; a filter, or one of several metrics, is a rule.

_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")


class _Document(msgspec.Struct):
    """A document after one filter; `fields` has all fields, including the values of metrics."""

    doc_id: int | str
    filter: str
    metrics: list[str]
    resps: list[Any]
    filtered_resps: list[Any]
    place: str
    fields: dict[str, Any]

    def replies(self) -> list[str]:
        """Return all replies; none if the model only rated the likelihood of given texts."""
        found = self.resps[0] if len(self.resps) == 1 and isinstance(self.resps[0], list) else []
        return found if all(isinstance(one, str) for one in found) else []


class _Filter(msgspec.Struct):
    name: str
    filter: list[dict[str, Any]] = []


class _Task(msgspec.Struct):
    metadata: dict[str, Any] | None = None
    filter_list: list[_Filter] | None = None


class _Results(msgspec.Struct):
    configs: dict[str, _Task] = {}
    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    sizes: dict[str, dict[str, int | None]] = msgspec.field(default_factory=dict, name="n-samples")


def read_lm_eval(log: Log) -> None:
    """Read a file of samples, and the file of results beside it."""
    documents = []
    for place, line in log.lines():
        fields = decode(place, line, dict[str, Any])
        documents.append(as_type({**fields, "place": place, "fields": fields}, _Document, place))
    if not documents:
        raise InputError(str(log.path), "it is empty; one row per document and filter was expected")
    named = _SAMPLES.fullmatch(log.path.name)
    task, time = named.groups() if named else ("", None)
    # Runs that were told to write to one file put its name in the place of `results`.
    beside = sorted(log.path.parent.glob(f"*_{time}.json"))[:1] if time else []
    results = log.read_json(beside[0], _Results) if beside else _Results()
    config, goals = results.configs.get(task, _Task()), results.higher_is_better.get(task, {})
    log.set_names(time or log.path.stem, [config.metadata], dataset=task, model=results.model_name)
    steps = [(one.name, step) for one in config.filter_list or () for step in one.filter]
    of_all = ("majority_vote", "take_first_k")  # functions that look at several replies
    votes = {name for name, step in steps if step.get("function") in of_all}
    ids = _ids(log, documents, results.sizes.get(task, {}).get("effective") or 0)
    for document, id_ in zip(documents, ids, strict=True):
        _add_scores(log, document, id_, document.filter in votes, goals)
    repeats = max(len(document.replies()) for document in documents)
    if repeats > 1:
        is_vote = any(document.filter in votes for document in documents)
        of = "of all together" if is_vote else "of the first; the others are not scored"
        log.tell(f"documents have {repeats} replies but one score per rule: that {of}")


def _ids(log: Log, documents: list[_Document], planned: int) -> list[str]:
    """Return the ids of documents; refuse a truncated file, or add a notice on missing ones."""
    there = Counter(name for name, _ in {(one.filter, str(one.doc_id)) for one in documents})
    most = max(there.values())
    for name in [one.filter for one in documents if there[one.filter] < most]:
        raise InputError(str(log.path), f"truncated: {there[name]} of {most} documents of {name}")
    if most < planned:
        log.tell(f"it has {most} of {planned} documents")
    docs = [one.fields.get("doc") for one in documents]
    ids = [doc.get("id") if isinstance(doc, dict) else None for doc in docs]
    if None in ids:
        ids = [one.doc_id for one in documents]
        log.tell("no field 'id', so ids are positions, which must mean the same in runs to compare")
    return [str(id_) for id_ in ids]


def _add_scores(
    log: Log, document: _Document, id_: str, is_vote: bool, goals: dict[str, bool | None]
) -> None:
    """Add one row per metric: the score of the first reply, unless the filter reads all."""
    found = document.filtered_resps[0] if len(document.filtered_resps) == 1 else None
    is_missed = found == "[invalid]"  # what a filter writes where its pattern did not match
    answer = found if isinstance(found, str) and not is_missed else None
    replies = document.replies() if is_vote else document.replies()[:1]
    for metric in document.metrics:
        rule = f"{metric},{document.filter}" if len(document.metrics) > 1 else document.filter
        rule = metric if document.filter == "none" else rule
        if log.wants(rule):
            place, score = f"{document.place}: {metric}", document.fields.get(metric)
            if goals.get(metric) is False:
                raise InputError(place, "lower is better; choose another score with --rule")
            if metric not in document.fields:
                raise InputError(place, "the row lacks this score; choose another with --rule")
            value = _to_number(f"{place} {score!r}", score)
            row = {"id": id_, "epoch": None, "rule": rule, "value": value, "answer": answer}
            row["reason"] = "no score" if value is None else f"recorded as {metric} {value:g}"
            log.add(row, ("", ""), replies, is_missed)

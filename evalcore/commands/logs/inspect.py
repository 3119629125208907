"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Samples are read, not reductions, which leave failed ones out and hold one value for all epochs.
Logs of version 1 have one score per sample, and logs before mid-2025 no `completion`. A run that
was killed leaves a log without `header.json`, which is read as far as it goes.
"""

import json
import math
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec

from evalcore.commands.logs.readers import (
    Log,
    LogFile,
    Recorded,
    UsageRow,
    add_scores,
    decode,
    one_line,
    to_number,
)
from evalcore.finish_reasons import Ending, classify_finish_reason
from evalcore.formats import JsonFields, hash_document
from evalcore.records import WholeNumber
from evalcore.scores import ScoreRow, read_cluster
from ngramscan.errors import InputError, some_of
from ngramscan.messages import counted
from ngramscan.reading.versions import unchanged_while_read

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_DAMAGED = (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, zlib.error, ZstdError)
_START = "_journal/start.json"
_IS_READ = re.compile(
    r"header\.json|summaries\.json|_journal/(?:start|summaries/\d+)\.json"
    # A large sample may be a folder; all but its events and messages is in one of its files.
    r"|samples/.*_epoch_\d+/sample\.json|samples/(?!.*_epoch_\d+/).*"
).fullmatch
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)(?:/sample)?\.json")
_ATTACHMENT = re.compile(r"attachment://(\w+)")
_REPLACED = "{} left out, since a later one replaced it"


class _InspectPlan(msgspec.Struct, frozen=True):
    """Fields of `dataset`, `config` and `results`: the samples of the run, and its scorers."""

    sample_ids: list[str | int] | None = None
    samples: int | None = None
    epochs: int | None = None
    epochs_reducer: list[str] | str | None = None
    total_samples: int | None = None
    scorer: JsonFields | str | None = None
    """The only scorer of a log of version 1."""
    scores: list[JsonFields] | None = None


class _Eval(msgspec.Struct):
    task: str
    model: str
    eval_id: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    created: str | None = None
    task_args: JsonFields | None = None
    metadata: JsonFields | None = None
    dataset: _InspectPlan = _InspectPlan()
    config: _InspectPlan = _InspectPlan()
    scorers: list[JsonFields] | None = None


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: WholeNumber | None = None
    input_tokens_cache_read: WholeNumber | None = None
    input_tokens_cache_write: WholeNumber | None = None
    output_tokens: WholeNumber | None = None
    reasoning_tokens: WholeNumber | None = None


class _InspectChoice(msgspec.Struct, frozen=True):
    stop_reason: str | None = None
    message: JsonFields = {}


class _InspectOutput(msgspec.Struct, frozen=True):
    choices: list[_InspectChoice] | None = None
    completion: str | None = None
    error: str | None = None


class _SampleKey(msgspec.Struct):
    id: str | int
    epoch: int = 1


class _InspectSample(_SampleKey):
    output: _InspectOutput = _InspectOutput()
    scores: dict[str, JsonFields | None] | None = None
    score: JsonFields | None = None
    """The only score in a log of version 1."""
    error: JsonFields | str | None = None  # errors that a later attempt made good are elsewhere
    limit: JsonFields | str | None = None
    invalidation: Any = None
    model_usage: dict[str, _Usage] | None = None
    metadata: JsonFields | None = None
    input: Any = ""
    target: Any = ""
    choices: list[Any] | None = None
    attachments: dict[str, Any] | None = None
    """Long texts, which other texts refer to as `attachment://` and the key."""

    def hash(self) -> str | None:
        """Return the hash of the problem: its texts and choices, and what is right."""
        problem = [self.with_attachments(text) for text in _problem_texts(self.input)]
        if not any(problem):
            return None
        if self.choices:  # may be shuffled, and then the letter of the right one differs
            references = sorted(map(_identity_of, self.choices))
        else:
            targets = self.target if isinstance(self.target, list) else [self.target]
            references = [*map(_identity_of, targets)]
        return hash_document(*problem, *map(self.with_attachments, references))

    def with_attachments(self, text: str) -> str:
        """Return a text with what it refers to in its place."""
        texts = self.attachments or {}
        return _ATTACHMENT.sub(lambda reference: str(texts.get(reference[1], reference[0])), text)


class _InspectVerdict(NamedTuple):
    value: Any = None
    answer: str | None = None
    unscored_reason: str = ""


def _problem_texts(messages: Any) -> list[str]:
    """Return the messages of an input, but for those of the system: they are part of the prompt."""
    if not isinstance(messages, list):
        return [_identity_of(messages)]
    fields = [message if isinstance(message, dict) else {} for message in messages]
    return [
        _identity_of(message_fields.get("content"))
        for message_fields in fields
        if message_fields.get("role") != "system"
    ]


def _identity_of(content: Any) -> str:
    """Return what tells a message, a choice or a target from another: its text, or all of it."""
    parts = content if isinstance(content, list) else []
    has_other_parts = any(_text_of([part]) is None for part in parts)
    text = None if has_other_parts else _text_of(content)
    return json.dumps(content, sort_keys=True) if text is None else text


def _text_of(content: Any) -> str | None:
    """Return the text of a message, which may have parts; its reasoning is not part of it."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = [part for part in content if isinstance(part, dict) and part.get("type") != "reasoning"]
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
    return None if parts and not texts else "\n".join(texts)


class _InspectHeader(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _InspectPlan | None = None
    samples: list[_InspectSample] | None = None


def read_inspect(file: LogFile) -> Log:
    """Read a log of Inspect, a zip file or JSON."""
    log = Log()
    is_zip = file.path.suffix == ".eval"
    header = _read_zip(file, log) if is_zip else file.read_json(file.path, _InspectHeader)
    about, samples = header.eval, _latest_attempts(header.samples or [], log)
    ids, epochs = about.dataset.sample_ids or [], about.config.epochs or 1
    if not samples:
        raise InputError(file.path, "it has no samples, so there is nothing to read")
    run, notes = _name_run(about, file.path.stem), [about.metadata, about.task_args]
    names = file.names(run, notes, dataset=about.task, model=about.model)
    # In the order of the benchmark; samples are logged in the order in which they end.
    places = {str(id_): number for number, id_ in enumerate(ids)}
    samples.sort(
        key=lambda sample: (places.get(str(sample.id), len(ids)), str(sample.id), sample.epoch)
    )
    parts = _parts_of_scores(header, samples)
    verdicts = [_verdicts(header, sample, parts) for sample in samples]
    rules = _rules_of(header, verdicts, parts)
    if not rules:
        raise InputError(file.path, "it has no scores; `inspect score` adds them")
    log.rules = set(rules)
    answered = {
        rule
        for sample_verdicts in verdicts
        for rule, verdict in sample_verdicts.items()
        if verdict.answer is not None
    }
    is_repeated = epochs > 1 or len({sample.epoch for sample in samples}) > 1
    scores = list[Recorded]()
    for sample, sample_verdicts in zip(samples, verdicts, strict=True):
        names |= {"id": str(sample.id), "epoch": sample.epoch if is_repeated else None}
        place = f"{file.path}: metadata of sample {sample.id}, epoch {sample.epoch}"
        cluster = read_cluster(place, sample.metadata or {}, file.cluster)
        scored = names | {"hash": sample.hash(), "cluster": cluster}
        scores += _scores(
            file, sample, sample_verdicts, scored, filter(file.wants, rules), answered
        )
        log.usage.append(_usage_row(names, (sample.model_usage or {}).get(about.model)))
    log.notices += _describe_run(header, len(samples), is_repeated)
    log.notices += _describe_values(file, verdicts, parts)
    add_scores(log, file, scores)
    return log


def _latest_attempts(samples: Sequence[_InspectSample], log: Log) -> list[_InspectSample]:
    """Leave out attempts that failed and were repeated; a notice counts them."""
    attempts: dict[tuple[str, int], list[_InspectSample]] = {}
    n_replaced = 0
    for sample in samples:
        attempts_of_sample = attempts.setdefault((str(sample.id), sample.epoch), [])
        if attempts_of_sample and attempts_of_sample[-1].error:
            attempts_of_sample.pop()
            n_replaced += 1
        attempts_of_sample.append(sample)
    if n_replaced:
        log.notices.append(_REPLACED.format(counted(n_replaced, "earlier attempt")))
    return [sample for attempts_of_sample in attempts.values() for sample in attempts_of_sample]


def _scores_of(header: _InspectHeader, sample: _InspectSample) -> Mapping[str, JsonFields | None]:
    """Return the scores of a sample by scorer; in version 1, it has one without a name."""
    if sample.scores is not None or sample.score is None:
        return sample.scores or {}
    return {next(iter(_planned_rules(header)), "score"): sample.score}


def _parts_of_scores(
    header: _InspectHeader, samples: Sequence[_InspectSample]
) -> dict[str, dict[str, None]]:
    """Return the names of the values of each scorer that gives several, as a dict or a list."""
    parts: dict[str, dict[str, None]] = {}
    for sample in samples:
        for scorer, score in _scores_of(header, sample).items():
            if values := _values_of((score or {}).get("value")):
                parts.setdefault(scorer, {}).update(dict.fromkeys(values))
    return parts


def _values_of(value: Any) -> dict[str, Any]:
    """Return several values by name, those of a list by place, from 1; none for a single one."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {str(place): part for place, part in enumerate(value, 1)}
    return {}


def _verdicts(
    header: _InspectHeader, sample: _InspectSample, parts: Mapping[str, Iterable[str]]
) -> dict[str, _InspectVerdict]:
    """Return the verdicts by rule; a score with several values counts as several."""
    verdicts: dict[str, _InspectVerdict] = {}
    for scorer, score in _scores_of(header, sample).items():
        fields = score or {}
        value, answer = fields.get("value"), fields.get("answer")
        reason = one_line((fields.get("metadata") or {}).get("unscored_reason") or "")
        verdict = _InspectVerdict(value, None if answer is None else str(answer), reason)
        values = _values_of(value)
        if not values and scorer in parts and _is_absent(value):
            values = dict.fromkeys(parts[scorer])  # the whole sample is unscored
        if values or isinstance(value, dict | list):
            named = {f"{scorer}.{name}": part for name, part in values.items()}
            verdicts |= {rule: verdict._replace(value=part) for rule, part in named.items()}
        else:
            verdicts[scorer] = verdict
    return verdicts


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _planned_rules(header: _InspectHeader) -> list[str]:
    """Return the scorers that the run was given, or that its results name."""
    results = header.results or _InspectPlan()
    only = results.scorer.get("name") if isinstance(results.scorer, dict) else results.scorer
    named = [
        scorer.get("name") for scorer in (*(header.eval.scorers or ()), *(results.scores or ()))
    ]
    # Samples have names without those of packages.
    return [str(name).rpartition("/")[2] for name in dict.fromkeys([*named, only]) if name]


def _rules_of(
    header: _InspectHeader, verdicts: Iterable[Iterable[str]], parts: Mapping[str, Iterable[str]]
) -> list[str]:
    rules_in_samples = dict.fromkeys(rule for rules in verdicts for rule in rules)
    return [*rules_in_samples] or [rule for rule in _planned_rules(header) if rule not in parts]


def _usage_row(names: JsonFields, used: _Usage | None) -> UsageRow:
    used = used or _Usage()  # a grader has its own
    cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return UsageRow(
        **names,
        prompt_tokens=None if used.input_tokens is None else used.input_tokens + cached,
        completion_tokens=used.output_tokens,
        reasoning_tokens=used.reasoning_tokens,
    )


def _describe_run(header: _InspectHeader, n_samples: int, is_repeated: bool) -> Iterator[str]:
    """Describe what the log lacks, and how its own results differ from these scores."""
    about = header.eval
    if header.status == "started":
        yield "the run was killed, or has not ended; its log is read as far as it goes"
    elif header.status != "success":
        yield f"the run did not succeed: its status is {header.status!r}"
    planned = (header.results or _InspectPlan()).total_samples
    if planned is None:
        n_problems = len(about.dataset.sample_ids or ()) or about.dataset.samples or 0
        planned = n_problems * (about.config.epochs or 1)
    if n_samples < planned:
        yield f"it has {n_samples} of {planned} samples"
    reducer = about.config.epochs_reducer
    reducers = [reducer] if isinstance(reducer, str) else reducer or []
    if is_repeated and (others := [name for name in reducers if name != "mean"]):
        listed = ", ".join(others)
        yield f"its own results reduce epochs by {listed}; here each epoch has a row"


def _describe_values(
    file: LogFile,
    verdicts: Sequence[Mapping[str, _InspectVerdict]],
    parts: Mapping[str, Iterable[str]],
) -> Iterator[str]:
    """Describe lists and letters, which are not plain numbers."""
    for scorer, names in parts.items():
        places = [*names]
        if all(name.isdecimal() for name in places):
            rules = f"{scorer}.{places[0]} to {scorer}.{places[-1]}"
            yield f"scores of {scorer} are lists; as in Inspect, each place is kept apart: {rules}"
    values = Counter(
        verdict.value
        for sample_verdicts in verdicts
        for rule, verdict in sample_verdicts.items()
        if file.wants(rule) and isinstance(verdict.value, str)
    )
    for letter, meaning in (("P", "partly correct), read as 0.5"), ("N", "no answer), read as 0")):
        if n := values[letter]:
            yield f"scores {letter} ({meaning} as Inspect does: {n}"


def _name_run(about: _Eval, stem: str) -> str:
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    run = about.eval_id or both or stem  # older logs have no eval_id
    with suppress(ValueError, OverflowError):  # with the time in front, runs can be sorted
        moment = datetime.fromisoformat(about.created or "")
        run = f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}_{run}"
    return run


def _read_zip(file: LogFile, log: Log) -> _InspectHeader:
    header: _InspectHeader | None = None
    samples, listed, journal = list[_InspectSample](), list[_SampleKey](), dict[str, bytes]()
    damaged = list[_InspectSample]()  # filled while the others are read
    for place, name, content in _members(file, log, damaged):
        if name == "header.json":
            header = decode(place, content, _InspectHeader)
        elif name == "summaries.json":
            listed = decode(place, content, list[_SampleKey])
        elif name.startswith("_journal/"):
            journal[name] = content
        elif (error := _json_error(content)) and (broken := _damaged_sample(name, error)):
            damaged.append(broken)
        else:
            samples.append(decode(place, content, _InspectSample))
    samples += _unknown_samples(file, log, damaged, n_others=len(samples))
    if header is None:
        return _read_journal(file, journal, samples)
    _refuse_missing_samples(file, listed, samples)
    header.samples = samples
    return header


def _refuse_missing_samples(
    file: LogFile, listed: Sequence[_SampleKey], samples: Sequence[_InspectSample]
) -> None:
    """Raise an InputError if an archive lacks a sample that its summaries list."""
    present = {_key_of(sample) for sample in samples}
    for key in listed:
        if _key_of(key) not in present:
            lacks = f"lacks sample {key.id}, epoch {key.epoch} of summaries.json"
            raise InputError(file.path, f"it {lacks}, so it is incomplete; copy it again")


def _read_journal(
    file: LogFile, journal: Mapping[str, bytes], samples: list[_InspectSample]
) -> _InspectHeader:
    """Return what a run that was killed had written: its start, samples, summaries of others."""
    if _START not in journal:
        problem = f"it has no header.json and no {_START}, so it is incomplete; copy it again"
        raise InputError(file.path, problem)
    header = decode(f"{file.path}:{_START}", journal[_START], _InspectHeader)
    present = {_key_of(sample) for sample in samples}
    for name, content in journal.items():
        if name != _START:
            summaries = decode(f"{file.path}:{name}", content, list[_InspectSample])
            for summary in summaries:
                # It may be shortened, so that its hash would be that of no document.
                summary.input = ""
            samples += [summary for summary in summaries if _key_of(summary) not in present]
    header.status, header.samples = "started", samples
    return header


def _key_of(key: _SampleKey) -> tuple[str, int]:
    return str(key.id), key.epoch


def _unknown_samples(
    file: LogFile, log: Log, damaged: Sequence[_InspectSample], n_others: int
) -> Sequence[_InspectSample]:
    """Return damaged samples, with a notice; raise an InputError if there are no others."""
    listed = some_of(f"{sample.id}, epoch {sample.epoch}" for sample in damaged)
    if not damaged:
        return ()
    if not n_others:
        raise InputError(file.path, f"all its samples are damaged ({listed}); copy it again")
    log.notices.append(f"damaged, so their results are unknown: {listed}; copy it again")
    return damaged


def _members(
    file: LogFile, log: Log, damaged: list[_InspectSample]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield the members that are read; of several of one name the last, which replaced others.

    Samples that can't be decompressed are added to the `damaged` ones.
    """
    place, problem = str(file.path), "not a .eval file of Inspect, or truncated; copy it again"
    try:
        with file.path.open("rb") as opened, unchanged_while_read(opened, file.path):
            archive = zipfile.ZipFile(opened)
            member_names = [
                member.filename for member in archive.infolist() if _IS_READ(member.filename)
            ]
            if n_replaced := len(member_names) - len(set(member_names)):
                log.notices.append(_REPLACED.format(counted(n_replaced, "earlier attempt")))
            for name, member in archive.NameToInfo.items():
                if not _IS_READ(name):
                    continue
                place, problem = f"{file.path}:{name}", "damaged"
                if member.compress_type not in {0, 8, 93}:  # stored, deflated, Zstandard
                    raise zipfile.BadZipFile("compressed by another method")
                file.refuse_long(place, max(member.file_size, member.compress_size))
                try:
                    content = _read_member(archive, member)
                except _DAMAGED as error:
                    if (sample := _damaged_sample(name, error)) is None:
                        raise
                    damaged.append(sample)
                    continue
                yield place, name, content
    except _DAMAGED as error:
        raise InputError(place, f"{problem} ({one_line(error) or 'truncated'})") from error


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as packed:
        # Python 3.14.0 would decompress all of a read at once, up to 537 MB.
        return b"".join(iter(partial(packed.read, 16384), b""))


def _json_error(content: bytes) -> ValueError | None:
    """Return why a content is not JSON; None if it is."""
    with suppress(ValueError):
        content.decode()
        msgspec.json.decode(content, type=msgspec.Raw)
        return None
    try:
        json.loads(content)  # knows NaN, which Inspect writes
    except ValueError as error:
        return error
    return None


def _damaged_sample(name: str, error: Exception) -> _InspectSample | None:
    """Return a sample with nothing but its id and an error; None if a member is something else."""
    member_name = _SAMPLE.fullmatch(name)
    if member_name is None:
        return None
    problem = f"damaged in the log ({one_line(error) or 'truncated'})"
    return _InspectSample(id=member_name["id"], epoch=int(member_name["epoch"]), error=problem)


def _scores(
    file: LogFile,
    sample: _InspectSample,
    verdicts: Mapping[str, _InspectVerdict],
    names: JsonFields,
    rules: Iterable[str],
    answered: set[str],
) -> Iterator[Recorded]:
    """Yield one score per rule, even if an error left the sample without scores."""
    reply = _reply_of(sample)
    for rule in rules:
        verdict = verdicts.get(rule, _InspectVerdict())
        place = f"{file.path}: sample {sample.id}, epoch {sample.epoch}, {rule} {verdict.value!r}"
        value = to_number(place, verdict.value, file.scale)
        reason = f"recorded as {verdict.value}" if rule in verdicts else "no score"
        row = ScoreRow(**names, rule=rule, value=value, answer=verdict.answer, reason=reason)
        is_sought = reply is not None and (rule in answered or verdict.value == "N")
        failure, cause = _failure_of(sample)
        if verdict.unscored_reason and not failure:
            failure, cause = "unscored sample", f"not scored by the tool: {verdict.unscored_reason}"
        yield Recorded(row, [] if reply is None else [reply], is_sought, failure, cause)


def _reply_of(sample: _InspectSample) -> str | None:
    """Return the text of the reply; None if there is none, or if it is not a text."""
    output = sample.output
    if not output.choices or output.choices[0].message.get("tool_calls"):
        return None
    text = output.completion or _text_of(output.choices[0].message.get("content"))
    return output.completion if text is None else sample.with_attachments(text)


def _failure_of(sample: _InspectSample) -> tuple[str, str]:
    """Return the kind and the cause of a failure that the log records, or two empty texts."""
    output, choice = sample.output, (sample.output.choices or [_InspectChoice()])[0]
    error = one_line(_named_in(sample.error, "message"))[:200]
    limit = _named_in(sample.limit, "type")
    ending, incomplete = classify_finish_reason(choice.stop_reason)
    refusal = output.error or (ending is Ending.REFUSED and incomplete)
    causes = (
        ("error", sample.error and f"error: {error}"),
        ("invalidated sample", sample.invalidation and "invalidated after the run"),
        ("interrupted sample", limit == "operator" and "stopped by the person who ran it"),
        ("refusal", refusal and f"refused: {one_line(refusal)[:200]}"),
        ("cut reply", incomplete),
        ("stopped sample", limit and f"stopped at its {limit} limit"),
    )
    return next(((kind, cause) for kind, cause in causes if cause), ("", ""))


def _named_in(field: JsonFields | str | None, name: str) -> str:
    """Return a part of a field; summaries have only that part, as text."""
    return str(field.get(name)) if isinstance(field, dict) else field or ""

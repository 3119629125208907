"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Only samples are read: summaries and reductions leave failed ones out, and hold means over epochs.
"""

import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

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
from evalcore.formats import Fields, hash_document
from evalcore.records import Number
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_DAMAGED = (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, zlib.error, ZstdError)
_ATTACHMENT = "attachment://"
"""How a text begins that is stored elsewhere in the sample, and here only named."""


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
    task_args: Fields | None = None
    metadata: Fields | None = None
    dataset: _Plan = _Plan()
    config: _Plan = _Plan()
    scorers: list[Fields] | None = None


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Number | None = None
    input_tokens_cache_read: Number | None = None
    input_tokens_cache_write: Number | None = None
    output_tokens: Number | None = None
    reasoning_tokens: Number | None = None


class _Choice(msgspec.Struct, frozen=True):
    stop_reason: str | None = None
    message: Fields = {}


class _Output(msgspec.Struct, frozen=True):
    choices: list[_Choice] = []
    completion: str | None = None
    error: str | None = None


class _Key(msgspec.Struct):
    id: str | int
    epoch: int = 1


class _Sample(_Key):
    output: _Output = _Output()
    scores: dict[str, Fields] | None = None
    error: Fields | None = None  # errors that a later attempt made good are elsewhere
    limit: Fields | None = None
    invalidation: Any = None
    model_usage: dict[str, _Usage] | None = None
    input: Any = ""
    target: Any = ""
    choices: list[Any] | None = None
    attachments: dict[str, Any] | None = None

    def hash(self) -> str | None:
        """Return the hash of the problem: its texts and choices, and what is right."""
        texts = [self._whole(text) for text in _texts_of(self.input)]
        if not any(texts):
            return None
        if self.choices:  # may be shuffled, and then the letter of the right one differs
            return hash_document(*texts, *sorted(map(_text_of, self.choices)))
        targets = self.target if isinstance(self.target, list) else [self.target]
        return hash_document(*texts, *map(_text_of, targets))

    def _whole(self, text: str) -> str:
        """Return a text that may be stored in the attachments."""
        whole = (self.attachments or {}).get(text.removeprefix(_ATTACHMENT))
        return whole if text.startswith(_ATTACHMENT) and isinstance(whole, str) else text

    def verdicts(self) -> dict[str, tuple[Any, str | None]]:
        """Return value and answer by rule; a score with several named values counts as several."""
        found: dict[str, tuple[Any, str | None]] = {}
        for scorer, score in (self.scores or {}).items():
            value, answer = score.get("value"), score.get("answer")
            values = {scorer: value}
            if isinstance(value, dict):
                values = {f"{scorer}.{name}": part for name, part in value.items()}
            answer = None if answer is None else str(answer)
            found |= {rule: (part, answer) for rule, part in values.items()}
        return found


def _texts_of(messages: Any) -> list[str]:
    """Return the texts of an input, but for those of the system, which are part of the prompt."""
    if not isinstance(messages, list):
        return [_text_of(messages)]
    fields = [message if isinstance(message, dict) else {} for message in messages]
    return [_text_of(one.get("content")) for one in fields if one.get("role") != "system"]


def _text_of(content: Any) -> str:
    """Return the text of a message, a choice or a target; other parts as JSON."""
    if isinstance(content, list):
        return "\n".join(map(_text_of, content))
    if isinstance(content, dict) and content.get("type") == "text":
        content = content.get("text")
    return content if isinstance(content, str) else json.dumps(content, sort_keys=True)


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _Plan | None = None
    samples: list[_Sample] | None = None


def read_inspect(file: LogFile) -> Log:
    """Read a log of Inspect, a zip file or JSON."""
    header = _read_zip(file) if file.path.suffix == ".eval" else file.read_json(file.path, _Header)
    about, samples = header.eval, header.samples or []
    ids, epochs = about.dataset.sample_ids or [], about.config.epochs or 1
    if not samples:
        raise InputError(file.path, "it has no samples, so there is nothing to read")
    run, notes = _name_run(about, file.path.stem), [about.metadata, about.task_args]
    names = file.names(run, notes, dataset=about.task, model=about.model)
    # In the order of the benchmark; samples are logged in the order in which they end.
    places = {str(id_): number for number, id_ in enumerate(ids)}
    samples.sort(key=lambda one: (places.get(str(one.id), len(ids)), str(one.id), one.epoch))
    verdicts = [pair for sample in samples for pair in sample.verdicts().items()]
    answered = {rule for rule, (_, answer) in verdicts if answer is not None}
    named = (str(scorer.get("name")) for scorer in about.scorers or ())
    rules = dict.fromkeys(rule for rule, _ in verdicts) or dict.fromkeys(named)
    log = Log(set(rules))
    is_repeated = epochs > 1 or len({sample.epoch for sample in samples}) > 1
    scores = list[Recorded]()
    for sample in samples:
        names |= {"id": str(sample.id), "epoch": sample.epoch if is_repeated else None}
        scores += _scores(file, sample, names, filter(file.wants, rules), answered)
        used = (sample.model_usage or {}).get(about.model, _Usage())  # a grader has its own
        cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        row = UsageRow(
            **names,
            prompt_tokens=None if used.input_tokens is None else used.input_tokens + cached,
            completion_tokens=used.output_tokens,
            reasoning_tokens=used.reasoning_tokens,
        )
        log.usage.append(row)
    if header.status != "success":
        log.notices.append(f"the run did not succeed: its status is {header.status!r}")
    planned = (header.results or _Plan()).total_samples
    planned = len(ids) * epochs if planned is None else planned
    if len(samples) < planned:
        log.notices.append(f"it has {len(samples)} of {planned} samples")
    values = [value for rule, (value, _) in verdicts if file.wants(rule)]
    for letter, meaning in (("P", "partly correct), read as 0.5"), ("N", "no answer), read as 0")):
        if n := values.count(letter):
            log.notices.append(f"scores {letter} ({meaning} as Inspect does: {n}")
    add_scores(log, file, scores)
    return log


def _name_run(about: _Eval, stem: str) -> str:
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    run = about.eval_id or both or stem  # older logs have no eval_id
    with suppress(ValueError, OverflowError):  # with the time in front, runs can be sorted
        moment = datetime.fromisoformat(about.created or "")
        run = f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}_{run}"
    return run


def _read_zip(file: LogFile) -> _Header:
    header, samples, listed = None, list[_Sample](), list[_Key]()
    for place, name, content in _members(file):
        if name == "header.json":
            header = decode(place, content, _Header)
        elif name == "summaries.json":
            listed = decode(place, content, list[_Key])
        else:
            samples.append(decode(place, content, _Sample))
    present = {(str(sample.id), sample.epoch) for sample in samples}
    lacks = [
        f"lacks sample {key.id}, epoch {key.epoch} of summaries.json"
        for key in listed
        if (str(key.id), key.epoch) not in present
    ]
    if header is None or lacks:
        problem = lacks[0] if header else "has no header.json"
        raise InputError(file.path, f"it {problem}, so it is incomplete; copy it again")
    header.samples = samples
    return header


def _members(file: LogFile) -> Iterator[tuple[str, str, bytes]]:
    place, problem = str(file.path), "not a .eval file of Inspect, or truncated; copy it again"
    try:
        with file.path.open("rb") as opened:
            archive = zipfile.ZipFile(opened)
            for name, member in archive.NameToInfo.items():
                if not re.fullmatch(r"header\.json|summaries\.json|samples/.*", name):
                    continue
                place, problem = f"{file.path}:{name}", "damaged"
                if member.compress_type not in {0, 8, 93}:  # stored, deflated, Zstandard
                    raise zipfile.BadZipFile("compressed by another method")
                file.refuse_long(place, max(member.file_size, member.compress_size))
                with archive.open(member) as packed:
                    # Python 3.14.0 would decompress all of a read at once, up to 537 MB.
                    content = b"".join(iter(partial(packed.read, 16384), b""))
                yield place, name, content
    except _DAMAGED as error:
        raise InputError(place, f"{problem} ({one_line(error) or 'truncated'})") from error


def _scores(
    file: LogFile,
    sample: _Sample,
    names: Fields,
    rules: Iterable[str],
    answered: set[str],
) -> Iterator[Recorded]:
    """Yield one score per rule, even if an error left the sample without scores."""
    choices, verdicts = sample.output.choices, sample.verdicts()
    is_text = bool(choices) and not choices[0].message.get("tool_calls")
    replies = [sample.output.completion or ""] if is_text else []
    for rule in rules:
        score, answer = verdicts.get(rule, (None, None))
        place = f"{file.path}: sample {sample.id}, epoch {sample.epoch}, {rule} {score!r}"
        value, reason = to_number(place, score), f"recorded as {score}"
        reason = reason if rule in verdicts else "no score"
        row = ScoreRow(
            **names, rule=rule, value=value, answer=answer, reason=reason, hash=sample.hash()
        )
        is_sought = is_text and (rule in answered or score == "N")
        yield Recorded(row, replies, is_sought, *_failure_of(sample))


def _failure_of(sample: _Sample) -> tuple[str, str]:
    """Return the kind and the cause of a failure that the log records, or two empty texts."""
    output, choice = sample.output, (sample.output.choices or [_Choice()])[0]
    error = one_line((sample.error or {}).get("message"))[:200]
    limit = str(sample.limit.get("type")) if sample.limit else None
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

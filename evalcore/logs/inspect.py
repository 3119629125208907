"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Only samples are read: summaries and reductions leave failed ones out, and hold means over epochs.
"""

from __future__ import annotations

import math
import struct
import sys
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from evalcore.logs.log import (
    Decoded,
    Failure,
    Log,
    UsageRow,
    decode,
    find_failure,
    one_line,
    to_share,
)
from evalcore.records import Number
from ngramscan.errors import InputError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_PIECE = 16384
"""Bytes read at a time: Python 3.14.0 would decompress all of a read at once, up to 537 MB."""
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD)
_DAMAGED = (
    *(zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError),
    *(struct.error, zlib.error, ZstdError),
)
_NUMBERS = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
"""Correct, partly correct, incorrect, no answer, as Inspect's metrics read them, and its words."""
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
_Scores = dict[str, tuple[Any, str | None]]
"""Value and answer of a sample by rule."""
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
    """Without those of the cache."""
    input_tokens_cache_read: Number | None = None
    input_tokens_cache_write: Number | None = None
    completion_tokens: Number | None = msgspec.field(name="output_tokens", default=None)
    reasoning_tokens: Number | None = None

    @property
    def prompt_tokens(self) -> int | None:
        """All tokens of the prompt."""
        cached = (self.input_tokens_cache_read or 0) + (self.input_tokens_cache_write or 0)
        return None if self.input_tokens is None else self.input_tokens + cached


class _Choice(msgspec.Struct):
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
    """What is read of a sample. Errors that a later attempt made good are no failure."""

    output: _Output = _Output()
    scores: dict[str, dict[str, Any]] | None = None
    error: dict[str, Any] | None = None
    limit: dict[str, Any] | None = None
    invalidation: Any = None
    model_usage: dict[str, _Usage] | None = None


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _Plan | None = None
    samples: list[_Sample] | None = None


def read_inspect(log: Log) -> None:
    """Read a log of Inspect, a zip file or JSON."""
    is_zip = log.path.suffix == ".eval"
    header = _read_zip(log) if is_zip else log.read_json(log.path, _Header)
    about, ids, samples = header.eval, header.eval.dataset.sample_ids or [], header.samples or []
    if not samples:
        raise InputError(str(log.path), "no samples in it; scores of samples were expected")
    _name(log, about)
    # In the order of the benchmark; samples are logged as they come to an end.
    place = {str(id_): number for number, id_ in enumerate(ids)}
    samples.sort(key=lambda one: (place.get(str(one.id), len(ids)), str(one.id), one.epoch))
    scores = [_scores(sample) for sample in samples]
    for rule, (_, answer) in (one for found in scores for one in found.items()):
        log.rules[rule] = log.rules.get(rule, False) or answer is not None
    log.rules = log.rules or {str(one.get("name")): False for one in about.scorers or ()}
    epochs = about.config.epochs or 1
    is_repeated = epochs > 1 or len({sample.epoch for sample in samples}) > 1
    for sample, found in zip(samples, scores, strict=True):
        key: dict[str, Any] = {"id": str(sample.id), "epoch": sample.epoch if is_repeated else None}
        _add_scores(log, sample, key, found)
        used = (sample.model_usage or {}).get(about.model, _Usage())  # a grader has its own
        tokens: dict[str, Any] = {name: getattr(used, name) for name in _TOKENS}
        log.usage.append(UsageRow(**log.names, **key, **tokens))
    if header.status != "success":
        log.tell(f"the run did not end well: its status is {header.status!r}")
    planned = header.results.total_samples if header.results else None
    planned = len(ids) * epochs if planned is None else planned
    if len(samples) < planned:
        log.tell(f"{len(samples)} of {planned} samples are in it")
    values = [found[rule][0] for found in scores for rule in filter(log.options.wants, found)]
    for letter, meaning, number in (("P", "partly correct", 0.5), ("N", "no answer", 0)):
        if n := values.count(letter):
            log.tell(f"scores {letter} ({meaning}), read as {number} as Inspect does: {n}")


def _read_zip(log: Log) -> _Header:
    with log.path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED as error:
            problem = f"not a zip file, or truncated ({one_line(error)})"
            raise InputError(str(log.path), problem) from error
        read, names = partial(_read_member, log, archive), dict.fromkeys(archive.namelist())
        header = read("header.json", _Header)
        header.samples = [read(name, _Sample) for name in names if name.startswith("samples/")]
        listed = read("summaries.json", list[_Key]) if "summaries.json" in names else []
    there = {(str(sample.id), sample.epoch) for sample in header.samples}
    for one in listed:
        if (str(one.id), one.epoch) not in there:
            problem = f"no sample {one.id}, epoch {one.epoch}, which summaries.json lists"
            raise InputError(str(log.path), f"{problem}; the file is not whole")
    return header


def _read_member(log: Log, archive: zipfile.ZipFile, name: str, kind: type[Decoded]) -> Decoded:
    place = f"{log.path}:{name}"
    if name not in archive.NameToInfo:
        raise InputError(str(log.path), f"no member {name}; the file is not whole")
    member = archive.getinfo(name)
    if member.flag_bits & 1 or member.compress_type not in _COMPRESSIONS:
        raise InputError(place, "encrypted, or compressed by an unknown method")
    log.refuse_long(place, max(member.file_size, member.compress_size))
    try:
        with archive.open(member) as file:
            content = b"".join(iter(lambda: file.read(_PIECE), b""))
        if len(content) != member.file_size:
            raise zipfile.BadZipFile("its size is another")
    except _DAMAGED as error:
        raise InputError(place, f"damaged ({one_line(error) or 'truncated'})") from error
    return decode(place, content, kind)


def _name(log: Log, about: _Eval) -> None:
    """Say what the rows are about; names of runs begin with their time, so that they sort."""
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    log.run_id = about.eval_id or both
    run = log.run_id or log.path.stem
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(about.created or "")
        run = f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}_{run}"
    noted = [(one or {}).get("method") for one in (about.metadata, about.task_args)]
    method = next((str(one) for one in noted if one is not None), None)
    log.set_names(run, dataset=about.task, model=about.model, method=method)


def _scores(sample: _Sample) -> _Scores:
    """Return value and answer by rule; a score that names several values is several."""
    found: _Scores = {}
    for scorer, score in (sample.scores or {}).items():
        value, answer = score.get("value"), score.get("answer")
        answer = None if answer is None else str(answer)
        if isinstance(value, dict):
            found |= {f"{scorer}.{name}": (one, answer) for name, one in value.items()}
        else:
            found[scorer] = value, answer
    return found


def _add_scores(log: Log, sample: _Sample, key: dict[str, Any], scores: _Scores) -> None:
    """Add one row per rule, also where an error kept the sample from having any."""
    broken, cut = _failures(sample)
    choices = sample.output.choices
    is_text = bool(choices) and not choices[0].message.get("tool_calls")
    replies = [sample.output.completion or ""] if is_text else []
    for rule in filter(log.options.wants, log.rules):
        recorded, answer = scores.get(rule, (None, None))
        place = f"{log.path}: sample {sample.id}, epoch {sample.epoch}, {rule} {recorded!r}"
        value = _to_number(place, recorded)
        reason = f"recorded as {recorded}" if rule in scores else "no score"
        row = {**key, "rule": rule, "value": value, "answer": answer, "reason": reason}
        was_sought = is_text and (log.rules[rule] or recorded == "N")
        log.add(row, broken or find_failure(cut, replies, value, answer), was_sought)


def _failures(sample: _Sample) -> tuple[Failure | None, Failure | None]:
    """Return an error or a refusal; and that a limit ended the reply, or the sample."""
    stop = sample.output.choices[0].stop_reason if sample.output.choices else None
    limit = str(sample.limit.get("type")) if sample.limit else None
    error = one_line((sample.error or {}).get("message"))[:200]
    refusal = sample.output.error or (stop == "content_filter" and "stopped by a content filter")
    causes = (
        (sample.error, "error", f"error: {error}"),
        (sample.invalidation, "invalidated sample", "invalidated after the run"),
        (limit == "operator", "interrupted sample", "stopped by the person who ran it"),
        (refusal, "refusal", f"refused: {one_line(refusal)[:200]}"),
    )
    broken = next(((kind, reason) for holds, kind, reason in causes if holds), None)
    if stop in _CUTS:
        return broken, ("cut reply", _CUTS[stop])
    return broken, ("stopped sample", f"stopped at its {limit} limit") if limit else None


def _to_number(place: str, value: Any) -> float | None:
    """Return a score from 0 to 1; None: the scorer could not tell, which Inspect writes as NaN."""
    if isinstance(value, str):
        value = _NUMBERS.get(value, _NUMBERS.get(value.lower(), value))
        with suppress(ValueError):
            value = float(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return to_share(place, value, ", or one of C, P, I, N,")

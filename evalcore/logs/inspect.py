"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Only samples are read. Summaries, their parts in `_journal/` and reductions say the same again, or
less: they leave failed samples out, and hold means over epochs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from evalcore.logs.files import convert, open_members, read_json
from evalcore.logs.log import Failure, Log, LogOptions, UsageRow, find_failure, one_line
from evalcore.records import Number
from ngramscan.errors import InputError

_HEADER, _SUMMARIES, _SAMPLES = "header.json", "summaries.json", "samples/"
_NUMBERS = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
"""Correct, partly correct, incorrect, no answer; and the words that Inspect reads too. The numbers
are those of Inspect's own metrics, unless a task changes them."""
_Values = dict[str, tuple[Any, str | None]]
"""Value and answer of a sample by rule."""
_CUTS = {"max_tokens": "cut at the token limit", "model_length": "cut at the model's context limit"}


class _Plan(msgspec.Struct):
    """How many samples there should be, as `dataset`, `config` and `results` say it."""

    sample_ids: list[str | int] | None = None
    epochs: int | None = None
    total_samples: int | None = None


class _Scorer(msgspec.Struct):
    name: str


class _Eval(msgspec.Struct):
    task: str
    model: str
    eval_id: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    created: str | None = None
    task_args: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    dataset: _Plan = msgspec.field(default_factory=_Plan)
    config: _Plan = msgspec.field(default_factory=_Plan)
    scorers: list[_Scorer] | None = None


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _Plan | None = None
    samples: list[Any] | None = None


class _Usage(msgspec.Struct):
    input_tokens: Number = 0
    """Without those of the cache."""
    output_tokens: Number = 0
    input_tokens_cache_read: Number | None = None
    input_tokens_cache_write: Number | None = None
    reasoning_tokens: Number | None = None


class _Score(msgspec.Struct):
    value: Any = None
    answer: Any = None


class _Choice(msgspec.Struct):
    stop_reason: str | None = None
    message: dict[str, Any] = {}


class _Output(msgspec.Struct):
    choices: list[_Choice] = []
    completion: str | None = None
    error: str | None = None


class _Error(msgspec.Struct):
    message: str


class _Limit(msgspec.Struct):
    type: str


class _Key(msgspec.Struct):
    id: str | int
    epoch: int = 1


class _Sample(_Key):
    """What is read of a sample. Errors that a later attempt made good are no failure."""

    output: _Output = msgspec.field(default_factory=_Output)
    scores: dict[str, _Score] | None = None
    error: _Error | None = None
    limit: _Limit | None = None
    invalidation: Any = None
    model_usage: dict[str, _Usage] | None = None

    def values(self) -> _Values:
        """Return value and answer by rule; a score that names several values is several."""
        found = {}
        for scorer, score in (self.scores or {}).items():
            answer = None if score.answer is None else str(score.answer)
            several = score.value if isinstance(score.value, dict) else None
            named = {f"{scorer}.{name}": value for name, value in (several or {}).items()}
            for rule, value in (named if several is not None else {scorer: score.value}).items():
                found[rule] = value, answer
        return found

    def failures(self) -> tuple[Failure | None, Failure | None]:
        """Return an error or a refusal; and that a limit ended the reply, or the sample."""
        stop = self.output.choices[0].stop_reason if self.output.choices else None
        kind = self.limit.type if self.limit else None
        refusal = self.output.error or (stop == "content_filter" and "stopped by a content filter")
        broken, cut = None, None
        if self.error:
            broken = "error", f"error: {one_line(self.error.message)[:200]}"
        elif self.invalidation:
            broken = "invalidated sample", "invalidated after the run"
        elif kind == "operator":
            broken = "interrupted sample", "stopped by the person who ran it"
        elif refusal:
            broken = "refusal", f"refused: {one_line(refusal)[:200]}"
        if stop in _CUTS:
            cut = "cut reply", _CUTS[stop]
        elif kind:
            cut = "stopped sample", f"stopped at its {kind} limit"
        return broken, cut


def read_inspect(path: Path, options: LogOptions) -> Log:
    """Read the scores of a log of Inspect, a zip file or JSON."""
    header, samples = (_from_zip if path.suffix == ".eval" else _from_json)(path, options.most)
    if not samples:
        raise InputError(str(path), "no samples in it; scores of samples were expected")
    log, about, ids = Log(path, options), header.eval, header.eval.dataset.sample_ids or ()
    # In the order of the benchmark; samples are logged as they come to an end.
    place = {str(id_): number for number, id_ in enumerate(ids)}
    samples.sort(key=lambda one: (place.get(str(one.id), len(ids)), str(one.id), one.epoch))
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    log.run_id = about.eval_id or both
    noted = [one["method"] for one in (about.metadata, about.task_args) if one and "method" in one]
    method = next((str(one) for one in noted if one is not None), None)
    run = "_".join(filter(None, (_in_utc(about.created), log.run_id or path.stem)))
    log.set_names(run, dataset=about.task, model=about.model, method=method)
    scores = [sample.values() for sample in samples]
    # By rule, whether its scorer ever says which answer it scored.
    rules: dict[str, bool] = {}
    for rule, (_, answer) in (one for found in scores for one in found.items()):
        rules[rule] = rules.get(rule, False) or answer is not None
    log.rules = rules = rules or {one.name: False for one in about.scorers or ()}
    epochs = about.config.epochs or 1
    repeated = epochs > 1 or len({sample.epoch for sample in samples}) > 1
    letters: Counter[str] = Counter()
    for sample, found in zip(samples, scores, strict=True):
        key = {"id": str(sample.id), "epoch": sample.epoch if repeated else None}
        letters.update(_add_scores(log, sample, found, rules, key))
        log.usage.append(_usage(log, (sample.model_usage or {}).get(about.model), key))
    if header.status != "success":
        log.tell(f"the run did not end well: its status is {header.status!r}")
    planned = header.results.total_samples if header.results else None
    planned = len(ids) * epochs if planned is None else planned
    if len(samples) < planned:
        log.tell(f"{len(samples)} of {planned} samples are in it")
    for letter, meaning, number in (("P", "partly correct", 0.5), ("N", "no answer", 0)):
        if n := letters[letter]:
            log.tell(f"scores {letter} ({meaning}), read as {number} as Inspect does: {n}")
    log.tell_failures()
    return log


def _from_zip(path: Path, most: int) -> tuple[_Header, list[_Sample]]:
    with open_members(path, most) as (names, read):
        header = convert(f"{path}:{_HEADER}", read(_HEADER), _Header)
        members = [name for name in names if name.startswith(_SAMPLES)]
        samples = [convert(f"{path}:{name}", read(name), _Sample) for name in members]
        listed = read(_SUMMARIES) if _SUMMARIES in names else []
    there = {(str(sample.id), sample.epoch) for sample in samples}
    for one in convert(f"{path}:{_SUMMARIES}", listed, list[_Key]):
        if (str(one.id), one.epoch) not in there:
            problem = f"no sample {one.id}, epoch {one.epoch}, which {_SUMMARIES} lists"
            raise InputError(str(path), f"{problem}; the file is not whole")
    return header, samples


def _from_json(path: Path, most: int) -> tuple[_Header, list[_Sample]]:
    header = convert(str(path), read_json(path, most), _Header)
    listed = enumerate(header.samples or (), 1)
    return header, [convert(f"{path}[{number}]", sample, _Sample) for number, sample in listed]


def _in_utc(created: str | None) -> str | None:
    """Return a time in UTC, so that names that begin with it sort."""
    try:
        moment = datetime.fromisoformat(created or "")
    except ValueError:
        return None
    return f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}"


def _add_scores(
    log: Log, sample: _Sample, scores: _Values, rules: dict[str, bool], key: dict[str, Any]
) -> Iterator[str]:
    """Add one row per rule, also where an error kept the sample from having any; yield letters."""
    broken, cut = sample.failures()
    choices = sample.output.choices
    is_text = bool(choices) and not choices[0].message.get("tool_calls")
    replies = [sample.output.completion or ""] if is_text else []
    for rule in filter(log.options.wants, rules):
        recorded, answer = scores.get(rule, (None, None))
        place = f"{log.path}: sample {sample.id}, epoch {sample.epoch}, {rule} {recorded!r}"
        value = _to_number(place, recorded)
        reason = f"recorded as {recorded}" if rule in scores else "no score"
        failure = broken or find_failure(cut, replies, value, answer)
        was_sought = is_text and (rules[rule] or recorded == "N")
        row = {**key, "rule": rule, "value": value, "answer": answer, "reason": reason}
        log.add(row, failure, was_sought)
        if rule in scores:
            yield str(recorded)


def _to_number(place: str, value: Any) -> float | None:
    """Return a score from 0 to 1; None: the scorer could not tell, which Inspect writes as NaN."""
    if isinstance(value, str):
        value = _NUMBERS.get(value, _NUMBERS.get(value.lower(), value))
        with suppress(ValueError):
            value = float(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int | float):
        raise InputError(place, "no number, nor one of C, P, I, N; --rule reads other scores")
    if not 0 <= value <= 1:
        raise InputError(place, "a number from 0 to 1 was expected; --rule reads other scores")
    return float(value)


def _usage(log: Log, used: _Usage | None, key: dict[str, Any]) -> UsageRow:
    """Return the tokens of the model under test; a grader has a row of its own in the log."""
    tokens: dict[str, Any] = dict.fromkeys(("prompt", "completion", "reasoning"))
    if used:
        cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        tokens["prompt"], tokens["completion"] = used.input_tokens + cached, used.output_tokens
        tokens["reasoning"] = used.reasoning_tokens
    return UsageRow(**log.names, **key, **{f"{name}_tokens": n for name, n in tokens.items()})

"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Only samples are read. Summaries, their parts in `_journal/` and reductions say the same again, or
less: they leave failed samples out, and hold means over epochs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from evalcore.log_files.archive import Archive, open_archive
from evalcore.log_files.base import (
    LogFile,
    LoggedScore,
    LogOptions,
    Subject,
    UsageRow,
    choose_subject,
)
from evalcore.log_files.decoding import convert, decode, read_bytes
from evalcore.log_files.failures import describe_failures, find_failure
from evalcore.log_files.inspect_samples import NUMBERS, Sample, Usage, to_number
from ngramscan.errors import InputError

_HEADER = "header.json"
_SUMMARIES = "summaries.json"
_SAMPLES = "samples/"


class _Dataset(msgspec.Struct):
    sample_ids: list[str | int] | None = None


class _Config(msgspec.Struct):
    epochs: int | None = None


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
    dataset: _Dataset = msgspec.field(default_factory=_Dataset)
    config: _Config = msgspec.field(default_factory=_Config)
    scorers: list[_Scorer] | None = None

    @property
    def method(self) -> str | None:
        """Return the method that the user of Inspect noted, as metadata or argument."""
        for noted in (self.metadata, self.task_args):
            if (method := (noted or {}).get("method")) is not None:
                return str(method)
        return None

    @property
    def run(self) -> str | None:
        """Return what identifies the run; earlier versions give one to its run and its task."""
        both = f"{self.run_id}/{self.task_id}" if self.run_id and self.task_id else None
        return self.eval_id or both

    def run_name(self, path: Path) -> str:
        """Return when the run began, in UTC so that names sort, and what identifies it."""
        return "_".join(filter(None, (_in_utc(self.created), self.run or path.stem)))


def _in_utc(created: str | None) -> str | None:
    try:
        moment = datetime.fromisoformat(created or "")
    except ValueError:
        return None
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return moment.strftime("%Y-%m-%dT%H-%M-%S")


class _Results(msgspec.Struct):
    total_samples: int | None = None


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "unknown"
    results: _Results | None = None


class _Summary(msgspec.Struct):
    id: str | int
    epoch: int = 1


def read_inspect(path: Path, options: LogOptions) -> LogFile:
    """Read the scores of a log of Inspect.

    Parameters
    ----------
    path : Path
        A zip file, or JSON.
    options : LogOptions
        How it is read.

    Raises
    ------
    InputError
        The file is damaged or another one, or a score can't be read as a number; says where.
    """
    read = _from_zip if path.suffix == ".eval" else _from_json
    header, samples = read(path, options.most_line_bytes)
    if not samples:
        raise InputError(str(path), "no samples in it; scores of samples were expected")
    samples = _in_order(samples, header.eval.dataset.sample_ids or ())
    known = header.eval
    subject = choose_subject(path, options, known.task, known.model, known.method)
    subject = replace(subject, run=known.run_name(path))
    rules = _rules(header, samples)
    repeated = (known.config.epochs or 1) > 1 or len({s.epoch for s in samples}) > 1
    scores = [
        score for sample in samples for score in _scores(path, sample, rules, options, repeated)
    ]
    return LogFile(
        path=path,
        rows=[score.row(subject, options.keeps_recorded) for score in scores],
        rules=list(rules),
        usage=[_usage(subject, sample, known.model, repeated) for sample in samples],
        notices=[
            *_describe_run(path, header, samples),
            *_describe_letters(path, scores),
            *describe_failures(str(path), scores, options.keeps_recorded),
        ],
        run=known.run,
    )


def _from_zip(path: Path, most: int) -> tuple[_Header, list[Sample]]:
    with open_archive(path, most) as archive:
        header = convert(archive.place(_HEADER), _decoded(archive, _HEADER), _Header)
        names = [name for name in archive.members if name.startswith(_SAMPLES)]
        samples = [convert(archive.place(n), _decoded(archive, n), Sample) for n in names]
        if _SUMMARIES in archive.members:
            summaries = _decoded(archive, _SUMMARIES)
            listed = convert(archive.place(_SUMMARIES), summaries, list[_Summary])
            _refuse_missing(path, listed, samples)
    return header, samples


def _decoded(archive: Archive, name: str) -> Any:
    return decode(archive.place(name), archive.read(name))


def _refuse_missing(path: Path, listed: Sequence[_Summary], samples: Sequence[Sample]) -> None:
    there = {sample.key for sample in samples}
    for summary in listed:
        if (str(summary.id), summary.epoch) not in there:
            raise InputError(
                str(path),
                f"no sample {summary.id}, epoch {summary.epoch}, which {_SUMMARIES} lists; the "
                "file is not whole",
            )


def _from_json(path: Path, most: int) -> tuple[_Header, list[Sample]]:
    content = decode(str(path), read_bytes(path, most))
    header = convert(str(path), content, _Header)
    listed = content.get("samples") or []
    samples = [convert(f"{path}[{n}]", sample, Sample) for n, sample in enumerate(listed, 1)]
    return header, samples


def _in_order(samples: Sequence[Sample], ids: Sequence[str | int]) -> list[Sample]:
    """Return samples in the order of the benchmark; they are logged as they come to an end."""
    position = {str(id_): number for number, id_ in enumerate(ids)}
    return sorted(samples, key=lambda sample: (position.get(str(sample.id), len(ids)), sample.key))


def _rules(header: _Header, samples: Sequence[Sample]) -> dict[str, bool]:
    """Return the names of all scores, and of each whether it ever says which answer it is of.

    Where no sample has any, they are those that the task planned.
    """
    found: dict[str, bool] = {}
    for sample in samples:
        for rule, _, answer in sample.values():
            found[rule] = found.get(rule, False) or answer is not None
    return found or {scorer.name: False for scorer in header.eval.scorers or ()}


def _scores(
    path: Path, sample: Sample, rules: Mapping[str, bool], options: LogOptions, repeated: bool
) -> Iterator[LoggedScore]:
    """Yield one score per rule, also where an error kept the sample from having any."""
    scores = {rule: (value, answer) for rule, value, answer in sample.values()}
    broken, cut = sample.broken(), sample.cut()
    for rule, has_answers in rules.items():
        if not options.wants(rule):
            continue
        recorded, answer = scores.get(rule, (None, None))
        place = f"{path}: sample {sample.id}, epoch {sample.epoch}, {rule} {recorded!r}"
        value = to_number(place, recorded)
        yield LoggedScore(
            id=str(sample.id),
            epoch=sample.epoch if repeated else None,
            rule=rule,
            value=value,
            recorded=str(recorded) if rule in scores else None,
            answer=answer,
            failure=find_failure(broken, cut, sample.replies, value, answer),
            was_sought=bool(sample.replies) and (has_answers or recorded == "N"),
        )


def _usage(subject: Subject, sample: Sample, model: str, repeated: bool) -> UsageRow:
    """Return the tokens of the model under test; a grader has a row of its own in the log."""
    used: Mapping[str, Usage] = sample.model_usage or {}
    usage = used.get(model)
    return UsageRow(
        dataset=subject.dataset,
        model=subject.model,
        method=subject.method,
        id=str(sample.id),
        epoch=sample.epoch if repeated else None,
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.output_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        run=subject.run,
    )


def _describe_run(path: Path, header: _Header, samples: Sequence[Sample]) -> Iterator[str]:
    if header.status != "success":
        yield f"{path}: the run did not end well: its status is {header.status!r}"
    planned = header.results.total_samples if header.results else None
    if planned is None:
        ids = header.eval.dataset.sample_ids or ()
        planned = len(ids) * (header.eval.config.epochs or 1)
    if len(samples) < planned:
        yield f"{path}: {len(samples)} of {planned} samples are in it"


def _describe_letters(path: Path, scores: Sequence[LoggedScore]) -> Iterator[str]:
    counts = Counter(score.recorded for score in scores)
    for letter, meaning in (("P", "partly correct"), ("N", "no answer")):
        if counts[letter]:
            number = f"{NUMBERS[letter]:g}"
            yield (
                f"{path}: scores {letter} ({meaning}), read as {number} as Inspect does: "
                f"{counts[letter]}"
            )

"""Events of OpenAI evals: JSON lines that begin with the run's `spec`; samples have several events.

`match` says whether the picked answer is right, `metrics` has scores, `sampling` the replies.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from evalcore.commands.logs.readers import (
    Log,
    LogFile,
    Recorded,
    add_scores,
    decode,
    one_line,
)
from evalcore.formats import JsonFields
from ngramscan.errors import InputError


class _Spec(msgspec.Struct, frozen=True):
    eval_name: str | None = None
    completion_fns: list[str] | None = None
    model_name: str | None = None
    run_id: str | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str = ""
    sample_id: str | None = None
    data: Any = None
    spec: _Spec | None = None
    final_report: Any = None


class _OpenaiVerdict(NamedTuple):
    score: Any = None
    answer: str | None = None


@dataclass(slots=True)
class _OpenaiSample:
    """The events of a sample; one that is asked repeatedly has several of each kind."""

    verdicts: dict[str, list[_OpenaiVerdict]] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    error: str = ""

    def replies_to(self, rule: str, number: int) -> list[str]:
        """Return the reply of a verdict; all, if it is not known which one it is about."""
        if self.replies and len(self.replies) == len(self.verdicts.get(rule, ())):
            return [self.replies[number]]
        return self.replies


def read_openai_evals(file: LogFile) -> Log:
    """Read the events of a run: one rule for matches, and one per metric."""
    events = [decode(place, line, _Event) for place, line in file.lines()]
    spec = next((event.spec for event in events if event.spec), _Spec())
    samples = _samples_of(events)
    log, scores = Log(), list[Recorded]()
    log.rules = {rule for sample in samples.values() for rule in sample.verdicts}
    if not log.rules:
        raise InputError(file.path, "it has no events `match` or `metrics`, so no scores")
    model = spec.model_name or ", ".join(spec.completion_fns or ())
    names = file.names(spec.run_id, [], dataset=spec.eval_name, model=model)
    if not any(event.final_report is not None for event in events):
        log.notices.append("it has no final report: the run was killed, or has not ended")
    is_repeated = any(
        len(verdicts) > 1 for sample in samples.values() for verdicts in sample.verdicts.values()
    )
    for id_, sample in samples.items():
        for rule in filter(file.wants, sorted(log.rules)):
            scores += _scores(file, {**names, "id": id_}, rule, sample, is_repeated)
    add_scores(log, file, scores)
    return log


def _samples_of(events: Sequence[_Event]) -> Mapping[str, _OpenaiSample]:
    samples: dict[str, _OpenaiSample] = {}
    for event in events:
        if event.sample_id is not None:
            data = event.data if isinstance(event.data, dict) else {}
            _add_event(samples.setdefault(event.sample_id, _OpenaiSample()), event.type, data)
    return samples


def _add_event(sample: _OpenaiSample, kind: str, data: JsonFields) -> None:
    if kind == "sampling":
        sampled = data.get("sampled")
        texts = sampled if isinstance(sampled, list) else [sampled]
        sample.replies += [text for text in texts if isinstance(text, str)]
    elif kind == "match":
        picked = data.get("picked")
        answer = picked if isinstance(picked, str) else None
        sample.verdicts.setdefault("match", []).append(_OpenaiVerdict(data.get("correct"), answer))
    elif kind == "metrics":
        for name, score in data.items():
            if isinstance(score, int | float):
                sample.verdicts.setdefault(name, []).append(_OpenaiVerdict(score))
    elif kind == "error":
        sample.error = one_line(data.get("message") or data.get("type") or "unknown")[:200]


def _scores(
    file: LogFile, names: JsonFields, rule: str, sample: _OpenaiSample, is_repeated: bool
) -> Iterator[Recorded]:
    failure = ("error", f"error: {sample.error}") if sample.error else ("", "")
    for number, (score, answer) in enumerate(sample.verdicts.get(rule) or [_OpenaiVerdict()]):
        place, epoch = f"{file.path}: sample {names['id']}", number + 1 if is_repeated else None
        row = file.row(place, {**names, "epoch": epoch}, rule, score, answer)
        replies = sample.replies_to(rule, number)
        yield Recorded(row, replies, rule == "match", *failure)

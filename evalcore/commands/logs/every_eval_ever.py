"""Samples of Every Eval Ever: JSON lines of the schema `instance_level_eval`, one per answer.

The converters of that project write one line per sample and metric; the aggregate beside them has
no samples.
"""

from collections import Counter
from collections.abc import Sequence
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
)
from evalcore.formats import JsonFields, hash_document
from evalcore.records import WholeNumber
from ngramscan.errors import InputError

_RULE = "score"


class _EverEvaluation(msgspec.Struct, frozen=True):
    score: Any = None
    is_correct: bool | None = None


class _EverInput(msgspec.Struct, frozen=True):
    raw: Any = None
    reference: Any = None


class _Attribution(msgspec.Struct, frozen=True):
    extracted_value: Any = None
    is_terminal: bool = True


class _EverTokens(msgspec.Struct, frozen=True):
    input_tokens: WholeNumber | None = None
    output_tokens: WholeNumber | None = None
    reasoning_tokens: WholeNumber | None = None


class _EverInstance(msgspec.Struct):
    evaluation_name: str
    model_id: str
    sample_id: str | int
    evaluation: _EverEvaluation
    evaluation_id: str | None = None
    evaluation_result_id: str | None = None
    sample_hash: str | None = None
    input: _EverInput = _EverInput()
    output: JsonFields | None = None
    messages: list[JsonFields] | None = None
    answer_attribution: list[_Attribution] | None = None
    token_usage: _EverTokens | None = None
    error: str | None = None
    metadata: JsonFields | None = None

    def hash(self) -> str | None:
        """Return the hash of the problem; if it is not recorded, as the project's tools make it."""
        raw, reference = self.input.raw, self.input.reference
        if self.sample_hash or not isinstance(raw, str):
            return self.sample_hash or None
        first = next(iter(reference), "") if isinstance(reference, list) else reference
        return hash_document(f"{raw}{first or ''}")

    def answer(self) -> str | None:
        """Return the answer that was found last, if any was."""
        terminal_answers = [
            attribution for attribution in self.answer_attribution or () if attribution.is_terminal
        ]
        return None if not terminal_answers else one_line(terminal_answers[-1].extracted_value)

    def replies(self) -> list[str]:
        """Return the texts of the model; of a conversation, its last."""
        if self.output is not None:
            raw = self.output.get("raw")
            texts = raw if isinstance(raw, list) else [raw]
            return [text for text in texts if isinstance(text, str)]
        replies = [
            message.get("content")
            for message in self.messages or ()
            if message.get("role") == "assistant"
        ]
        return [text for text in replies[-1:] if isinstance(text, str)]


def read_every_eval_ever(file: LogFile) -> Log:
    """Read a file of samples: one rule, or one per metric if samples have several."""
    instances = [(place, decode(place, line, _EverInstance)) for place, line in file.lines()]
    if not instances:
        raise InputError(file.path, "it is empty; expected one line per sample")
    log, scores = Log(), list[Recorded]()
    rules = _rules([instance for _, instance in instances])
    has_answers = any(instance.answer() is not None for _, instance in instances)
    names: dict[tuple[str, str, str | None], JsonFields] = {}
    for (place, instance), rule in zip(instances, rules, strict=True):
        run = (instance.evaluation_name, instance.model_id, instance.evaluation_id)
        if run not in names:
            dataset, model, name = run
            names[run] = file.names(name, [instance.metadata], dataset=dataset, model=model)
        log.rules.add(rule)
        if file.wants(rule):
            identity = {**names[run], "id": str(instance.sample_id), "epoch": None}
            scored = identity | {"hash": instance.hash()}
            scores.append(_score(file, place, instance, rule, scored, has_answers))
            if rule == rules[0]:
                log.usage.append(_usage(instance, identity))
    add_scores(log, file, scores)
    return log


def _rules(instances: Sequence[_EverInstance]) -> list[str]:
    """Return the rule of each line: the name of its metric, if a sample has several."""
    keys = [
        (
            instance.evaluation_name,
            instance.model_id,
            instance.evaluation_id,
            str(instance.sample_id),
        )
        for instance in instances
    ]
    is_repeated = max(Counter(keys).values()) > 1
    return [
        instance.evaluation_result_id or _RULE if is_repeated else _RULE for instance in instances
    ]


def _score(
    file: LogFile,
    place: str,
    instance: _EverInstance,
    rule: str,
    names: JsonFields,
    has_answers: bool,
) -> Recorded:
    evaluation = instance.evaluation
    score = evaluation.is_correct if evaluation.score is None else evaluation.score
    row = file.row(place, names, rule, score, instance.answer())
    if evaluation.is_correct is not None and row.value == 1 - evaluation.is_correct:
        problem = f"score {score} contradicts is_correct {evaluation.is_correct}"
        raise InputError(place, f"{problem}; remove the one that is wrong")
    failure = ("error", f"error: {one_line(instance.error)[:200]}") if instance.error else ("", "")
    return Recorded(row, instance.replies(), has_answers, *failure)


def _usage(instance: _EverInstance, names: JsonFields) -> UsageRow:
    tokens = instance.token_usage or _EverTokens()
    return UsageRow(
        **names,
        prompt_tokens=tokens.input_tokens,
        completion_tokens=tokens.output_tokens,
        reasoning_tokens=tokens.reasoning_tokens,
    )

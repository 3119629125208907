"""Results of promptfoo: `promptfoo eval -o results.json`, or `.jsonl`.

A prompt is a method, a provider a model, and a test a problem. A test without assertions passes
whatever the output, so it is unscored here.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from evalcore.commands.logs.readers import (
    Log,
    LogFile,
    Recorded,
    UsageRow,
    add_scores,
    decode,
    failure_of_ending,
    one_line,
)
from evalcore.formats import JsonFields, hash_document
from ngramscan.errors import InputError
from ngramscan.reading.streams import unpacked_path

_PASS, _SCORE = "pass", "score"
_ERROR = 2  # the reason of a failure that is not one of assertions
_LONGEST_LABEL = 60
_POSITIONS = "tests have no variable `id`, so ids are positions, which must mean the same in all"


class _Provider(msgspec.Struct, frozen=True):
    id: str = ""
    label: str | None = None


class _PromptfooResult(msgspec.Struct, frozen=True, rename="camel"):
    success: bool | None = None
    score: Any = None
    provider: _Provider | str = ""
    prompt: JsonFields | str | None = None
    response: JsonFields | None = None
    error: str | None = None
    failure_reason: int | None = None
    grading_result: JsonFields | None = None
    named_scores: JsonFields | None = None
    test_case: JsonFields | None = None
    vars: JsonFields | None = None
    prompt_idx: int = 0
    test_idx: int | None = None

    @property
    def model(self) -> str:
        """The provider, as its user calls it."""
        if isinstance(self.provider, str):
            return self.provider
        return self.provider.label or self.provider.id

    @property
    def method(self) -> str:
        """The label of the prompt, unless that is the whole prompt."""
        prompt = self.prompt if isinstance(self.prompt, dict) else {"label": self.prompt}
        label = str(prompt.get("label") or "")
        is_name = 0 < len(label) <= _LONGEST_LABEL and "\n" not in label
        return label if is_name else f"prompt {self.prompt_idx + 1}"

    @property
    def variables(self) -> JsonFields:
        """The variables of the test."""
        return self.vars or (self.test_case or {}).get("vars") or {}

    def hash(self) -> str | None:
        """Return the hash of the variables of the test, but for those of the tool and its id."""
        variables = (self.test_case or {}).get("vars") or self.vars or {}
        problem = {
            name: value
            for name, value in variables.items()
            if name not in {"id", "sessionId"} and not name.startswith("_")
        }
        return hash_document(json.dumps(problem, sort_keys=True)) if problem else None

    def verdicts(self) -> dict[str, Any]:
        """Return the scores by rule; none if nothing was asserted, or nothing could be."""
        grading = self.grading_result or {}
        has_assertions = bool((self.test_case or {}).get("assert"))
        if self.is_error or not (has_assertions or grading.get("componentResults")):
            return {_PASS: None}
        return {_PASS: self.success, _SCORE: self.score, **(self.named_scores or {})}

    @property
    def is_error(self) -> bool:
        """Whether the provider failed; a failed assertion has an `error`, too."""
        if self.failure_reason is not None:
            return self.failure_reason == _ERROR
        return bool(self.error) and not self.grading_result


class _PromptfooResults(msgspec.Struct, frozen=True):
    results: list[_PromptfooResult]
    timestamp: str | None = None


class _PromptfooEvaluation(msgspec.Struct, frozen=True, rename="camel"):
    results: _PromptfooResults
    eval_id: str | None = None
    config: JsonFields | None = None


def read_promptfoo(file: LogFile) -> Log:
    """Read an evaluation: the rules are `pass`, other scores, and the metrics of assertions."""
    evaluation = _read_evaluation(file)
    results = evaluation.results.results
    if not results:
        raise InputError(file.path, "it has no results, so there is nothing to read")
    log, scores = Log(), list[Recorded]()
    stem = unpacked_path(file.path).stem
    dataset = str((evaluation.config or {}).get("description") or stem)
    rules = _rules_of(results)
    log.rules = {*rules, _SCORE}
    wanted = [rule for rule in log.rules if rule in file.wanted] if file.wanted else rules
    for id_, result in zip(_ids_of(results, log), results, strict=True):
        notes: list[JsonFields | None] = [{"method": result.method}]
        names = file.names(evaluation.eval_id, notes, dataset=dataset, model=result.model)
        names |= {"id": id_, "epoch": None}
        scores += _scores(file, names | {"hash": result.hash()}, result, wanted)
        log.usage.append(_usage(names, result))
    add_scores(log, file, scores)
    return log


def _read_evaluation(file: LogFile) -> _PromptfooEvaluation:
    """Return an evaluation; lines and lists have only its results."""
    if unpacked_path(file.path).suffix == ".json" and not file.is_list():
        return file.read_json(file.path, _PromptfooEvaluation)
    return _PromptfooEvaluation(
        _PromptfooResults([decode(place, line, _PromptfooResult) for place, line in file.lines()])
    )


def _rules_of(results: Sequence[_PromptfooResult]) -> list[str]:
    """Return the rules to read; `score` only where it says more than `pass`."""
    verdicts = [result.verdicts() for result in results]
    says_more = any(verdict.get(_SCORE, verdict[_PASS]) != verdict[_PASS] for verdict in verdicts)
    rules = dict.fromkeys(rule for verdict in verdicts for rule in verdict)
    return [rule for rule in rules if rule != _SCORE or says_more]


def _ids_of(results: Sequence[_PromptfooResult], log: Log) -> list[str]:
    """Return the ids of tests: a variable, or their positions."""
    ids = [result.variables.get("id") for result in results]
    if None not in ids:
        return [str(id_) for id_ in ids]
    log.notices.append(_POSITIONS)
    n_before = Counter[tuple[str, int]]()
    positions = list[str]()
    for result in results:
        run = (result.model, result.prompt_idx)
        position = n_before[run] if result.test_idx is None else result.test_idx
        positions.append(str(position))
        n_before[run] += 1
    return positions


def _scores(
    file: LogFile, names: JsonFields, result: _PromptfooResult, rules: Sequence[str]
) -> Iterator[Recorded]:
    verdicts = result.verdicts()
    for rule in rules:
        place = f"{file.path}: test {names['id']}"
        row = file.row(place, names, rule, verdicts.get(rule))
        yield Recorded(row, _replies_of(result), False, *_failure_of(result))


def _replies_of(result: _PromptfooResult) -> list[str]:
    output = (result.response or {}).get("output")
    if output is None:
        return []
    return [output if isinstance(output, str) else json.dumps(output)]


def _failure_of(result: _PromptfooResult) -> tuple[str, str]:
    response = result.response or {}
    if result.is_error:
        return "error", f"error: {one_line(result.error or response.get('error'))[:200]}"
    if response.get("isRefusal"):
        return "refusal", "refused"
    failure, cause = failure_of_ending(response.get("finishReason"))
    if failure:
        return failure, cause
    if result.verdicts()[_PASS] is None:
        return "unscored sample", "no assertions"
    return "", ""


def _usage(names: JsonFields, result: _PromptfooResult) -> UsageRow:
    tokens = (result.response or {}).get("tokenUsage") or {}
    return UsageRow(
        **names,
        prompt_tokens=tokens.get("prompt"),
        completion_tokens=tokens.get("completion"),
        reasoning_tokens=(tokens.get("completionDetails") or {}).get("reasoning"),
    )

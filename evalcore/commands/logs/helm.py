"""Runs of HELM: `per_instance_stats.json`, and other files of the run's folder beside it.

An instance has many statistics; those that say how right an answer is are rules. The prompting
method is that of the adapter.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse, counted

_CORRECTNESS = re.compile(
    r"(quasi_|prefix_|quasi_prefix_|final_number_)?exact_match(_indicator)?(@\d+)?"
    r"|(math_)?equiv(alent)?(_chain_of_thought)?|chain_of_thought_correctness"
    r"|f1_score|rouge_(1|2|l)|bleu_(1|4)|.*accuracy|(code_eval|strict|test)_(acc|avg)|pass"
)
"""Names of statistics that say how right an answer is; others are read if they are asked for."""


class _Stat(msgspec.Struct, frozen=True):
    name: JsonFields
    count: float = 0
    sum: Any = None
    mean: Any = None

    @property
    def value(self) -> Any:
        """The mean over what was counted, which is one answer; None if nothing was."""
        if not self.count:
            return None
        return self.sum / self.count if self.mean is None else self.mean


class _HelmInstance(msgspec.Struct, frozen=True):
    instance_id: str
    stats: list[_Stat]
    train_trial_index: int = 0
    perturbation: JsonFields | None = None


class _Adapter(msgspec.Struct, frozen=True):
    method: str | None = None
    model: str | None = None


class _HelmRun(msgspec.Struct, frozen=True):
    name: str
    adapter_spec: _Adapter = _Adapter()


class _Request(msgspec.Struct, frozen=True):
    instance: JsonFields
    train_trial_index: int = 0
    result: JsonFields | None = None


class _HelmState(msgspec.Struct, frozen=True):
    request_states: list[_Request]


_HelmKey = tuple[str, int]
"""The id of an instance, and the number of the trial with other examples in the prompt."""


def read_helm(file: LogFile) -> Log:
    """Read the statistics of a run, with its answers if they are beside them."""
    log = Log()
    instances = [(place, decode(place, line, _HelmInstance)) for place, line in file.lines()]
    stats = _stats_of(instances, log)
    if not stats:
        raise InputError(file.path, "it has no instances, so there is nothing to read")
    run = _read_run(file)
    dataset, in_name = _split_name(run.name)
    model = run.adapter_spec.model or in_name.get("model")
    notes: list[JsonFields | None] = [in_name, {"method": run.adapter_spec.method}]
    names = file.names(None, notes, dataset=dataset, model=model)
    log.rules = {name for values in stats.values() for name in values}
    rules = [*file.wanted] or sorted(filter(_CORRECTNESS.fullmatch, log.rules))
    if not rules:
        problem = "it has no statistic that is known to say how right an answer is"
        raise InputError(
            file.path,
            f"{problem}; choose one with " + OptionUse("rule") + f": {some_of(log.rules)}",
        )
    requests = _read_requests(file, log)
    has_trials = len({trial for _, trial in stats}) > 1
    scores = list[Recorded]()
    for key, values in stats.items():
        instance, trial = key
        identity = {**names, "id": instance, "epoch": trial + 1 if has_trials else None}
        own_requests = requests.get(key, ())
        scored = identity | {"hash": _hash_of(own_requests[0].instance) if own_requests else None}
        scores += _scores(
            file, scored, values, rules, own_requests[0] if len(own_requests) == 1 else None
        )
        log.usage.append(_usage(identity, values))
    add_scores(log, file, scores)
    return log


def _stats_of(
    instances: Iterable[tuple[str, _HelmInstance]], log: Log
) -> dict[_HelmKey, dict[str, Any]]:
    """Return the statistics of each instance, which several metrics list apart."""
    stats: dict[_HelmKey, dict[str, Any]] = {}
    perturbed = Counter[str]()
    for place, instance in instances:
        if instance.perturbation:
            perturbed[instance.instance_id] += 1
            continue
        values = stats.setdefault((instance.instance_id, instance.train_trial_index), {})
        _add_stats(place, instance, values)
    if perturbed:
        said = counted(len(perturbed), "instance")
        log.notices.append(f"{said} also in perturbed forms, which are not read")
    return stats


def _add_stats(place: str, instance: _HelmInstance, values: dict[str, Any]) -> None:
    """Add the statistics of an instance; raise an InputError if its answer has two verdicts."""
    for stat in instance.stats:
        name, value = str(stat.name.get("name")), stat.value
        before = values.get(name)
        if _CORRECTNESS.fullmatch(name) and before is not None and value not in {before, None}:
            problem = f"instance {instance.instance_id} has two values of {name}, {before:g} and"
            raise InputError(place, f"{problem} {value:g}; keep the statistics of one run")
        values[name] = before if value is None else value


def _read_run(file: LogFile) -> _HelmRun:
    path = file.path.with_name("run_spec.json")
    if path.is_file():
        return file.read_json(path, _HelmRun)
    return _HelmRun(file.path.absolute().parent.name)


def _split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a run without its model and method, and these."""
    scenario, _, arguments = name.partition(":")
    parsed_arguments = [argument.partition("=") for argument in arguments.split(",") if argument]
    aside = {"model", "model_deployment", "method"}
    scenario_arguments = ",".join(
        f"{key}{mark}{value}" for key, mark, value in parsed_arguments if key not in aside
    )
    return ":".join(filter(None, (scenario, scenario_arguments))), {
        key: value for key, _, value in parsed_arguments
    }


def _read_requests(file: LogFile, log: Log) -> Mapping[_HelmKey, list[_Request]]:
    """Return the requests of each instance, one or one per choice."""
    path = file.path.with_name("scenario_state.json")
    if not path.is_file():
        log.notices.append(
            f"no {path.name} in the same folder, so empty replies and refusals are unknown"
        )
        return {}
    requests: dict[_HelmKey, list[_Request]] = {}
    for request in file.read_json(path, _HelmState).request_states:
        if not request.instance.get("perturbation"):
            key = (str(request.instance.get("id")), request.train_trial_index)
            requests.setdefault(key, []).append(request)
    return requests


def _hash_of(instance: JsonFields) -> str | None:
    """Return the hash of a problem and its references, which may be choices in any order."""
    text = (instance.get("input") or {}).get("text")
    references = [
        str((reference.get("output") or {}).get("text"))
        for reference in instance.get("references") or ()
    ]
    return hash_document(text, *sorted(references)) if text else None


def _scores(
    file: LogFile,
    names: JsonFields,
    values: Mapping[str, Any],
    rules: Iterable[str],
    request: _Request | None,
) -> Iterator[Recorded]:
    result = (request and request.result) or {}
    completions = result.get("completions") or []
    replies = [str(completion.get("text") or "") for completion in completions]
    for rule in rules:
        place = f"{file.path}: instance {names['id']}"
        row = file.row(place, names, rule, values.get(rule))
        yield Recorded(row, replies, False, *_failure_of(result, completions))


def _failure_of(result: JsonFields, completions: list[JsonFields]) -> tuple[str, str]:
    if result.get("success") is False:
        return "error", f"error: {one_line(result.get('error'))[:200]}"
    stops = [(completion.get("finish_reason") or {}).get("reason") for completion in completions]
    return failure_of_ending(stops[0]) if len(stops) == 1 else ("", "")


def _usage(names: JsonFields, values: Mapping[str, Any]) -> UsageRow:
    n_prompt, n_output = values.get("num_prompt_tokens"), values.get("num_output_tokens")
    n_output = values.get("num_completion_tokens") if n_output is None else n_output
    return UsageRow(
        **names,
        prompt_tokens=None if n_prompt is None else int(n_prompt),
        completion_tokens=None if n_output is None else int(n_output),
        reasoning_tokens=None,
    )

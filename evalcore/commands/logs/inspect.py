"""Logs of Inspect: `.eval`, a zip file with one member per sample, and `.json`.

Samples are read, not reductions, which leave failed ones out and hold one value for all epochs.
Logs of version 1 have one score per sample, and logs before mid-2025 no `completion`. A run that
was killed leaves a log without `header.json`, which is read as far as it goes.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from evalcore.commands.logs.inspect_archives import read_archive, replaced_notice
from evalcore.commands.logs.inspect_samples import (
    InspectChoice,
    InspectHeader,
    InspectPlan,
    InspectRun,
    InspectSample,
    InspectUsage,
    text_of_content,
)
from evalcore.commands.logs.readers import (
    Log,
    LogFile,
    Recorded,
    UsageRow,
    add_scores,
    one_line,
    to_number,
)
from evalcore.finish_reasons import Ending, classify_finish_reason
from evalcore.formats import JsonFields
from evalcore.scores import ScoreRow, read_cluster
from ngramscan.errors import InputError


class _InspectVerdict(NamedTuple):
    value: Any = None
    answer: str | None = None
    unscored_reason: str = ""


def read_inspect(file: LogFile) -> Log:
    """Read a log of Inspect, a zip file or JSON."""
    log = Log()
    is_zip = file.path.suffix == ".eval"
    header = read_archive(file, log) if is_zip else file.read_json(file.path, InspectHeader)
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


def _latest_attempts(samples: Sequence[InspectSample], log: Log) -> list[InspectSample]:
    """Leave out attempts that failed and were repeated; a notice counts them."""
    attempts: dict[tuple[str, int], list[InspectSample]] = {}
    n_replaced = 0
    for sample in samples:
        attempts_of_sample = attempts.setdefault((str(sample.id), sample.epoch), [])
        if attempts_of_sample and attempts_of_sample[-1].error:
            attempts_of_sample.pop()
            n_replaced += 1
        attempts_of_sample.append(sample)
    if n_replaced:
        log.notices.append(replaced_notice(n_replaced))
    return [sample for attempts_of_sample in attempts.values() for sample in attempts_of_sample]


def _scores_of(header: InspectHeader, sample: InspectSample) -> Mapping[str, JsonFields | None]:
    """Return the scores of a sample by scorer; in version 1, it has one without a name."""
    if sample.scores is not None or sample.score is None:
        return sample.scores or {}
    return {next(iter(_planned_rules(header)), "score"): sample.score}


def _parts_of_scores(
    header: InspectHeader, samples: Sequence[InspectSample]
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
    header: InspectHeader, sample: InspectSample, parts: Mapping[str, Iterable[str]]
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


def _planned_rules(header: InspectHeader) -> list[str]:
    """Return the scorers that the run was given, or that its results name."""
    results = header.results or InspectPlan()
    only = results.scorer.get("name") if isinstance(results.scorer, dict) else results.scorer
    named = [
        scorer.get("name") for scorer in (*(header.eval.scorers or ()), *(results.scores or ()))
    ]
    # Samples have names without those of packages.
    return [str(name).rpartition("/")[2] for name in dict.fromkeys([*named, only]) if name]


def _rules_of(
    header: InspectHeader, verdicts: Iterable[Iterable[str]], parts: Mapping[str, Iterable[str]]
) -> list[str]:
    rules_in_samples = dict.fromkeys(rule for rules in verdicts for rule in rules)
    return [*rules_in_samples] or [rule for rule in _planned_rules(header) if rule not in parts]


def _usage_row(names: JsonFields, used: InspectUsage | None) -> UsageRow:
    used = used or InspectUsage()  # a grader has its own
    cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return UsageRow(
        **names,
        prompt_tokens=None if used.input_tokens is None else used.input_tokens + cached,
        completion_tokens=used.output_tokens,
        reasoning_tokens=used.reasoning_tokens,
    )


def _describe_run(header: InspectHeader, n_samples: int, is_repeated: bool) -> Iterator[str]:
    """Describe what the log lacks, and how its own results differ from these scores."""
    about = header.eval
    if header.status == "started":
        yield "the run was killed, or has not ended; its log is read as far as it goes"
    elif header.status != "success":
        yield f"the run did not succeed: its status is {header.status!r}"
    planned = (header.results or InspectPlan()).total_samples
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


def _name_run(about: InspectRun, stem: str) -> str:
    both = f"{about.run_id}/{about.task_id}" if about.run_id and about.task_id else None
    run = about.eval_id or both or stem  # older logs have no eval_id
    with suppress(ValueError, OverflowError):  # with the time in front, runs can be sorted
        moment = datetime.fromisoformat(about.created or "")
        run = f"{moment.astimezone(UTC) if moment.tzinfo else moment:%Y-%m-%dT%H-%M-%S}_{run}"
    return run


def _scores(
    file: LogFile,
    sample: InspectSample,
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


def _reply_of(sample: InspectSample) -> str | None:
    """Return the text of the reply; None if there is none, or if it is not a text."""
    output = sample.output
    if not output.choices or output.choices[0].message.get("tool_calls"):
        return None
    text = output.completion or text_of_content(output.choices[0].message.get("content"))
    return output.completion if text is None else sample.with_attachments(text)


def _failure_of(sample: InspectSample) -> tuple[str, str]:
    """Return the kind and the cause of a failure that the log records, or two empty texts."""
    output, choice = sample.output, (sample.output.choices or [InspectChoice()])[0]
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

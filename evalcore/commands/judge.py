"""`evalcore judge`: models judge proofs and prose, which no rule can score, or why answers fail."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from platformdirs import user_cache_path
from rich.console import Console

from evalcore.benchmarks import Dataset, load_dataset
from evalcore.commands.logs import refuse_logs
from evalcore.endpoint import (
    Ask,
    Question,
    ask_and_keep,
    open_endpoint,
    read_key,
    request_parameters,
)
from evalcore.finish_reasons import describe_finish_reason
from evalcore.formats import Problem
from evalcore.judge_replies import VerdictForm, label_of, read_fields, read_verdict
from evalcore.judge_sample import STRATA, LabelShareRow, Sample, draw_sample, make_label_shares
from evalcore.options import ColumnNames, JudgeOptions, Seed
from evalcore.prompts import fill
from evalcore.records import Record, benchmark_of, in_order, read_chosen
from evalcore.scores import (
    NO_ANSWER,
    UNKNOWN,
    ScoreRow,
    group_of,
    key_of,
    outputs_valued,
)
from ngramscan.errors import InputError
from ngramscan.journal import Journal
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.reasoning import split_reasoning
from ngramscan.reading.row_files import Table
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Layout, cell, print_columns


@dataclass(frozen=True, slots=True)
class JudgeRow(ScoreRow):
    """The verdict of one judge on one output: the columns of scores, and the judge's own.

    The rule is `judge:NAME`, and `answer` the verdict on the judge's own scale. A reply that is
    unusable, or a label without an order, has the status `unknown`.
    """

    task: str = ""
    judge: str = ""
    """The judge, as the server calls it."""
    prompt_sha256: str = ""
    reply: str | None = None
    weight: float | None = None
    """Number of outputs that this one represents, drawn at random. None: all are judged."""
    points: float | None = None
    """The points of the problem, if the benchmark has them; see `compare --weight`."""


class JudgePrompt(msgspec.Struct):
    """The prompt for one kind of answer, and the form of the replies; see the YAML file."""

    system: str
    user: str
    task: str = "grade"
    pattern: str = ""
    expected: str = ""
    field: str = ""
    reason: str = ""
    labels: dict[str, float | None] | None = None
    most: float = 0
    section: str = ""


def choose_prompt(dataset: str, task: str) -> JudgePrompt:
    """Return the judges' prompt for a benchmark; raise an InputError if rules score it."""
    text = resources.files("evalcore").joinpath("judge_prompts.yaml").read_text(encoding="utf-8")
    wanted = task if task == "failure-causes" else dataset
    for name, prompt in msgspec.yaml.decode(text, type=dict[str, JudgePrompt]).items():
        if wanted.startswith(name):
            return prompt
    raise InputError(OptionUse("dataset", dataset), "rules score its answers; use `evalcore score`")


def judged_part(prompt: JudgePrompt, output: str) -> tuple[str, str]:
    """Return the part of an output that is judged, and its name."""
    heading = r"\s*".join(map(re.escape, prompt.section.split()))
    *before, last = re.split(rf"(?m)^{heading}\s*$", output) if heading else [output]
    return (last.strip(), prompt.section) if before else (output, "whole output")


def judge_messages(prompt: JudgePrompt, problem: Problem, output: str) -> list[dict[str, str]]:
    """Return the exact messages to a judge."""
    answer, _ = judged_part(prompt, output)
    material = {"problem": problem.text, "gold": problem.gold or "", "answer": answer}
    for name in ("solution", "guidelines", "points"):
        value = problem.details.get(name) or ""
        material[name] = "\n\n".join(value) if isinstance(value, list) else str(value)
    user = {"role": "user", "content": fill(prompt.user, material)}
    return [{"role": "system", "content": prompt.system}, user]


def _ask_judge(
    ask: Ask,
    blank: Record,
    requests: Iterable[str],
    journal: Journal,
    source: str,
    size: int,
    progress: Progress,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a judge's reply to each request, kept at once; and why other replies are missing."""
    kept = journal.get(source, blank.model, requests)
    replies = {request: json.loads(reply.text) for request, reply in kept.items()}
    new = [request for request in requests if request not in replies]
    todo = [Question(replace(blank, id=request), json.loads(request)[0]) for request in new]

    def keep(question: Question, answer: Record) -> str:
        request, model = question.record.id, blank.model
        if answer.refusal is None and (incomplete := _why_incomplete(answer)):
            return f"the reply was {incomplete}"
        if answer.output is None:
            return f"the judge refused: {answer.refusal or 'no text'}"
        replies[request] = {"reply": answer.output, "model": answer.reported_model}
        journal.put(source, model, request, json.dumps(replies[request], ensure_ascii=False))
        return ""

    missing = ask_and_keep(ask, todo, keep, size, progress, "judgements")
    return replies, {request: reason for (request, _), reason in missing.items()}


def _why_incomplete(answer: Record) -> str:
    incomplete = describe_finish_reason(answer.finish_reason)
    is_limit = incomplete == "cut at the token limit"
    return f"{incomplete}; raise --max-tokens" if is_limit else incomplete


def read_reply(prompt: JudgePrompt, reply: str) -> tuple[float | None, str, str]:
    """Return a judge's value from 0 to 1 or None, its label on its own scale, and its reason.

    Raises a ValueError if the reply has no verdict or two; such a reply counts as unknown.
    """
    verdict = split_reasoning(reply).answer
    if verdict is None:
        raise ValueError("it ends within its reasoning")
    reason = ""
    if prompt.pattern:
        labels = list(prompt.labels or ())
        form = VerdictForm(prompt.pattern, prompt.expected, labels, prompt.most)
        answer: Any = read_verdict(form, verdict)
    else:
        fields = read_fields(verdict)
        answer = fields.get(prompt.field)
        reason = " ".join(str(fields.get(prompt.reason) or "").split())
    problem = f"{prompt.field} {json.dumps(answer)}"
    if prompt.labels:
        label = label_of(answer, [*prompt.labels])
        if label is None:
            raise ValueError(f"{problem}; expected one of {', '.join(prompt.labels)}")
        return prompt.labels[label], label, reason
    if type(answer) not in {int, float} or not 0 <= answer <= prompt.most:
        raise ValueError(f"{problem}; expected a number from 0 to {prompt.most:g}")
    return answer / prompt.most, f"{answer:g}", reason


def judged_row(
    prompt: JudgePrompt, problem: Problem, record: Record, judge: str, kept: dict[str, Any]
) -> JudgeRow:
    """Return the row for a reply and its model, or for an output that was not judged."""
    reply, value, label, reason = kept.get("reply"), None, "", record.not_scorable or ""
    if reply is not None:
        try:
            value, label, reason = read_reply(prompt, reply)
        except ValueError as error:
            reason = f"unusable reply: {error}"
    points = problem.details.get("points")
    if value is not None and points is not None:
        reason = "; ".join(filter(None, (f"{value * points:g} of {points} points", reason)))
    return JudgeRow(
        **record.names,
        rule=f"judge:{judge}",
        value=value,
        answer=label or None,
        extraction=None if reply is None else judged_part(prompt, record.answer_text or "")[1],
        reason=reason,
        task=prompt.task,
        judge=kept.get("model") or judge,
        prompt_sha256=hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest(),
        reply=reply,
        points=points,
        subtask=problem.subtask or None,
        hash=problem.hash,
        status=NO_ANSWER if reply is None else UNKNOWN if value is None else "",
    )


def _without_reply(rows: Sequence[JudgeRow]) -> tuple[list[str], list[str]]:
    """Return notices on missing and unusable replies, and failures of judges with no other."""
    notices, failures = list[str](), list[str]()
    replies = sorted((row for row in rows if row.reply is not None), key=attrgetter("rule"))
    for rule, group in groupby(replies, attrgetter("rule")):
        reasons = [None if row.answer else row.reason for row in group]
        if unusable := list(filter(None, reasons)):
            number = f"{len(unusable)} of {len(reasons)} replies have no value"
            messages = notices if None in reasons else failures
            messages.append(f"{rule}: {number}; {unusable[0]}")
    if unjudged := sum(row.reply is None for row in rows):
        what = "outputs are refusals, cut or without an answer"
        notices.append(f"{unjudged} {what}, and were not judged")
    return notices, failures


_Case = tuple[Problem, Record, str]
"""An output, its problem, and the request to a judge; empty: the output can't be judged."""


def make_cases(
    prompt: JudgePrompt, problems: Dataset, records: Iterable[Record], sent: dict[str, Any]
) -> Iterator[_Case]:
    """Yield each output with its problem and the request to a judge, which has no reasoning."""
    by_id = {problem.id: problem for problem in problems.problems}
    for record in records:
        question = [judge_messages(prompt, by_id[record.id], record.answer_text or ""), sent]
        request = json.dumps(question, ensure_ascii=False, sort_keys=True)
        yield by_id[record.id], record, "" if record.not_scorable else request


def _draw(
    cases: Sequence[_Case], number: int | None, per: Sequence[str], shares: object, seed: int
) -> Sample | None:
    """Draw outputs from those that can be judged; None: no number is given."""
    if number is None:
        if per or shares:
            raise InputError(
                OptionUse("per" if per else "shares"),
                "requires " + OptionUse("sample", placeholder="N"),
            )
        return None
    refuse_other("per", per, STRATA)
    per = per or STRATA[:3]
    strata = {}
    for problem, record, request in cases:
        if request:
            names = record.names | {"subtask": problem.subtask}
            strata[key_of(record)] = tuple(names[name] for name in per)
    return draw_sample(strata, number, per, seed)


def _print_judged(
    console: Console, rows: Sequence[JudgeRow], shares: Sequence[LabelShareRow]
) -> None:
    columns = ("dataset", "model", "method", "rule", "labels", "n", "judged", "mean")
    judged = []
    for run, group in groupby(rows, group_of):
        members = list(group)
        values = [row.value for row in members if row.value is not None]
        mean = f"{100 * sum(values) / len(values):.1f}" if values else cell(None)
        labels = Counter(row.answer for row in members if row.answer)
        shown = [f"{label}: {n}" for label, n in sorted(labels.items()) if len(labels) <= 8]
        judged.append((*run, ", ".join(shown), cell(len(members)), cell(labels.total()), mean))
    if judged:
        table = dict(zip(columns, zip(*judged, strict=True), strict=True))
        print_columns(console, table, Layout(5, frozenset({"labels"}), ("labels", "judged")))
    if shares:
        title = f"Shares of labels in all {shares[0].population:,} outputs"
        of_labels = to_columns(shares, ("rule", "label", "count", "share"))
        print_columns(console, of_labels, Layout(2, title=title))


@command
def judge(
    outputs: str | Path,
    *,
    judges: Annotated[str | Sequence[str], Option(flags="--judge", metavar="MODEL")],
    task: Literal["grade", "failure-causes"] = "grade",
    scores: Annotated[Table | None, Option(metavar="FILE")] = None,
    sample: Annotated[int | None, Option(metavar="N", least=1)] = None,
    per: ColumnNames = (),
    seed: Seed = 1,
    shares: RowsFile = None,
    journal: NewFile = None,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(JudgeOptions)],
) -> Result[JudgeRow]:
    r"""Let models judge what no rule can score: proofs, prose, and why an answer failed.

    Judges see the problem, the reference and the answer without its reasoning, never the method or
    the model. Every reply
    is kept; run the same command again to request only the missing ones.

    Parameters
    ----------
    outputs : see score
    judges : str or sequence of str
        Model that judges, as the endpoint calls it.
    task : str
        `grade`: whether answers are right; `failure-causes`: why wrong answers failed.
    scores : str, Path or DataFrame, optional
        Rows of `evalcore score`: judge only outputs without a value (`grade`), or wrong ones
        (`failure-causes`).
    sample : int, optional
        Judge this many outputs of each stratum, drawn at random, and estimate the shares of labels
        in all outputs.
    per : str or sequence of str
        Names that tell strata apart: dataset, model, method, subtask. By default the first three.
    seed : int
        Random seed of the sample.
    shares : str or Path, optional
        Write the estimated shares of labels to this file.
    journal : str or Path, optional
        File that keeps the judges' replies. By default one in the user's cache folder.
    progress : Progress
        Callbacks for judgements.

    Returns
    -------
    DataFrame
        One row per output and judge.

    Raises
    ------
    IncompleteError
        Some judgements are missing, or all replies of a judge are unusable; it has the other rows.

    Examples
    --------
    $ evalcore judge outputs/imo-proofbench --dataset imo-proofbench --judge NAME \
          --base-url http://localhost:8000/v1 -o judged.jsonl
    """
    asked = JudgeOptions(**options)
    refuse_logs(Path(outputs))
    benchmark = benchmark_of(Path(outputs), asked)
    prompt = choose_prompt(benchmark.judge or benchmark.name, task)
    if task == "failure-causes" and scores is None:
        raise InputError(OptionUse("scores"), "missing; only wrong answers have causes of failure")
    problems = load_dataset(benchmark, asked.data)
    clusters = problems.clusters(asked.cluster)
    value = 0.0 if task == "failure-causes" else None
    wanted = None if scores is None else outputs_valued(scores, value)
    sent = request_parameters(asked.temperature, asked.max_tokens, asked.params)
    key = read_key(asked.api_key_env)
    records = read_chosen(Path(outputs), asked, problems.name, progress.notice)
    records = in_order(records, problems)
    if wanted is not None:
        records = [record for record in records if key_of(record) in wanted]
    cases = [*make_cases(prompt, problems, records, sent)]
    drawn = _draw(cases, sample, per, shares, seed)
    weights = drawn.weights if drawn else {}
    if drawn:
        cases = [case for case in cases if key_of(case[1]) in weights]
    requests = dict.fromkeys(request for _, _, request in cases if request)
    rows, reasons = list[JudgeRow](), Counter[str]()
    chosen = list(dict.fromkeys(judges))
    with Journal(Path(journal or user_cache_path("ngramscan") / "judgements.sqlite")) as kept:
        for name in chosen:
            blank = Record(id="", dataset="", model=name, method="", output=None, parameters=sent)
            with open_endpoint(asked.base_url, key, asked.rate, asked.timeout_s, progress) as ask:
                replies, missing = _ask_judge(
                    ask, blank, requests, kept, asked.base_url or "", asked.concurrency, progress
                )
            for problem, record, request in cases:
                if request in missing:
                    reasons[missing[request]] += 1
                else:
                    kept_reply = replies.get(request, {})
                    row = judged_row(prompt, problem, record, name, kept_reply)
                    weight, cluster = weights.get(key_of(record)), clusters.get(problem.id)
                    rows.append(replace(row, weight=weight, cluster=cluster))
    notices, failures = _without_reply(rows)
    summed = list[LabelShareRow]()
    if drawn:
        notices.append(drawn.described)
        rules = [f"judge:{name}" for name in chosen] if cases else []
        summed += make_label_shares(rows, rules, prompt.labels or (), drawn)
    total = f"{len(cases) * len(chosen)} judgements are missing"
    failures += [f"{n} of {total} ({why}); run again for only these" for why, n in reasons.items()]
    return Result(
        rows,
        JudgeRow,
        notices,
        failures,
        print_table=partial(_print_judged, rows=rows, shares=summed),
        files=[(shares, summed, LabelShareRow)],
    )

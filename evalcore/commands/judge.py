"""`evalcore judge`: models judge proofs and prose, which no rule can score, or why answers fail."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_cache_path
from rich.console import Console

from evalcore.benchmarks import load_dataset
from evalcore.commands.logs import refuse_logs
from evalcore.endpoint import (
    Ask,
    PromptRequest,
    ask_and_keep,
    open_endpoint,
    read_key,
    request_parameters,
)
from evalcore.finish_reasons import describe_finish_reason
from evalcore.judge_sample import STRATA, JudgeSample, LabelShareRow, draw_sample, make_label_shares
from evalcore.judgements import (
    JudgeCase,
    JudgeRow,
    choose_prompt,
    make_cases,
    make_judge_row,
)
from evalcore.options import ColumnNames, JudgeOptions, Seed
from evalcore.records import Record, benchmark_of, in_order, read_chosen
from evalcore.scores import (
    group_of,
    key_of,
    outputs_valued,
)
from ngramscan.errors import InputError
from ngramscan.journal import Journal
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.row_files import Table
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Layout, cell, print_columns


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
    recorded = journal.get(source, blank.model, requests)
    replies = {request: json.loads(reply.text) for request, reply in recorded.items()}
    new = [request for request in requests if request not in replies]
    todo = [PromptRequest(replace(blank, id=request), json.loads(request)[0]) for request in new]

    def keep(question: PromptRequest, answer: Record) -> str:
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


def _draw(
    cases: Sequence[JudgeCase], number: int | None, per: Sequence[str], shares: object, seed: int
) -> JudgeSample | None:
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
    for case in cases:
        if case.request:
            names = case.record.names | {"subtask": case.problem.subtask}
            strata[key_of(case.record)] = tuple(names[name] for name in per)
    return draw_sample(strata, number, per, seed)


def _print_judged(
    console: Console, rows: Sequence[JudgeRow], shares: Sequence[LabelShareRow]
) -> None:
    columns = ("dataset", "model", "method", "rule", "labels", "n", "judged", "mean")
    runs = []
    for run, group in groupby(rows, group_of):
        members = list(group)
        values = [row.value for row in members if row.value is not None]
        mean = f"{100 * sum(values) / len(values):.1f}" if values else cell(None)
        labels = Counter(row.answer for row in members if row.answer)
        label_counts = [f"{label}: {n}" for label, n in sorted(labels.items()) if len(labels) <= 8]
        runs.append((*run, ", ".join(label_counts), cell(len(members)), cell(labels.total()), mean))
    if runs:
        table = {name: [run[place] for run in runs] for place, name in enumerate(columns)}
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
    judge_options = JudgeOptions(**options)
    refuse_logs(Path(outputs))
    benchmark = benchmark_of(Path(outputs), judge_options)
    prompt = choose_prompt(benchmark.judge or benchmark.name, task)
    if task == "failure-causes" and scores is None:
        raise InputError(OptionUse("scores"), "missing; only wrong answers have causes of failure")
    problems = load_dataset(benchmark, judge_options.data)
    clusters = problems.clusters(judge_options.cluster)
    value = 0.0 if task == "failure-causes" else None
    wanted_outputs = None if scores is None else outputs_valued(scores, value)
    parameters = request_parameters(
        judge_options.temperature, judge_options.max_tokens, judge_options.params
    )
    key = read_key(judge_options.api_key_env)
    records = read_chosen(Path(outputs), judge_options, problems.name, progress.notice)
    records = in_order(records, problems)
    if wanted_outputs is not None:
        records = [record for record in records if key_of(record) in wanted_outputs]
    cases = [*make_cases(prompt, problems, records, parameters)]
    drawn_sample = _draw(cases, sample, per, shares, seed)
    weights = drawn_sample.weights if drawn_sample else {}
    if drawn_sample:
        cases = [case for case in cases if key_of(case.record) in weights]
    requests = dict.fromkeys(case.request for case in cases if case.request)
    rows, reasons = list[JudgeRow](), Counter[str]()
    chosen = list(dict.fromkeys(judges))
    url = judge_options.base_url or ""
    journal_path = Path(journal or user_cache_path("ngramscan") / "judgements.sqlite")
    with Journal(journal_path) as reply_journal:
        for name in chosen:
            blank = Record(
                id="", dataset="", model=name, method="", output=None, parameters=parameters
            )
            with open_endpoint(
                judge_options.base_url, key, judge_options.rate, judge_options.timeout_s, progress
            ) as ask:
                replies, missing = _ask_judge(
                    ask, blank, requests, reply_journal, url, judge_options.concurrency, progress
                )
            for case in cases:
                if case.request in missing:
                    reasons[missing[case.request]] += 1
                    continue
                reply = replies.get(case.request, {})
                row = make_judge_row(prompt, case.problem, case.record, name, reply)
                weight = weights.get(key_of(case.record))
                rows.append(replace(row, weight=weight, cluster=clusters.get(case.problem.id)))
    notices, failures = _without_reply(rows)
    label_shares = list[LabelShareRow]()
    if drawn_sample:
        notices.append(drawn_sample.described)
        rules = [f"judge:{name}" for name in chosen] if cases else []
        label_shares += make_label_shares(rows, rules, prompt.labels or (), drawn_sample)
    total = f"{len(cases) * len(chosen)} judgements are missing"
    failures += [f"{n} of {total} ({why}); run again for only these" for why, n in reasons.items()]
    return Result(
        rows,
        JudgeRow,
        notices,
        failures,
        print_table=partial(_print_judged, rows=rows, shares=label_shares),
        files=[(shares, label_shares, LabelShareRow)],
    )

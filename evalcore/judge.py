"""Have models judge what no rule can score: proofs, answers in prose, why an answer failed.

A judge sees the problem, the reference and the answer: neither the method nor the model, nor what
other judges said. What it replied is kept as it came.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec
from platformdirs import user_cache_path

from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.endpoint import Answer, Question, ask_all, open_endpoint, read_key, request_parameters
from evalcore.formats import Problem
from evalcore.prompts import fill
from evalcore.records import CUT_REASONS, Record, in_order, read_records
from evalcore.scores import NO_ANSWER, SCORED, UNKNOWN, key_of, outputs_valued
from ngramscan.errors import InputError, RemoteError
from ngramscan.journal import Journal
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import print_rows
from ngramscan.output.row_files import Table
from ngramscan.progress import SILENT, Progress

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What one judge said about one output; the first columns are those of scores."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    rule: str
    """`judge:NAME`."""
    value: float | None
    """From 0 to 1; None: there is none, and `status` says of which kind."""
    answer: str | None
    """What the judge said, on its own scale."""
    extraction: str | None
    """Which part of the output it saw."""
    reason: str
    task: str
    judge: str
    """The model that replied, as the server calls it."""
    prompt_sha256: str
    reply: str | None
    subtask: str | None
    status: str
    """`scored`; `no_answer`: the output was refused, cut off or empty, and not judged; `unknown`:
    the judge's reply could not be read, or is a label without an order."""


_JudgedRow = make_dataclass(
    "_JudgedRow", ["dataset", "model", "method", "rule", "n", "judged", "mean", "labels"]
)
"""What one judge said about one model after one method, as the terminal shows it."""


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """What judges are asked about one kind of answer, and how they reply; see the YAML file."""

    system: str
    user: str
    pattern: str = ""
    expected: str = ""
    field: str = ""
    reason: str = ""
    labels: dict[str, float | None] | None = None
    most: float = 0
    section: str = ""


def choose_prompt(dataset: str, task: str) -> JudgePrompt:
    """Return what judges are asked about a benchmark; an InputError: it is scored by rules."""
    text = resources.files("evalcore").joinpath("judge_prompts.yaml").read_text(encoding="utf-8")
    wanted = task if task == "failure-causes" else dataset
    for name, prompt in msgspec.yaml.decode(text, type=dict[str, JudgePrompt]).items():
        if wanted.startswith(name):
            return prompt
    problem = f"its answers are not judged; see evalcore score --dataset {dataset}"
    raise InputError(f"--dataset {dataset}", problem)


class Case(NamedTuple):
    """One output that is to be judged."""

    record: Record
    problem: Problem
    prompt: JudgePrompt
    task: str

    @property
    def part(self) -> tuple[str, str]:
        """Return what of the output is judged, and its name."""
        heading, output = self.prompt.section, self.record.output or ""
        words = r"\s*".join(map(re.escape, heading.split()))
        parts = re.split(rf"(?m)^{words}\s*$", output) if heading else []
        return (parts[-1].strip(), heading) if len(parts) > 1 else (output, "whole output")

    @property
    def messages(self) -> list[dict[str, str]]:
        """Return the exact messages to a judge."""
        problem = self.problem
        material = {"problem": problem.text, "gold": problem.gold or "", "answer": self.part[0]}
        for name in ("solution", "guidelines", "points"):
            value = problem.details.get(name) or ""
            material[name] = "\n\n".join(value) if isinstance(value, list) else str(value)
        user = {"role": "user", "content": fill(self.prompt.user, material)}
        return [{"role": "system", "content": self.prompt.system}, user]


def read_reply(prompt: JudgePrompt, reply: str) -> tuple[float | None, str, str]:
    """Return what a judge said: a value, a label on its own scale, and its reason.

    The value is from 0 to 1, None where the label has no order. A ValueError: the reply says two
    things, or nothing that was asked for; it is counted as such, never guessed at, never wrong.
    """
    said, reason = _find_match(prompt, reply) if prompt.pattern else _find_fields(prompt, reply)
    problem = f"{prompt.field} {json.dumps(said)}"
    if prompt.labels:
        if not isinstance(said, str) or said not in prompt.labels:
            raise ValueError(f"{problem}; one of {', '.join(prompt.labels)} was expected")
        return prompt.labels[said], said, reason
    if type(said) not in {int, float} or not 0 <= said <= prompt.most:
        raise ValueError(f"{problem}; a number from 0 to {prompt.most:g} was expected")
    return said / prompt.most, f"{said:g}", reason


def _find_match(prompt: JudgePrompt, reply: str) -> tuple[Any, str]:
    found = re.findall(prompt.pattern, reply)
    if not found:
        raise ValueError(f"no {prompt.expected} in the reply")
    if len(set(found)) > 1:
        raise ValueError(f"it says both {found[0]} and {found[-1]}")
    return (found[0] if prompt.labels else int(found[0])), ""


def _find_fields(prompt: JudgePrompt, reply: str) -> tuple[Any, str]:
    fenced = re.fullmatch(r"(?s)```(?:json)?\s*\n(.*?)\n?```", reply.strip())
    try:
        said = json.loads(fenced[1] if fenced else reply, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not valid JSON: {error}") from error
    if not isinstance(said, dict):
        raise ValueError("not a JSON object")
    return said.get(prompt.field), " ".join(str(said.get(prompt.reason) or "").split())


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says something twice: parsers differ in which they keep."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key stands in it twice")
    return dict(pairs)


def judged_row(case: Case, judge: str, reply: str | None, model: str | None) -> JudgeRow:
    """Return the row of a reply; of none, where there is nothing to judge."""
    record, problem, prompt = case.record, case.problem, case.prompt
    value, label, reason = None, "", record.not_scorable or ""
    if reply is not None:
        try:
            value, label, reason = read_reply(prompt, reply)
        except ValueError as error:
            reason = f"unparsed: {error}"
    points = problem.details.get("points")
    if points is not None and value is not None:
        reason = "; ".join(filter(None, (f"{value * points:g} of {points} points", reason)))
    return JudgeRow(
        *(record.dataset, record.model, record.method, *record.key, f"judge:{judge}"),
        value=value,
        answer=label or None,
        extraction=None if reply is None else case.part[1],
        reason=reason,
        task=case.task,
        judge=model or judge,
        prompt_sha256=hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest(),
        reply=reply,
        subtask=problem.subtask or None,
        status=NO_ANSWER if reply is None else UNKNOWN if value is None else SCORED,
    )


def _print_judged(console: Console, rows: Sequence[JudgeRow]) -> None:
    groups: dict[tuple[str, str, str, str], list[JudgeRow]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.model, row.method, row.rule), []).append(row)
    judged = []
    for key, own in groups.items():
        values = [row.value for row in own if row.value is not None]
        labels = Counter(row.answer for row in own if row.answer)
        named = [f"{label}: {count}" for label, count in sorted(labels.items())]
        mean = 100 * sum(values) / len(values) if values else None
        shown = ", ".join(named if len(named) <= 8 else [])
        judged.append(_JudgedRow(*key, len(own), labels.total(), mean, shown))
    print_rows(console, judged, _JudgedRow)


def _judge(
    cases: Sequence[Case],
    ask_them: Callable[[Iterator[Question]], Iterator[Answer]],
    blank: Record,
    journal: Journal,
    source: str,
    progress: Progress,
) -> tuple[list[JudgeRow], Counter[str]]:
    """Return the rows of one judge, and why others are missing, with how many.

    Every reply is kept before anything is made of it, and the same question not asked again.
    """
    messages = {n: case.messages for n, case in enumerate(cases) if not case.record.not_scorable}
    requests = {
        place: json.dumps([one, blank.parameters], ensure_ascii=False, sort_keys=True)
        for place, one in messages.items()
    }
    kept = journal.get(source, blank.model, requests.values())
    said = {place: json.loads(kept[one].text) for place, one in requests.items() if one in kept}
    todo = [
        Question(replace(blank, id=str(place)), one)
        for place, one in messages.items()
        if place not in said
    ]
    failures = Counter[str]()
    progress.expect(len(todo), "judgements")
    for question, result in ask_them(iter(todo)):
        progress.advance(1, "judgements")
        place = int(question.record.id)
        failure = _why_missing(result)
        if isinstance(result, Record) and not failure:
            said[place] = {"reply": result.output, "model": result.reported_model}
            text = json.dumps(said[place], ensure_ascii=False)
            journal.put(source, blank.model, requests[place], text)
        else:
            failures[failure] += 1
    nothing = {"reply": None, "model": None}
    rows = [
        judged_row(case, blank.model, **said.get(place, nothing))
        for place, case in enumerate(cases)
        if place in said or place not in messages
    ]
    return rows, failures


def _why_missing(result: Record | RemoteError) -> str:
    """Return why there is no judgement, empty where there is a whole reply."""
    if not isinstance(result, Record):
        return str(result)
    if result.finish_reason in CUT_REASONS:
        return "the reply was cut at the token limit; see --max-tokens"
    return f"the judge refused: {result.refusal or 'no text'}" if result.output is None else ""


@command
def judge(
    outputs: str | Path,
    *,
    dataset: Annotated[str | None, Option(metavar="NAME")] = None,
    data: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    id_field: Annotated[str, Option(metavar="COLUMN")] = "id",
    question_field: Annotated[str, Option(metavar="COLUMN")] = "question",
    answer_field: Annotated[str, Option(metavar="COLUMN")] = "answer",
    layout: Literal["evalcore", "financemath", "bbh"] = "evalcore",
    method: Annotated[str | None, Option(metavar="NAME")] = None,
    judges: Annotated[str | Sequence[str], Option(flags="--judge", metavar="MODEL")],
    task: Literal["grade", "failure-causes"] = "grade",
    scores: Annotated[Table | None, Option(metavar="FILE")] = None,
    journal: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    base_url: Annotated[str | None, Option(metavar="URL", envvar="OPENAI_BASE_URL")] = None,
    api_key_env: Annotated[str, Option(metavar="VARIABLE")] = "OPENAI_API_KEY",
    concurrency: Annotated[int, Option(least=1)] = 16,
    rate: Annotated[float | None, Option(metavar="N", over=0)] = None,
    timeout_s: Annotated[float, Option(flags="--timeout", metavar="SECONDS", over=0)] = 600.0,
    temperature: Annotated[float | None, Option(metavar="T")] = 0.0,
    max_tokens: Annotated[int | None, Option(least=1)] = None,
    params: Annotated[str | Sequence[str], Option(flags="--param", metavar="KEY=VALUE")] = (),
    progress: Progress = SILENT,
) -> Result:
    r"""Let models judge what no rule can: proofs, answers in prose, why an answer failed.

    Judges see the problem, the reference and the answer, never the method or the model. Every reply
    is kept; the same command, run again, asks only what is missing.

    Parameters
    ----------
    outputs, dataset, data, id_field, question_field, answer_field, layout, method : see score
    judges : str or sequence of str
        A model that judges, as the endpoint calls it.
    task : str
        `grade`: whether answers are right; `failure-causes`: why wrong ones failed.
    scores : str, Path or DataFrame, optional
        Rows of `evalcore score`: judge only what they left open (`grade`), or found wrong
        (`failure-causes`).
    journal : str or Path, optional
        File in which replies are kept. By default one in the user's cache folder.
    base_url, api_key_env, concurrency, rate, timeout_s, temperature, max_tokens, params : see run
    progress : Progress
        Shows how far it is.

    Returns
    -------
    DataFrame
        One row per output and judge.

    Raises
    ------
    InputError
        An argument, an output or the benchmark is wrong.
    IncompleteError
        Judges could not be asked about some outputs; the other rows are in it.

    Examples
    --------
    $ evalcore judge outputs/imo-proofbench --dataset imo-proofbench --judge NAME \
          --base-url http://localhost:8000/v1 -o judged.jsonl
    """
    place = Path(data) if data else None
    benchmark = find_benchmark(dataset, place, id_field, question_field, answer_field)
    prompt = choose_prompt(benchmark.judge or benchmark.name, task)
    if task == "failure-causes" and scores is None:
        raise InputError("--scores", "missing; only answers that were found wrong have a cause")
    problems = load_dataset(benchmark, place)
    by_id = {problem.id: problem for problem in problems.problems}
    value = 0.0 if task == "failure-causes" else None
    wanted = None if scores is None else outputs_valued(scores, value)
    records = read_records(Path(outputs), layout, method, problems.name)
    cases = [
        Case(one, by_id[one.id], prompt, task)
        for one in in_order(records, problems)
        if wanted is None or key_of(one) in wanted
    ]
    sent = request_parameters(temperature, max_tokens, params)
    key = read_key(api_key_env)
    rows: list[JudgeRow] = []
    failures: Counter[str] = Counter()
    chosen = list(dict.fromkeys(judges))
    with Journal(Path(journal or user_cache_path("ngramscan") / "judgements.sqlite")) as kept:
        for name in chosen:
            blank = Record(id="", dataset="", model=name, method="", output=None, parameters=sent)
            with open_endpoint(base_url, key, rate, timeout_s, progress) as ask:
                ask_them = partial(ask_all, ask, size=concurrency)
                judged, missing = _judge(cases, ask_them, blank, kept, base_url or "", progress)
            rows += judged
            failures += missing
    return Result(
        rows,
        JudgeRow,
        notices=list(_describe(rows)),
        failures=[
            f"{count} of {len(cases) * len(chosen)} judgements are missing ({reason}); "
            "run again to ask only these"
            for reason, count in failures.items()
        ],
        print_table=partial(_print_judged, rows=rows),
    )


def _describe(rows: Sequence[JudgeRow]) -> Iterator[str]:
    unparsed = Counter(row.rule for row in rows if row.reply is not None and row.answer is None)
    for rule, count in unparsed.items():
        yield f"{rule}: {count} replies are not what was asked for, and have no value"
    if unjudged := sum(row.reply is None for row in rows):
        yield f"{unjudged} outputs were refused, cut or missing, and not judged"

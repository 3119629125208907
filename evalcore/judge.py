"""Have models judge what no rule can score: proofs, answers in prose, why an answer failed.

A judge sees the problem, the reference and the answer: neither the method nor the model, nor what
other judges said. What it replied is kept as it came.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import yaml
from platformdirs import user_cache_path

from evalcore.benchmarks import load_dataset
from evalcore.endpoint import Question, ask_all, open_endpoint, read_key, request_parameters
from evalcore.formats import Problem
from evalcore.judgements import FORMS, Judgement, UnparsedError
from evalcore.prompts import fill
from evalcore.records import CUT_REASONS, Record, in_order, read_records
from evalcore.row_files import GivenTable, as_table
from evalcore.scores import NO_ANSWER, SCORED, UNKNOWN, ScoreKey, read_open, read_wrong
from ngramscan.errors import InputError, RemoteError
from ngramscan.journal import Journal
from ngramscan.output.command import Option, Result, command
from ngramscan.progress import SILENT, Progress

if TYPE_CHECKING:
    from rich.console import Console

_PROOF = re.compile(r"^##\s*Proof\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What one judge said of one output; the first columns are those of scores."""

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
    """As the server calls the model that replied."""
    prompt_sha256: str
    reply: str | None
    subtask: str | None
    status: str
    """`scored`; `no_answer`: the output was refused, cut off or empty, and not judged; `unknown`:
    the judge's reply could not be read, or is a label without an order."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What one judge said of the answers of one model after one method."""

    dataset: str
    model: str
    method: str
    rule: str
    n: int
    judged: int
    """Outputs with a reply that could be read."""
    mean: float | None
    """Of the values, in percent; None: there are none."""
    labels: str


# What judges are asked


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """What judges are asked about one kind of answer."""

    name: str
    source: str
    """`paper`: word for word; `ours`: the paper prints none."""
    scale: str
    reply: str
    """How the reply is read: a key of `FORMS`."""
    system: str
    user: str

    @property
    def sha256(self) -> str:
        """Of what is asked, in hexadecimal."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()


@cache
def load_judge_prompts() -> dict[str, JudgePrompt]:
    """Return what judges are asked, by name."""
    text = resources.files("evalcore").joinpath("judge_prompts.yaml").read_text(encoding="utf-8")
    return {name: JudgePrompt(name, **fields) for name, fields in yaml.safe_load(text).items()}


def choose_prompt(dataset: str, task: str) -> JudgePrompt:
    """Return what judges are asked about a benchmark; an InputError: it is scored by rules."""
    prompts = load_judge_prompts()
    if task == "failure-causes":
        return prompts[task]
    for name, prompt in prompts.items():
        if dataset.startswith(name):
            return prompt
    problem = f"its answers are not judged; see evalcore score --dataset {dataset}"
    raise InputError(f"--dataset {dataset}", problem)


def graded_part(dataset: str, output: str) -> tuple[str, str]:
    """Return what of an output is judged, a proof section if prompts ask for one; and its name."""
    headings = list(_PROOF.finditer(output)) if dataset == "aicrypto" else []
    if headings:
        return output[headings[-1].end() :].strip(), "## Proof"
    return output, "whole output"


def judge_messages(prompt: JudgePrompt, problem: Problem, answer: str) -> list[dict[str, str]]:
    """Return the exact messages to a judge about an answer."""
    details = problem.details
    material = {
        "problem": problem.text,
        "gold": problem.gold or "",
        "answer": answer,
        "solution": _joined(details.get("solution")),
        "guidelines": _joined(details.get("guidelines")),
        "points": str(details.get("points", "")),
    }
    user = {"role": "user", "content": fill(prompt.user, material)}
    return [{"role": "system", "content": prompt.system}, user]


def _joined(value: str | Sequence[str] | None) -> str:
    return value if isinstance(value, str) else "\n\n".join(value or ())


# Rows


class Asked(NamedTuple):
    """One question to one judge."""

    record: Record
    problem: Problem
    prompt: JudgePrompt
    judge: str
    """As the user calls it."""
    task: str
    part: str = ""


def judged_row(asked: Asked, reply: str, model: str | None) -> JudgeRow:
    """Return the row of a reply; one that can't be read has no value, and says why."""
    try:
        judgement = FORMS[asked.prompt.reply](reply)
    except UnparsedError as error:
        return _row(asked, Judgement(None, "", f"unparsed: {error}"), reply, model)
    points = asked.problem.details.get("points")
    if points is not None and judgement.value is not None:
        scaled = f"{judgement.value * points:g} of {points} points"
        judgement = judgement._replace(reason="; ".join(filter(None, (scaled, judgement.reason))))
    return _row(asked, judgement, reply, model)


def _row(asked: Asked, judgement: Judgement, reply: str | None, model: str | None) -> JudgeRow:
    record = asked.record
    return JudgeRow(
        dataset=record.dataset,
        model=record.model,
        method=record.method,
        id=record.id,
        epoch=record.epoch,
        rule=f"judge:{asked.judge}",
        value=judgement.value,
        answer=judgement.label or None,
        extraction=asked.part or None,
        reason=judgement.reason,
        task=asked.task,
        judge=model or asked.judge,
        prompt_sha256=asked.prompt.sha256,
        reply=reply,
        subtask=asked.problem.subtask or None,
        status=NO_ANSWER if reply is None else UNKNOWN if judgement.value is None else SCORED,
    )


def summarise_judgements(rows: Sequence[JudgeRow]) -> list[JudgedRow]:
    """Return one row per dataset, model, method and judge."""
    groups: dict[tuple[str, str, str, str], list[JudgeRow]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.model, row.method, row.rule), []).append(row)
    return [_summary(key, group) for key, group in groups.items()]


def _summary(key: tuple[str, str, str, str], rows: Sequence[JudgeRow]) -> JudgedRow:
    values = [row.value for row in rows if row.value is not None]
    labels = Counter(row.answer for row in rows if row.answer)
    named = ", ".join(f"{label}: {count}" for label, count in sorted(labels.items()))
    mean = 100 * sum(values) / len(values) if values else None
    return JudgedRow(*key, len(rows), labels.total(), mean, named if len(labels) <= 8 else "")


def _print_judged(console: Console, rows: Sequence[JudgeRow]) -> None:
    from ngramscan.output.layout import print_rows

    print_rows(console, summarise_judgements(rows), JudgedRow)


# One judge


@dataclass(frozen=True, slots=True)
class _Session:
    """What judges have said so far, and what they could not be asked."""

    journal: Journal
    source: str
    concurrency: int
    progress: Progress
    failures: Counter[str]

    def kept(self, question: Question) -> tuple[str, str | None] | None:
        """Return the reply to a question, and who replied; None: it is not there."""
        request = _request(question)
        found = self.journal.get(self.source, question.record.model, [request]).get(request)
        if found is None:
            return None
        said = json.loads(found.text)
        return said["reply"], said["model"]

    def keep(self, question: Question, reply: Record) -> None:
        """Keep a reply as it came."""
        fields = {"reply": reply.output, "model": reply.reported_model}
        said = json.dumps(fields, ensure_ascii=False)
        self.journal.put(self.source, question.record.model, _request(question), said)


def _request(question: Question) -> str:
    """Return what a reply is kept under: the same question has the same key."""
    asked = [question.messages, question.record.parameters]
    return json.dumps(asked, ensure_ascii=False, sort_keys=True)


def _judge(
    asked: Sequence[Asked], ask: Callable[[Question], Record], blank: Record, session: _Session
) -> list[JudgeRow]:
    """Return the rows of one judge, in order; what could not be asked has none."""
    rows: dict[int, JudgeRow] = {}
    waiting: dict[int, tuple[Asked, Question]] = {}
    for place, one in enumerate(asked):
        if one.record.not_scorable:
            rows[place] = _row(one, Judgement(None, "", one.record.not_scorable), None, None)
            continue
        text, part = graded_part(one.record.dataset, one.record.output or "")
        messages = judge_messages(one.prompt, one.problem, text)
        question = Question(replace(blank, id=str(place)), messages)
        seen = one._replace(part=part)
        if kept := session.kept(question):
            rows[place] = judged_row(seen, *kept)
        else:
            waiting[place] = (seen, question)
    _ask(waiting, rows, ask, session)
    return [rows[place] for place in sorted(rows)]


def _ask(
    waiting: Mapping[int, tuple[Asked, Question]],
    rows: dict[int, JudgeRow],
    ask: Callable[[Question], Record],
    session: _Session,
) -> None:
    """Ask a judge, and keep every reply before anything is made of it."""
    questions = (question for _, question in waiting.values())
    session.progress.expect(len(waiting), "judgements")
    for question, result in ask_all(ask, questions, session.concurrency):
        session.progress.advance(1, "judgements")
        place = int(question.record.id)
        failure = _why_failed(result)
        if isinstance(result, Record) and not failure:
            session.keep(question, result)
            rows[place] = judged_row(waiting[place][0], result.output or "", result.reported_model)
        else:
            session.failures[failure] += 1


def _why_failed(result: Record | RemoteError) -> str:
    """Return why there is no judgement, empty where there is a whole reply."""
    if not isinstance(result, Record):
        return str(result)
    if result.finish_reason in CUT_REASONS:
        return "the reply was cut at the token limit; see --max-tokens"
    return f"the judge refused: {result.refusal or 'no text'}" if result.output is None else ""


# The command


@command
def judge(
    outputs: str | Path,
    *,
    dataset: Annotated[str, Option(metavar="NAME")],
    data: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    layout: Literal["evalcore", "financemath", "bbh"] = "evalcore",
    method: Annotated[str | None, Option(metavar="NAME")] = None,
    judges: Annotated[str | Sequence[str], Option(flags="--judge", metavar="MODEL")],
    task: Literal["grade", "failure-causes"] = "grade",
    scores: Annotated[GivenTable | None, Option(metavar="FILE")] = None,
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
    outputs : str or Path
        A folder of outputs, or a file.
    dataset : str
        The benchmark; see `evalcore datasets list`.
    data : str or Path, optional
        A local copy of the benchmark. By default the one that was fetched.
    layout : str
        How the files of the outputs are laid out.
    method : str, optional
        Only outputs of this method; in other layouts than ours, the method that they were written
        after.
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
        Told how far it is.

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
    prompt = choose_prompt(dataset, task)
    if task == "failure-causes" and scores is None:
        raise InputError("--scores", "missing; only answers that were found wrong have a cause")
    problems = load_dataset(dataset, Path(data) if data else None)
    by_id = {problem.id: problem for problem in problems.problems}
    wanted = _wanted(scores, task)
    records = read_records(Path(outputs), layout, method, problems.name)
    asked = [
        Asked(record, by_id[record.id], prompt, "", task)
        for record in in_order(records, problems)
        if wanted is None or _key(record) in wanted
    ]
    parameters = request_parameters(temperature, max_tokens, params)
    key = read_key(api_key_env)
    rows: list[JudgeRow] = []
    failures: Counter[str] = Counter()
    chosen = list(dict.fromkeys(judges))
    with Journal(Path(journal or user_cache_path("ngramscan") / "judgements.sqlite")) as kept:
        session = _Session(kept, base_url or "", concurrency, progress, failures)
        for name in chosen:
            blank = Record(
                id="",
                dataset=problems.name,
                model=name,
                method=task,
                output=None,
                parameters=parameters,
            )
            with open_endpoint(base_url, key, rate, timeout_s, progress) as ask:
                judging = [one._replace(judge=name) for one in asked]
                rows += _judge(judging, ask, blank, session)
    return Result(
        rows,
        JudgeRow,
        notices=list(_describe(rows)),
        failures=[
            f"{count} of {len(asked) * len(chosen)} judgements are missing ({reason}); "
            "run again to ask only these"
            for reason, count in failures.items()
        ],
        print_table=partial(_print_judged, rows=rows),
    )


def _wanted(scores: GivenTable | None, task: str) -> set[ScoreKey] | None:
    if scores is None:
        return None
    return (read_wrong if task == "failure-causes" else read_open)(as_table(scores))


def _key(record: Record) -> ScoreKey:
    return ScoreKey(record.dataset, record.model, record.method, record.id, record.epoch)


def _describe(rows: Sequence[JudgeRow]) -> Iterator[str]:
    unparsed = Counter(row.rule for row in rows if row.reply is not None and row.answer is None)
    for rule, count in unparsed.items():
        yield f"{rule}: {count} replies are not what was asked for, and have no value"
    if unjudged := sum(row.reply is None for row in rows):
        yield f"{unjudged} outputs were refused, cut or missing, and not judged"

"""What judges are asked about an output, and the rows of what they said.

A judge sees the problem, the reference and the answer: neither the method nor the model, nor what
other judges said. What it replied is kept as it came.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

import yaml

from evalcore.datasets.base import Problem
from evalcore.judgements import Judgement, UnparsedError, read_judgement
from evalcore.models.base import Messages
from evalcore.prompts import fill
from evalcore.records import Record
from evalcore.scoring.base import NO_ANSWER, SCORED, UNKNOWN
from ngramscan.errors import InputError

TASKS = ("grade", "failure-causes")
_PROOF = re.compile(r"^##\s*Proof\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """What judges are asked about one kind of answer."""

    name: str
    source: str
    """`paper`: word for word; `ours`: the paper prints none."""
    scale: str
    reply: str
    """How the reply is read: a key of `judgements.FORMS`."""
    system: str
    user: str

    @property
    def sha256(self) -> str:
        """Of what is asked, in hexadecimal."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()


class Graded(NamedTuple):
    """The part of an output that is judged."""

    text: str
    part: str
    """`## Proof`, or `whole output`."""


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


@cache
def load_judge_prompts() -> dict[str, JudgePrompt]:
    """Return what judges are asked, by name."""
    text = resources.files("evalcore").joinpath("judge_prompts.yaml").read_text(encoding="utf-8")
    return {name: JudgePrompt(name, **fields) for name, fields in yaml.safe_load(text).items()}


def choose_prompt(dataset: str, task: str) -> JudgePrompt:
    """Return what judges are asked about the answers to a benchmark.

    Raises
    ------
    InputError
        Its answers are compared by rules, not judged.
    """
    prompts = load_judge_prompts()
    if task == "failure-causes":
        return prompts[task]
    for name, prompt in prompts.items():
        if dataset.startswith(name):
            return prompt
    problem = f"its answers are not judged; see evalcore score --dataset {dataset}"
    raise InputError(f"--dataset {dataset}", problem)


def graded_part(dataset: str, output: str) -> Graded:
    """Return what of an output is judged: where prompts ask for a proof section, only that."""
    headings = list(_PROOF.finditer(output)) if dataset == "aicrypto" else []
    if headings:
        return Graded(output[headings[-1].end() :].strip(), "## Proof")
    return Graded(output, "whole output")


def judge_messages(prompt: JudgePrompt, problem: Problem, answer: str) -> list[dict[str, str]]:
    """Return the exact messages to a judge.

    Parameters
    ----------
    prompt : JudgePrompt
        What is asked.
    problem : Problem
        With its reference answer, solution and guidelines where it has them.
    answer : str
        The part of the output that is judged.
    """
    material = {
        "problem": problem.text,
        "gold": problem.gold or "",
        "answer": answer,
        "solution": _joined(problem.details.get("solution")),
        "guidelines": _joined(problem.details.get("guidelines")),
        "points": str(problem.details.get("points", "")),
    }
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": fill(prompt.user, material)},
    ]


def _joined(value: str | Sequence[str] | None) -> str:
    return value if isinstance(value, str) else "\n\n".join(value or ())


class Asked(NamedTuple):
    """One question to one judge."""

    record: Record
    problem: Problem
    prompt: JudgePrompt
    part: str
    judge: str
    """As the user calls it."""
    task: str


def judged_row(asked: Asked, reply: str, model: str | None) -> JudgeRow:
    """Return the row of a reply; one that can't be read has no value, and says why.

    Parameters
    ----------
    asked : Asked
        What the judge was asked.
    reply : str
        What it replied.
    model : str or None
        Who replied, as the server says.
    """
    try:
        judgement = read_judgement(reply, asked.prompt.reply)
    except UnparsedError as error:
        return _row(asked, Judgement(None, "", f"unparsed: {error}"), reply, model)
    return _row(asked, _scaled(judgement, asked.problem), reply, model)


def unjudged_row(asked: Asked, reason: str) -> JudgeRow:
    """Return the row of an output that was not put to a judge."""
    return _row(asked, Judgement(None, "", reason), None, None)


def is_unparsed(row: JudgeRow) -> bool:
    """Tell whether the judge replied something else than what it was asked for."""
    return row.reply is not None and row.answer is None


def _scaled(judgement: Judgement, problem: Problem) -> Judgement:
    """Put a score into the points of its problem, beside what the judge said."""
    points = problem.details.get("points")
    if points is None or judgement.value is None:
        return judgement
    scaled = f"{judgement.value * points:g} of {points} points"
    return judgement._replace(reason="; ".join(filter(None, (scaled, judgement.reason))))


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


def request_key(messages: Messages, parameters: Mapping[str, object]) -> str:
    """Return what a reply is kept under: the same question has the same key."""
    return json.dumps([messages, dict(parameters)], ensure_ascii=False, sort_keys=True)


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

"""The judgement of one output: the messages to a judge, its verdict, and the row of it."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

import msgspec

from evalcore.benchmarks import Dataset
from evalcore.formats import Problem
from evalcore.judge_replies import VerdictForm, label_of, read_fields, read_verdict
from evalcore.prompts import fill
from evalcore.records import Record
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.reasoning import split_reasoning
from ngramscan.reading.score_values import NO_ANSWER, UNKNOWN


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


def find_judged_part(prompt: JudgePrompt, output: str) -> tuple[str, str]:
    """Return the part of an output that is judged, and its name."""
    heading = r"\s*".join(map(re.escape, prompt.section.split()))
    *before, last = re.split(rf"(?m)^{heading}\s*$", output) if heading else [output]
    return (last.strip(), prompt.section) if before else (output, "whole output")


def make_judge_messages(prompt: JudgePrompt, problem: Problem, output: str) -> list[dict[str, str]]:
    """Return the exact messages to a judge."""
    answer, _ = find_judged_part(prompt, output)
    material = {"problem": problem.text, "gold": problem.gold or "", "answer": answer}
    for name in ("solution", "guidelines", "points"):
        value = problem.details.get(name) or ""
        material[name] = "\n\n".join(value) if isinstance(value, list) else str(value)
    user = {"role": "user", "content": fill(prompt.user, material)}
    return [{"role": "system", "content": prompt.system}, user]


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


def make_judge_row(
    prompt: JudgePrompt, problem: Problem, record: Record, judge: str, reply: dict[str, Any]
) -> JudgeRow:
    """Return the row for a reply and its model, or for an output that was not judged.

    `reply` has the text (`reply`) and the `model`, as the server calls it; it is empty if the
    output was not judged.
    """
    text, value, label, reason = reply.get("reply"), None, "", record.not_scorable or ""
    if text is not None:
        try:
            value, label, reason = read_reply(prompt, text)
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
        extraction=None if text is None else find_judged_part(prompt, record.answer_text or "")[1],
        reason=reason,
        task=prompt.task,
        judge=reply.get("model") or judge,
        prompt_sha256=hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest(),
        reply=text,
        points=points,
        subtask=problem.subtask or None,
        hash=problem.hash,
        status=NO_ANSWER if text is None else UNKNOWN if value is None else "",
    )


class JudgeCase(NamedTuple):
    """An output, its problem, and the request to a judge."""

    problem: Problem
    record: Record
    request: str
    """Empty: the output can't be judged."""


def make_cases(
    prompt: JudgePrompt, dataset: Dataset, records: Iterable[Record], parameters: dict[str, Any]
) -> Iterator[JudgeCase]:
    """Yield each output with its problem and the request to a judge, which has no reasoning.

    `parameters` are those of the request, such as the temperature.
    """
    by_id = {problem.id: problem for problem in dataset.problems}
    for record in records:
        problem = by_id[record.id]
        messages = make_judge_messages(prompt, problem, record.answer_text or "")
        request = json.dumps([messages, parameters], ensure_ascii=False, sort_keys=True)
        yield JudgeCase(problem, record, "" if record.not_scorable else request)

"""`evalcore judge`: outputs that no rule can score → what judges say of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from platformdirs import user_cache_path

from evalcore.commands.access import (
    DEFAULT_CONCURRENCY,
    DEFAULT_KEY_VARIABLE,
    DEFAULT_TIMEOUT_S,
    ModelOptions,
    open_model,
)
from evalcore.crew import Crew, Question
from evalcore.datasets import load_dataset
from evalcore.judges import (
    TASKS,
    Asked,
    JudgedRow,
    JudgePrompt,
    JudgeRow,
    choose_prompt,
    graded_part,
    is_unparsed,
    judge_messages,
    judged_row,
    request_key,
    summarise_judgements,
    unjudged_row,
)
from evalcore.models.base import EndpointRefused, EndpointUnavailable, Model, ProblemKey, Reply
from evalcore.records import CUT_REASONS, LAYOUTS, Record, messages_sha256, read_records
from evalcore.row_files import GivenTable, as_table
from evalcore.score_files import ScoreKey, read_open, read_wrong
from evalcore.scorers import in_order
from ngramscan.errors import IncompleteError, InputError, RemoteError
from ngramscan.journal import Journal
from ngramscan.output import refuse_other, several, strict_keywords, to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


class JudgeOptions(ModelOptions, total=False):
    """All options of `judge` but the outputs and the judges."""

    dataset: str
    data: str | Path | None
    layout: str
    method: str | None
    task: str
    scores: GivenTable | None
    journal: str | Path | None


class Judged(NamedTuple):
    """The rows of a command, and what to say beside them."""

    rows: list[JudgeRow]
    notices: list[str]
    failures: list[str]


@dataclass(slots=True)
class _Session:
    """What judges have said so far, and what they could not be asked."""

    journal: Journal
    source: str
    concurrency: int
    progress: Progress
    failures: Counter[str] = field(default_factory=Counter)


def judge_with(
    outputs: Path, judges: Sequence[str], options: JudgeOptions, progress: Progress
) -> Judged:
    """Have the outputs of a folder or file judged."""
    prompt = choose_prompt(options["dataset"], _task(options))
    asked = list(_questions(outputs, prompt, options))
    rows: list[JudgeRow] = []
    with Journal(_journal_path(options)) as journal:
        source = options.get("base_url") or ""
        concurrency = options.get("concurrency", DEFAULT_CONCURRENCY)
        session = _Session(journal, source, concurrency, progress)
        for judge in dict.fromkeys(judges):
            with open_model(judge, options, progress) as model:
                rows += _judge([one._replace(judge=judge) for one in asked], model, session)
    failures = [
        f"{count} of {len(asked) * len(judges)} judgements are missing ({reason}); "
        "run again to ask only these"
        for reason, count in session.failures.items()
    ]
    return Judged(rows, list(_describe(rows)), failures)


def _task(options: JudgeOptions) -> str:
    task = options.get("task", "grade")
    refuse_other("--task", task, TASKS)
    if task == "failure-causes" and options.get("scores") is None:
        raise InputError("--scores", "missing; only answers that were found wrong have a cause")
    return task


def _journal_path(options: JudgeOptions) -> Path:
    if path := options.get("journal"):
        return Path(path)
    return user_cache_path("ngramscan") / "judgements.sqlite"


# What is asked


def _questions(outputs: Path, prompt: JudgePrompt, options: JudgeOptions) -> Iterator[Asked]:
    data = options.get("data")
    dataset = load_dataset(options["dataset"], Path(data) if data else None)
    problems = {problem.id: problem for problem in dataset.problems}
    task = _task(options)
    wanted = _wanted(options, task)
    records = read_records(
        Path(outputs), options.get("layout", "evalcore"), options.get("method"), dataset.name
    )
    for record in in_order(records, dataset):
        if wanted is None or _key(record) in wanted:
            yield Asked(record, problems[record.id], prompt, "", "", task)


def _wanted(options: JudgeOptions, task: str) -> set[ScoreKey] | None:
    scores = options.get("scores")
    if scores is None:
        return None
    return (read_wrong if task == "failure-causes" else read_open)(as_table(scores))


def _key(record: Record) -> ScoreKey:
    return ScoreKey(record.dataset, record.model, record.method, record.id, record.epoch)


# One judge


def _judge(asked: Sequence[Asked], model: Model, session: _Session) -> list[JudgeRow]:
    """Return the rows of one judge, in order; what could not be asked has none."""
    rows: dict[int, JudgeRow] = {}
    waiting: dict[int, tuple[Asked, Question]] = {}
    for place, one in enumerate(asked):
        if one.record.not_scorable:
            rows[place] = unjudged_row(one, one.record.not_scorable)
            continue
        seen, question = _question(one, place)
        if kept := _kept(question, model, session):
            rows[place] = judged_row(seen, *kept)
        else:
            waiting[place] = (seen, question)
    _ask(waiting, rows, model, session)
    return [rows[place] for place in sorted(rows)]


def _question(asked: Asked, place: int) -> tuple[Asked, Question]:
    dataset, output = asked.record.dataset, asked.record.output or ""
    graded = graded_part(dataset, output)
    messages = judge_messages(asked.prompt, asked.problem, graded.text)
    key = ProblemKey(dataset, asked.task, str(place))
    return asked._replace(part=graded.part), Question(key, messages, messages_sha256(messages))


def _kept(question: Question, model: Model, session: _Session) -> tuple[str, str | None] | None:
    request = request_key(question.messages, model.parameters)
    found = session.journal.get(session.source, model.name, [request])
    if request not in found:
        return None
    said = json.loads(found[request].text)
    return said["reply"], said["model"]


def _ask(
    waiting: Mapping[int, tuple[Asked, Question]],
    rows: dict[int, JudgeRow],
    model: Model,
    session: _Session,
) -> None:
    """Ask a judge, and keep every reply before anything is made of it."""
    todo = list(waiting.values())
    todo.reverse()
    stopped = ""
    session.progress.expect(len(todo), "judgements")
    with Crew(model, session.concurrency) as crew:
        while todo or crew.under_way:
            if todo and not stopped and not crew.is_full:
                crew.submit(todo.pop()[1])
                continue
            if not crew.under_way:
                break
            answer = crew.next_answer()
            session.progress.advance(1, "judgements")
            place = int(answer.question.key.id)
            if isinstance(answer.result, Reply) and not _failure(answer.result):
                _keep(answer.question, answer.result, model, session)
                asked = waiting[place][0]
                rows[place] = judged_row(asked, answer.result.output or "", answer.result.model)
                continue
            session.failures[_failure(answer.result)] += 1
            if isinstance(answer.result, EndpointRefused | EndpointUnavailable):
                stopped = stopped or str(answer.result)
    if todo:
        session.failures[stopped] += len(todo)


def _failure(result: Reply | RemoteError) -> str:
    """Return why there is no judgement, empty where there is a whole reply."""
    if not isinstance(result, Reply):
        return str(result)
    if result.finish_reason in CUT_REASONS:
        return "the reply was cut at the token limit; see --max-tokens"
    return f"the judge refused: {result.refusal or 'no text'}" if result.output is None else ""


def _keep(question: Question, reply: Reply, model: Model, session: _Session) -> None:
    said = json.dumps({"reply": reply.output, "model": reply.model}, ensure_ascii=False)
    request = request_key(question.messages, model.parameters)
    session.journal.put(session.source, model.name, request, said)


# What is said of them


def _describe(rows: Sequence[JudgeRow]) -> Iterator[str]:
    unparsed = Counter(row.rule for row in rows if is_unparsed(row))
    for rule, count in unparsed.items():
        yield f"{rule}: {count} replies are not what was asked for, and have no value"
    if unjudged := sum(row.reply is None for row in rows):
        yield f"{unjudged} outputs were refused, cut or missing, and not judged"


def print_judged(console: Console, rows: Sequence[JudgeRow]) -> None:
    """Print what judges said, one row per model, method and judge."""
    from ngramscan.output.layout import print_rows

    print_rows(console, summarise_judgements(rows), JudgedRow)


@strict_keywords
def judge(
    outputs: str | Path,
    judges: str | Sequence[str],
    *,
    dataset: str,
    data: str | Path | None = None,
    layout: str = LAYOUTS[0],
    method: str | None = None,
    task: str = TASKS[0],
    scores: GivenTable | None = None,
    journal: str | Path | None = None,
    base_url: str | None = None,
    api_key_env: str = DEFAULT_KEY_VARIABLE,
    concurrency: int = DEFAULT_CONCURRENCY,
    rate: float | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    params: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Have models judge recorded outputs, as `evalcore judge` does.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    judges : str or sequence of str
        Models that judge, as the endpoint calls them.
    dataset : str
        The benchmark; see `evalcore datasets list`.
    data : str or Path, optional
        A local copy of the benchmark. By default the one that was fetched.
    layout : str
        How the files of the outputs are laid out: `evalcore`, `financemath` or `bbh`.
    method : str, optional
        Only outputs of this method; in other layouts than ours, the method that they were written
        after.
    task : str
        `grade`, whether answers are right, or `failure-causes`, why wrong ones failed.
    scores : str, Path or DataFrame, optional
        Rows of `score`: judge only what they left open (`grade`), or found wrong
        (`failure-causes`).
    journal : str or Path, optional
        File in which replies are kept. By default one in the user's cache folder.
    base_url : str, optional
        Address of an endpoint that speaks the protocol of OpenAI's chat completions.
    api_key_env : str
        The environment variable that holds the key.
    concurrency : int
        Maximum number of requests at a time.
    rate : float, optional
        Maximum number of requests per second. By default no limit.
    timeout_s : float
        Retry after this many silent seconds.
    temperature : float, optional
        Sampling temperature; 0 for the likeliest words. None leaves it out of the requests.
    max_tokens : int, optional
        Maximum tokens of a reply, reasoning included.
    params : str or sequence of str
        Further fields of each request: `"KEY=VALUE"`, with a value in JSON, or text.

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
    """
    options = JudgeOptions(
        dataset=dataset,
        data=data,
        layout=layout,
        method=method,
        task=task,
        scores=scores,
        journal=journal,
        base_url=base_url,
        api_key_env=api_key_env,
        concurrency=concurrency,
        rate=rate,
        timeout_s=timeout_s,
        temperature=temperature,
        max_tokens=max_tokens,
        params=several(params),
    )
    judged = judge_with(Path(outputs), several(judges), options, Silent())
    frame = to_frame(judged.rows, JudgeRow)
    if judged.failures:
        raise IncompleteError("; ".join(judged.failures), frame)
    return frame

"""`evalcore score`: recorded outputs against the reference answers of a benchmark.

What a model wrote is scored only where it is a whole answer: a refusal, an output that was cut and
an empty one have no value, and what they count as is decided where runs are compared. A complete
output without an answer is wrong, as is one whose program fails. What a grader could not decide is
not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

from evalcore.benchmarks import Dataset, benchmarks, load_dataset
from evalcore.extraction import (
    BBH_RULES,
    FINANCEMATH_RULES,
    MATHEMATICS_RULES,
    PROGRAM_RULES,
    extract,
)
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.figures import draw_accuracy
from evalcore.formats import Problem
from evalcore.records import Record, in_order, read_records
from evalcore.rules import RULES, Item, Tools, Verdict
from evalcore.rules.formula_pool import compare_all
from evalcore.sandbox import Limits, Outcome, Program, Sandbox
from evalcore.scores import (
    NO_ANSWER,
    NOT_FOUND,
    SCORED,
    UNKNOWN,
    ScoreRow,
    for_figure,
    print_summaries,
    summarise,
)
from ngramscan.errors import InputError
from ngramscan.output import refuse_other
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.output.command import Option, Result, command
from ngramscan.progress import SILENT, Progress

_Result = TypeVar("_Result")
Layers = Mapping[str, str]
"""Of the sandbox: their names, and what each was."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the outputs of one benchmark are scored."""

    rules: Sequence[str]
    """Names in `RULES`, the usual one first."""
    text_rules: Sequence[str]
    """How answers are found: names of extraction rules, tried in this order."""
    has_programs: bool = True
    """Where a prompt lets the model choose, a program counts if it gives something."""
    authors_programs: bool = False
    """Outputs to a prompt for a program are read as the authors of FinanceMath do: the program
    they find is all that counts."""


_MATHEMATICS = Scoring(("math",), MATHEMATICS_RULES)
SCORINGS: Mapping[str, Scoring] = {
    "financemath": Scoring(("strict", "lenient"), FINANCEMATH_RULES, authors_programs=True),
    "imo-answerbench": _MATHEMATICS,
    "olympiadbench-oe-maths": _MATHEMATICS,
    "olympiadbench-oe-physics": _MATHEMATICS,
    "bbh-word-sorting": Scoring(("exact",), BBH_RULES, has_programs=False),
}
"""By the name of the benchmark; those that are not here are judged."""


def choose_scoring(dataset: str, rules: Sequence[str], text_rules: Sequence[str]) -> Scoring:
    """Return how a benchmark is scored: by its usual rule, found as usual, or as is wanted.

    Raises
    ------
    InputError
        The benchmark has no such rule, or none at all, or there is no such extraction rule.
    """
    if dataset not in SCORINGS:
        problem = f"its answers are judged, not compared; see evalcore judge --dataset {dataset}"
        raise InputError(f"--dataset {dataset}", problem)
    usual = SCORINGS[dataset]
    for name in rules:
        if name not in usual.rules:
            problem = f"unknown for {dataset}; it has {', '.join(usual.rules)}"
            raise InputError(f"--rule {name}", problem)
    for name in text_rules:
        if name not in TEXT_RULES:
            problem = f"unknown; expected one of {', '.join(TEXT_RULES)}"
            raise InputError(f"--extraction {name}", problem)
    chosen = tuple(dict.fromkeys(rules)) or usual.rules[:1]
    return replace(usual, rules=chosen, text_rules=tuple(text_rules) or usual.text_rules)


# Outputs → answers, read from the text or computed by their programs


class Answer(NamedTuple):
    """What one output answers, or why nothing can be told."""

    value: float | int | bool | str | None
    """None: no answer."""
    extraction: str | None
    """The rule that found the answer, or the program that computed it."""
    problem: str = ""
    """Why there is no answer, or why the program that came first gave none."""
    layers: Layers | None = None
    """Of the sandbox that ran the program; None where none ran."""
    is_lost: bool = False
    """The sandbox failed while the program ran, so that nothing is known of the answer."""


class _Source(NamedTuple):
    """Where the answer of one output may be."""

    program: Program | None
    rule: str
    """The rule by which the program was looked for."""
    reads_text: bool = True


_TEXT_ONLY = ("cot", "zero-shot", "zs")


def _source(record: Record, scoring: Scoring) -> _Source:
    solver = record.method.lower().rpartition("+")[2]
    if not scoring.has_programs or solver in _TEXT_ONLY:
        return _Source(None, "")
    output, wants_program = record.output or "", solver == "pot"
    rule = "financemath-authors/2" if wants_program and scoring.authors_programs else "fenced/1"
    found = PROGRAM_RULES[rule](output)
    if rule != "fenced/1":
        return _Source(None if found is None else Program(found), rule, reads_text=False)
    if found is None:
        return _Source(None, rule if wants_program else "")
    return _Source(Program(found, "solution()" if "def solution(" in found else "answer"), rule)


def _find_answers(records: Sequence[Record], scoring: Scoring, tools: Tools) -> list[Answer]:
    """Return what each output answers; programs are run all at once."""
    sources = [_source(record, scoring) for record in records]
    programs = [source.program for source in sources if source.program]
    outcomes = iter(tools.run_programs(programs) if programs else ())
    return [
        _answer(record.output or "", source, next(outcomes) if source.program else None, scoring)
        for record, source in zip(records, sources, strict=True)
    ]


def _answer(output: str, source: _Source, outcome: Outcome | None, scoring: Scoring) -> Answer:
    problem, layers = "no program found" if source.rule else "", None
    if outcome is not None:
        layers = outcome.layers
        if outcome.status == "ok":
            return Answer(outcome.value, f"program, {source.rule}", layers=layers)
        if outcome.status == "lost":
            return Answer(None, None, f"sandbox: {outcome.message}", layers, is_lost=True)
        problem = ", ".join(filter(None, (f"program: {outcome.status}", outcome.message)))
    found = extract(output, scoring.text_rules) if source.reads_text else None
    if found is None:
        return Answer(None, None, problem or "no answer found", layers)
    return Answer(found.text, found.rule, problem, layers)


# Answers → rows


class Scores(NamedTuple):
    """The rows, and what is to be known beside them."""

    rows: list[ScoreRow]
    failures: list[str]
    """What could not be decided because a grader or the sandbox crashed, or ran out of time."""


def score_records(
    records: Sequence[Record], dataset: Dataset, scoring: Scoring, tools: Tools
) -> Scores:
    """Return one row per output and rule: by run, then in the order of the benchmark, then by rule.

    Raises
    ------
    InputError
        An output is to a problem that the benchmark does not have.
    """
    problems = {problem.id: problem for problem in dataset.problems}
    records = in_order(records, dataset)
    whole = [record for record in records if record.not_scorable is None]
    found = _find_answers(whole, scoring, tools)
    pairs = [(problems[record.id], answer) for record, answer in zip(whole, found, strict=True)]
    by_rule = {rule: iter(_verdicts(rule, pairs, tools)) for rule in scoring.rules}
    answers = iter(found)
    scores = Scores([], [])
    for record in records:
        answer = None if record.not_scorable else next(answers)
        for rule in scoring.rules:
            verdict = next(by_rule[rule]) if answer else Verdict(None, record.not_scorable or "")
            scores.rows.append(_row(record, problems[record.id], rule, answer, verdict))
            if verdict.failed:
                named = f"{record.dataset}, {record.model}, {record.method}, {record.id}"
                scores.failures.append(f"{named}: {verdict.reason}")
    return scores


def _verdicts(
    rule: str, pairs: Sequence[tuple[Problem, Answer]], tools: Tools
) -> Iterator[Verdict]:
    """Yield a verdict per answer; where there is none it is wrong by any rule."""
    items = []
    for problem, answer in pairs:
        if answer.value is not None:
            is_computed = answer.layers is not None and not answer.problem
            items.append(Item(problem, answer.value, is_computed))
    compared = RULES[rule](items, tools)
    for _, answer in pairs:
        if answer.is_lost:
            yield Verdict(None, answer.problem, failed=True)
        elif answer.value is None:
            yield Verdict(0.0, answer.problem)
        else:
            verdict = next(compared)
            reasons = filter(None, (verdict.reason, answer.problem))
            yield verdict._replace(reason="; ".join(reasons))


def _row(
    record: Record, problem: Problem, rule: str, answer: Answer | None, verdict: Verdict
) -> ScoreRow:
    layers = answer.layers if answer else None
    if answer is None:
        status = NO_ANSWER
    elif verdict.value is None:
        status = UNKNOWN
    else:  # a program that gave no answer is one that is wrong
        status = NOT_FOUND if answer.value is None and layers is None else SCORED
    return ScoreRow(
        dataset=record.dataset,
        model=record.model,
        method=record.method,
        id=record.id,
        epoch=record.epoch,
        rule=rule,
        value=verdict.value,
        answer=None if answer is None or answer.value is None else str(answer.value),
        extraction=answer.extraction if answer else None,
        reason=verdict.reason,
        sandbox="; ".join(f"{name} {state}" for name, state in layers.items()) if layers else None,
        subtask=problem.subtask or None,
        status=status,
    )


# The command


@contextmanager
def _tools(limits: Limits, allow_weak: bool, progress: Progress) -> Iterator[tuple[Tools, Layers]]:
    """Lend what rules need, started when needed first, and the layers of the sandbox."""
    layers: dict[str, str] = {}
    with ExitStack() as stack:

        @cache
        def sandbox() -> Sandbox:
            started = stack.enter_context(Sandbox(limits=limits, allow_weak=allow_weak))
            layers.update(started.layers)
            return started

        def counted(results: Iterable[_Result], total: int, unit: str) -> Iterator[_Result]:
            progress.expect(total, unit)
            for result in results:
                progress.advance(1, unit)
                yield result

        def run_programs(programs: Sequence[Program]) -> Sequence[Outcome]:
            return list(counted(sandbox().run(programs), len(programs), "programs"))

        def compare_formulas(tasks: Sequence[Item]) -> Iterator[Verdict]:
            verdicts = stack.enter_context(closing(compare_all(tasks)))
            return counted(verdicts, len(tasks), "answers")

        yield Tools(run_programs, compare_formulas), layers


def _notices(layers: Layers, records: Sequence[Record], dataset: Dataset) -> Iterator[str]:
    """Yield what the sandbox lacked, and which runs lack problems, so that accuracy is of some."""
    for name, state in layers.items():
        if state != "ok":
            yield f"Warning: sandbox without {name} ({state})"
    runs: dict[tuple[str, str, str], set[str]] = {}
    for record in records:
        run = (record.dataset, record.model, record.method)
        runs.setdefault(run, set()).add(record.id)
    for run, ids in runs.items():
        if len(ids) < len(dataset):
            absent = len(dataset) - len(ids)
            yield f"{'/'.join(run)}: no output for {absent} of {len(dataset)} problems"
    yield from (f"{dataset.name}: {fault}" for fault in dataset.faults)


def _save_figure(rows: Sequence[ScoreRow], path: Path) -> None:
    """Draw how each model did, where something is known of it."""
    known = [row for row in summarise(rows) if row.accuracy is not None]
    if not known:
        raise InputError(str(path), "nothing to draw: nothing is known of any output")
    save_figure(draw_accuracy(for_figure(known)), path)


@command
def score(
    outputs: str | Path,
    *,
    dataset: Annotated[str, Option(metavar="NAME")],
    data: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    layout: Literal["evalcore", "financemath", "bbh"] = "evalcore",
    method: Annotated[str | None, Option(metavar="NAME")] = None,
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    extraction: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    program_seconds: Annotated[float, Option(metavar="S", over=0)] = 30.0,
    allow_weak_sandbox: bool = False,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    progress: Progress = SILENT,
) -> Result:
    """Score recorded outputs against the reference answers of a benchmark.

    Programs that models wrote are run, in a sandbox. Where rows go to the terminal as a table, it
    is a summary per model; every other format has one row per output and rule.

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
    rule : str or sequence of str
        How answers are compared; several rules score side by side. By default the benchmark's.
    extraction : str or sequence of str
        How the answer is found in a text: rules that are tried in this order. By default the
        benchmark's.
    program_seconds : float
        How many seconds a program may run.
    allow_weak_sandbox : bool
        Run programs even where this system can't keep them from doing harm.
    figure : str or Path, optional
        Draw accuracies with their intervals: .svg or .png.
    progress : Progress
        Is told of programs run and answers compared.

    Returns
    -------
    DataFrame
        One row per output and rule.

    Raises
    ------
    InputError
        An argument, an output or the benchmark is wrong.
    SandboxError
        Programs can't be run safely here.
    IncompleteError
        A grader crashed or ran out of time, or the sandbox failed; the rows are in it.

    Examples
    --------
    $ evalcore score outputs/financemath --dataset financemath --rule strict --rule lenient
    $ evalcore score raw_pot_outputs --layout financemath --method pot --dataset financemath
    """
    check_target(Path(figure) if figure else None)
    refuse_other("--dataset", dataset, benchmarks())
    scoring = choose_scoring(dataset, rule, extraction)
    problems = load_dataset(dataset, Path(data) if data else None)
    records = read_records(Path(outputs), layout, method, dataset, progress.notice)
    limits = Limits(seconds=program_seconds)
    with _tools(limits, allow_weak_sandbox, progress) as (tools, layers):
        scores = score_records(records, problems, scoring, tools)
    if figure:
        _save_figure(scores.rows, Path(figure))
    return Result(
        scores.rows,
        ScoreRow,
        notices=list(_notices(layers, records, problems)),
        failures=scores.failures,
        print_table=partial(print_summaries, rows=scores.rows),
    )

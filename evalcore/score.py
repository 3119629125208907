"""`evalcore score`: recorded outputs against the reference answers of a benchmark.

What a model wrote is scored only where it is a whole answer: a refusal, an output that was cut and
an empty one have no value, and what they count as is decided where runs are compared. A complete
output without an answer is wrong, as is one whose program fails. What a grader could not decide is
not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from evalcore.benchmarks import Dataset, find_benchmark, load_dataset
from evalcore.extraction import FUNCTION_RULES, PROGRAM_RULES, extract
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.figures import draw_accuracy
from evalcore.formats import Answers, Benchmark
from evalcore.prompts import load_templates
from evalcore.records import Record, in_order, read_records
from evalcore.rules import RULES, Item, Tools
from evalcore.rules.formula_pool import compare_all
from evalcore.sandbox import Limits, Outcome, Program, Sandbox
from evalcore.scores import NO_ANSWER, NOT_FOUND, UNKNOWN, ScoreRow, print_summaries, summarise
from ngramscan.errors import InputError
from ngramscan.output import refuse_other
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.output.command import Option, Result, command
from ngramscan.progress import SILENT, Progress


def choose_scoring(usual: Benchmark, rules: Sequence[str], extraction: Sequence[str]) -> Benchmark:
    """Return a benchmark with the rules that are wanted, each of which it must have."""
    if not usual.rules:
        cure = f"see evalcore judge --dataset {usual.name}"
        raise InputError(f"--dataset {usual.name}", f"its answers are judged, not compared; {cure}")
    known = usual.rules if usual.files else tuple(dict.fromkeys((*usual.rules, *RULES)))
    for name in rules:
        if name not in known:
            problem = f"unknown for {usual.name}; it has {', '.join(known)}"
            raise InputError(f"--rule {name}", problem)
    for name in extraction:
        refuse_other("--extraction", name, TEXT_RULES)
    chosen = tuple(dict.fromkeys(rules)) or usual.rules[:1]
    return replace(usual, rules=chosen, extraction=tuple(extraction) or usual.extraction)


def score_records(
    records: Sequence[Record], dataset: Dataset, benchmark: Benchmark, tools: Tools
) -> tuple[list[ScoreRow], list[str]]:
    """Return a row per output and rule, and what is not known because something failed.

    Rows come by run, then in the order of the benchmark, then by rule.
    """
    answers = list(_find_answers(in_order(records, dataset), dataset, benchmark, tools))
    items = [item for _, item in answers if item]
    # Taken at once, so that no process of a rule goes on when something is wrong.
    verdicts = {rule: iter(list(RULES[rule](items, tools))) for rule in benchmark.rules}
    rows, failures = [], []
    for found, item in answers:
        for rule in benchmark.rules:
            row, failed = replace(found, rule=rule), found.status == UNKNOWN
            if item:
                value, reason, failed = next(verdicts[rule])
                reason = "; ".join(filter(None, (reason, row.reason)))
                row = replace(row, value=value, reason=reason, status="")
            rows.append(row)
            if failed:
                named = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
                failures.append(f"{named}: {row.reason}")
    return rows, failures


def _find_answers(
    records: Sequence[Record], dataset: Dataset, benchmark: Benchmark, tools: Tools
) -> Iterator[tuple[ScoreRow, Item | None]]:
    """Yield the row of each output before any rule, and what rules compare; programs are run."""
    problems = {problem.id: problem for problem in dataset.problems}
    prompts = load_templates(benchmark)
    kinds = [prompts.answer_to(record.method) for record in records]
    programs = [
        _find_program(record, benchmark.programs.get(kind))
        for record, kind in zip(records, kinds, strict=True)
    ]
    outcomes = iter(tools.run_programs([program for program in programs if program]))
    for record, kind, program in zip(records, kinds, programs, strict=True):
        outcome, problem = next(outcomes) if program else None, problems[record.id]
        answer, extraction, reason, status = _find_answer(record, kind, outcome, benchmark)
        layers = (outcome and outcome.layers) or {}
        row = ScoreRow(
            dataset=record.dataset,
            model=record.model,
            method=record.method,
            id=record.id,
            epoch=record.epoch,
            rule="",
            value=None if status in {NO_ANSWER, UNKNOWN} else 0.0,
            answer=None if answer is None else str(answer),
            extraction=extraction,
            reason=reason,
            sandbox="; ".join(map(" ".join, layers.items())) or None,
            subtask=problem.subtask or None,
            status=status,
        )
        is_computed = outcome is not None and outcome.status == "ok"
        yield row, None if answer is None else Item(problem, answer, is_computed)


def _find_program(record: Record, rule: str | None) -> Program | None:
    found = PROGRAM_RULES[rule](record.output or "") if rule and not record.not_scorable else None
    if found is None:
        return None
    is_function = rule in FUNCTION_RULES or "def solution(" in found
    return Program(found, "solution()" if is_function else "answer")


def _find_answer(
    record: Record, kind: Answers, outcome: Outcome | None, benchmark: Benchmark
) -> tuple[float | int | bool | str | None, str | None, str, str]:
    """Return the answer, the rule that found it, why there is none, and why it is not scored."""
    rule, failed = benchmark.programs.get(kind), ""
    if record.not_scorable:
        return None, None, record.not_scorable, NO_ANSWER
    if outcome and outcome.status == "lost":
        return None, None, f"sandbox: {outcome.message}", UNKNOWN
    if outcome and outcome.status == "ok":
        return outcome.value, f"program, {rule}", "", ""
    if outcome:
        failed = ", ".join(filter(None, (f"program: {outcome.status}", outcome.message)))
    is_text = kind != "program" or rule is None
    found = extract(record.output or "", benchmark.extraction) if is_text else None
    if found:
        return found.text, found.rule, failed, ""
    why = failed or ("no answer found" if is_text else "no program found")
    return None, None, why, "" if outcome else NOT_FOUND  # a program that failed was found


# The command


def _tools(limits: Limits, allow_weak: bool, progress: Progress, layers: dict[str, str]) -> Tools:
    """Return what rules need, which say what goes on; a sandbox tells its layers."""

    def counted(results: Iterable[Any], total: int, unit: str) -> Iterator[Any]:
        progress.expect(total, unit)
        for result in results:
            progress.advance(1, unit)
            yield result

    def run_programs(programs: Sequence[Program]) -> Sequence[Outcome]:
        if not programs:
            return []
        with Sandbox(limits, allow_weak) as sandbox:
            layers.update(sandbox.layers)
            return list(counted(sandbox.run(programs), len(programs), "programs"))

    return Tools(run_programs, lambda items: counted(compare_all(items), len(items), "answers"))


def _notices(layers: Mapping[str, str], rows: Sequence[ScoreRow], dataset: Dataset) -> list[str]:
    """Say what the sandbox lacked, and which runs lack problems, so that accuracy is of some."""
    ids: dict[str, set[str]] = {}
    for row in rows:
        ids.setdefault(f"{row.dataset}/{row.model}/{row.method}", set()).add(row.id)
    absent = {run: len(dataset) - len(there) for run, there in ids.items()}
    weak = {name: state for name, state in layers.items() if state != "ok"}
    return [
        *(f"Warning: sandbox without {name} ({state})" for name, state in weak.items()),
        *(f"{run}: no output for {n} of {len(dataset)} problems" for run, n in absent.items() if n),
        *(f"{dataset.name}: {fault}" for fault in dataset.faults),
    ]


def _save_figure(rows: Sequence[ScoreRow], path: Path) -> None:
    """Draw how each model did, where something is known of it; several rules are told apart."""
    known = [row for row in summarise(rows) if row.accuracy is not None]
    if not known:
        raise InputError(str(path), "nothing to draw: nothing is known of any output")
    if len({row.rule for row in known}) > 1:
        known = [row._replace(method=f"{row.method}, {row.rule}") for row in known]
    save_figure(draw_accuracy(known), path)


@command
def score(
    outputs: str | Path,
    *,
    dataset: Annotated[str | None, Option(metavar="NAME")] = None,
    data: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    id_field: Annotated[str, Option(metavar="COLUMN")] = "id",
    question_field: Annotated[str, Option(metavar="COLUMN")] = "question",
    answer_field: Annotated[str, Option(metavar="COLUMN")] = "answer",
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

    Programs that models wrote run in a sandbox. The terminal's table is a summary per model; every
    other format has one row per output and rule.

    Parameters
    ----------
    outputs : str or Path
        A folder of outputs, or a file.
    dataset : str, optional
        The benchmark; see `evalcore datasets list`. With questions of your own in `data`, what they
        are called: by default as their file.
    data : str or Path, optional
        A local copy of the benchmark, by default the one that was fetched; or a file of questions
        of your own (.csv, .json, .jsonl, .parquet).
    id_field, question_field, answer_field : str
        Name of this column in questions of your own.
    layout : str
        How the files of the outputs are laid out.
    method : str, optional
        Only outputs of this method; in layouts other than `evalcore`, the method of all of them.
    rule : str or sequence of str
        How answers are compared; several rules score side by side. By default the first of the
        benchmark.
    extraction : str or sequence of str
        How answers are found in texts: rules, tried in this order. By default the benchmark's.
    program_seconds : float
        How many seconds a program may run.
    allow_weak_sandbox : bool
        Run programs even where this system can't keep them from doing harm.
    figure : str or Path, optional
        Draw accuracies with their intervals: .svg or .png.
    progress : Progress
        Reports programs run and answers compared.

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
    $ evalcore score outputs/mine --data questions.jsonl --rule numbers
    """
    check_target(Path(figure) if figure else None)
    place, layers = Path(data) if data else None, dict[str, str]()
    known = find_benchmark(dataset, place, id_field, question_field, answer_field)
    benchmark = choose_scoring(known, rule, extraction)
    problems = load_dataset(benchmark, place)
    records = read_records(Path(outputs), layout, method, benchmark.name, progress.notice)
    tools = _tools(Limits(seconds=program_seconds), allow_weak_sandbox, progress, layers)
    rows, failures = score_records(records, problems, benchmark, tools)
    if figure:
        _save_figure(rows, Path(figure))
    notices, table = _notices(layers, rows, problems), partial(print_summaries, rows=rows)
    return Result(rows, ScoreRow, notices, failures, print_table=table)

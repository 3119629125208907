"""`evalcore score`: compare recorded outputs with the reference answers of a benchmark."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from evalcore import scores
from evalcore.benchmarks import Dataset, load_dataset
from evalcore.commands.logs import refuse_logs
from evalcore.epochs import summarise_passes
from evalcore.extraction import (
    FUNCTION_RULES,
    PROGRAM_RULES,
    extract,
    without_markup,
    without_run_on,
)
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.formats import AnswerPlace, Benchmark, Problem
from evalcore.options import OptionNames, ScoringOptions
from evalcore.prompts import load_templates
from evalcore.records import Record, benchmark_of, in_order, read_chosen
from evalcore.rules import (
    FOR_NUMBERS,
    RULES,
    AnswerToGrade,
    Grade,
    Tools,
    grade_all,
    reference_fault,
)
from evalcore.rules.formula_pool import compare_all, reason_for_judge
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Outcome, Program, Sandbox
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.options import LONGEST_S
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.score_values import NO_ANSWER, NOT_FOUND, UNKNOWN
from ngramscan.reporting import refuse_other
from ngramscan.reporting.charts.files import save_figure
from ngramscan.reporting.command import NewFile, Option, Result, Shared, command

RULE_ALIASES = {
    "em": "exact",
    "exact-match": "exact",
    "exact_match": "exact",
    "number": "numbers",
    "numeric": "numbers",
}
"""Names that other tools have for rules; a rule is always itself."""


def choose_scoring(usual: Benchmark, rules: Sequence[str], extraction: Sequence[str]) -> Benchmark:
    """Return a benchmark with the wanted rules, each of which it must have."""
    if not usual.rules:
        raise InputError(
            OptionUse("dataset", usual.name), "no rule can score it; use `evalcore judge`"
        )
    possible_rules = usual.rules if usual.files else (*usual.rules, *RULES)
    rules = [
        rule if rule in possible_rules else RULE_ALIASES.get(rule.lower(), rule) for rule in rules
    ]
    refuse_other("rule", rules, possible_rules)
    refuse_other("extraction", extraction, TEXT_RULES)
    chosen = tuple(dict.fromkeys(rules)) or usual.rules[:1]
    return replace(usual, rules=chosen, extraction=tuple(extraction) or usual.extraction)


def refuse_references(dataset: Dataset, benchmark: Benchmark) -> None:
    """Raise an InputError for a reference answer of a user's own with which a rule can't compare.

    Files that are shipped have their rules, and what these can't compare is for judges.
    """
    if benchmark.files:
        return
    for problem, rule in product(dataset.problems, benchmark.rules):
        gold = problem.gold or ""
        if fault := reference_fault(rule, gold):
            cure = "name another column with " + OptionUse("answer_field")
            rules = f", or choose another rule than {rule}"
            answer_fault = f"the answer is {gold!r:.40}, and {fault}; "
            raise InputError(problem.place, answer_fault + cure + rules)
    reasons = [reason_for_judge(problem.gold or "") for problem in dataset.problems]
    if set(benchmark.rules) == {"math"} and all(reasons):
        fault = f"the answer is {reasons[0]}, and `math` can compare no answer of this file"
        cure = "use `evalcore judge`, or name another column with " + OptionUse("answer_field")
        raise InputError(dataset.problems[0].place, f"{fault}; " + cure)


def score_records(
    records: Sequence[Record], dataset: Dataset, benchmark: Benchmark, tools: Tools
) -> tuple[list[ScoreRow], list[str]]:
    """Return a row per output and rule, by run in the benchmark's order; and the failures."""
    problems = {problem.id: problem for problem in dataset.problems}
    prompts = load_templates(benchmark)
    ordered = in_order(records, dataset)
    kinds = [prompts.answer_to(record.method) for record in ordered]
    outcomes = _run_programs(ordered, kinds, benchmark, tools)
    answers = [
        _find_answer(record, problems[record.id], kind, outcomes.get(number), benchmark)
        for number, (record, kind) in enumerate(zip(ordered, kinds, strict=True))
    ]
    items = {number: item for number, (_, item) in enumerate(answers) if item}
    # All at once, so that no process of a rule outlives an error.
    grades = {
        rule: dict(zip(items, grade_all(RULES[rule], [*items.values()], tools), strict=True))
        for rule in benchmark.rules
    }
    rows, failures = [], []
    for number, rule in product(range(len(answers)), benchmark.rules):
        row, item = answers[number]
        unanswered = Grade(row.value, "", row.status == UNKNOWN)
        grade = grades[rule].get(number, unanswered)
        scored = _scored_row(row, item, rule, grade)
        rows.append(scored)
        if grade.failed:
            named = ", ".join((row.dataset, row.model, row.method, row.id))
            failures.append(f"{named}: {scored.reason}")
    return rows, failures


def _run_programs(
    records: Sequence[Record], kinds: Sequence[AnswerPlace], benchmark: Benchmark, tools: Tools
) -> dict[int, Outcome]:
    """Return what the programs of outputs did, by the numbers of the outputs that have one."""
    programs = {}
    for number, (record, kind) in enumerate(zip(records, kinds, strict=True)):
        if program := _find_program(record, benchmark.programs.get(kind)):
            programs[number] = program
    if not programs:
        return {}
    return dict(zip(programs, tools.run_programs([*programs.values()]), strict=True))


def _scored_row(row: ScoreRow, item: AnswerToGrade | None, rule: str, grade: Grade) -> ScoreRow:
    """Return the row of an output with its grade by a rule."""
    reason = "; ".join(filter(None, (grade.reason, row.reason)))
    status = "" if item else row.status
    if item and rule in FOR_NUMBERS and _is_prose(item):
        row, status = replace(row, answer=None, extraction=None), NOT_FOUND
    return replace(row, rule=rule, value=grade.value, reason=reason, status=status)


def _is_prose(item: AnswerToGrade) -> bool:
    return not item.is_computed and not re.search(r"\d", str(item.value))


def _looked_at(record: Record) -> str:
    """Return the part of an output in which answers and programs are looked for."""
    return without_run_on(record.answer_text or "")


def _find_program(record: Record, rule: str | None) -> Program | None:
    if not rule or record.not_scorable:
        return None
    code = PROGRAM_RULES[rule](_looked_at(record))
    is_function = rule in FUNCTION_RULES or "def solution(" in (code or "")
    return None if code is None else Program(code, "solution()" if is_function else "answer")


def _find_answer(
    record: Record,
    problem: Problem,
    kind: AnswerPlace,
    outcome: Outcome | None,
    benchmark: Benchmark,
) -> tuple[ScoreRow, AnswerToGrade | None]:
    """Return the row of an output before any rule, and what rules compare, if anything."""
    rule, layers = benchmark.programs.get(kind), (outcome and outcome.layers) or {}
    row = ScoreRow(
        **record.names,
        rule="",
        value=None,
        sandbox="; ".join(map(" ".join, layers.items())) or None,
        subtask=problem.subtask or None,
        hash=problem.hash,
    )
    if record.not_scorable:
        return replace(row, reason=record.not_scorable, status=NO_ANSWER), None
    if outcome and outcome.status == "lost":
        return replace(row, reason=f"sandbox: {outcome.message}"), None
    if outcome and outcome.value is not None:
        answered_row = replace(row, answer=str(outcome.value), extraction=f"program, {rule}")
        return answered_row, AnswerToGrade(problem, outcome.value, is_computed=True)
    failed = f"program: {outcome.status}, {outcome.message}".removesuffix(", ") if outcome else ""
    is_text = kind != "program" or rule is None
    text = without_markup(_looked_at(record))
    if is_text and (answer_and_rule := extract(text, benchmark.extraction)):
        answer, by = answer_and_rule
        return replace(row, answer=answer, extraction=by, reason=failed), AnswerToGrade(
            problem, answer
        )
    why = failed or ("no answer found" if is_text else "no program found")
    status = "" if outcome else NOT_FOUND  # a program that failed was found
    return replace(row, value=0.0, reason=why, status=status), None


def _notices(layers: Mapping[str, str], rows: Sequence[ScoreRow], dataset: Dataset) -> list[str]:
    outputs = {(f"{row.dataset}/{row.model}/{row.method}", row.id): None for row in rows}
    there, n = Counter(run for run, _ in outputs), len(dataset.problems)
    return [
        *(
            f"Warning: sandbox without {name} ({why})"
            for name, why in layers.items()
            if why != "ok"
        ),
        *(f"{run}: no output for {n - k} of {n} problems" for run, k in there.items() if k < n),
        *(f"{dataset.name}: {fault}" for fault in dataset.faults),
    ]


def _counted(run: Any, tasks: Sequence[Any], unit: str, progress: Progress) -> Iterator[Any]:
    progress.expect(len(tasks), unit)
    for result in run(tasks):
        progress.advance(1, unit)
        yield result


@command
def score(
    outputs: str | Path,
    *,
    rule: OptionNames = (),
    extraction: OptionNames = (),
    program_seconds: Annotated[float, Option(metavar="S", over=0, most=LONGEST_S)] = 30.0,
    allow_weak_sandbox: bool = False,
    figure: NewFile = None,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(ScoringOptions)],
) -> Result[ScoreRow]:
    """Score recorded outputs against the reference answers of a benchmark.

    Programs that models wrote run in a sandbox. The terminal shows accuracy per model and method;
    files and other formats have one row per output and rule.

    Parameters
    ----------
    outputs : str or Path
        Recorded outputs: a file, or a folder such as `evalcore run` writes.
    rule : str or sequence of str
        Rule that compares answers; several rules score side by side. By default the benchmark's.
    extraction : str or sequence of str
        Rule that finds answers in texts; several are tried in order. By default the benchmark's.
    program_seconds : float
        Maximum seconds that a program may run.
    allow_weak_sandbox : bool
        Run programs even if this system can't keep them from doing harm.
    figure : str or Path, optional
        Draw accuracies with their intervals: .svg, .png or .pdf.
    progress : Progress
        Callbacks for programs run and answers compared.

    Returns
    -------
    DataFrame
        One row per output and rule.

    Raises
    ------
    SandboxError
        Programs can't be run safely here.
    IncompleteError
        A grader crashed or ran out of time, or the sandbox failed; the rows are in it.

    Examples
    --------
    $ evalcore score outputs/financemath --dataset financemath --rule strict --rule lenient
    $ evalcore score raw_pot_outputs --dataset financemath
    $ evalcore score outputs/mine --data questions.jsonl --rule numbers
    """
    scoring_options = ScoringOptions(**options)
    refuse_logs(Path(outputs))
    usual = benchmark_of(Path(outputs), scoring_options)
    benchmark, layers = choose_scoring(usual, rule, extraction), dict[str, str]()
    problems = load_dataset(benchmark, scoring_options.data)
    refuse_references(problems, benchmark)
    clusters = problems.clusters(scoring_options.cluster)
    records = read_chosen(Path(outputs), scoring_options, benchmark.name, progress.notice)

    def run_programs(programs: Sequence[Program]) -> list[Outcome]:
        with Sandbox(ProgramLimits(seconds=program_seconds), allow_weak_sandbox) as sandbox:
            layers.update(sandbox.layers)
            return list(_counted(sandbox.run, programs, "programs", progress))

    tools = Tools(run_programs, lambda items: _counted(compare_all, items, "answers", progress))
    rows, failures = score_records(records, problems, benchmark, tools)
    rows = [replace(row, cluster=clusters.get(row.id)) for row in rows]
    summaries, pass_notices, pass_failures = summarise_passes(rows, scoring_options.rates)
    if figure:
        drawable = [summary for summary in summaries if summary.accuracy is not None]
        if not drawable:
            raise InputError(figure, "nothing to draw; no output has a known score")
        save_figure(Path(figure), drawable)
    notices = [*_notices(layers, rows, problems), *pass_notices]
    notices += [f"{summary.title}: {summary.note}" for summary in summaries if summary.note]
    failures += pass_failures
    print_table = partial(
        scores.print_summary_rows, summaries=summaries, rates=scoring_options.rates
    )
    return Result(rows, ScoreRow, notices, failures, print_table=print_table, is_summary=True)

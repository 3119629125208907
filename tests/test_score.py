from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import evalcore
from evalcore.benchmarks import Dataset
from evalcore.formats import Problem
from evalcore.records import Record
from evalcore.rules import RULES, Item, Tools, Verdict
from evalcore.sandbox import Outcome, Program
from evalcore.score import SCORINGS, choose_scoring, score_records
from evalcore.scores import for_figure, print_summaries, summarise
from ngramscan.errors import InputError, SandboxError

LAYERS = {"limits": "ok", "landlock": "missing: not on this system"}
FUNCTION = "```python\ndef solution():\n    return 0.5\n```\n"


def record(output: str | None, method: str = "cot", **fields: Any) -> Record:
    known: dict[str, Any] = {"id": "1", "dataset": "financemath", "model": "m", "output": output}
    return Record(method=method, **(known | fields))


class Runner:
    """Gives each program the outcome that is written for it; the rest fail."""

    def __init__(self, **outcomes: Outcome) -> None:
        self.outcomes = outcomes
        self.ran: list[Program] = []

    def __call__(self, programs: Sequence[Program]) -> list[Outcome]:
        self.ran += programs
        return [
            next((o for text, o in self.outcomes.items() if text in program.source), FAILED)
            for program in programs
        ]


FAILED = Outcome("error", message="NameError: x", layers=LAYERS)


def ok(value: float | str) -> Outcome:
    return Outcome("ok", value, layers=LAYERS)


PROBLEMS = (
    Problem("1", "?", "0.5", details={"ground_truth": 0.5, "program": "REFERENCE 0.5"}),
    Problem("2", "?", "100.0", details={"ground_truth": 100.0, "program": "REFERENCE 100"}),
)
MATH = Dataset("olympiadbench-oe-maths", (Problem("1", "?", "5", details={"unit": "cm"}),), "0")
FINANCE = Dataset("financemath", PROBLEMS, "0" * 64)


def grade(items: Iterable[Item]) -> Iterator[Verdict]:
    for item in items:
        if "crash" in str(item.value):
            yield Verdict(None, "grader: ran out of time", failed=True)
        else:
            reason = item.problem.details.get("unit") or "no unit"
            yield Verdict(float(item.value == item.problem.gold), reason)


def scores(records: Sequence[Record], dataset: Dataset, *rules: str, **outcomes: Outcome) -> Any:
    tools = Tools(Runner(**outcomes), grade)
    return score_records(records, dataset, choose_scoring(dataset.name, rules, ()), tools)


@pytest.mark.parametrize(
    ("method", "output", "value", "extraction", "problem"),
    [
        pytest.param("cot", "Therefore, the answer is 3.", "3", "the-answer-is/1", "", id="text"),
        pytest.param("cot", FUNCTION, "0.5", "last-number/1", "", id="CoT runs no program"),
        pytest.param(
            "pot", FUNCTION, "7", "program, financemath-authors/2", "", id="PoT is its program"
        ),
        pytest.param(
            "pot",
            "import argparse. Therefore, the answer is 3.",
            None,
            None,
            "no program found",
            id="PoT without a program is not read as text",
        ),
        pytest.param(
            "f-1", f"{FUNCTION}The answer is 3.", "7", "program, fenced/1", "", id="F-1 computes"
        ),
        pytest.param(
            "f-1+verify", "The answer is 3.", "3", "the-answer-is/1", "", id="F-1 without a program"
        ),
        pytest.param(
            "F-1+PoT", FUNCTION, "7", "program, financemath-authors/2", "", id="F-1+PoT is PoT"
        ),
        pytest.param("f-1+cot", FUNCTION, "0.5", "last-number/1", "", id="F-1+CoT is CoT"),
        pytest.param("cot", "I can't say.", None, None, "no answer found", id="no number at all"),
        pytest.param(
            "mine",
            f"{FUNCTION}The answer is 3.",
            "7",
            "program, fenced/1",
            "",
            id="one's own method",
        ),
    ],
)
def test_a_method_says_whether_text_or_program_is_the_answer(
    method: str, output: str, value: str | None, extraction: str | None, problem: str
) -> None:
    (row,) = scores([record(output, method)], FINANCE, **{"return 0.5": ok(7)}).rows
    assert (row.answer, row.extraction) == (value, extraction)
    assert row.reason == problem or not problem


def test_a_script_is_asked_for_its_variable_and_a_function_for_its_value() -> None:
    runner = Runner()
    script = "```python\nanswer = 2\n```"
    scoring = choose_scoring(MATH.name, (), ())
    given = [record(output, "pot", dataset=MATH.name) for output in (script, FUNCTION)]
    score_records(given, MATH, scoring, Tools(runner, grade))
    assert [program.answer_from for program in runner.ran] == ["answer", "solution()"]


def test_words_are_never_programs() -> None:
    words = Dataset("bbh-word-sorting", (Problem("1", "?", "a b"),), "0")
    (row,) = scores([record(FUNCTION, "f-1", dataset=words.name)], words).rows
    assert (row.sandbox, row.status) == (None, "not_found")


# Rules


def test_two_rules_score_side_by_side() -> None:
    given = [record("The answer is 50%."), record("The answer is 100.", id="2")]
    rows = scores(given, FINANCE, "strict", "lenient").rows
    assert [(row.id, row.rule, row.value, row.answer) for row in rows] == [
        ("1", "strict", 0.0, "50%"),
        ("1", "lenient", 1.0, "50%"),
        ("2", "strict", 1.0, "100"),
        ("2", "lenient", 1.0, "100"),
    ]
    assert all(row.extraction == "the-answer-is/1" and row.sandbox is None for row in rows)


def test_lenient_compares_programs_with_the_reference_program_and_strict_with_the_gold() -> None:
    outcomes = {"return 0.5": ok(0.50003), "REFERENCE 0.5": ok(0.5000302)}
    rows = scores([record(FUNCTION, "pot")], FINANCE, "strict", "lenient", **outcomes).rows
    assert [row.value for row in rows] == [1.0, 1.0]
    outcomes = {"return 0.5": ok(0.52), "REFERENCE 0.5": ok(0.52)}
    rows = scores([record(FUNCTION, "pot")], FINANCE, "strict", "lenient", **outcomes).rows
    assert [row.value for row in rows] == [0.0, 1.0]
    assert rows[0].sandbox == "limits ok; landlock missing: not on this system"


def test_a_reference_program_that_fails_stops_scoring() -> None:
    with pytest.raises(SandboxError, match="problem 1: its reference program gives no value"):
        scores([record(FUNCTION, "pot")], FINANCE, "lenient", **{"return 0.5": ok(1)})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"refusal": "I can't help"}, "refused: I can't help", id="refused"),
        pytest.param({"finish_reason": "length"}, "cut at the token limit", id="cut"),
        pytest.param({"output": None}, "no output", id="nothing"),
        pytest.param({"output": " \n"}, "no output", id="an empty output"),
    ],
)
def test_what_is_no_whole_answer_has_no_value(fields: dict[str, Any], reason: str) -> None:
    given = {"output": "The answer is 0.5."} | fields
    (row,) = scores([record(**given)], FINANCE).rows
    assert (row.value, row.answer, row.reason, row.status) == (None, None, reason, "no_answer")


def test_a_whole_output_without_an_answer_is_wrong() -> None:
    (row,) = scores([record("I wonder.")], FINANCE).rows
    assert (row.value, row.answer, row.reason) == (0.0, None, "no answer found")
    assert row.status == "not_found"
    (row,) = scores([record("import argparse", "pot")], FINANCE).rows
    assert (row.value, row.reason, row.status) == (0.0, "no program found", "not_found")


def test_a_program_that_fails_is_a_wrong_answer_that_was_found() -> None:
    (row,) = scores([record(FUNCTION, "pot")], FINANCE).rows
    assert (row.value, row.answer, row.status) == (0.0, None, "scored")
    (row,) = scores([record("The answer is 0.5.")], FINANCE).rows
    assert (row.value, row.status) == (1.0, "scored")


@pytest.mark.parametrize("method", ["pot", "f-1"])
def test_a_program_that_the_sandbox_lost_is_an_error_and_no_wrong_answer(method: str) -> None:
    lost = Outcome("lost", message="the process that watched the program ended", layers=LAYERS)
    given = [record(f"{FUNCTION}The answer is 0.5.", method)]
    found = scores(given, FINANCE, **{"return 0.5": lost})
    (row,) = found.rows
    assert (row.value, row.answer, row.status) == (None, None, "unknown")
    assert found.failures == [
        f"financemath, m, {method}, 1: sandbox: the process that watched the program ended"
    ]


def test_an_answer_beside_a_failed_program_says_that_it_failed() -> None:
    (row,) = scores([record(f"{FUNCTION}The answer is 0.5.", "f-1")], FINANCE).rows
    assert row.value == 1.0
    assert row.reason == "equal at 3 decimals; program: error, NameError: x"


def test_formulas_are_graded_with_the_unit_of_the_problem() -> None:
    one = record("So the final answer is \\boxed{5}.", dataset=MATH.name)
    (row,) = scores([one], MATH).rows
    assert (row.value, row.answer, row.extraction, row.reason) == (1.0, "5", "boxes/1", "cm")


def test_a_grader_that_crashed_is_an_error_and_no_wrong_answer() -> None:
    one = record("\\boxed{crash}", dataset=MATH.name)
    found = scores([one], MATH)
    assert (found.rows[0].value, found.rows[0].status) == (None, "unknown")
    assert found.failures == [
        "olympiadbench-oe-maths, m, cot, 1: grader: ran out of time",
    ]


def test_an_output_to_an_unknown_problem_is_refused() -> None:
    with pytest.raises(InputError, match="financemath/m/cot: id '9' is no problem of financemath"):
        scores([record("x", id="9")], FINANCE)


def test_unknown_rules_and_judged_benchmarks_are_refused() -> None:
    with pytest.raises(InputError, match="--rule exact: unknown for financemath; it has strict"):
        choose_scoring("financemath", ["exact"], [])
    with pytest.raises(InputError, match="judged, not compared; see evalcore judge"):
        choose_scoring("imo-proofbench", [], [])
    chosen = choose_scoring("financemath", ["lenient", "strict", "lenient"], [])
    assert list(chosen.rules) == ["lenient", "strict"]
    assert {rule for scoring in SCORINGS.values() for rule in scoring.rules} <= set(RULES)


def test_a_summary_counts_no_answer_as_wrong() -> None:
    given = [
        record("The answer is 0.5."),
        record(None, id="2", finish_reason="length"),
        record("The answer is 1.", method="f-1"),
        record("Hm.", method="f-1", id="2"),
    ]
    first, second = summarise(scores(given, FINANCE).rows)
    assert (first.method, first.n, first.accuracy, first.answered) == ("cot", 2, 50.0, 50.0)
    assert (first.no_answer, first.unknown) == (1, 0)
    assert (second.accuracy, second.no_answer) == (0.0, 0)
    (nothing,) = summarise(scores([record(None)], FINANCE).rows)
    assert (nothing.accuracy, nothing.no_answer) == (0.0, 1)


def test_a_summary_leaves_out_what_is_not_known() -> None:
    given = [record(f"\\boxed{{{text}}}", dataset=MATH.name) for text in ("5", "crash")]
    rows = [row for one in given for row in scores([one], MATH).rows]
    (both,) = summarise(rows)
    assert (both.n, both.accuracy, both.unknown, both.answered) == (1, 100.0, 1, 100.0)
    (nothing,) = summarise(rows[1:])
    assert (nothing.n, nothing.accuracy, nothing.accuracy_low) == (0, None, None)
    shown = StringIO()
    print_summaries(Console(file=shown, width=120), rows[1:])
    assert "–" in shown.getvalue()


def test_an_interval_needs_single_right_or_wrong_answers() -> None:
    given = [record("The answer is 0.5."), record("Hm.", id="2")]
    (once,) = summarise(scores(given, FINANCE).rows)
    assert once.accuracy_low is not None
    assert once.accuracy_high is not None
    assert once.accuracy_low < 50 < once.accuracy_high
    twice = [record("The answer is 0.5.", epoch=epoch) for epoch in (1, 2)]
    (again,) = summarise(scores(twice, FINANCE).rows)
    assert (again.accuracy, again.accuracy_low, again.accuracy_high) == (100.0, None, None)


def test_rules_are_told_apart_in_a_figure() -> None:
    rows = summarise(scores([record("The answer is 0.5.")], FINANCE, "strict", "lenient").rows)
    assert [row.method for row in for_figure(rows)] == ["cot, strict", "cot, lenient"]
    assert for_figure(rows[:1]) == rows[:1]


def test_other_extraction_rules_can_be_chosen() -> None:
    given = [record("so 0.5 it seems"), record("The answer is 100. Or 3?", id="2")]
    scoring = choose_scoring("financemath", [], ["the-answer-is/1", "last-number/1"])
    rows = score_records(given, FINANCE, scoring, Tools(Runner(), grade)).rows
    assert [(row.answer, row.extraction, row.value) for row in rows] == [
        ("0.5", "last-number/1", 1.0),
        ("100", "the-answer-is/1", 1.0),
    ]
    with pytest.raises(InputError, match="--extraction best: unknown; expected one of boxed/1"):
        choose_scoring("financemath", [], ["best"])


def test_a_figure_of_which_nothing_is_known_is_refused(shared: Path, tmp_path: Path) -> None:
    with (shared / "data/imobench/answerbench_v2.csv").open(encoding="utf-8", newline="") as file:
        prose = next(row for row in csv.DictReader(file) if "odd $n$" in row["Short Answer"])
    path = tmp_path / "imo-answerbench/m/cot.jsonl"
    path.parent.mkdir(parents=True)
    line = {"id": prose["Problem ID"], "output": "So the final answer is \\boxed{3}."}
    path.write_text(json.dumps(line) + "\n")
    options: dict[str, Any] = {"dataset": "imo-answerbench", "data": shared / "data"}
    (reason,) = evalcore.score(tmp_path, **options)["reason"]
    assert reason == "needs a judge: the reference answer is prose"
    with pytest.raises(InputError, match="nothing to draw: nothing is known of any output"):
        evalcore.score(tmp_path, figure=tmp_path / "a.svg", **options)

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.console import Console

import evalcore
from evalcore.benchmarks import Dataset, benchmarks, find_benchmark
from evalcore.extraction import PROGRAM_RULES
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.formats import Answers, Problem
from evalcore.prompts import load_templates
from evalcore.records import Record
from evalcore.rules import RULES, Tools, Verdict
from evalcore.sandbox import Outcome, Program
from evalcore.score import choose_scoring, score_records
from evalcore.scores import ScoreRow, print_summaries, summarise
from ngramscan.errors import InputError, SandboxError

LAYERS = {"limits": "ok", "landlock": "missing: not on this system"}
FUNCTION = "```python\ndef solution():\n    return 0.5\n```\n"
BOTH = f"{FUNCTION}The answer is 0.5."
PROBLEMS = (
    Problem("1", "?", "0.5", details={"ground_truth": 0.5, "program": "REFERENCE 0.5"}),
    Problem("2", "?", "100.0", details={"ground_truth": 100.0, "program": "REFERENCE 100"}),
)
FINANCE = Dataset("financemath", PROBLEMS, "0" * 64)
MATH = Dataset("olympiadbench-oe-maths", (Problem("1", "?", "5"),), "0")


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
        failed = Outcome("error", message="NameError: x", layers=LAYERS)
        found = [[o for text, o in self.outcomes.items() if text in p.source] for p in programs]
        return [(outcomes or [failed])[0] for outcomes in found]


def ok(value: float | str) -> Outcome:
    return Outcome("ok", value, layers=LAYERS)


def scored(
    records: Sequence[Record], *rules: str, dataset: Any = FINANCE, **outcomes: Outcome
) -> tuple[list[ScoreRow], list[str]]:
    benchmark = choose_scoring(find_benchmark(dataset.name), rules, ())
    crashed = Verdict(None, "grader: ran out of time", failed=True)
    tools = Tools(Runner(**outcomes), lambda items: iter([crashed for _ in items]))
    return score_records(records, dataset, benchmark, tools)


def rows(*arguments: Any, **options: Any) -> list[ScoreRow]:
    found, failures = scored(*arguments, **options)
    assert not failures
    return found


# Where the answer is


MARKED, AUTHORS, FENCED = "the-answer-is/1", "program, financemath-authors/2", "program, fenced/1"


@pytest.mark.parametrize(
    ("method", "output", "value", "extraction"),
    [
        ("cot", "Therefore, the answer is 3.", "3", MARKED),
        ("cot", FUNCTION, "0.5", "last-number/1"),  # no program is run
        ("pot", FUNCTION, "7", AUTHORS),
        ("pot", "import argparse. The answer is 3.", None, None),  # nor is the text read
        ("f-1", BOTH, "7", FENCED),
        ("f-1+verify", "The answer is 3.", "3", MARKED),
        ("F-1+PoT", FUNCTION, "7", AUTHORS),
        ("f-1+cot", FUNCTION, "0.5", "last-number/1"),
        ("mine+CoT", FUNCTION, "0.5", "last-number/1"),  # its last part says
        ("mine", BOTH, "7", FENCED),
        ("cot", "I can't say.", None, None),
    ],
)
def test_a_method_says_whether_text_or_program_is_the_answer(
    method: str, output: str, value: str | None, extraction: str | None
) -> None:
    (row,) = rows([record(output, method)], **{"return 0.5": ok(7)})
    assert (row.answer, row.extraction) == (value, extraction)


def test_a_script_is_asked_for_its_variable_and_a_function_for_its_value() -> None:
    runner = Runner()
    outputs = ("```python\nanswer = 2\n```", FUNCTION)
    given = [record(output, "pot", dataset=MATH.name) for output in outputs]
    benchmark = choose_scoring(find_benchmark(MATH.name), (), ())
    score_records(given, MATH, benchmark, Tools(runner, lambda _: iter(())))
    assert [program.answer_from for program in runner.ran] == ["answer", "solution()"]


def test_words_are_never_programs() -> None:
    words = Dataset("bbh-word-sorting", (Problem("1", "?", "a b"),), "0")
    (row,) = rows([record(FUNCTION, "f-1", dataset=words.name)], dataset=words)
    assert (row.sandbox, row.status) == (None, "not_found")


def test_other_extraction_rules_can_be_chosen() -> None:
    given = [record("so 0.5 it seems"), record("The answer is 100. Or 3?", id="2")]
    usual, names = find_benchmark("financemath"), ["the-answer-is/1", "last-number/1"]
    tools = Tools(Runner(), lambda _: iter(()))
    found, _ = score_records(given, FINANCE, choose_scoring(usual, [], names), tools)
    assert [(row.answer, row.extraction) for row in found] == [
        ("0.5", "last-number/1"),
        ("100", "the-answer-is/1"),
    ]
    with pytest.raises(InputError, match="--extraction best: one of boxed/1, "):
        choose_scoring(usual, [], ["best"])


# Rules


def test_two_rules_score_side_by_side() -> None:
    given = [record("The answer is 50%."), record("The answer is 100.", id="2")]
    found = rows(given, "strict", "lenient")
    assert [(row.id, row.rule, row.value, row.answer) for row in found] == [
        ("1", "strict", 0.0, "50%"),
        ("1", "lenient", 1.0, "50%"),
        ("2", "strict", 1.0, "100"),
        ("2", "lenient", 1.0, "100"),
    ]
    assert all(row.extraction == "the-answer-is/1" and row.sandbox is None for row in found)


@pytest.mark.parametrize(("value", "strict"), [(0.50003, 1.0), (0.52, 0.0)])
def test_lenient_compares_programs_with_the_reference_program_and_strict_with_the_gold(
    value: float, strict: float
) -> None:
    outcomes = {"return 0.5": ok(value), "REFERENCE 0.5": ok(value)}
    found = rows([record(FUNCTION, "pot")], "strict", "lenient", **outcomes)
    assert [row.value for row in found] == [strict, 1.0]
    assert found[0].sandbox == "limits ok; landlock missing: not on this system"
    with pytest.raises(SandboxError, match="problem 1: its reference program gives no value"):
        scored([record(FUNCTION, "pot")], "lenient", **{"return 0.5": ok(1)})


def test_benchmarks_name_rules_that_there_are() -> None:
    financemath = find_benchmark("financemath")
    with pytest.raises(InputError, match="--rule exact: unknown for financemath; it has strict"):
        choose_scoring(financemath, ["exact"], [])
    with pytest.raises(InputError, match="judged, not compared; see evalcore judge"):
        choose_scoring(find_benchmark("imo-proofbench"), [], [])
    chosen = choose_scoring(financemath, ["lenient", "strict", "lenient"], [])
    assert list(chosen.rules) == ["lenient", "strict"]
    for one in (known := [find_benchmark(None, Path("mine.jsonl")), *benchmarks().values()]):
        assert {*one.extraction} <= {*TEXT_RULES}
        assert {*one.programs.values()} <= {*PROGRAM_RULES}
        answers = {each.answer for each in load_templates(one).methods.values()}
        assert answers <= {*get_args(Answers)}
    assert {rule for one in known for rule in one.rules} <= {*RULES}
    for name in RULES:  # questions of one's own have all
        assert choose_scoring(known[0], [name], []).rules == (name,)


# What is no answer, wrong, or not known


NO_ANSWER = {
    "refused: I can't help": {"refusal": "I can't help"},
    "cut at the token limit": {"finish_reason": "length"},
    "no output": {"output": " \n"},
}
WRONG = {"output": FUNCTION, "method": "pot"}
NO_PROGRAM = {"output": "import argparse", "method": "pot"}
BESIDE = "equal at 3 decimals; program: error, NameError: x"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        *((fields, (None, reason, "no_answer")) for reason, fields in NO_ANSWER.items()),
        ({"output": None}, (None, "no output", "no_answer")),
        ({"output": "Hm."}, (0.0, "no answer found", "not_found")),
        (NO_PROGRAM, (0.0, "no program found", "not_found")),
        (WRONG, (0.0, "program: error, NameError: x", "scored")),
        ({"output": BOTH, "method": "f-1"}, (1.0, BESIDE, "scored")),
    ],
)
def test_an_output_is_scored_where_it_is_a_whole_answer(
    fields: dict[str, Any], expected: tuple[float | None, str, str]
) -> None:
    (row,) = rows([record(**({"output": "The answer is 0.5."} | fields))])
    assert (row.value, row.reason, row.status) == expected


@pytest.mark.parametrize("method", ["pot", "f-1"])
def test_a_program_that_the_sandbox_lost_is_an_error_and_no_wrong_answer(method: str) -> None:
    lost = Outcome("lost", message="its watcher ended", layers=LAYERS)
    (row,), failures = scored([record(BOTH, method)], **{"return 0.5": lost})
    assert (row.value, row.answer, row.status) == (None, None, "unknown")
    assert failures == [f"financemath, m, {method}, 1: sandbox: its watcher ended"]


def test_a_grader_that_crashed_is_an_error_and_no_wrong_answer() -> None:
    (row,), failures = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    assert (row.value, row.status, row.extraction) == (None, "unknown", "boxes/1")
    assert failures == ["olympiadbench-oe-maths, m, cot, 1: grader: ran out of time"]


def test_an_output_to_an_unknown_problem_is_refused() -> None:
    with pytest.raises(InputError, match="financemath/m/cot: id '9' is no problem of financemath"):
        scored([record("x", id="9")])


# Summaries


def test_a_summary_counts_no_answer_as_wrong_and_leaves_out_what_is_not_known() -> None:
    given = [
        record("The answer is 0.5."),
        record(None, id="2"),
        record("The answer is 1.", method="f-1"),
    ]
    first, second = summarise(rows(given))
    assert (first.method, first.n, first.accuracy, first.answered) == ("cot", 2, 50.0, 50.0)
    assert (first.no_answer, first.unknown, second.accuracy) == (1, 0, 0.0)
    assert first.accuracy_low is not None
    assert first.accuracy_low < 50 < (first.accuracy_high or 0)
    twice = [record("The answer is 0.5.", epoch=epoch) for epoch in (1, 2)]
    (again,) = summarise(rows(twice))
    assert (again.accuracy, again.accuracy_low, again.accuracy_high) == (100.0, None, None)
    unknown, _ = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    (nothing,) = summarise(unknown)
    assert (nothing.n, nothing.accuracy, nothing.unknown) == (0, None, 1)
    shown = StringIO()
    for each in ([*unknown, *rows(given)], rows(twice)):
        print_summaries(Console(file=shown, width=120), each)
    for text in (" – ", "50.0 [9.5, 90.5]", "no answer", "100.0 (no interval)"):
        assert text in shown.getvalue()


def test_a_figure_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/cot.jsonl"
    outputs.parent.mkdir(parents=True)
    data.write_text(json.dumps({"id": "1", "question": "?", "answer": "all odd $n$"}))
    outputs.write_text(json.dumps({"id": "1", "output": "\\boxed{3}"}) + "\n")
    options: dict[str, Any] = {"data": data, "rule": "math"}
    (reason,) = evalcore.score(outputs, **options)["reason"]
    assert reason == "needs a judge: the reference answer is prose"
    with pytest.raises(InputError, match="nothing to draw: nothing is known of any output"):
        evalcore.score(outputs, figure=tmp_path / "a.svg", **options)

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from rich.console import Console

import evalcore
from evalcore.benchmarks import Dataset, benchmarks, find_benchmark
from evalcore.extraction import PROGRAM_RULES
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.figures import draw_accuracy
from evalcore.formats import Answers, Problem
from evalcore.prompts import load_templates
from evalcore.records import Record
from evalcore.rules import RULES, Tools, Verdict
from evalcore.sandbox import Outcome, Program
from evalcore.score import choose_scoring, score_records
from evalcore.scores import ScoreRow, SummaryRow, print_summaries, summarise
from ngramscan.errors import InputError, SandboxError
from tests.test_figures import MANY, METHODS, MODELS, lines, overlapping

LAYERS = {"limits": "ok", "landlock": "missing: not on this system"}
MARKED, AUTHORS, FENCED = "the-answer-is/1", "program, financemath-authors/2", "program, fenced/1"
WRONG = "program: error, no solution()"
FUNCTION = "```python\ndef solution():\n    return 0.5\n```\n"
BOTH = f"{FUNCTION}The answer is 0.5."
PROBLEMS = (
    Problem("1", "?", "0.5", details={"ground_truth": 0.5, "program": "REFERENCE 0.5"}),
    Problem("2", "?", "100.0", details={"ground_truth": 100.0, "program": "REFERENCE 100"}),
)
FINANCE = Dataset("financemath", PROBLEMS, "0" * 64)
MATH = Dataset("olympiadbench-oe-maths", (Problem("1", "?", "5"),), "0")


def record(output: str | None, method: str = "cot", **fields: Any) -> Record:
    given: dict[str, Any] = {"id": "1", "dataset": "financemath", "model": "m"} | fields
    return Record(output=output, method=method, **given)


def ok(value: float | str) -> Outcome:
    return Outcome("ok", value, layers=LAYERS)


def scored(
    records: Sequence[Record],
    *rules: str,
    dataset: Any = FINANCE,
    extraction: Any = (),
    **ends: Any,
) -> tuple[list[ScoreRow], list[str]]:
    """Score with programs that end as is written for them; the others fail, and graders crash."""
    crashed = Verdict(None, "grader: ran out of time", failed=True)

    def run(one: Program) -> Any:
        failed = Outcome("error", message=f"no {one.answer_from}", layers=LAYERS)
        return next((end for text, end in ends.items() if text in one.source), failed)

    benchmark = choose_scoring(find_benchmark(dataset.name), rules, extraction)
    tools = Tools(lambda given: [*map(run, given)], lambda given: iter([crashed for _ in given]))
    return score_records(records, dataset, benchmark, tools)


def rows(*arguments: Any, **options: Any) -> list[ScoreRow]:
    found, failures = scored(*arguments, **options)
    assert not failures
    return found


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
    outputs = ("```python\nanswer = 2\n```", FUNCTION)
    found = rows([record(one, "pot", dataset=MATH.name) for one in outputs], dataset=MATH)
    assert [row.reason.split(", ")[1] for row in found] == ["no answer", "no solution()"]


def test_words_are_never_programs() -> None:
    words = Dataset("bbh-word-sorting", PROBLEMS, "0")
    (row,) = rows([record(FUNCTION, "f-1", dataset=words.name)], dataset=words)
    assert (row.sandbox, row.status) == (None, "not_found")


def test_other_extraction_rules_can_be_chosen() -> None:
    given = [record("so 0.5 it seems"), record("The answer is 100. Or 3?", id="2")]
    found = rows(given, extraction=["the-answer-is/1", "last-number/1"])
    told = [(row.answer, row.extraction) for row in found]
    assert told == [("0.5", "last-number/1"), ("100", "the-answer-is/1")]
    with pytest.raises(InputError, match="--extraction best: one of boxed/1, "):
        rows(given, extraction=["best"])


def test_two_rules_score_side_by_side() -> None:
    given = [record("The answer is 50%."), record("The answer is 100.", id="2")]
    found = rows(given, "strict", "lenient")
    assert [(row.id, row.rule) for row in found] == [*product("12", ("strict", "lenient"))]
    assert [row.value for row in found] == [0.0, 1.0, 1.0, 1.0]
    assert [row.answer for row in found] == ["50%", "50%", "100", "100"]
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
    with pytest.raises(InputError, match="--rule exact: one of strict, lenient was expected"):
        choose_scoring(financemath, ["exact"], [])
    with pytest.raises(InputError, match="judged, not compared; see evalcore judge"):
        choose_scoring(find_benchmark("imo-proofbench"), [], [])
    chosen = choose_scoring(financemath, ["lenient", "strict", "lenient"], [])
    assert list(chosen.rules) == ["lenient", "strict"]
    known = [find_benchmark(None, Path("mine.jsonl")), *benchmarks().values()]
    assert choose_scoring(known[0], [*RULES], []).rules == tuple(RULES)  # one's own have all
    for one in known:
        answers = {each.answer for each in load_templates(one).methods.values()}
        assert answers <= {*get_args(Answers)}
        assert {*one.extraction} <= {*TEXT_RULES}
        assert {*one.programs.values()} <= {*PROGRAM_RULES}
        assert {*one.rules} <= {*RULES}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"refusal": "I can't help"}, (None, "refused: I can't help", "no_answer")),
        ({"finish_reason": "length"}, (None, "cut at the token limit", "no_answer")),
        ({"output": " \n"}, (None, "no output", "no_answer")),
        ({"output": None}, (None, "no output", "no_answer")),
        ({"output": "Hm."}, (0.0, "no answer found", "not_found")),
        ({"output": "import argparse", "method": "pot"}, (0.0, "no program found", "not_found")),
        ({"output": FUNCTION, "method": "pot"}, (0.0, WRONG, "scored")),
        ({"output": BOTH, "method": "f-1"}, (1.0, f"equal at 3 decimals; {WRONG}", "scored")),
    ],
)
def test_an_output_is_scored_where_it_is_a_whole_answer(
    fields: dict[str, Any], expected: tuple[float | None, str, str]
) -> None:
    (row,) = rows([record(**{"output": "The answer is 0.5.", **fields})])
    assert (row.value, row.reason, row.status) == expected


@pytest.mark.parametrize("method", ["pot", "f-1"])
def test_a_program_that_the_sandbox_lost_is_an_error_and_no_wrong_answer(method: str) -> None:
    lost = Outcome("lost", message="its watcher ended", layers=LAYERS)
    (row,), failures = scored([record(BOTH, method)], **{"return 0.5": lost})
    assert (row.value, row.answer, row.status) == (None, None, "unknown")
    assert failures == [f"financemath, m, {method}, 1: sandbox: its watcher ended"]


def test_a_grader_that_crashed_and_an_unknown_problem_are_errors() -> None:
    (row,), failures = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    assert (row.value, row.status, row.extraction) == (None, "unknown", "boxes/1")
    assert failures == ["olympiadbench-oe-maths, m, cot, 1: grader: ran out of time"]
    with pytest.raises(InputError, match="financemath/m/cot: id '9' is no problem of financemath"):
        scored([record("x", id="9")])


def test_a_summary_counts_no_answer_as_wrong_and_leaves_out_what_is_not_known() -> None:
    right, wrong = record("The answer is 0.5."), record("The answer is 1.", method="f-1")
    given = rows([right, record(None, id="2"), wrong])
    unknown, _ = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    twice = rows([record("The answer is 0.5.", epoch=epoch) for epoch in (1, 2)])
    told = [(one.n, one.accuracy, one.answered, one.no_answer) for one in summarise(given)]
    assert told == [(2, 50.0, 50.0, 1), (1, 0.0, 100.0, 0)]
    (nothing,) = summarise(unknown)
    assert (nothing.n, nothing.accuracy, nothing.unknown) == (0, None, 1)
    shown = StringIO()
    for each in ([*unknown, *given], twice):
        print_summaries(Console(file=shown, width=120), each)
    for text in (" – ", "50.0 [9.5, 90.5]", "no answer", "100.0 (no interval)"):
        assert text in shown.getvalue()


@pytest.mark.parametrize("models", [["a"], MODELS], ids=["one model", "many"])
def test_a_picture_has_a_bar_per_row_and_no_label_covers_another(models: list[str]) -> None:
    methods = METHODS if models == ["a"] else MANY
    rows = [
        SummaryRow(*names, "strict", None, 200, share, share - 10, share + 10, 100.0, 0, 0)
        for names in product(("FinanceMath", "OlympiadBench"), models, methods)
        for share in [Random(str(names)).uniform(10, 90)]
    ]
    figure = draw_accuracy(rows)
    assert len(figure.axes[0].patches) == lines(figure, "interval") == len(rows)
    assert overlapping(figure) == []


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

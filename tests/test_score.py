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


# A method, its output, and what is taken for its answer by which rule.
TAKEN = """
cot ~ Therefore, the answer is 3. ~ 3 by the-answer-is/1 ;; cot ~ FUNCTION ~ 0.5 by last-number/1
pot ~ import argparse. The answer is 3. ~ None by None ;; cot ~ I can't say. ~ None by None
pot ~ FUNCTION ~ 7 by program, financemath-authors/2 ;; f-1 ~ BOTH ~ 7 by program, fenced/1
f-1+verify ~ The answer is 3. ~ 3 by the-answer-is/1 ;; mine ~ BOTH ~ 7 by program, fenced/1
F-1+PoT ~ FUNCTION ~ 7 by program, financemath-authors/2
f-1+cot ~ FUNCTION ~ 0.5 by last-number/1 ;; mine+CoT ~ FUNCTION ~ 0.5 by last-number/1
"""


@pytest.mark.parametrize("case", TAKEN.strip().replace("\n", " ;; ").split(" ;; "))
def test_a_method_says_whether_text_or_program_is_the_answer(case: str) -> None:
    method, output, taken = case.split(" ~ ")
    output = output.replace("FUNCTION", FUNCTION).replace("BOTH", BOTH)
    (row,) = rows([record(output, method)], **{"return 0.5": ok(7)})
    assert f"{row.answer} by {row.extraction}" == taken


def test_a_script_is_asked_for_its_variable_and_a_function_for_its_value_and_words_never() -> None:
    outputs = ("```python\nanswer = 2\n```", FUNCTION)
    found = rows([record(one, "pot", dataset=MATH.name) for one in outputs], dataset=MATH)
    assert [row.reason.split(", ")[1] for row in found] == ["no answer", "no solution()"]
    words = Dataset("bbh-word-sorting", PROBLEMS, "0")
    (row,) = rows([record(FUNCTION, "f-1", dataset=words.name)], dataset=words)
    assert (row.sandbox, row.status) == (None, "not_found")


def test_rules_can_be_chosen_and_score_side_by_side() -> None:
    given = [record("so 50% it seems"), record("The answer is 100. Or 3?", id="2")]
    found = rows(given, "strict", "lenient", extraction=["the-answer-is/1", "last-number/1"])
    assert [(row.id, row.rule) for row in found] == [*product("12", ("strict", "lenient"))]
    assert [row.value for row in found] == [0.0, 1.0, 1.0, 1.0]
    told = [(row.answer, row.extraction, row.sandbox) for row in found[::2]]
    assert told == [("50%", "last-number/1", None), ("100", "the-answer-is/1", None)]
    with pytest.raises(InputError, match="--extraction best: one of boxed/1, "):
        rows(given, extraction=["best"])


@pytest.mark.parametrize(("value", "strict"), [(0.50003, 1.0), (0.52, 0.0)])
def test_lenient_compares_programs_with_the_reference_program_and_strict_with_the_gold(
    value: float, strict: float
) -> None:
    outcomes = {"return 0.5": ok(value), "REFERENCE 0.5": ok(value)}
    found = rows([record(FUNCTION, "pot")], "strict", "lenient", **outcomes)
    assert [row.value for row in found] == [strict, 1.0]
    assert found[0].sandbox == "limits ok; landlock missing: not on this system"
    with pytest.raises(
        SandboxError, match=r"problem 1: its reference .* \(error no solution\(\)\)"
    ):
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
    assert all(name.rpartition("/")[2].isdigit() for name in (*TEXT_RULES, *PROGRAM_RULES))
    for one in known:
        answers = {each.answer for each in load_templates(one).methods.values()}
        assert answers <= {*get_args(Answers)}
        assert {*one.extraction} <= {*TEXT_RULES}
        assert {*one.programs.values()} <= {*PROGRAM_RULES}
        assert {*one.rules} <= {*RULES}


OUTPUTS: list[tuple[dict[str, Any], float | None, str, str]] = [
    ({"refusal": "I can't help"}, None, "refused: I can't help", "no_answer"),
    ({"finish_reason": "length"}, None, "cut at the token limit", "no_answer"),
    ({"output": " \n"}, None, "no output", "no_answer"),
    ({"output": None}, None, "no output", "no_answer"),
    ({"output": "Hm."}, 0.0, "no answer found", "not_found"),
    ({"output": "import argparse", "method": "pot"}, 0.0, "no program found", "not_found"),
    ({"output": FUNCTION, "method": "pot"}, 0.0, WRONG, "scored"),
    ({"output": BOTH, "method": "f-1"}, 1.0, f"equal at 3 decimals; {WRONG}", "scored"),
]


@pytest.mark.parametrize(("fields", "value", "reason", "status"), OUTPUTS)
def test_an_output_is_scored_where_it_is_a_whole_answer(
    fields: dict[str, Any], value: float | None, reason: str, status: str
) -> None:
    (row,) = rows([record(**{"output": "The answer is 0.5.", **fields})])
    assert (row.value, row.reason, row.status) == (value, reason, status)


def test_what_a_sandbox_or_a_grader_lost_is_an_error_and_so_is_an_unknown_problem() -> None:
    lost = Outcome("lost", message="its watcher ended", layers=LAYERS)
    for method in ("pot", "f-1"):
        (row,), failures = scored([record(BOTH, method)], **{"return 0.5": lost})
        assert (row.value, row.answer, row.status) == (None, None, "unknown")
        assert failures == [f"financemath, m, {method}, 1: sandbox: its watcher ended"]
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

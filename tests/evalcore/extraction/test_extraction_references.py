"""The references of data sets: final answers of solutions, and what a rule can't compare."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.extraction import (
    find_reference,
)
from ngramscan.errors import InputError
from tests.support.outputs import write_lines


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        pytest.param("She <<48/2=24>>24, 72 clips.\n#### 72", "72", id="GSM8K"),
        pytest.param("In all 3*1200 = 3600.\n#### 3,600\n", "3,600", id="GSM8K with a comma"),
        pytest.param("In all 72 clips. #### 72", "72", id="GSM8K on one line"),
        pytest.param("In May <<48/2=24>>24", "In May 24", id="a calculation without a mark"),
        pytest.param("So the sum is $\\boxed{\\frac{1}{2}}$.", "\\frac{1}{2}", id="MATH"),
        pytest.param("So $x=\\boxed{2}$ or $x=\\boxed{3}$.", "2, 3", id="MATH with two answers"),
        pytest.param("We try \\boxed{2}.\n\nSo it is $\\fbox{3}$.", "3", id="the last box"),
        pytest.param("First 24, then 72.\nThe answer is 72.", "72", id="a statement"),
        pytest.param("It is six.\nFinal Answer: The final answer is $6$.", "6", id="Minerva"),
        pytest.param("Six.\n<answer>6</answer>", "6", id="tags"),
        pytest.param("72", "72", id="a number"),
        pytest.param("all odd $n$", "all odd $n$", id="words"),
        pytest.param("one line\nand another", "one line\nand another", id="two lines"),
        pytest.param("C# code", "C# code", id="a sharp"),
        pytest.param("17 < 18", "17 < 18", id="a relation"),
    ],
)
def test_the_final_answer_of_a_published_solution_is_the_reference(
    solution: str, answer: str
) -> None:
    assert find_reference(solution) == answer


def score_answers(
    folder: Path, answers: list[Any], outputs: list[str], **options: Any
) -> list[tuple[Any, ...]]:
    questions = [{"id": n, "question": "?", "answer": answer} for n, answer in enumerate(answers)]
    write_lines(folder / "q.jsonl", *questions)
    rows = [{"id": n, "output": output} for n, output in enumerate(outputs)]
    write_lines(folder / "outputs/q/m/cot.jsonl", *rows)
    given: dict[str, Any] = {"data": folder / "q.jsonl", "rule": "numbers"} | options
    rows_found = evalcore.score(folder / "outputs", **given)
    return [tuple(row) for row in rows_found[["answer", "value", "status"]].to_numpy()]


def test_solutions_as_published_are_scored_by_their_final_answers(tmp_path: Path) -> None:
    solutions = ["She sold <<48/2=24>>24.\nIn all 72.\n#### 72", "So it is $\\boxed{18}$."]
    found = score_answers(tmp_path, solutions, ["#### 72", "The answer is 24."])
    assert found == [("72", 1.0, "scored"), ("24", 0.0, "scored")]
    dataset = load_dataset(find_benchmark(None, tmp_path / "q.jsonl"), tmp_path / "q.jsonl")
    assert dataset.faults == (
        "references that are solutions: 2; only their final answers are compared,"
        " the first is '72', of id 0",
    )


def test_a_reference_of_several_lines_is_compared_as_it_is_and_noted(tmp_path: Path) -> None:
    found = score_answers(tmp_path, ["ant\nbee", "cat"], ["ant bee", "cat"], rule="exact")
    assert [value for _, value, _ in found] == [1.0, 1.0]
    dataset = load_dataset(find_benchmark(None, tmp_path / "q.jsonl"), tmp_path / "q.jsonl")
    assert dataset.faults == (
        "references of several lines without a marked answer: 1; they are compared as they are,"
        " the first is of id 0",
    )


@pytest.mark.parametrize(
    ("rule", "answers", "fault"),
    [
        pytest.param("numbers", ["5", "apple"], "2: the answer is 'apple', and it is not a number",
                     id="a word"),
        pytest.param("numbers", ["12 or 13"], "1: the answer is '12 or 13', and it is not a num",
                     id="two numbers"),
        pytest.param("numbers", ["First 3.\nThen 4."], "1: .*several lines, none of them marked",
                     id="a solution without a mark"),
        pytest.param(["exact", "numbers"], ["B"], "1: .*choose another rule than numbers",
                     id="one of two rules"),
        pytest.param("strict", ["3,600"], "1: .*not a number; name another column with answer_fi",
                     id="a number with a comma"),
        pytest.param("math", ["all odd $n$"] * 2, "1: the answer is prose, and `math` can compare",
                     id="prose alone"),
    ],
)  # fmt: skip
def test_references_that_a_rule_cannot_compare_are_refused_before_scoring(
    tmp_path: Path, rule: Any, answers: list[str], fault: str
) -> None:
    with pytest.raises(InputError, match=rf"q\.jsonl:{fault}"):
        score_answers(tmp_path, answers, ["5"], rule=rule)


def test_a_column_that_may_be_meant_is_named(tmp_path: Path) -> None:
    line = {"unique_id": "1", "problem": "?", "solution": "\\boxed{5}"}
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps(line))
    cure = "--id-field unique_id, --question-field problem, --answer-field solution"
    with pytest.raises(InputError, match=f"name the column with {cure}"):
        load_dataset(find_benchmark(None, file), file)
    dataset = load_dataset(find_benchmark(None, file, "unique_id", "problem", "solution"), file)
    assert [problem.gold for problem in dataset.problems] == ["5"]


@pytest.mark.usefixtures("sandbox_here")
def test_a_program_of_another_question_is_not_run(tmp_path: Path) -> None:
    write_lines(tmp_path / "q.jsonl", {"id": 1, "question": "?", "answer": "5"})
    program = "```python\nanswer = {}\n```\n"
    output = f"{program.format(5)}\nQuestion: And now?\n{program.format(6)}"
    write_lines(tmp_path / "outputs/q/m/pot.jsonl", {"id": 1, "output": output})
    rows = evalcore.score(tmp_path / "outputs", data=tmp_path / "q.jsonl", rule="numbers")
    assert rows["value"].tolist() == [1.0]

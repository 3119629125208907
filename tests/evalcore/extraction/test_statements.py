"""What a careful reader takes for the final answer of a reply, of a reference, and for a choice."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.extraction import (
    PROGRAM_RULES,
    RULES,
    extract,
    find_reference,
    without_markup,
    without_run_on,
)
from evalcore.rules.choices import compare_choices, plain_words
from ngramscan.errors import InputError
from tests.support.cases import cases
from tests.support.outputs import write_lines

OWN = find_benchmark(None, Path("mine.jsonl")).extraction


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".final_statements.csv")),
    ids=lambda case: case["text"][:50],
)
def test_the_final_statement_of_a_reply_is_its_answer(case: dict[str, str]) -> None:
    answer, rule = extract(without_markup(without_run_on(case["text"])), OWN) or (None, None)
    assert (str(answer), str(rule)) == (case["answer"], case["rule"])


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


@pytest.mark.parametrize(
    ("answer", "gold", "is_same"),
    [
        pytest.param("(A)", "A", True, id="brackets"),
        pytest.param("A", "(A)", True, id="brackets in the reference"),
        pytest.param("[A]", "(A)", True, id="other brackets"),
        pytest.param("\\text{A}", "A", True, id="a font"),
        pytest.param("\\text{(A)}", "A", True, id="a font around brackets"),
        pytest.param("(\\mathrm{A})", "A", True, id="a font within brackets"),
        pytest.param("\\textbf{(D)}\\ 12", "D", True, id="a font and what the choice says"),
        pytest.param("**B**", "B", True, id="bold type"),
        pytest.param("**(B)** 12 apples", "B", True, id="bold type in front"),
        pytest.param("B) 12", "B", True, id="one bracket"),
        pytest.param("B. 12 apples", "B", True, id="a full stop"),
        pytest.param("B: 12", "B", True, id="a colon"),
        pytest.param("option B", "B", True, id="the word option"),
        pytest.param("Option (B)", "b)", True, id="a small letter in brackets"),
        pytest.param("$\\mathbf{C}$.", "C", True, id="a formula"),
        pytest.param("Ｃ", "C", True, id="full width"),
        pytest.param("12 apples", "(B) 12 apples", True, id="what the choice says alone"),
        pytest.param("B", "(B) 12 apples", True, id="the letter alone"),
        pytest.param("(A)", "B", False, id="another letter"),
        pytest.param("A) 12", "B", False, id="another letter in front"),
        pytest.param("D, Paris", "D", True, id="a comma"),
        pytest.param("D - Paris", "D", True, id="a dash"),
        pytest.param("(D) - Paris", "D", True, id="brackets and a dash"),
        pytest.param("D (Paris)", "D", True, id="words in brackets"),
        pytest.param("letter D", "D", True, id="the word letter"),
        pytest.param("A and C", "(A), (C)", True, id="several"),
        pytest.param("(C) and (A)", "A, C", True, id="several in another order"),
        pytest.param("\\text{A and C}", "A & C", True, id="several in a font"),
        pytest.param("AC", "A, C", True, id="several as a word"),
        pytest.param("(A)(C)", "AC", True, id="several in brackets alone"),
        pytest.param("Both A and C", "A, C", True, id="both"),
        pytest.param("A, B, C", "A, C", False, id="one more"),
        pytest.param("A", "A, C", False, id="one of several"),
        pytest.param("(A) and (C)", "A", False, id="several for one"),
        pytest.param("A or C", "A, C", False, id="one or the other"),
        pytest.param("A, C", "C, A", False, id="an order that may be the answer"),
        pytest.param("BA", "AB", False, id="points"),
        pytest.param("(D)+1", "D", False, id="a formula"),
        pytest.param("(D) - 1", "D", False, id="a difference"),
        pytest.param("a", "A", False, id="another variable"),
        pytest.param("A cat", "A", False, id="an article"),
        pytest.param("(A) or (B)", "A", False, id="two choices"),
        pytest.param("A, B", "A", False, id="a list"),
        pytest.param("(A) is wrong, (B) is right", "A", False, id="another choice behind"),
        pytest.param("B. Smith", "B. Johnson", False, id="names"),
        pytest.param("AB", "A", False, id="two letters"),
        pytest.param("", "A", False, id="nothing"),
        pytest.param("12", "12", False, id="numbers are no choices"),
    ],
)
def test_letters_of_choices_are_compared_as_a_reader_does(
    answer: str, gold: str, is_same: bool
) -> None:
    assert (compare_choices(answer, gold) is True) == is_same


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("\\text{ant bee}", ["ant", "bee"], id="a font"),
        pytest.param("\\textbf{\\textit{yes}}.", ["yes"], id="fonts in fonts"),
        pytest.param('**"yes"**', ["yes"], id="quotation marks in bold type"),
        pytest.param("$5\\%$", ["5%"], id="an escaped sign"),
        pytest.param("a\\ b~c", ["a", "b", "c"], id="spaces of LaTeX"),
        pytest.param("$a$ and $b$", ["$a$", "and", "$b$"], id="two formulas"),
        pytest.param("2**3**2", ["2**3**2"], id="powers"),
        pytest.param("{\\bf yes}", ["yes"], id="a switch of fonts"),
        pytest.param("x^{2}", ["x^{2}"], id="braces that mean something"),
    ],
)
def test_fonts_and_what_encloses_a_text_are_no_words(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


PIECES = (
    *("the answer is ", "Final answer: ", "Answer: a ", "answer: 5\n", "Answer\n", "final "),
    *("#### 5\n", "####", "<answer>", "<answer>5</answer>", "</answer>", "Question: a\n"),
    *("\\boxed{5} and ", "\\boxed{5}", "\\boxed5 ", "x = \\boxed{2}, ", "\\boxed{", "</s>"),
    *(
        '{"answer": ',
        '{"answer": 5} ',
        "```\n",
        "```json\n",
        "<b>",
        "</b>",
        "~~a ",
        "[INST] ",
        "<result>",
    ),
    *(
        "Wait, the answer is 5. ",
        "I made a ",
        "die Antwort ist ",
        "答案",
        "Answer:\n- ",
        "{\\",
        "A and ",
    ),
    *("since ", "option B is correct ", "the answer to a ", "\\text{", "\\text{a}", "$", " \n"),
)


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length_of_a_hostile_output(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    start = time.process_time()
    for find in (*RULES.values(), *PROGRAM_RULES.values(), without_run_on, find_reference):
        find(text)
    compare_choices(text, text)
    assert time.process_time() - start < 5


# Files as published


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

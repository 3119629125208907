"""What a careful reader takes for the final answer of a reply; time that grows with its length."""

import time
from pathlib import Path

import pytest

from evalcore.benchmarks import find_benchmark
from evalcore.extraction import (
    PROGRAM_RULES,
    RULES,
    extract,
    find_reference,
    without_markup,
    without_run_on,
)
from evalcore.rules.choices import compare_choices
from tests.support.cases import cases

OWN = find_benchmark(None, Path("mine.jsonl")).extraction


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".csv")),
    ids=lambda case: case["text"][:50],
)
def test_the_final_statement_of_a_reply_is_its_answer(case: dict[str, str]) -> None:
    answer, rule = extract(without_markup(without_run_on(case["text"])), OWN) or (None, None)
    assert (str(answer), str(rule)) == (case["answer"], case["rule"])


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

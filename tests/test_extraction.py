from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.extraction import (
    BBH_RULES,
    FINANCEMATH_RULES,
    RULES,
    extract,
    find_boxed,
    find_final_boxed,
)
from evalcore.scoring.base import Extracted
from evalcore.scoring.numbers import read_number
from ngramscan.errors import InputError

BRACED = st.recursive(
    st.text(alphabet="ab1,\\frac", max_size=4).map(lambda text: text.replace("\\", "")),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: "".join(f"{{{part}}}" for part in parts)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "boxes", "final"),
    [
        pytest.param(r"so $\boxed{7}$.", ["7"], ["7"], id="one box"),
        pytest.param(
            r"\boxed{\frac{1}{\sqrt{2}}}",
            [r"\frac{1}{\sqrt{2}}"],
            [r"\frac{1}{\sqrt{2}}"],
            id="nested",
        ),
        pytest.param(
            r"\boxed{\{1, 2\}}", [r"\{1, 2\}"], [r"\{1, 2\}"], id="escaped braces do not count"
        ),
        pytest.param(r"\boxed{\{1}", [r"\{1"], [r"\{1"], id="an escaped brace alone"),
        pytest.param(r"\boxed{a\\}", [r"a\\"], [r"a\\"], id="a line break before the brace"),
        pytest.param(r"\fbox{5} and \boxed {6}", ["5", "6"], ["5", "6"], id="fbox and a space"),
        pytest.param(
            r"\boxed{\boxed{3}}", [r"\boxed{3}"], [r"\boxed{3}"], id="the outer box counts"
        ),
        pytest.param(
            r"\boxed{1}$, $\boxed{2}$ or $\boxed{3.5}$.",
            ["1", "2", "3.5"],
            ["1", "2", "3.5"],
            id="several answers in one sentence",
        ),
        pytest.param(r"\boxed{1}. So \boxed{2}", ["1", "2"], ["2"], id="the last sentence counts"),
        pytest.param("\\boxed{1}\n\n\\boxed{2}", ["1", "2"], ["2"], id="the last paragraph counts"),
        pytest.param(r"\boxed{1} or \boxed{2", ["1"], [], id="a cut box hides the one before it"),
        pytest.param(r"\boxed{}, \boxed{ }", [], [], id="empty boxes"),
        pytest.param(r"boxed{1}, \boxed 2", [], [], id="not a box"),
        pytest.param("", [], [], id="no text"),
    ],
)
def test_boxes_are_found(text: str, boxes: list[str], final: list[str]) -> None:
    assert find_boxed(text) == boxes
    assert find_final_boxed(text) == final


@given(BRACED)
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert find_boxed(f"x \\boxed{{{content}}} y}}") == ([content] if content else [])


@pytest.mark.parametrize(
    ("rule", "text", "answer"),
    [
        pytest.param("boxed/1", r"\boxed{1} and \boxed{2}", "2", id="the last box"),
        pytest.param("boxed/1", r"\boxed{1", None, id="an unclosed box"),
        pytest.param("boxes/1", r"\boxed{1} and \boxed{2}", "1, 2", id="all boxes of the sentence"),
        pytest.param("boxes/1", "none", None, id="no box"),
        pytest.param("final-answer/2", "Final Answer (3 decimal) : 0.063", "0.063", id="contract"),
        pytest.param(
            "final-answer/2",
            "**FINAL ANSWER (3 decimal):** **0.063**\n",
            "0.063",
            id="bold capitals",
        ),
        pytest.param(
            "final-answer/2",
            "Final answer: 1\nFinal answer: 2",
            "2",
            id="the last line of its kind",
        ),
        pytest.param("final-answer/2", "Final answer:\n5", None, id="nothing on the line"),
        pytest.param(
            "final-answer/2",
            "**Final Answer:** The price of the 10-year bond is:\n\n$$\\boxed{95.2}$$",
            "95.2",
            id="prose before a box",
        ),
        pytest.param(
            "final-answer/2",
            "Final answer: We add both. The answer is 7.",
            "7",
            id="prose before a marked sentence on the same line",
        ),
        pytest.param(
            "final-answer/2",
            "Final Answer: as computed above\n\n### Final Answer\n\n95.2",
            "95.2",
            id="prose before a heading",
        ),
        pytest.param(
            "final-answer/2",
            "The answer is 3. Final answer: it depends",
            "it depends",
            id="an answer marked before prose does not follow it",
        ),
        pytest.param(
            "final-answer/2",
            "Final answer: the price is: \n \\boxed{95",
            "the price is:",
            id="a box that is cut is no marked answer",
        ),
        pytest.param(
            "final-answer/2",
            "Final answer (3 decimal): 0.063\nThat is $\\boxed{6.3\\%}$.",
            "0.063",
            id="a value is taken whatever follows",
        ),
        pytest.param(
            "final-answer/2",
            "Final answer: 10 years at 5% give:\n\\boxed{95.2}",
            "95.2",
            id="a colon announces a value",
        ),
        pytest.param("final-answer-heading/1", "## Final Answer\n\n**5**", "5", id="heading"),
        pytest.param(
            "final-answer-heading/1",
            "**Final Answer:**\n\n\\[\n\\boxed{x^2}\n\\]",
            "x^2",
            id="a box in a display below the heading",
        ),
        pytest.param(
            "final-answer-heading/1", "my final answer\n5", None, id="a sentence, no heading"
        ),
        pytest.param(
            "the-answer-is/1", "Therefore, the answer is 0.063.", "0.063", id="as asked for"
        ),
        pytest.param("the-answer-is/1", "THE ANSWER IS 5", "5", id="capitals"),
        pytest.param(
            "the-answer-is/1", "the answer is 1. No: the answer is 2", "2", id="the last one"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is $2,184.", "$2,184", id="a currency sign stays"
        ),
        pytest.param(
            "the-answer-is/1", r"the answer is $x=5$.", "x=5", id="dollars of mathematics"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is $a$ and $b$.", "$a$ and $b$", id="two formulas stay"
        ),
        pytest.param("the-answer-is/1", r"the answer is \(5\).", "5", id="round LaTeX brackets"),
        pytest.param("the-answer-is/1", r"the answer is {5}.", "5", id="braces"),
        pytest.param(
            "the-answer-is/1", r"the answer is $\{1,2\}$.", r"\{1,2\}", id="a set stays one"
        ),
        pytest.param("the-answer-is/1", '**the answer is:** "yes".', "yes", id="bold and quotes"),
        pytest.param(
            "the-answer-is/1", "**The answer is:**\n\n**15,000**", "15,000", id="next line"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is 0.32. This means a lot.", "0.32", id="one sentence"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is the U.S. rate, 5.", "the U.S. rate, 5", id="initials"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is approx. 5.", "approx. 5", id="an abbreviation"
        ),
        pytest.param(
            "the-answer-is/1", "the answer is option B. It is.", "option B", id="a letter ends it"
        ),
        pytest.param(
            "the-answer-is/1", r"the answer is $\boxed{5}$ days.", "5", id="a box in the sentence"
        ),
        pytest.param(
            "the-answer-is/1",
            "The answer is 7. I wrote: the answer is {final answer}.",
            "7",
            id="the words of the prompt are no answer",
        ),
        pytest.param(
            "the-answer-is/1",
            "the answer is 7, as in: the answer is {x}",
            "7, as in:",
            id="an answer ends where the words begin again",
        ),
        pytest.param("the-answer-is/1", "the answer is ___.", None, id="a blank to fill in"),
        pytest.param("the-answer-is/1", "Therefore, the answer is", None, id="a cut text"),
        pytest.param(
            "so-the-final-answer-is/1",
            r"So the final answer is \boxed{3}.",
            "3",
            id="the ending OlympiadBench asks for",
        ),
        pytest.param(
            "so-the-final-answer-is/1",
            "The final answer is 3.",
            None,
            id="without so it is another",
        ),
        pytest.param(
            "so-the-answer-is/1", "So the answer is ant bee cat.", "ant bee cat", id="words"
        ),
        pytest.param(
            "conclusion/1",
            "So it is 3. Therefore, the yield to maturity is approximately 4.76%.",
            "approximately 4.76%",
            id="after the verb of the last conclusion",
        ),
        pytest.param(
            "conclusion/1", "It is 3. Thus nothing follows.", None, id="no verb, no number"
        ),
        pytest.param("only-line/1", " ant bee\n", "ant bee", id="the only line"),
        pytest.param("only-line/1", "ant\nbee", None, id="two lines"),
        pytest.param("last-number/1", "from 3 to −$1,234.5%", "−$1,234.5%", id="the last number"),
        pytest.param("last-number/1", "none at all", None, id="no number"),
    ],
)
def test_each_rule_finds_what_it_is_named_for(rule: str, text: str, answer: str | None) -> None:
    expected = None if answer is None else Extracted(answer, rule)
    assert extract(text, [rule]) == expected


@pytest.mark.parametrize(
    "repeated", ["so is ", ". so is ", "\n ", "the answer is {x} ", "\\boxed{"]
)
def test_endless_repetition_takes_no_quadratic_time(repeated: str) -> None:
    assert extract(repeated * 20_000, FINANCEMATH_RULES) is None
    assert read_number(repeated * 20_000).value is None


@pytest.mark.parametrize(
    "repeated",
    ["1,", "1.", "-$", "Final answer: so\n", "Final answer: so \\boxed{1} ", "Final answer: {x}\n"],
)
def test_time_grows_with_the_length_of_a_text_that_repeats_itself(repeated: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        extract(f"Final answer: {repeated * times}", FINANCEMATH_RULES)
        return time.process_time() - start

    short = min(seconds(5_000) for _ in range(3))
    # Quadratic time would be a hundred times as much.
    assert min(seconds(50_000) for _ in range(3)) < 40 * short + 0.2


def test_a_number_that_nothing_marks_is_the_last_resort_for_financemath() -> None:
    text = "Loss = $29,184 − $27,000\n\nLoss = $2,184"
    assert extract(text, FINANCEMATH_RULES) == Extracted("$2,184", "last-number/1")
    marked = f"The answer is $2,184.\n\n{text} in year 3"
    assert extract(marked, FINANCEMATH_RULES) == Extracted("$2,184", "the-answer-is/1")


def test_rules_are_tried_in_their_order() -> None:
    text = r"Final answer: 1. The answer is 2. \boxed{3}"
    assert extract(text, ["boxed/1", "the-answer-is/1"]) == Extracted("3", "boxed/1")
    assert extract(text, ["the-answer-is/1", "boxed/1"]) == Extracted("2", "the-answer-is/1")
    assert extract(text, ["so-the-answer-is/1", "last-number/1"]) == Extracted("3", "last-number/1")


def test_no_rule_finds_an_answer_in_an_empty_text() -> None:
    assert extract("", list(RULES)) is None


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="rule boxed/9: unknown; expected one of boxed/1, "):
        extract("", ["boxed/9"])


@pytest.mark.parametrize("names", [FINANCEMATH_RULES, BBH_RULES])
def test_the_rules_of_a_benchmark_exist_and_carry_a_version(names: tuple[str, ...]) -> None:
    assert set(names) <= set(RULES)
    assert all(name.rpartition("/")[2].isdigit() for name in RULES)

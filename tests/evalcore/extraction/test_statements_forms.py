"""Every form that a statement of an answer may have: wrappers, adverbs, verdicts, reasons, tags."""

import pytest

from evalcore.extraction.statements import (
    answer_line,
    correct_choice,
    final_answer_3,
    hashes,
    tagged,
    the_answer_is_2,
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *(("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("{", "}"), ("**", "**")),
        *(("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("**$", "$**"), ("", "")),
        *(('"**', '**"'), ('"`', '`"'), ('"$$', '$$"'), ('"\\[', '\\]"')),
    ],
)
def test_what_encloses_an_answer_is_no_part_of_it(left: str, right: str) -> None:
    assert the_answer_is_2(f"The answer is {left}x=5{right}.") == "x=5"


@pytest.mark.parametrize(
    "words",
    [
        *("The answer is", "My answer is", "Our final answer is", "the correct option is"),
        *("The right choice is", "The best answer is", "the exact answer is"),
        *("The numerical answer is", "the required answer is", "The overall answer is"),
        *("Final answer is", "The answers are", "The answer equals"),
        *("The answer must be", "The answer should be", "The answer will be"),
        *("The answer would be", "The answer to this is", "The answer for part b is"),
        *("The answer of it is", "The answer, therefore, is", "The answer, thus, is"),
        *("The answer then is", "The answer hence is", "The correct final exact answer is"),
    ],
)
def test_words_that_state_an_answer(words: str) -> None:
    assert the_answer_is_2(f"I got 9. {words} 18. So 7.") == "18"


@pytest.mark.parametrize(
    "words",
    [
        "The question is",
        "If the answer is",
        "whether the answer is",
        "The answer isn't",
        "The answer was",
        "The answers",
    ],
)
def test_words_that_state_no_answer(words: str) -> None:
    assert the_answer_is_2(f"{words} 18.") is None


@pytest.mark.parametrize(
    "adverb",
    [
        *("therefore", "thus", "hence", "then", "simply", "just", "indeed", "still", "clearly"),
        *("now", "actually", "in fact", "given by", "as follows:", ", therefore,", ":", "then:"),
    ],
)
def test_an_adverb_is_no_part_of_the_answer(adverb: str) -> None:
    assert the_answer_is_2(f"The answer is {adverb} 18.") == "18"


@pytest.mark.parametrize(
    "verdict",
    [
        *("correct", "incorrect", "right", "wrong", "clear", "obvious", "consistent"),
        *("reasonable", "trivial", "interesting", "simple", "straightforward", "verified"),
        *("confirmed", "the same", "above", "below", "found", "as above", "as follows", "here"),
        *("there", "also correct", "indeed right", "not correct", "now clear", "clearly wrong"),
        "correct for 9",
    ],
)
def test_a_verdict_is_no_answer(verdict: str) -> None:
    assert the_answer_is_2(f"The answer is 18. The answer is {verdict}.") == "18"


@pytest.mark.parametrize(
    "placeholder",
    [
        *("___", "...", "{x}", "<number>", "{final answer}", "(your answer)", "[the number]"),
        *("(value)", "[letter]", "(option)", "[choice]", "(result)", "(final)", "[here]"),
        *("answer", "final answer:", "$$", "…"),
    ],
)
def test_words_of_the_prompt_are_no_answer(placeholder: str) -> None:
    assert the_answer_is_2(f"The answer is 18. The answer is {placeholder}\n") == "18"


@pytest.mark.parametrize(
    "reason",
    [
        *(", since 9 + 9 is", " since 9 + 9 is", "; because of 9", " because of 9", " (since 9)"),
        *(" - because of 9", " – since 9", ", as 9 + 9 is", ", so 9", ", where 9 is", ", which is"),
        *(", given 9", ", giving 9", ", i.e. 9", ", that is 9", ", not 9", ", and not 9"),
        *(", but not 9", " rather than 9", ", instead of 9", " (rather than 9)", " (not 9)"),
    ],
)
def test_a_reason_is_no_part_of_the_answer(reason: str) -> None:
    assert the_answer_is_2(f"The answer is 18{reason}.") == "18"


@pytest.mark.parametrize(
    ("clause", "answer"),
    [
        pytest.param("not 9 but 18", "18", id="but"),
        pytest.param("not 9, but rather 18", "18", id="but rather"),
        pytest.param("not 9, it is 18", "18", id="it is"),
        pytest.param("not 9; it's 18", "18", id="it's"),
        pytest.param("not 9, rather 18", "18", id="rather"),
        pytest.param("not 9, instead 18", "18", id="instead"),
        pytest.param("not only 9 but 18", "not only 9 but 18", id="not only"),
        pytest.param("$x = 2, where x > 1$", "x = 2, where x > 1", id="words within a formula"),
        pytest.param("because", "because", id="a reason that nothing is before"),
    ],
)
def test_a_correction_leaves_what_it_corrects_to(clause: str, answer: str) -> None:
    assert the_answer_is_2(f"The answer is {clause}.") == answer


@pytest.mark.parametrize(
    ("line", "is_answer"),
    [
        pytest.param("word " * 12, True, id="twelve words"),
        pytest.param("word " * 13, False, id="thirteen words"),
        pytest.param("5 " + "word " * 5, True, id="a number and five words"),
        pytest.param("5 " + "word " * 6, False, id="a number and six words"),
        pytest.param("word 5", True, id="a word and a number"),
        pytest.param("two words 5", False, id="two words and a number"),
        pytest.param("5 and 6 or so", True, id="two numbers and three words"),
        pytest.param("5 and 6 or so on", False, id="two numbers and four words"),
        pytest.param("word 5; 6", True, id="a word and two numbers"),
        pytest.param("two words 5; 6", False, id="two words and two numbers"),
        pytest.param(r"\frac \sqrt \cdot 5", True, id="commands are no words"),
    ],
)
def test_a_line_is_an_answer_if_it_is_no_solution(line: str, is_answer: bool) -> None:
    assert answer_line(f"Answer: {line}") == (line.strip() if is_answer else None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("<answer>5</answer>", "5", id="an answer"),
        pytest.param("<ANSWER >5</answer>", "5", id="capitals and a space"),
        pytest.param("<final_answer>5</final_answer>", "5", id="a line between"),
        pytest.param("<Final-Answer>5</Final-Answer>", "5", id="a hyphen between"),
        pytest.param("<final answer>5</final answer>", "5", id="a space between"),
        pytest.param("<finalanswer>5", "5", id="nothing between"),
        pytest.param("<final>5</final>", "5", id="final"),
        pytest.param("<final result>5</final result>", "5", id="a final result"),
        pytest.param("[RESULT]5[/RESULT]", "5", id="a result in square brackets"),
        pytest.param("<solution>5</solution>", "5", id="a solution"),
        pytest.param("<solution>\n5\n</solution>", None, id="a solution of several lines"),
        pytest.param("<answer>5 is it", "5 is it", id="a tag that nothing closes"),
        pytest.param("I got\n5 </Answer> ", "5", id="a tag that nothing opens"),
        pytest.param("<answer>6</answer>, in <answer> tags", "6", id="a tag that is mentioned"),
        pytest.param("<answer>6</answer><answer>tag</answer>", "6", id="one mentioned tag"),
        pytest.param("<answer>\nIt is 5.\nThe answer is 7.\n</answer>", "7", id="a statement"),
        pytest.param("<answer>\n5\nIt is \\boxed{7}.\n</answer>", "7", id="a box"),
        pytest.param("<answer>\\boxed{2}, \\boxed{3}</answer>", "2, 3", id="two boxes"),
        pytest.param("<answer>\nIt\nis 7\n</answer>", None, id="a text of two lines"),
        pytest.param("<answer>6</answer><answer> </answer>", "6", id="an empty one is passed over"),
        pytest.param("<result>" + "9" * 200 + "</result>", "9" * 200, id="a long result"),
        pytest.param("<result>" + "9" * 201 + "</result>", None, id="a text is no result"),
    ],
)
def test_the_last_content_of_a_tag_is_the_answer(text: str, answer: str | None) -> None:
    assert tagged(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        *("option C is correct", "Option (C) is the best", "choice C is right"),
        *("Answer (C) is the correct one", "(C) is the correct answer", "C is the best option"),
        *("(C) is the right choice", "C is the answer", "I choose C.", "I'd pick (C)"),
        *("I would select option C", "I will go with the answer C because", "I'll say **C**"),
        *("I choose (C) since it fits", "Option A is right. No, option C is right"),
    ],
)
def test_a_choice_that_is_called_correct_is_the_answer(text: str) -> None:
    assert correct_choice(text) == "C"


@pytest.mark.parametrize(
    "text",
    ["option C is incorrect", "I choose C to begin with", "vitamin C", "option K is correct"],
)
def test_a_letter_that_nothing_calls_correct_is_no_answer(text: str) -> None:
    assert correct_choice(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("#### 72 clips", "72 clips", id="a unit"),
        pytest.param("#### $7,200.50 per day", "$7,200.50 per day", id="the last line is any text"),
        pytest.param("#### 72\nThat is all.", "72", id="a number before other text"),
        pytest.param("#### 72 sold clips\nThat is all.", "72 sold clips", id="two words"),
        pytest.param("#### 72 clips sold by me now\nAll.", None, id="a sentence before a text"),
        pytest.param("#### The sum\nIt is 72.", None, id="a heading"),
        pytest.param("#### Step 1", None, id="a step"),
        pytest.param("#### Part b", None, id="a part"),
        pytest.param("#### Case 2", None, id="a case"),
        pytest.param("#### 2. Sum", None, id="a number of a heading"),
        pytest.param("#### 71\n#### 72", "72", id="the last one"),
        pytest.param("#### 71\n#### Step 2\n7", "71", id="a step behind it"),
        pytest.param("#### 71\nSo \\boxed{72}", None, id="a box behind it"),
        pytest.param("##### 72", None, id="five signs"),
        pytest.param("so #### 72", None, id="within a line"),
    ],
)
def test_what_follows_four_signs_is_an_answer_or_a_heading(text: str, answer: str | None) -> None:
    assert hashes(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("Final Answer: 72", "72", id="a number"),
        pytest.param("final answer (in USD): 72", "72", id="a remark in brackets"),
        pytest.param("**Final answer**: 72", "72", id="bold type"),
        pytest.param("Final answer → 72", "72", id="an arrow"),
        pytest.param("Final answer - 72", "72", id="a hyphen"),
        pytest.param("Final answer: ∞", "∞", id="infinity"),
        pytest.param("Final Answer: The answer is 7.", "7", id="a statement in it"),
        pytest.param("Final Answer: The sum of 3 and 4 is 7.", "7", id="a sentence"),
        pytest.param("Final Answer: We add.\nThe answer is 7.", "7", id="a statement below"),
        pytest.param("Final Answer: We add.\nSo \\boxed{7}.", "7", id="a box below"),
        pytest.param("Final Answer: We add.\n## Answer\n7", "7", id="a heading below"),
        pytest.param("Final Answer: Paris", "Paris", id="a word"),
        pytest.param("Final Answer: It goes on", "It goes on", id="a sentence without a verb"),
        pytest.param("Final Answer: It is none", "none", id="a sentence without a digit"),
        pytest.param("Final answer:\n7", None, id="nothing on its line"),
    ],
)
def test_a_final_answer_is_on_its_line_or_below(text: str, answer: str | None) -> None:
    assert final_answer_3(text) == answer

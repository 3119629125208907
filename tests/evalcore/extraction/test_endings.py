"""Where a reply begins and ends: tokens of turns, echoes of the prompt, and further questions."""

import pytest

from evalcore.extraction import without_run_on

TOKENS = (
    *("<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|end|>"),
    *("<|return|>", "<|endoftext|>", "<|end_of_text|>", "<|end_of_turn|>", "<|endofturn|>"),
    *("<|user|>", "<|human|>", "<|system|>", "<|start_header_id|>", "<|start_of_role|>"),
    *("<|observation|>", "<end_of_turn>", "<start_of_turn>", "<eos>", "</s>", "[INST]"),
    *("[/INST]", "<｜end▁of▁sentence｜>", "<｜User｜>", "<|IM_END|>"),
)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_of_a_turn_ends_a_reply(token: str) -> None:
    assert without_run_on(f"It is 72.{token}\n9") == "It is 72."
    assert without_run_on(f"{token}\nIt is 72.") == "It is 72."


@pytest.mark.parametrize("token", ["<|assistant|>", "<｜Assistant｜>", "<s>"])
def test_a_token_that_begins_a_turn_is_no_part_of_the_reply(token: str) -> None:
    assert without_run_on(f" {token} It is 72.") == "It is 72."


@pytest.mark.parametrize(
    "start",
    [
        "<|im_start|>assistant\n",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|start_of_role|>assistant<|end_of_role|>",
        "<start_of_turn>model\n",
        "<|im_end|>\n<|im_start|>assistant\n",
    ],
)
def test_the_name_of_who_speaks_is_no_part_of_the_reply(start: str) -> None:
    assert without_run_on(f"{start}It is 72.") == "It is 72."


@pytest.mark.parametrize("quote", ["`", "'", '"'])
def test_a_token_in_quotation_marks_is_only_mentioned(quote: str) -> None:
    text = f"It is {quote}</s>{quote}, the end."
    assert without_run_on(text) == text


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("<s>[INST] Is it 9? [/INST]", id="Mistral"),
        pytest.param(
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nIs it 9?<|im_end|>\n"
            "<|im_start|>assistant\n",
            id="ChatML with a system prompt",
        ),
        pytest.param(
            "<bos><start_of_turn>user\nIs it 9?<end_of_turn>\n<start_of_turn>model\n", id="Gemma"
        ),
        pytest.param(
            "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nIs it 9?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
            id="Llama 3",
        ),
        pytest.param(
            "<|start_of_role|>user<|end_of_role|>Is it 9?<|end_of_text|>\n"
            "<|start_of_role|>assistant<|end_of_role|>",
            id="Granite",
        ),
        pytest.param("<|user|>\nIs it 9?\n<|assistant|>\n", id="Zephyr"),
        pytest.param("<|system|>\nBe brief.\n<|assistant|>\n", id="Zephyr with a system prompt"),
        pytest.param("<｜begin▁of▁sentence｜><｜User｜>Is it 9?<｜Assistant｜>", id="DeepSeek"),
    ],
)
def test_an_echo_of_the_prompt_is_no_part_of_the_reply(prompt: str) -> None:
    assert without_run_on(f"{prompt}It is 72.") == "It is 72."


@pytest.mark.parametrize(
    "question",
    [
        *("Q: And 9?", "Q. And 9?", "Q) And 9?", "Question: And 9?", "Question 2: And 9?"),
        *("Problem: And 9?", "**Problem 2.** And 9?", "Exercise: And 9?", "Query: And 9?"),
        *("Instruction: Add 9.", "User: And 9?", "Human: And 9?", "> Question：And 9?"),
        *("## Question: And 9?", "Example 2: Add 9.", "Next question", "Another problem"),
        *("New question", "### Instruction", "## Questions:", "### Problem", "### Input:"),
        *("### User", "### Human:"),
    ],
)
def test_another_question_behind_the_answer_ends_a_reply(question: str) -> None:
    assert without_run_on(f"The answer is 72.\n\n{question}\nIt is 9.") == "The answer is 72."


@pytest.mark.parametrize(
    "answer",
    [
        r"So \boxed{72}",
        r"So \fbox 72",
        "#### 72",
        "The answer is 72",
        "The answers are 7 and 2",
        "Answer: 72",
        "**Answer** = 72",
        "It is 72</answer>",
        "```\n72\n```",
        "72",
        "$72 in all",
        "x = 72",
        "(B)",
    ],
)
def test_a_question_behind_any_mark_of_an_answer_ends_a_reply(answer: str) -> None:
    assert without_run_on(f"{answer}\n\nQ: And 9?\nA: 9") == answer


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I restate it.\n\nProblem: 3 and 4?\n7", id="a question before any answer"),
        pytest.param(
            "Question 1: How many?\nThe answer is 3.\nQuestion 2: In all?\nThe answer is 9.",
            id="numbered questions are steps",
        ),
        pytest.param("Question: 3 and 4?\n7", id="a question at the beginning"),
        pytest.param("The answer is 72.\nThe question: was it 9?", id="within a line"),
        pytest.param("The answer is 72.\nQuestions remain.", id="another word"),
    ],
)
def test_a_question_that_is_part_of_a_solution_ends_nothing(text: str) -> None:
    assert without_run_on(text) == text


@pytest.mark.parametrize("role", ["User", "Human"])
def test_another_speaker_ends_a_reply_without_any_answer(role: str) -> None:
    assert (
        without_run_on(f"Let me think about it.\n\n{role}: And?\nSo.") == "Let me think about it."
    )

"""Reasoning and answer of replies, as models and servers leave their marks in the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.reading.reasoning import split_reasoning

GPT_OSS = "<|channel|>analysis<|message|>Maybe 8.<|end|><|start|>assistant"
SKY = "<|begin_of_thought|>Maybe 8.<|end_of_thought|>"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("<think>Maybe 8.</think>9", id="think"),
        pytest.param("<think>\nMaybe 8.\n</think>\n\n9\n", id="think on lines of its own"),
        pytest.param("<THINK>Maybe 8.</Think>9", id="another case"),
        pytest.param('<thinking budget="high"\n>Maybe 8.</thinking>9', id="an attribute"),
        pytest.param("<thought>Maybe 8.</thought>9", id="thought"),
        pytest.param("<Thoughts>Maybe 8.</Thoughts>9", id="thoughts"),
        pytest.param("<reasoning>Maybe 8.</reasoning>9", id="reasoning"),
        pytest.param("<inner_monologue>Maybe 8.</inner_monologue>9", id="a monologue"),
        pytest.param("<thought_process>Maybe 8.</thought_process>9", id="a process"),
        pytest.param("<cot>Maybe 8.</cot>9", id="an abbreviation"),
        pytest.param("[REASONING]Maybe 8.[/REASONING]9", id="another word in brackets"),
        pytest.param("<scratchpad>Maybe 8.</scratchpad>9", id="a scratchpad"),
        pytest.param("<analysis>Maybe 8.</analysis>9", id="analysis"),
        pytest.param("<|think|>Maybe 8.<|/think|>9", id="tokens that look like tags"),
        pytest.param("<seed:think>Maybe 8.</seed:think>9", id="a namespace"),
        pytest.param("<think>Maybe 8.<\\/think>9", id="a slash escaped in JSON"),
        pytest.param("[THINK]Maybe 8.[/THINK]9", id="square brackets"),
        pytest.param("&lt;think&gt;Maybe 8.&lt;/think&gt;9", id="escaped for HTML"),
        pytest.param("&amp;lt;think&amp;gt;Maybe 8.&amp;lt;/think&amp;gt;9", id="escaped twice"),
        pytest.param("<think>Maybe 8.&lt;/think&gt;9", id="one of both escaped"),
        pytest.param("\\<think\\>Maybe 8.\\</think\\>9", id="escaped for Markdown"),
        pytest.param("\\u003cthink\\u003eMaybe 8.\\u003c/think\\u003e9", id="escaped for JSON"),
        pytest.param("＜think＞Maybe 8.＜/think＞9", id="full width"),
        pytest.param("< think >Maybe 8.</ think >9", id="spaces within tags"),
        pytest.param("```\n<think>Maybe 8.</think>9\n```", id="a fence around all of the reply"),
        pytest.param(f"```text\n{GPT_OSS}<|channel|>final<|message|>9\n```", id="fenced channels"),
        pytest.param(
            "<details><summary>My thinking</summary>Maybe 8.</details>9", id="a part with a heading"
        ),
        pytest.param("<|thinking_start|>Maybe 8.<|thinking_end|>9", id="start and end"),
        pytest.param("<start_of_thought>Maybe 8.<end_of_thought>9", id="start of and end of"),
        pytest.param("<|reasoning_start|>Maybe 8.<|reasoning_end|>9", id="start of reasoning"),
        pytest.param("<antThinking>Maybe 8.</antThinking>9", id="a prefix"),
        pytest.param("[Thought]Maybe 8.[/Thought]9", id="thought in brackets"),
        pytest.param("Thinking...\nMaybe 8.\n...done thinking.\n\n9", id="words of a terminal"),
        pytest.param("<思考>Maybe 8.</思考>9", id="a Chinese tag"),
        pytest.param("◁think▷Maybe 8.◁/think▷9", id="triangles"),
        pytest.param(f"{SKY}<|begin_of_solution|>9<|end_of_solution|>", id="thought and solution"),
        pytest.param(f"{SKY}\n\n9", id="thought without solution"),
        pytest.param(
            "<|START_THINKING|>Maybe 8.<|END_THINKING|><|START_RESPONSE|>9<|END_RESPONSE|>",
            id="thinking and response",
        ),
        pytest.param("<|inner_prefix|>Maybe 8.<|inner_suffix|>9", id="prefix and suffix"),
        pytest.param("<|channel>thought\nMaybe 8.<channel|>9", id="one channel for thoughts"),
        pytest.param("<unused94>thought\nMaybe 8.<unused95>9", id="unused tokens"),
        pytest.param("[unused16]Maybe 8.[unused17]9", id="unused tokens in brackets"),
        pytest.param(
            '<details type="reasoning" done="true">\nMaybe 8.\n</details>\n9', id="a folded part"
        ),
        pytest.param(
            "Here's my thought process:\nMaybe 8.\nHere's my response:\n9", id="marks in words"
        ),
        pytest.param(f"{GPT_OSS}<|channel|>final<|message|>9<|return|>", id="channels"),
        pytest.param(f"{GPT_OSS}<|channel|>final<|message|>9", id="channels without an end"),
        pytest.param(f"<|start|>assistant{GPT_OSS}<|channel|>final<|message|>9", id="a first role"),
        pytest.param(
            "Maybe 8.<|end|><|start|>assistant<|channel|>final<|message|>9",
            id="the first channel is in the prompt",
        ),
        pytest.param(
            f"{GPT_OSS}<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
            '{"x": 8}<|call|><|start|>assistant<|channel|>final<|message|>9',
            id="a call between channels",
        ),
        pytest.param("<|channel|>analysis<|message|>Maybe 8.<|end|>9", id="no final channel"),
        pytest.param("analysisMaybe 8.assistantfinal9", id="channels without their tokens"),
        pytest.param("Maybe 8.\n</think>\n\n9", id="the opening mark is in the prompt"),
        pytest.param("Maybe 8.[/THINK]9", id="a bracket of which is in the prompt"),
        pytest.param("Maybe 8.</think>\n</think>9", id="a closing mark twice"),
        pytest.param("<think><think>Maybe 8.</think></think>9", id="nested marks"),
        pytest.param("<think>Maybe <think> 8.</think>9", id="an opening mark twice"),
        pytest.param(
            "<thinking>Maybe 8.<reflection>No.</reflection></thinking>9", id="another kind within"
        ),
        pytest.param("<think>Maybe 8.</reasoning>9", id="closed by another kind"),
        pytest.param("<think>Maybe 8.</think><think>No.</think>9", id="two blocks"),
        pytest.param("<think>Maybe 8.</think>So 8?<think>No.</think>9", id="a draft between"),
        pytest.param("Let me think.\n<think>Maybe 8.</think>9", id="words before"),
        pytest.param("Sure! <think>Maybe 8.</think> 9", id="words before on the same line"),
        pytest.param("<think>Maybe 8.</think>9\n</think>", id="a closing mark behind the answer"),
        pytest.param("<think>Maybe 8.</think>9<think>Right.</think>", id="reasoning at the end"),
        pytest.param("<think>Maybe 8.</think>9\n<think>", id="an opening mark at the end"),
        pytest.param("<think>I close with `</think>` now. Maybe 8.</think>9", id="a mark in code"),
        pytest.param("<think>Maybe 8.\n```python\nx = 8\n</think>9", id="code left off"),
        pytest.param("```python\nx = 8\n</think>9", id="code left off, its opening mark unseen"),
    ],
)
def test_only_what_follows_reasoning_is_the_answer(reply: str) -> None:
    reasoning, answer = split_reasoning(reply)
    assert answer == "9"
    assert "8" in reasoning


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("<think>Maybe 8. The answer is 8.", id="think"),
        pytest.param("[THINK]Maybe \\boxed{8}", id="square brackets"),
        pytest.param(SKY.removesuffix("<|end_of_thought|>"), id="thought"),
        pytest.param(GPT_OSS, id="channels"),
        pytest.param("<|channel|>analysis<|message|>Maybe 8.", id="one channel"),
        pytest.param("analysisWe need to add. Maybe 8.", id="a channel without its tokens"),
        pytest.param("Of course.\n<think>Maybe 8.", id="words before"),
        pytest.param("<think>Maybe.</think>8\n<think>No, wait", id="a second block"),
        pytest.param("<thinking>a<reflection>8</reflection>b", id="only an inner block is closed"),
        pytest.param("<think>Maybe 8, in <answer> tags", id="a tag is mentioned"),
    ],
)
def test_a_reply_that_ends_within_its_reasoning_has_no_answer(reply: str) -> None:
    assert split_reasoning(reply).answer is None


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("The answer is 8.", id="no marks"),
        pytest.param(" 8 \n", id="spaces stay"),
        pytest.param("8 < think > 7 is no tag: <thinker>8</thinker>", id="other tags"),
        pytest.param("The <think> tag isn't HTML. The answer is 8.", id="a tag is named"),
        pytest.param("<think> tags are not HTML. The answer is 8.", id="a tag is named first"),
        pytest.param("Use `<think>` and `</think>`. The answer is 8.", id="in code"),
        pytest.param("Write `a <think> b </think>`. The answer is 8.", id="within code"),
        pytest.param('It ends with "</think>". The answer is 8.', id="in quotation marks"),
        pytest.param("The answer is 8. I put it in <think> and </think> as asked.", id="in prose"),
        pytest.param("```html\n<think>\n```\nThe answer is 8.", id="in a block of code"),
        pytest.param(
            "```python\nt.split('</think>')[1]\n```\nThe answer is 8.", id="a string in code"
        ),
        pytest.param('x = re.sub(r"<think>.*</think>", "", t)\nanswer = 8', id="bare code"),
        pytest.param("~~~\n<|channel|>analysis<|message|>\n~~~\n8", id="a channel in code"),
        pytest.param("Here is my thought process: 2 and 6. The answer is 8.", id="words alone"),
        pytest.param("My answer: 8. Here is my response: see above.", id="words in a reply"),
        pytest.param("analysis of both cases gives 8", id="a word"),
        pytest.param("<details>\n<summary>Steps</summary>\n2 and 6\n</details>\n8", id="folded"),
    ],
)
def test_a_reply_that_only_mentions_marks_is_its_answer(reply: str) -> None:
    assert split_reasoning(reply) == ("", reply)


def test_an_answer_that_is_tagged_ends_reasoning_that_is_not_closed() -> None:
    reply = "<think>Is it 8? No. <answer>9</answer>\n"
    assert split_reasoning(reply) == ("Is it 8? No.", "<answer>9</answer>")


def test_the_answer_of_reasoning_alone_is_empty() -> None:
    assert split_reasoning("<think>It is 8.</think>\n") == ("It is 8.", "")


PIECES = (
    *(
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "[THINK]",
        "`",
        "\n",
        "```\n",
        '"',
        "8",
        " a",
    ),
    *("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nothing_but_marks_is_lost_or_made_up(reply: str) -> None:
    reasoning, answer = split_reasoning(reply)
    assert (reasoning, answer) == ("", reply) or "<" in reply or "[" in reply
    assert reply.count("8") >= (answer or "").count("8") + reasoning.count("8")
    assert (answer or "").strip() in reply or "8" in reply or " a" in reply


@pytest.mark.parametrize(
    "piece",
    [
        *("<think>", "</think>", "`<think>", "<think>`", "<", "< ", "<think ", "a <think> b"),
        *("```a\n", "```\n", "`", " ", "[think]", "<details ", "<think><answer>"),
        *("<|channel|>a", "<|channel|>a<|message|>", "<|start|>a", "<|end_of_thought|>   "),
        "here is my thought process:",
    ],
)
def test_time_grows_with_the_length_of_a_hostile_reply(piece: str) -> None:
    reply = piece * (200_000 // len(piece))
    start = time.process_time()
    split_reasoning(reply)
    assert time.process_time() - start < 5

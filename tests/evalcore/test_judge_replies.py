"""How replies of judges are read: what was asked for, or as clear a statement, never guessed at."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evalcore.judgements import choose_prompt, read_reply
from tests.support.cases import case_table

FORMS = {
    "boxed": choose_prompt("imo-answerbench", "grade"),
    "points": choose_prompt("imo-proofbench", "grade"),
    "score": choose_prompt("aicrypto", "grade"),
    "cause": choose_prompt("financemath", "failure-causes"),
}


@pytest.mark.parametrize(
    ("form", "reply", "read"),
    [
        pytest.param("boxed", "Same value. \\boxed{Correct}", [1.0, "Correct"], id="a box"),
        pytest.param(
            "boxed", "\\boxed{\\text{Incorrect}}", [0.0, "Incorrect"], id="a box with text in it"
        ),
        pytest.param(
            "boxed", "\\boxed{Correct} so \\boxed{Correct} so ", [1.0, "Correct"], id="a box twice"
        ),
        pytest.param("points", "fine\n<points>6 out of 7</points>", [6 / 7, "6"], id="points"),
        pytest.param("score", '{"score": 82.5}', [0.825, "82.5"], id="a score"),
        pytest.param(
            "score", '```json\n{"score": 100}\n```', [1.0, "100"], id="a score in a fence"
        ),
        pytest.param("cause", '{"cause": "B", "why": "x"}', [None, "B"], id="a cause"),
        pytest.param("boxed", "It is correct.", "no \\\\boxed", id="words without a box"),
        pytest.param(
            "boxed",
            "\\boxed{Correct}, no: \\boxed{Incorrect}",
            "several labels",
            id="boxes that contradict",
        ),
        pytest.param(
            "points",
            "<points>9 out of 7</points>",
            "points 9; expected a number from 0 to 7",
            id="points above the most",
        ),
        pytest.param(
            "points",
            "<points>1 out of 7</points><points>6 out of 7</points>",
            "several labels: 1, 6",
            id="points that contradict",
        ),
        pytest.param("points", "<points>6.5 out of 7</points>", "no <points>", id="half a point"),
        pytest.param("score", '{"score": "80"}', "a number", id="a score as text"),
        pytest.param("score", '{"score": true}', "a number", id="a score that is true"),
        pytest.param("score", '{"score": NaN}', "0 to 100", id="a score that is no number"),
        pytest.param("score", '{"score": 1, "score": 90}', "twice", id="a score twice"),
        pytest.param("score", "[1]", "not a JSON object", id="a list"),
        pytest.param("score", "Score: 80", "not valid JSON", id="words without an object"),
        pytest.param("cause", '{"cause": "D"}', "one of A, B, C", id="another cause"),
        pytest.param("cause", '{"cause": ["A"]}', "one of A, B, C", id="a list of causes"),
        pytest.param(
            "points", f"<points>{'9' * 5000} out of 7</points>", "limit", id="endless points"
        ),
        pytest.param("score", "[" * 100_000, "not valid JSON", id="endless brackets"),
        pytest.param(
            "boxed",
            "<think>maybe \\boxed{Incorrect}</think>\n\\boxed{Correct}",
            [1.0, "Correct"],
            id="reasoning before it",
        ),
        pytest.param(
            "boxed",
            "<think>it could be \\boxed{Correct} but",
            "it ends within its reasoning",
            id="reasoning alone",
        ),
        pytest.param(
            "score",
            '[THINK]{"score": 1}[/THINK]{"score": 50}',
            [0.5, "50"],
            id="reasoning in brackets",
        ),
    ],
)
def test_what_was_asked_for_is_read_and_all_else_unparsed(form: str, reply: str, read: Any) -> None:
    if isinstance(read, list):
        assert read_reply(FORMS[form], reply)[:2] == tuple(read)
    else:
        with pytest.raises(ValueError, match=read):
            read_reply(FORMS[form], reply)


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_another_clear_statement_is_a_verdict_unless_contradicted(
    form: str, reply: str, read: Any
) -> None:
    if isinstance(read, list):
        assert read_reply(FORMS[form], reply)[:2] == tuple(read)
    else:
        with pytest.raises(ValueError, match=read):
            read_reply(FORMS[form], reply)


@pytest.mark.parametrize("form", ["boxed", "points"])
@pytest.mark.parametrize("denial", ["not", "never", "partially", "almost", "in", "isn't"])
@pytest.mark.parametrize(
    "statement",
    [
        "{}",
        "**{}**",
        "Verdict: {}",
        "<verdict>{}</verdict>",
        "\\boxed{{{}}}",
        '{{"verdict": "{}"}}',
    ],
)
def test_a_denied_or_weakened_approval_is_never_an_approval(
    form: str, denial: str, statement: str
) -> None:
    space = "" if denial == "in" else " "
    try:
        value = read_reply(FORMS[form], statement.format(f"{denial}{space}correct"))[0]
    except ValueError:
        value = None
    assert value != 1


@pytest.mark.parametrize("form", ["boxed", "points"])
@pytest.mark.parametrize(
    "piece",
    ["(", ". ", "\n", "```x\n", "<verdict>", "\\boxed{", "{", "verdict: ", "\\boxed{Correct}\n"],
)
def test_a_long_reply_is_read_in_time(form: str, piece: str) -> None:
    started = time.thread_time()
    with suppress(ValueError):
        read_reply(FORMS[form], piece * (200_000 // len(piece)))
    assert time.thread_time() - started < 30, "quadratic ones take minutes"

"""Messages name options as the terminal and as Python do."""

import pickle
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from ngramscan.errors import InputError, NgramscanError
from ngramscan.messages import (
    Message,
    OptionFlags,
    OptionUse,
    Text,
    Wording,
    in_python,
    in_terminal,
    joined,
    message_of,
)

FLAGS: OptionFlags = {
    "output": ["-o", "--output"],
    "timeout_s": ["--timeout"],
    "scores": ["SCORES"],
}


@pytest.mark.parametrize(
    ("text", "terminal", "python"),
    [
        ("plain", "plain", "plain"),
        (OptionUse("answer_field"), "--answer-field", "answer_field"),
        (OptionUse("output"), "--output", "output"),
        (OptionUse("output", "a.csv"), "-o a.csv", 'output="a.csv"'),
        (OptionUse("output", Path("a b.csv")), "-o 'a b.csv'", 'output="a b.csv"'),
        (OptionUse("output", placeholder="FILE"), "-o FILE", "output=FILE"),
        (OptionUse("timeout_s", 0), "--timeout 0", "timeout_s=0"),
        (OptionUse("level", 0.5), "--level 0.5", "level=0.5"),
        (OptionUse("level", 1.0), "--level 1", "level=1"),
        (OptionUse("level", Decimal("2000000.0")), "--level 2000000.0", "level=2000000.0"),
        (OptionUse("tier", "T9"), "--tier T9", 'tier="T9"'),
        (OptionUse("tier", ""), "--tier ''", 'tier=""'),
        (OptionUse("tier", "é"), "--tier é", 'tier="é"'),
        (OptionUse("index", "scan:a/…"), "--index scan:a/…", 'index="scan:a/…"'),
        (OptionUse("index", "scan:*.txt"), "--index 'scan:*.txt'", 'index="scan:*.txt"'),
        (OptionUse("yes", True), "--yes", "yes=True"),
        (OptionUse("scores"), "SCORES", "scores"),
        (OptionUse("scores", "a.csv"), "SCORES a.csv", 'scores="a.csv"'),
        ("a " + OptionUse("n") + " b", "a --n b", "a n b"),
        (OptionUse("n") + OptionUse("m", 2), "--n--m 2", "nm=2"),
        (Wording("`run --n 1`", "`run(n=1)`") + "!", "`run --n 1`!", "`run(n=1)`!"),
        (joined(["a", OptionUse("n"), "b"], ", "), "a, --n, b", "a, n, b"),
        (joined([], ", "), "", ""),
    ],
    ids=str,
)
def test_an_option_has_its_flag_in_the_terminal_and_its_keyword_in_python(
    text: Text, terminal: str, python: str
) -> None:
    assert (in_terminal(text, FLAGS), in_python(text)) == (terminal, python)


def test_where_no_command_is_known_an_option_has_the_flag_of_its_name() -> None:
    message = "see " + OptionUse("timeout_s") + " and " + OptionUse("output", "a")
    assert str(message) == f"{message}" == "see --timeout-s and --output a"


def test_what_is_no_text_is_no_part_of_a_message() -> None:
    with pytest.raises(TypeError, match="int is not a part of a message"):
        message_of(cast("Text", 3))


def test_an_error_has_its_option_and_is_said_in_both_ways() -> None:
    error = InputError(OptionUse("timeout_s", 0), "requires " + OptionUse("answer_field"))
    assert error.option == OptionUse("timeout_s", 0)
    assert str(error) == "--timeout-s 0: requires --answer-field"
    error.name_flags(FLAGS)
    assert str(error) == "--timeout 0: requires --answer-field"
    error.name_keywords()
    assert str(error) == "timeout_s=0: requires answer_field"


def test_an_error_about_a_place_has_no_option() -> None:
    error = InputError(Path("a.csv"), "it is empty")
    assert (error.option, error.where) == (None, Message(("a.csv",)))


@pytest.mark.parametrize(
    "error",
    [
        NgramscanError("see " + OptionUse("n")),
        InputError(OptionUse("n", 1), "requires " + OptionUse("m")),
    ],
    ids=["an error", "of an option"],
)
def test_an_error_from_another_process_still_knows_its_options(error: NgramscanError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, str(again)) == (type(error), error.message, str(error))

"""Patterns as commands are given them: sets, literals, and files of literals."""

from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.given import load_given

SET = "name: mine\npatterns:\n  - {text: a b, method: CoT, tier: T1, kind: code}\n"
JSON_SET = (
    '{"name": "mine", "patterns": [{"text": "a", "method": "M", "tier": "T1", "kind": "code"}]}'
)


def test_literals_stand_behind_sets_each_once(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SET)
    (tmp_path / "lines.txt").write_text("from a file\r\n\nof literals\nfrom -e\n")
    found = load_given(
        ["as an argument", tmp_path / "mine.yaml"],
        ["from -e", "from -e"],
        [tmp_path / "lines.txt"],
    )
    assert found.name == "mine"
    assert [(pattern.text, pattern.method, pattern.tier) for pattern in found.patterns] == [
        ("a b", "CoT", "T1"),
        ("as an argument", None, None),
        ("from -e", None, None),
        ("from a file", None, None),
        ("of literals", None, None),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [("mine.yaml", SET), ("mine.YML", SET), ("mine", SET), ("mine.json", JSON_SET)],
    ids=["yaml", "yml", "none", "json"],
)
def test_a_set_may_have_the_suffix_of_yaml_of_json_or_none(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    assert load_given([tmp_path / name], [], []).name == "mine"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param(
            "c.jsonl", "not a pattern set; to count in its texts: --index scan:", id="a corpus"
        ),
        pytest.param(
            "c.feather", "not a pattern set; to count in its texts: --index scan:", id="Arrow"
        ),
        pytest.param(
            "c.txt", "not a pattern set; to count each of its lines: --literals-file ", id="a text"
        ),
        pytest.param(
            "c.csv", "not a pattern set; to count each of its lines: --literals-file ", id="a table"
        ),
    ],
)
def test_a_file_that_is_no_set_is_refused_with_a_cure(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / name).write_text("step by step\n")
    with pytest.raises(InputError) as error:
        load_given([tmp_path / name], [], [])
    assert str(error.value) == f"{tmp_path / name}: {problem}{tmp_path / name}"


def test_a_folder_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a pattern set; to count in its texts: --index scan:"):
        load_given([tmp_path], [], [])


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        pytest.param("word", "word", id="a word"),
        pytest.param("it's", "'it'\"'\"'s'", id="a word that is quoted"),
        pytest.param("x" * 1000, "x" * 1000, id="the longest that is shown"),
        pytest.param("x" * 1001, "TEXT", id="a longer one"),
    ],
)
def test_a_word_that_is_neither_file_nor_set_can_be_counted_as_a_text(
    word: str, shown: str
) -> None:
    with pytest.raises(InputError) as error:
        load_given([word], [], [])
    assert "no such file or shipped set" in str(error.value)
    assert str(error.value).endswith(f"to count the text itself: --literal {shown}")


@pytest.mark.parametrize(
    ("tiers", "methods", "problem"),
    [
        pytest.param(
            ["T1"],
            [],
            "--tier T1: it selects from pattern sets, and only literals were given",
            id="a tier",
        ),
        pytest.param(
            [],
            ["CoT"],
            "--method CoT: it selects from pattern sets, and only literals were given",
            id="a method",
        ),
    ],
)
def test_literals_alone_can_not_be_selected_from(
    tiers: list[str], methods: list[str], problem: str
) -> None:
    with pytest.raises(InputError) as error:
        load_given([], ["a text"], [], tiers, methods)
    assert str(error.value) == problem


def test_standard_input_is_given_once() -> None:
    with pytest.raises(
        InputError, match="standard input: it can be read only once; - was given tw"
    ):
        load_given(["-"], [], ["-"])


def test_nothing_to_count_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to count; give texts, as in --literal 'step"):
        load_given([], [], [])


@pytest.mark.parametrize(
    ("literal", "problem"),
    [
        pytest.param("", "it is empty; enter a phrase", id="empty"),
        pytest.param("a\0b", "it has a NUL character", id="a zero byte"),
        pytest.param("a\ud83d", "it is not valid UTF-8", id="half of a character"),
    ],
)
def test_what_can_not_be_counted_is_refused(literal: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        load_given([], [literal], [])
    assert str(error.value) == f"--literal: {problem}"


def test_a_line_that_can_not_be_counted_is_named(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("a\n\nb\0\n")
    with pytest.raises(InputError, match=r"lines\.txt:3: it has a NUL character"):
        load_given([], [], [tmp_path / "lines.txt"])


def test_a_file_without_literals_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"lines\.txt: contains no text; expected one per line"):
        load_given([], [], [tmp_path / "lines.txt"])


def test_a_set_is_no_file_of_literals(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SET)
    with pytest.raises(InputError, match="a pattern set; give it without this option: "):
        load_given([], [], [tmp_path / "mine.yaml"])

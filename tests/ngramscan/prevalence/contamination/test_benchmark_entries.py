"""Entries of a benchmark: which column is probably meant, and which entries are drawn."""

import json
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.benchmark_entries import read_entries
from ngramscan.prevalence.contamination.contaminate import Entry
from ngramscan.statistics.streams import draw_sample


def problem_of(folder: Path, columns: list[str], **options: str) -> str:
    """Return with what the field `nothing_like_it` is refused in a table of some columns."""
    file = folder / "exam.jsonl"
    file.write_text(json.dumps(dict.fromkeys(columns, "a text")))
    with pytest.raises(InputError) as raised:
        read_entries(file, options.pop("text_field", "nothing_like_it"), **options)
    return str(raised.value.problem)


@pytest.mark.parametrize(
    "often", ["question", "problem", "context", "prompt", "input", "passage", "text"]
)
def test_a_column_that_often_has_the_texts_is_proposed(tmp_path: Path, often: str) -> None:
    said = problem_of(tmp_path, ["id", "level", often.capitalize()])
    assert said.endswith(f"; --field {often.capitalize()} if that is meant")


def test_the_likeliest_column_is_proposed(tmp_path: Path) -> None:
    said = problem_of(tmp_path, ["text", "passage", "input", "prompt", "context", "problem"])
    assert said.endswith("; --field problem if that is meant")


def test_a_column_of_nearly_the_name_is_proposed_first(tmp_path: Path) -> None:
    said = problem_of(tmp_path, ["question", "statements"], text_field="statement")
    assert said.endswith("; --field statements if that is meant")


def test_columns_of_texts_are_no_proposal_for_ids(tmp_path: Path) -> None:
    said = problem_of(tmp_path, ["question", "level"], text_field="question", id_field="zzz")
    assert said == "no column zzz; the columns are question, level; name one with --id-field"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(7, "7", id="an integer"),
        pytest.param(0.5, "0.5", id="a fraction"),
        pytest.param("a", "a", id="a text"),
    ],
)
def test_ids_may_be_numbers(tmp_path: Path, value: object, name: str) -> None:
    file = tmp_path / "exam.jsonl"
    file.write_text(json.dumps({"id": value, "question": "x", "answer": value}))
    found = read_entries(file, "question", answer_field="answer")
    assert (found.entries, found.is_numbered) == ([Entry(name, "x", name)], False)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(True, "True, which is not text", id="true"),
        pytest.param(float("inf"), "inf, which is not text", id="infinity"),
        pytest.param(None, "None, which is not text", id="nothing"),
        pytest.param(" ", "empty", id="a blank"),
    ],
)
def test_ids_that_are_neither_are_refused(tmp_path: Path, value: object, shown: str) -> None:
    file = tmp_path / "exam.jsonl"
    file.write_text(json.dumps({"id": value, "question": "x"}))
    with pytest.raises(InputError, match=f"id is {shown}; correct the row or leave it out"):
        read_entries(file, "question")


def test_a_number_is_no_question(tmp_path: Path) -> None:
    file = tmp_path / "exam.jsonl"
    file.write_text(json.dumps({"question": 7}))
    with pytest.raises(InputError, match="question is 7, which is not text"):
        read_entries(file, "question")


def test_entries_without_ids_are_numbered_from_one(tmp_path: Path) -> None:
    file = tmp_path / "exam.jsonl"
    file.write_text('{"question": "x"}\n{"question": "y"}\n')
    found = read_entries(file, "question")
    assert ([entry.id for entry in found.entries], found.is_numbered) == (["1", "2"], True)


def test_a_folder_of_tables_names_the_first_three(tmp_path: Path) -> None:
    for name in "dcba":
        (tmp_path / f"{name}.jsonl").write_text('{"question": "x"}\n')
    names = ", ".join(str(tmp_path / f"{name}.jsonl") for name in "abc")
    with pytest.raises(InputError) as raised:
        read_entries(tmp_path, "question")
    assert str(raised.value.problem) == f"it is a folder; name one of its files: {names}, …"
    (tmp_path / "d.jsonl").unlink()
    with pytest.raises(InputError) as raised:
        read_entries(tmp_path, "question")
    assert str(raised.value.problem) == f"it is a folder; name one of its files: {names}"


def test_entries_are_drawn_by_the_seed_in_their_order() -> None:
    entries = [Entry(str(number), "x", "") for number in range(30)]
    drawn = draw_sample(entries, 10, 1)
    assert len(drawn) == 10
    assert drawn == sorted(drawn, key=entries.index) == draw_sample(entries, 10, 1)
    assert drawn != draw_sample(entries, 10, 2)
    assert draw_sample(entries, 30, 1) == draw_sample(entries, None, 1) == entries

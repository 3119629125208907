"""One problem with all outputs, beside and below each other."""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.commands.show import ShowRow
from ngramscan.errors import InputError
from tests.support.command import invoke
from tests.support.outputs import shown_in, write_lines, write_texts

SCORES: list[dict[str, Any]] = [
    {
        "dataset": "d",
        "model": "m",
        "id": "1",
        "rule": "numbers",
        "method": "cot",
        "value": 1.0,
        "answer": "42",
        "reason": None,
        "reply": None,
    },
    {
        "dataset": "d",
        "model": "m",
        "id": "1",
        "rule": "numbers",
        "method": "f-1",
        "value": 0.0,
        "answer": "41",
        "reason": "41 is not 42",
        "reply": None,
    },
    {
        "dataset": "d",
        "model": "m",
        "id": "1",
        "rule": "judge:j",
        "method": "f-1",
        "value": None,
        "answer": None,
        "reason": None,
        "reply": "Can't say.",
    },
]
TEXTS = {"cot": ["first", "It is \x1b[31m 42.\nThe answer [b]is[/b] 42."], "f-1": ["x", "y = 41"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_texts(tmp_path / "outputs", TEXTS)
    write_lines(tmp_path / "s.jsonl", *SCORES)
    return tmp_path


def test_a_row_per_output_and_rule(folder: Path) -> None:
    found = evalcore.show("1", outputs=folder / "outputs", scores=folder / "s.jsonl")
    rows = found[["method", "rule", "answer", "status", "reply"]].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        ["cot", "numbers", "42", "scored", None],
        ["f-1", "numbers", "41", "scored", None],
        ["f-1", "judge:j", None, "unknown", "Can't say."],
    ]
    assert [*found["output"]] == [TEXTS["cot"][1], "y = 41", "y = 41"]
    write_lines(folder / "outputs/e/m/cot.jsonl", {"id": "0", "output": "another"})
    assert len(evalcore.show("0", outputs=folder / "outputs", dataset="d")) == 2


def test_each_column_of_a_shown_output_is_that_of_its_record_and_score(tmp_path: Path) -> None:
    record = {"id": "1", "epoch": 2, "output": "It is 42."}
    write_lines(tmp_path / "outputs/d/m/cot.jsonl", record)
    score = SCORES[0] | {
        "epoch": 2,
        "value": 0.5,
        "reason": "half",
        "reply": "So so.",
        "answer": "4",
    }
    write_lines(tmp_path / "s.jsonl", score)
    (row,) = evalcore.show("1", outputs=tmp_path / "outputs", scores=tmp_path / "s.jsonl").to_dict(
        "records"
    )
    expected = {
        "dataset": "d",
        "model": "m",
        "method": "cot",
        "id": "1",
        "epoch": 2,
        "output": "It is 42.",
        "rule": "numbers",
        "value": 0.5,
        "status": "scored",
        "answer": "4",
        "reason": "half",
        "reply": "So so.",
    }
    assert {*expected} == {field.name for field in fields(ShowRow)}
    assert row == expected


@pytest.mark.parametrize(("width", "is_beside"), [(100, True), (60, False)])
def test_methods_are_side_by_side_where_there_is_room(
    folder: Path, width: int, is_beside: bool
) -> None:
    files = {"outputs": folder / "outputs", "scores": folder / "s.jsonl"}
    result: Any = inspect.unwrap(evalcore.show)("1", **files)
    stdout = shown_in(width, result.print_table)
    assert bool(re.search(r"^cot +f-1", stdout, re.MULTILINE)) == is_beside
    assert max(map(len, stdout.splitlines())) <= width
    texts = ("numbers: 1; answer 42", "41 is not 42", "judge:j: unknown", "Can't say.", "[b]is")
    assert not [text for text in texts if text not in stdout]
    assert "\x1b" not in stdout  # a model's text moves no cursor


@pytest.mark.parametrize(
    ("id_", "options", "message"),
    [
        pytest.param("7", {}, 'id="7": no output for it in .*; it has 0, 1', id="no such problem"),
        pytest.param("1", {"model": "n"}, 'model="n": expected one of m', id="no such model"),
    ],
)
def test_what_is_not_there_is_said(
    folder: Path, id_: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evalcore.show(id_, outputs=folder / "outputs", **options)


def test_reasoning_is_left_out_of_what_is_shown_and_kept_in_rows(tmp_path: Path) -> None:
    ended = "<think>It may be \\boxed{5}, since"
    whole = "<think>Maybe \\boxed{12}</think>\nIt is \\boxed{5}."
    folder = write_texts(tmp_path / "outputs", {"cot": [ended, whole]})
    first, second = (inspect.unwrap(evalcore.show)(id_, outputs=folder) for id_ in ("0", "1"))
    shown = [shown_in(80, result.print_table).splitlines()[2:] for result in (first, second)]
    words = [[line.strip() for line in lines if line.strip()] for lines in shown]
    assert words == [
        ["(5 words of reasoning)", "(it ends within its reasoning)"],
        ["(2 words of reasoning)", "It is \\boxed{5}."],
    ]
    assert second.rows[0].output == whole


def test_a_file_that_is_given_as_an_id_is_answered_with_what_reads_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    ended = invoke("show", "s.jsonl")
    assert (ended.code, ended.stdout) == (2, "")
    cure = "for files give --outputs s.jsonl, and `evalcore logs s.jsonl` reads logs"
    assert ended.stderr == f"Error: ID s.jsonl: expected the ID of a problem; {cure}\n"

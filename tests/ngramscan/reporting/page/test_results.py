"""Rows that a page reads: recognised by their columns, and read back from every format."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.rows import Target, to_bytes, to_frame

COUNTED = CountRow(
    "i", "bytes", "cot", "T1", None, "42", "007", 5, None, "scan", "2026-01-01T00:00:00Z"
)


def test_missing_numbers_are_none_in_every_frame() -> None:
    frame = pd.DataFrame([{"documents": float("nan")}, {"documents": 3.0}])
    for field in fields(CountRow):
        if field.name != "documents":
            frame[field.name] = getattr(COUNTED, field.name)
    frame["pattern"] = 42  # as pandas reads CSV
    results = read_results(frame)
    assert [row["documents"] for row in results.rows] == [None, 3.0]
    assert [row["pattern"] for row in results.rows] == ["42", "42"]


def test_columns_that_users_added_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "counts.jsonl"
    values = to_frame([COUNTED], CountRow).astype(object).where(lambda one: one.notna(), None)
    row = values.iloc[0].to_dict() | {"mine": "007", "list": [1, "é"]}
    path.write_text(json.dumps(row))
    found = read_results(path).rows[0]
    assert found["mine"] == "007"
    assert found["list"] == '[1, "é"]'


@pytest.mark.parametrize("bad", ["many", "1_000", "9" * 5000, "0x1"])
def test_what_is_no_number_is_refused_with_its_place(bad: str, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    text = to_bytes(
        [COUNTED, replace(COUNTED, occurrences=98765)], CountRow, Target("csv")
    ).decode()
    path.write_text(text.replace("98765", bad))
    with pytest.raises(InputError, match=r"counts.csv:3: occurrences: .* is not a number") as found:
        read_results(path)
    assert len(str(found.value)) < len(str(path)) + 150


def test_unknown_columns_are_named_with_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("name,age\nx,3\n")
    with pytest.raises(
        InputError, match=r"other.csv: unrecognized columns: name, age; .* count, totals, "
    ):
        read_results(path)
    path.write_bytes(
        to_bytes([COUNTED], CountRow, Target("csv")).replace(b"occurrences,", b"hits,")
    )
    with pytest.raises(InputError, match=r"rows of `count` also have occurrences$"):
        read_results(path)
    path.write_text(",".join(f"{n}{'x' * 500}" for n in range(500)) + "\n" + "1," * 499 + "1\n")
    with pytest.raises(InputError) as found:
        read_results(path)
    assert len(str(found.value)) < len(str(path)) + 1200
    path.with_suffix(".jsonl").write_text(
        '{"item": "a", "label": "x", "votes": 2, "judges": 3}\n{}'
    )
    with pytest.raises(InputError, match=r"other.jsonl:2: it lacks item, judges, label, votes"):
        read_results(path.with_suffix(".jsonl"))


CONTEXT = ContextRow(
    index="i",
    pattern="so",
    document="d",
    offset=0,
    left="l",
    match="so",
    right="r",
    metadata="{}",
    shard=0,
    rank=1,
)
SCORED = ScoreRow("d", "m", "cot", "1", None, "exact", 1.0, status="scored")


@pytest.mark.parametrize(
    ("written", "column", "expected"),
    [
        pytest.param(CONTEXT, "left", "", id="a text that is always there"),
        pytest.param(CONTEXT, "metadata", "", id="metadata"),
        pytest.param(SCORED, "reason", "", id="a reason"),
        pytest.param(COUNTED, "note", "", id="a note"),
        pytest.param(COUNTED, "method", None, id="a text that may be unknown"),
        pytest.param(COUNTED, "documents", None, id="a number"),
        pytest.param(COUNTED, "mine", None, id="a column of the user's"),
    ],
)
@pytest.mark.parametrize("value", [None, ""], ids=["null", "empty"])
def test_nothing_is_an_empty_text_where_there_is_always_a_text(
    written: Any, column: str, expected: str | None, value: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    row = json.loads(to_bytes([written], type(written), Target("jsonl")))
    path.write_text(json.dumps(row | {column: value}))
    assert read_results(path).rows[0][column] == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("-5", -5, id="below 0"),
        pytest.param("9007199254740993", 2**53 + 1, id="beyond floats"),
        pytest.param("2.5", 2.5, id="a fraction"),
        pytest.param("1e3", 1000.0, id="an exponent"),
        pytest.param(" 7 ", 7, id="blanks around it"),
        pytest.param("nan", None, id="not a number"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_texts_of_numbers_are_these_numbers(
    text: str, number: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "counts.csv"
    rows = [replace(COUNTED, occurrences=98765)]
    path.write_text(to_bytes(rows, CountRow, Target("csv")).decode().replace("98765", text))
    results = read_results(path)
    assert results.rows[0]["occurrences"] == number
    assert type(results.rows[0]["occurrences"]) is type(number)
    assert not results.is_changed

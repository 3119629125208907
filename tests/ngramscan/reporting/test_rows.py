"""Rows in files and data frames: every format has the same values."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reporting import choose_target, to_frame, to_text, write_rows
from ngramscan.reporting.rows import Target, order_rows


@dataclass(frozen=True)
class Row:
    name: str
    count: int
    documents: int | None
    rate: float | None


ROWS = [Row('a,"b"\n', 3, None, 0.5), Row("ภาษา", 0, 2, None)]


def test_csv_is_quoted_and_null_is_empty() -> None:
    assert to_text(ROWS, Row, "csv") == (
        'name,count,documents,rate\n"a,""b""\n",3,,0.5\nภาษา,0,2,\n'
    )
    assert to_text([], Row, "csv") == "name,count,documents,rate\n"


def test_json_and_json_lines_keep_null_and_text() -> None:
    records = [
        {"name": 'a,"b"\n', "count": 3, "documents": None, "rate": 0.5},
        {"name": "ภาษา", "count": 0, "documents": 2, "rate": None},
    ]
    lines = to_text(ROWS, Row, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == records
    assert "ภาษา" in lines[1]
    assert json.loads(to_text(ROWS, Row, "json")) == records
    assert json.loads(to_text([], Row, "json")) == []


def test_a_frame_keeps_integers_beside_missing_values_and_can_be_written() -> None:
    frame = to_frame([*ROWS, Row("half \ud800", 1, 1, 1.0)], Row)
    assert [str(dtype) for dtype in frame.dtypes] == ["string", "Int64", "Int64", "Float64"]
    assert frame["documents"].isna().tolist() == [True, False, False]
    assert frame["name"][2] == "half \\ud800"
    assert to_frame([], Row).columns.tolist() == ["name", "count", "documents", "rate"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet"])
def test_every_file_format_comes_back_as_it_was(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows.{suffix}"
    write_rows(ROWS, Row, choose_target(None, path))
    if suffix == "parquet":
        frame = pd.read_parquet(path)
        assert str(frame["documents"].dtype) == "Int64"
    elif suffix == "csv":
        frame = pd.read_csv(path)
    else:
        frame = pd.read_json(path, lines=suffix == "jsonl")
    assert frame["name"].tolist() == [row.name for row in ROWS]
    assert frame["documents"].fillna(-1).astype(int).tolist() == [-1, 2]
    assert list(tmp_path.iterdir()) == [path]


def test_the_suffix_names_the_format_unless_it_is_given(tmp_path: Path) -> None:
    here = tmp_path / "rows.JSON"
    assert choose_target(None, here) == Target("json", here)
    assert choose_target("csv", here) == Target("csv", here)
    assert choose_target(None, None) == Target("table")
    assert choose_target("jsonl", None) == choose_target("jsonl", Path("-")) == Target("jsonl")
    assert choose_target(None, Path("-")) == Target("table")


@pytest.mark.parametrize(("format_name", "name"), [(None, "x.docx"), ("table", "x.csv")])
def test_a_file_without_a_format_is_refused(
    tmp_path: Path, format_name: str | None, name: str
) -> None:
    with pytest.raises(InputError, match=r"no file format named; expected \.csv, \.jsonl, "):
        choose_target(format_name, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("rows.tsv", "tsv"), ("rows.md", "markdown"), ("ROWS.MD", "markdown"), ("rows.tex", "latex")],
)
def test_a_suffix_names_formats_of_another_name_too(
    tmp_path: Path, name: str, expected: str
) -> None:
    assert choose_target(None, tmp_path / name) == Target(expected, tmp_path / name)


def test_a_spreadsheet_leads_to_csv(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.xlsx is not written; spreadsheets open CSV: "):
        choose_target(None, tmp_path / "x.xlsx")
    with pytest.raises(InputError, match=r"x\.csv$"):
        choose_target(None, tmp_path / "x.xlsx")


def test_tabs_separate_what_commas_separate() -> None:
    rows = [
        Row("a\tb", 1, None, 0.5),
        Row('say "x", y', 2, 3, None),
        Row("two\nlines", 0, 0, 1e-9),
        Row("\t=1+1", 0, 0, 0.0),
    ]
    text = to_text(rows, Row, "tsv")
    read_rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True))
    plain_text = to_text(rows, Row, "csv")
    assert read_rows == list(csv.reader(io.StringIO(plain_text, newline=""), strict=True))
    assert [row[0] for row in read_rows[1:]] == [row.name for row in rows]
    safe_text = to_text(rows, Row, "tsv", is_csv_safe=True)
    safe_rows = list(csv.reader(io.StringIO(safe_text, newline=""), delimiter="\t", strict=True))
    assert safe_rows[-1][0] == "'\t=1+1"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("name", "abcd"),
        ("-name", "dcba"),
        ("count", "abcd"),
        ("-count", "dbca"),
        ("documents", "bcda"),
        ("-documents", "dbca"),
        ("rate", "bacd"),
    ],
)
def test_rows_are_sorted_with_nulls_last_and_equal_ones_in_their_order(
    column: str, expected: str
) -> None:
    rows = [Row("b", 2, 2, None), Row("a", 0, None, None), Row("c", 2, 2, None)]
    rows.append(Row("d", 10, 10, None))
    assert "".join(row.name for row in order_rows(rows, column)) == expected

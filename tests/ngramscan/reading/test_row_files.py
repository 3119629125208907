"""Files of rows: told by their content, whatever their names say."""

import gzip
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reading.row_files import (
    as_tables,
    csv_rows,
    is_json_list,
    read_rows,
    read_table,
    separator_of,
)
from tests.support.command import invoke
from tests.support.corpus_files import PACK
from tests.support.outputs import write_lines

ROWS = [{"item": f"é{n}", "judge": judge, "label": "yes"} for n in range(3) for judge in "ab"]


def rows_as(form: str, folder: Path) -> bytes:
    """Return the same rows in a form."""
    frame = pd.DataFrame(ROWS)
    if form == "Parquet":
        frame.to_parquet(folder / "rows")
        return (folder / "rows").read_bytes()
    texts = {
        "CSV": frame.to_csv(index=False),
        "JSON lines": "".join(json.dumps(row) + "\n" for row in ROWS),
        "a JSON list": json.dumps(ROWS, indent=1),
    }
    return texts[form].encode()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("t.csv", "CSV"),
        ("t.jsonl", "JSON lines"),
        ("t.json", "a JSON list"),
        ("t.jsonl", "a JSON list"),
        ("t.parquet", "Parquet"),
    ],
)
def test_rows_are_read_from_every_form(tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / name).write_bytes(rows_as(form, tmp_path))
    assert [row for _, row in read_table(tmp_path / name)] == ROWS


@pytest.mark.parametrize(
    ("name", "form", "problem"),
    [
        pytest.param(
            "t.csv",
            "Parquet",
            "its content is Parquet; rename it to .parquet",
            id="Parquet called CSV",
        ),
        pytest.param(
            "t.csv",
            "JSON lines",
            "its content is JSON lines; rename it to .jsonl",
            id="JSON lines called CSV",
        ),
        pytest.param(
            "t.json",
            "JSON lines",
            "expected a JSON list of rows; name JSON lines .jsonl",
            id="JSON lines called JSON",
        ),
        pytest.param(
            "t.parquet", "CSV", "not a Parquet file, or truncated", id="CSV called Parquet"
        ),
    ],
)
def test_another_form_than_the_name_says_is_told(
    tmp_path: Path, name: str, form: str, problem: str
) -> None:
    (tmp_path / name).write_bytes(rows_as(form, tmp_path))
    with pytest.raises(InputError) as error:
        list(read_table(tmp_path / name))
    assert str(error.value).startswith(f"{tmp_path / name}: {problem}")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        pytest.param(
            "t.csv",
            b"<!DOCTYPE html><html>",
            "its content is an HTML page; expected a table (.csv,",
            id="a page",
        ),
        pytest.param(
            "t.csv",
            b"PK\x03\x04...",
            "its content is a zip archive or a spreadsheet; expected a table (.csv, ",
            id="a spreadsheet",
        ),
        pytest.param(
            "t.jsonl", b" \n", "it is empty; run the command that writes it again", id="nothing"
        ),
        pytest.param("t.csv.gz", b"item,judge", "can't be read", id="not compressed"),
        pytest.param(
            "t.csv.gz", gzip.compress(b"item\n1\n")[:-9], "the file is truncated", id="truncated"
        ),
        pytest.param(
            "t.log", b"x", "expected a table (.csv, .jsonl or .parquet)", id="another suffix"
        ),
        pytest.param(
            "t.eval",
            b"x",
            "expected a table (.csv, .jsonl or .parquet); `evalcore logs ",
            id="a log",
        ),
    ],
)
def test_what_is_no_table_is_told_by_its_content(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        list(read_table(tmp_path / name))
    assert str(error.value).startswith(f"{tmp_path / name}: {problem}")


def test_a_name_that_is_not_there_has_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(rows_as("JSON lines", tmp_path))
    with pytest.raises(InputError, match=r"no such file or folder; did you mean .*/t\.jsonl\?"):
        list(read_table(tmp_path / "tt.jsonl"))


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r": a folder; expected a table \(\.csv, .*"):
        list(read_table(tmp_path))


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize(
    ("suffix", "form"),
    [(".csv", "CSV"), (".jsonl", "JSON lines"), (".json", "a JSON list"), (".parquet", "Parquet")],
)
def test_rows_come_from_files_and_pipes_packed_or_not(
    tmp_path: Path, suffix: str, form: str, packing: str
) -> None:
    path, fifo = tmp_path / f"t{suffix}{packing}", tmp_path / f"fifo{suffix}"
    path.write_bytes(PACK[packing](rows_as(form, tmp_path)))
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(path.read_bytes(),), daemon=True)
    writer.start()
    assert [row for _, row in read_table(fifo)] == ROWS
    writer.join(60)
    assert [row for _, row in read_table(path)] == ROWS
    from_file = invoke("agreement", path)
    assert from_file.code == 0
    assert invoke("agreement", "-", content=path.read_bytes()) == from_file


def test_scores_come_through_pipes(tmp_path: Path) -> None:
    values = {"a": [1, 0, 0, 1, 0, 0, 1], "b": [1] * 7}
    rows = [
        {"dataset": "d", "model": "m", "rule": "r", "epoch": None}
        | {"method": method, "id": str(number), "value": value}
        for method, own in values.items()
        for number, value in enumerate(own)
    ]
    write_lines(tmp_path / "s.jsonl", *rows)
    options = ("--baseline", "a", "--format", "csv")
    expected = invoke("compare", tmp_path / "s.jsonl", *options)
    assert expected.code == 0
    content = gzip.compress((tmp_path / "s.jsonl").read_bytes())
    assert invoke("compare", "-", *options, content=content) == expected


def test_records_come_through_pipes(tmp_path: Path) -> None:
    question = b'{"id": 1, "question": "q", "answer": "5"}'
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(question))
    record = b'{"id": "1", "dataset": "q", "model": "m", "method": "cot", "output": "5"}\n'
    options = ("--data", tmp_path / "q.jsonl.gz", "--rule", "numbers", "--format", "csv")
    done = invoke("score", "-", *options, content=record)
    assert (done.code, [row["value"] for row in done.rows]) == (0, ["1.0"])
    truncated = invoke("score", "-", *options, content=record + record[:20])
    assert "standard input:2: the last line was not written to its end" in truncated.stderr


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        pytest.param("t.csv", b"a,b\n1,2\n\n3,4\n", [":2", ":4"], id="CSV"),
        pytest.param("t.csv", b'a,b\n"x\ny",2\n3,4\n', [":3", ":4"], id="a cell of two lines"),
        pytest.param("t.jsonl", b'\xef\xbb\xbf{"a": 1}\n \n{"a": 2}', [":1", ":3"], id="lines"),
        pytest.param("t.json", b'[{"a": 1},\n\n{"a": 2}]', ["[1]", "[2]"], id="a list"),
    ],
)
def test_each_row_has_its_place(
    tmp_path: Path, name: str, content: bytes, places: list[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    found = [place for place, _ in read_table(tmp_path / name)]
    assert found == [f"{tmp_path / name}{place}" for place in places]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        pytest.param("t.csv", b"a,b\n1\n", ":2: more or fewer cells than columns", id="fewer"),
        pytest.param("t.csv", b"a\n1,2\n", ":2: more or fewer cells than columns", id="more"),
        pytest.param("t.csv", b"a,a\n1,2\n", ": two columns have one name: a, a", id="one name"),
        pytest.param("t.csv", b'a\nb\n"x"y\n', ":3: not valid CSV: ", id="wrong quotes"),
        pytest.param("t.csv", b"a\nb\n\xff\n", ":3: not UTF-8; save the table as", id="Latin-1"),
        pytest.param("t.csv", b"a,b\n", ": no rows", id="a header alone"),
        pytest.param("t.jsonl", b'{"a": 1}\n3\n', ":2: not a JSON object", id="a number"),
        pytest.param("t.jsonl", b'{"a": 1}\n{"a"\n', ":2: not valid JSON: ", id="a broken line"),
        pytest.param("t.json", b"[]", ": no rows", id="an empty list"),
        pytest.param("t.json", b'{"a": 1}', ": expected a JSON list of rows", id="an object"),
        pytest.param(
            "t.json", b'[{"a": 1}, {"a": "\\ud83d"}]', "[2]: a has a lone surrogate", id="a half"
        ),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        list(read_table(tmp_path / name))
    assert str(error.value).startswith(f"{tmp_path / name}{problem}")


def test_absent_cells_stand_for_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1\n")
    found = [*csv_rows(tmp_path / "t.csv", absent="none")]
    assert found == [(f"{tmp_path}/t.csv:2", {"a": "1", "b": "none"})]


@pytest.mark.parametrize(
    ("header", "separator"),
    [("a,b;c", ","), ("a;b\tc", ";"), ("a\tb", "\t"), ("a", ",")],
    ids=["comma", "semicolon", "tab", "one column"],
)
def test_the_separator_is_that_of_the_header(header: str, separator: str) -> None:
    assert separator_of(header) == separator


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[{", True),
        (b"\xef\xbb\xbf \n[\n {", True),
        (b"[]", True),
        (b"[1]", False),
        (b'{"a": 1}', False),
        (b"", False),
    ],
    ids=["a list", "mark and spaces", "empty", "of numbers", "lines", "nothing"],
)
def test_a_list_of_objects_is_known_by_its_beginning(content: bytes, expected: bool) -> None:
    assert is_json_list(content) is expected


def test_frames_are_read_with_their_index_and_missing_values() -> None:
    frame = pd.DataFrame({"a": [1, None], "b": ["x", None]}, index=pd.Index([3, 4], name="id"))
    frame.attrs["left_out"] = ["c", "a"]
    assert [*read_table(frame)] == [
        ("data frame, row 1", {"id": 3, "a": 1.0, "b": "x", "c": ""}),
        ("data frame, row 2", {"id": 4, "a": None, "b": None, "c": ""}),
    ]
    named = pd.DataFrame({"a": [1]}, index=["x"])
    assert [row for _, row in read_table(named)] == [{"": "x", "a": 1}]
    plain = pd.DataFrame({"a": [1]}, index=[7])
    assert [row for _, row in read_table(plain)] == [{"a": 1}]


def test_one_table_or_several_are_a_list() -> None:
    frame = pd.DataFrame({"a": [1]})
    assert as_tables("t.csv") == ["t.csv"]
    assert as_tables(["t.csv", Path("u.csv")]) == ["t.csv", Path("u.csv")]
    (only,) = as_tables(frame)
    assert only is frame


@dataclass
class Judged:
    """A row with an id, a value, and what may be missing."""

    id: str
    value: float | None
    right: bool
    note: str = "none"
    epoch: int | None = None


def test_cells_of_csv_become_the_types_of_a_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "id,value,right,note,epoch,more\n 1 , 0.5 , true , a ,,x\n2,,0,,3,\n"
    )
    assert read_rows(tmp_path / "t.csv", Judged, "judged rows") == [
        Judged(" 1 ", 0.5, True, " a ", None),
        Judged("2", None, False, "", 3),
    ]


def test_an_id_that_is_a_number_is_text(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl", {"id": 7, "value": 1, "right": True})
    assert read_rows(tmp_path / "t.jsonl", Judged, "rows") == [Judged("7", 1.0, True)]


def test_columns_that_are_not_there_stand_for_what_is_asked(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl", {"id": "7", "value": None}, {"id": "8", "value": 2})
    absent = {"value": 1.0, "right": True}
    assert read_rows(tmp_path / "t.jsonl", Judged, "rows", absent) == [
        Judged("7", 1.0, True),
        Judged("8", 2.0, True),
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        pytest.param(
            {"id": "1", "right": True, "score": 1},
            "no column value; rename `score` to `value` if that is meant",
            id="the name of others",
        ),
        pytest.param(
            {"id": "1", "rigth": True, "value": 1},
            "no column right; rename `rigth` to `right` if that is meant",
            id="a name like it",
        ),
        pytest.param({"id": "1"}, "no columns value, right; it should have judged rows", id="two"),
        pytest.param(
            {"id": "1", "value": "x", "right": True}, "value: Expected ", id="another type"
        ),
    ],
)
def test_rows_without_a_column_are_refused(
    tmp_path: Path, row: dict[str, Any], problem: str
) -> None:
    write_lines(tmp_path / "t.jsonl", row)
    with pytest.raises(InputError) as error:
        read_rows(tmp_path / "t.jsonl", Judged, "judged rows")
    assert str(error.value).startswith(f"{tmp_path}/t.jsonl:1: {problem}")


def test_each_row_of_parquet_has_its_number(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}).to_parquet(file)
    assert [*read_table(file)] == [(f"{file}[1]", {"a": 1}), (f"{file}[2]", {"a": 2})]

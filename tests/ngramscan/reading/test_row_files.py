"""Files of rows: told by their content, whatever their names say."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reading.row_files import read_table

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
        ("t.csv", "Parquet", "its content is Parquet; rename it to .parquet"),
        ("t.csv", "JSON lines", "its content is JSON lines; rename it to .jsonl"),
        ("t.json", "JSON lines", "expected a JSON list of rows; name JSON lines .jsonl"),
        ("t.parquet", "CSV", "not a Parquet file, or truncated"),
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

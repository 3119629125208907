"""Files of rows: told by their content, whatever their names say."""

import gzip
import json
import os
import threading
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reading.row_files import read_table
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

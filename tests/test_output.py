from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from ngramscan.errors import InputError
from ngramscan.report import Target, choose_target, to_frame, to_text, write_rows, write_whole
from ngramscan.report.options import Group, keeps_nothing


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


def test_a_frame_keeps_integers_beside_missing_values() -> None:
    frame = to_frame(ROWS, Row)
    assert [str(dtype) for dtype in frame.dtypes] == ["string", "Int64", "Int64", "Float64"]
    assert frame["documents"].isna().tolist() == [True, False]
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


def test_the_suffix_names_the_format_unless_it_is_given() -> None:
    here = Path("rows.JSON").resolve()
    assert choose_target(None, here) == Target("json", here)
    assert choose_target("csv", here) == Target("csv", here)
    assert choose_target(None, None) == Target("table")
    assert choose_target("jsonl", None) == Target("jsonl")


def test_places_that_can_not_be_written_are_refused_before_the_work(tmp_path: Path) -> None:
    for path, problem in [
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "x.csv", "there is no folder"),
        (Path("/proc/x.csv"), r"can't be written \(no such file"),
        (tmp_path / "x.docx", "no file format named"),
    ]:
        with pytest.raises(InputError, match=problem):
            choose_target(None, path)
    with pytest.raises(InputError, match="no file format named"):
        choose_target("table", tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"can't be written \(no space left on device\)"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    beside = tmp_path / "beside"
    beside.write_text("")
    write_whole(path, lambda temporary: temporary.write_text("new"))
    assert path.stat().st_mode == beside.stat().st_mode
    path.chmod(0o600)
    write_whole(path, lambda temporary: temporary.write_text("newer"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "newer"


def test_a_command_that_keeps_nothing_says_so_where_it_is_interrupted() -> None:
    @click.command("stop")
    @keeps_nothing
    def stop() -> None:
        raise KeyboardInterrupt

    done = CliRunner().invoke(Group(commands=[stop]), ["stop"])
    assert (done.exit_code, done.stdout, done.stderr) == (
        130,
        "",
        "Interrupted; nothing was kept.\n",
    )

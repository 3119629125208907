"""Files of CSV: every reader gets the cells that were written, whatever characters they have."""

import csv
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.reading.row_files import read_table
from ngramscan.reporting.rows import Target, to_text, write_rows
from tests.support.command import invoke

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)]
CELLS = [
    *(text for one in CONTROLS for text in (one, f"a{one}b", f"{one}b", f"a{one}")),
    *(
        "b\r=1+1",
        "b\n=1+1",
        "a\r\nb",
        '"',
        'a"b',
        "a,b",
        "'a'",
        " a ",
        "a;b",
        "a|b\tc",
        "\\",
        '\\"',
    ),
    *("#a", "\ufeffa", "NULL", "nan", "None", "é", "数", "=1+1"),
]


@dataclass(frozen=True)
class Written:
    """A row with a text before and after the one that is looked at."""

    number: int
    text: str
    last: str


@dataclass(frozen=True)
class OneText:
    """A row of one column."""

    text: str | None


def by_text_file(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file, strict=True)]


def by_pandas(path: Path) -> list[str]:
    return list(pd.read_csv(path, dtype=str, keep_default_na=False)["text"])


def by_duckdb(path: Path) -> list[str]:
    asked = f"select text from read_csv('{path}', all_varchar=true)"
    made = subprocess.run(["duckdb", "-json", "-c", asked], capture_output=True, check=True)
    return [row["text"] for row in json.loads(made.stdout)]


def by_ourselves(path: Path) -> list[str]:
    return [row["text"] for _, row in read_table(path)]


@pytest.mark.parametrize("is_alone", [False, True], ids=["among-columns", "the-only-column"])
@pytest.mark.parametrize("read", [by_text_file, by_pandas, by_duckdb, by_ourselves])
def test_each_reader_gets_the_cells_that_were_written(
    tmp_path: Path, read: Callable[[Path], list[str]], is_alone: bool
) -> None:
    path = tmp_path / "rows.csv"
    if is_alone:
        write_rows([OneText(cell) for cell in CELLS], OneText, Target("csv", path))
    else:
        rows = [Written(number, cell, "end") for number, cell in enumerate(CELLS)]
        write_rows(rows, Written, Target("csv", path))
    assert read(path) == CELLS


@pytest.mark.parametrize("text", ["'a'", "#a", "a;b", "a|b", "it's", "';'", "'=1+1'"])
def test_a_reader_that_guesses_finds_no_other_marks(tmp_path: Path, text: str) -> None:
    """Alone in a file, a text must not look like one between other quotes or separators."""
    path = tmp_path / "rows.csv"
    write_rows([Written(number, text, "end") for number in range(3)], Written, Target("csv", path))
    assert by_duckdb(path) == [text] * 3


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_a_safe_text_begins_no_formula_where_cells_end_at_other_marks(separator: str) -> None:
    texts = [f"a{separator}{blank}{sign}" for blank in BEFORE for sign in RUN]
    rows = [Written(number, text, "end") for number, text in enumerate(texts)]
    file = to_text(rows, Written, "csv", is_csv_safe=True)
    cells = [row[1] for row in csv.reader(file.splitlines()[1:]) if len(row) > 1]
    assert f"{separator}=" not in file
    assert f"{separator}'=1+1" in cells[0]


@pytest.mark.parametrize("value", [None, ""], ids=["null", "an-empty-text"])
def test_a_row_of_nothing_is_a_row(value: str | None) -> None:
    assert to_text([OneText(value), OneText("a")], OneText, "csv") == 'text\n""\na\n'


WIDE = ("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20A")
SMALL = ("\ufe661+1", "\ufe621", "\ufe631", "\ufe6bA")
RUN = ("=1+1", "+1", "-1 step", "@SUM(A1)", *WIDE, *SMALL)
BEFORE = (
    "",
    " ",
    "\t",
    "\r",
    "\n",
    "\r\n",
    "\0",
    "\v",
    "\u200b",
    "\u200f",
    "\u2060",
    "\ufeff",
    "\xa0",
)
SAFE = ("plain", "a=1", "1-2", "b\r=1+1", "b\n=1+1", "a\u2028=1", "'=1", "", "é=1", '"=1"')


@pytest.mark.parametrize("read", [by_text_file, by_pandas, by_duckdb, by_ourselves])
def test_safe_rows_begin_no_cell_of_any_reader_as_a_formula(
    tmp_path: Path, read: Callable[[Path], list[str]]
) -> None:
    """A safe text within a row begins no row either: it is quoted."""
    path, formulas = tmp_path / "rows.csv", [start + text for start in BEFORE for text in RUN]
    rows = [Written(number, text, "end") for number, text in enumerate((*formulas, *SAFE[:6]))]
    write_rows(rows, Written, Target("csv", path, is_csv_safe=True))
    assert read(path) == [*(f"'{text}" for text in formulas), *SAFE[:6]]


@pytest.mark.parametrize("text", SAFE)
def test_a_text_that_no_spreadsheet_runs_stays_as_it_is(text: str) -> None:
    rows = [Written(1, text, "end")]
    assert to_text(rows, Written, "csv", is_csv_safe=True) == to_text(rows, Written, "csv")


@pytest.mark.parametrize("safe", [(), ("--csv-safe",)], ids=["as it is", "safe"])
def test_a_carriage_return_in_a_pattern_comes_through_count_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, safe: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text('{"text": "plain"}\n')
    patterns = '  - {text: "b\\r=1+1", method: CoT, tier: T1, kind: code}\n'
    Path("mine.yaml").write_text(f"name: mine\npatterns:\n{patterns}")
    asked = ("count", "mine.yaml", "--index", "scan:corpus.jsonl", "--workers", "1")
    counted = invoke(*asked, *safe, "-o", "counts.csv")
    assert counted.code == 0, counted.stderr
    assert list(pd.read_csv("counts.csv")["query"]) == ["b\r=1+1"]
    made = invoke("report", "counts.csv", "-o", "report.html")
    assert made.code == 0, made.stderr

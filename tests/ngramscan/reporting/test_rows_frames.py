"""Data frames: no column without a value, and what the terminal says above a table."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
import ngramscan
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.reporting import choose_target, to_frame, write_rows
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.rows import without_empty_columns
from tests.support.outputs import write_lines

TEXTS = ("step by step", "let us do it step by step", "def f(): pass", "Let us")
SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: code}
"""


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return f"scan:{write_lines(tmp_path / 'c.jsonl', *({'text': text} for text in TEXTS))}"


def empty_columns(frame: pd.DataFrame) -> list[str]:
    names = map(str, frame.columns)
    return [name for name in names if (frame[name].isna() | (frame[name] == "")).all()]


@pytest.mark.parametrize("command", [ngramscan.count, ngramscan.docnorm], ids=["count", "docnorm"])
def test_no_column_of_a_frame_is_empty_throughout(command: Any, corpus: str) -> None:
    frame = command("step by step", "let us", index=corpus)
    assert empty_columns(frame) == []
    row_type = CountRow if command is ngramscan.count else DocnormRow
    columns = [field.name for field in fields(row_type)]
    assert [name for name in columns if name not in frame] == frame.attrs["left_out"]
    assert {"method", "tier", "note"} <= {*frame.attrs["left_out"]}
    whole = frame.reindex(columns=columns)
    assert list(whole["occurrences"]) == list(frame["occurrences"])


def test_a_file_keeps_the_columns_that_a_frame_leaves_out(tmp_path: Path) -> None:
    rows = [CountRow("x", "bytes", None, None, None, "a b", "a b", 1, None, "scan", "2026")]
    written = tmp_path / "rows.parquet"
    write_rows(rows, CountRow, choose_target(None, written))
    assert [*pd.read_parquet(written)] == [field.name for field in fields(CountRow)]


def test_a_frame_without_rows_keeps_all_columns() -> None:
    frame = without_empty_columns(to_frame([], CountRow), CountRow, frozenset())
    assert [*frame] == [field.name for field in fields(CountRow)]
    assert frame.attrs["left_out"] == []


def test_what_a_row_always_has_is_never_left_out() -> None:
    row = CountRow("", "bytes", "CoT", None, None, "", "", 0, None, "", "")
    frame = without_empty_columns(to_frame([row], CountRow), CountRow, {"index", "pattern"})
    assert {"index", "pattern", "method", "occurrences", "estimated"} <= {*frame}
    assert "tier" not in frame


@pytest.mark.parametrize("command", [ngramscan.count, ngramscan.docnorm], ids=["count", "docnorm"])
def test_a_frame_is_recognised_without_its_empty_columns(
    command: Any, corpus: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    frame = command("step by step", "let us", index=corpus)
    kind = kind_of(map(str, frame.columns))
    assert kind
    assert kind.name == command.__name__
    file = tmp_path / "rows.csv"
    frame.to_csv(file, index=False)
    some = frame.copy().query("occurrences > 0")
    for name, table in (("frame", frame), ("some rows", some), ("file", file)):
        with subtests.test(name):
            page = ngramscan.report(table).html
            assert kind.title in page
            assert "step by step" in page


def test_the_frame_of_one_command_is_taken_by_the_next(corpus: str, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SET)
    counts = ngramscan.count(tmp_path / "small.yaml", index=corpus)
    names: dict[str, Any] = {"dataset": "d", "model": "m", "rule": "r", "epoch": None}
    rows = [
        {**names, "method": method, "id": str(n), "value": float(n % every == 0), "status": ""}
        for method, every in (("cot", 3), ("pot", 2))
        for n in range(12)
    ]
    scores = pd.DataFrame(rows)
    compared = evalcore.compare(scores, baseline="cot")
    assert compared.attrs["left_out"]
    linked = evalcore.link(counts, compared, rename=["cot=CoT", "pot=PoT"], tier="T1")
    assert list(linked["treatment"]) == ["pot"]
    page = ngramscan.report(counts, compared, linked).html
    titles = ("Counts", "Differences of methods", "Prevalence and accuracy")
    assert [title for title in titles if title not in page] == []


def test_a_frame_has_the_sizes_of_its_indexes_and_what_it_says_in_words(corpus: str) -> None:
    frame = ngramscan.count("step by step", index=corpus)
    size = sum(len(text) for text in TEXTS)
    assert frame.attrs["sizes"] == {corpus: f"{size} B of text, 4 documents"}
    assert any("step by step" in sentence for sentence in frame.attrs["summary"])
    nothing = ngramscan.patterns_list()
    assert (nothing.attrs["sizes"], nothing.attrs["summary"]) == ({}, [])


def test_a_frame_of_tests_adjusted_otherwise_lacks_the_usual_column(tmp_path: Path) -> None:
    scores = [
        {
            "dataset": "d",
            "model": "m",
            "method": method,
            "id": str(n),
            "rule": "strict",
            "value": float(n % share == 0),
            "status": "scored",
        }
        for n in range(40)
        for method, share in (("cot", 4), ("f-1", 2), ("pot", 3))
    ]
    path = write_lines(tmp_path / "scores.jsonl", *scores)
    frame = evalcore.compare(path, baseline="cot", adjust="bh")
    assert "p_holm" in frame.attrs["left_out"]
    assert "p_holm" not in frame
    assert frame["p_bh"].notna().all()
    html = ngramscan.report(frame).html
    assert "adjusted p" in html
    # What lacks an adjusted p-value would be said so.
    assert "not adjusted for the number of tests, so nothing is claimed" not in html

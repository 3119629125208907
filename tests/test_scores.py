from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from evalcore.logs import UsageRow
from evalcore.scores import ScoreRow, outputs_valued, read_scores
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows
from ngramscan.output.row_files import read_rows

ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")
ROWS = [
    ROW,
    replace(ROW, id="2", value=0.0, answer=None, extraction=None, reason="no answer, found"),
    replace(ROW, id="3", value=None, status="unknown", reason="needs a judge", sandbox="limits ok"),
    replace(ROW, id="3", epoch=2, value=0.25, answer="a\nb", run="2026-01-02T03-04-05_E1"),
    replace(ROW, id="4", value=None, status="no_answer", reason="refused"),
    replace(ROW, id="5", value=0.0, status="not_found", answer=None),
]
GOOD = {"dataset": "d", "model": "m", "method": "a", "id": "1", "rule": "r", "value": 1}
ALL_SUFFIXES = pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])


def write_table(path: Path, rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> Path:
    """Write rows as anyone would, whatever their columns are."""
    frame = pd.DataFrame(rows)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return path


@ALL_SUFFIXES
def test_rows_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows(ROWS, ScoreRow, choose_target(None, path))
    assert read_scores(path) == ROWS


def test_wrong_outputs_are_those_that_every_rule_finds_wrong(tmp_path: Path) -> None:
    rows = [
        ROW,
        replace(ROW, rule="lenient"),
        replace(ROW, id="2", value=0.0),
        replace(ROW, id="2", rule="lenient"),
        replace(ROW, id="3", value=0.0),
        replace(ROW, id="3", rule="lenient", value=None, status="unknown"),
        replace(ROW, id="4", value=None, status="unknown"),
    ]
    write_rows(rows, ScoreRow, choose_target(None, tmp_path / "scores.jsonl"))
    assert outputs_valued(tmp_path / "scores.jsonl", 0.0) == {("d", "m", "cot", "3", None)}
    assert outputs_valued(tmp_path / "scores.jsonl", None) == {("d", "m", "cot", "4", None)}


@ALL_SUFFIXES
def test_rows_of_others_need_no_status_and_no_value_is_nothing_known(
    tmp_path: Path, suffix: str
) -> None:
    rows = [GOOD, GOOD | {"id": "2", "value": None}, GOOD | {"id": "3", "value": 0.0}]
    rows = [row | {"id": int(str(row["id"])), "judge": "j"} for row in rows]
    found = read_scores(write_table(tmp_path / f"s{suffix}", rows))
    assert [row.status for row in found] == ["scored", "unknown", "scored"]
    assert found[0] == ScoreRow("d", "m", "a", "1", None, "r", 1.0, None, None, "")
    rows = [GOOD | {"value": None, "status": "no_answer"}, GOOD | {"id": "2", "status": None}]
    found = read_scores(write_table(tmp_path / f"t{suffix}", rows))
    assert [row.status for row in found] == ["no_answer", "scored"]


VALUE = json.dumps(GOOD | {"status": "unknown"})
NO_VALUE = json.dumps(GOOD | {"value": None, "status": "scored"})
HEADER = "dataset,model,method,id,rule,value"
OTHER_STATUS = r":1: status 'wrong'; one of scored, not_found, no_answer, unknown was"
MALFORMED = {
    "another suffix": ("s.txt", "", "one of .csv, .jsonl"),
    "no columns": ("s.jsonl", "{}\n", r":1: no columns dataset, model"),
    "no JSON": ("s.jsonl", "\n{\n", r":2: not valid JSON"),
    "no object": ("s.jsonl", "[1]\n", r":1: not a JSON object"),
    "above 1": ("s.jsonl", "\n" + json.dumps(GOOD | {"value": 1.5}), r":2: value 1\.5; a number f"),
    "a text": ("s.jsonl", json.dumps(GOOD | {"value": "yes"}), ":1: value.*float"),
    "a list": ("s.jsonl", json.dumps(GOOD | {"model": ["m"]}), ":1: model.*array"),
    "an unknown status": ("s.jsonl", json.dumps(GOOD | {"status": "wrong"}), OTHER_STATUS),
    "a value of which nothing is known": ("s.jsonl", VALUE, r":1: status unknown, but value 1"),
    "a score without a value": ("s.jsonl", NO_VALUE, r":1: status scored, but no value"),
    "no list": ("s.json", "{}", "a JSON list of rows"),
    "other columns": ("s.csv", "a,b\n1,2\n", r":2: no columns dataset"),
    "a cut line": ("s.csv", f"{HEADER}\nd,m,a,1,r\n", r":2: more or fewer cells than columns"),
    "a column twice": ("s.csv", f"{HEADER},value\nd,m,a,1,r,1,0\n", r": two columns have one name"),
    "a word": ("s.csv", f"{HEADER}\nd,m,a,1,r,good\n", r":2: value.*float"),
    "a cell too long": ("s.csv", f"{HEADER}\n{'x' * 200_000}", r":1: not valid CSV"),
    "another encoding": ("s.csv", f"{HEADER}\nd,m,é,1,r,1\n", r":2: not UTF-8; save the table"),
    "no Parquet": ("s.parquet", "no", "no Parquet file"),
}


@pytest.mark.parametrize(("name", "content", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_rows_are_refused_with_their_place(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content, encoding="latin-1")
    place = re.escape(name) if message.startswith(":") else ""
    with pytest.raises(InputError, match=place + message):
        read_scores(tmp_path / name)


@pytest.mark.parametrize(
    ("command", "options", "suffix"),
    [
        ("compare", {"baseline": "a"}, ".csv"),
        ("outcomes", {"baselines": "a", "adaptive": "b"}, ".json"),
        ("outcomes", {"baselines": "a", "adaptive": "b"}, ".parquet"),
        ("efficiency", {"usage": "usage.csv"}, ".csv"),
        ("logs", {}, ".jsonl"),
    ],
)
def test_scores_under_another_name_are_refused_by_the_name_of_the_missing_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, options: Any, suffix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = getattr(evalcore, command)
    tokens = dict.fromkeys(("prompt_tokens", "completion_tokens", "reasoning_tokens"), 1)
    frame = pd.DataFrame([GOOD | {"method": name, "epoch": None} for name in ("a", "b")])
    frame.assign(**tokens).to_csv("usage.csv")
    for wrong, said in (("score", "rename `score` to"), ("none", "rows of `evalcore score` were")):
        renamed = frame.rename(columns={"value": wrong})
        path = write_table(tmp_path / f"{wrong}{suffix}", renamed)
        with pytest.raises(InputError, match=f"no column value; {said}"):
            run(path, **options)
        if command != "logs":
            with pytest.raises(InputError, match=f"data frame, row 1: no column value; {said}"):
                run(renamed, **options)
    assert len(run(write_table(tmp_path / f"good{suffix}", frame), **options))


@ALL_SUFFIXES
def test_a_column_that_may_be_null_must_be_there_all_the_same(tmp_path: Path, suffix: str) -> None:
    tokens = {"prompt_tokens": 1, "completion_tokens": None, "reasoning_tokens": None}
    row = {"dataset": "d", "model": "m", "method": "a", "id": "1", "epoch": None} | tokens
    (read,) = read_rows(write_table(tmp_path / f"u{suffix}", [row]), UsageRow, "tokens")
    assert (read.prompt_tokens, read.completion_tokens) == (1, None)
    row["completion_token"] = row.pop("completion_tokens")
    path = write_table(tmp_path / f"v{suffix}", [row])
    with pytest.raises(InputError, match="no column completion_tokens; rename `completion_token`"):
        read_rows(path, UsageRow, "tokens")


def test_lines_that_say_more_than_id_and_correct_are_not_read_as_if_they_did_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps({"id": "1", "method": "pot", "correct": True}) + "\n")
    with pytest.raises(InputError, match=r"no columns dataset, model, rule, value; rename `corr"):
        evalcore.logs(path, dataset="d", model="m")
    with pytest.raises(InputError, match="no such file; rows of a table were expected"):
        read_scores(tmp_path / "none.csv")

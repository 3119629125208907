from __future__ import annotations

import json
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
from ngramscan.output import choose_target, to_frame, write_rows
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
    frame, kind = pd.DataFrame(rows), path.suffix[1:].replace("jsonl", "json")
    as_rows = {"orient": "records", "lines": path.suffix == ".jsonl"}
    getattr(frame, f"to_{kind}")(path, **(as_rows if kind == "json" else {"index": False}))
    return path


@ALL_SUFFIXES
def test_rows_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    write_rows(ROWS, ScoreRow, choose_target(None, path := tmp_path / f"scores{suffix}"))
    assert read_scores(path) == ROWS


def test_wrong_outputs_are_those_that_every_rule_finds_wrong() -> None:
    given = [("1", 1, 1), ("2", 0, 1), ("3", 0, None), ("4", None, None)]
    rows = [
        replace(ROW, id=name, rule=rule, value=value, status="")
        for name, *values in given
        for rule, value in zip(("strict", "lenient"), values, strict=True)
    ]
    table = to_frame(rows, ScoreRow)
    assert outputs_valued(table, 0.0) == {("d", "m", "cot", "3", None)}
    assert outputs_valued(table, None) == {("d", "m", "cot", "4", None)}


@ALL_SUFFIXES
def test_rows_of_others_need_no_status_and_no_value_is_nothing_known(
    tmp_path: Path, suffix: str
) -> None:
    rows = [GOOD, GOOD | {"value": None}, GOOD | {"value": 0.0}]
    rows = [row | {"id": number, "judge": "j"} for number, row in enumerate(rows, 1)]
    found = read_scores(write_table(tmp_path / f"s{suffix}", rows))
    assert [row.status for row in found] == ["scored", "unknown", "scored"]
    assert found[0] == ScoreRow("d", "m", "a", "1", None, "r", 1.0)
    rows = [GOOD | {"value": None, "status": "no_answer"}, GOOD | {"id": "2", "status": None}]
    found = read_scores(write_table(tmp_path / f"t{suffix}", rows))
    assert [row.status for row in found] == ["no_answer", "scored"]


# A kind of file, its content, and what is said of it; ⏎ is a line break, and of GOOD some differ.
MALFORMED = r"""
txt: → one of .csv, .jsonl ;; jsonl: {}⏎ → :1: no columns dataset, model
jsonl: ⏎{⏎ → :2: not valid JSON ;; jsonl: [1]⏎ → :1: not a JSON object
jsonl: ⏎GOOD "value": 1.5} → :2: value 1.5; a number f ;; json: {} → a JSON list of rows
jsonl: GOOD "value": "yes"} → :1: value: Expected float ;; csv: a,b⏎1,2⏎ → :2: no columns dataset
jsonl: GOOD "model": ["m"]} → :1: model: Expected str, got array
jsonl: GOOD "status": "wrong"} → :1: status wrong, but value 1; expected scored or not_found
jsonl: GOOD "status": "unknown"} → :1: status unknown, but value 1
jsonl: GOOD "value": null, "status": "scored"} → :1: status scored, but no value
csv: HEADER⏎d,m,a,1,r⏎ → :2: more or fewer cells than columns
csv: HEADER,value⏎d,m,a,1,r,1,0⏎ → : two columns have one name
csv: HEADER⏎d,m,a,1,r,good⏎ → :2: value: Expected float ;; csv: HEADER⏎LONG → :2: not valid CSV
csv: HEADER⏎d,m,é,1,r,1⏎ → :2: not UTF-8; save the table ;; parquet: no → not a Parquet file
"""
SHORT = {"⏎": "\n", "GOOD": json.dumps(GOOD)[:-1] + ",", "HEADER": ",".join(GOOD)}
SHORT |= {"LONG": "x" * 200_000}


@pytest.mark.parametrize("case", MALFORMED.strip().replace("\n", " ;; ").split(" ;; "))
def test_malformed_rows_are_refused_with_their_place(tmp_path: Path, case: str) -> None:
    given, _, message = case.partition(" → ")
    suffix, _, content = given.partition(": ")
    for short, whole in SHORT.items():
        content = content.replace(short, whole)
    path = tmp_path / f"s.{suffix.rstrip(':')}"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError) as error:
        read_scores(path)
    assert (str(path) + message if message[0] == ":" else message) in str(error.value)


def test_scores_under_another_name_are_refused_by_the_name_of_the_missing_column(
    tmp_path: Path,
) -> None:
    for wrong, said in (("score", "rename `score` to"), ("none", "rows of `evalcore score` were")):
        renamed = pd.DataFrame([GOOD, GOOD | {"method": "b"}]).rename(columns={"value": wrong})
        with pytest.raises(InputError, match=f"no column value; {said}"):
            evalcore.logs(write_table(tmp_path / "scores.jsonl", renamed))
        with pytest.raises(InputError, match=f"data frame, row 1: no column value; {said}"):
            evalcore.compare(renamed, baseline="a")
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps({"id": "1", "method": "pot", "correct": True}) + "\n")
    with pytest.raises(InputError, match=r"no columns dataset, model, rule, value; rename `corr"):
        evalcore.logs(path, dataset="d", model="m")
    with pytest.raises(InputError, match="no such file; rows of a table were expected"):
        read_scores(tmp_path / "none.csv")


@ALL_SUFFIXES
def test_a_column_that_may_be_null_must_be_there_all_the_same(tmp_path: Path, suffix: str) -> None:
    tokens = {"prompt_tokens": 1, "completion_tokens": None, "reasoning_tokens": None}
    row = GOOD | {"epoch": None} | tokens
    (read,) = read_rows(write_table(tmp_path / f"u{suffix}", [row]), UsageRow, "tokens")
    assert (read.prompt_tokens, read.completion_tokens) == (1, None)
    row["completion_token"] = row.pop("completion_tokens")
    path = write_table(tmp_path / f"v{suffix}", [row])
    with pytest.raises(InputError, match="no column completion_tokens; rename `completion_token`"):
        read_rows(path, UsageRow, "tokens")

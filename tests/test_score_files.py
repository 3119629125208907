from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalcore.score_files import ScoreKey, read_open, read_scores, read_wrong
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows

ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")
ROWS = [
    ROW,
    replace(ROW, id="2", value=0.0, answer=None, extraction=None, reason="no answer, found"),
    replace(ROW, id="3", value=None, reason="needs a judge", sandbox="limits ok"),
    replace(ROW, id="3", epoch=2, value=0.25, answer="a\nb"),
]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_rows_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows(ROWS, ScoreRow, choose_target(None, path))
    assert read_scores(path) == ROWS


def test_wrong_outputs_are_those_that_every_rule_finds_wrong(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    rows = [
        ROW,
        replace(ROW, rule="lenient"),
        replace(ROW, id="2", value=0.0),
        replace(ROW, id="2", rule="lenient", value=1.0),
        replace(ROW, id="3", value=0.0),
        replace(ROW, id="3", rule="lenient", value=None),
        replace(ROW, id="4", value=None),
    ]
    write_rows(rows, ScoreRow, choose_target(None, path))
    assert read_wrong(path) == {ScoreKey("d", "m", "cot", "3", None)}
    assert read_open(path) == {ScoreKey("d", "m", "cot", "4", None)}


GOOD = {"dataset": "d", "model": "m", "method": "a", "id": "1", "rule": "r", "value": 1}


def test_columns_of_judges_are_left_out_and_what_may_be_missing_may(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(GOOD | {"judge": "j", "reply": "…"}) + "\n\n")
    assert read_scores(path) == [ScoreRow("d", "m", "a", "1", None, "r", 1.0, None, None, "")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("s.txt", "", "one of .csv, .jsonl", id="another suffix"),
        pytest.param("s.jsonl", "{}\n", r"s\.jsonl:1: no dataset, model", id="no columns"),
        pytest.param("s.jsonl", "{\n", r"s\.jsonl:1: no JSON", id="no JSON"),
        pytest.param("s.jsonl", "[1]\n", r"s\.jsonl:1: no JSON object", id="no object"),
        pytest.param(
            "s.jsonl",
            "\n" + json.dumps(GOOD | {"value": 1.5}),
            r"s\.jsonl:2: value 1\.5; a number from 0 to 1",
            id="a value above 1",
        ),
        pytest.param(
            "s.jsonl",
            json.dumps(GOOD | {"value": "yes"}),
            r"s\.jsonl:1: value 'yes'; a number",
            id="a value that is none",
        ),
        pytest.param("s.json", "{}", "a JSON list of rows", id="no list"),
        pytest.param("s.csv", "a,b\n1,2\n", r"s\.csv:2: no dataset", id="other columns"),
        pytest.param(
            "s.csv",
            "dataset,model,method,id,rule,value\nd,m,a,1,r,good\n",
            r"s\.csv:2: value 'good'; a number",
            id="a word for a value",
        ),
        pytest.param("s.parquet", "no", "no Parquet file", id="no Parquet"),
    ],
)
def test_malformed_rows_are_refused_with_their_place(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_scores(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; rows of a table were expected"):
        read_scores(tmp_path / "none.csv")


def test_ids_may_be_written_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(GOOD | {"id": 7}) + "\n")
    assert read_scores(path)[0].id == "7"


def test_a_value_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(GOOD | {"model": ["m"]}) + "\n")
    with pytest.raises(InputError, match=r"s\.jsonl:1: Expected `str`, got `array`"):
        read_scores(path)

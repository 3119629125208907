"""The simplest tables of results: ids, and whether the answer is right."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from evalcore.commands.logs import read_logs
from evalcore.scales import ScoreScale
from tests.support.command import invoke
from tests.support.made_logs import refused, write_json, write_json_lines

RESULTS: list[dict[str, Any]] = [
    {"id": "q1", "correct": True},
    {"id": "q2", "correct": False},
    {"id": 3, "correct": None},
]
READ = [("q1", 1.0, "scored"), ("q2", 0.0, "scored"), ("3", None, "unknown")]


def write_table(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".jsonl":
            return write_json_lines(path, rows)
        case ".json":
            return write_json(path, rows, indent=4)
        case ".csv":
            pd.DataFrame(rows).to_csv(path, index=False)
        case ".parquet":
            pd.DataFrame([row | {"id": str(row["id"])} for row in rows]).to_parquet(path)
    return path


def seen(path: Path, **options: Any) -> list[tuple[str, float | None, str]]:
    return [(row.id, row.value, row.status) for row in read_logs([path], **options).rows]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
def test_ids_and_results_are_read_in_each_format(tmp_path: Path, suffix: str) -> None:
    path = write_table(tmp_path / f"gsm8k/cot{suffix}", RESULTS)
    assert seen(path) == seen(tmp_path) == READ
    log = read_logs([path])
    assert {(row.dataset, row.model, row.method, row.rule) for row in log.rows} == {
        ("gsm8k", "", "cot", "correct")
    }
    taken = "dataset is gsm8k; rule is correct; method is cot; no model"
    assert log.notices == [f"{path}: {taken}"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_whatever_its_suffix(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "cot.jsonl"
    path.write_text(json.dumps(RESULTS, indent=indent))
    assert seen(path) == READ


@pytest.mark.parametrize(
    ("name", "value", "share"),
    [
        pytest.param("is_correct", True, 1.0, id="a truth value under another name"),
        pytest.param("score", 0.5, 0.5, id="a grade"),
        pytest.param("acc", 0, 0.0, id="an accuracy"),
        pytest.param("exact_match", "1", 1.0, id="a number as text"),
        pytest.param("correct", "yes", 1.0, id="a word"),
        pytest.param("correct", "", None, id="an empty cell"),
        pytest.param("correct", "False", 0.0, id="a truth value as CSV has it"),
        pytest.param("other", 1, None, id="no key"),
    ],
)
@pytest.mark.parametrize("id_field", ["id", "question_id", "problem_id"])
def test_other_names_and_values_mean_the_same(
    tmp_path: Path, id_field: str, name: str, value: Any, share: float | None
) -> None:
    column = "correct" if name == "other" else name
    lines = [{id_field: 6, column: 1}, {id_field: 7, name: value}]
    _, row = read_logs([write_json_lines(tmp_path / "cot.jsonl", lines)]).rows
    assert (row.id, row.rule, row.value) == ("7", "correct", share)


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = write_table(tmp_path / "cot.jsonl", RESULTS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert seen(path) == READ


def test_columns_of_names_are_used(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "method": method, "epoch": epoch, "correct": method == "pot"}
        for method in ("cot", "pot")
        for epoch in (1, 2)
    ]
    path = write_table(tmp_path / "all.csv", rows)
    log = read_logs([path])
    assert [(row.method, row.epoch, row.value) for row in log.rows] == [
        *(("cot", 1, 0.0), ("cot", 2, 0.0), ("pot", 1, 1.0), ("pot", 2, 1.0))
    ]
    stdout = invoke("compare", path, "--baseline", "cot", "--format", "csv", "-q")[1]
    assert "all,,,correct,cot,pot,2," in stdout


def test_a_common_file_name_gives_way_to_its_folder(tmp_path: Path) -> None:
    for method in ("cot", "pot"):
        write_table(tmp_path / f"gsm8k/{method}/results.jsonl", RESULTS)
    rows = read_logs([tmp_path]).rows
    assert {(row.dataset, row.method) for row in rows} == {("gsm8k", "cot"), ("gsm8k", "pot")}


def test_two_files_of_results_are_compared(tmp_path: Path) -> None:
    results = {"cot": [1, 1, 0, 0], "pot": [1, 0, 1, 1]}
    paths = [
        write_json_lines(
            tmp_path / f"{method}.jsonl",
            [{"id": n, "correct": bool(value)} for n, value in enumerate(values)],
        )
        for method, values in results.items()
    ]
    row = evalcore.compare(paths, baseline="cot").iloc[0]
    assert (row["n"], row["treatment_only"], row["baseline_only"]) == (4, 2, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param({"id": "q2", "correct": "maybe"}, ":2: correct is 'maybe'; exp", id="a word"),
        pytest.param({"id": "q2", "correct": 3}, "--max-score", id="points"),
        pytest.param({"correct": True}, ":2: no id of the problem; expected", id="no id"),
        pytest.param(
            {"id": "q1", "correct": True}, "id 'q1', correct: it is there twice", id="two"
        ),
        pytest.param(
            {"id": "q2", "correct": True, "epoch": "x"}, ":2: epoch: Expected int", id="an epoch"
        ),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    refused(message, [write_json_lines(tmp_path / "cot.jsonl", [RESULTS[0], row])])


def test_points_are_put_on_their_scale(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "cot.jsonl", [{"id": "q1", "score": 7}])
    assert seen(path, scale=ScoreScale(0, 10)) == [("q1", 0.7, "scored")]


WIDE = "id,cot,pot\nq1,1,0\nq2,0,\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("sums.csv", WIDE, id="CSV"),
        pytest.param(
            "sums.jsonl",
            '{"id": "q1", "cot": 1, "pot": 0}\n{"id": "q2", "cot": 0, "pot": null}\n',
            id="JSON lines",
        ),
        pytest.param("sums/results.csv", WIDE, id="a common name in a folder"),
    ],
)
def test_a_column_for_each_method_is_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert [(row.dataset, row.method, row.id, row.value) for row in read_logs([path]).rows] == [
        ("sums", "cot", "q1", 1.0),
        ("sums", "cot", "q2", 0.0),
        ("sums", "pot", "q1", 0.0),
        ("sums", "pot", "q2", None),
    ]


def test_files_and_their_folder_are_compared_alike(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    values = {"cot": [1, 1, 0, 0], "pot": [1, 0, 1, 1]}
    paths = [
        write_table(
            tmp_path / f"sums/{method}/results.csv",
            [{"id": n, "correct": value} for n, value in enumerate(of_method)],
        )
        for method, of_method in values.items()
    ]
    shown = ["baseline", "treatment", "n", "baseline_only", "treatment_only"]
    for logs in (paths, tmp_path / "sums", [path.parent for path in paths]):
        with subtests.test(logs=logs):
            row = evalcore.compare(logs, baseline="cot").iloc[0]
            assert [*row[shown]] == ["cot", "pot", 4, 1, 2]


def test_given_names_replace_those_of_a_table(tmp_path: Path) -> None:
    path = write_table(tmp_path / "cot.csv", RESULTS)
    given = {"dataset": "gsm8k", "model": "lab/made", "method": "pot"}
    [*rows] = read_logs([path], replaced_names=given).rows
    assert {(row.dataset, row.model, row.method) for row in rows} == {tuple(given.values())}

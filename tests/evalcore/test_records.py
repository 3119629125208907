"""Records: what is written is read whole, what is malformed is named, what is torn is dropped."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from evalcore.records import Record, in_order, open_records, read_records, record_path
from ngramscan.outputs.reading import read_outputs
from tests.support.made_benchmarks import refused, write
from tests.support.made_records import recorded

OURS, FINANCE, BENCH = "a/b/c.jsonl", "made-1.json", "lab-made-1-cot/task.json"
FIRST = '{"id": "1", "output": "4"}\n'
FULL = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))


def open_silently(path: Path) -> list[Record]:
    with open_records(path, pytest.fail) as file:
        return file.records


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    refused("can't be the name of a file", record_path, Path("out"), name, "m", "cot")


def test_what_was_written_is_read_whole(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "reasoning": "hm",
        "messages_sha256": "a" * 64,
        "prompts_sha256": "b" * 64,
        "dataset_sha256": "c" * 64,
        "finish_reason": "stop",
        "reported_model": "lab/made-1-0125",
        "asked_at": "2026-01-02T03:04:05+00:00",
        "prompt_tokens": 0,
        "completion_tokens": 1,
        "reasoning_tokens": 2,
        "attempts": 3,
        "epoch": 2,
        "latency_s": 0.25,
        "parameters": {"stop": ["\n"]},
    }
    record = recorded(id="7", output="two\nlines \u2028 é", **fields)
    path = record_path(tmp_path, "sums", "lab/made-1", "cot")
    assert path == tmp_path / "sums/lab--made-1/cot.jsonl"
    with open_records(path, pytest.fail) as file:
        file.write(record)
    assert read_records(tmp_path) == [record]
    assert path.stat().st_mode & 0o777 == 0o600
    outputs = read_outputs(tmp_path).outputs
    assert [(output.id, output.text) for output in outputs] == [("7#2", record.output)]


def named(records: list[Record]) -> list[tuple[str | None, ...]]:
    return [
        (record.dataset, record.model, record.method, record.id, record.output)
        for record in records
    ]


def test_records_are_chosen_by_folders_where_they_name_no_run(tmp_path: Path) -> None:
    for method in ("cot", "pot"):
        write(tmp_path / f"sums/made-1/{method}.jsonl", '\n{"id": 1, "output": "4"}\n')
    assert named(read_records(tmp_path, method="pot")) == [("sums", "made-1", "pot", "1", "4")]
    assert len(read_records(tmp_path, dataset="sums")) == 2
    there = "no outputs of f-1 of sums in it; it has cot of sums, pot of sums"
    refused(there, read_records, tmp_path, "evalcore", "f-1", "sums")
    refused("absent: no such file or folder", read_records, tmp_path / "absent")


def test_a_file_that_no_run_left_so_is_refused_and_untouched(tmp_path: Path) -> None:
    path = write(tmp_path / "cot.jsonl", "some notes")
    refused(r"cot\.jsonl:1: the last line was not .* its end; delete it", open_silently, path)
    assert path.read_bytes() == b"some notes"


def test_the_layout_of_financemath_is_read(tmp_path: Path) -> None:
    outputs: list[Any] = [["def solution(): ..."], [], "4"]
    write(tmp_path / FINANCE, [{"question_id": n, "output": one} for n, one in enumerate(outputs)])
    run = ("financemath", "made-1", "pot")
    assert named(read_records(tmp_path, "financemath", "pot", "financemath")) == [
        *((*run, "0", "def solution(): ..."), (*run, "1", None), (*run, "2", "4"))
    ]
    refused("not name the method; give it with --method", read_records, tmp_path, "financemath")


def test_the_layout_of_big_bench_hard_is_read_with_row_numbers_as_ids(tmp_path: Path) -> None:
    rows = [{"input": "?", "prediction": text, "target": "t"} for text in ("a b", "b a")]
    write(tmp_path / BENCH, {"outputs": rows})
    found = [named(read_records(tmp_path, "bbh", told, "words")) for told in (None, "direct")]
    assert found == [
        [("words", "lab-made-1", method, *rest) for rest in (("task-0", "a b"), ("task-1", "b a"))]
        for method in ("cot", "direct")
    ]


@pytest.mark.parametrize(
    ("layout", "name", "content", "problem"),
    [
        pytest.param(
            "evalcore", OURS, FIRST + '{"id": "2", "outp\n', ":2: not valid JSON", id="half a line"
        ),
        pytest.param(
            "evalcore", OURS, FIRST + "[1]", ":2: Expected object, got array", id="a list"
        ),
        pytest.param(
            "evalcore",
            OURS,
            FIRST + '{"id": "2"}',
            ":2: Object missing required field output",
            id="no output",
        ),
        pytest.param(
            "evalcore",
            OURS,
            '{"id": 1.5, "output": ""}',
            ":1: id: Expected str, got float",
            id="an id with a fraction",
        ),
        pytest.param(
            "evalcore", OURS, FIRST + FIRST, ":2: id '1' is also at .*:1", id="an id twice"
        ),
        pytest.param(
            "evalcore",
            OURS,
            '{"id": "1", "output": "\udcff"}\n',
            ":1: not valid JSON",
            id="a byte that is no character",
        ),
        pytest.param(
            "financemath",
            FINANCE,
            [{"question_id": 1, "output": ["x", "y"]}],
            "output: Expected array of length <= 1",
            id="two outputs",
        ),
        pytest.param(
            "bbh", BENCH, {}, "task.json: outputs: Expected array, got null", id="no outputs"
        ),
        pytest.param(
            "bbh",
            "made/task.json",
            {"outputs": []},
            "its folder must be named MODEL-METHOD",
            id="a folder without a method",
        ),
        pytest.param("bbh", "made/task.json", " \n", "task.json: it is empty", id="blanks"),
        pytest.param(
            "bbh",
            "made/task.txt",
            "",
            "contains no outputs; `evalcore run -o FOLDER`",
            id="another suffix",
        ),
    ],
)
def test_what_is_malformed_is_named(
    tmp_path: Path, layout: str, name: str, content: Any, problem: str
) -> None:
    write(tmp_path / name, content)
    chosen = {} if layout == "evalcore" else {"method": "pot", "dataset": "d"}
    refused(problem, read_records, tmp_path, layout, **chosen)


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_an_empty_file_does_not_stop_its_folder(tmp_path: Path, content: str) -> None:
    notices = list[str]()
    write(tmp_path / "sums/made/cot.jsonl", recorded(dataset="sums", model="made").line())
    empty = write(tmp_path / "sums/made/pot.jsonl", content)
    assert [record.id for record in read_records(tmp_path, on_notice=notices.append)] == ["1"]
    assert notices == [f"{empty}: it is empty, as a run without answers leaves it; skipped"]
    refused(r"pot\.jsonl: it is empty; run `evalcore run` again", read_records, empty)
    (tmp_path / "sums/made/cot.jsonl").unlink()
    refused(r"pot\.jsonl: it is empty; run `evalcore run` again", read_records, tmp_path)


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cot.jsonl"
    for _ in range(2):
        with open_records(path, pytest.fail):
            refused("another run writes it", open_silently, path)


def test_a_line_is_written_whole_however_little_the_system_takes(tmp_path: Path) -> None:
    path, record = tmp_path / "cot.jsonl", recorded(output="é" * 50)
    with open_records(path, pytest.fail) as file:
        slow = SimpleNamespace(write=lambda data: file.file.write(data[:7]))
        replace(file, file=cast("Any", slow)).write(record)
        full = replace(file, file=cast("Any", SimpleNamespace(write=FULL)))
        refused(r"cot\.jsonl: no space left on device", full.write, record)
    assert read_records(path) == [record]


def test_every_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    whole, last, path = recorded().line(), recorded(id="2").line(), tmp_path / "cot.jsonl"
    for length in range(1, len(last)):
        write(path, whole + last[:length])
        is_torn, notices = length < len(last) - 1, list[str]()
        if is_torn:
            refused(":2: the last line was not written to its end", read_records, path)
        with open_records(path, notices.append) as file:
            kept = [record.id for record in file.records]
            file.write(recorded(id="3"))
        assert [record.id for record in read_records(path)] == [*kept, "3"]
        assert kept == (["1"] if is_torn else ["1", "2"]), "it only lacks its end"
        told = [f"{path}: the last line was not written to its end; it is dropped"]
        assert notices == (told if is_torn else [])


def test_records_are_in_the_order_of_the_benchmark_and_of_their_epochs() -> None:
    problems = tuple(SimpleNamespace(id=name) for name in ("b", "a"))
    dataset = cast(Any, SimpleNamespace(name="sums", problems=problems))
    given = [("a", 2), ("b", 10), ("a", 1), ("b", 2), ("b", 1)]
    records = [recorded(id=name, epoch=epoch) for name, epoch in given]
    found = [(record.id, record.epoch) for record in in_order(records, dataset)]
    assert found == [("b", 1), ("b", 2), ("b", 10), ("a", 1), ("a", 2)]


# Lists, layouts, and what is no output


@pytest.mark.parametrize("name", ["sums/made/cot.json", "sums/made/cot.jsonl"])
@pytest.mark.parametrize("indent", [None, 4])
def test_a_json_list_of_outputs_is_read(tmp_path: Path, name: str, indent: int | None) -> None:
    outputs = [{"id": 1, "instruction": "?", "output": "4"}, {"id": "2", "output": None}]
    path = write(tmp_path / name, json.dumps(outputs, indent=indent))
    run = ("sums", "made", "cot")
    expected = [(*run, "1", "4"), (*run, "2", None)]
    assert named(read_records(path)) == named(read_records(tmp_path)) == expected


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        pytest.param({"output": "4"}, r"\[2\]: no field 'id'; add to each output", id="no id"),
        pytest.param({"id": "2"}, r"\[2\]: Object missing required field output", id="no output"),
        pytest.param(4, r"\[2\]: Expected object", id="a number"),
    ],
)
def test_a_malformed_item_of_a_list_is_named(tmp_path: Path, item: Any, problem: str) -> None:
    path = write(tmp_path / "cot.json", [{"id": "1", "output": "4"}, item])
    refused(problem, read_records, path)


def test_a_layout_is_recognised(tmp_path: Path) -> None:
    answers = [{"question_id": "validation-1", "output": ["4"]}]
    write(tmp_path / "finance/validation/raw_pot_outputs/made.json", answers)
    write(tmp_path / "finance/validation/raw_cot_outputs/made.json", answers)
    write(tmp_path / "hard" / BENCH, {"outputs": [{"prediction": "a b"}]})
    assert named(read_records(tmp_path / "finance", dataset="fm")) == [
        ("fm", "made", method, "validation-1", "4") for method in ("cot", "pot")
    ]
    assert named(read_records(tmp_path / "hard", dataset="words")) == [
        ("words", "lab-made-1", "cot", "task-0", "a b")
    ]
    refused("layouts bbh, financemath; choose one with --layout", read_records, tmp_path)
    alone = write(tmp_path / "alone/made.json", answers)
    refused("does not name the method; give it with --method", read_records, alone, dataset="fm")
    assert named(read_records(alone, method="pot", dataset="fm"))[0][2] == "pot"

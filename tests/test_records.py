"""Records: what is written is read whole, what is malformed is named, what is torn is dropped."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evalcore.records import Record, messages_sha256, open_records, read_records, record_path
from ngramscan.errors import InputError
from ngramscan.outputs import OutputFields, read_outputs
from tests.chat_server import hash_of

KNOWN: dict[str, Any] = {"dataset": "sums", "model": "lab/made-1", "method": "cot"}
ASKED = KNOWN | {"parameters": {}}
OURS = "a/b/c.jsonl"
FINANCE = "made-1.json"
BENCH = "lab-made-1-cot/task.json"


def write(file: Path, content: bytes | str | list[Any] | dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, bytes | str) else json.dumps(content)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def record_line(**fields: Any) -> bytes:
    return Record(**{"output": "4"} | ASKED | fields).line()


def ignore(notice: str) -> None:
    raise AssertionError(notice)


def test_the_hash_of_messages_is_that_of_their_canonical_json() -> None:
    messages = [{"role": "user", "content": "é"}]
    assert messages_sha256([{"content": "é", "role": "user"}]) == hash_of(messages)
    # sha256sum of the line that `printf` gives for '[{"content": "a", "role": "user"}]'.
    assert messages_sha256([{"role": "user", "content": "a"}]).startswith("ac8647777f2bc5d6")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"output": "4", "finish_reason": "stop"}, None),
        ({"output": "4"}, None),
        ({"output": " \n"}, "no output"),
        ({"output": None}, "no output"),
        ({"finish_reason": "length"}, "cut at the token limit"),
        ({"finish_reason": "max_tokens"}, "cut at the token limit"),
        ({"refusal": "I\ncan't."}, "refused: I can't."),
    ],
)
def test_what_is_no_whole_answer_can_not_be_scored(fields: Any, reason: str | None) -> None:
    assert Record(**{"id": "1", "output": "4"} | KNOWN | fields).not_scorable == reason


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="can't be the name of a file"):
        record_path(Path("out"), name, "m", "cot")


# Reading


def test_what_was_written_is_read_whole(tmp_path: Path) -> None:
    fields = json.loads(
        '{"id": "7", "epoch": 2, "output": "two\\nlines \\u2028 é", "reasoning": "hm",'
        ' "prompt_tokens": 3, "completion_tokens": 5, "reasoning_tokens": 0, "attempts": 1,'
        ' "messages_sha256": "aa", "prompts_sha256": "bb", "dataset_sha256": "cc",'
        ' "finish_reason": "stop", "latency_s": 0.25, "reported_model": "made-1-0125",'
        ' "asked_at": "2026-01-01T00:00:00+00:00", "parameters": {"stop": ["\\n"]}}'
    )
    record = Record(**KNOWN, **fields)
    path = record_path(tmp_path, "sums", "lab/made-1", "cot")
    assert path == tmp_path / "sums/lab--made-1/cot.jsonl"
    with open_records(path, ignore) as file:
        file.write(record)
    assert read_records(tmp_path) == [record]
    assert path.stat().st_mode & 0o777 == 0o600
    outputs = read_outputs(tmp_path, OutputFields()).outputs
    assert [(output.id, output.text) for output in outputs] == [("7#2", record.output)]


def test_who_wrote_is_read_off_the_folders_where_a_record_does_not_say(tmp_path: Path) -> None:
    write(tmp_path / "sums" / "made-1" / "cot.jsonl", '\n{"id": 1, "output": "4"}\n')
    (record,) = read_records(tmp_path)
    named = (record.dataset, record.model, record.method, record.id)
    assert named == ("sums", "made-1", "cot", "1")


def test_only_records_of_the_wanted_method_and_dataset_are_read(tmp_path: Path) -> None:
    for method in ("cot", "pot"):
        line = record_line(id="1", method=method)
        write(tmp_path / "sums" / "lab--made-1" / f"{method}.jsonl", line)
    assert [record.method for record in read_records(tmp_path, method="pot")] == ["pot"]
    assert len(read_records(tmp_path, dataset="sums")) == 2
    there = "no records of f-1 of sums there; there are cot of sums, pot of sums"
    with pytest.raises(InputError, match=there):
        read_records(tmp_path, method="f-1", dataset="sums")
    with pytest.raises(InputError, match="absent: no such file or folder"):
        read_records(tmp_path / "absent")


def test_the_layout_of_financemath_is_read(tmp_path: Path) -> None:
    rows = [
        {"question_id": "validation-0", "output": ["def solution(): ..."]},
        {"question_id": "validation-1", "output": []},
        {"question_id": "validation-2", "output": "4"},
    ]
    write(tmp_path / FINANCE, rows)
    first, second, third = read_records(tmp_path, "financemath", "pot", "financemath")
    named = (first.dataset, first.model, first.method, first.id, first.output)
    assert named == ("financemath", "made-1", "pot", "validation-0", "def solution(): ...")
    assert (second.not_scorable, third.output) == ("no output", "4")
    with pytest.raises(InputError, match="this layout does not name the method; --method does"):
        read_records(tmp_path, "financemath")


def test_the_layout_of_big_bench_hard_is_read_with_row_numbers_as_ids(tmp_path: Path) -> None:
    rows = [{"input": "?", "prediction": text, "target": "t"} for text in ("a b", "b a")]
    write(tmp_path / BENCH, {"outputs": rows})
    for told, method in ((None, "cot"), ("direct", "direct")):
        records = read_records(tmp_path / "lab-made-1-cot", "bbh", told, "words")
        named = [(one.dataset, one.model, one.method, one.id, one.output) for one in records]
        run = ("words", "lab-made-1", method)
        assert named == [(*run, "task-0", "a b"), (*run, "task-1", "b a")]


FIRST = '{"id": "1", "output": "4"}\n'
ROW = {"question_id": "1", "output": ["x"]}
MALFORMED: list[tuple[str, Any, str]] = [
    (OURS, FIRST + '{"id": "2", "outp\n', ":2: not valid JSON"),
    (OURS, FIRST + "[1]", ":2: Expected object, got array"),
    (OURS, FIRST + '{"output": "4"}', ":2: Object missing required field id"),
    (OURS, FIRST + '{"id": "2"}', ":2: Object missing required field output"),
    (OURS, FIRST + '{"id": "2", "output": 4}', r":2: output: Expected str \| null, got int"),
    (OURS, '{"id": 1.5, "output": ""}', ":1: id: Expected str, got float"),
    (OURS, FIRST + FIRST, ":2: id '1' is also at .*:1"),
    (OURS, b'{"id": "1", "output": "\xff"}\n', ":1: not valid JSON"),
    (FINANCE, [{"output": ["x"]}], r"\$\[0\]: Object missing required field question_id"),
    (FINANCE, [{**ROW, "output": ["x", "y"]}], r"\[0\].output: Expected array of length <= 1"),
    (FINANCE, [ROW, ROW], r"\[2\]: id '1' is also at .*\[1\]"),
    (BENCH, {}, "task.json: outputs: Expected array, got null"),
    (BENCH, {"outputs": [{}]}, r"outputs: \$\[0\]: Object missing required field prediction"),
    ("made/task.json", {"outputs": []}, "it was expected in a folder named MODEL-METHOD"),
    ("made/task.json", b" \n", "task.json: it is empty"),
    ("made/task.txt", "", "no files there whose names end in .json"),
]


@pytest.mark.parametrize(("name", "content", "problem"), MALFORMED)
def test_what_is_malformed_is_named(tmp_path: Path, name: str, content: Any, problem: str) -> None:
    layout = {OURS: "evalcore", FINANCE: "financemath"}.get(name, "bbh")
    write(tmp_path / name, content)
    with pytest.raises(InputError, match=problem):
        read_records(tmp_path, layout, *(() if layout == "evalcore" else ("pot", "d")))


def test_the_recorded_outputs_of_the_benchmarks_are_read(shared: Path) -> None:
    data = shared / "data"
    programs = data / "financemath" / "validation" / "raw_pot_outputs"
    records = read_records(programs, "financemath", "pot", "financemath")
    assert len(records) == 1200
    assert len({record.model for record in records}) == 6
    words = read_records(data / "bbh/code-davinci-002-cot", "bbh", None, "bbh-word-sorting")
    assert [record.id for record in words] == [f"word_sorting-{number}" for number in range(250)]
    assert {record.model for record in words} == {"code-davinci-002"}


# Files that are written


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cot.jsonl"
    for _ in range(2):
        expected = pytest.raises(InputError, match="another run is writing")
        with open_records(path, ignore), expected, open_records(path, ignore):
            pass


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(("owner", "name"), [(os, "open"), (fcntl, "flock")])
def test_what_the_system_refuses_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    monkeypatch.setattr(owner, name, refuse)
    expected = pytest.raises(InputError, match=r"(?i)cot\.jsonl: .*no space left")
    with expected, open_records(tmp_path / "cot.jsonl", ignore):
        pass


def test_a_line_is_written_whole_however_little_the_system_takes(tmp_path: Path) -> None:
    path, record = tmp_path / "cot.jsonl", Record(id="3", output="é" * 50, **KNOWN)
    with open_records(path, ignore) as file:
        slow = SimpleNamespace(write=lambda data: file.file.write(data[:7]))
        replace(file, file=cast("Any", slow)).write(record)
        full = replace(file, file=cast("Any", SimpleNamespace(write=refuse)))
        with pytest.raises(InputError, match=r"cot\.jsonl: no space left on device"):
            full.write(record)
    assert read_records(path) == [record]


def test_every_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    whole, last = record_line(id="1"), record_line(id="2")
    path = tmp_path / "cot.jsonl"
    for length in range(1, len(last)):
        write(path, whole + last[:length])
        is_torn, notices = length < len(last) - 1, list[str]()
        if is_torn:
            with pytest.raises(InputError, match=r":2: the last line was not written to its end"):
                read_records(path)
        with open_records(path, notices.append) as file:
            kept = [record.id for record in file.records]
            file.write(Record(id="3", output="4", **KNOWN))
        assert [record.id for record in read_records(path)] == [*kept, "3"]
        assert kept == (["1"] if is_torn else ["1", "2"]), "it only lacks its end"
        told = [f"{path}: the last line was not written to its end; it is dropped"]
        assert notices == told * is_torn


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"some notes", "the last line was not written to its end; delete it"),
        (b'{"id": "1", "outp\n{}\n', "not valid JSON"),
    ],
)
def test_a_file_that_no_run_left_so_is_refused_and_untouched(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = write(tmp_path / "cot.jsonl", content)
    with pytest.raises(InputError, match=f"cot.jsonl:1: {problem}"), open_records(path, ignore):
        pass
    assert path.read_bytes() == content

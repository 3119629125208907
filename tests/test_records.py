from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalcore.records import Record, messages_sha256, open_records, read_records, record_path
from ngramscan.errors import InputError
from ngramscan.outputs import OutputFields, read_outputs
from tests.chat_server import hash_of

KNOWN: dict[str, Any] = {
    "dataset": "sums",
    "model": "lab/made-1",
    "method": "cot",
    "parameters": {},
}


def record_line(**fields: Any) -> bytes:
    return Record(**({"output": "4"} | KNOWN | fields)).line()


def write(file: Path, content: bytes | str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def ignore(notice: str) -> None:
    raise AssertionError(notice)


# Values


def test_the_hash_of_messages_is_that_of_their_canonical_json() -> None:
    messages = [{"role": "user", "content": "é"}]
    assert messages_sha256(messages) == hash_of(messages)
    assert messages_sha256([{"content": "é", "role": "user"}]) == hash_of(messages)
    assert messages_sha256([{"role": "system", "content": "é"}]) != hash_of(messages)
    # sha256sum of the line that `printf` gives for '[{"content": "a", "role": "user"}]'.
    assert messages_sha256([{"role": "user", "content": "a"}]).startswith("ac8647777f2bc5d6")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"output": "4", "finish_reason": "stop"}, None, id="a whole answer"),
        pytest.param({"output": "4"}, None, id="an answer of which nothing else is known"),
        pytest.param({"output": ""}, "no output", id="an empty answer is none"),
        pytest.param({"output": " \n"}, "no output", id="nor is a blank one"),
        pytest.param(
            {"output": "The ans", "finish_reason": "length"}, "cut at the token limit", id="cut"
        ),
        pytest.param(
            {"output": "The", "finish_reason": "max_tokens"}, "cut at the token limit", id="cut too"
        ),
        pytest.param({"output": None}, "no output", id="no answer"),
        pytest.param({"output": None, "refusal": "I\ncan't."}, "refused: I can't.", id="a refusal"),
        pytest.param(
            {"output": "4", "refusal": "No."}, "refused: No.", id="a refusal in spite of a text"
        ),
    ],
)
def test_what_is_no_whole_answer_can_not_be_scored(
    fields: dict[str, Any], reason: str | None
) -> None:
    assert Record(**{"id": "1"} | KNOWN | fields).not_scorable == reason


def test_a_slash_in_the_name_of_a_model_is_two_dashes_in_its_folder() -> None:
    path = record_path(Path("out"), "sums", "lab/made-1", "f-1+cot")
    assert path == Path("out/sums/lab--made-1/f-1+cot.jsonl")


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no name for a file"):
        record_path(Path("out"), name, "m", "cot")


# Our layout


def test_what_was_written_is_read_whole(tmp_path: Path) -> None:
    record = Record(
        id="7",
        epoch=2,
        dataset="sums",
        model="lab/made-1",
        method="cot",
        messages_sha256="a" * 64,
        output="two\nlines \u2028 é",
        reasoning="hm",
        finish_reason="stop",
        prompt_tokens=3,
        completion_tokens=5,
        reasoning_tokens=0,
        latency_s=0.25,
        reported_model="made-1-0125",
        asked_at="2026-01-01T00:00:00+00:00",
        prompts_sha256="b" * 64,
        dataset_sha256="c" * 64,
        parameters={"temperature": 0, "stop": ["\n"]},
        attempts=1,
    )
    path = record_path(tmp_path, "sums", "lab/made-1", "cot")
    with open_records(path, ignore) as file:
        file.write(record)
    assert read_records(tmp_path) == [record]
    outputs = read_outputs(tmp_path, OutputFields()).outputs
    assert [(output.id, output.text) for output in outputs] == [("7#2", record.output)]


def test_who_wrote_is_read_off_the_folders_where_a_record_does_not_say(tmp_path: Path) -> None:
    write(tmp_path / "sums" / "made-1" / "cot.jsonl", '\n{"id": 1, "output": "4"}\n')
    (record,) = read_records(tmp_path)
    assert (record.dataset, record.model, record.method, record.id) == (
        *("sums", "made-1", "cot"),
        "1",
    )


def test_only_records_of_the_wanted_method_and_dataset_are_read(tmp_path: Path) -> None:
    for method in ("cot", "pot"):
        line = record_line(id="1", method=method)
        write(tmp_path / "sums" / "lab--made-1" / f"{method}.jsonl", line)
    assert [record.method for record in read_records(tmp_path, method="pot")] == ["pot"]
    assert len(read_records(tmp_path, dataset="sums")) == 2
    with pytest.raises(InputError, match="no records of f-1 of sums there"):
        read_records(tmp_path, method="f-1", dataset="sums")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param('{"id": "2", "outp', "not valid JSON", id="cut off"),
        pytest.param("[1]", "Expected `object`, got `array`", id="a list"),
        pytest.param('{"output": "4"}', "missing required field `id`", id="no id"),
        pytest.param('{"id": "2"}', "missing required field `output`", id="no output"),
        pytest.param('{"id": "2", "output": 4}', r"got `int` - at `\$.output`", id="a number"),
        pytest.param('{"id": 1.5, "output": ""}', r"got `float` - at `\$.id`", id="half an id"),
        pytest.param('{"id": "1", "output": "5"}', "id '1' is also at .*:1", id="an id again"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    file = write(tmp_path / "a" / "b" / "c.jsonl", f'{{"id": "1", "output": "4"}}\n{line}\n')
    with pytest.raises(InputError, match=problem) as caught:
        read_records(tmp_path)
    assert caught.value.where == f"{file}:2"


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    write(tmp_path / "c.jsonl", b'{"id": "1", "output": "\xff"}\n')
    with pytest.raises(InputError, match=r"c.jsonl:1: not valid JSON"):
        read_records(tmp_path)


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_a_place_without_records_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        read_records(tmp_path / name)


# The layouts of others


def test_the_layout_of_financemath_is_read(tmp_path: Path) -> None:
    rows = [
        {"question_id": "validation-0", "output": ["def solution(): ..."]},
        {"question_id": "validation-1", "output": []},
    ]
    write(tmp_path / "made-1.json", json.dumps(rows))
    first, second = read_records(tmp_path, "financemath", method="pot")
    named = (first.dataset, first.model, first.method, first.id, first.output)
    assert named == ("financemath", "made-1", "pot", "validation-0", "def solution(): ...")
    assert second.not_scorable == "no output"
    with pytest.raises(InputError, match="--method does"):
        read_records(tmp_path, "financemath")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param({}, "Expected `array`, got `object`", id="no list"),
        pytest.param([{"output": ["x"]}], r"field `question_id` - at `\$\[0\]`", id="no id"),
        pytest.param(
            [{"question_id": "1", "output": ["x", "y"]}],
            r"length <= 1 - at `\$\[0\].output`",
            id="two texts",
        ),
        pytest.param(
            [{"question_id": "1", "output": ["x"]}] * 2, r"id '1' is also at .*\[1\]", id="twice"
        ),
    ],
)
def test_a_malformed_file_of_financemath_is_named(
    tmp_path: Path, rows: object, problem: str
) -> None:
    write(tmp_path / "made-1.json", json.dumps(rows))
    with pytest.raises(InputError, match=problem):
        read_records(tmp_path, "financemath", method="pot")


def test_the_layout_of_big_bench_hard_is_read_with_row_numbers_as_ids(tmp_path: Path) -> None:
    rows = [{"input": "?", "prediction": text, "target": "t"} for text in ("a b", "b a")]
    write(tmp_path / "lab-made-1-cot" / "task.json", json.dumps({"outputs": rows}))
    records = read_records(tmp_path / "lab-made-1-cot", "bbh")
    assert [(record.id, record.output) for record in records] == [
        ("task-0", "a b"),
        ("task-1", "b a"),
    ]
    named = {(record.dataset, record.model, record.method) for record in records}
    assert named == {("bbh-word-sorting", "lab-made-1", "cot")}
    (again, _) = read_records(tmp_path, "bbh", method="direct", dataset="other")
    assert (again.dataset, again.method) == ("other", "direct")


@pytest.mark.parametrize(
    ("folder", "content", "problem"),
    [
        pytest.param("made-cot", {}, "missing required field `outputs`", id="no outputs"),
        pytest.param(
            "made-cot",
            {"outputs": [{}]},
            r"field `prediction` - at `\$.outputs\[0\]`",
            id="no prediction",
        ),
        pytest.param("made", {"outputs": []}, "MODEL-METHOD", id="no method"),
    ],
)
def test_a_malformed_file_of_big_bench_hard_is_named(
    tmp_path: Path, folder: str, content: object, problem: str
) -> None:
    write(tmp_path / folder / "task.json", json.dumps(content))
    with pytest.raises(InputError, match=problem):
        read_records(tmp_path / folder, "bbh")


def test_the_recorded_outputs_of_the_benchmarks_are_read(shared: Path) -> None:
    data = shared / "data"
    programs = data / "financemath" / "validation" / "raw_pot_outputs"
    records = read_records(programs, "financemath", method="pot")
    assert len(records) == 1200
    assert len({record.model for record in records}) == 6
    words = read_records(data / "bbh" / "code-davinci-002-cot", "bbh")
    assert [record.id for record in words] == [f"word_sorting-{number}" for number in range(250)]
    assert {record.model for record in words} == {"code-davinci-002"}


# Files that are written


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cot.jsonl"
    expected = pytest.raises(InputError, match="another run is writing")
    with open_records(path, ignore), expected, open_records(path, ignore):
        pass
    with open_records(path, ignore):
        pass


def test_a_folder_that_knows_no_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    path = tmp_path / "cot.jsonl"
    expected = pytest.raises(InputError, match=r"can't be locked \(No locks available\)")
    with expected, open_records(path, ignore):
        pass


def test_every_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    whole, last = record_line(id="1"), record_line(id="2")
    path = tmp_path / "cot.jsonl"
    for length in range(1, len(last) - 1):
        write(path, whole + last[:length])
        notices: list[str] = []
        with open_records(path, notices.append) as file:
            assert [record.id for record in file.records] == ["1"]
            file.write(Record(id="3", output="4", **KNOWN))
        assert notices == [f"{path}: the last line was not written to its end; it is dropped"]
        assert [record.id for record in read_records(path)] == ["1", "3"]


def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "cot.jsonl", record_line(id="1") + record_line(id="2")[:-1])
    with open_records(path, ignore) as file:
        assert [record.id for record in file.records] == ["1", "2"]
        file.write(Record(id="3", output="4", **KNOWN))
    assert [record.id for record in read_records(path)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"some notes", "the last line was not .*; delete it", id="another file"),
        pytest.param(b'{"id": "1", "outp\n{}\n', "not valid JSON", id="torn in the middle"),
    ],
)
def test_a_file_that_no_run_left_so_is_refused_and_untouched(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = write(tmp_path / "cot.jsonl", content)
    with pytest.raises(InputError, match=f"cot.jsonl:1: {problem}"), open_records(path, ignore):
        pass
    assert path.read_bytes() == content


def test_a_file_that_can_not_be_opened_is_named(tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    path = tmp_path / "file" / "cot.jsonl"
    with pytest.raises(InputError, match="can't be opened"), open_records(path, ignore):
        pass


def test_a_full_disk_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "cot.jsonl"
    with open_records(path, ignore) as file:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(InputError, match=r"can't be written \(No space left"):
            file.write(Record(id="3", output="4", **KNOWN))


def test_a_line_is_written_whole_however_little_the_system_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_some = os.write
    path = tmp_path / "cot.jsonl"
    with open_records(path, ignore) as file:
        monkeypatch.setattr(os, "write", lambda fd, data: write_some(fd, data[:7]))
        file.write(Record(id="3", output="é" * 50, **KNOWN))
    assert read_records(path)[0].output == "é" * 50

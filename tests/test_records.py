"""Records: what is written is read whole, what is malformed is named, what is torn is dropped."""

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
        pytest.param({"output": "4", "finish_reason": "stop"}, None, id="a whole answer"),
        pytest.param({"output": "4"}, None, id="nothing else is known"),
        pytest.param({"output": " \n"}, "no output", id="a blank answer is none"),
        pytest.param({"finish_reason": "length"}, "cut at the token limit", id="cut"),
        pytest.param({"finish_reason": "max_tokens"}, "cut at the token limit", id="cut too"),
        pytest.param({"output": None}, "no output", id="no answer"),
        pytest.param({"refusal": "I\ncan't."}, "refused: I can't.", id="refused with a text"),
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


def test_the_layout_of_financemath_is_read(tmp_path: Path) -> None:
    rows = [
        {"question_id": "validation-0", "output": ["def solution(): ..."]},
        {"question_id": "validation-1", "output": []},
        {"question_id": "validation-2", "output": "4"},
    ]
    write(tmp_path / FINANCE, rows)
    first, second, third = read_records(tmp_path, "financemath", method="pot")
    named = (first.dataset, first.model, first.method, first.id, first.output)
    assert named == ("financemath", "made-1", "pot", "validation-0", "def solution(): ...")
    assert (second.not_scorable, third.output) == ("no output", "4")
    with pytest.raises(InputError, match=r"made-1.json: .*; --method does"):
        read_records(tmp_path, "financemath")


def test_the_layout_of_big_bench_hard_is_read_with_row_numbers_as_ids(tmp_path: Path) -> None:
    rows = [{"input": "?", "prediction": text, "target": "t"} for text in ("a b", "b a")]
    write(tmp_path / BENCH, {"outputs": rows})
    records = read_records(tmp_path / "lab-made-1-cot", "bbh")
    named = [(one.dataset, one.model, one.method, one.id, one.output) for one in records]
    run = ("bbh-word-sorting", "lab-made-1", "cot")
    assert named == [(*run, "task-0", "a b"), (*run, "task-1", "b a")]
    (again, _) = read_records(tmp_path, "bbh", method="direct", dataset="other")
    assert (again.dataset, again.method) == ("other", "direct")


FIRST = '{"id": "1", "output": "4"}\n'
ROW = {"question_id": "1", "output": ["x"]}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        pytest.param(OURS, FIRST + '{"id": "2", "outp\n', ":2: not valid JSON", id="cut off"),
        pytest.param(OURS, FIRST + "[1]", ":2: Expected `object`, got `array`", id="a list"),
        pytest.param(OURS, FIRST + '{"output": "4"}', ":2: .* field `id`", id="no id"),
        pytest.param(OURS, FIRST + '{"id": "2"}', ":2: .* field `output`", id="no output"),
        pytest.param(OURS, FIRST + '{"id": "2", "output": 4}', r"int` - at `\$.output`", id="int"),
        pytest.param(OURS, '{"id": 1.5, "output": ""}', r":1: .*float` - at `\$.id`", id="half"),
        pytest.param(OURS, FIRST + FIRST, ":2: id '1' is also at .*:1", id="an id again"),
        pytest.param(OURS, b'{"id": "1", "output": "\xff"}\n', ":1: not valid JSON", id="no text"),
        pytest.param(FINANCE, {}, "1.json: Expected `array`, got `object`", id="no list"),
        pytest.param(FINANCE, [{"output": ["x"]}], r"`question_id` - at `\$\[0\]`", id="no id"),
        pytest.param(FINANCE, [{**ROW, "output": ["x", "y"]}], r"<= 1 - at `\$\[0\]", id="texts"),
        pytest.param(FINANCE, [ROW, ROW], r"\[2\]: id '1' is also at .*\[1\]", id="twice"),
        pytest.param(BENCH, {}, "task.json: .* field `outputs`", id="no outputs"),
        pytest.param(BENCH, {"outputs": [{}]}, r"prediction` - at `\$.outputs\[0\]", id="no text"),
        pytest.param("made/task.json", {"outputs": []}, "MODEL-METHOD", id="no method"),
        pytest.param("made/task.json", b" \n", "task.json: it is empty", id="empty"),
        pytest.param("made/task.txt", "", "no files there whose names end in .json", id="no file"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, name: str, content: Any, problem: str) -> None:
    layout = {OURS: "evalcore", FINANCE: "financemath"}.get(name, "bbh")
    write(tmp_path / name, content)
    with pytest.raises(InputError, match=problem):
        read_records(tmp_path, layout, method="pot" if layout == "financemath" else None)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent: no such file or folder"):
        read_records(tmp_path / "absent")


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


@pytest.mark.parametrize(
    ("module", "name", "problem"),
    [
        (os, "open", "can't be opened"),
        (fcntl, "flock", "can't be locked"),
        (os, "write", "written"),
    ],
)
def test_what_the_system_refuses_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, problem: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, name, refuse)
    expected = pytest.raises(InputError, match=rf"cot.jsonl: .*{problem} \(No space left")
    with expected, open_records(tmp_path / "cot.jsonl", ignore) as file:
        file.write(Record(id="3", output="4", **KNOWN))


def test_every_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    whole, last = record_line(id="1"), record_line(id="2")
    path = tmp_path / "cot.jsonl"
    for length in range(1, len(last)):
        write(path, whole + last[:length])
        notices: list[str] = []
        with open_records(path, notices.append) as file:
            kept = [record.id for record in file.records]
            file.write(Record(id="3", output="4", **KNOWN))
        assert [record.id for record in read_records(path)] == [*kept, "3"]
        if length == len(last) - 1:
            assert (kept, notices) == (["1", "2"], []), "it only lacks its end"
            return
        assert kept == ["1"]
        assert notices == [f"{path}: the last line was not written to its end; it is dropped"]


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


def test_a_line_is_written_whole_however_little_the_system_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_some = os.write
    path = tmp_path / "cot.jsonl"
    with open_records(path, ignore) as file:
        monkeypatch.setattr(os, "write", lambda fd, data: write_some(fd, data[:7]))
        file.write(Record(id="3", output="é" * 50, **KNOWN))
    assert read_records(path)[0].output == "é" * 50

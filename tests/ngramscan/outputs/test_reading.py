"""Recorded outputs as they lie in folders and files, good and bad."""

from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.reading import read_outputs
from tests.support.outputs import refusal, write_lines


def test_a_field_may_name_the_prompt(tmp_path: Path) -> None:
    record = {"id": 1, "reply": "x", "model": "m"}
    lines = ({**record, "prompt": prompt} for prompt in ("cot", "f-1+cot"))
    file = write_lines(tmp_path / "replies.jsonl", *lines)
    found = read_outputs(file, "reply", "prompt")
    assert [o.group[1:] for o in found.outputs] == [("m", "cot"), ("m", "f-1+cot")]
    write_lines(file, {**record, "prompt": 3})
    fields = ("--output-field=reply", "--prompt-field=prompt")
    told = [refusal(command, file, *fields) for command in ("tiers", "strategies")]
    assert told == [f"{file}:1: field 'prompt': expected a prompt's name"] * 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param('{"output": "x"}\n{"output": \n', ":2: not valid JSON: ", id="broken line"),
        pytest.param('{"output": "x"}\n{"output": "\udcff"}\n', ":2: not UTF-8", id="not UTF-8"),
        pytest.param('{"reply": "x"}\n', ":1: no field 'output'; it has: reply", id="no field"),
        pytest.param('{"output": 3}\n', ":1: field 'output' is int;", id="a number"),
        pytest.param('{"output": ["a", "b"]}\n', ":1: field 'output' is list;", id="two texts"),
        pytest.param('"output"\n', ":1: not a JSON object;", id="no object"),
        pytest.param("null\n", ":1: not a JSON object;", id="null"),
        pytest.param('[{"output": "x"}, 3]', "[2]: not a JSON object;", id="no object in a list"),
        pytest.param('[{"output": "x"}', ": not valid JSON: ", id="a broken list"),
        pytest.param(
            '{"id": 1, "output": "x"}\n{"id": 1, "output": "x"}\n',
            ":2: id '1' of",
            id="an id twice",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    file = write_lines(tmp_path / "d" / "m" / "cot.jsonl")
    file.write_bytes(content.encode(errors="surrogateescape"))
    assert refusal("tiers", tmp_path).startswith(f"{file}{words}")


def test_broken_lines_are_skipped_on_request_and_counted(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "d/m/cot.jsonl", {"id": 1, "output": "x"})
    with file.open("a", encoding="utf-8") as lines:
        lines.write("{broken\n")
    with pytest.raises(InputError, match=r"cot\.jsonl:2: .*; --skip-bad-lines leaves such lines"):
        read_outputs(file)
    found = read_outputs(file, skip_bad_lines=True)
    assert len(found.outputs) == 1
    assert found.notices == [f"{file}: malformed lines skipped: 1"]


def test_a_place_without_outputs_says_what_was_expected(tmp_path: Path) -> None:
    expected = "a folder of DATASET/MODEL/PROMPT.jsonl or DATASET/raw_PROMPT_outputs/MODEL.json"
    told = refusal("blend", tmp_path / "none")
    assert told.endswith(f"none: no such file or folder; expected {expected}")
    assert refusal("blend", tmp_path).endswith(f"no outputs there; expected {expected}")
    (tmp_path / "all.jsonl").touch()
    told = refusal("blend", tmp_path / "al.jsonl")
    assert told.endswith(f"no such file or folder; did you mean {tmp_path}/all.jsonl?")

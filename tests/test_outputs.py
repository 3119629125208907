"""Recorded outputs as they lie in folders and files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.reading import Group, methods_of, parts_of, read_outputs
from tests.support.command import invoke
from tests.support.outputs import refusal, write_lines


def test_a_folder_names_dataset_model_and_prompt(tmp_path: Path) -> None:
    write_lines(tmp_path / "d" / "m" / "f-1+cot.jsonl", {"id": 3, "output": "x"})
    write_lines(tmp_path / "d" / "m" / "cot.jsonl", {"id": "3", "output": "y"})
    for path in (tmp_path, tmp_path / "d", tmp_path / "d" / "m"):
        first, second = read_outputs(path).outputs
        assert (first.group, second.group) == (Group("d", "m", "cot"), Group("d", "m", "f-1+cot"))
        assert (first.id, first.text, second.id, second.text) == ("3", "y", "3", "x")
        assert read_outputs(path).notices == []
    alone = read_outputs(tmp_path / "d" / "m" / "cot.jsonl")
    assert [output.group for output in alone.outputs] == [Group("d", "m", "cot")]


def test_the_layout_of_financemath_has_lists(tmp_path: Path) -> None:
    file = tmp_path / "val" / "raw_pot_outputs" / "gpt.json"
    file.parent.mkdir(parents=True)
    records = [{"question_id": "v-0", "output": ["a"]}, {"question_id": "v-1", "output": "b"}]
    file.write_text(json.dumps(records, indent=1), encoding="utf-8")
    # What was made of the outputs is not read.
    write_lines(tmp_path / "val" / "processed_pot_outputs" / "gpt.json", {"output": "no"})
    found = read_outputs(tmp_path)
    assert {output.group for output in found.outputs} == {Group("val", "gpt", "pot")}
    assert [(o.id, o.text) for o in found.outputs] == [("v-0", "a"), ("v-1", "b")]
    assert found.outputs[1].place == f"{file}[2]"


def test_the_real_files_are_read(shared: Path) -> None:
    outputs = read_outputs(shared / "data" / "financemath" / "validation").outputs
    assert (len(outputs), len({output.group for output in outputs})) == (2400, 12)
    assert {output.group.prompt for output in outputs} == {"cot", "pot"}


def test_missing_and_empty_outputs_are_told_apart(tmp_path: Path) -> None:
    texts: list[Any] = [None, [], "", " \n", [None], "half \ud83d"]
    found = read_outputs(write_lines(tmp_path / "d/m/cot.jsonl", *({"output": t} for t in texts)))
    assert [o.text for o in found.outputs] == [None, None, "", " \n", None, "half \ufffd"]
    assert found.notices == [
        f"{tmp_path}/d/m/cot.jsonl: halves of characters (lone surrogates) replaced by U+FFFD: 1",
        "of 6 outputs 3 are missing and 2 empty; left out of all shares",
        "some outputs have no id; what is compared in pairs leaves them out",
    ]


def test_an_empty_file_is_a_notice_and_nothing_at_all_an_error(tmp_path: Path) -> None:
    empty = write_lines(tmp_path / "d/m/cot.jsonl")
    assert "no outputs there" in refusal("blend", tmp_path)
    write_lines(tmp_path / "d/m/pot.jsonl", {"id": 1, "output": "x"})
    assert read_outputs(tmp_path).notices == [f"{empty}: no outputs in it"]


def test_a_field_may_name_the_prompt(tmp_path: Path) -> None:
    record = {"id": 1, "reply": "x", "model": "m"}
    lines = ({**record, "prompt": prompt} for prompt in ("cot", "f-1+cot"))
    file = write_lines(tmp_path / "replies.jsonl", *lines)
    found = read_outputs(file, "reply", "prompt")
    assert [o.group[1:] for o in found.outputs] == [("m", "cot"), ("m", "f-1+cot")]
    write_lines(file, {**record, "prompt": 3})
    fields = ("--output-field=reply", "--prompt-field=prompt")
    for command in ("tiers", "strategies"):
        expected = f"{file}:1: field 'prompt': a prompt's name was expected"
        assert refusal(command, file, *fields) == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b'{"output": "x"}\n{"output": \n', ":2: not valid JSON: ", id="broken line"),
        pytest.param(b'{"output": "x"}\n{"output": "\xff"}\n', ":2: not UTF-8", id="not UTF-8"),
        pytest.param(b'{"reply": "x"}\n', ":1: no field 'output'; it has: reply", id="no field"),
        pytest.param(b'{"output": 3}\n', ":1: field 'output' is int;", id="a number"),
        pytest.param(b'{"output": ["a", "b"]}\n', ":1: field 'output' is list;", id="two texts"),
        pytest.param(b'"output"\n', ":1: not a JSON object;", id="no object"),
        pytest.param(b"null\n", ":1: not a JSON object;", id="null"),
        pytest.param(b'[{"output": "x"}, 3]', "[2]: not a JSON object;", id="no object in a list"),
        pytest.param(b'[{"output": "x"}', ": not valid JSON: ", id="a broken list"),
        pytest.param(b'{"id": 1, "output": "x"}\n' * 2, ":2: id '1' of", id="an id twice"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    file = write_lines(tmp_path / "d" / "m" / "cot.jsonl")
    file.write_bytes(content)
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
    assert told.endswith(f"none: no such file or folder; {expected} was expected")
    assert refusal("blend", tmp_path).endswith(f"no outputs there; {expected} was expected")
    (tmp_path / "all.jsonl").touch()
    told = refusal("blend", tmp_path / "al.jsonl")
    assert told.endswith(f"no such file or folder; did you mean {tmp_path}/all.jsonl?")


def test_a_prompt_is_made_of_methods() -> None:
    methods = ["CoT", "PoT", "FP/F-1"]
    assert parts_of("f-1 + cot") == ["f-1", "cot"]
    names = ("f-1+cot", "FP", "fp/f-1", "zero-shot", "cots")
    found = [methods_of(name, methods) for name in names]
    assert found == [["FP/F-1", "CoT"], ["FP/F-1"], ["FP/F-1"], [], []]


# Commands that read outputs

EXAMPLES = Path(__file__).resolve().parent.parent / "outputs"
SMALL = """
name: small
patterns:
  - {text: let us, method: CoT, tier: T2, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: narrative}
"""


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("count", {"tier": ["T1", "T3"]}, 'tier="T3": .* it has T1, T2'),
        ("count", {"method": ["nope"]}, 'method="nope": .* CoT, PoT'),
        ("docnorm", {"tier": "T3"}, 'tier="T3": .* it has T1, T2'),
        ("blend", {"tier": "T3"}, 'tier="T3": .* it has T1, T2'),
        ("tiers", {"method": "no"}, 'method="no": .* CoT, PoT'),
    ],
)
def test_what_a_pattern_set_does_not_have_is_an_error_that_names_what_it_has(
    tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    outputs = [EXAMPLES] if name in {"blend", "tiers"} else []
    with pytest.raises(InputError, match=message):
        getattr(ngramscan, name)(*outputs, tmp_path / "small.yaml", **options)


@pytest.mark.parametrize(
    "command", ["blend", "tiers", "strategies", "keyness --of cot --against pot"]
)
def test_a_command_that_is_interrupted_while_it_reads_outputs_says_that_nothing_was_kept(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def stopped(path: Path, mode: str = "r", **options: Any) -> Any:
        if path.suffix == ".jsonl":
            raise KeyboardInterrupt
        return opened(path, mode, **options)

    monkeypatch.setattr(Path, "open", stopped)
    rows = tmp_path / "rows.csv"
    ran = invoke(*command.split(), EXAMPLES, "-o", rows)
    assert ran == (130, "", "Interrupted; nothing was kept.\n")
    assert not rows.exists()

"""Recorded outputs as they lie in folders and files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ngramscan
from ngramscan.cli import main
from ngramscan.errors import InputError
from ngramscan.outputs.reading import (
    Group,
    OutputFields,
    OutputSet,
    methods_of,
    parts_of,
    read_outputs,
)
from tests.support.command import run


def write_lines(file: Path, *records: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


def read(path: Path, **fields: Any) -> OutputSet:
    return read_outputs(path, OutputFields(**fields))


def problem_of(path: Path, **fields: Any) -> str:
    """Return the error, which the command ends with, in one line."""
    with pytest.raises(InputError) as error:
        read(path, **fields)
    options = [f"--{name.replace('_', '-')}-field={value}" for name, value in fields.items()]
    for command in ("blend", "tiers"):
        ran = run(command, path, *options)
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr == f"Error: {error.value}\n"
        assert ran.stderr.count("\n") == 1
    return str(error.value)


def test_a_folder_names_dataset_model_and_variant(tmp_path: Path) -> None:
    write_lines(tmp_path / "d" / "m" / "f-1+cot.jsonl", {"id": 3, "output": "x"})
    write_lines(tmp_path / "d" / "m" / "cot.jsonl", {"id": "3", "output": "y"})
    for path in (tmp_path, tmp_path / "d", tmp_path / "d" / "m"):
        found = read(path)
        assert list(found.groups()) == [Group("d", "m", "cot"), Group("d", "m", "f-1+cot")]
        assert [(o.id, o.text) for o in found.outputs] == [("3", "y"), ("3", "x")]
        assert found.notices == []
    assert read(tmp_path / "d" / "m" / "cot.jsonl").outputs[0].group == Group("d", "m", "cot")


def test_the_layout_of_financemath_has_lists(tmp_path: Path) -> None:
    file = tmp_path / "val" / "raw_pot_outputs" / "gpt.json"
    file.parent.mkdir(parents=True)
    records = [{"question_id": "v-0", "output": ["a"]}, {"question_id": "v-1", "output": "b"}]
    file.write_text(json.dumps(records, indent=1), encoding="utf-8")
    # What was made of the outputs is not read.
    write_lines(tmp_path / "val" / "processed_pot_outputs" / "gpt.json", {"output": "no"})
    found = read(tmp_path)
    assert list(found.groups()) == [Group("val", "gpt", "pot")]
    assert [(o.id, o.text) for o in found.outputs] == [("v-0", "a"), ("v-1", "b")]
    assert found.outputs[1].place == f"{file}[2]"


def test_the_real_files_are_read(shared: Path) -> None:
    found = read(shared / "data" / "financemath" / "validation")
    assert len(found.outputs) == 2400
    assert len(found.groups()) == 12
    assert {o.group.variant for o in found.outputs} == {"cot", "pot"}


def test_missing_and_empty_outputs_are_told_apart(tmp_path: Path) -> None:
    texts: list[Any] = [None, [], "", " \n", [None], "text"]
    file = write_lines(tmp_path / "d/m/cot.jsonl", *({"output": text} for text in texts))
    found = read(file)
    assert [o.text for o in found.outputs] == [None, None, "", " \n", None, "text"]
    assert found.notices == [
        "of 6 outputs 3 are missing and 2 empty; left out of all shares",
        "some outputs have no id; what is compared in pairs leaves them out",
    ]


def test_an_empty_file_is_a_notice_and_nothing_at_all_an_error(tmp_path: Path) -> None:
    empty = write_lines(tmp_path / "d/m/cot.jsonl")
    assert "no outputs there" in problem_of(tmp_path)
    write_lines(tmp_path / "d/m/pot.jsonl", {"id": 1, "output": "x"})
    assert read(tmp_path).notices == [f"{empty}: no outputs in it"]


def test_a_field_may_name_the_variant(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "replies.jsonl",
        {"id": 1, "reply": "x", "prompt": "cot", "model": "m"},
        {"id": 1, "reply": "y", "prompt": "f-1+cot", "model": "m"},
    )
    found = read(file, output="reply", variant="prompt")
    assert [o.group[1:] for o in found.outputs] == [("m", "cot"), ("m", "f-1+cot")]
    write_lines(file, {"id": 1, "reply": "x", "prompt": 3})
    assert problem_of(file, output="reply", variant="prompt") == (
        f"{file}:1: field 'prompt': a variant's name was expected"
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b'{"output": "x"}\n{"output": \n', ":2: no JSON: ", id="a broken line"),
        pytest.param(b'{"output": "x"}\n{"output": "\xff"}\n', ":2: not UTF-8", id="no UTF-8"),
        pytest.param(b'{"reply": "x"}\n', ":1: no field 'output'; it has: reply", id="no field"),
        pytest.param(b'{"output": 3}\n', ":1: field 'output' is int;", id="a number"),
        pytest.param(b'{"output": ["a", "b"]}\n', ":1: field 'output' is list;", id="two texts"),
        pytest.param(b'"output"\n', ":1: no JSON object;", id="no object"),
        pytest.param(b'[{"output": "x"}, 3]', "[2]: no JSON object;", id="no object in a list"),
        pytest.param(b'[{"output": "x"}', ": no JSON: ", id="a broken list"),
        pytest.param(b'{"id": 1, "output": "x"}\n' * 2, ":2: id '1' of", id="an id twice"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "d" / "m" / "cot.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert problem_of(tmp_path).startswith(f"{file}{words}")


def test_broken_lines_are_skipped_on_request_and_counted(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "d/m/cot.jsonl", {"id": 1, "output": "x"})
    with file.open("a", encoding="utf-8") as lines:
        lines.write("{broken\n")
    found = read(file, skip_bad_lines=True)
    assert len(found.outputs) == 1
    assert found.notices == [f"{file}: malformed lines skipped: 1"]


def test_a_place_without_outputs_says_what_was_expected(tmp_path: Path) -> None:
    assert problem_of(tmp_path / "nowhere").endswith("nowhere: no such file or folder")
    (tmp_path / "x").mkdir()
    assert "no outputs there; files like {dataset}/{model}/" in problem_of(tmp_path / "x")


def test_a_variant_is_made_of_methods() -> None:
    methods = ["CoT", "PoT", "FP/F-1"]
    assert parts_of("f-1 + cot") == ["f-1", "cot"]
    assert methods_of("f-1+cot", methods) == ["FP/F-1", "CoT"]
    assert methods_of("FP", methods) == ["FP/F-1"]
    assert methods_of("fp/f-1", methods) == ["FP/F-1"]
    assert methods_of("zero-shot", methods) == []
    assert methods_of("cots", methods) == []


# Commands that read outputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Outputs of two methods, and a set of patterns."""
    for method, text in (("cot", "let us go step by step"), ("pot", "def f(): return 1")):
        lines = [{"id": str(number), "output": f"{text} {number}"} for number in range(12)]
        write_lines(tmp_path / "outputs" / "d" / "m" / f"{method}.jsonl", *lines)
    kinds = "{text: %s, method: %s, tier: %s, kind: narrative}"
    named = (("let us", "CoT", "T2"), ("step by step", "CoT", "T1"), ("def f", "PoT", "T1"))
    patterns = "".join(f"  - {kinds % each}\n" for each in named)
    (tmp_path / "small.yaml").write_text(f"name: small\npatterns:\n{patterns}")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("count", {"index": "python", "tier": ["T1", "T3"]}, "--tier T3: .* it has T1, T2"),
        ("count", {"index": "python", "method": ["nope"]}, "--method nope: .* CoT, PoT"),
        ("docnorm", {"index": "python", "tier": "T9"}, "--tier T9: .* it has T1, T2"),
        ("blend", {"tier": "T9"}, "--tier T9: .* it has T1, T2"),
        ("tiers", {"method": "no"}, "--method no: .* CoT, PoT"),
        ("keyness", {"of": "no", "against": "pot"}, "no outputs of no; .* cot, pot"),
        ("keyness", {"of": "cot", "against": "pot", "unit": "x"}, "--unit x: .*word"),
    ],
)
def test_what_a_pattern_set_or_outputs_do_not_have_is_an_error_that_names_what_there_is(
    folder: Path, name: str, options: dict[str, Any], message: str
) -> None:
    arguments = [folder / "outputs"] if name in {"blend", "tiers", "keyness"} else []
    arguments += [folder / "small.yaml"] if name != "keyness" else []
    with pytest.raises(InputError, match=message):
        getattr(ngramscan, name)(*arguments, **options)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("blend", []),
        ("tiers", []),
        ("keyness", ["--of", "cot", "--against", "pot"]),
        ("strategies", []),
    ],
)
def test_a_command_that_is_interrupted_while_it_reads_outputs_says_that_nothing_was_kept(
    folder: Path, command: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_path: Path) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "read_bytes", stopped)
    rows = folder / "rows.csv"
    done = CliRunner().invoke(main, [command, str(folder / "outputs"), *options, "-o", str(rows)])
    said = (done.exit_code, done.stdout, done.stderr)
    assert said == (130, "", "Interrupted; nothing was kept.\n")
    assert not rows.exists()


def test_a_line_of_outputs_that_was_cut_is_named_with_what_to_do(folder: Path) -> None:
    with (folder / "outputs" / "d" / "m" / "pot.jsonl").open("a") as file:
        file.write('{"id": "12", "outp')
    with pytest.raises(InputError, match=r"pot\.jsonl:13: no JSON: .*; --skip-bad-lines leaves"):
        ngramscan.blend(folder / "outputs", folder / "small.yaml")

"""Recorded outputs as they lie in folders and files, good and bad."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.reading import methods_of, number_problems, parts_of, read_outputs
from ngramscan.reading.output_paths import PromptGroup
from tests.support.command import invoke
from tests.support.outputs import refusal, write_lines, write_texts
from tests.support.places import ROOT


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


@pytest.mark.parametrize("name", ["essay.txt", "notes.md"])
def test_a_plain_text_is_answered_with_the_command_that_reads_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Once upon a time.\n")
    with pytest.raises(InputError, match="; `ngramscan trace --plain` reads plain texts") as error:
        read_outputs(tmp_path / name)
    error.value.name_keywords()
    assert str(error.value).endswith("; `ngramscan.trace(…, plain=True)` reads plain texts")


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


@pytest.mark.parametrize("place", ["", "d", "d/m"], ids=["a folder", "a dataset", "a model"])
def test_a_folder_names_dataset_model_and_prompt(tmp_path: Path, place: str) -> None:
    write_lines(tmp_path / "d/m/f-1+cot.jsonl", {"id": 3, "output": "x"})
    write_lines(tmp_path / "d/m/cot.jsonl", {"id": "3", "output": "y"})
    found = read_outputs(tmp_path / place)
    assert [(output.group, output.id, output.text) for output in found.outputs] == [
        (PromptGroup("d", "m", "cot"), "3", "y"),
        (PromptGroup("d", "m", "f-1+cot"), "3", "x"),
    ]
    assert found.notices == []


def test_a_file_in_folders_names_its_dataset_model_and_prompt(tmp_path: Path) -> None:
    (output,) = read_outputs(write_lines(tmp_path / "d/m/cot.jsonl", {"output": "y"})).outputs
    assert output.group == PromptGroup("d", "m", "cot")


def test_lists_of_the_layout_of_financemath_are_read(tmp_path: Path) -> None:
    file = tmp_path / "val/raw_pot_outputs/gpt.json"
    file.parent.mkdir(parents=True)
    records = [{"question_id": "v-0", "output": ["a"]}, {"question_id": "v-1", "output": "b"}]
    file.write_text(json.dumps(records, indent=1), encoding="utf-8")
    # What was made of the outputs is not read.
    write_lines(tmp_path / "val/processed_pot_outputs/gpt.json", {"output": "no"})
    found = read_outputs(tmp_path).outputs
    assert {output.group for output in found} == {PromptGroup("val", "gpt", "pot")}
    assert [(output.id, output.text) for output in found] == [("v-0", "a"), ("v-1", "b")]
    assert found[1].place == f"{file}[2]"


def test_missing_and_empty_outputs_are_told_apart(tmp_path: Path) -> None:
    texts: list[Any] = [None, [], "", " \n", [None], "half \ud83d"]
    file = write_lines(tmp_path / "d/m/cot.jsonl", *({"output": text} for text in texts))
    found = read_outputs(file)
    expected = [None, None, "", " \n", None, "half \ufffd"]
    assert [output.text for output in found.outputs] == expected
    assert found.notices == [
        f"{file}: halves of characters (lone surrogates) replaced by U+FFFD: 1",
        "of 6 outputs 3 are missing and 2 empty; left out of all shares",
        "some outputs have no id; what is compared in pairs leaves them out",
    ]


def test_an_empty_file_is_said(tmp_path: Path) -> None:
    empty = write_lines(tmp_path / "d/m/cot.jsonl")
    write_lines(tmp_path / "d/m/pot.jsonl", {"id": 1, "output": "x"})
    assert read_outputs(tmp_path).notices == [f"{empty}: contains no outputs"]


@pytest.mark.parametrize(
    ("prompt", "methods"),
    [
        ("f-1+cot", ["FP/F-1", "CoT"]),
        ("FP", ["FP/F-1"]),
        ("fp/f-1", ["FP/F-1"]),
        ("zero-shot", []),
        ("cots", []),
    ],
    ids=["two methods", "half of a name", "a name", "no method", "a longer word"],
)
def test_a_prompt_is_made_of_methods(prompt: str, methods: list[str]) -> None:
    assert methods_of(prompt, ["CoT", "PoT", "FP/F-1"]) == methods


def test_parts_of_a_prompt_may_have_spaces_between() -> None:
    assert parts_of("f-1 + cot") == ["f-1", "cot"]


@pytest.mark.parametrize(
    "command",
    [
        ("blend",),
        ("tiers",),
        ("strategies",),
        ("keyness", "--of", "cot", "--against", "pot"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_interrupted_while_it_reads_outputs_keeps_nothing(
    tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def stopped(path: Path, mode: str = "r", **options: Any) -> Any:
        if path.suffix == ".jsonl":
            raise KeyboardInterrupt
        return opened(path, mode, **options)

    monkeypatch.setattr(Path, "open", stopped)
    rows = tmp_path / "rows.csv"
    ran = invoke(*command, ROOT / "outputs", "-o", rows)
    assert ran == (130, "", "Interrupted; nothing was kept.\n")
    assert not rows.exists()


def test_the_published_outputs_are_read(shared: Path) -> None:
    outputs = read_outputs(shared / "data/financemath/validation").outputs
    assert (len(outputs), len({output.group for output in outputs})) == (2400, 12)
    assert {output.group.prompt for output in outputs} == {"cot", "pot"}


def test_reasoning_counts_unless_it_is_left_out(tmp_path: Path) -> None:
    ended = "<think>It may be \\boxed{5}, since"
    whole = "<think>Maybe \\boxed{12}</think>\nIt is \\boxed{5}."
    folder = write_texts(tmp_path, {"cot": [ended, whole, "5", None]})
    read = read_outputs(folder)
    assert [output.text for output in read.outputs] == [ended, whole, "5", None]
    assert str(read.notices[0]) == (
        "2 of 4 outputs have marked reasoning, which is counted; --without-reasoning leaves it out"
    )
    without = read_outputs(folder, without_reasoning=True)
    assert [output.text for output in without.outputs] == ["", "It is \\boxed{5}.", "5", None]
    assert str(without.notices[0]) == (
        "2 of 4 outputs have marked reasoning, which is left out;"
        " 1 of them end within it, and are empty without it"
    )


@pytest.mark.parametrize("leave_out", [False, True], ids=["counted", "left out"])
@pytest.mark.parametrize("command", ["blend", "trace", "keyness", "strategies", "tiers"])
def test_each_command_about_outputs_can_leave_reasoning_out(
    tmp_path: Path, command: str, leave_out: bool
) -> None:
    text = "<think>Maybe</think>Step by step: 5"
    outputs = write_texts(tmp_path / "outputs", {"cot": [text], "pot": [text]})
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Step by step")
    options: dict[str, dict[str, Any]] = {
        "trace": {"index": [f"scan:{corpus}"]},
        "keyness": {"of": "cot", "against": ["pot"]},
    }
    run = inspect.unwrap(getattr(ngramscan, command))
    told = run(outputs, without_reasoning=leave_out, **options.get(command, {})).notices[0]
    said = "left out" if leave_out else "counted; --without-reasoning leaves it out"
    assert str(told) == f"2 of 2 outputs have marked reasoning, which is {said}"


def write_list(folder: Path, records: list[dict[str, Any]]) -> Path:
    """Write a list of records to a file whose path names no model."""
    folder.mkdir()
    file = folder / "all.json"
    file.write_text(json.dumps(records))
    return file


def test_records_name_what_a_path_does_not(tmp_path: Path) -> None:
    named = {"id": 1, "output": "x", "dataset": "d", "model": "m", "method": "cot"}
    found = read_outputs(write_list(tmp_path / "folder", [named, {"id": 2, "output": "y"}]))
    assert [output.group for output in found.outputs] == [
        PromptGroup("d", "m", "cot"),
        PromptGroup("folder", "", "all"),
    ]
    # Where the path names them, it is believed.
    file = write_lines(tmp_path / "e/n/pot.jsonl", named)
    assert [output.group for output in read_outputs(file).outputs] == [PromptGroup("e", "n", "pot")]


def test_ids_epochs_and_questions_of_records_are_read(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "d/m/cot.jsonl",
        {"id": 1, "problem_id": 9, "epoch": 0, "output": "a", "question": "Why?", "n": "no"},
        {"id": None, "question_id": "v-1", "epoch": 2, "output": "b", "tables": ["t", 3, "u"]},
        {"problem_id": 1, "epoch": None, "output": "c", "prompt": "p", "context": None},
        {"epoch": 2, "output": "d"},
        {"id": "v-1", "epoch": 3, "output": "e"},
    )
    outputs = read_outputs(file).outputs
    assert [output.id for output in outputs] == ["1#0", "v-1#2", "1", "", "v-1#3"]
    assert [output.epoch for output in outputs] == ["#0", "#2", "", "", "#3"]
    assert [output.asked for output in outputs] == [("Why?",), ("t", "u"), ("p",), (), ()]
    # Epochs of one problem are the same one; without an id, an output has its own.
    assert number_problems(outputs) == [0, 1, 0, 2, 1]


@pytest.mark.parametrize(
    ("ids", "has_notice"),
    [((1, 2), False), ((1, None), True), ((None, None), True)],
    ids=["all have one", "some have none", "none has one"],
)
def test_outputs_without_an_id_are_said(
    tmp_path: Path, ids: tuple[int | None, ...], has_notice: bool
) -> None:
    records = [{"id": id_, "output": "x"} for id_ in ids]
    told = "some outputs have no id; what is compared in pairs leaves them out"
    found = read_outputs(write_lines(tmp_path / "d/m/cot.jsonl", *records))
    assert [*map(str, found.notices)] == ([told] if has_notice else [])


@pytest.mark.parametrize(
    ("texts", "notices"),
    [
        (["x", "y"], []),
        (["x", None], ["of 2 outputs 1 are missing and 0 empty; left out of all shares"]),
        (["x", " "], ["of 2 outputs 0 are missing and 1 empty; left out of all shares"]),
    ],
    ids=["all there", "one missing", "one empty"],
)
def test_missing_or_empty_outputs_are_said(
    tmp_path: Path, texts: list[str | None], notices: list[str]
) -> None:
    assert read_outputs(write_texts(tmp_path, {"cot": texts})).notices == notices


def test_an_id_twice_or_a_file_twice_is_refused(tmp_path: Path) -> None:
    file = write_list(tmp_path / "folder", [{"id": 1, "output": "x", "method": ""}] * 2)
    with pytest.raises(InputError) as error:
        read_outputs(file)
    assert str(error.value) == (
        f"{file}[2]: id '1' of folder is also at {file}[1]; --prompt-field NAME says which prompt"
    )
    file = write_lines(tmp_path / "d/m/cot.jsonl", *[{"id": 1, "output": "x"}] * 2)
    with pytest.raises(InputError) as error:
        read_outputs(file)
    assert str(error.value) == f"{file}:2: id '1' of d/m/cot is also at {file}:1"
    with pytest.raises(InputError, match="a file is given twice"):
        read_outputs([file, file.parent / ".." / "m" / "cot.jsonl"])


def test_outputs_that_do_not_name_their_prompt_are_counted(tmp_path: Path) -> None:
    records = [{"id": number, "output": "x", "method": ""} for number in range(3)]
    found = read_outputs(write_list(tmp_path / "folder", records))
    told = "3 outputs do not name their prompt; --prompt-field NAME says which field"
    assert [*map(str, found.notices)] == [told]

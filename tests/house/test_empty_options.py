"""An empty text is a value that somebody gave: it is refused, and never taken as none at all."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import InputError
from tests.support.command import invoke
from tests.support.command_options import COMMANDS, FUNCTIONS
from tests.support.outputs import refusal

TEXTS, LISTS, PATHS = {"TextType"}, {"_Listed"}, {"FilePath"}
TAKEN_AS_IT_IS = {"exclude_source", "index", "literal", "literals_file"}
"""Options of which white space and a comma may be a part; each has a refusal of its own."""
SEVERAL = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
"""Kinds of parameters that may be left out."""


def options_of_kinds(kinds: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the options whose values are of some kinds, with the names of their commands."""
    for command, known in COMMANDS.items():
        for option in known["params"]:
            is_option = option["param_type_name"] == "option"
            if is_option and option["type"]["param_type"] in kinds:
                yield command, option


def flag_of(option: dict[str, Any]) -> str:
    return str(option["opts"][-1])


def empty_values() -> Iterator[Any]:
    """Yield each option whose value is a text, a list or a path, with the empty texts for it."""
    for command, option in options_of_kinds(TEXTS | LISTS | PATHS):
        kind = option["type"]["param_type"]
        if option["name"] in TAKEN_AS_IT_IS or (kind in LISTS and option["required"]):
            continue
        values = {"empty": ""}
        if kind not in PATHS:
            values["white space"] = " \t"
        if kind in LISTS:
            values["a comma"] = ","
        for name, value in values.items():
            yield pytest.param(command, option, value, id=f"{command} {flag_of(option)} {name}")


def test_options_whose_values_are_texts_are_found() -> None:
    found = {(command, option["name"]) for command, option in options_of_kinds(TEXTS)}
    assert {("ngramscan.count", "sort"), ("ngramscan.count", "scheduler")} <= found
    assert {("evalcore.compare", "by"), ("ngramscan.count", "tier")} <= {
        (command, option["name"]) for command, option in options_of_kinds(LISTS)
    }
    assert {("ngramscan.count", "journal"), ("evalcore.score", "output")} <= {
        (command, option["name"]) for command, option in options_of_kinds(PATHS)
    }
    kinds = {option["type"]["param_type"] for _, option in every_option()}
    assert kinds == {*TEXTS, *LISTS, *PATHS, "Bool", "Choice", "_Float", "_Integer", "IntRange"}


def every_option() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all options of all commands."""
    for command, known in COMMANDS.items():
        for option in known["params"]:
            if option["param_type_name"] == "option":
                yield command, option


@pytest.mark.parametrize(("command", "option", "value"), list(empty_values()))
def test_an_empty_value_is_refused_in_one_line(
    command: str, option: dict[str, Any], value: str
) -> None:
    package, _, name = command.partition(".")
    ran = invoke(*name.split("_", 1), flag_of(option), value, package=package)
    said = f"Error: {flag_of(option)}: it is empty; give a value, or leave it out\n"
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", said)


def options_of_functions() -> Iterator[Any]:
    """Yield the parameters of functions that take a text, a list or a path by name."""
    for command, option in options_of_kinds(TEXTS | LISTS | PATHS):
        is_needed_list = option["type"]["param_type"] in LISTS and option["required"]
        is_checked_here = option["name"] not in TAKEN_AS_IT_IS and not is_needed_list
        is_in_python = command in FUNCTIONS and option["name"] in known_parameters(command)
        if is_checked_here and is_in_python:
            yield pytest.param(command, option["name"], id=f"{command} {option['name']}")


def known_parameters(command: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(FUNCTIONS[command]).parameters)


@pytest.mark.parametrize(("command", "name"), list(options_of_functions()))
def test_python_refuses_an_empty_value_too(command: str, name: str) -> None:
    needed = {
        parameter.name: "x"
        for parameter in known_parameters(command).values()
        if parameter.default is parameter.empty and parameter.kind not in SEVERAL
    }
    with pytest.raises(InputError) as raised:
        FUNCTIONS[command](**needed | {name: ""})
    assert str(raised.value) == f"{name}: it is empty; give a value, or leave it out"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["count", "-e", "a", "--index", ""], "--index: it is empty; expected scan:PATH"),
        (["count", "-e", ""], "--literal: it is empty; enter a phrase"),
        (["contexts", "-e", "a", "-f", ""], "--literals-file: it is empty"),
        (["count", "a b", "--index", "scan:c", "--exclude-source", ""], "--exclude-source: it is"),
        (["index", "build", "c", "-o", "d", "--exclude-source", ""], "--exclude-source: it is"),
        (["run", "--model", "m", "--data", "q.jsonl", "--method", ""], "--method: it is empty"),
        (["outcomes", "s", "--baselines", "", "--adaptive", "a"], "expected at least one method"),
        (["keyness", "o", "--of", "a", "--against", ""], "--against: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "refused",
)
def test_an_empty_value_that_is_not_checked_as_all_are_is_refused_too(
    line: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c").write_text("a b\n")
    Path("q.jsonl").write_text('{"id": "1", "question": "x", "answer": "y"}\n')
    Path("o").mkdir()
    Path("o/a.jsonl").write_text('{"id": "1", "output": "x"}\n')
    Path("s").write_text("dataset,model,method,id,rule,value\nd,m,a,1,r,1\n")
    assert said in refusal(*line)


@pytest.mark.parametrize(
    "command",
    ["blend", "contaminate", "keyness", "report", "serve", "strategies", "tiers", "trace"],
)
def test_an_empty_path_is_no_folder(command: str) -> None:
    needed = ("--of", "x", "--against", "y") if command == "keyness" else ()
    assert "it is empty" in refusal(command, "", *needed)


def test_white_space_is_a_text_to_count(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"text": "a b  c"}) + "\n")
    rows = ngramscan.count(literal=[" ", "  "], index=f"scan:{corpus}", journal=tmp_path / "j")
    assert [*rows["occurrences"]] == [3, 1]


def test_white_space_is_a_glob_of_sources(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_text("".join(json.dumps({"text": "a", "id": id_}) + "\n" for id_ in (" ", "b")))
    rows = ngramscan.count(
        literal="a", index=f"scan:{corpus}", exclude_source=" ", journal=tmp_path / "j"
    )
    assert [*rows["occurrences"]] == [1]

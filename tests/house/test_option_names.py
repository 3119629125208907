"""Errors name options by their flags in the terminal, and by their keywords in Python."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import evalcore
import ngramscan
from ngramscan.errors import NgramscanError
from tests.support.command import invoke
from tests.support.command_options import COMMANDS, FUNCTIONS
from tests.support.places import ROOT

WRONG_VALUES = {"Choice": "no such", "_Float": "one", "_Integer": "one", "IntRange": "one"}
"""Values that options refuse, by the kind of their values; an empty text is refused by others."""
SEVERAL = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
FLAG = re.compile(r"(?<![\w/.-])--[a-z][a-z-]+")
MODULES = sorted(
    path for package in ("ngramscan", "evalcore") for path in ROOT.glob(f"{package}/**/*.py")
)


def options() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield all options that take a value, after the names of their commands."""
    for command, known in COMMANDS.items():
        for option in known["params"]:
            if option["param_type_name"] == "option" and not option["is_flag"]:
                yield command, option


def wrong_value(option: Mapping[str, Any]) -> str:
    return WRONG_VALUES.get(option["type"]["param_type"], "")


def keywords_of(command: str) -> set[str]:
    """Return the names of parameters that no flag or metavariable of the command has."""
    known = COMMANDS[command]["params"]
    flags = {flag.lstrip("-") for option in known for flag in option["opts"]}
    return {option["name"] for option in known if "_" in option["name"]} - flags


TAKEN_BY_COMMANDS = {"exclude_source", "index", "literal", "literals_file"}
"""Options of which the commands say what is wrong, and not the reader of options."""
IN_TERMINAL = [
    pytest.param(command, option, id=f"{command} {option['name']}") for command, option in options()
]
IN_PYTHON = [
    pytest.param(command, option, id=f"{command} {option['name']}")
    for command, option in options()
    if option["name"] not in TAKEN_BY_COMMANDS
    if command in FUNCTIONS and option["name"] in inspect.signature(FUNCTIONS[command]).parameters
    if wrong_value(option) or not option["required"]
]


@pytest.mark.parametrize(("command", "option"), IN_TERMINAL)
def test_the_terminal_names_the_flag_of_a_wrong_value(
    command: str, option: Mapping[str, Any]
) -> None:
    package, _, name = command.partition(".")
    ran = invoke(*name.split("_", 1), option["opts"][-1], wrong_value(option), package=package)
    words = set(re.findall(r"\w+", ran.stderr.partition("Error: ")[2]))
    assert ran.code == 2
    assert words & keywords_of(command) == set()


@pytest.mark.parametrize(("command", "option"), IN_PYTHON)
def test_python_names_the_keyword_of_a_wrong_value(command: str, option: Mapping[str, Any]) -> None:
    function, name = FUNCTIONS[command], option["name"]
    needed = {
        parameter.name: "x"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind not in SEVERAL
    }
    with pytest.raises(NgramscanError) as raised:
        function(**needed | {name: wrong_value(option)})
    assert re.match(rf"{name}[=:]", str(raised.value))
    assert FLAG.findall(str(raised.value)) == []


REFUSED: Mapping[str, tuple[str, Callable[[], Any], str, str]] = {
    "requires": (
        "contaminate questions.jsonl --index scan:corpus.jsonl --answer-within 5",
        lambda: ngramscan.contaminate(
            "questions.jsonl", index="scan:corpus.jsonl", answer_within=5
        ),
        "--answer-within: requires --answer-field",
        "answer_within: requires answer_field",
    ),
    "not allowed with": (
        "docnorm -e x --draws 20 --target 10%",
        lambda: ngramscan.docnorm(literal="x", draws=20, target="10%"),
        "--draws: not allowed with --target, which sets the number of draws",
        "draws: not allowed with target, which sets the number of draws",
    ),
    "a cure with a value": (
        "plan --accuracies 0.5,0.6 --icc 0.1",
        lambda: evalcore.plan(accuracies=[0.5, 0.6], icc=0.1),
        "--icc 0.1: a correlation within clusters needs their size: --cluster-size 5",
        "icc=0.1: a correlation within clusters needs their size: cluster_size=5",
    ),
    "a missing option": (
        "efficiency scores.csv --price-in 1",
        lambda: evalcore.efficiency("scores.csv", price_in=1),
        "--price-out: missing; costs need both prices, each per million tokens",
        "price_out: missing; costs need both prices, each per million tokens",
    ),
    "the flag of another name": (
        "run --model m --data q.jsonl --base-url http://127.0.0.1:9/v1 --method tot",
        lambda: evalcore.run(
            model="m", data="q.jsonl", base_url="http://127.0.0.1:9/v1", methods="tot"
        ),
        "--method tot: expected one of ",
        'methods="tot": expected one of ',
    ),
    "the place of another kind": (
        "count -e x --index fm9:corpus.jsonl",
        lambda: ngramscan.count(literal="x", index="fm9:corpus.jsonl"),
        "--index fm9:corpus.jsonl: a corpus; to read it: --index scan:corpus.jsonl",
        'index="fm9:corpus.jsonl": a corpus; to read it: index="scan:corpus.jsonl"',
    ),
    "an argument": (
        "count word",
        lambda: ngramscan.count("word"),
        "word: no such file or shipped set; to count the text itself: -e word",
        'word: no such file or shipped set; to count the text itself: literal="word"',
    ),
}
"""Lines of the terminal and calls that are refused, and how."""


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_said_in_the_words_of_the_terminal_and_of_python(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text('{"text": "a"}\n')
    Path("q.jsonl").write_text('{"id": "1", "question": "x", "answer": "y"}\n')
    line, call, in_terminal, in_python = REFUSED[case]
    ran = invoke(*line.split())
    with pytest.raises(NgramscanError) as raised:
        call()
    assert ran.stderr.startswith(f"Error: {in_terminal}")
    assert str(raised.value).startswith(in_python)


def flags_of_commands() -> set[str]:
    known = (option for command in COMMANDS.values() for option in command["params"])
    return {flag for option in known for flag in option["opts"] if flag.startswith("--")}


def test_no_error_has_a_flag_in_its_text() -> None:
    flags, found = flags_of_commands(), list[str]()
    assert len(flags) > 150
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
            if isinstance(node, ast.Raise) and "Wording" not in ast.unparse(node):
                named = [flag for each in texts for flag in FLAG.findall(str(each.value))]
                found += [f"{path.name}:{node.lineno}: {flag}" for flag in named if flag in flags]
    assert found == []


def test_options_in_messages_are_parameters_of_commands() -> None:
    names = {option["name"] for known in COMMANDS.values() for option in known["params"]}
    found, unknown = set[str](), list[str]()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "OptionUse":
                continue
            if isinstance(node.args[0], ast.Constant):
                name = str(node.args[0].value)
                found.add(name)
                unknown += [] if name in names else [f"{path.name}:{node.lineno}: {name}"]
    assert len(found) > 80
    assert unknown == []

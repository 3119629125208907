"""Options of all commands: each is defined once, and Python and the terminal have the same."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

import evalcore
import ngramscan
from tests.support.command import every_command

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"ngramscan": ngramscan, "evalcore": evalcore}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{name}.{function}": getattr(package, function)
    for name, package in PACKAGES.items()
    for function in package.__all__
}
COMMANDS = {
    name.replace(" ", ".", 1).replace(" ", "_"): command
    for package in PACKAGES
    for name, command in every_command(package).items()
}
ONLY_TERMINAL = {"format", "csv_safe", "quiet", "verbose", "output", "help", "stars", "strict"}


class Entry(NamedTuple):
    """What the docstring of a command says of one parameter or some."""

    names: list[str]
    kind: str
    text: str


def entries(function: str) -> Iterator[Entry]:
    """Yield the entries of a docstring as they stand in the source."""
    module, name = inspect.getmodule(FUNCTIONS[function]), function.partition(".")[2]
    for node in ast.walk(ast.parse(inspect.getsource(module))):  # type: ignore[arg-type]
        if isinstance(node, ast.FunctionDef) and node.name == name:
            _, _, section = (ast.get_docstring(node) or "").partition("\nParameters\n----------\n")
            section, *_ = re.split(r"\n\n[A-Z]\w+\n-+\n", section)
            for entry in re.split(r"\n(?=\S)", section) if section else []:
                heading, _, text = entry.partition("\n")
                names, _, kind = heading.partition(" : ")
                yield Entry(re.findall(r"\w+", names), kind, " ".join(text.split()))


def options_of(name: str) -> dict[str | None, click.Option]:
    """Return the options of a command in the terminal; none: there is no such command."""
    command = COMMANDS.get(name, click.Command("none"))
    return {option.name: option for option in command.params if isinstance(option, click.Option)}


def test_every_function_is_a_command_and_every_command_a_function() -> None:
    assert set(COMMANDS) == set(FUNCTIONS)
    assert set(ngramscan.__all__) <= set(dir(ngramscan)), "what completion shows"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ngramscan.nothing  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_every_help_text_stands_once_in_the_source(package: str) -> None:
    every = [entry for name in FUNCTIONS if name.startswith(package) for entry in entries(name)]
    texts = Counter(entry.text for entry in every if not entry.kind.startswith("see "))
    assert [text for text, n in texts.items() if n > 1] == []
    assert all(texts), "an entry without a text repeats that of another command: `name : see count`"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_an_option_elsewhere_holds_here(name: str) -> None:
    """An option that has the help of another command's has its flags, type and default too."""
    here = options_of(name)
    for names, kind, _ in entries(name):
        there = options_of(f"{name.partition('.')[0]}.{kind.removeprefix('see ')}")
        for option in here.keys() & set(names) if kind.startswith("see ") else ():
            if option != "index":  # where to look by default depends on what is asked
                assert here[option].to_info_dict() == there[option].to_info_dict()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_those_of_signature_docstring_and_command(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in parameters.values()}
    documented = [option for entry in entries(name) for option in entry.names]
    assert [one for one in documented if one not in ONLY_TERMINAL - {*parameters}] == [*parameters]
    for option, one in parameters.items():
        if one.kind is not one.VAR_POSITIONAL:
            wrong = f"{option}{option[-1]}"
            with pytest.raises(TypeError, match=rf"no option '{wrong}'; did you mean '{option}'\?"):
                FUNCTIONS[name](**{wrong: 1})
    command = COMMANDS[name]
    context = click.Context(command)
    assert command.help
    assert command.help.split("\n")[0].endswith(".")
    assert set(parameters) - {option.name for option in command.params} <= {"progress"}
    for key, in_terminal in options_of(name).items():
        assert in_terminal.help
        if key not in parameters:
            assert key in {"format_name", *ONLY_TERMINAL}
            continue
        default, given = parameters[str(key)].default, in_terminal.get_default(context)
        assert in_terminal.required == (default is inspect.Parameter.empty)
        several = given if isinstance(given, list) else [given]
        # What is not set is a mark of click's own.
        plain = [one for one in several if isinstance(one, str | int | float | Path)]
        is_set = default not in (None, (), "", inspect.Parameter.empty)
        assert plain == ([default] if is_set else [])

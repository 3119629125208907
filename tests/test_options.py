"""Options of all commands: each is defined once, and Python and the terminal have the same."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import evalcore
import ngramscan
from ngramscan.reporting.signatures import sections_of, shared_fields
from tests.support.command import MAINS

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (ngramscan, evalcore)
    for name in package.__all__
    if not inspect.isclass(getattr(package, name))  # an error
}


def commands() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what click knows of each command, by the name of its function."""
    for package, main in MAINS.items():
        for name, known in main.to_info_dict(click.Context(main))["commands"].items():
            for inner, one in known.get("commands", {"": known}).items():
                yield f"{package}.{name}_{inner}".removesuffix("_"), one


COMMANDS = dict(commands())


def options_of(name: str) -> dict[str, dict[str, Any]]:
    """Return what click knows of the options of a command; none: there is no such command."""
    known = COMMANDS[name]["params"] if name in COMMANDS else []
    return {one["name"]: one for one in known if one["param_type_name"] == "option"}


def sources(function: str) -> list[Any]:
    """Return what documents the options of a command: its function, and shared dataclasses."""
    own = inspect.unwrap(FUNCTIONS[function])
    return [own, *dict.fromkeys(owner for owner, _ in shared_fields(own))]


def entries_of(source: Any) -> Iterator[tuple[list[str], str, str]]:
    """Yield names, type and text of the parameters in a docstring."""
    section = sections_of(source).get("Parameters", "").strip()
    for entry in re.split(r"\n(?=\S)", section) if section else []:
        heading, _, text = entry.partition("\n")
        names, _, kind = heading.partition(" : ")
        yield re.findall(r"\w+", names), kind, " ".join(text.split())


def entries(function: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield names, type and text of all options of a command."""
    for source in sources(function):
        yield from entries_of(source)


def test_every_function_is_a_command_that_stands_in_the_reference() -> None:
    assert set(COMMANDS) == {*FUNCTIONS, "ngramscan.serve"}, "which is the name of a room, too"
    reference = (ROOT / "docs" / "commands.md").read_text()
    for name, command in COMMANDS.items():
        assert f"Usage: {re.sub('[._]', ' ', name)} " in reference
        assert command["help"].split("\n")[0].endswith(".")
    assert set(ngramscan.__all__) <= set(dir(ngramscan)), "what completion shows"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ngramscan.nothing  # noqa: B018


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_an_option_elsewhere_holds_here(name: str) -> None:
    """An option that has the help of another command's has its flags, type and default too."""
    here = options_of(name)
    for names, kind, _ in entries(name):
        there = options_of(f"{name.partition('.')[0]}.{kind.removeprefix('see ')}")
        for option in here.keys() & set(names) if kind.startswith("see ") else ():
            # Where to look by default depends on what is asked.
            assert option == "index" or here[option] == there[option]

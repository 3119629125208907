"""Options of all commands: each is defined once, and Python and the terminal have the same."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import evalcore
import ngramscan
from ngramscan.reporting.options import SET_ONCE
from ngramscan.reporting.signatures import columns_of, sections_of, shared_fields
from tests.support.command import MAINS

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (ngramscan, evalcore)
    for name in package.__all__
    if not inspect.isclass(getattr(package, name))  # an error
}
ONLY_TERMINAL = {
    *("format", "sort", "csv_safe", "output", "wide", "stars"),
    *("yes", "quiet", "verbose", "help", "strict", "open"),
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
    reference = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        assert f"Usage: {re.sub('[._]', ' ', name)} " in reference
        assert command["help"].split("\n")[0].endswith(".")
    assert set(ngramscan.__all__) <= set(dir(ngramscan)), "what completion shows"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ngramscan.nothing  # noqa: B018


def test_every_help_text_stands_once_in_the_source() -> None:
    documented = dict.fromkeys(source for name in FUNCTIONS for source in sources(name))
    every = [entry for source in documented for entry in entries_of(source)]
    texts = Counter(text for _, kind, text in every if not kind.startswith("see "))
    assert [text for text, n in texts.items() if n > 1] == [], "`name : see count` repeats it"
    assert all(texts)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_an_option_elsewhere_holds_here(name: str) -> None:
    """An option that has the help of another command's has its flags, type and default too."""
    here = options_of(name)
    for names, kind, _ in entries(name):
        there = options_of(f"{name.partition('.')[0]}.{kind.removeprefix('see ')}")
        for option in here.keys() & set(names) if kind.startswith("see ") else ():
            # Where to look by default depends on what is asked.
            assert option == "index" or here[option] == there[option]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_those_of_signature_docstring_and_command(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in parameters.values()}
    documented = [option for names, *_ in entries(name) for option in names]
    assert [one for one in documented if one in parameters] == [*parameters]
    left_out = {"ignore_case", "tokenizer", "refresh"}  # by commands that share the others
    assert {*documented} - {*parameters} <= ONLY_TERMINAL | left_out
    assert {*parameters} <= {"progress", *(one["name"] for one in COMMANDS[name]["params"])}
    for option, one in parameters.items():
        if one.kind is not one.VAR_POSITIONAL:
            wrong = f"{option}{option[-1]}"
            with pytest.raises(TypeError, match=rf"no option '{wrong}'; did you mean {option}\?"):
                FUNCTIONS[name](**{wrong: 1})
    for option, in_terminal in options_of(name).items():
        assert in_terminal["help"]
        default, given = getattr(parameters.get(option), "default", None), in_terminal["default"]
        assert in_terminal["required"] == (default is inspect.Parameter.empty)
        if option not in parameters:
            continue
        is_set = default not in (None, (), "", inspect.Parameter.empty)
        assert given == (None if not is_set else [default] if in_terminal["multiple"] else default)


def test_a_variable_gives_the_same_option_everywhere() -> None:
    """Who sets NGRAMSCAN_WORKERS for one command sets it for all that have the variable."""
    said: dict[str, set[tuple[str, str]]] = {}
    for name in COMMANDS:
        for option, known in options_of(name).items():
            if variable := known["envvar"]:
                said.setdefault(variable, set()).add((option, str(known["help"])))
    assert {*said} >= {f"NGRAMSCAN_{name.removesuffix('_s').upper()}" for name in SET_ONCE}
    assert {"OPENAI_BASE_URL", "EVALCORE_CONCURRENCY", "EVALCORE_TIMEOUT"} <= {*said}
    for variable, options in said.items():
        # Where to look is said by count for all; evalcore judges and runs at different rates.
        assert len({option for option, _ in options}) == 1, variable
        assert len(options) == 1 or variable.startswith("EVALCORE_"), options


def test_the_columns_to_sort_by_are_known_before_a_command_runs() -> None:
    unknown = {name for name in FUNCTIONS if not columns_of(inspect.unwrap(FUNCTIONS[name]))}
    # Their row types are in modules of an extra.
    assert unknown == {
        *(f"ngramscan.index_{word}" for word in ("add", "build", "verify")),
        "ngramscan.report",  # a page has no rows
    }
    assert "occurrences" in columns_of(inspect.unwrap(ngramscan.count))
    assert {"documents", "lookups"} <= {*columns_of(inspect.unwrap(ngramscan.docnorm))}

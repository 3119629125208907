"""Options of all commands: each is defined once, and Python and the terminal have the same."""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

import evalcore
import ngramscan
from ngramscan.errors import InputError
from ngramscan.indexes.options import parse_size
from ngramscan.reporting.options import SET_ONCE, checked, parameters
from ngramscan.reporting.signatures import columns_of, sections_of, shared_fields
from tests.support.command import invoke
from tests.support.command_options import COMMANDS, FUNCTIONS
from tests.support.places import ROOT


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


NUMBERS = {
    f"{name} {option['opts'][-1]}": option["type"]
    for name in COMMANDS
    for option in options_of(name).values()
    if option["type"]["param_type"] in {"_Float", "_Integer", "Float", "Int"}
}


def test_every_number_has_a_range() -> None:
    """A float has two ends, and a whole number at least its lower one."""
    floats = {name: kind for name, kind in NUMBERS.items() if "Float" in kind["param_type"]}
    assert [name for name, kind in NUMBERS.items() if kind.get("min") is None] == []
    assert [name for name, kind in floats.items() if kind.get("max") is None] == []
    assert {name.split()[-1] for name in floats} >= {"--level", "--rate", "--timeout", "--power"}


NO_NUMBERS = ("nan", "-nan", "inf", "-inf", "1e400", "-1e400", "-0.0", "-0e5", "1e19", "one")


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_or_out_of_range_is_refused_by_every_option(value: str) -> None:
    for name, option in every_number():
        with pytest.raises(InputError, match=re.escape(f"{option.opts[-1]} {value}")):
            checked(option, [value] if option.multiple else value)
        assert name


@pytest.mark.parametrize("value", ["2.5", "1e3", "1.0", "0x10"])
def test_a_whole_number_is_written_as_one(value: str) -> None:
    wholes = [option for _, option in every_number() if kind_of(option).name == "integer"]
    assert len(wholes) > 50
    for option in wholes:
        with pytest.raises(InputError, match="not a valid integer"):
            checked(option, value)


@pytest.mark.parametrize("value", [0.9999999999999999, 1 - 1e-12, 1.0, 0.0, 5e-324, 1e-12])
def test_a_level_that_rounds_to_0_or_1_is_refused(value: float) -> None:
    levels = [option for _, option in every_number() if option.name in {"level", "alpha"}]
    assert len(levels) >= 5
    for option in levels:
        assert [checked(option, good) for good in (0.95, 0.999999)] == [0.95, 0.999999]
        with pytest.raises(InputError, match=f"--{option.name}"):
            checked(option, value)


def every_number() -> Iterator[tuple[str, click.Option]]:
    """Yield the options of all functions whose values are numbers."""
    for name, function in FUNCTIONS.items():
        for option in parameters(inspect.unwrap(function)).values():
            if isinstance(option, click.Option) and kind_of(option).name in {"float", "integer"}:
                yield name, option


def kind_of(option: click.Option) -> Any:
    return getattr(option.type, "part", option.type)


@pytest.mark.parametrize(
    ("function", "option", "value", "expected"),
    [
        (ngramscan.contaminate, "level", 1.5, "must be between 0 and 1, both excluded"),
        (ngramscan.contaminate, "level", float("nan"), "must be between 0 and 1, both excluded"),
        (ngramscan.contaminate, "level", 1 - 1e-12, "both excluded; it is too near to 1"),
        (ngramscan.keyness, "q", 0, "must be between 0 and 1, 0 excluded"),
        (ngramscan.contaminate, "sample", 0, "must be at least 1"),
        (ngramscan.contaminate, "sample", 2**63, "at least 1, and less than 2^63 in size"),
        (ngramscan.count, "timeout_s", 2e6, "must be between 0 and 1,000,000, 0 excluded"),
        (evalcore.logs, "max_score", float("inf"), "between -1,000,000,000 and 1,000,000,000"),
    ],
    ids=[
        "open at both ends",
        "no number",
        "rounded to an end",
        "open at one end",
        "no upper end",
        "more than 64 bits",
        "a large end",
        "infinite",
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(
    function: Callable[..., Any], option: str, value: float, expected: str
) -> None:
    known = parameters(inspect.unwrap(function))[option]
    with pytest.raises(InputError) as error:
        checked(known, value)
    assert str(error.value).startswith(f"{known.opts[-1]} {value}: ")
    assert str(error.value).endswith(expected)


def test_each_number_out_of_its_range_is_refused_with_its_ends() -> None:
    for _, option in every_number():
        kind = kind_of(option)
        for end, beyond in ((kind.min, -1), (kind.max, 1)):
            if end is None:
                continue
            with pytest.raises(InputError) as error:
                checked(option, end + beyond)
            assert f"{end:,}" in str(error.value)


def test_a_terminal_says_a_range_in_one_line() -> None:
    done = invoke("contaminate", "questions.jsonl", "--level", "1.5")
    expected = "Error: --level 1.5: must be between 0 and 1, both excluded\n"
    assert (done.code, done.stdout, done.stderr) == (2, "", expected)


@pytest.mark.parametrize("size", ["1" + "0" * 400, "9999999999GB", str(2**63), "1" * 5000])
def test_a_size_without_an_end_is_refused(size: str) -> None:
    with pytest.raises(InputError, match="expected less than 9,223,372,036,854,775,808 bytes"):
        parse_size(size)


ONLY_TERMINAL = {
    "csv_safe",
    "format",
    "help",
    "open",
    "output",
    "quiet",
    "show_all",
    "sort",
    "stars",
    "strict",
    "verbose",
    "wide",
    "yes",
}


def test_every_help_text_stands_once_in_the_source() -> None:
    documented = {
        (source, text)
        for name in FUNCTIONS
        for source in sources(name)
        for names, kind, text in entries_of(source)
        if not kind.startswith("see ") and options_of(name).keys() & set(names)
    }
    texts = Counter(text for _, text in documented)
    assert [text for text, n in texts.items() if n > 1] == [], "`name : see count` repeats it"
    assert all(texts)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_those_of_signature_docstring_and_command(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in parameters.values()}
    documented = [option for names, *_ in entries(name) for option in names]
    assert [one for one in documented if one in parameters] == [*parameters]
    left_out = {"by", "ignore_case", "tokenizer", "refresh"}  # by commands that share the others
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

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
from ngramscan.indexes.options import MATCH_OPTIONS, parse_size
from ngramscan.reporting.options import SET_ONCE, checked, flags_of, parameters
from ngramscan.reporting.signatures import columns_of, sections_of, shared_fields
from tests.support.command import invoke
from tests.support.command_options import COMMANDS, FUNCTIONS
from tests.support.places import ROOT


def options_of(name: str) -> dict[str, dict[str, Any]]:
    """Return what click knows of the options of a command; none: there is no such command."""
    known = COMMANDS[name]["params"] if name in COMMANDS else []
    return {option["name"]: option for option in known if option["param_type_name"] == "option"}


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
    usages = [f"Usage: {re.sub('[._]', ' ', name)} " for name in COMMANDS]
    assert [usage for usage in usages if usage not in reference] == []
    first_lines = [command["help"].split("\n")[0] for command in COMMANDS.values()]
    assert [line for line in first_lines if not line.endswith(".")] == []
    assert set(ngramscan.__all__) <= set(dir(ngramscan)), "what completion shows"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ngramscan.nothing  # noqa: B018


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_an_option_elsewhere_holds_here(name: str) -> None:
    """An option that has the help of another command's has its flags, type and default too."""
    here = options_of(name)
    elsewhere: dict[str, dict[str, Any]] = {}
    for names, kind, _ in entries(name):
        if kind.startswith("see "):
            there = options_of(f"{name.partition('.')[0]}.{kind.removeprefix('see ')}")
            elsewhere |= {option: there[option] for option in names if option in here}
    elsewhere.pop("index", None)  # where to look by default depends on what is asked
    assert {option: here[option] for option in elsewhere} == elsewhere


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


def kind_of(option: click.Option) -> Any:
    return getattr(option.type, "part", option.type)


def number_options() -> Iterator[tuple[str, click.Option]]:
    """Yield the options of all functions whose values are numbers, by function and flag."""
    for name, function in FUNCTIONS.items():
        for option in parameters(inspect.unwrap(function)).values():
            if isinstance(option, click.Option) and kind_of(option).name in {"float", "integer"}:
                yield f"{name} {option.opts[-1]}", option


NUMBER_OPTIONS = dict(number_options())
WHOLE = {
    name: option for name, option in NUMBER_OPTIONS.items() if kind_of(option).name == "integer"
}
LEVELS = {
    name: option for name, option in NUMBER_OPTIONS.items() if option.name in {"level", "alpha"}
}


def refusal_of(option: click.Option, value: Any) -> str:
    """Return how an option refuses a value, or nothing: it takes it."""
    try:
        checked(option, [value] if option.multiple else value)
    except InputError as error:
        error.name_flags(flags_of([option]))
        return str(error)
    return ""


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_or_out_of_range_is_refused_by_every_option(value: str) -> None:
    refusals = {name: refusal_of(option, value) for name, option in NUMBER_OPTIONS.items()}
    # Each name ends in the flag.
    told = {name: f"{name.split()[-1]} {value}" in refusal for name, refusal in refusals.items()}
    assert [name for name, is_told in told.items() if not is_told] == []


@pytest.mark.parametrize("value", ["2.5", "1e3", "1.0", "0x10"])
def test_a_whole_number_is_written_as_one(value: str) -> None:
    assert len(WHOLE) > 50
    refusals = {name: refusal_of(option, value) for name, option in WHOLE.items()}
    assert [name for name in WHOLE if "not a valid integer" not in refusals[name]] == []


@pytest.mark.parametrize("value", [0.95, 0.999999])
def test_a_level_between_0_and_1_is_taken(value: float) -> None:
    assert len(LEVELS) >= 5
    assert {name: checked(option, value) for name, option in LEVELS.items()} == dict.fromkeys(
        LEVELS, value
    )


@pytest.mark.parametrize("value", [0.9999999999999999, 1 - 1e-12, 1.0, 0.0, 5e-324, 1e-12])
def test_a_level_that_rounds_to_0_or_1_is_refused(value: float) -> None:
    refusals = {name: refusal_of(option, value) for name, option in LEVELS.items()}
    assert [name for name in LEVELS if name.split()[-1] not in refusals[name]] == []


LEVEL, TIMEOUT = (ngramscan.contaminate, "level"), (ngramscan.count, "timeout_s")
SAMPLE = (ngramscan.contaminate, "sample")


@pytest.mark.parametrize(
    ("function", "option", "value", "expected"),
    [
        pytest.param(*LEVEL, 1.5, "must be between 0 and 1, both excluded", id="both ends open"),
        pytest.param(
            *LEVEL, float("nan"), "must be between 0 and 1, both excluded", id="no number"
        ),
        pytest.param(
            *LEVEL, 1 - 1e-12, "both excluded; it is too near to 1", id="rounded to an end"
        ),
        pytest.param(
            ngramscan.keyness, "q", 0, "must be between 0 and 1, 0 excluded", id="one end open"
        ),
        pytest.param(*SAMPLE, 0, "must be at least 1", id="no upper end"),
        pytest.param(
            *SAMPLE, 2**63, "at least 1, and less than 2^63 in size", id="more than 64 bits"
        ),
        pytest.param(
            *TIMEOUT, 2e6, "must be between 0 and 1,000,000, 0 excluded", id="a large end"
        ),
        pytest.param(
            evalcore.logs,
            "max_score",
            float("inf"),
            "between -1,000,000,000 and 1,000,000,000",
            id="infinite",
        ),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(
    function: Callable[..., Any], option: str, value: float, expected: str
) -> None:
    known = parameters(inspect.unwrap(function))[option]
    with pytest.raises(InputError) as error:
        checked(known, value)
    error.value.name_flags(flags_of([known]))
    assert str(error.value).startswith(f"{known.opts[-1]} {value}: ")
    assert str(error.value).endswith(expected)


@pytest.mark.parametrize(
    ("end", "beyond"), [pytest.param("min", -1, id="below"), pytest.param("max", 1, id="above")]
)
def test_each_number_out_of_its_range_is_refused_with_its_ends(end: str, beyond: int) -> None:
    ends = {name: getattr(kind_of(option), end) for name, option in NUMBER_OPTIONS.items()}
    known = {name: value for name, value in ends.items() if value is not None}
    refusals = {name: refusal_of(NUMBER_OPTIONS[name], known[name] + beyond) for name in known}
    assert [name for name, value in known.items() if f"{value:,}" not in refusals[name]] == []
    assert known


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
    "top",
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
    assert inspect.Parameter.VAR_KEYWORD not in {known.kind for known in parameters.values()}
    documented = [option for names, *_ in entries(name) for option in names]
    assert [option for option in documented if option in parameters] == [*parameters]
    # By commands that share the others.
    left_out = {"by", "tokenizer", "refresh", *MATCH_OPTIONS}
    assert {*documented} - {*parameters} <= ONLY_TERMINAL | left_out
    assert {*parameters} <= {"progress", *(known["name"] for known in COMMANDS[name]["params"])}
    assert [option for option, known in options_of(name).items() if not known["help"]] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_option_that_is_not_there_is_told_with_the_one_that_is_meant(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    options = [
        option for option, known in parameters.items() if known.kind is not known.VAR_POSITIONAL
    ]
    hints, refusals = [], []
    for option in options:
        wrong = f"{option}{option[-1]}"
        with pytest.raises(TypeError) as caught:
            FUNCTIONS[name](**{wrong: 1})
        refusals.append(str(caught.value).partition("(): ")[2])
        hints.append(f"no option '{wrong}'; did you mean {option}?")
    assert refusals == hints


def default_of(default: Any, is_multiple: bool) -> Any:
    """Return what a terminal has as default of an option with a default in Python."""
    if default in (None, (), "", inspect.Parameter.empty):
        return None
    return [default] if is_multiple else default


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_those_of_the_signature(name: str) -> None:
    parameters, options = inspect.signature(FUNCTIONS[name]).parameters, options_of(name)
    defaults = {option: known.default for option, known in parameters.items() if option in options}
    needed = {option for option, value in defaults.items() if value is inspect.Parameter.empty}
    assert {option for option, known in options.items() if known["required"]} == needed
    assert {option: options[option]["default"] for option in defaults} == {
        option: default_of(default, options[option]["multiple"])
        for option, default in defaults.items()
    }


def test_a_variable_gives_the_same_option_everywhere() -> None:
    """Who sets NGRAMSCAN_WORKERS for one command sets it for all that have the variable."""
    said: dict[str, set[tuple[str, str]]] = {}
    for name in COMMANDS:
        for option, known in options_of(name).items():
            if variable := known["envvar"]:
                said.setdefault(variable, set()).add((option, str(known["help"])))
    assert {*said} >= {f"NGRAMSCAN_{name.removesuffix('_s').upper()}" for name in SET_ONCE}
    assert {"OPENAI_BASE_URL", "EVALCORE_CONCURRENCY", "EVALCORE_TIMEOUT"} <= {*said}
    names = {variable: {option for option, _ in options} for variable, options in said.items()}
    assert [variable for variable, options in names.items() if len(options) > 1] == []
    # Where to look is said by count for all; evalcore judges and runs at different rates.
    others = [said[variable] for variable in said if not variable.startswith("EVALCORE_")]
    assert [options for options in others if len(options) > 1] == []


def test_the_columns_to_sort_by_are_known_before_a_command_runs() -> None:
    unknown = {name for name in FUNCTIONS if not columns_of(inspect.unwrap(FUNCTIONS[name]))}
    # Their row types are in modules of an extra.
    assert unknown == {
        *(f"ngramscan.index_{word}" for word in ("add", "build", "verify")),
        "ngramscan.report",  # a page has no rows
    }
    assert "occurrences" in columns_of(inspect.unwrap(ngramscan.count))
    assert {"documents", "lookups"} <= {*columns_of(inspect.unwrap(ngramscan.docnorm))}

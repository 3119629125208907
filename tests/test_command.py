"""A function with options → a command: the same in Python and in the terminal."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

from ngramscan.errors import IncompleteError, InputError
from ngramscan.progress import SILENT, Progress
from ngramscan.report.command import Commands, Option, Result, command

if TYPE_CHECKING:
    import pandas as pd

RAISED = {"interrupt": KeyboardInterrupt(), "wrong": InputError("place", "\x1bwrong")}


@dataclass(frozen=True, slots=True)
class Row:
    """What a command was given."""

    name: str
    value: str


@command
def measure(
    what: str | Path | Sequence[str | Path],
    *,
    unit: Literal["metre", "foot"] = "metre",
    names: Annotated[str | Sequence[str], Option(metavar="NAMES", has_commas=True)] = "a,b",
    by: Annotated[str | Sequence[str], Option(metavar="COLUMN")] = (),
    level: Annotated[float, Option(over=0, under=1)] = 0.95,
    most: Annotated[int | None, Option(flags="-n --most", least=1)] = None,
    key: Annotated[str | None, Option(metavar="KEY", envvar="MEASURE_KEY")] = None,
    fail: bool = False,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: Annotated[Path | None, Option(metavar="FILE", is_written=True)] = None,
    progress: Progress = SILENT,
) -> Result:
    r"""Measure something.

    WHAT is a thing.

    Parameters
    ----------
    what : str or several of them
        Things.
    unit : str
        The unit; see `most`, and `other`.
    names : str or sequence of str
        Names.
    by : str or sequence of str
        Columns.
    level : float
        Level,
        on two lines.
    most, key : int, optional
        The most.
    fail : bool
        Fail.
    stars : bool
        Stars.
    averages : Path, optional
        Averages.
    progress : Progress
        Told.

    Returns
    -------
    DataFrame
        What was given.

    Examples
    --------
    $ toy measure x --level 0.9
    $ toy measure x \
          --unit foot
    >>> measure("x")
    """
    progress.detail("a detail")
    given = (unit, names, by, level, most, key, averages)
    return Result(
        [Row(str(number), repr(value)) for number, value in enumerate(given)],
        Row,
        notices=["a notice"],
        failures=["one", "two"] if fail else [],
        heading=f"a heading{'*' * stars}",
        for_paper=([Row("for", "paper")], Row),
    )


@command
def do_again(*, what: str, times: Annotated[int | None, Option(flags="-n")] = None) -> Result:
    """Do it again; some things go wrong.

    Parameters
    ----------
    what : str
        What to do.
    times : int, optional
        How often.
    """
    if what in RAISED:
        raise RAISED[what]
    return Result([Row(what, str(times))], Row, is_silent=True, exit_code=3)


@command
def do_more(*, unit: str = "") -> Result:
    """Do more.

    Parameters
    ----------
    unit : see measure
    """
    return Result([Row("unit", unit)], Row)


def terminal(*arguments: str, keeping: Sequence[str] = ()) -> tuple[int, str, str]:
    group = Commands("tests.test_command", ["measure"])
    inner = Commands("tests.test_command", ["again", "more"], keeping, prefix="do_")
    group.add_command(inner, "do")
    ran = CliRunner(catch_exceptions=False).invoke(group, list(arguments))
    return ran.exit_code, ran.stdout, ran.stderr


def as_dict(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["name"], frame["value"], strict=True))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, ""),
        ({"unit": "foot"}, "--unit FOOT"),
        ({"names": "c"}, "--names c"),
        ({"names": ["c", "d "]}, "--names c,d"),
        ({"by": "x,y"}, "--by x,y"),
        ({"by": ["x", "y"]}, "--by x --by y"),
        ({"level": 0.5, "most": 3}, "--level .5 -n 3"),
        ({"averages": "a.csv"}, "--averages a.csv"),
    ],
)
def test_python_and_the_terminal_give_the_function_the_same(
    options: dict[str, Any], line: str
) -> None:
    code, stdout, _ = terminal("measure", "x", *line.split(), "--format", "csv")
    assert code == 0
    parts = [line.split(",", 1) for line in stdout.splitlines()[1:]]
    assert {name: value.strip('"') for name, value in parts} == as_dict(measure("x", **options))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"unit": "inch"}, "--unit inch"),
        ({"level": 1}, "--level 1"),
        ({"level": "high"}, "--level high"),
        ({"most": 0}, "--most 0"),
        ({"most": 1.5}, "--most 1.5"),
    ],
)
def test_what_the_terminal_refuses_python_refuses(options: dict[str, Any], line: str) -> None:
    code, _, stderr = terminal("measure", "x", *line.split())
    assert code == 2
    with pytest.raises(InputError, match=f"^{line}: ") as caught:
        measure("x", **options)
    if "unit" in options:
        assert str(caught.value) == "--unit inch: one of metre, foot was expected"
    else:
        assert str(caught.value).removeprefix(f"{line}: ") in stderr, "in the same words"


def test_an_unknown_or_hidden_option_is_a_type_error_with_the_nearest_name() -> None:
    with pytest.raises(TypeError, match=r"^measure\(\): there is no option 'levl'; .* 'level'\?"):
        measure("x", levl=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no option 'zzz'; there are what, unit, names, by, level"):
        measure("x", zzz=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="there is no option 'stars'"):
        measure("x", stars=True)
    assert "stars" not in inspect.signature(measure).parameters
    with pytest.raises(TypeError, match="missing a required argument: 'what'"):
        measure()  # type: ignore[call-arg]


def test_the_terminal_shows_heading_rows_notices_and_failures() -> None:
    code, stdout, stderr = terminal("measure", "x", "--fail", "--stars")
    assert code == 1
    assert stdout.startswith("a heading*\n")
    assert stderr == "a notice\nError: one\nError: two\n"
    _, stdout, stderr = terminal("measure", "x", "--format", "csv")
    assert stdout.startswith("name,value\n")
    assert stderr == "a heading\na notice\n"
    assert terminal("measure", "x", "--format", "csv", "-q")[2] == ""
    assert "for & paper" in terminal("measure", "x", "--format", "latex")[1]
    assert "a detail" in terminal("measure", "x", "-v")[2]
    assert terminal("do", "again", "--what", "x") == (3, "", "")
    assert terminal("do", "again", "--what", "x", "--format", "csv")[1] == "name,value\nx,None\n"


def test_failures_in_python_are_an_error_that_has_the_rows() -> None:
    with pytest.raises(IncompleteError, match=r"^one; two$") as caught:
        measure("x", fail=True)
    assert len(caught.value.rows) == 7


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a.csv")
    code, stdout, stderr = terminal("measure", "x", "-o", path, "--averages", path)
    assert (code, stdout) == (2, "")
    assert (
        stderr == f"Error: --averages {path}: -o writes to the same file; two files were expected\n"
    )


def test_what_goes_wrong_is_one_line_and_an_exit_code() -> None:
    line, kept = ("do", "again", "--what"), "what was done is kept: run the same command again.\n"
    assert terminal(*line, "wrong") == (2, "", "Error: place: \\x1bwrong\n")
    assert terminal(*line, "interrupt") == (130, "", "Interrupted; nothing was kept.\n")
    assert terminal(*line, "interrupt", keeping=["again"]) == (130, "", f"Interrupted; {kept}")


def test_help_is_read_off_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(terminal("measure", "--help")[1].split())
    assert "Measure something. WHAT is a thing. Examples: toy measure x --level 0.9 toy" in text
    assert r"toy measure x \ --unit foot" in text
    assert ">>>" not in text
    for part in (
        "--unit [metre|foot] The unit; see --most, and `other`. [default: metre]",
        "--names NAMES Names. [default: a,b]",
        "--by COLUMN Columns. Repeatable.",
        "--level X Level, on two lines. [default: 0.95; 0<x<1]",
        "-n, --most N The most. [x>=1]",
        "--key KEY The most. [env var: MEASURE_KEY]",
        "-q, --quiet Show no progress and no notices.",
    ):
        assert part in text, text
    monkeypatch.setattr("tests.measure", measure, raising=False)
    assert re.search("--unit TEXT +The unit; see", terminal("do", "more", "--help")[1])


def test_what_is_needed_and_is_not_there_is_told() -> None:
    code, _, stderr = terminal("do", "again")
    assert (code, "Missing option '--what'" in stderr) == (2, True)
    code, _, stderr = terminal("do", "again", "--what", "x", "-n", "1.5")
    assert (code, "'1.5' is not a valid integer." in stderr) == (2, True)
    assert "did you mean" in terminal("do", "agian")[2].lower()
    group = Commands("tests.test_command", ["measure"])
    assert group.get_command(click.Context(group), "nothing") is None

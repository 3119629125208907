"""What a command's function and its command in the terminal share: all that stands once."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

import evalcore
from ngramscan.errors import IncompleteError, InputError
from ngramscan.progress import SILENT, Progress
from ngramscan.report.command import Commands, Option, Result, command, to_click

if TYPE_CHECKING:
    import pandas as pd


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


def terminal(*arguments: str) -> tuple[int, str, str]:
    ran = CliRunner().invoke(to_click(measure, keeps=False), list(arguments))
    return ran.exit_code, ran.stdout, ran.stderr


def rows(text: str) -> dict[str, str]:
    return {
        name: value.strip('"')
        for name, value in (line.split(",", 1) for line in text.splitlines()[1:])
    }


def as_dict(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["name"], frame["value"], strict=True))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"unit": "foot"}, ["--unit", "foot"]),
        ({"names": "c"}, ["--names", "c"]),
        ({"names": ["c", "d "]}, ["--names", "c, d"]),
        ({"by": "x,y"}, ["--by", "x,y"]),
        ({"by": ["x", "y"]}, ["--by", "x", "--by", "y"]),
        ({"level": 0.5, "most": 3}, ["--level", ".5", "-n", "3"]),
        ({"averages": "a.csv"}, ["--averages", "a.csv"]),
    ],
)
def test_python_and_the_terminal_give_the_function_the_same(
    options: dict[str, Any], arguments: list[str]
) -> None:
    code, stdout, _ = terminal("x", *arguments, "--format", "csv")
    assert code == 0
    assert rows(stdout) == as_dict(measure("x", **options))


@pytest.mark.parametrize(
    ("options", "arguments", "place"),
    [
        ({"unit": "inch"}, ["--unit", "inch"], "--unit inch"),
        ({"level": 1}, ["--level", "1"], "--level 1"),
        ({"level": "high"}, ["--level", "high"], "--level high"),
        ({"most": 0}, ["--most", "0"], "--most 0"),
        ({"most": 1.5}, ["--most", "1.5"], "--most 1.5"),
    ],
)
def test_what_the_terminal_refuses_python_refuses(
    options: dict[str, Any], arguments: list[str], place: str
) -> None:
    assert terminal("x", *arguments)[0] == 2
    with pytest.raises(InputError, match=f"^{place}: "):
        measure("x", **options)


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
    code, stdout, stderr = terminal("x", "--fail", "--stars")
    assert code == 1
    assert stdout.startswith("a heading*\n")
    assert stderr == "a notice\nError: one\nError: two\n"
    code, stdout, stderr = terminal("x", "--format", "csv")
    assert stdout.startswith("name,value\n")
    assert stderr == "a heading\na notice\n"
    assert terminal("x", "--format", "csv", "-q")[2] == ""
    assert "for & paper" in terminal("x", "--format", "latex")[1]
    assert "a detail" in terminal("x", "-v")[2]


def test_failures_in_python_are_an_error_that_has_the_rows() -> None:
    with pytest.raises(IncompleteError, match=r"^one; two$") as caught:
        measure("x", fail=True)
    assert len(caught.value.rows) == 7


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a.csv")
    ran = CliRunner().invoke(to_click(measure, keeps=False), ["x", "-o", path, "--averages", path])
    assert isinstance(ran.exception, InputError)
    assert "writes to the same file" in str(ran.exception)


def test_help_is_read_off_the_function() -> None:
    text = " ".join(terminal("--help")[1].split())
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


def test_what_is_needed_and_is_not_there_is_told() -> None:
    @command
    def need(*, method: str, times: int | None = None) -> Result:
        """Do it.

        Parameters
        ----------
        method : str
            Which.
        times : int, optional
            How often.
        """
        return Result([Row("method", f"{method} {times}")], Row)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(to_click(need, keeps=True), [*arguments, "--format", "csv"])

    missing, wrong = run(), run("--method", "x", "--times", "1.5")
    assert (missing.exit_code, wrong.exit_code) == (2, 2)
    assert "Missing option '--method'" in missing.stderr
    assert "'1.5' is not a valid integer." in wrong.stderr
    assert run("--method", "x", "--times", "-3").stdout == "name,value\nmethod,x -3\n"


def test_what_another_command_says_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    @command
    def again(*, unit: str = "") -> Result:
        """Do it again.

        Parameters
        ----------
        unit : see measure
        """
        return Result([Row("unit", unit)], Row)

    monkeypatch.setattr("tests.measure", measure, raising=False)
    assert "--unit TEXT The unit" in " ".join(
        CliRunner().invoke(to_click(again, keeps=True), ["--help"]).stdout.split()
    )


def test_commands_are_imported_when_they_are_used() -> None:
    group = Commands("evalcore", evalcore.__all__, keeping=[], name="evalcore")
    context = click.Context(group)
    assert set(evalcore.__all__) <= set(group.list_commands(context))
    assert group.get_command(context, "nothing") is None

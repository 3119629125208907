"""A function with options → a command: the same in Python and in the terminal."""

import errno
import inspect
import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import evalcore
from ngramscan.errors import IncompleteError, InputError
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting import terminal as terminal_module
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.rows import choose_target
from ngramscan.reporting.terminal import Commands
from tests.support.command import invoke

RAISED = {
    "interrupt": KeyboardInterrupt(),
    "wrong": InputError("place", "\x1bwrong"),
    "long": InputError("place", "w" * 10_000 + "; the cure"),
    "full": OSError(errno.ENOSPC, "full"),
    "unread": BrokenPipeError(),
    "memory": MemoryError(),
    "strange": OSError(errno.EPERM, "strange"),
}


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
    names: Annotated[str | Sequence[str], Option(metavar="NAMES")] = "a,b",
    by: Annotated[str | Sequence[str], Option(metavar="COLUMN")] = (),
    level: Annotated[float, Option(over=0, under=1)] = 0.95,
    most: Annotated[int | None, Option(flags="-n --most", least=1)] = None,
    key: Annotated[str | None, Option(metavar="KEY", envvar="MEASURE_KEY")] = None,
    fail: bool = False,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: Annotated[Path | None, Option(metavar="FILE", is_written=True)] = None,
    progress: Progress = SILENT,
) -> Result[Row]:
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
    fail, stars, averages, progress : various
        More.

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
def do_again(*, what: str, times: Annotated[int | None, Option(flags="-n")] = None) -> Result[Row]:
    """Do it again; some things go wrong.

    Parameters
    ----------
    what, times : various
        What to do, and how often.
    """
    if what in RAISED:
        raise RAISED[what]
    return Result([Row(what, str(times))], Row, is_silent=True, exit_code=3)


@command
def do_look(
    *,
    index: Annotated[str | Sequence[str], Option(metavar="SPEC", is_verbatim=True)] = "python",
    rate: Annotated[float, Option(least=0)] = 0.0,
) -> Result[Row]:
    """Look there.

    Parameters
    ----------
    index, rate : various
        Where to look, and how often.
    """
    if "wrong" in index:
        raise InputError(OptionUse("index", "wrong"), "no such index")
    return Result([Row("index", repr(index)), Row("rate", repr(rate))], Row)


def terminal(line: str, keeping: Sequence[str] = ()) -> tuple[int, str, str]:
    group = Commands(__name__, ["measure"])
    group.add_command(
        Commands(__name__, ["again", "look"], keeping, prefix="do_"),
        "do",
    )
    ran = CliRunner(catch_exceptions=False).invoke(group, line.split())
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.parametrize(
    ("options", "line"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"unit": "foot"}, "--unit FOOT", id="a choice"),
        pytest.param({"names": "c"}, "--names c", id="a name"),
        pytest.param({"names": ["c", "d "]}, "--names c,d", id="names"),
        pytest.param({"by": "x,y"}, "--by x,y", id="a column with a comma"),
        pytest.param({"by": ["x", "y"]}, "--by x --by y", id="columns"),
        pytest.param({"level": 0.5, "most": 3}, "--level .5 -n 3", id="numbers"),
        pytest.param({"averages": "a.csv"}, "--averages a.csv", id="a file"),
    ],
)
def test_python_and_the_terminal_give_the_function_the_same(
    options: dict[str, Any], line: str
) -> None:
    code, stdout, _ = terminal(f"measure x {line} --format csv")
    assert code == 0
    frame = measure("x", **options)
    parts = [line.split(",", 1)[1].strip('"') for line in stdout.splitlines()[1:]]
    assert parts == frame["value"].tolist()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param(
            {"what": "x", "levl": 0.5},
            r"^measure\(\): no option 'levl'; did you mean level\?",
            id="nearly a name",
        ),
        pytest.param(
            {"what": "x", "zzz": 1},
            "no option 'zzz'; available: what, unit, names, by, level",
            id="no name",
        ),
        pytest.param({"what": "x", "stars": True}, "no option 'stars'", id="of the terminal"),
        pytest.param({}, "missing a required argument: 'what'", id="nothing"),
    ],
)
def test_an_unknown_or_hidden_option_is_a_type_error_with_a_hint(
    options: dict[str, Any], problem: str
) -> None:
    assert "stars" not in inspect.signature(measure).parameters
    with pytest.raises(TypeError, match=problem):
        measure(**options)


def test_the_terminal_shows_heading_rows_notices_and_failures() -> None:
    code, stdout, stderr = terminal("measure x --fail --stars")
    assert code == 1
    assert stdout.startswith("a heading*\n")
    assert stderr == "a notice\nError: one\nError: two\n"
    with pytest.raises(IncompleteError, match=r"^one; two$") as caught:
        measure("x", fail=True)
    assert len(caught.value.rows) == 7
    _, stdout, stderr = terminal("measure x --format csv")
    assert stdout.startswith("name,value\n")
    assert stderr == "a heading\na notice\n"
    assert terminal("measure x --format csv -q")[2] == ""
    assert "for & paper" in terminal("measure x --format latex")[1]
    assert "a detail" in terminal("measure x -v")[2]
    assert terminal("do again --what x") == (3, "", "")
    assert terminal("do again --what x --format csv") == (3, "name,value\nx,None\n", "")


def test_rows_go_to_stdout_as_bytes_and_other_files_do_not() -> None:
    as_csv = terminal("measure x --format csv -q")
    assert terminal("measure x --format csv -q -o -") == as_csv
    assert terminal("measure x -q -o -") == terminal("measure x -q")
    group = Commands(__name__, ["measure"])
    ran = CliRunner().invoke(group, ["measure", "x", "--format", "parquet", "-q"])
    assert pd.read_parquet(io.BytesIO(ran.stdout_bytes))["name"].tolist() == list("0123456")
    problem = "Error: --averages -: it can't be stdout; expected a path\n"
    assert terminal("measure x --averages -") == (2, "", problem)
    with pytest.raises(InputError, match='averages="-": it can\'t be stdout'):
        measure("x", averages=Path("-"))


def test_parquet_is_not_written_into_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(InputError, match="parquet: it can't be shown in a terminal"):
        choose_target("parquet", None)


@pytest.mark.parametrize(
    ("line", "expected"), [("--sort -value", "4563210"), ("--sort -name", "6543210")]
)
def test_a_column_sorts_rows_in_every_format_and_in_a_plain_table(
    tmp_path: Path, line: str, expected: str
) -> None:
    _, stdout, _ = terminal(f"measure x -q {line} --format csv")
    assert "".join(row[0] for row in stdout.splitlines()[1:]) == expected
    path = tmp_path / "rows.csv"
    assert terminal(f"measure x -q {line} -o {path}") == (0, "", "")
    assert path.read_text() == stdout
    shown = terminal(f"measure x {line}")[1]
    assert "".join(re.findall(r"^ +(\d) ", shown, flags=re.M)) == expected
    assert "for & paper" not in terminal("measure x --format latex --sort name")[1]
    assert "x" in terminal("do again --what x --sort name")[1], "rows that are asked for"
    known = "expected one of name, value; did you mean value?"
    assert terminal("measure x --sort valeu") == (2, "", f"Error: --sort valeu: {known}\n")


def test_a_variable_gives_an_option_and_is_named_where_it_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = "do look --format csv"
    monkeypatch.setenv("TESTS_INDEX", "a b,c")
    monkeypatch.setenv("TESTS_RATE", "2.5")
    assert "index,\"('a b', 'c')\"\nrate,2.5\n" in terminal(line)[1], "blanks part nothing"
    assert "('d',)" in terminal(f"{line} --index d")[1]
    monkeypatch.setenv("TESTS_INDEX", "wrong")
    problem = "Error: --index wrong: no such index"
    assert terminal(line) == (2, "", f"{problem} (from TESTS_INDEX)\n")
    assert terminal(f"{line} --index wrong") == (2, "", f"{problem}\n")
    monkeypatch.setenv("TESTS_RATE", "x")
    code, _, stderr = terminal(line)
    assert code == 2
    assert "'--rate' (env var: 'TESTS_RATE'): 'x' is not a valid float" in stderr
    assert do_look(index="d")["value"].tolist() == ["('d',)", "0.0"], "Python reads none"


def test_what_goes_wrong_is_one_line_and_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    line, kept = "do again --what", "what was done is kept: run the same command again.\n"
    assert terminal(f"{line} wrong") == (2, "", "Error: place: \\x1bwrong\n")
    assert terminal(f"{line} interrupt") == (130, "", "Interrupted; nothing was kept.\n")
    assert terminal(f"{line} interrupt", ["again"]) == (130, "", f"Interrupted; {kept}")
    monkeypatch.setattr(terminal_module, "_discard_stdout", lambda: None)  # here it is no file
    full = "Error: stdout: can't be written (no space left on device)\n"
    assert terminal(f"{line} full") == (1, "", full)
    assert terminal(f"{line} unread") == (141, "", "")
    short = "Error: out of memory; process less at once, or use a machine with more\n"
    assert terminal(f"{line} memory") == (1, "", short)
    with pytest.raises(OSError, match="strange"):
        terminal(f"{line} strange")
    code, _, stderr = terminal(f"{line} long")
    assert (code, len(stderr)) == (2, 10_004)
    assert stderr.endswith("w; the cure\n")
    missing = "Error: Missing 'OUTPUTS', '--judge'.\n"
    assert invoke("judge").stderr.endswith(missing)


def test_a_command_without_rows_has_no_options_for_them() -> None:
    assert "--format" not in invoke("serve", "--help").stdout
    assert "--csv-safe" not in invoke("index", "build", "--help").stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        pytest.param({"level": 1}, "--level 1", id="above the greatest"),
        pytest.param({"level": "high"}, "--level high", id="no number"),
        pytest.param({"most": 0}, "--most 0", id="below the least"),
        pytest.param({"most": 1.5}, "--most 1.5", id="no whole number"),
    ],
)
def test_what_the_terminal_refuses_python_refuses(options: dict[str, Any], line: str) -> None:
    code, _, stderr = terminal(f"measure x {line}")
    assert code == 2
    [(name, value)] = options.items()
    python = f"{name}={json.dumps(value)}"
    with pytest.raises(InputError, match=f"^{python}: ") as caught:
        measure("x", **options)
    assert str(caught.value).removeprefix(f"{python}: ") in stderr, "in the same words"


@pytest.mark.parametrize(
    ("unit", "hint"),
    [pytest.param("inch", "", id="far"), pytest.param("foott", "; did you mean foot?", id="near")],
)
def test_python_and_the_terminal_refuse_what_is_no_choice(unit: str, hint: str) -> None:
    options: dict[str, Any] = {"unit": unit}
    with pytest.raises(InputError) as caught:
        measure("x", **options)
    assert str(caught.value) == f'unit="{unit}": expected one of metre, foot{hint}'
    code, _, stderr = terminal(f"measure x --unit {unit.upper()}")
    assert code == 2
    assert f"'{unit.upper()}' is not one of metre, foot{hint}" in stderr


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a file of labels."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "labels.csv").write_text("item,a,b\n1,x,x\n2,y,y\n3,x,y\n")
    return tmp_path


def test_the_home_folder_is_meant_by_a_tilde_in_the_terminal(home: Path) -> None:
    ran = invoke("agreement", "~/labels.csv", "-o", "~/rows.csv", "-q")
    assert ran == (0, "", "")
    rows = pd.read_csv(home / "rows.csv")
    assert len(rows) == len(evalcore.agreement(home / "labels.csv")) > 0


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param("~/labels.csv", id="text"),
        pytest.param(Path("~/labels.csv"), id="path"),
        pytest.param(["~/labels.csv"], id="list"),
    ],
)
def test_the_home_folder_is_meant_by_a_tilde_in_python(home: Path, labels: Any) -> None:
    rows = evalcore.agreement(labels, votes=Path("~/votes.csv"))
    assert len(rows) == len(evalcore.agreement(home / "labels.csv")) > 0
    assert (home / "votes.csv").exists()


def test_help_is_read_off_the_function() -> None:
    text = " ".join(terminal("measure --help")[1].split())
    assert "Measure something. WHAT is a thing. Examples: toy measure x --level 0.9 toy" in text
    assert r"toy measure x \ --unit foot" in text
    assert ">>>" not in text
    parts = (
        "--unit [metre|foot] The unit; see --most, and `other`. [default: metre]",
        "--names NAMES Names. Repeatable, or with commas. [default: a,b]",
        "--by COLUMN Columns. Repeatable, or with commas.",
        "--level X Level, on two lines. [default: 0.95; 0<x<1]",
        "-n, --most N The most. [x>=1]",
        "--key KEY The most. --fail",
        "-q, --quiet Show no progress and no notices.",
    )
    assert [part for part in parts if part not in text] == [], text
    every = " ".join(terminal("measure --help-all")[1].split())
    assert "--key KEY The most. [env var: MEASURE_KEY]" in every
    assert "--csv-safe" in every
    assert "--csv-safe" not in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param("again", "Missing option '--what'", id="nothing"),
        pytest.param("again --what x -n 1.5", "'1.5' is not a valid integer.", id="no number"),
        pytest.param("agian", "Did you mean", id="no command"),
    ],
)
def test_what_is_needed_and_is_not_there_is_told(line: str, problem: str) -> None:
    code, _, stderr = terminal(f"do {line}")
    assert code == 2
    assert problem in stderr


def test_a_name_without_a_command_is_none() -> None:
    group = Commands("tests.test_command", ["measure"])
    assert group.get_command(click.Context(group), "nothing") is None

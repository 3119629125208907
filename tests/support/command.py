"""The commands as a person runs them: in this process, or in one of their own."""

import csv
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

import evalcore.cli
import ngramscan.cli
from tests.support.command_server import quick_command

NGRAMSCAN = (sys.executable, "-m", "ngramscan")
"""How a command starts by itself: for tests of starts, of kills, and of what a process holds."""
MAINS = {"ngramscan": ngramscan.cli.main, "evalcore": evalcore.cli.main}


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.stdout)))


def run(*arguments: str | Path, timeout_s: float = 120) -> Ran:
    """Run the command in a process of its own."""
    command = [*quick_command("ngramscan"), *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, check=False, encoding="utf-8"
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def shell_command(line: str) -> list[str]:
    """Return what runs a line in bash, where the commands are those of this checkout.

    Every part of a pipeline must end well.
    """
    functions = [
        f'{package}() {{ {shlex.join(quick_command(package))} "$@"; }}' for package in MAINS
    ]
    return ["bash", "-o", "pipefail", "-c", "\n".join([*functions, line])]


def invoke(*arguments: str | Path, package: str = "", content: bytes | None = None) -> Ran:
    """Run a command in this process, by default of the package that has one of this name."""
    named = "evalcore" if arguments[0] in evalcore.cli.main.commands else "ngramscan"
    main, given = MAINS[package or named], [*map(str, arguments)]
    # What a command does not anticipate is raised.
    done = CliRunner(catch_exceptions=False).invoke(main, given, input=content)
    return Ran(done.exit_code, done.stdout, done.stderr)


def without(rows: Sequence[dict[str, str]], *columns: str) -> list[dict[str, str]]:
    """Return rows without the columns that differ from run to run."""
    return [{key: row[key] for key in row if key not in columns} for row in rows]


def invoke_ending(code: int, *arguments: str | Path) -> Ran:
    """Run a command in this process that must end with this code."""
    ran = invoke(*arguments)
    assert ran.code == code, ran
    return ran


def json_rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of JSON lines."""
    return [json.loads(line) for line in text.splitlines()]

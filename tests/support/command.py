"""The commands as a person runs them: in this process, or in one of their own."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner

import evalcore.cli
import ngramscan.cli

NGRAMSCAN = (sys.executable, "-m", "ngramscan")
MAINS = {"ngramscan": ngramscan.cli.main, "evalcore": evalcore.cli.main}


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.stdout)))


def run(*arguments: str | Path, timeout_s: float = 120) -> Ran:
    """Run the installed command in a process of its own."""
    command = [*NGRAMSCAN, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, check=False, encoding="utf-8"
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def invoke(*arguments: str | Path, package: str = "ngramscan") -> Ran:
    """Run the command in this process; what it does not anticipate is raised."""
    done = CliRunner(catch_exceptions=False).invoke(MAINS[package], [*map(str, arguments)])
    return Ran(done.exit_code, done.stdout, done.stderr)


def without(rows: Sequence[dict[str, str]], *columns: str) -> list[dict[str, str]]:
    """Return rows without the columns that differ from run to run."""
    return [{key: row[key] for key in row if key not in columns} for row in rows]


def every_command(package: str) -> dict[str, click.Command]:
    """Return the commands of a package by their names in the terminal, those of groups too."""

    def inside(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
        for name in group.list_commands(click.Context(group)):
            command = group.get_command(click.Context(group), name)
            if isinstance(command, click.Group):
                yield from inside(command, f"{path} {name}")
            elif command:
                yield f"{path} {name}", command

    return dict(inside(MAINS[package], package))

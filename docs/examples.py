"""Print in README.md and docs/ what commands print in a copy of the checkout, for cog."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner

import evalcore.cli
import ngramscan.cli
from docs.checkout import copy_checkout

ROOT = Path(__file__).resolve().parent.parent
MAINS = {"ngramscan": ngramscan.cli.main, "evalcore": evalcore.cli.main}
OF_THE_SHELL = re.compile(r"[<>$*~]|&&|^(?!ngramscan |evalcore )")
REPORT = (
    "cd docs/results",
    "evalcore link shift-ciphers-counts.csv shift-ciphers.csv --problems --without 13 -q"
    " -o slopes.csv --provenance",
    "ngramscan report methods.csv markers.csv traced.csv slopes.csv"
    " --title 'Programs or texts on FinanceMath?' -o report.html",
)
"""The commands that make docs/report-example.html."""


@dataclass
class Terminal:
    """A copy of the checkout for the commands of one page, and the folder of the next command."""

    checkout: Path
    folder: Path


TERMINALS: dict[str, Terminal] = {}
"""By page, and `now` for the page whose commands are run."""


def begin(page: str) -> None:
    """Give the commands of a page a checkout of their own; the blocks of one page share it."""
    if page not in TERMINALS:
        made = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        copy_checkout(made, "docs/examples", "docs/results", "outputs", "patterns")
        (made / "tests").mkdir()
        (made / "tests/tokens").symlink_to(ROOT / "tests/tokens")
        TERMINALS[page] = Terminal(made, made)
    TERMINALS["now"] = TERMINALS[page]


def printed(command: str, columns: int = 80) -> str:
    """Return what a command prints on a terminal of so many columns; a shell runs it if need be."""
    terminal = TERMINALS["now"]
    if command.startswith("cd "):
        terminal.folder = terminal.checkout / command.removeprefix("cd ")
        return ""
    here = terminal.folder
    plain = {"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    env = {**plain, "XDG_CACHE_HOME": str(terminal.checkout / ".cache")}
    first, _, rest = command.partition(" | ")
    if OF_THE_SHELL.search(first):
        rest, text = command, ""
    else:
        main, *arguments = shlex.split(first)
        runner, width = CliRunner(env=env, catch_exceptions=False), columns - 2  # as click takes it
        with contextlib.chdir(here):  # a process each would take most of the time
            done = runner.invoke(MAINS[main], arguments, prog_name=main, terminal_width=width)
        assert done.exit_code == 0, done.output
        text = done.stdout
    if not rest:
        return text
    shell, env = ["bash", "-c", rest], {**os.environ, **env}
    return subprocess.run(
        shell, cwd=here, env=env, input=text, text=True, check=True, stdout=subprocess.PIPE
    ).stdout


def show(*commands: str, lines: int | None = None, columns: int = 80) -> str:
    """Return commands, and the first lines of what each prints, as a block of a page."""
    shown = list[str]()
    for command in commands:
        text = "\n".join(map(str.rstrip, printed(command, columns).splitlines()[:lines]))
        shown += [f"$ {command}", text.strip("\n")]
    return "\n".join(["```console", *filter(None, shown), "```"])


def kept(before: str, shown: str) -> str:
    """Return the block as it is in the page if only its numbers and their widths have changed.

    What a command prints about this machine's own files differs everywhere; with FRESH set, which
    `just fix` does, it is replaced all the same.
    """
    masked = [re.sub(r"[\d.,]+|[ ─]+", " ", text.strip()) for text in (before, shown)]
    masked = [" ".join(text.split()) for text in masked]
    is_kept = masked[0] == masked[1] and not os.environ.get("FRESH")
    return before.strip("\n") if is_kept else shown


def show_file(name: str, language: str) -> str:
    """Return a file of docs/examples as a block of a page."""
    text = (ROOT / "docs/examples" / name).read_text(encoding="utf-8")
    return f"```{language}\n{text.strip()}\n```"


def usages() -> str:
    """Return the help of every command of both packages as blocks of a page."""
    return "\n\n".join(text for name, main in MAINS.items() for text in _usages(main, name))


def _usages(command: click.Command, main: str, *names: str) -> Iterator[str]:
    """Yield the help of a command as a block, and those of all commands in a group."""
    option = "--help" if isinstance(command, click.Group) else "--help-all"
    shown = CliRunner().invoke(MAINS[main], [*names, option], prog_name=main, terminal_width=80)
    yield f"```text\n{shown.output.strip()}\n```"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            if found := command.get_command(context, each):
                yield from _usages(found, main, *names, each)

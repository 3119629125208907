"""Commands of pages and of the help, run as a shell would."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tests.support.chat_server import Messages
from tests.support.command import MAINS, Ran, invoke, shell_command
from tests.support.places import ROOT

BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WEEKS = ("05", "08", "13", "18", "21", "26", "30")
HOSTED = ("v2_dclm_all", "v2_piletrain", "v2_pileval", *(f"v2_cc-2025-{week}" for week in WEEKS))
PROGRAMS = ("duckdb", "jq", "fish")
CELL = re.compile(r"^\|[^|\n]*\| `((?:ngramscan|evalcore|cat) [^`\n]+)` \|", re.MULTILINE)
COMMENT = re.compile(r"\s+# .*")
QUOTED = r"""'[^']*'|"[^"]*\""""
PIPE = re.compile(rf" \| (?=(?:{QUOTED}|[^'\"])*$)")
OF_THE_SHELL = re.compile(r"[<>$*~]|&&|^\w+=|^(?!ngramscan |evalcore )")


def commands_of(page: Path) -> Iterator[str]:
    """Yield the commands of a page: sh blocks, and lines with a $ in console blocks.

    The start page has further ones in its tables, behind its questions.
    """
    text = page.read_text()
    for kind, block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            command = COMMENT.sub("", line.removeprefix("$ ")).strip()
            if command and (kind == "sh" or line.startswith("$ ")):
                yield command
    if page == ROOT / "docs/README.md":
        yield from (command.replace(r"\|", "|") for command in CELL.findall(text))


def is_installed(line: str) -> bool:
    """Return whether the other programs of a command are there."""
    return all(shutil.which(name) for name in PROGRAMS if re.search(rf"\b{name}\b", line))


def run_line(line: str, folder: Path) -> None:
    """Run a command: in a shell what needs one, otherwise in this process."""
    content = b""
    for part in PIPE.split(line):
        if OF_THE_SHELL.search(re.sub(QUOTED, "", part)):
            shell: Any = {"cwd": folder, "input": content, "capture_output": True}
            done = subprocess.run(shell_command(part), **shell, check=False)
            ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        else:
            package, *arguments = shlex.split(part)
            ran = invoke(*arguments, package=package, content=content)
            assert not re.search("Traceback|Error", ran.stderr), f"{line}\n{ran.stderr}"
        assert ran.code == 0, f"{line}\n{ran.stderr}"
        content = ran.stdout.encode()


def parse_line(line: str) -> None:
    """Read the arguments of a command as it would, and do nothing else."""
    package, *words = shlex.split(PIPE.split(line)[0])
    command: click.Command = MAINS[package]
    context = None
    while isinstance(command, click.Group):
        context = click.Context(command, parent=context)
        name, *words = words
        found = command.get_command(context, name)
        assert found, f"{line}: no command {name}"
        command = found
    command.make_context(command.name, words, parent=context)


def reply(messages: Messages) -> str:
    """Answer as a model, or as a judge of answers or of failures."""
    is_cause = any('"cause"' in message["content"] for message in messages)
    return '{"cause": "C", "why": "a slip"}' if is_cause else "\\boxed{Correct}"

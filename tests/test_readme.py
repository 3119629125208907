"""What the README and the pages of commands say is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import evalcore.cli
import ngramscan
import ngramscan.cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


COMMANDS = {
    **dict(commands(ngramscan.cli.main, "ngramscan")),
    **dict(commands(evalcore.cli.main, "evalcore")),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_stands_in_the_reference(name: str) -> None:
    assert f"Usage: {name} " in REFERENCE
    command = COMMANDS[name]
    assert command.help
    assert command.help.split("\n")[0].endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"


def test_the_changelog_has_this_version_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert versions[0] in {"Unreleased", ngramscan.__version__}


def test_the_files_that_the_readme_links_to_are_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target

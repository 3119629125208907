"""The commands of both packages, and which of their parameters are read and written."""

from collections.abc import Iterator
from typing import Any

import click

from ngramscan.reporting.options import parameters
from ngramscan.reporting.overwriting import is_input, is_output
from ngramscan.reporting.signatures import hints_of
from tests.support.command import MAINS


def commands(group: click.Command, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield all commands of a package, after the words that name them."""
    if not isinstance(group, click.Group):
        yield names, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        assert inner
        yield from commands(inner, *names, name)


COMMANDS = {
    names: command
    for package, main in MAINS.items()
    for names, command in commands(main, package)
    if names[-1] != "serve"
}
"""Commands by the words that name them, but the one that doesn't end."""


def function_of(command: click.Command) -> Any:
    """Return the function of Python that a command calls."""
    callback: Any = command.callback
    return callback.args[0]


def written_by(command: click.Command) -> list[click.Parameter]:
    """Return the parameters that name files which a command writes."""
    hints = hints_of(function_of(command))
    return [
        each
        for each in command.params
        if each.name == "output" or (each.name in hints and is_output(each.name, hints[each.name]))
    ]


def read_by(command: click.Command) -> list[click.Parameter]:
    """Return the parameters that name files which a command reads."""
    hints, known = hints_of(function_of(command)), parameters(function_of(command))
    return [known[name] for name in known if is_input(name, hints[name])]

"""What click knows of the commands of both packages, by the names of their functions."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from tests.support.command import MAINS


def commands() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what click knows of each command, by the name of its function."""
    for package, main in MAINS.items():
        for name, known in main.to_info_dict(click.Context(main))["commands"].items():
            for inner, one in known.get("commands", {"": known}).items():
                yield f"{package}.{name}_{inner}".removesuffix("_"), one


COMMANDS = dict(commands())

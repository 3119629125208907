"""The commands of both packages by the names of their functions, and these functions."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

import evalcore
import ngramscan
from tests.support.command import MAINS


def commands() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what click knows of each command, by the name of its function."""
    for package, main in MAINS.items():
        for name, known in main.to_info_dict(click.Context(main))["commands"].items():
            for inner, one in known.get("commands", {"": known}).items():
                yield f"{package}.{name}_{inner}".removesuffix("_"), one


COMMANDS = dict(commands())
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (ngramscan, evalcore)
    for name in package.__all__
    if not inspect.isclass(getattr(package, name))  # an error
}
"""The functions of both packages, by package and name."""

"""What the functions of commands are given: options that exist, several values, files to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from ngramscan.errors import InputError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def strict_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Have a function name the nearest option where it is given one that it does not have."""
    by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}
    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind not in by_position]

    @wraps(function)
    def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        for name in options:
            if name not in known:
                raise unknown_option(function.__name__, name, known)
        return function(*arguments, **options)

    return call


def unknown_option(function: str, name: str, known: Sequence[str]) -> TypeError:
    """Return the error of an option that a function does not have; it names the nearest."""
    nearest = get_close_matches(name, known, n=1)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(known)}"
    return TypeError(f"{function}(): there is no option {name!r}; {hint}")


def several(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the values of an option that takes one or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def listed(given: str | Iterable[str]) -> list[str]:
    """Return the names of an option that takes several, with commas or one by one."""
    parts = (part.strip() for text in several(given) for part in text.split(","))
    return [part for part in parts if part]


def refuse_other(option: str, value: str, known: Iterable[str]) -> None:
    """Raise an InputError where a value is none of those that an option has.

    Parameters
    ----------
    option : str
        As the terminal has it.
    value : str
        What was given.
    known : iterable of str
        What there is.
    """
    names = list(known)
    if value not in names:
        raise InputError(f"{option} {value}", f"one of {', '.join(names)} was expected")


def refuse_same_file(files: Mapping[str, str | Path | None]) -> None:
    """Raise an InputError where two options name one file to write; None: no file was named."""
    seen: dict[Path, str] = {}
    for option, path in files.items():
        if path:
            first = seen.setdefault(Path(path).resolve(), option)
            if first != option:
                problem = f"{first} writes to the same file; two files were expected"
                raise InputError(f"{option} {path}", problem)

"""The parameters of commands, as their functions declare them: types, defaults, texts, columns.

The fields of a dataclass that is at `**options` are parameters like the others.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ngramscan.options import Option, RowTypes, Shared

_NO_OPTION = {"is_option": False}
"""The metadata of a field that a dataclass of shared options has for its own use."""
_DATA_FRAMES = {"pd": SimpleNamespace(DataFrame=object)}
"""Some annotations name data frames; pandas itself is slow to import."""


@cache
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a command, with a parameter for each of its shared options."""
    signature, hints = inspect.signature(function), hints_of(function)
    parameters = [
        each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD
    ]
    options = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for _, field in shared_fields(function)
    ]
    parameters[len(parameters) :] = options
    plain = [each.replace(annotation=without_option(hints[each.name])) for each in parameters]
    return signature.replace(parameters=plain)


@cache
def hints_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the annotations of a function, and of its shared options."""
    hints = get_type_hints(function, localns=_DATA_FRAMES, include_extras=True)
    for owner, field in shared_fields(function):
        names = vars(sys.modules[owner.__module__])
        annotated: Any = SimpleNamespace(__annotations__={field.name: field.type})
        hint = get_type_hints(annotated, names, include_extras=True)[field.name]
        option = option_of(hint)
        heading = option.heading or owner.heading
        hints[field.name] = Annotated[without_option(hint), option._replace(heading=heading)]
    return hints


def shared_fields(function: Callable[..., Any]) -> Iterator[tuple[Any, Field[Any]]]:
    """Yield the fields of the dataclass that a command has as options, and where each stands."""
    shared = _shared(function)
    field_by_name = {field.name: field for field in fields(shared.options)} if shared else {}
    for owner in shared.options.__mro__[::-1] if shared else ():
        for name in inspect.get_annotations(owner):
            field = field_by_name.get(name)
            if field and shared and name not in shared.without and field.metadata != _NO_OPTION:
                yield owner, field


def _shared(function: Callable[..., Any]) -> Shared | None:
    hints = get_type_hints(function, localns=_DATA_FRAMES, include_extras=True).values()
    markers = (marker for hint in hints for marker in get_args(hint))
    return next((marker for marker in markers if isinstance(marker, Shared)), None)


def without_option(hint: Any) -> Any:
    """Return a type without what the terminal needs to know."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def option_of(hint: Any) -> Option:
    """Return how a parameter with this annotation is given in the terminal."""
    return next((marker for marker in get_args(hint) if isinstance(marker, Option)), Option())


def sections_of(documented: Any) -> dict[str, str]:
    """Return the sections of a docstring by their headings; what precedes them is `Text`."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(documented.__doc__ or ""), flags=re.M)
    return dict(zip(["Text", *parts[1::2]], parts[::2], strict=True))


def documentation_of(function: Callable[..., Any]) -> str:
    """Return the docstring of a command, with the texts of its shared options."""
    text = inspect.getdoc(function) or ""
    owners = dict.fromkeys(owner for owner, _ in shared_fields(function))
    added = [sections_of(owner).get("Parameters", "").strip() for owner in owners]
    before, heading, described = text.partition("Parameters\n----------\n")
    if not added or not heading:
        return text
    described, blank, rest = described.partition("\n\n")
    return before + heading + "\n".join([described, *added]) + blank + rest


def helps_of(function: Callable[..., Any]) -> Mapping[str, str]:
    """Return the help of each parameter; `rate : see run` repeats the help of another command."""
    helps = {}
    owners = dict.fromkeys(owner for owner, _ in shared_fields(function))
    entries = "\n".join(
        sections_of(documented).get("Parameters", "").strip() for documented in (*owners, function)
    )
    for entry in re.split(r"\n(?=\S)", entries.strip()):
        heading, _, text = entry.partition("\n")
        names, _, kind = heading.partition(" : ")
        texts: Mapping[str, str] = {}
        if kind.startswith("see "):
            package = import_module(function.__module__.partition(".")[0])
            texts = helps_of(inspect.unwrap(getattr(package, kind.removeprefix("see "))))
        for name in re.findall(r"\w+", names):
            helps[name] = texts.get(name) or " ".join(text.split())
    return helps


def columns_of(function: Callable[..., Any]) -> list[str]:
    """Return the columns of a command's rows; none: only its result will tell."""
    hint = hints_of(function)["return"]
    late = next((marker for marker in get_args(hint) if isinstance(marker, RowTypes)), None)
    named = [name.rpartition(".") for name in late.names] if late else []
    types = [getattr(import_module(module), name) for module, _, name in named]
    parts = [part for result in (hint, *get_args(hint)) for part in get_args(result)]
    types += [part for part in parts if is_dataclass(part)]
    return list(dict.fromkeys(field.name for row_type in types for field in fields(row_type)))

"""Texts, YAML and their values, refused where they can't be read or are not what is expected.

`parse_yaml` and `as_type` give values. Where an error must name the line of a value that is wrong,
a file is composed into nodes, which know their lines.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from ngramscan.errors import InputError

_Kind = TypeVar("_Kind")


@contextmanager
def input_errors(file: object) -> Iterator[None]:
    """Translate what the system says of a file."""
    try:
        yield
    except OSError as error:
        raise InputError(str(file), (error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"not UTF-8 at byte {error.start}") from error


def read_text(file: Path | Traversable) -> str:
    """Return the text of a file, or raise InputError."""
    with input_errors(file):
        return file.read_text(encoding="utf-8-sig")


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML's own loader keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"{key} stands twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


@contextmanager
def _yaml_errors(where: str) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{where}:{line}", f"not valid YAML: {error.problem}") from error
    except RecursionError as error:
        raise InputError(where, "not valid YAML: it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:  # a control character; no such date
        raise InputError(where, f"not valid YAML: {' '.join(str(error).split())}") from error


def parse_yaml(text: str, where: str) -> Any:
    """Return what a YAML text says, or raise InputError with the line at fault."""
    with _yaml_errors(where):
        return yaml.load(text, Loader=_StrictLoader)


def as_type(value: object, kind: type[_Kind], where: str, strict: bool = True) -> _Kind:
    """Return a value as a type, or raise InputError with the key or column that is not of it.

    Where it is not `strict`, texts may stand for numbers and truth values.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        said, _, key = str(error).replace("`", "").replace("$.", "").partition(" - at ")
        known = ", ".join(getattr(kind, "__struct_fields__", ()))
        cure = f"; known are {known}" * ("unknown field" in said)
        raise InputError(where, f"{key}: {said}{cure}".removeprefix(": ")) from error


# Nodes, which know their lines


def compose_yaml(text: str, where: str) -> yaml.Node | None:
    """Return the root node of a YAML text, or raise InputError with the line at fault."""
    with _yaml_errors(where):
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        return node


def place_of(where: str, node: yaml.Node | None) -> str:
    """Return the file and line of a node."""
    return f"{where}:{node.start_mark.line + 1}" if node is not None else where


def fields_of(
    node: yaml.Node | None, where: str, known: set[str], needed: set[str], path: str
) -> dict[str, yaml.Node]:
    """Return the values of a mapping by key; refuse unknown, missing and repeated keys."""
    if not isinstance(node, yaml.MappingNode):
        raise InputError(place_of(where, node), f"{path}a mapping was expected")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.value not in known:
            problem = f"{path}unknown key {key.value!r}; known: {', '.join(sorted(known))}"
            raise InputError(place_of(where, key), problem)
        if key.value in fields:
            raise InputError(place_of(where, key), f"{path}the key {key.value!r} stands twice")
        fields[key.value] = value
    if missing := sorted(needed - fields.keys()):
        raise InputError(place_of(where, node), f"{path}no {', no '.join(missing)}")
    return fields

"""Texts and YAML of users: values, or nodes that know their lines.

`parse_yaml` and `as_type` give values, and errors name the key. Where an error should name the line
too, `compose_yaml` gives a `Node`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence, Set
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from ngramscan.errors import InputError
from ngramscan.messages import Text
from ngramscan.reading.streams import whole
from ngramscan.reading.versions import unchanged_while_read

_TypeT = TypeVar("_TypeT")
_READ_BYTES = 1 << 16


@contextmanager
def input_errors(file: object) -> Iterator[None]:
    """Translate system errors about a file."""
    try:
        yield
    except OSError as error:
        raise InputError(str(file), (error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"not UTF-8 at byte {error.start}") from error


def read_text(file: Path | Traversable) -> str:
    """Return the text of a file, or raise InputError."""
    with input_errors(file), file.open("rb") as stream:
        # A file of this package may be in an archive.
        is_on_disk = isinstance(file, Path)
        with unchanged_while_read(stream, file) if is_on_disk else nullcontext():
            content = whole(iter(partial(stream.read, _READ_BYTES), b""), file)
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


class _StrictLoader(yaml.SafeLoader):
    """Refuses repeated keys; YAML's own loader keeps the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"{key} appears twice"
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
    """Parse YAML, or raise InputError with the line at fault."""
    with _yaml_errors(where):
        return yaml.load(text, Loader=_StrictLoader)


def as_type(value: object, kind: type[_TypeT], where: object, strict: bool = True) -> _TypeT:
    """Convert a value to a type, or raise InputError with the key or column at fault.

    Unless `strict`, texts may stand for numbers and truth values.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        problem, _, key = str(error).replace("`", "").replace("$.", "").partition(" - at ")
        key_names = ", ".join(getattr(kind, "__struct_fields__", ()))
        cure = f"; known are {key_names}" if "unknown field" in problem else ""
        raise InputError(where, f"{key}: {problem}{cure}".removeprefix(": ")) from error


class Node:
    """A value in a YAML file that knows its line, so that an error can name it."""

    def __init__(self, node: yaml.Node | None, where: str, path: str = "") -> None:
        self.node = node
        self.where = where
        self.path = path

    @property
    def line(self) -> int:
        """The number of the line in which it begins; 1 in an empty file."""
        return self.node.start_mark.line + 1 if self.node else 1

    def error(self, problem: Text) -> InputError:
        """Return an error at the place of this value."""
        where = f"{self.where}:{self.line}" if self.node else self.where
        return InputError(where, f"{self.path}: " + problem if self.path else problem)

    def fields(self, needed: Set[str], optional: Set[str] = frozenset()) -> dict[str, Node]:
        """Return the values of a mapping by key; refuse unknown, missing and repeated keys."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error("expected a mapping")
        fields: dict[str, Node] = {}
        for key_node, value in self.node.value:
            key, name = Node(key_node, self.where, self.path), str(key_node.value)
            if name not in needed | optional:
                key_names = ", ".join(sorted(needed | optional))
                raise key.error(f"unknown key {name!r}; known: {key_names}")
            if name in fields:
                raise key.error(f"the key {name!r} appears twice")
            fields[name] = Node(value, self.where, f"{self.path}.{name}".lstrip("."))
        if missing := sorted(needed - fields.keys()):
            raise self.error(f"no {', no '.join(missing)}")
        return fields

    def items(self, may_be_empty: bool = False) -> list[Node]:
        """Return the values of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error("expected a list")
        if not (self.node.value or may_be_empty):
            raise self.error("expected a list that is not empty")
        values = enumerate(self.node.value)
        return [Node(value, self.where, f"{self.path}[{number}]") for number, value in values]

    def value(self) -> Any:
        """Return the value by YAML's own rules."""
        try:
            return yaml.constructor.SafeConstructor().construct_document(self.node)
        except (yaml.YAMLError, ValueError) as error:
            raise self.error(f"not valid YAML: {' '.join(str(error).split())}") from error

    def string(self, may_be_empty: bool = False) -> str:
        """Return a text; refuse lone surrogates."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != "tag:yaml.org,2002:str":
            raise self.error("expected a string; put it in quotes")
        text = str(self.node.value)
        if not (text or may_be_empty):
            raise self.error("it is empty")
        if "\0" in text:
            raise self.error("it has a NUL character")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error("it has a lone surrogate, which is not text")
        return text

    def choice(self, choices: Sequence[str]) -> str:
        """Return a text; refuse others than the allowed ones."""
        text = self.string()
        if text not in choices:
            raise self.error(f"{text!r} is none of {', '.join(choices)}")
        return text


def compose_yaml(text: str, where: str) -> Node:
    """Return the root of a YAML text, or raise InputError with the line at fault."""
    with _yaml_errors(where):
        return Node(yaml.compose(text, Loader=yaml.SafeLoader), where)

"""Texts, YAML and their values, refused where they can't be read or are not what is expected."""

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


def parse_yaml(text: str, where: str) -> Any:
    """Return what a YAML text says, or raise InputError with the line at fault."""
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{where}:{line}", f"not valid YAML: {error.problem}") from error
    except RecursionError as error:
        raise InputError(where, "not valid YAML: it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:  # the last: no such date
        raise InputError(where, f"not valid YAML: {' '.join(str(error).split())}") from error


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

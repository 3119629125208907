"""Texts and YAML from files, refused where they can't be read or say a thing twice."""

from __future__ import annotations

from collections.abc import Hashable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from ngramscan.errors import InputError


def read_text(file: Path | Traversable) -> str:
    """Return the text of a file, or raise InputError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(str(file), (error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"not UTF-8 at byte {error.start}") from error


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
    except yaml.YAMLError as error:
        raise InputError(where, f"not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise InputError(where, "not valid YAML: it is nested too deeply") from error
    except ValueError as error:  # a number or date that can't be one
        raise InputError(where, f"not valid YAML: {error}") from error

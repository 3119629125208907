"""How files of rows were made: in the metadata of Parquet, and next to any file on request."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ngramscan.reporting.signatures import signature_of

SIDECAR = ".provenance.json"
"""The end of the names of files that have the `Run`, as JSON, of the file next to them."""
METADATA = b"ngramscan"
"""The key of a `Run`, as JSON, in the metadata of a Parquet file."""
_LOGIN = re.compile(r"(?<=://)(?:[^\s/?#]*|[^\s/:@]*:\S*)@")
"""Name and password; a malformed address may have a slash in them."""
_SECRET = r"token|key|secret|sig|pass|pwd|credential|auth"
_SECRET_PARAMETER = re.compile(rf"([?&;#][^\s=&;#]*(?:{_SECRET})[^\s=&;#]*=)[^\s&;#'\"]+", re.I)
_SECRET_VARIABLE = re.compile(_SECRET, re.I)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command that wrote rows."""

    command: str
    """The command line, or the call in Python, without passwords."""
    version: str
    finished_at: str
    """ISO 8601, UTC."""
    failures: tuple[str, ...] = ()
    """Lines about rows that are missing, and why."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """The size of each index, in words."""
    sha256: str = ""
    """The hash of the described file; empty if this record is in the file itself."""


def sidecar_of(path: Path) -> Path:
    """Return the path of the record next to a file."""
    return path.with_name(path.name + SIDECAR)


def typed_command(context: click.Context, typed: Iterable[str]) -> str:
    """Return a command line as it was typed, after the variables that gave it values."""
    assignments = [
        f"{option.envvar}={shlex.quote(option.resolve_envvar_value(context) or '')}"
        for option in context.command.params
        if context.get_parameter_source(str(option.name)) is ParameterSource.ENVIRONMENT
        and not _SECRET_VARIABLE.search(str(option.envvar))
    ]
    program = context.find_root().info_name or ""
    return without_secrets(" ".join([*assignments, program, shlex.join(typed)]))


def python_call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return a call in Python with what was given; a data frame is only named."""
    texts: list[str] = []
    parameters = signature_of(function).parameters
    for name, value in arguments.items():
        is_several = parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        texts += map(_shown, value) if is_several else [f"{name}={_shown(value)}"]
    package = function.__module__.partition(".")[0]
    return without_secrets(f"{package}.{function.__name__}({', '.join(texts)})")


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return f"<{type(value).__name__}>" if hasattr(value, "columns") else repr(value)


def without_secrets(text: str) -> str:
    """Return a text without the logins and secret parameters of the URLs in it, as UTF-8 has it."""
    text = _SECRET_PARAMETER.sub(r"\1…", _LOGIN.sub("…@", text))
    return text.encode("utf-8", "backslashreplace").decode()

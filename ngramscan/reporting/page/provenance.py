"""How files of rows were made: the command line, remembered under the content of the file.

The runs are in the user's cache folder, beside the journal; no file is made next to the rows.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import click
from click.core import ParameterSource

from ngramscan.errors import InputError
from ngramscan.journal import Journal, default_path
from ngramscan.reporting.rows import key_of
from ngramscan.reporting.signatures import signature_of

_STORED_AS = ("rows", "sha256")
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
    sizes: Mapping[str, str] | None = None
    """The size of each index, in words."""


def remember(keys: Iterable[str], run: Run) -> None:
    """Keep how the files with these keys were made; in vain where the cache can't be written."""
    stored = json.dumps(asdict(run))
    with suppress(InputError), _runs() as journal:
        for key in keys:
            journal.put(*_STORED_AS, key, stored)


def recall(content: bytes) -> Run | None:
    """Return how a file with this content was made.

    None: the file was changed or made elsewhere, or the cache can't be read.
    """
    key = key_of(content)
    with suppress(InputError, ValueError, TypeError, KeyError), _runs() as journal:
        if reply := journal.get(*_STORED_AS, [key]).get(key):
            known = json.loads(reply.text)
            return Run(**known | {"failures": tuple(known["failures"])})
    return None


@contextmanager
def _runs() -> Iterator[Journal]:
    with Journal(default_path().with_name("runs.sqlite")) as journal:
        yield journal


def typed_command(context: click.Context, typed: Iterable[str]) -> str:
    """Return a command line as it was typed, after the variables that gave it values."""
    found = [
        f"{one.envvar}={shlex.quote(one.resolve_envvar_value(context) or '')}"
        for one in context.command.params
        if context.get_parameter_source(str(one.name)) is ParameterSource.ENVIRONMENT
        and not _SECRET_VARIABLE.search(str(one.envvar))
    ]
    program = context.find_root().info_name or ""
    return without_secrets(" ".join([*found, program, shlex.join(typed)]))


def python_call(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return a call in Python with what was given; a data frame is only named."""
    shown: list[str] = []
    known = signature_of(function).parameters
    for name, value in given.items():
        is_several = known[name].kind is inspect.Parameter.VAR_POSITIONAL
        shown += map(_shown, value) if is_several else [f"{name}={_shown(value)}"]
    package = function.__module__.partition(".")[0]
    return without_secrets(f"{package}.{function.__name__}({', '.join(shown)})")


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return f"<{type(value).__name__}>" if hasattr(value, "columns") else repr(value)


def without_secrets(text: str) -> str:
    """Return a text without the logins and secret parameters of the URLs in it, as UTF-8 has it."""
    text = _SECRET_PARAMETER.sub(r"\1…", _LOGIN.sub("…@", text))
    return text.encode("utf-8", "backslashreplace").decode()

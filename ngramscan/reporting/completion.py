"""Shell completion: values of parameters, and changes to click's scripts."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from ngramscan.errors import NgramscanError
from ngramscan.reporting.signatures import columns_of


def offered(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Return the possible values of a parameter, or of the part after the last comma."""
    kind, group = (
        getattr(parameter.type, "part", parameter.type),
        cast("Any", context.find_root().command),
    )
    before = incomplete[: incomplete.rfind(",") + 1] if kind is not parameter.type else ""
    typed, choices = incomplete.removeprefix(before), getattr(kind, "choices", ())
    if parameter.name == "sort":
        choices = columns_of(cast("Any", context.command.callback).args[0])
    elif isinstance(kind, click.Path):
        choices = paths(typed)
    with suppress(NgramscanError):  # as where a file on the line is not there
        module = import_module(group.completions)
        # Before an option without its value, click leaves the arguments in `args`.
        typed_values = context.params | {"arguments": context.args}
        choices = module.complete(parameter.name, typed_values, typed) or choices
    begins = typed.lower()
    return [CompletionItem(before + value) for value in choices if value.lower().startswith(begins)]


def paths(incomplete: str) -> list[str]:
    """Return the files and folders whose paths begin as typed."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(
            os.scandir(os.path.expanduser(folder) or "."), key=lambda entry: entry.name
        )
    except OSError:
        return []
    is_hidden = name.startswith(".")
    visible_entries = [entry for entry in entries if is_hidden or not entry.name.startswith(".")]
    start = incomplete.removesuffix(name)
    return [start + entry.name + ("/" if entry.is_dir() else "") for entry in visible_entries]


@add_completion_class
class _Bash(BashComplete):
    """Bash, which breaks words at `:`, `=` and `@`, and completes the last part."""

    source_template = (
        BashComplete.source_template.replace("${COMP_WORDS[*]}", "${COMP_LINE:0:COMP_POINT}")
        .replace("COMP_CWORD=$COMP_CWORD", 'COMP_CWORD="${COMP_WORDS[COMP_CWORD]}"')
        .replace("read type", "read -r type")
        .replace("return 0", "[[ $COMPREPLY == *[/:,] ]] && compopt -o nospace; return 0")
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        incomplete = "" if line[-1:].isspace() else words.pop()
        self._before = incomplete.removesuffix(os.environ["COMP_CWORD"].lstrip(":=@"))
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        rest = item.value.removeprefix(self._before)
        return "plain," + re.sub(r"([^\w%+,./:=@~-])", r"\\\1", rest)


@add_completion_class
class _Zsh(ZshComplete):
    """Zsh, with no space after a folder or a prefix."""

    source_template = ZshComplete.source_template.replace(
        "compadd -U -V unsorted -a completions",
        "local -a parts=(${(M)completions:#*[/:,]}) whole=(${completions:#*[/:,]})\n"
        "        compadd -U -V unsorted -S '' -a parts; compadd -U -V unsorted -a whole",
    )


@add_completion_class
class _Fish(FishComplete):
    """Fish; values may have commas."""

    source_template = FishComplete.source_template.replace("string split", "string split -m 1")

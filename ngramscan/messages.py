"""Words of messages: options, by flags in the terminal and by keywords in Python, and plurals.

`"requires " + OptionUse("answer_field")` is said as "requires --answer-field" in the terminal, and
as "requires answer_field" in Python. An f-string or `str` makes the text of the terminal.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

OptionFlags = Mapping[str, Sequence[str]]
"""The flags of each option of a command, the short one first; arguments have their metavariable."""

_SPECIAL = re.compile(r"[^\w@%+=:,./…-]")
"""Characters that a shell may take for something else; letters of all languages are none."""


class MessagePart:
    """A part of a message; added to texts or to other parts, it becomes a message."""

    __slots__ = ()

    def __add__(self, other: Text) -> Message:
        return joined([self, other])

    def __radd__(self, other: str) -> Message:
        return joined([other, self])

    def __str__(self) -> str:
        return in_terminal(self)


@dataclass(frozen=True, slots=True)
class OptionUse(MessagePart):
    """An option or an argument, perhaps with a value: `--tier T9`, `tier="T9"`."""

    name: str
    """As in Python."""
    value: object = None
    """A value that was given, or that would help; True for a flag that is set."""
    placeholder: str = ""
    """The name of a value that the reader has to choose: `FILE`."""


@dataclass(frozen=True, slots=True)
class Wording(MessagePart):
    """A text that differs between the terminal and Python, as calls of commands do."""

    terminal: str
    python: str


@dataclass(frozen=True, slots=True)
class Message(MessagePart):
    """A text with options in it."""

    parts: tuple[str | OptionUse | Wording, ...]


Text = str | MessagePart


def message_of(text: Text) -> Message:
    """Return a text or a part as a message."""
    return joined([text])


def joined(texts: Iterable[Text], between: str = "") -> Message:
    """Return texts as one message, with the same text between any two."""
    parts: list[str | OptionUse | Wording] = []
    for number, text in enumerate(texts):
        if number and between:
            parts.append(between)
        if isinstance(text, Message):
            parts.extend(text.parts)
        elif isinstance(text, str | OptionUse | Wording):
            parts.append(text)
        else:
            raise TypeError(f"{type(text).__name__} is not a part of a message")
    return Message(tuple(parts))


def in_terminal(text: Text, flags: OptionFlags | None = None) -> str:
    """Return a text for the terminal, with options as flags.

    A flag with a value is the short one, as one types it, otherwise the long one. An option that
    is not among `flags` has the flag of its name.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, Wording):
        return text.terminal
    if isinstance(text, OptionUse):
        named = (flags or {}).get(text.name) or [f"--{text.name.replace('_', '-')}"]
        if text.placeholder:
            return f"{named[0]} {text.placeholder}"
        if text.value is None or text.value is True:
            return named[-1]
        return f"{named[0]} {_quoted(_plain(text.value))}"
    return "".join(in_terminal(part, flags) for part in message_of(text).parts)


def in_python(text: Text) -> str:
    """Return a text for Python, with options as keywords."""
    if isinstance(text, str):
        return text
    if isinstance(text, Wording):
        return text.python
    if isinstance(text, OptionUse):
        if text.placeholder:
            return f"{text.name}={text.placeholder}"
        if text.value is None:
            return text.name
        plain = _plain(text.value)
        is_number = isinstance(text.value, int | float | Decimal)
        return f"{text.name}={plain if is_number else json.dumps(plain, ensure_ascii=False)}"
    return "".join(in_python(part) for part in message_of(text).parts)


def counted(amount: float, noun: str, several: str = "") -> str:
    """Return a whole number with its noun: `1 file`, `1,200 files`."""
    number = f"{amount:,.0f}" if isinstance(amount, float) else f"{amount:,}"
    return f"{number} {plural(amount, noun, several)}"


def plural(amount: float, noun: str, several: str = "") -> str:
    """Return a noun in the plural unless there is one; `several` is a plural without an s."""
    if amount == 1:
        return noun
    return several or f"{noun}s"


def _quoted(text: str) -> str:
    """Return a text as a shell takes it; one that is shortened (…) has no quotes for this."""
    return shlex.quote(text) if not text or _SPECIAL.search(text) else text


def _plain(value: object) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)

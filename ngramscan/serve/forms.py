"""The fields of the page's forms, in an address or in a body."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from urllib.parse import parse_qsl

from ngramscan.serve.fields import RefusedError, shortened

FormPairs = Sequence[tuple[str, str]]


def read_pairs(form: bytes) -> FormPairs:
    """Return the names and values of a form."""
    try:
        return parse_qsl(form.decode(), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise RefusedError("The form is not valid UTF-8") from error


def names_in(pairs: FormPairs, served: Collection[str]) -> tuple[str, ...]:
    """Return the requested indexes, in the order in which they are served; by default all."""
    names = [value for name, value in pairs if name == "index"]
    for name in names:
        if name not in served:
            listed = ", ".join([*served][:20])
            raise RefusedError(f"no index named {shortened(name)}; available: {listed}")
    return tuple(name for name in served if name in names or not names)


def text_in(pairs: FormPairs, name: str) -> str | None:
    """Return a value that is given once at most."""
    values = [value for key, value in pairs if key == name]
    if len(values) > 1:
        raise RefusedError(f"{name}: it was given {len(values)} times; expected once")
    return values[0] if values else None


def number_in(pairs: FormPairs, name: str, default: int, most: int, least: int = 0) -> int:
    """Return a whole number; by default the given one."""
    text = text_in(pairs, name)
    if not text:
        return default
    if not re.fullmatch("[0-9]{1,16}", text) or not least <= int(text) <= most:
        raise RefusedError(f"{name}: expected a whole number from {least} to {most}")
    return int(text)


def pasted_text_in(pairs: FormPairs, name: str, longest: int) -> str | None:
    """Return a text that may have several lines; None if there is none.

    Browsers send line ends as CR and LF, whatever was pasted; texts have them as LF. A RefusedError
    says that the text is too long.
    """
    text = text_in(pairs, name)
    if text is None:
        return None
    text = text.replace("\r\n", "\n")
    check_length(name, text, longest)
    return text


def check_length(name: str, text: str, longest: int) -> None:
    """Refuse a text that is too long."""
    if len(text) > longest:
        raise RefusedError(f"{name}: {len(text):,} characters; the limit is {longest:,}")

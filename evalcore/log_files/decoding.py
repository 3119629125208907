"""JSON text → checked values, with the place in every error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ngramscan.errors import InputError

Decoded = TypeVar("Decoded")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file; raise an InputError where it can't be read, or is too long."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(content) > most:
        raise too_long(str(path), most)
    return content


def read_lines(path: Path, most: int) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file that are not empty, each after its place.

    Raises
    ------
    InputError
        The file can't be read, or a line is too long.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(most + 1), b""), 1):
                if len(line.removesuffix(b"\n")) > most:
                    raise too_long(f"{path}:{number}", most)
                if line.strip():
                    yield f"{path}:{number}", line
    except OSError as error:
        raise unreadable(path, error) from error


def too_long(place: str, most: int) -> InputError:
    """Return the error for JSON that is longer than it may be."""
    return InputError(place, f"more than {most / 1e6:g} MB in one; --max-line MB takes more")


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for a file that the system does not let us read."""
    return InputError(str(path), f"can't be read ({(error.strerror or str(error)).lower()})")


def decode(place: str, content: bytes) -> Any:
    """Return the value of a JSON text; NaN is one, since tools write it.

    Parameters
    ----------
    place : str
        Where it stands.
    content : bytes
        The text.

    Raises
    ------
    InputError
        It is no JSON.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"no JSON: {error}") from error


def convert(place: str, value: Any, kind: type[Decoded]) -> Decoded:
    """Return a decoded value as a checked object.

    Parameters
    ----------
    place : str
        Where it stands.
    value : any
        As decoded; fields that the object does not have are left out.
    kind : type
        A msgspec structure.

    Raises
    ------
    InputError
        A field is missing, or of another type.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(place, str(error)) from error

"""JSON text → checked values, with the place in every error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ngramscan.errors import InputError

Decoded = TypeVar("Decoded")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, or raise an InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


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
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error

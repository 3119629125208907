"""Rows → csv, jsonl, json, latex or parquet, on stdout or in a file; and a data frame.

Every command ends here, so that all formats mean the same everywhere: one record per row, columns
in the order of the row's fields, null for what is not known. A file is written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from ngramscan.errors import InputError
from ngramscan.output.latex import to_latex

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "csv", "jsonl", "json", "latex")
_SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".tex": "latex",
}


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go, and in which format."""

    format: str
    path: Path | None = None
    """None: stdout."""


def choose_target(format_name: str | None, path: Path | None) -> Target:
    """Return where rows go, before any work is done for them.

    Raises
    ------
    InputError
        The file can't be written, or its suffix names no format.
    """
    if path is None:
        return Target(format_name or "table")
    check_writable(path)
    by_suffix = _SUFFIXES.get(path.suffix.lower())
    chosen = format_name or by_suffix
    if chosen is None or chosen == "table":
        known = ", ".join(_SUFFIXES)
        raise InputError(f"-o {path}", f"no file format named; expected {known}, or --format csv")
    return Target(chosen, path)


def optional_target(path: str | Path | None) -> Target | None:
    """Return the file where further rows go, where one is named."""
    return choose_target(None, Path(path)) if path else None


def check_writable(path: Path) -> None:
    """Raise an InputError where a file can't be written."""
    if path.is_dir():
        raise InputError(str(path), "it is a folder; a file was expected")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(str(path), f"there is no folder {folder}")
    try:
        # Asking the system for permission is no proof: a folder may be of a kind without files.
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def to_text(rows: Sequence[Any], row_type: type, format_name: str) -> str:
    """Return rows as csv, jsonl, json or latex."""
    if format_name == "latex":
        return to_latex(rows, row_type)
    records = [asdict(row) for row in rows]
    if format_name == "jsonl":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if format_name == "json":
        return json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(row_type)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def to_frame(rows: Sequence[Any], row_type: type) -> pd.DataFrame:
    """Return rows as a data frame; what may be missing keeps its type (Int64, Float64, string)."""
    import pandas as pd  # slow to import, and not needed by the commands

    return pd.DataFrame(
        {
            name: pd.Series([getattr(row, name) for row in rows], dtype=_dtype(hint))
            for name, hint in get_type_hints(row_type).items()
        }
    )


def _dtype(hint: object) -> Literal["boolean", "Int64", "Float64", "string"]:
    parts = getattr(hint, "__args__", (hint,))
    if bool in parts:
        return "boolean"
    if float in parts:
        return "Float64"
    return "Int64" if int in parts else "string"


def write_rows(rows: Sequence[Any], row_type: type, target: Target) -> None:
    """Write rows to a file.

    Raises
    ------
    InputError
        The file can't be written; what stood there before still does.
    """
    assert target.path is not None
    if target.format == "parquet":
        frame = to_frame(rows, row_type)
        write_whole(target.path, lambda path: frame.to_parquet(path, index=False))
    else:
        text = to_text(rows, row_type, target.format)
        write_whole(target.path, lambda path: path.write_text(text, encoding="utf-8"))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a new file and put it in the place of `path` when it is done.

    Raises
    ------
    InputError
        It can't be written; what stood there before still does.
    """
    temporary = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        temporary.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(str(path), f"can't be written ({(error.strerror or str(error)).lower()})")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

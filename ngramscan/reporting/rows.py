"""Rows → csv, tsv, jsonl, json, latex, markdown or parquet, on stdout or in a file; or a frame.

One record per row, columns in the order of the row's fields, null for what is not known.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.progress import visible_json
from ngramscan.reporting.files import check_writable, write_whole
from ngramscan.reporting.provenance import METADATA, Run, sidecar_of

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "csv", "jsonl", "json", "parquet", "latex", "tsv", "markdown")
FORMAT_ALIASES = {
    "md": "markdown",
    "ndjson": "jsonl",
    "tex": "latex",
}
"""Other names of formats, which work although no help lists them."""
FOR_READERS = frozenset({"latex", "markdown"})
"""Formats for people, which have the columns of a paper's table."""
_FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".tex": "latex",
    ".tsv": "tsv",
    ".md": "markdown",
}
_SPREADSHEETS = frozenset({".xlsx", ".xls", ".ods"})
_NEEDS_QUOTES = re.compile(r"""[",;|'#\x00-\x1f\x7f-\x9f\u2028\u2029]""")
"""Besides quotes and commas, whatever some reader takes as the end of a row or of a file; and what
those that guess take as another separator, another kind of quotes, or a comment."""
_BLANKS = r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff]*"
_SIGNS = rf"{_BLANKS}[-=+@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]"
_RUN = re.compile(rf"[\t\r\n]|{_SIGNS}")
"""How a text begins that a spreadsheet runs; some skip blanks, or take wide characters, too."""
_RUN_WITHIN = re.compile(rf"(?<=[;\t|])(?={_SIGNS})")
"""Where a spreadsheet finds such a text within another, if it separates cells by other marks."""


_OUTPUT = "output"
"""The option that names the file of a command's own rows."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go, and in which format."""

    format: str
    path: Path | None = None
    """None: stdout."""
    is_csv_safe: bool = False
    """Whether texts that a spreadsheet would run are written with an apostrophe before them."""
    has_sidecar: bool = False
    """Whether a file next to it says how the rows were made."""


def choose_target(
    format_name: str | None,
    path: Path | None,
    option: str = _OUTPUT,
    /,
    *,
    is_csv_safe: bool = False,
    has_sidecar: bool = False,
) -> Target:
    """Return where rows go, before any work is done; the path `-` is stdout.

    Messages are about `option`, which names the path.
    """
    if path is None or str(path) == "-":
        if format_name == "parquet" and sys.stdout.isatty():
            cure = "add " + OptionUse(_OUTPUT, placeholder="FILE") + ", or a pipe"
            problem = "it can't be shown in a terminal; " + cure
            raise InputError(OptionUse("format_name", "parquet"), problem)
        return Target(format_name or "table", is_csv_safe=is_csv_safe)
    check_writable(path)
    if has_sidecar:
        check_writable(sidecar_of(path))
    suffix = path.suffix.lower()
    if suffix in _SPREADSHEETS and format_name in {None, "table"}:
        cure = "spreadsheets open CSV: " + OptionUse(option, path.with_suffix(".csv"))
        raise InputError(OptionUse(option, path), f"{suffix} is not written; " + cure)
    if format_name == "table" or not (format_name or suffix in _FORMAT_OF_SUFFIX):
        unnamed: Text = f"no file format named; expected {', '.join(_FORMAT_OF_SUFFIX)}"
        if option == _OUTPUT:
            unnamed = unnamed + ", or " + OptionUse("format_name", "csv")
        raise InputError(OptionUse(option, path), unnamed)
    return Target(format_name or _FORMAT_OF_SUFFIX[suffix], path, is_csv_safe, has_sidecar)


def order_rows(rows: Iterable[Any], column: str) -> list[Any]:
    """Return rows in ascending order of a column, or descending after a minus; nulls last."""
    unordered_rows = list(rows)
    return [unordered_rows[place] for place in ordered_places(unordered_rows, column)]


def ordered_places(rows: Sequence[Any], column: str) -> list[int]:
    """Return the places that rows have now, in the order that `order_rows` gives them."""
    values = [(getattr(row, column.removeprefix("-")), place) for place, row in enumerate(rows)]
    filled_pairs = [(value, place) for value, place in values if value is not None]
    filled_pairs.sort(key=lambda pair: _sortable(pair[0]), reverse=column.startswith("-"))
    return [place for _, place in (*filled_pairs, *(pair for pair in values if pair[0] is None))]


def _sortable(value: object) -> tuple[bool, Any]:
    return (False, value) if isinstance(value, int | float) else (True, str(value))


def to_text(
    rows: Sequence[Any], row_type: type, format_name: str, is_csv_safe: bool = False
) -> str:
    """Return rows as csv, tsv, jsonl, json, latex or markdown."""
    if format_name == "latex":
        from ngramscan.reporting.latex import to_latex  # slow to import

        return to_latex(rows, row_type)
    if format_name == "markdown":
        from ngramscan.reporting.markdown import to_markdown  # slow to import

        return to_markdown(rows, row_type)
    if format_name == "jsonl":
        return "".join(_json(record_of(row)) + "\n" for row in rows)
    if format_name == "json":
        return _json([record_of(row) for row in rows], indent=1) + "\n"
    names = [f.name for f in fields(row_type)]
    values = ([getattr(row, name) for name in names] for row in rows)
    separator = "\t" if format_name == "tsv" else ","
    lines = [names, *(map(_safe, values) if is_csv_safe else values)]
    return "".join(_csv_line(line, separator) for line in lines)


def record_of(row: Any) -> dict[str, Any]:
    """Return the columns of a row, whose values need no copies."""
    return {f.name: getattr(row, f.name) for f in fields(row)}


def _csv_line(values: Sequence[Any], separator: str) -> str:
    """Return a row of a table; some modules `csv` of Python leave carriage returns unquoted."""
    cells = [_csv_cell(value) for value in values]
    return (separator.join(cells) or '""') + "\n"  # an empty line would be no row


def _csv_cell(value: Any) -> str:
    text = "" if value is None else str(value)
    if not _NEEDS_QUOTES.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _safe(values: list[Any]) -> list[Any]:
    return [_safe_text(each) if isinstance(each, str) else each for each in values]


def _safe_text(text: str) -> str:
    """Return a text with an apostrophe before whatever a spreadsheet would run."""
    begun = _RUN.match(text)
    start = begun.end() if begun else 0
    marked = text[:start] + _RUN_WITHIN.sub("'", text[start:])
    return f"'{marked}" if begun else marked


def _json(value: object, indent: int | None = None) -> str:
    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def to_frame(rows: Sequence[Any], row_type: type) -> pd.DataFrame:
    """Return rows as a data frame; what may be missing keeps its type (Int64, Float64, string)."""
    import pandas as pd  # slow to import, and not needed by the commands

    return pd.DataFrame(
        {
            name: pd.Series([_encodable(getattr(row, name)) for row in rows], dtype=_dtype(hint))
            for name, hint in get_type_hints(row_type).items()
        }
    )


def without_empty_columns(
    frame: pd.DataFrame, row_type: type, needed: Collection[str]
) -> pd.DataFrame:
    """Return a frame without columns that no row has a value in, though rows could have one.

    Columns that are `needed` stay, and so do those that can't be empty. The names of the others
    are in `attrs["left_out"]`, in the order of the row type. A frame without rows keeps all.
    """
    left_out = [
        name
        for name, hint in get_type_hints(row_type).items()
        if len(frame) and name not in needed and _is_empty(frame[name], hint)
    ]
    filled_frame = frame.drop(columns=left_out)
    filled_frame.attrs["left_out"] = left_out
    return filled_frame


def _is_empty(column: pd.Series[Any], hint: object) -> bool:
    """Tell whether a column holds nothing; of texts that may not be null, "" is nothing."""
    if hint is str:
        return bool((column == "").all())
    return NoneType in getattr(hint, "__args__", ()) and bool(column.isna().all())


def _encodable(value: Any) -> Any:
    """Return a text with escapes for halves of characters, as names of files may have them."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def _dtype(hint: object) -> Literal["boolean", "Int64", "Float64", "string"]:
    parts = getattr(hint, "__args__", (hint,))
    if bool in parts:
        return "boolean"
    if float in parts:
        return "Float64"
    return "Int64" if int in parts else "string"


def to_bytes(rows: Sequence[Any], row_type: type, target: Target, run: Run | None = None) -> bytes:
    """Return rows as the content of a file; Parquet has in its metadata how they were made."""
    if target.format != "parquet":
        text = to_text(rows, row_type, target.format, target.is_csv_safe)
        return text.encode("utf-8", "backslashreplace")
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(to_frame(rows, row_type), preserve_index=False)
    if run:
        metadata = table.schema.metadata | {METADATA: _json(asdict(run))}
        table = table.replace_schema_metadata(metadata)
    content = io.BytesIO()
    pyarrow.parquet.write_table(table, content)
    return content.getvalue()


def write_rows(rows: Sequence[Any], row_type: type, target: Target, run: Run | None = None) -> None:
    """Write rows to the file of a target, whole or not at all."""
    write_content(to_bytes(rows, row_type, target, run), target, run)


def write_content(content: bytes, target: Target, run: Run | None = None) -> None:
    """Write rows in their format to the file of a target; then its sidecar, if it has one."""
    assert target.path is not None
    write_whole(target.path, lambda path: path.write_bytes(content))
    if run and target.has_sidecar:
        record = asdict(replace(run, sha256=sha256(content).hexdigest()))
        text = _json(record, indent=1) + "\n"
        write_whole(sidecar_of(target.path), lambda path: path.write_text(text, encoding="utf-8"))

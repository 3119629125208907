"""Occurrences in context, as lines with the matches below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from ngramscan.messages import counted
from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.prevalence.metadata import read_metadata

_LEAST_SIDE = 12
_GAP = "  "


def print_contexts(
    results: Sequence[ContextsResult], seed: int, rule_notes: Sequence[str], console: Console
) -> None:
    """Print the drawn occurrences, with less text around them in a narrow terminal.

    The heading of each text has the notes on the rule by which it was looked for.
    """
    for result in results:
        console.print(Text(_headline(result, seed, rule_notes), style="bold"), soft_wrap=True)
        if result.rows:
            _print_lines(console, result.rows)
        console.print()


def _print_lines(console: Console, rows: Sequence[ContextRow]) -> None:
    lines = [tuple(map(_plain, (row.left, row.match, row.right))) for row in rows]
    left, match, right = (max(map(cell_len, texts)) for texts in zip(*lines, strict=True))
    source = max(cell_len(_source(row)) for row in rows)
    source = min(source, max(console.width // 4, _LEAST_SIDE))
    room = console.width - match - source - len(_GAP)
    if room < 2 * _LEAST_SIDE:
        source, room = 0, console.width - match
    side = max(room // 2, _LEAST_SIDE)
    for (before, matched_text, after), row in zip(lines, rows, strict=True):
        line = Text(no_wrap=True, overflow="crop")
        line.append(_end_of(before, min(left, side)))
        line.append(matched_text, style="bold red")
        after_it = set_cell_size(after, min(right, side))
        if source:
            line.append(after_it + _GAP)
            line.append(_source_within(row, source), style="dim")
        else:
            line.append(after_it.rstrip())
        console.print(line)


def _headline(result: ContextsResult, seed: int, rule_notes: Sequence[str]) -> str:
    n, total = len(result.rows), result.occurrences
    selection = f"{n:,} drawn at random, seed {seed}" if n < total else "all"
    parts = [result.index, _quoted(result.text)]
    if rule_notes:
        parts.append(", ".join(rule_notes))
    parts.append(f"{counted(total, 'occurrence')}, {selection}")
    return " · ".join(parts)


def _quoted(text: str) -> str:
    """Return a text between quotation marks, with escapes only for what can't be printed.

    Backslashes are those that one types.
    """
    mark = '"' if "'" in text else "'"
    characters = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"{mark}{''.join(characters)}{mark}"


def _end_of(text: str, width: int) -> str:
    """Return the last cells of a text, filled up in front."""
    while cell_len(text) > width:
        text = text[1:]
    return " " * (width - cell_len(text)) + text


def _source_within(row: ContextRow, width: int) -> str:
    """Return the source of a document without its origin in a narrow column, if it has a name.

    A long path is cut to its end, where files differ.
    """
    source = _source(row)
    if cell_len(source) > width and not row.document.isdigit():
        source = _source(replace(row, metadata=""))
    return source if cell_len(source) <= width else "…" + _end_of(source, width - 1)


_SHOWN = {"\n": "¶", "\t": " ", "\r": ""}


def _plain(text: str) -> str:
    """Return a text on one line, without what a terminal would obey."""
    return "".join(_SHOWN.get(c, c if c.isprintable() else "·") for c in text)


def _source(row: ContextRow) -> str:
    """Return the name of a document, its origin in the metadata, and where the match begins."""
    outer, inner = read_metadata(row.metadata)
    parts = [f"#{row.document}" if row.document.isdigit() else row.document]
    parts += [str(inner[name]) for name in ("url", "source", "id") if name in inner][:1]
    if outer.get("source"):
        parts.append(str(outer["source"]))
    if row.offset is not None:
        parts.append(f"byte {row.offset:,}")
    return _plain(" ".join(parts))
